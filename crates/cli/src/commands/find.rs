//! Which message does the user mean?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use twicetold_detect::{Scan, ScannedMessage};

/// How many close names are suggested.
const SUGGESTIONS: usize = 5;
/// How much of its trigrams a name must share to be called close, in percent.
const CLOSE: usize = 40;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is this one.
    One(u32),
    /// It could be any of these.
    Several(Vec<u32>),
    /// It is none; these have names that look like it.
    None(Vec<u32>),
}

/// Finds a message by `path`, `path@offset` or Message-ID.
pub(super) fn find(scan: &Scan, wanted: &str) -> Found {
    let tidied = tidy(wanted);
    let by_place = |message: &ScannedMessage| {
        tidy(&message.location.to_string()) == tidied || tidy(&message.location.path) == tidied
    };
    let by_id = |message: &ScannedMessage| {
        message
            .message_id
            .as_deref()
            .is_some_and(|id| bare(id) == bare(wanted))
    };
    all(scan, by_place)
        .or_else(|| all(scan, by_id))
        .or_else(|| {
            let (path, offset) = on_disk(scan, wanted)?;
            all(scan, |message| {
                *message.location.path == *path
                    && (offset.is_none() || message.location.offset == offset)
            })
        })
        .unwrap_or_else(|| Found::None(close(scan, wanted)))
}

fn all(scan: &Scan, fits: impl Fn(&ScannedMessage) -> bool) -> Option<Found> {
    let fitting: Vec<u32> = (0..)
        .zip(&scan.messages)
        .filter(|(_, message)| fits(message))
        .map(|(n, _)| n)
        .collect();
    match fitting.as_slice() {
        [] => None,
        [one] => Some(Found::One(*one)),
        _ => Some(Found::Several(fitting)),
    }
}

/// Splits `path@offset`; a name may hold an `@` of its own.
pub(super) fn split_offset(wanted: &str) -> (&str, Option<u64>) {
    match wanted.rsplit_once('@') {
        Some((path, offset)) if !path.is_empty() => match offset.parse() {
            Ok(offset) => (path, Some(offset)),
            Err(_) => (wanted, None),
        },
        _ => (wanted, None),
    }
}

/// A path without `.` and doubled slashes, so that `./a//b` is `a/b`.
fn tidy(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn bare(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<')
        .and_then(|id| id.strip_suffix('>'))
        .unwrap_or(id)
}

/// The path under which the scan knows a file that the user wrote in another way.
fn on_disk<'a>(scan: &'a Scan, wanted: &str) -> Option<(&'a str, Option<u64>)> {
    let (file, offset) = match fs::canonicalize(wanted) {
        Ok(file) => (file, None),
        Err(_) => {
            let (path, offset) = split_offset(wanted);
            (fs::canonicalize(path).ok()?, offset)
        }
    };
    // The name is compared first: asking the disk about every message would take long.
    let path = distinct_paths(scan).find(|path| {
        file.file_name() == Path::new(path).file_name()
            && fs::canonicalize(path).is_ok_and(|path| path == file)
    })?;
    Some((path, offset))
}

/// Every file that holds messages, once: the messages are sorted by path.
pub(super) fn distinct_paths(scan: &Scan) -> impl Iterator<Item = &str> {
    scan.messages
        .chunk_by(|a, b| a.location.path == b.location.path)
        .filter_map(|messages| messages.first())
        .map(|message| &*message.location.path)
}

/// The messages whose place or Message-ID looks most like what was wanted, the best first.
fn close(scan: &Scan, wanted: &str) -> Vec<u32> {
    let wanted = trigrams(bare(wanted));
    let likeness = |name: &str| {
        let name = trigrams(name);
        200 * name.intersection(&wanted).count() / (name.len() + wanted.len()).max(1)
    };
    let mut best: Vec<(usize, u32)> = Vec::with_capacity(SUGGESTIONS + 1);
    for (number, message) in (0..).zip(&scan.messages) {
        let by_id = message
            .message_id
            .as_deref()
            .map_or(0, |id| likeness(bare(id)));
        let score = by_id.max(likeness(&message.location.to_string()));
        if score >= CLOSE {
            best.push((score, number));
            best.sort_by_key(|&(score, number)| (std::cmp::Reverse(score), number));
            best.truncate(SUGGESTIONS);
        }
    }
    // Beside a very good guess, mediocre ones only confuse.
    let least = best.first().map_or(0, |&(score, _)| score * 3 / 4);
    best.into_iter()
        .filter(|&(score, _)| score >= least)
        .map(|(_, number)| number)
        .collect()
}

