//! What a message says, as a scan remembers it; and who has said it before.
//!
//! Mail that was kept twice, or sent to several people who kept it, says the same to the letter. The first such message is read;
//! of the others nothing is but who wrote it, to whom and when, and they share what is remembered of the first.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::FixedState;
use twicetold_index::Filter;
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Digest, Document, Word, WordFlags};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::aside::Stored;
use crate::cache::Place;
use crate::comparable::{as_written, as_written_in_ascii};
use crate::noted::Noted;
use crate::record::{Pairs, digest_hash};
use crate::seldom::{Seldom, Shown};

/// What a message says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// The [halves] of [its identity](Self::identity).
    pub(crate) identity: [u64; 2],
    /// How many fingerprints its content has.
    pub(crate) fingerprints: u32,
    /// How many content words it has.
    pub(crate) says: u32,
    /// It has words, be they packaging.
    pub(crate) worded: bool,
    /// So little text of its own that its meaning stands in its context.
    pub(crate) short: bool,
    /// Attachments, by hash of their checksum; sorted, each once.
    pub(crate) attachments: Rare,
    /// Link targets that its text does not show; sorted, each once.
    pub(crate) links: Rare,
    /// Numbers of the facts in its content: each must stand in a witness exactly as it is. Sorted, each once.
    pub(crate) facts: Box<[u32]>,
    /// All its word pairs, packaging included; nothing as long as they stand in the cache and nobody has asked.
    pub(crate) pairs: OnceLock<Filter>,
    /// Its sentences and word pairs, and what a report shows of the message that said it first; or where they are.
    pub(crate) seldom: Stored,
}

impl Said {
    /// What is said in a document that was read, whose text has this checksum; and its word pairs.
    pub(crate) fn of(
        document: &Document,
        digest: Digest,
        winnow: Winnow,
        short: usize,
    ) -> (Self, Pairs) {
        let Noted {
            detail,
            facts,
            pairs,
            besides,
            says,
            tells: (own, all),
        } = Noted::of(document);
        let digests = document.attachments.iter().map(|a| &a.digest);
        let mut attachments: Vec<u64> = digests.map(digest_hash).collect();
        attachments.sort_unstable();
        attachments.dedup();
        let said = Self {
            identity: halves(identity(document)),
            fingerprints: detail.count_fingerprints(winnow),
            says: says as u32,
            worded: !document.words.is_empty(),
            short: (own > 0 && own < short) || all < short,
            attachments: attachments.into_iter().collect(),
            links: document.links.iter().copied().collect(),
            facts: facts.into(),
            pairs: Filter::of_halves(&pairs).into(),
            seldom: Stored::Here(Box::new(Seldom {
                detail,
                shown: Shown::new(document, digest),
                segments: document.segments.as_slice().into(),
            })),
        };
        let pairs = Pairs {
            all: pairs,
            besides,
        };
        (said, pairs)
    }

    /// Hash of everything it says: equal for equal words, attachments and links.
    pub(crate) fn identity(&self) -> u128 {
        let [low, high] = self.identity.map(u128::from);
        low | high << 64
    }
}

/// A number in two halves, which stand where numbers of that size may: the larger one wants twice as much room around it.
pub(crate) fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Numbers of which most messages have none; those take no room but for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rare(Option<Box<Box<[u64]>>>);

impl FromIterator<u64> for Rare {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let numbers: Box<[u64]> = numbers.into_iter().collect();
        Self((!numbers.is_empty()).then(|| Box::new(numbers)))
    }
}

impl Deref for Rare {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        self.0.as_ref().map_or(&[], |numbers| numbers)
    }
}

/// The checksums of what is attached, in an order that does not depend on that of the attachments.
pub(crate) fn attached(document: &Document) -> Vec<Digest> {
    let mut digests: Vec<Digest> = document.attachments.iter().map(|a| a.digest).collect();
    digests.sort_unstable();
    digests
}

