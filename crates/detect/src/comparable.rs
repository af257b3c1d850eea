//! A document made ready for comparison.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use twicetold_mail::words::{WordSet, hash_of};
use twicetold_methods::winnow::{pair, pairs};
use twicetold_model::{Document, SegmentKind, Sentence, Word, WordFlags, WordKind};

/// Words that say nothing on their own: a sentence of nothing else is a courtesy.
const COURTESIES: &str = "fyi thanks thank you cheers regards please see below above attached forwarded fwd fw \
    forwarding many very much in advance best kind sincerely hi hello ttyl info zur zk danke vielen dank merci pour \
    gracias grazie obrigado obrigada bedankt tack tak takk kiitos dziękuję спасибо 谢谢 謝謝 ありがとう 감사합니다";

/// Words that answer: what they mean stands in the sentence before.
const ANSWERS: &str = "yes no yeah yep nope ok okay sure agreed correct right wrong true false done maybe perhaps \
    never always exactly absolutely definitely approved rejected accepted declined both neither none all some \
    ja nein doch oui non si sì sí sim não nee nej ne tak nie да нет evet hayır はい いいえ 是 是的 不是 好 好的 对 不 네 아니요";

/// Words that take back the rest of their sentence without being denials.
const HEDGES: &str = "if unless whether false untrue wrong doubt doubtful hardly falls wenn ob si falls если ли 如果";

fn is_courtesy(hash: u64) -> bool {
    static ALL: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(COURTESIES.split_whitespace()));
    ALL.has(hash)
}

fn is_answer(hash: u64) -> bool {
    static ALL: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(ANSWERS.split_whitespace()));
    ALL.has(hash)
}

/// Whether a word means something only with the sentence before it: "No.", "Five.".
fn tells_by_context(word: &Word) -> bool {
    word.kind == WordKind::Number || word.flags.has(WordFlags::NEGATION) || is_answer(word.hash)
}

/// Whether a word may turn the sentence it stands in into its contrary, or into a mere possibility.
pub(crate) fn turns(word: &Word) -> bool {
    static ALL: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(HEDGES.split_whitespace()));
    word.flags.has(WordFlags::NEGATION) || ALL.has(word.hash)
}

/// A sentence of a message as a unit of proof: it is covered as a whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its words, as positions in [`Comparable::stream`].
    pub(crate) stream: Range<u32>,
    /// Its words, as indices into the document's words.
    pub(crate) words: Range<u32>,
    /// What segment it stands in.
    pub(crate) kind: SegmentKind,
    /// It says something a reader would miss.
    pub(crate) content: bool,
    /// It means something only right behind the unit before it.
    pub(crate) answers: bool,
}

impl Unit {
    /// How many words it is compared by.
    pub(crate) fn len(&self) -> usize {
        self.stream.len()
    }
}

/// A document with what comparing needs: the words that count, the units, and where each word pair stands.
#[derive(Debug)]
pub(crate) struct Comparable {
    pub(crate) document: Document,
    /// The words without the free ones, as indices into the document's words.
    pub(crate) stream: Vec<u32>,
    /// The sentence of each position of the stream.
    sentence: Vec<u32>,
    pub(crate) units: Vec<Unit>,
    /// Hashes of all facts, link targets included; sorted.
    facts: OnceLock<Vec<u64>>,
    /// Where each pair of neighbouring words stands in the stream.
    places: OnceLock<Places>,
}

/// Where each number stands, for numbers of which every bit is as good as another: those that begin alike stand together, in the order of their
/// places, and there are about as many beginnings as numbers.
#[derive(Debug)]
struct Places {
    /// For each beginning where the numbers end that begin so.
    ends: Vec<u32>,
    /// Each number with its place.
    all: Vec<(u64, u32)>,
    /// How many bits do not belong to the beginning.
    rest: u32,
}

/// Where more numbers than this begin alike, they are sorted: a text can be written so that they all do.
const FEW: usize = 8;

impl Places {
    /// The places of these, which are 0, 1, 2 and so on.
    fn of(numbers: &[u64]) -> Self {
        let bits = numbers.len().max(2).ilog2();
        let rest = u64::BITS - bits;
        let mut ends = vec![0_u32; 1 << bits];
        for number in numbers {
            ends[(number >> rest) as usize] += 1;
        }
        // Where each beginning starts, for now; when its numbers are filled in, it has become its end.
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut all = vec![(0, 0); sum as usize];
        for (&number, place) in numbers.iter().zip(0..) {
            let end = &mut ends[(number >> rest) as usize];
            all[*end as usize] = (number, place);
            *end += 1;
        }
        let mut start = 0;
        for &end in &ends {
            let alike = &mut all[start as usize..end as usize];
            if alike.len() > FEW {
                alike.sort_unstable();
            }
            start = end;
        }
        Self { ends, all, rest }
    }

