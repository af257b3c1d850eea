//! The name of a message's file: when it came, which message of the server it is, its size, its flags.
//!
//! `1700000000.V1699U42.0123456789abcdef.twicetold,S=2048:2,FS`

/// What stands before the letters of the flags. Windows has no colon in names.
pub(crate) const INFO: &str = if cfg!(windows) { ";2," } else { ":2," };

/// The letters of a Maildir for the flags of a server, in the order that Maildir asks for.
pub(crate) fn letters(flags: &[String]) -> String {
    const LETTERS: [(&str, char); 6] = [
        ("\\Draft", 'D'),
        ("\\Flagged", 'F'),
        ("$Forwarded", 'P'),
        ("\\Answered", 'R'),
        ("\\Seen", 'S'),
        ("\\Deleted", 'T'),
    ];
    LETTERS
        .iter()
        .filter(|(name, _)| flags.iter().any(|flag| flag.eq_ignore_ascii_case(name)))
        .map(|&(_, letter)| letter)
        .collect()
}

/// Flags that have no letter: keywords, which are noted elsewhere.
pub(crate) fn keywords(flags: &[String]) -> Vec<String> {
    flags
        .iter()
        .filter(|flag| !flag.starts_with('\\') && !flag.eq_ignore_ascii_case("$Forwarded"))
        .cloned()
        .collect()
}

/// What a file's name says about the message in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// What it is on the server.
    pub(crate) key: Key,
    /// The hash of the folder it was fetched from.
    pub(crate) home: String,
    /// Its size when it was fetched.
    pub(crate) size: u64,
}

/// What a message is called on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// UIDVALIDITY and UID.
    Imap(u32, u32),
    /// The hash of what POP3 calls a unique id.
    Pop3(String),
}

/// The name without flags.
pub(crate) fn base(date: i64, key: &Key, home: &str, size: u64) -> String {
    let key = match key {
        Key::Imap(validity, uid) => format!("V{validity}U{uid}"),
        Key::Pop3(hash) => format!("P{hash}"),
    };
    format!("{date}.{key}.{home}.twicetold,S={size}")
}

/// The name with flags.
pub(crate) fn with_letters(base: &str, letters: &str) -> String {
    format!("{base}{INFO}{letters}")
}

/// The name without flags, of a name with or without.
pub(crate) fn without_letters(name: &str) -> &str {
    name.split(INFO).next().unwrap_or(name)
}

/// Takes a name apart; `None` for those that others have given.
pub(crate) fn parse(name: &str) -> Option<Named> {
    let mut parts = without_letters(name).split('.');
    parts.next()?.parse::<i64>().ok()?;
    let key = parts.next()?;
    let home = parts.next()?.to_owned();
    let rest = parts.next()?.strip_prefix("twicetold,S=")?;
    let size = rest.split(',').next()?.parse().ok()?;
    let key = if let Some(numbers) = key.strip_prefix('V') {
        let (validity, uid) = numbers.split_once('U')?;
        Key::Imap(validity.parse().ok()?, uid.parse().ok()?)
    } else {
        Key::Pop3(key.strip_prefix('P')?.to_owned())
    };
    Some(Named { key, home, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for key in [Key::Imap(1699, 42), Key::Pop3("0123".into())] {
            let name = with_letters(&base(-5, &key, "abcd", 2048), "FS");
            let expected = Named {
                key,
                home: "abcd".into(),
                size: 2048,
            };
            assert_eq!(parse(&name), Some(expected), "{name}");
        }
        for name in [
            "",
            "1700.M1P2.host:2,S",
            "a.V1U2.h.twicetold,S=1",
            "1.V1.h.twicetold,S=1",
        ] {
            assert_eq!(parse(name), None);
        }
    }

    #[test]
    fn flags_become_letters_in_order() {
        let flags = [
            "\\seen",
            "\\Flagged",
            "$Junk",
            "\\Recent",
            "\\Draft",
            "$forwarded",
        ]
        .map(str::to_owned);
        assert_eq!(letters(&flags), "DFPS");
        assert_eq!(keywords(&flags), ["$Junk"]);
    }
}
