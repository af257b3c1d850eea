//! What a scan remembers of the words of a message, noted in one walk through them.

use std::hint::select_unpredictable;

use twicetold_methods::winnow::{HalfPairs, counts, mix};
use twicetold_model::{Document, SegmentKind, WordFlags, WordKind};

use crate::comparable::Judging;
use crate::record::{Told, fact_number};
use crate::seldom::Detail;

/// What is noted of a message.
pub(crate) struct Noted {
    /// Its units, and the word pairs and facts of those in content, one unit after another. Pairs do not reach from one sentence into the
    /// next: sentences may stand in another order elsewhere.
    pub(crate) detail: Detail,
    /// The facts of its content once more by themselves, since no more than some of each unit are remembered. Sorted, each once.
    pub(crate) facts: Vec<u32>,
    /// Half of the number of each of its word pairs, and of everything that can stand for a fact.
    pub(crate) pairs: Vec<u32>,
    /// Those of them that the detail does not have.
    pub(crate) besides: Vec<u32>,
    /// How many content words it has, without free words, packaging and courtesies.
    pub(crate) says: usize,
    /// How many content words tell something in own text, and in all of it.
    pub(crate) tells: (usize, usize),
}

impl Noted {
    pub(crate) fn of(document: &Document) -> Self {
        let words = &document.words;
        let mut judging = Judging::default();
        let mut pairs = HalfPairs::with_room_for(words.len());
        let mut numbers = Vec::with_capacity(words.len());
        let mut told = Vec::with_capacity(document.sentences.len());
        // In mail some words in sixteen are facts, and some in four have a pair that reaches from one sentence into the next.
        let mut facts = Vec::with_capacity(words.len() / 16);
        let mut besides = Vec::with_capacity(words.len() / 4);
        // Everything that can stand for a fact of another message, and the facts of a unit.
        let mut all_facts = Vec::with_capacity(words.len() / 16 + document.links.len());
        all_facts.extend_from_slice(&document.links);
        let mut own_facts = Vec::with_capacity(16);
        let (mut says, mut tells) = (0, (0, 0));
        // Up to which pair everything is in one of the lists.
        let mut listed = 0;
        for sentence in &document.sentences {
            let own = document.sentence_words(sentence);
            let is_free = |flags: WordFlags| flags.has(WordFlags::FREE);
            let last = own.iter().rfind(|word| !is_free(word.flags));
            let asks = last.is_some_and(|word| word.flags.has(WordFlags::ASKED));
            let mut hash = u64::from(asks);
            let (mut len, mut telling) = (0, 0);
            let first = pairs.words();
            own_facts.clear();
            for word in own {
                pairs.add(word.hash, counts(word));
                let free = is_free(word.flags);
                let mixed = mix(hash ^ word.hash);
                hash = select_unpredictable(free, hash, mixed);
                len += usize::from(!free);
                telling += usize::from(!word.flags.has(WordFlags::STOP));
                if word.kind != WordKind::Plain {
                    all_facts.push(word.hash);
                    if !word.flags.has(WordFlags::ENUMERATOR) {
                        own_facts.push(fact_number(word.hash));
                    }
                }
            }
            let Some(unit) = judging.of(document, sentence, len) else {
                continue;
            };
            let start = numbers.len();
            if unit.kind.is_content() {
                // The first word of a unit makes a pair with one of another unit.
                let inside = pairs.between(first..pairs.words());
                if !inside.is_empty() {
                    numbers.extend_from_slice(pairs.all(inside.clone()));
                    besides.extend_from_slice(pairs.all(listed..inside.start));
                    listed = inside.end;
                }
            }
            let own_pairs = numbers.len() - start;
            if unit.content {
                facts.extend_from_slice(&own_facts);
                numbers.extend(own_facts.iter().take(Told::FACTS));
                says += len;
                tells.1 += telling;
                if unit.kind == SegmentKind::Own {
                    tells.0 += telling;
                }
            }
            let remembered = numbers.len() - start - own_pairs;
            let one = Told::new(hash, len, own_pairs, remembered);
            told.push(one.marked(unit.content, unit.answers));
        }
        let mut pairs = pairs.finish();
        besides.extend_from_slice(&pairs[listed..]);
        facts.sort_unstable();
        facts.dedup();
        let mut all_facts: Vec<u32> = all_facts.into_iter().map(fact_number).collect();
        all_facts.sort_unstable();
        all_facts.dedup();
        pairs.extend_from_slice(&all_facts);
        besides.extend(all_facts);
        Self {
            detail: Detail {
                told: told.into(),
                numbers: numbers.into(),
                numbered: None,
            },
            facts,
            pairs,
            besides,
            says,
            tells,
        }
    }
}
