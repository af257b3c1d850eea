//! Lists of addresses, as mail really writes them.

use super::{clean, encoded};

/// A person or a mailbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    /// The display name; empty if there is none.
    pub(super) name: String,
    /// What stands in angle brackets, or a bare address; empty if there is none.
    pub(super) address: String,
}

/// Reads a list of addresses. Anything that is no address is a display name.
pub(super) fn list(raw: &[u8], hint: Option<&str>) -> Vec<Address> {
    let text = encoded::raw_text(raw, hint);
    let mut list = Vec::new();
    let mut name = String::new();
    let mut comment = String::new();
    let mut address: Option<String> = None;
    let mut chars = text.chars().peekable();
    let mut flush = |name: &mut String, comment: &mut String, address: &mut Option<String>| {
        let found = finish(name, comment, address.take(), hint);
        name.clear();
        comment.clear();
        if found != Address::default() {
            list.push(found);
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => name.extend(chars.next()),
                        c => name.push(c),
                    }
                }
            }
            '(' => {
                let mut depth = 1;
                while let Some(c) = chars.next() {
                    match c {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        '\\' => comment.extend(chars.next()),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    if c != '\\' {
                        comment.push(c);
                    }
                }
                comment.push(' ');
            }
            '<' => {
                let inside: String = chars.by_ref().take_while(|c| *c != '>').collect();
                // Routes ("@a,@b:me@c") are history.
                let inside = match inside.strip_prefix('@').and_then(|r| r.rsplit_once(':')) {
                    Some((_, last)) => last,
                    None => &inside,
                };
                address = Some(inside.trim().trim_matches('"').to_owned());
            }
            ',' | ';' => flush(&mut name, &mut comment, &mut address),
            // "Undisclosed recipients: a, b;" is a group: its name is no person.
            ':' if !name.contains('@') && !name.contains("=?") => {
                name.clear();
                comment.clear();
            }
            c => name.push(c),
        }
    }
    flush(&mut name, &mut comment, &mut address);
    list
}

fn finish(name: &str, comment: &str, address: Option<String>, hint: Option<&str>) -> Address {
    let words = |text: &str| clean::line(&encoded::decode_str(text.trim(), hint));
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
                address: clean::line(&address),
            }
        }
        // "me@example.org (My Name)"
        _ if bare.contains('@') && !bare.contains(char::is_whitespace) => Address {
            name: words(comment),
            address: clean::line(bare),
        },
        _ if bare.contains('@') => {
            let found = bare
                .split_whitespace()
                .find(|word| word.contains('@'))
                .unwrap_or_default();
            Address {
                name: words(&bare.replace(found, " ")),
                address: clean::line(found),
            }
        }
        _ => Address {
            name: words(bare),
            address: String::new(),
        },
    }
}
