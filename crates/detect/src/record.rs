//! What a scan remembers of every message.
//!
//! Texts are not kept: a mailbox may be larger than memory. Kept are fingerprints, counts and hashes;
//! whoever needs the text again asks the `library`.

use std::num::NonZeroU64;
use std::sync::Arc;

use twicetold_mail::words::hash_of;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::winnow::{Winnow, half, mix, pair, paper};
use twicetold_model::{
    Digest, Document, Envelope, Form, Location, Permanence, Problem, RawMessage,
};
use twicetold_source::{is_marked_transient, permanence_of_place};

use crate::aside::Stored;
use crate::comparable::subject_facts;
use crate::said::{Digested, Rare, Said};
use crate::seldom::{Detail, Seldom, Shown};
use crate::threads::{is_answer, plain_subject};

/// A sentence as the scan remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Hash of its words in their order, and of whether it asks.
    pub(crate) hash: u64,
    /// How many word pairs of it are remembered.
    pub(crate) pairs: u32,
    /// How many words it is compared by, how many facts of it are remembered, and two marks: a mailbox has many
    /// sentences.
    shape: u32,
}

impl Told {
    const CONTENT: u32 = 1 << 31;
    const ANSWERS: u32 = 1 << 30;
    /// The facts stand above so many bits for the words.
    const LEN: u32 = 22;
    /// So many facts are remembered at the most.
    pub(crate) const FACTS: usize = 255;

    /// A sentence with a hash of its words, so many words, and so many of its pairs and facts remembered.
    pub(crate) fn new(hash: u64, len: usize, pairs: usize, facts: usize) -> Self {
        let len = len.min((1 << Self::LEN) - 1);
        Self {
            hash,
            pairs: pairs as u32,
            shape: (facts.min(Self::FACTS) << Self::LEN | len) as u32,
        }
    }

    /// The same with marks: it says something a reader would miss; it means something only right behind the sentence
    /// before it.
    pub(crate) fn marked(mut self, content: bool, answers: bool) -> Self {
        self.shape |= if content { Self::CONTENT } else { 0 };
        self.shape |= if answers { Self::ANSWERS } else { 0 };
        self
    }

    /// How many words it is compared by.
    pub(crate) fn len(self) -> u32 {
        self.shape & ((1 << Self::LEN) - 1)
    }

    /// How many facts of it are remembered.
    pub(crate) fn facts(self) -> usize {
        (self.shape >> Self::LEN) as usize & Self::FACTS
    }

    /// It says something a reader would miss.
    pub(crate) fn is_content(self) -> bool {
        self.shape & Self::CONTENT != 0
    }

    /// It means something only right behind the sentence before it.
    pub(crate) fn answers(self) -> bool {
        self.shape & Self::ANSWERS != 0
    }
}

/// A message as the scan remembers it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) location: Location,
    /// Checksum of its form and bytes.
    pub(crate) print: u128,
    pub(crate) form: Form,
    pub(crate) bytes: u64,
    /// Hash of its message id.
    pub(crate) id: Option<NonZeroU64>,
    /// Hash of its sender; 0 if it has none.
    pub(crate) sender: u64,
    pub(crate) date: Option<i64>,
    /// Hashes of the message ids it answers, oldest first.
    pub(crate) references: Box<[u64]>,
    /// Hash of its subject without "Re:" and the like; 0 if nothing is left.
    pub(crate) topic: u64,
    /// Its subject says that it answers or forwards.
    pub(crate) answers: bool,
    /// Facts of its subject.
    pub(crate) subject_facts: Rare,
    /// Nothing could be read of it.
    pub(crate) unreadable: bool,
    /// Its headers say that it is deleted, a draft, trash or junk.
    pub(crate) marked_transient: bool,
    /// How sure it is that it stays, by its headers and its place.
    pub(crate) permanence: Permanence,
    /// What it says.
    pub(crate) said: Arc<Said>,
    /// What a report shows of it, or where that is, if somebody else said it first; else it stands with what it says.
    pub(crate) shown: Option<Box<Stored>>,
}

