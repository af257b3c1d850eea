//! What a reader did with a message: seen, answered, flagged, keywords. Where each kind of mailbox keeps it, and what of it
//! goes over to the message that stays.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use memchr::memchr;
use twicetold_model::Category;

use super::super::step::{Edit, Text, Was};
use super::words::{with_words, words};

/// What a reader did with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) seen: bool,
    pub(super) answered: bool,
    pub(super) flagged: bool,
    /// Marked as deleted.
    pub(super) deleted: bool,
    /// Keywords and labels by name.
    pub(super) keywords: BTreeSet<String>,
    /// Labels of Gmail by name.
    pub(super) labels: BTreeSet<String>,
}

/// Labels that say what was done with the very message, not what it is about.
const OF_ONE_MESSAGE: [&str; 5] = ["Unread", "Opened", "Sent", "Drafts", "Trash"];

impl Flags {
    /// What of these flags goes over to the message that stays.
    ///
    /// A copy is the same message, so all of it does. A longer message that merely contains this one may not have been read or
    /// answered: only the star and the labels go over, which say what the content is to the reader.
    pub(super) fn carried(&self, category: Category) -> Self {
        let copy = super::super::is_copy(category);
        Self {
            seen: copy && self.seen,
            answered: copy && self.answered,
            flagged: self.flagged,
            deleted: false,
            keywords: self.keywords.clone(),
            labels: self
                .labels
                .iter()
                .filter(|label| !OF_ONE_MESSAGE.contains(&label.as_str()))
                .cloned()
                .collect(),
        }
    }

