//! `format=flowed` (RFC 3676): lines broken only for transport are joined again.

/// Joins soft-broken lines; `delsp` drops the blank that marks the break.
pub(super) fn unflow(text: &str, delsp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote depth of an unfinished paragraph.
    let mut open: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let depth = line.bytes().take_while(|b| *b == b'>').count();
        let content = &line[depth..];
        let content = content.strip_prefix(' ').unwrap_or(content);
        let signature = content == "-- ";
        if open.is_some_and(|paragraph| signature || paragraph != depth) {
            out.push('\n');
            open = None;
        }
        if open.is_none() && depth > 0 {
            out.extend(std::iter::repeat_n('>', depth));
            if !content.is_empty() {
                out.push(' ');
            }
        }
        if !signature && let Some(soft) = content.strip_suffix(' ') {
            out.push_str(if delsp { soft } else { content });
            open = Some(depth);
        } else {
            out.push_str(content);
            out.push('\n');
            open = None;
        }
    }
    out
}