/// How sure it is that a message stays, if its headers say so much.
pub(crate) fn permanence_of(location: &Location, form: Form, marked: bool) -> Permanence {
    match marked {
        true => Permanence::Transient,
        false => permanence_of_place(location, form),
    }
}

/// A number for a name or a subject; 0 if there is none.
pub(crate) fn name(text: &str) -> u64 {
    match text.is_empty() {
        true => 0,
        false => hash_of(text),
    }
}

/// A number for a message id.
pub(crate) fn id(text: &str) -> Option<NonZeroU64> {
    NonZeroU64::new(hash_of(text))
}

/// The checksum by which a message is known again, whatever its place.
pub(crate) fn print(raw: &RawMessage<'_>) -> u128 {
    let mut hasher = blake3::Hasher::new();
    // The bytes first: where they begin with a whole block, many blocks are hashed at a time.
    hasher.update(&raw.bytes).update(&[raw.form as u8]);
    let mut print = [0; 16];
    hasher.finalize_xof().fill(&mut print);
    u128::from_le_bytes(print)
}

/// What there is in a message: half of the number of each word pair, and of everything that can stand for a fact.
pub(crate) struct Pairs {
    pub(crate) all: Vec<u32>,
    /// Those of them that its detail does not have.
    pub(crate) besides: Vec<u32>,
}

/// All word pairs: those of a detail, and these besides.
pub(crate) fn all_pairs(detail: &Detail, mut besides: Vec<u32>) -> Vec<u32> {
    besides.reserve(detail.numbers.len());
    for sentence in detail.sentences() {
        besides.extend_from_slice(sentence.pairs);
    }
    besides
}

/// Reads a message once and keeps what the scan needs. Returns its text and its word pairs besides.
pub(crate) fn record(
    raw: &RawMessage<'_>,
    print: u128,
    winnow: Winnow,
    short: usize,
) -> (Record, Document, Pairs) {
    let document = read_wanted(raw.form, &raw.bytes, Wants::default());
    let digest = Digested::of(&document).text;
    record_of(raw, print, document, digest, winnow, short)
}

/// The same for a message that has been opened, and whose text has this checksum.
pub(crate) fn record_of(
    raw: &RawMessage<'_>,
    print: u128,
    mut document: Document,
    digest: Digest,
    winnow: Winnow,
    short: usize,
) -> (Record, Document, Pairs) {
    twicetold_mail::read_on(&mut document);
    let (said, pairs) = Said::of(&document, digest, winnow, short);
    let record = Record::of(raw, print, &document.envelope, Arc::new(said));
    (record, document, pairs)
}

/// The number of a fact among those of word pairs: that of a pair with itself.
pub(crate) fn fact_number(hash: u64) -> u32 {
    half(pair(hash, hash))
}

/// The words of what a document says as the paper cuts them.
pub(crate) fn paper_words(document: &Document) -> Vec<String> {
    let content = document.segments.iter().filter(|s| s.kind.is_content());
    content
        .filter_map(|s| document.text.get(s.start as usize..s.end as usize))
        .flat_map(paper::words)
        .collect()
}