    /// The places at which a number stands, in order.
    fn places(&self, number: u64) -> impl Iterator<Item = u32> + '_ {
        let begins = (number >> self.rest) as usize;
        let start = begins.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut alike = &self.all[start as usize..self.ends[begins] as usize];
        if alike.len() > FEW {
            alike = &alike[alike.partition_point(|(other, _)| *other < number)..];
            alike = &alike[..alike.partition_point(|(other, _)| *other == number)];
        }
        let same = alike.iter().filter(move |(other, _)| *other == number);
        same.map(|&(_, place)| place)
    }
}

/// Judges the sentences of a document one after the other: what makes them units of proof.
#[derive(Default)]
pub(crate) struct Judging {
    /// The sentence before asks.
    asked: bool,
    /// What segment the last sentence stood in that is no packaging.
    kind_before: Option<SegmentKind>,
}

/// What makes a sentence a unit.
pub(crate) struct Judged {
    /// What segment it stands in.
    pub(crate) kind: SegmentKind,
    /// It says something a reader would miss.
    pub(crate) content: bool,
    /// It means something only right behind the unit before it.
    pub(crate) answers: bool,
}

impl Judging {
    /// Judges the next sentence, which has so many words without the free ones; `None` if it has none but those.
    pub(crate) fn of(
        &mut self,
        document: &Document,
        sentence: &Sentence,
        len: usize,
    ) -> Option<Judged> {
        if len == 0 {
            return None;
        }
        let words = document.sentence_words(sentence);
        let segment = document.segments.get(sentence.segment as usize);
        let kind = segment.map_or(SegmentKind::Own, |segment| segment.kind);
        let replies = kind == SegmentKind::Own && self.kind_before == Some(SegmentKind::Quoted);
        let courtesy =
            words.len() <= 6 && words.iter().all(|w| is_courtesy(w.hash) && !w.is_fact());
        let brief = len <= 3;
        let answers = brief && (self.asked || replies || words.iter().any(tells_by_context));
        self.asked = words.last().is_some_and(|w| w.flags.has(WordFlags::ASKED));
        if kind.is_content() {
            self.kind_before = Some(kind);
        }
        Some(Judged {
            kind,
            content: kind.is_content() && !courtesy,
            answers,
        })
    }
}

impl Comparable {
    pub(crate) fn new(document: Document) -> Self {
        let mut stream = Vec::with_capacity(document.words.len());
        let mut sentence = Vec::with_capacity(document.words.len());
        let mut units: Vec<Unit> = Vec::with_capacity(document.sentences.len());
        let mut judging = Judging::default();
        for (n, s) in document.sentences.iter().enumerate() {
            let from = stream.len();
            for w in s.words.clone() {
                if !document.words[w as usize].flags.has(WordFlags::FREE) {
                    stream.push(w);
                    sentence.push(n as u32);
                }
            }
            if let Some(Judged {
                kind,
                content,
                answers,
            }) = judging.of(&document, s, stream.len() - from)
            {
                units.push(Unit {
                    stream: from as u32..stream.len() as u32,
                    words: s.words.clone(),
                    kind,
                    content,
                    answers,
                });
            }
        }
        Self {
            document,
            stream,
            sentence,
            units,
            facts: OnceLock::new(),
            places: OnceLock::new(),
        }
    }

    /// The word at a position of the stream.
    pub(crate) fn at(&self, position: usize) -> Option<&Word> {
        self.document
            .words
            .get(*self.stream.get(position)? as usize)
    }

