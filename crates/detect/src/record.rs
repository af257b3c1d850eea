//! What a scan remembers of every message.
//!
//! Texts are not kept: a mailbox may be larger than memory. Kept are fingerprints, counts and hashes;
//! whoever needs the text again asks the `library`.

use std::sync::OnceLock;

use twicetold_index::Filter;
use twicetold_mail::words::hash_of;
use twicetold_methods::winnow::{Winnow, half, mix, pair, paper};
use twicetold_model::{Digest, Document, Form, Location, Problem, RawMessage, Word, WordFlags};
use xxhash_rust::xxh3::xxh3_128;

use crate::aside::Stored;
use crate::comparable::{as_written, as_written_in_ascii, subject_facts};
use crate::noted::Noted;
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
    pub(crate) id: Option<u64>,
    /// Hash of its sender; 0 if it has none.
    pub(crate) sender: u64,
    pub(crate) date: Option<i64>,
    /// Hashes of the message ids it answers, oldest first.
    pub(crate) references: Box<[u64]>,
    /// Hash of its subject without "Re:" and the like; 0 if nothing is left.
    pub(crate) topic: u64,
    /// Its subject says that it answers or forwards.
    pub(crate) answers: bool,
    /// Hash of everything it says: equal for equal words, attachments and links.
    pub(crate) identity: u128,
    /// How many fingerprints its content has.
    pub(crate) fingerprints: u32,
    /// Its sentences and word pairs, and what a report shows of it; or where they are.
    pub(crate) seldom: Stored,
    /// All its word pairs, packaging included; nothing as long as they stand in the cache and nobody has asked.
    pub(crate) pairs: OnceLock<Filter>,
    /// How many content words it has.
    pub(crate) says: u32,
    /// It has words, be they packaging.
    pub(crate) worded: bool,
    /// So little text of its own that its meaning stands in its context.
    pub(crate) short: bool,
    /// Attachments, by hash of their checksum; sorted, each once.
    pub(crate) attachments: Box<[u64]>,
    /// Link targets that its text does not show; sorted, each once.
    pub(crate) links: Box<[u64]>,
    /// Numbers of the facts in its content: each must stand in a witness exactly as it is. Sorted, each once.
    pub(crate) facts: Box<[u32]>,
    /// Facts of its subject.
    pub(crate) subject_facts: Box<[u64]>,
    /// Nothing could be read of it.
    pub(crate) unreadable: bool,
}