    /// What of these flags another message lacks.
    pub(super) fn without(&self, other: &Self) -> Self {
        Self {
            seen: self.seen && !other.seen,
            answered: self.answered && !other.answered,
            flagged: self.flagged && !other.flagged,
            deleted: self.deleted && !other.deleted,
            keywords: self.keywords.difference(&other.keywords).cloned().collect(),
            labels: self.labels.difference(&other.labels).cloned().collect(),
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.seen |= more.seen;
        self.answered |= more.answered;
        self.flagged |= more.flagged;
        self.deleted |= more.deleted;
        self.keywords.extend(more.keywords.iter().cloned());
        self.labels.extend(more.labels.iter().cloned());
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The parts of a file name in a Maildir: the name of the message, and the letters behind `:2,`.
pub(super) fn split_name(name: &str) -> (&str, &str) {
    match name.split_once(":2,") {
        Some((base, letters)) => (base, letters),
        None => (name.split(':').next().unwrap_or(name), ""),
    }
}

/// What a file name in a Maildir says.
pub(super) fn of_name(name: &str, known: &[(char, String)]) -> Flags {
    let letters = split_name(name).1;
    Flags {
        seen: letters.contains('S'),
        answered: letters.contains('R'),
        flagged: letters.contains('F'),
        deleted: letters.contains('T'),
        keywords: known
            .iter()
            .filter(|(letter, _)| letters.contains(*letter))
            .map(|(_, keyword)| keyword.clone())
            .collect(),
        labels: BTreeSet::new(),
    }
}

/// The file name with more flags, and the keywords for which the folder has no letter.
pub(super) fn add_to_name(
    name: &str,
    more: &Flags,
    known: &[(char, String)],
) -> (String, Vec<String>) {
    let (base, letters) = split_name(name);
    let mut letters: BTreeSet<char> = letters.chars().collect();
    let flags = [
        (more.seen, 'S'),
        (more.answered, 'R'),
        (more.flagged, 'F'),
        (more.deleted, 'T'),
    ];
    letters.extend(flags.iter().filter(|(on, _)| *on).map(|(_, letter)| letter));
    let mut unknown = Vec::new();
    for keyword in more.keywords.iter().chain(&more.labels) {
        match known.iter().find(|(_, name)| name == keyword) {
            Some((letter, _)) => drop(letters.insert(*letter)),
            None => unknown.push(keyword.clone()),
        }
    }
    let letters: String = letters.into_iter().collect();
    (format!("{base}:2,{letters}"), unknown)
}

/// The keywords of a Maildir folder, as Dovecot keeps them: a number and a name per line; the number is a letter from `a`.
pub(super) fn keywords_of(maildir: &Path) -> Vec<(char, String)> {
    let Ok(file) = fs::read_to_string(maildir.join("dovecot-keywords")) else {
        return Vec::new();
    };
    file.lines()
        .filter_map(|line| {
            let (number, name) = line.split_once(' ')?;
            let letter = char::from(b'a' + number.parse::<u8>().ok().filter(|n| *n < 26)?);
            Some((letter, name.to_owned()))
        })
        .collect()
}

/// A header of a message in an mbox: its first byte, the end of its last line, and its value.
fn header<'h>(head: &'h [u8], name: &str) -> Option<(usize, usize, &'h [u8])> {
    let mut at = 0;
    let mut found: Option<(usize, usize)> = None;
    while at < head.len() {
        let end = memchr(b'\n', &head[at..]).map_or(head.len(), |end| at + end + 1);
        let line = &head[at..end];
        match &mut found {
            Some(found) if line.starts_with(b" ") || line.starts_with(b"\t") => found.1 = end,
            Some(_) => break,
            None => {
                let colon = memchr(b':', line).unwrap_or(0);
                if line[..colon].eq_ignore_ascii_case(name.as_bytes()) {
                    found = Some((at, end));
                }
            }
        }
        at = end;
    }
    let (start, end) = found?;
    Some((start, end, &head[start + name.len() + 1..end]))
}

/// What the header lines of a message in an mbox say; `head` begins with its `From ` line.
pub(super) fn of_head(head: &[u8]) -> Flags {
    let has = |name: &str, letter: u8| {
        header(head, name).is_some_and(|(_, _, value)| value.contains(&letter))
    };
    let listed = |name: &str, between| {
        header(head, name)
            .and_then(|(_, _, value)| words(value, between))
            .unwrap_or_default()
    };
    Flags {
        seen: has("Status", b'R'),
        answered: has("X-Status", b'A'),
        flagged: has("X-Status", b'F'),
        deleted: has("X-Status", b'D'),
        keywords: listed("X-Keywords", ' '),
        labels: listed("X-Gmail-Labels", ','),
    }
}

/// The changes that add flags to a message in an mbox, whose head (its `From ` line, its headers and the empty line) begins at
/// `start` in the file; `None` if the head has no end or writes its labels in a way we cannot add to.
pub(super) fn edit_head(head: &[u8], start: u64, more: &Flags) -> Option<Vec<Edit>> {
    let end = end_of_headers(head)?;
    let line_end = if head[..end].ends_with(b"\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let head = &head[..end];
    let letters = |wanted: &[(bool, char)]| -> String {
        wanted
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, c)| c)
            .collect()
    };
    let mut edits = Vec::new();
    let mut new_lines = String::new();
    let mut put = |name: &str, add: &dyn Fn(&[u8]) -> Option<String>| -> Option<()> {
        match header(head, name) {
            None => new_lines.push_str(&format!("{name}: {}{line_end}", add(b"")?)),
            Some((from, to, value)) => {
                let line = format!("{name}: {}{line_end}", add(value)?);
                if line.as_bytes() != &head[from..to] {
                    edits.push(Edit {
                        start: start + from as u64,
                        bytes: (to - from) as u64,
                        becomes: Text(line.into_bytes()),
                        was: Was::Here(Text(head[from..to].to_vec())),
                        after: None,
                    });
                }
            }
        }
        Some(())
    };
    let add_letters = |value: &[u8], more: &str| -> Option<String> {
        let mut all: String = std::str::from_utf8(value).ok()?.trim().to_owned();
        all.extend(more.chars().filter(|c| !value.contains(&(*c as u8))));
        Some(all)
    };
    if more.seen {
        put("Status", &|value| add_letters(value, "R"))?;
    }
    let status = letters(&[
        (more.answered, 'A'),
        (more.flagged, 'F'),
        (more.deleted, 'D'),
    ]);
    if !status.is_empty() {
        put("X-Status", &|value| add_letters(value, &status))?;
    }
    // A message from Gmail keeps its labels where Gmail put them; any other keeps them as keywords.
    let gmail = header(head, "X-Gmail-Labels").is_some();
    let mut labels = more.labels.clone();
    let mut keywords = more.keywords.clone();
    if gmail {
        labels.append(&mut keywords);
    } else {
        keywords.extend(labels.iter().map(|label| label.replace(' ', "_")));
        labels.clear();
    }
    if !labels.is_empty() {
        put("X-Gmail-Labels", &|value| {
            with_words(value, &labels, ',', line_end)
        })?;
    }
    if !keywords.is_empty() {
        put("X-Keywords", &|value| {
            with_words(value, &keywords, ' ', line_end)
        })?;
    }
    if !new_lines.is_empty() {
        edits.push(Edit {
            start: start + end as u64,
            bytes: 0,
            becomes: Text(new_lines.into_bytes()),
            was: Was::Here(Text::default()),
            after: None,
        });
    }
    edits.sort_by_key(|edit| edit.start);
    Some(edits)
}

/// Where the empty line behind the headers begins.
fn end_of_headers(head: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(end) = memchr(b'\n', &head[at..]) {
        if head[at..=at + end].trim_ascii().is_empty() {
            return Some(at);
        }
        at += end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(letters: &str, keywords: &[&str]) -> Flags {
        Flags {
            seen: letters.contains('S'),
            answered: letters.contains('R'),
            flagged: letters.contains('F'),
            deleted: letters.contains('T'),
            keywords: keywords.iter().map(|k| (*k).to_owned()).collect(),
            labels: BTreeSet::new(),
        }
    }

    #[test]
    fn names_in_a_maildir() {
        let known = [('a', "Work".to_owned()), ('c', "$Forwarded".to_owned())];
        assert_eq!(
            of_name("1.a:2,Sac", &known),
            flags("S", &["Work", "$Forwarded"])
        );
        assert_eq!(of_name("1.a", &known), Flags::default());
        let add = |name: &str, more: &Flags| add_to_name(name, more, &known);
        assert_eq!(add("1.a", &flags("FS", &[])).0, "1.a:2,FS");
        assert_eq!(add("1.a:2,RT", &flags("FS", &["Work"])).0, "1.a:2,FRSTa");
        assert_eq!(
            add("1.a:2,", &flags("", &["Other"])),
            ("1.a:2,".to_owned(), vec!["Other".to_owned()])
        );
    }

    #[test]
    fn a_copy_takes_all_and_a_longer_message_only_what_marks_content() {
        let all = flags("SRFT", &["Work"]);
        assert_eq!(all.carried(Category::Identical), flags("SRF", &["Work"]));
        assert_eq!(all.carried(Category::Quoted), flags("F", &["Work"]));
    }

    fn edited(head: &str, more: &Flags) -> String {
        let mut text = head.to_owned();
        for edit in edit_head(head.as_bytes(), 0, more).unwrap().iter().rev() {
            let range = edit.start as usize..(edit.start + edit.bytes) as usize;
            let Was::Here(was) = &edit.was else { panic!() };
            assert_eq!(was.0, text.as_bytes()[range.clone()]);
            text.replace_range(range, std::str::from_utf8(&edit.becomes.0).unwrap());
        }
        text
    }

    #[test]
    fn headers_of_an_mbox() {
        let head = "From a@b\nSubject: x\nStatus: O\nX-Keywords: a b\n\nbody";
        let more = flags("SRF", &["b", "c"]);
        let expected = "From a@b\nSubject: x\nStatus: OR\nX-Keywords: a b c\nX-Status: AF\n\nbody";
        assert_eq!(edited(head, &more), expected);
        let mut expected = flags("SRF", &["a", "b", "c"]);
        assert_eq!(of_head(edited(head, &more).as_bytes()), expected);
        expected = flags("S", &[]);
        assert_eq!(
            of_head(edited("From a\r\nA: b\r\n\r\n", &expected).as_bytes()),
            expected
        );
        assert!(edit_head(b"From a\nA: b\n", 0, &more).is_none());
        let encoded = b"From a\nX-Keywords: =?utf-8?q?a?=\n\n";
        assert!(edit_head(encoded, 0, &flags("", &["c"])).is_none());
    }

    #[test]
    fn labels_of_gmail() {
        let head = "From a\nX-Gmail-Labels: Inbox,\n My Work,Unread\n\n";
        let from = of_head(head.as_bytes());
        assert_eq!(from.labels.len(), 3);
        let carried = from.carried(Category::Identical);
        assert_eq!(carried.labels.len(), 2);
        let text = edited("From a\nX-Gmail-Labels: Sent\n\n", &carried);
        assert_eq!(text, "From a\nX-Gmail-Labels: Sent,Inbox,My Work\n\n");
        let encoded = "From a\nX-Gmail-Labels: =?UTF-8?Q?Bo=C3=AEte,Sent?=\n\n";
        let text = edited(encoded, &carried);
        assert_eq!(
            text,
            "From a\nX-Gmail-Labels: =?UTF-8?Q?Bo=C3=AEte,Sent,Inbox,My_Work?=\n\n"
        );
        assert_eq!(of_head(text.as_bytes()).labels.len(), 4);
        let text = edited("From a\nA: b\n\n", &carried);
        assert_eq!(text, "From a\nA: b\nX-Keywords: Inbox My_Work\n\n");
    }
}