/// One number for everything a document says.
fn identity(document: &Document) -> u128 {
    const WORD: usize = 10;
    let digests = attached(document);
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

/// Checksums of a document that has been opened.
pub(crate) struct Digested {
    /// Of its text to the letter, its attachments and links: no two different ones share it.
    pub(crate) text: Digest,
    /// Of that and everything else by which it is decided what the message says: whose names may stand at its ends, and what it is about. Good enough
    /// to find candidates by; no proof rests on it.
    whole: [u64; 2],
}

impl Digested {
    pub(crate) fn of(document: &Document) -> Self {
        let mut state = blake3::Hasher::new();
        // The text first: where it begins with a whole block, many blocks are hashed at a time. How long each part is stands behind them all.
        state.update(document.text.as_bytes());
        let digests = attached(document);
        for digest in &digests {
            state.update(digest);
        }
        for link in &document.links {
            state.update(&link.to_le_bytes());
        }
        for length in [document.text.len(), digests.len(), document.links.len()] {
            state.update(&(length as u64).to_le_bytes());
        }
        let text: Digest = state.finalize().into();
        let (parts, _) = text.as_chunks();
        let part = |n: usize| parts.get(n).map_or(0, |part| u64::from_le_bytes(*part));
        let envelope = &document.envelope;
        let around = [
            &envelope.from,
            &envelope.from_name,
            &envelope.recipients,
            &envelope.subject,
        ];
        let around = around.iter().fold(part(1), |before, name| {
            xxh3_64_with_seed(name.as_bytes(), before)
        });
        Self {
            text,
            whole: [part(0), around],
        }
    }
}

/// Texts with fewer bytes than this are read before they are looked for.
const BRIEF: usize = 128;

/// What has been said so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    said: Mutex<HashMap<[u64; 2], Once, FixedState>>,
}

/// What somebody has said, and where the cache has the record of that message, if it has.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    pub(crate) said: Arc<Said>,
    pub(crate) cached: Option<Place>,
}

impl Heard {
    /// What a document that has been opened says, if that is known from another one.
    pub(crate) fn before(&self, document: &Document, digested: &Digested) -> Option<Once> {
        if document.text.len() < BRIEF {
            return None;
        }
        self.lock().get(&digested.whole).cloned()
    }

    /// Remembers what a document says. One of a few words counts every time it is met, so it is read every time.
    pub(crate) fn remember(&self, document: &Document, digested: &Digested, once: Once) {
        if document.text.len() >= BRIEF && !once.said.short {
            self.lock().insert(digested.whole, once);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u64; 2], Once, FixedState>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use twicetold_mail::{Wants, read_on, read_wanted};
    use twicetold_model::Form;

    use super::*;

    fn mail(id: u32, from: &str, subject: &str, end: &str) -> Document {
        let text = format!(
            "From: {from}\nSubject: {subject}\nMessage-ID: <{id}@b.example>\n\nThe hall is booked from nine until noon, and the \
             caretaker will bring the keys for all of the doors to the kitchen entrance.\n\n{end}\n"
        );
        read_wanted(Form::Mail, text.as_bytes(), Wants::default())
    }

    #[test]
    fn only_who_says_the_same_in_the_same_name_is_known_again() {
        let heard = Heard::default();
        let mut first = mail(1, "Anna <a@b.example>", "Hall", "Anna");
        let digested = Digested::of(&first);
        assert!(heard.before(&first, &digested).is_none());
        read_on(&mut first);
        let said = Arc::new(Said::of(&first, digested.text, Winnow { window: 3 }, 8).0);
        let once = Once {
            said: Arc::clone(&said),
            cached: None,
        };
        heard.remember(&first, &digested, once);
        let known = |document: &Document| {
            let known = heard.before(document, &Digested::of(document));
            known.is_some_and(|known| Arc::ptr_eq(&known.said, &said))
        };
        assert!(known(&mail(2, "Anna <a@b.example>", "Hall", "Anna")));
        // Whose name stands below the text decides whether it is a signature, and a number in the subject is a fact.
        assert!(!known(&mail(3, "Bert <a@b.example>", "Hall", "Anna")));
        assert!(!known(&mail(4, "Anna <a@b.example>", "Hall 3", "Anna")));
        assert!(!known(&mail(5, "Anna <a@b.example>", "Hall", "Bert")));
    }

    #[test]
    fn what_is_brief_is_read_every_time() {
        let heard = Heard::default();
        let text = b"From: a@b.example\n\nThe hall is booked.\n";
        let mut document = read_wanted(Form::Mail, text, Wants::default());
        let digested = Digested::of(&document);
        read_on(&mut document);
        let said = Said::of(&document, digested.text, Winnow { window: 3 }, 8).0;
        assert!(said.short);
        let once = Once {
            said: Arc::new(said),
            cached: None,
        };
        heard.remember(&document, &digested, once);
        assert!(heard.before(&document, &digested).is_none());
    }

    #[test]
    fn an_identity_is_the_sum_of_its_halves() {
        for number in [
            0,
            1,
            u128::MAX,
            1 << 64,
            0x0123_4567_89ab_cdef_fedc_ba98_7654_3210,
        ] {
            let identity = halves(number);
            assert_eq!(
                Said {
                    identity,
                    ..Said::default()
                }
                .identity(),
                number
            );
        }
    }
}