fn trigrams(name: &str) -> BTreeSet<[char; 3]> {
    // Padded, so that short names and both ends count; cut, because names are written by strangers.
    let padded: Vec<char> = "  "
        .chars()
        .chain(name.chars().take(300).flat_map(char::to_lowercase))
        .chain("  ".chars())
        .collect();
    padded
        .windows(3)
        .filter_map(|three| <[char; 3]>::try_from(three).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use twicetold_model::{Form, Location, Standing, Verdict};

    use super::*;

    fn scan(messages: &[(&str, Option<u64>, Option<&str>)]) -> Scan {
        let messages = messages
            .iter()
            .map(|&(path, offset, id)| ScannedMessage {
                location: Location {
                    path: path.into(),
                    offset,
                },
                form: Form::Mail,
                bytes: 1,
                message_id: id.map(str::to_owned),
                subject: String::new(),
                from: String::new(),
                date: None,
                thread: None,
                verdict: Verdict {
                    standing: Standing::Unique,
                    witnesses: Vec::new(),
                    residue: Vec::new(),
                },
                residue: Vec::new(),
                problems: Vec::new(),
            })
            .collect();
        Scan {
            messages,
            ..Scan::default()
        }
    }

    #[test]
    fn messages_are_found_by_place_and_by_id() {
        let scan = scan(&[
            ("box/1.eml", None, Some("<a@x>")),
            ("box/2.eml", None, Some("<b@x>")),
            ("in.mbox", Some(0), Some("<b@x>")),
            ("in.mbox", Some(90), None),
            ("solo.mbox", Some(0), Some("c@x")),
        ]);
        let cases = [
            ("box/1.eml", Found::One(0)),
            ("./box//1.eml", Found::One(0)),
            ("<a@x>", Found::One(0)),
            ("a@x", Found::One(0)),
            ("b@x", Found::Several(vec![1, 2])),
            ("in.mbox@90", Found::One(3)),
            ("in.mbox", Found::Several(vec![2, 3])),
            ("solo.mbox", Found::One(4)),
            ("<c@x>", Found::One(4)),
        ];
        for (wanted, expected) in cases {
            assert_eq!(find(&scan, wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn a_path_written_in_another_way_is_the_same_file() {
        let scan = scan(&[("Cargo.toml", Some(0), None), ("Cargo.toml", Some(7), None)]);
        let absolute = fs::canonicalize("Cargo.toml").unwrap();
        let absolute = absolute.to_str().unwrap();
        assert_eq!(find(&scan, &format!("{absolute}@7")), Found::One(1));
        assert_eq!(find(&scan, "src/../Cargo.toml"), Found::Several(vec![0, 1]));
        assert_eq!(distinct_paths(&scan).count(), 1);
    }

    #[test]
    fn close_names_are_suggested() {
        let scan = scan(&[
            ("mail/inbox/cur/1234.host:2,S", None, None),
            (
                "mail/sent/cur/99.host:2,",
                None,
                Some("<20010514.1234@example.org>"),
            ),
        ]);
        let cases = [
            ("mail/inbox/cur/1234.host:2,RS", vec![0]),
            ("20010514.1243@example.org", vec![1]),
            ("something else entirely", vec![]),
            ("", vec![]),
        ];
        for (wanted, expected) in cases {
            assert_eq!(find(&scan, wanted), Found::None(expected), "{wanted}");
        }
    }

    #[test]
    fn offsets_are_split_off() {
        let cases = [
            ("a.mbox@12", ("a.mbox", Some(12))),
            ("a@b@12", ("a@b", Some(12))),
            ("a@b", ("a@b", None)),
            ("@12", ("@12", None)),
            ("a@99999999999999999999", ("a@99999999999999999999", None)),
        ];
        for (wanted, expected) in cases {
            assert_eq!(split_offset(wanted), expected);
        }
    }
}