/// The first eight bytes of a checksum.
pub(crate) fn digest_hash(digest: &[u8; 32]) -> u64 {
    digest
        .iter()
        .take(8)
        .fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// What makes two messages copies of each other: everything they say, facts of the subject included, and for a message
/// of a few words who said it and about what.
pub(crate) type Sameness = (u128, u64, u64);

impl Record {
    /// Of a message with this envelope, which says this.
    pub(crate) fn of(
        raw: &RawMessage<'_>,
        print: u128,
        envelope: &Envelope,
        said: Arc<Said>,
    ) -> Self {
        let topic = plain_subject(&envelope.subject);
        let marked_transient = is_marked_transient(raw.form, &raw.bytes);
        Self {
            location: raw.location.clone(),
            print,
            form: raw.form,
            bytes: raw.bytes.len() as u64,
            id: envelope.message_id.as_deref().and_then(id),
            sender: name(&envelope.from),
            date: envelope.date,
            references: envelope.references.iter().map(|id| hash_of(id)).collect(),
            topic: name(&topic),
            answers: is_answer(&envelope.subject),
            subject_facts: subject_facts(&topic).collect(),
            unreadable: false,
            marked_transient,
            permanence: permanence_of(&raw.location, raw.form, marked_transient),
            said,
            shown: None,
        }
    }

    /// Where that is which a report shows of it.
    pub(crate) fn shown(&self) -> &Stored {
        self.shown.as_deref().unwrap_or(&self.said.seldom)
    }

    /// The same for messages that are word for word the same.
    pub(crate) fn sameness(&self) -> Sameness {
        let context = if self.said.short {
            (self.sender, self.topic)
        } else {
            (0, 0)
        };
        let facts = self
            .subject_facts
            .iter()
            .fold(0, |sum: u64, &fact| sum.wrapping_add(fact));
        // Of those without a word, only the same message has the same id and date.
        let once =
            match self.said.worded {
                true => 0,
                false => mix(self.id.map_or(0, NonZeroU64::get)
                    ^ mix(self.date.map_or(0, |date| date as u64))),
            };
        (self.said.identity(), context.0 ^ once, context.1 ^ facts)
    }

    /// A number that is the same for messages of which only one is counted when it is counted which sentences and word pairs several have: copies that have the
    /// same ones. Whichever of them comes first, the count is the same. Nothing for a message of a few words: each counts.
    pub(crate) fn counts_as(&self, pairs: &[u32]) -> Option<u128> {
        let Stored::Here(seldom) = &self.said.seldom else {
            return None;
        };
        let (identity, _, facts) = self.sameness();
        // In any order: a record that comes back from a file has its pairs in another one.
        let pairs = pairs.iter().map(|&pair| mix(u64::from(pair)));
        let told = seldom.detail.told.iter();
        let told = told.map(|told| mix(told.hash ^ 1));
        let counted = pairs.chain(told).fold(0, u64::wrapping_add);
        (!self.said.short).then_some(identity ^ u128::from(facts) ^ u128::from(counted) << 64)
    }

    /// Its attachments and links.
    pub(crate) fn things(&self) -> impl Iterator<Item = u64> {
        self.said
            .attachments
            .iter()
            .chain(&*self.said.links)
            .copied()
    }

    /// A message with nothing to compare: never redundant, never a witness.
    pub(crate) fn is_empty(&self) -> bool {
        self.unreadable || (self.said.says == 0 && self.said.attachments.is_empty())
    }

    /// Whether a message that is word for word the same can stand for it. One that holds nothing but courtesies is told
    /// from others by its sender and subject, one without a word by its id and date besides.
    pub(crate) fn can_be_copied(&self) -> bool {
        let told_apart = self.sender != 0 && self.topic != 0;
        !self.is_empty() || (told_apart && (self.said.worded || self.id.is_some()))
    }

    /// A message that could not be read at all.
    pub(crate) fn unreadable(location: Location, problem: Problem) -> Self {
        Self {
            location,
            print: 0,
            form: Form::Mail,
            bytes: 0,
            id: None,
            sender: 0,
            date: None,
            references: Box::default(),
            topic: 0,
            answers: false,
            subject_facts: Rare::default(),
            unreadable: true,
            marked_transient: false,
            permanence: Permanence::Lasting,
            said: Arc::new(Said {
                seldom: Stored::Here(Box::new(Seldom::showing(Shown {
                    problems: vec![problem],
                    ..Shown::default()
                }))),
                ..Said::default()
            }),
            shown: None,
        }
    }
}
