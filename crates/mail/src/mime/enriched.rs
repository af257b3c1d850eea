//! `text/enriched` (RFC 1896): commands in angle brackets go, single line ends are blanks.

/// The text without its commands.
pub(super) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut parameter = false;
    while let Some(at) = rest.find('<') {
        push(&rest[..at], parameter, &mut out);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('<') {
            // "<<" is a plain "<".
            push("<", parameter, &mut out);
            rest = after;
            continue;
        }
        let Some(end) = rest.bytes().take(100).position(|b| b == b'>') else {
            push("<", parameter, &mut out);
            continue;
        };
        let command = &rest[..end];
        if command.eq_ignore_ascii_case("param") {
            parameter = true;
        } else if command.eq_ignore_ascii_case("/param") {
            parameter = false;
        } else if command.eq_ignore_ascii_case("nl") || command.eq_ignore_ascii_case("paragraph") {
            out.push('\n');
        }
        rest = &rest[end + 1..];
    }
    push(rest, parameter, &mut out);
    out
}

/// Appends text; of a run of line ends one is a blank, or one less than there are stay.
fn push(text: &str, parameter: bool, out: &mut String) {
    if parameter {
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.find('\n') {
        out.push_str(&rest[..at]);
        let run = rest[at..].bytes().take_while(|b| *b == b'\n').count();
        if run == 1 {
            out.push(' ');
        } else {
            out.extend(std::iter::repeat_n('\n', run - 1));
        }
        rest = &rest[at + run..];
    }
    out.push_str(rest);
}
