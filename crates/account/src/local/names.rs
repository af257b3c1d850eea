//! The name of a folder on the server, as the name of a folder here.

/// The longest name that every file system takes, with room for what is put behind it.
const LONGEST: usize = 200;

/// The name of the Maildir of a folder: empty for the inbox, which is the root, else `.A.B`.
///
/// The name cannot lead anywhere else: what could is spelt as `%XX`. Different folders get
/// different names, but for file systems that do not tell "A" from "a"; those are told apart when
/// the folder is opened.
pub(crate) fn maildir(name: &str, delimiter: Option<char>) -> String {
    if name.eq_ignore_ascii_case("INBOX") {
        return String::new();
    }
    let mut local = String::with_capacity(name.len() + 1);
    let mut parts: Vec<&str> = vec![name];
    if let Some(delimiter) = delimiter {
        parts = name.split(delimiter).collect();
    }
    for part in parts {
        local.push('.');
        if part.is_empty() {
            // Two dots in a row, or one at the end, would not come back.
            local.push_str("%_");
        }
        for c in part.chars() {
            spell(c, &mut local);
        }
    }
    if local.len() > LONGEST {
        let mut cut = LONGEST - 20;
        while !local.is_char_boundary(cut) {
            cut -= 1;
        }
        local.truncate(cut);
        local.push('%');
        local.push_str(&short_hash(name));
    }
    local
}

fn spell(c: char, local: &mut String) {
    let plain = !c.is_control() && !".%/\\:*?\"<>|".contains(c);
    if plain {
        local.push(c);
        return;
    }
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        local.push_str(&format!("%{byte:02X}"));
    }
}

/// Sixteen digits that stand for a text.
pub(crate) fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_readable_and_safe() {
        let cases = [
            ("INBOX", '/', ""),
            ("inbox", '/', ""),
            ("Archive/2024", '/', ".Archive.2024"),
            ("Archive.2024", '/', ".Archive%2E2024"),
            ("INBOX.Sent", '.', ".INBOX.Sent"),
            ("../../etc", '/', ".%2E%2E.%2E%2E.etc"),
            ("../../etc", '.', ".%_.%_.%2F.%_.%2Fetc"),
            ("a/", '/', ".a.%_"),
            ("Entwürfe & 日本", '/', ".Entwürfe & 日本"),
            ("50%", '/', ".50%25"),
            ("a\nb\u{0}", '/', ".a%0Ab%00"),
            ("cur", '/', ".cur"),
        ];
        for (name, delimiter, local) in cases {
            assert_eq!(maildir(name, Some(delimiter)), local, "{name}");
        }
        assert_eq!(maildir("a/b.c", None), ".a%2Fb%2Ec");
    }

    proptest! {
        #[test]
        fn a_name_is_one_step_down_and_its_own(
            names in proptest::collection::hash_set("[a./%_é\\PC]{1,12}|(a/){90,120}b{0,3}", 1..30)
        ) {
            let mut seen = HashMap::new();
            for name in names.iter().filter(|name| !name.eq_ignore_ascii_case("inbox")) {
                let local = maildir(name, Some('/'));
                let path = std::path::Path::new(&local);
                prop_assert_eq!(path.components().count(), 1);
                prop_assert!(local.starts_with('.') && local != "." && local != ".." && local.len() <= LONGEST);
                prop_assert_eq!(seen.insert(local.clone(), name), None, "{}", local);
            }
        }
    }
}
