//! The lines that part a multipart.

use super::headers::split_line;

/// Cuts the body of a multipart at its boundary lines; `None` if there is none.
///
/// What stands before the first line and behind the closing one is seen by no reader.
pub(super) fn split<'a>(body: &'a [u8], boundary: &[u8]) -> Option<Vec<&'a [u8]>> {
    let marker = [b"--", boundary].concat();
    let mut pieces = Vec::new();
    let mut open: Option<usize> = None;
    for at in memchr::memmem::find_iter(body, &marker) {
        if at > 0 && !matches!(body[at - 1], b'\n' | b'\r') {
            continue;
        }
        let after = &body[at + marker.len()..];
        let (tail, next) = split_line(after);
        let (closing, tail) = match tail.strip_prefix(b"--") {
            Some(tail) => (true, tail),
            None => (false, tail),
        };
        if !tail.iter().all(|b| matches!(b, b' ' | b'\t')) {
            continue;
        }
        if let Some(start) = open {
            pieces.push(without_line_end(body.get(start..at).unwrap_or_default()));
        }
        open = (!closing).then_some(body.len() - next.len());
        if closing {
            break;
        }
    }
    if let Some(start) = open {
        pieces.push(&body[start..]);
    }
    (!pieces.is_empty()).then_some(pieces)
}

/// The boundary in use where the headers name none or another one: the first line that begins with
/// two dashes and is followed by a header of a part.
pub(super) fn apparent(body: &[u8]) -> Option<&[u8]> {
    let mut rest = body;
    while !rest.is_empty() {
        let (line, next) = split_line(rest);
        let header = next
            .get(..8)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"content-"));
        match line.trim_ascii_end().strip_prefix(b"--") {
            Some(boundary) if header && !boundary.is_empty() => return Some(boundary),
            _ => rest = next,
        }
    }
    None
}

/// The line end before a boundary belongs to the boundary.
fn without_line_end(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_suffix(b"\r\n")
        .or_else(|| bytes.strip_suffix(b"\n"))
        .or_else(|| bytes.strip_suffix(b"\r"))
        .unwrap_or(bytes)
}