    /// The positions at which this pair of neighbours stands, in order.
    pub(crate) fn places(&self, first: u64, second: u64) -> impl Iterator<Item = u32> + '_ {
        let places = self.places.get_or_init(|| {
            let words = self
                .stream
                .iter()
                .map(|&w| &self.document.words[w as usize]);
            match self.stream.len() {
                0 | 1 => Places::of(&[]),
                _ => Places::of(&pairs(words.map(|word| word.hash))),
            }
        });
        places.places(pair(first, second))
    }

    /// Whether a sentence ends before this position of the stream.
    pub(crate) fn starts_sentence(&self, position: usize) -> bool {
        position == 0
            || position >= self.sentence.len()
            || self.sentence[position - 1] != self.sentence[position]
    }

    /// Whether something stands before this position that a reader takes for a break: the end of a sentence, a dash.
    pub(crate) fn breaks_before(&self, position: usize) -> bool {
        if self.starts_sentence(position) {
            return true;
        }
        let Some((x, y)) = self.at(position - 1).zip(self.at(position)) else {
            return true;
        };
        let gap = self
            .document
            .text
            .get(x.end as usize..y.start as usize)
            .unwrap_or_default();
        let marked = gap.trim_start_matches(['"', '\'', ')', '\u{201d}']);
        marked.starts_with(['.', '!', '?', '。', '！', '？'])
            && marked.contains(char::is_whitespace)
            || [" - ", " -- ", " _ ", " * ", " – ", " — ", "- ", "\n\n"]
                .iter()
                .any(|dash| gap.contains(dash))
    }

    /// The positions of the stream that belong to the sentence at this one.
    pub(crate) fn sentence_around(&self, position: usize) -> Range<usize> {
        let Some(&n) = self.sentence.get(position) else {
            return position..position;
        };
        let from = self.sentence.partition_point(|&s| s < n);
        let to = from + self.sentence[from..].partition_point(|&s| s == n);
        from..to
    }

    /// What sort of segment the word at this position stands in.
    pub(crate) fn kind_at(&self, position: usize) -> SegmentKind {
        self.sentence
            .get(position)
            .and_then(|&s| self.document.sentences.get(s as usize))
            .and_then(|s| self.document.segments.get(s.segment as usize))
            .map_or(SegmentKind::Own, |g| g.kind)
    }

    /// Whether a fact or link stands anywhere in it, packaging and subject included.
    pub(crate) fn has_fact(&self, hash: u64) -> bool {
        let facts = self.facts.get_or_init(|| {
            let mut facts: Vec<u64> = self
                .document
                .words
                .iter()
                .filter(|w| w.is_fact())
                .map(|w| w.hash)
                .collect();
            facts.extend_from_slice(&self.document.links);
            facts.extend(subject_facts(&self.document.envelope.subject));
            facts.sort_unstable();
            facts
        });
        facts.binary_search(&hash).is_ok()
    }

    /// Content words: what the message says, without free words, packaging and courtesies.
    pub(crate) fn says(&self) -> usize {
        self.units.iter().filter(|u| u.content).map(Unit::len).sum()
    }
}

/// A word by its hash and, where short and long forms share one ("&" and "and", "'ll" and "will"), its letters: equal for
/// words that are written the same.
pub(crate) fn as_written(document: &Document, word: &Word) -> (u64, u8) {
    let letters = match has_short_form(word) {
        true => document.word(word).chars().count() as u8,
        false => 0,
    };
    (word.hash, letters)
}

/// The same of a word in a text of nothing but ASCII.
pub(crate) fn as_written_in_ascii(word: &Word) -> (u64, u8) {
    let letters = (word.end - word.start) as u8;
    (word.hash, letters * u8::from(has_short_form(word)))
}

fn has_short_form(word: &Word) -> bool {
    word.kind == WordKind::Plain && (word.is_fact() | word.flags.has(WordFlags::STOP))
}

/// Hashes of the words of a subject that hold a digit.
pub(crate) fn subject_facts(subject: &str) -> impl Iterator<Item = u64> + '_ {
    subject
        .split(|c: char| {
            c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '#' | '"' | '<' | '>')
        })
        .map(|word| {
            word.trim_matches(|c: char| {
                !c.is_alphanumeric() && !matches!(c, '$' | '€' | '£' | '%' | '-' | '+')
            })
        })
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
        .map(|word| hash_of(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use twicetold_methods::winnow::mix;

    use super::Places;

    #[test]
    fn a_number_is_found_wherever_it_stands() {
        for count in [0_u64, 1, 2, 3, 7, 8, 100, 1000] {
            // Numbers that are spread, and numbers that all begin alike.
            for make in [mix, |n| mix(n) >> 20] {
                let numbers: Vec<u64> = (0..count).map(|n| make(n % (count / 3 + 1))).collect();
                let places = Places::of(&numbers);
                for number in (0..count + 3).map(make) {
                    let stands = (0..).zip(&numbers).filter(|(_, n)| **n == number);
                    let stands: Vec<u32> = stands.map(|(place, _)| place).collect();
                    assert_eq!(places.places(number).collect::<Vec<_>>(), stands);
                }
            }
        }
    }
}