/// A number for a name or a subject; 0 if there is none.
pub(crate) fn name(text: &str) -> u64 {
    match text.is_empty() {
        true => 0,
        false => hash_of(text),
    }
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
    let document = twicetold_mail::read(raw.form, &raw.bytes);
    let Noted {
        detail,
        facts,
        pairs,
        besides,
        says,
        tells: (own, all),
    } = Noted::of(&document);
    let envelope = &document.envelope;
    let mut attachments: Vec<u64> = document
        .attachments
        .iter()
        .map(|a| digest_hash(&a.digest))
        .collect();
    attachments.sort_unstable();
    attachments.dedup();
    let topic = plain_subject(&envelope.subject);
    let record = Record {
        location: raw.location.clone(),
        print,
        form: raw.form,
        bytes: raw.bytes.len() as u64,
        id: envelope.message_id.as_deref().map(hash_of),
        sender: name(&envelope.from),
        date: envelope.date,
        references: envelope.references.iter().map(|id| hash_of(id)).collect(),
        topic: name(&topic),
        answers: is_answer(&envelope.subject),
        identity: identity(&document),
        fingerprints: detail.count_fingerprints(winnow),
        seldom: Stored::Here(Box::new(Seldom {
            detail,
            shown: Shown {
                message_id: envelope.message_id.clone(),
                subject: envelope.subject.clone(),
                from: envelope.from.clone(),
                digest: digest(&document),
                problems: document.problems.clone(),
            },
            segments: document.segments.as_slice().into(),
        })),
        pairs: Filter::of_halves(&pairs).into(),
        says: says as u32,
        worded: !document.words.is_empty(),
        short: (own > 0 && own < short) || all < short,
        attachments: attachments.into(),
        links: document.links.clone().into(),
        facts: facts.into(),
        subject_facts: subject_facts(&topic).collect(),
        unreadable: false,
    };
    let pairs = Pairs {
        all: pairs,
        besides,
    };
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

/// One number for everything a document says.
fn identity(document: &Document) -> u128 {
    const WORD: usize = 10;
    let mut digests: Vec<_> = document.attachments.iter().map(|a| a.digest).collect();
    digests.sort_unstable();
    let words = document.words.len() * WORD;
    let mut said =
        Vec::with_capacity(words + 16 + size_of_val(&*digests) + size_of_val(&*document.links));
    said.resize(words, 0);
    let put = |place: &mut [u8; WORD], word: &Word, (hash, letters): (u64, u8)| {
        place[..8].copy_from_slice(&hash.to_le_bytes());
        place[8] = u8::from(word.flags.has(WordFlags::ASKED));
        place[9] = letters;
    };
    let words = said.as_chunks_mut().0.iter_mut().zip(&document.words);
    match document.text.is_ascii() {
        true => words.for_each(|(place, word)| put(place, word, as_written_in_ascii(word))),
        false => words.for_each(|(place, word)| put(place, word, as_written(document, word))),
    }
    said.extend_from_slice(b"attachments");
    said.extend(digests.iter().flatten());
    said.extend_from_slice(b"links");
    said.extend(document.links.iter().flat_map(|link| link.to_le_bytes()));
    xxh3_128(&said)
}

/// A checksum that no two different texts share.
fn digest(document: &Document) -> Digest {
    let mut state = blake3::Hasher::new();
    // The text first: where it begins with a whole block, many blocks are hashed at a time. How long each part is stands behind them all.
    state.update(document.text.as_bytes());
    let mut digests: Vec<_> = document.attachments.iter().map(|a| a.digest).collect();
    digests.sort_unstable();
    for digest in &digests {
        state.update(digest);
    }
    for link in &document.links {
        state.update(&link.to_le_bytes());
    }
    for length in [document.text.len(), digests.len(), document.links.len()] {
        state.update(&(length as u64).to_le_bytes());
    }
    state.finalize().into()
}

/// What makes two messages copies of each other: everything they say, facts of the subject included, and for a message
/// of a few words who said it and about what.
pub(crate) type Sameness = (u128, u64, u64);

impl Record {
    /// The same for messages that are word for word the same.
    pub(crate) fn sameness(&self) -> Sameness {
        let context = if self.short {
            (self.sender, self.topic)
        } else {
            (0, 0)
        };
        let facts = self
            .subject_facts
            .iter()
            .fold(0, |sum: u64, &fact| sum.wrapping_add(fact));
        (self.identity, context.0, context.1 ^ facts)
    }

    /// A number that is the same for messages of which only one is counted when it is counted which sentences and word pairs several have: copies that have the
    /// same ones. Whichever of them comes first, the count is the same. Nothing for a message of a few words: each counts.
    pub(crate) fn counts_as(&self, pairs: &[u32]) -> Option<u128> {
        let Stored::Here(seldom) = &self.seldom else {
            return None;
        };
        let (identity, _, facts) = self.sameness();
        // In any order: a record that comes back from a file has its pairs in another one.
        let pairs = pairs.iter().map(|&pair| mix(u64::from(pair)));
        let told = seldom.detail.told.iter();
        let told = told.map(|told| mix(told.hash ^ 1));
        let counted = pairs.chain(told).fold(0, u64::wrapping_add);
        (!self.short).then_some(identity ^ u128::from(facts) ^ u128::from(counted) << 64)
    }

    /// Its attachments and links.
    pub(crate) fn things(&self) -> impl Iterator<Item = u64> {
        self.attachments.iter().chain(&self.links).copied()
    }

    /// A message with nothing to compare: never redundant, never a witness.
    pub(crate) fn is_empty(&self) -> bool {
        self.unreadable || (self.says == 0 && self.attachments.is_empty())
    }

    /// Whether a message that is word for word the same can stand for it. One that holds nothing but courtesies is told
    /// from others by its sender and subject.
    pub(crate) fn can_be_copied(&self) -> bool {
        !self.is_empty() || (self.worded && self.sender != 0 && self.topic != 0)
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
            identity: 0,
            fingerprints: 0,
            seldom: Stored::Here(Box::new(Seldom {
                shown: Shown {
                    problems: vec![problem],
                    ..Shown::default()
                },
                ..Seldom::default()
            })),
            pairs: Filter::default().into(),
            says: 0,
            worded: false,
            short: false,
            attachments: Box::default(),
            links: Box::default(),
            facts: Box::default(),
            subject_facts: Box::default(),
            unreadable: true,
        }
    }
}
