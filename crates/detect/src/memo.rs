//! What comparing texts has led to before.
//!
//! Every question that needs the text of messages is asked through here. The question is known by the bytes of the messages it
//! is about and by everything else its answer depends on; so an answer from an earlier scan is the answer of this one, and no
//! text is read for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use crate::cache::{Reader, Writer};

/// Answers, by question.
pub(crate) type Answers = HashMap<u128, Box<[u8]>, FixedState>;

/// The answers of an earlier scan and of this one.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    before: HashMap<u128, Known, FixedState>,
    /// Answers that were given in this scan; `None` if nobody will want them.
    now: Option<Mutex<Answers>>,
}

/// An answer of an earlier scan.
#[derive(Debug)]
struct Known {
    answer: Box<[u8]>,
    /// This scan has asked the same.
    used: AtomicBool,
}

impl Memo {
    /// Remembers, beginning with what an earlier scan found.
    pub(crate) fn with(before: Vec<(u128, Box<[u8]>)>) -> Self {
        let known = |(key, answer)| {
            let used = AtomicBool::new(false);
            (key, Known { answer, used })
        };
        Self {
            before: before.into_iter().map(known).collect(),
            now: Some(Mutex::default()),
        }
    }

    /// The answer to a question: the one given before, or else what `find` finds. What cannot be told now, since a text
    /// can no longer be read, is not remembered.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce() -> Question,
        read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
        write: impl FnOnce(&mut Writer, &T),
        find: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let Some(now) = &self.now else {
            return find();
        };
        let key = question().key();
        if let Some(known) = self.before.get(&key)
            && let Some(answer) = read(&mut Reader::new(&known.answer))
        {
            known.used.store(true, Ordering::Relaxed);
            return Some(answer);
        }
        let answer = find()?;
        let mut out = Writer::default();
        write(&mut out, &answer);
        now.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, out.bytes.into());
        Some(answer)
    }

    /// The answers that the next scan may want.
    pub(crate) fn answers(self) -> Answers {
        let now = self.now.unwrap_or_default().into_inner();
        let mut answers = now.unwrap_or_else(PoisonError::into_inner);
        let used = self
            .before
            .into_iter()
            .filter(|(_, k)| k.used.load(Ordering::Relaxed));
        answers.extend(used.map(|(key, known)| (key, known.answer)));
        answers
    }
}

/// Reads an answer that is yes or no.
pub(crate) fn yes_or_no(from: &mut Reader<'_>) -> Option<bool> {
    from.flags().map(|[yes]| yes)
}

/// Writes an answer that is yes or no.
pub(crate) fn write_yes_or_no(out: &mut Writer, yes: &bool) {
    out.flags([*yes]);
}

/// A question being put together: what is asked, then everything that the answer depends on.
pub(crate) struct Question(blake3::Hasher);

impl Question {
    /// Asks this; every kind of question has words of its own.
    pub(crate) fn new(what: &'static str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(what.as_bytes()).update(&[0]);
        Self(hasher)
    }

    /// It depends on this message's bytes.
    pub(crate) fn of(mut self, print: u128) -> Self {
        self.0.update(&print.to_le_bytes());
        self
    }

    /// It depends on this number.
    pub(crate) fn with(self, number: usize) -> Self {
        self.of(number as u128)
    }

    /// It depends on these messages' bytes, and on their order.
    pub(crate) fn of_each(self, prints: impl ExactSizeIterator<Item = u128>) -> Self {
        let counted = self.with(prints.len());
        prints.fold(counted, Self::of)
    }

    /// The number by which it is known.
    pub(crate) fn key(self) -> u128 {
        let mut key = [0; 16];
        self.0.finalize_xof().fill(&mut key);
        u128::from_le_bytes(key)
    }
}
