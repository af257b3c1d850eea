//! Lists of addresses, as mail really writes them.

use std::borrow::Cow;

use super::{clean, encoded};

/// A person or a mailbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address<'t> {
    /// The display name; empty if there is none.
    pub(super) name: Cow<'t, str>,
    /// What stands in angle brackets, or a bare address; empty if there is none.
    pub(super) address: Cow<'t, str>,
}

/// Reads a list of addresses, and calls `found` with each. Anything that is no address is a display name.
pub(super) fn each(raw: &[u8], hint: Option<&str>, found: &mut dyn FnMut(Address<'_>)) {
    let text = encoded::raw_text(raw, hint);
    let text = text.as_ref();
    let mut open = Entry::default();
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| SPECIAL[b as usize]) {
        let (stretch, after) = rest.split_at(at);
        let special = after.as_bytes()[0];
        rest = &after[1..];
        // Most entries of a long list are an address and nothing else.
        if special == b','
            && open.is_empty()
            && let Some(address) = bare_address(stretch)
        {
            found(address);
            continue;
        }
        open.name.push_str(stretch);
        match special {
            b'"' => rest = open.quoted(rest),
            b'(' => rest = open.comment(rest),
            b'<' => {
                let (inside, after) = rest.split_once('>').unwrap_or((rest, ""));
                // Routes ("@a,@b:me@c") are history.
                let inside = match inside.strip_prefix('@').and_then(|r| r.rsplit_once(':')) {
                    Some((_, last)) => last,
                    None => inside,
                };
                open.address = Some(inside.trim().trim_matches('"'));
                rest = after;
            }
            b':' if open.is_group() => {
                open.name.clear();
                open.comment.clear();
            }
            b':' => open.name.push(':'),
            _ => open.finish(hint, found),
        }
    }
    if open.is_empty()
        && let Some(address) = bare_address(rest)
    {
        return found(address);
    }
    open.name.push_str(rest);
    open.finish(hint, found);
}

/// The address that a stretch of a list is, if it is nothing else and has nothing to decode.
fn bare_address(stretch: &str) -> Option<Address<'_>> {
    let address = stretch.trim_ascii();
    // No early end, so that the compiler can look at many bytes at once.
    let (mut odd, mut at) = (address.is_empty(), false);
    for byte in address.bytes() {
        odd |= !byte.is_ascii_graphic() | (byte == b'=');
        at |= byte == b'@';
    }
    (at && !odd).then_some(Address {
        name: Cow::Borrowed(""),
        address: Cow::Borrowed(address),
    })
}

/// Whether a byte ends a stretch of a display name.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let (mut i, marks) = (0, b"\"(<,;:");
    while i < marks.len() {
        table[marks[i] as usize] = true;
        i += 1;
    }
    table
};

/// An entry of the list as far as it has been read.
#[derive(Default)]
struct Entry<'t> {
    name: String,
    comment: String,
    address: Option<&'t str>,
    /// The name holds an address or an encoded word: a colon in it ends no name of a group.
    colons: bool,
}

impl<'t> Entry<'t> {
    /// Whether nothing has been read of it.
    fn is_empty(&self) -> bool {
        self.name.is_empty() && self.comment.is_empty() && self.address.is_none()
    }

    /// Reads up to the end of a quoted string; gives what follows.
    fn quoted(&mut self, mut rest: &'t str) -> &'t str {
        while let Some(at) = memchr::memchr2(b'"', b'\\', rest.as_bytes()) {
            self.name.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            if rest.as_bytes()[at] == b'"' {
                return after;
            }
            let mut escaped = after.chars();
            self.name.extend(escaped.next());
            rest = escaped.as_str();
        }
        self.name.push_str(rest);
        ""
    }

    /// Reads up to the end of a comment; gives what follows.
    fn comment(&mut self, rest: &'t str) -> &'t str {
        let mut depth = 1;
        let mut chars = rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                '\\' => self.comment.extend(chars.next()),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if c != '\\' {
                self.comment.push(c);
            }
        }
        self.comment.push(' ');
        chars.as_str()
    }

    /// "Undisclosed recipients: a, b;" is a group: its name is no person.
    fn is_group(&mut self) -> bool {
        // Asked for every colon of a name, so what was found once is remembered.
        self.colons = self.colons || self.name.contains('@') || self.name.contains("=?");
        !self.colons
    }

    /// Tells of the address, unless there is nothing; then begins anew.
    fn finish(&mut self, hint: Option<&str>, found: &mut dyn FnMut(Address<'_>)) {
        let one = address(&self.name, &self.comment, self.address.take(), hint);
        if !one.name.is_empty() || !one.address.is_empty() {
            found(one);
        }
        self.name.clear();
        self.comment.clear();
        self.colons = false;
    }
}

fn address<'t>(
    name: &'t str,
    comment: &'t str,
    address: Option<&'t str>,
    hint: Option<&str>,
) -> Address<'t> {
    let words = |text: &'t str| encoded::words(text.trim(), hint);
    let bare = name.trim();
    match address {
        Some(address) if !address.is_empty() => {
            let name = if bare.is_empty() {
                words(comment)
            } else {
                words(bare)
            };
            Address {
                name,
                address: clean::on_one_line(address),
            }
        }
        // "me@example.org (My Name)"
        _ if bare.contains('@') && !has_blank(bare) => Address {
            name: words(comment),
            address: clean::on_one_line(bare),
        },
        _ if bare.contains('@') => {
            let found = bare
                .split_whitespace()
                .find(|word| word.contains('@'))
                .unwrap_or_default();
            Address {
                name: Cow::Owned(
                    encoded::words(bare.replace(found, " ").trim(), hint).into_owned(),
                ),
                address: clean::on_one_line(found),
            }
        }
        _ => Address {
            name: words(bare),
            address: Cow::Borrowed(""),
        },
    }
}

/// Whether there is white space in a text.
fn has_blank(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().any(|b| matches!(b, b' ' | b'\t'..=b'\r'));
    }
    text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::{Address, Entry, bare_address, has_blank};

    #[test]
    fn a_bare_address_is_read_like_any_other() {
        for stretch in [
            "a@b.example",
            " a@b.example\t",
            "@",
            "a b@c",
            "a=?@b",
            "a",
            "",
            "\u{b}a@b",
            "ä@b.example",
            "'a@b'",
        ] {
            let mut entry = Entry::default();
            entry.name.push_str(stretch);
            let mut slowly = Vec::new();
            entry.finish(None, &mut |one: Address<'_>| {
                slowly.push((one.name.into_owned(), one.address.into_owned()));
            });
            if let Some(one) = bare_address(stretch) {
                let quickly = (one.name.into_owned(), one.address.into_owned());
                assert_eq!(slowly, [quickly], "{stretch:?}");
            }
        }
        assert!(bare_address(" a@b.example").is_some());
    }

    #[test]
    fn a_blank_is_what_unicode_calls_white_space() {
        for c in '\0'..='\u{3000}' {
            assert_eq!(has_blank(&format!("a{c}@b")), c.is_whitespace(), "{c:?}");
        }
    }
}
