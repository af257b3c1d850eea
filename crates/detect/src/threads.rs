//! Which messages belong to one conversation?
//!
//! By `References` and `In-Reply-To` first; where clients leave those out, by the subject, but only
//! if somebody answered under it.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::record::Record;

/// A key for a conversation: numbers that follow each other become numbers that are spread.
pub(crate) fn conversation(thread: u64) -> u64 {
    thread.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Words that stand before the colon of an answered or forwarded subject.
const PREFIXES: &[&str] = &[
    "re",
    "aw",
    "sv",
    "vs",
    "antw",
    "odp",
    "vá",
    "ynt",
    "r",
    "rif",
    "res",
    "bls",
    "απ",
    "σχετ",
    "תגובה",
    "关于",
    "關於",
    "回复",
    "回覆",
    "答复",
    "fw",
    "fwd",
    "wg",
    "tr",
    "rv",
    "i",
    "vb",
    "vl",
    "pd",
    "enc",
    "i̇lt",
    "ilt",
    "trs",
    "doorst",
    "fs",
    "πρθ",
    "הועבר",
    "转发",
    "轉寄",
    "ref",
    "ha",
    "отв",
    "на",
    "переслано",
];

/// A subject without "Re:", "Fwd:", a list's tag in brackets and the like, in lower case.
pub(crate) fn plain_subject(subject: &str) -> String {
    let lower = subject.to_lowercase();
    let mut rest = lower.trim();
    loop {
        let before = rest;
        if let Some(tagged) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            // A list's tag has no meaning of its own, but one that is the whole subject stays.
            if !tagged.1.trim().is_empty() && tagged.0.len() <= 40 {
                rest = tagged.1.trim_start();
            }
        }
        rest = strip_prefix(rest).unwrap_or(rest);
        if rest == before {
            return rest.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

fn strip_prefix(subject: &str) -> Option<&str> {
    let (head, tail) = subject.split_once([':', '：'])?;
    // "Re[2]" and "Re (3)" count as well.
    let word = head.trim_end_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '[' | ']' | '(' | ')' | '^' | '*')
    });
    PREFIXES.contains(&word.trim()).then(|| tail.trim_start())
}

/// Whether a subject says that its message answers or forwards another.
pub(crate) fn is_answer(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let bare = lower.trim().trim_start_matches('[');
    let bare = if bare.len() < lower.trim().len() {
        bare.split_once(']').map_or("", |t| t.1).trim()
    } else {
        bare
    };
    strip_prefix(bare).is_some()
}

/// For every message the number of the message that stands for its conversation.
pub(crate) fn threads(records: &[Record]) -> Vec<u32> {
    let mut union = Union::new(records.len());
    let mut by_id: HashMap<u64, u32, FixedState> = HashMap::default();
    for (n, record) in records.iter().enumerate() {
        // A Message-ID used by unrelated messages must not tie them together: only the first one owns it.
        if let Some(id) = record.id {
            by_id.entry(id.get()).or_insert(n as u32);
        }
    }
    for (n, record) in records.iter().enumerate() {
        for &id in &record.references {
            match by_id.get(&id) {
                Some(&owner) => union.join(owner, n as u32),
                // Two answers to a message that is not here belong together all the same.
                None => drop(by_id.insert(id, n as u32)),
            }
        }
    }
    let mut by_topic: HashMap<u64, (u32, bool), FixedState> = HashMap::default();
    for (n, record) in records.iter().enumerate().filter(|(_, r)| r.topic != 0) {
        let entry = by_topic.entry(record.topic).or_insert((n as u32, false));
        entry.1 |= record.answers;
    }
    for (n, record) in records.iter().enumerate() {
        if let Some(&(first, true)) = by_topic.get(&record.topic) {
            union.join(first, n as u32);
        }
    }
    (0..records.len() as u32).map(|n| union.root(n)).collect()
}

/// Sets that can be joined; the smallest member stands for a set.
struct Union(Vec<u32>);

impl Union {
    fn new(len: usize) -> Self {
        Self((0..len as u32).collect())
    }

    fn root(&mut self, mut n: u32) -> u32 {
        while self.0[n as usize] != n {
            let up = self.0[n as usize];
            self.0[n as usize] = self.0[up as usize];
            n = up;
        }
        n
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_go_and_the_topic_stays() {
        for (subject, topic) in [
            ("Re: Lunch", "lunch"),
            ("Re: [club] Re[2]: Lunch on 5 May", "lunch on 5 may"),
            ("AW: WG: Angebot", "angebot"),
            ("回复：会议", "会议"),
            ("[alone]", "[alone]"),
            ("Note: this stays", "note: this stays"),
            ("", ""),
        ] {
            assert_eq!(plain_subject(subject), topic, "{subject}");
        }
    }

    #[test]
    fn an_answer_shows_in_the_subject() {
        assert!(is_answer("Re: x") && is_answer("[list] Re: x") && is_answer("转发：x"));
        assert!(!is_answer("Report: x") && !is_answer("x") && !is_answer("[list] x"));
    }
}
