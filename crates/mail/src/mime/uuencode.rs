//! Files written into the text between `begin 644 name` and `end`.

use std::sync::LazyLock;

use memchr::memmem;

static BEGIN: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("begin "));

/// A file found in a text.
pub(super) struct Embedded {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Takes the uuencoded files out of a text. The text comes back only if there was one.
pub(super) fn extract(text: &str) -> Option<(String, Vec<Embedded>)> {
    let mut files = Vec::new();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(step) = BEGIN.find(&text.as_bytes()[at..]) {
        let start = at + step;
        at = start + 6;
        if start > 0 && text.as_bytes()[start - 1] != b'\n' {
            continue;
        }
        if let Some((file, length)) = block(&text[start..]) {
            out.push_str(&text[kept..start]);
            files.push(file);
            at = start + length;
            kept = at;
        }
    }
    if files.is_empty() {
        return None;
    }
    out.push_str(&text[kept..]);
    Some((out, files))
}

/// Decodes a part whose transfer encoding is uuencode; the bytes as they are if it is not.
pub(super) fn decode_part(bytes: &[u8]) -> Vec<u8> {
    let text = super::clean::text(&String::from_utf8_lossy(bytes));
    match extract(&text) {
        Some((_, mut files)) if files.len() == 1 => {
            files.pop().map(|file| file.bytes).unwrap_or_default()
        }
        _ => bytes.to_vec(),
    }
}

/// Reads one block from `begin` to `end`: the file and the length of the block.
fn block(text: &str) -> Option<(Embedded, usize)> {
    let mut length = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        length += line.len();
        (line.trim_end_matches('\n'), length)
    });
    let (first, _) = lines.next()?;
    let (mode, name) = first.strip_prefix("begin ")?.trim_start().split_once(' ')?;
    let octal = (3..=4).contains(&mode.len()) && mode.bytes().all(|b| (b'0'..b'8').contains(&b));
    if !octal || name.trim().is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    for (line, length) in lines {
        if line.trim_end() == "end" {
            let name = super::clean::line(name);
            return Some((Embedded { name, bytes }, length));
        }
        data_line(line.as_bytes(), &mut bytes)?;
    }
    None
}

/// Decodes one line; `None` if it cannot be one. Blanks lost at its end are zeros.
fn data_line(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let value = |b: u8| b.wrapping_sub(b' ') & 63;
    let Some((first, digits)) = line.split_first() else {
        return Some(());
    };
    if !(b' '..=b'`').contains(first) || digits.iter().any(|b| !(b' '..=b'`').contains(b)) {
        return None;
    }
    let count = usize::from(value(*first));
    // One digit more than needed is a checksum of old programs.
    if digits.len() > count.div_ceil(3) * 4 + 1 {
        return None;
    }
    let end = out.len() + count;
    for group in 0..count.div_ceil(3) {
        let digit = |i: usize| digits.get(group * 4 + i).map_or(0, |b| value(*b));
        let (a, b, c, d) = (digit(0), digit(1), digit(2), digit(3));
        out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    out.truncate(end);
    Some(())
}
