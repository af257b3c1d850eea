//! What comparing texts has led to before.
//!
//! Every question that needs the text of messages is asked through here. The question is known by the bytes of the messages it
//! is about and by everything else its answer depends on; so an answer from an earlier scan is the answer of this one, and no
//! text is read for it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use crate::cache::{Reader, Writer};

/// The answers of an earlier scan, as they were written.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    bytes: Vec<u8>,
    /// Each question with where its answer is, in the order of the questions.
    answers: Vec<(u128, Range<usize>)>,
    /// For each whether the next scan may want it: this one has asked the same, or asks only what is open.
    used: Vec<AtomicBool>,
}

impl Earlier {
    /// Answers that [`Answers::sorted`] gave, in the bytes that were made of them: as a list of questions, each with the length of its answer and the answer.
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let whole = bytes.len();
        let mut from = Reader::new(&bytes);
        let answers = from.list(|from| {
            let key = from.wide()?;
            let length = from.number()?.try_into().ok()?;
            let end = from.raw(length).map(|_| whole - from.left())?;
            Some((key, end - length..end))
        })?;
        answers.is_sorted_by_key(|a| a.0).then(|| Self {
            used: answers.iter().map(|_| AtomicBool::new(false)).collect(),
            answers,
            bytes,
        })
    }

    fn get(&self, key: u128) -> Option<&[u8]> {
        let place = self.answers.binary_search_by_key(&key, |a| a.0).ok()?;
        self.used[place].store(true, Ordering::Relaxed);
        self.bytes.get(self.answers[place].1.clone())
    }
}

/// Answers by question.
type Given = HashMap<u128, Box<[u8]>, FixedState>;

/// The answers that the next scan may want.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    earlier: Earlier,
    now: Given,
}

impl Answers {
    /// In the order of the questions.
    pub(crate) fn sorted(&self) -> Vec<(u128, &[u8])> {
        let earlier = self.earlier.answers.iter().zip(&self.earlier.used);
        let earlier = earlier.filter(|(_, used)| used.load(Ordering::Relaxed));
        let earlier = earlier.map(|((key, range), _)| (*key, &self.earlier.bytes[range.clone()]));
        let now = self.now.iter().map(|(key, answer)| (*key, &**answer));
        let mut sorted: Vec<(u128, &[u8])> = earlier.chain(now).collect();
        sorted.sort_by_key(|a| a.0);
        // What was asked anew, since the earlier answer could not be read.
        sorted.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                *earlier = *later;
            }
            same
        });
        sorted
    }
}

/// The answers of an earlier scan and of this one.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    earlier: Earlier,
    /// Answers that were given in this scan; `None` if nobody will want them.
    now: Option<Mutex<Given>>,
}

impl Memo {
    /// Remembers, beginning with what an earlier scan found; what nobody asks for is forgotten.
    pub(crate) fn with(earlier: Earlier) -> Self {
        Self {
            earlier,
            now: Some(Mutex::default()),
        }
    }

    /// The same in a scan that asks only what the earlier one left open: nothing is forgotten.
    pub(crate) fn with_all(mut earlier: Earlier) -> Self {
        earlier
            .used
            .iter_mut()
            .for_each(|used| *used.get_mut() = true);
        Self::with(earlier)
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
        if let Some(known) = self.earlier.get(key)
            && let Some(answer) = read(&mut Reader::new(known))
        {
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
        Answers {
            earlier: self.earlier,
            now: now.unwrap_or_else(PoisonError::into_inner),
        }
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
