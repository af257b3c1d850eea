//! Where does a sentence stand in another message?
//!
//! A unit is found where its words stand one after another in the witness: equal, inflected or
//! misspelt, with nothing between them but free words and list numbers. So no fact and no denial can
//! be more or less inside it. The sentence around the place is looked at as well, because "I do not
//! think that …" turns what follows.

use twicetold_model::{Word, WordFlags, WordKind};

use crate::alike::alike;
use crate::comparable::{Comparable, Unit, turns};

/// Where a unit was found in a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// First position in the witness's stream.
    pub(crate) start: u32,
    /// One past the last.
    pub(crate) end: u32,
}

/// How many occurrences of a word pair are tried before the unit counts as not found.
const TRIES: usize = 64;

/// How many starts at which a unit does not stand are remembered, so that they are not tried again.
const STARTS: usize = 32;

/// How many words of a unit of so many may be inflected, misspelt or written apart where it stands in another message.
pub(crate) fn most_altered(len: usize) -> usize {
    (len / 8).max(1)
}

/// Finds a unit of `a` in `b`. `after` is where the unit before it was found, if it was.
pub(crate) fn find(
    a: &Comparable,
    unit: &Unit,
    b: &Comparable,
    after: Option<Place>,
) -> Option<Place> {
    let expected = after.map(|p| skip_packaging(b, p.end as usize));
    if let Some(place) = expected.and_then(|at| accept(a, unit, b, at, true)) {
        return Some(place);
    }
    if (unit.answers && after.is_some()) || lacks_number(a, unit, b) {
        return None;
    }
    let from = unit.stream.start as usize;
    if unit.len() == 1 {
        let hash = a.at(from)?.hash;
        return (0..b.stream.len())
            .filter(|&p| b.at(p).is_some_and(|w| w.hash == hash))
            .take(TRIES)
            .find_map(|p| accept(a, unit, b, p, false));
    }
    let hash = |p: usize| a.at(p).map_or(0, |w| w.hash);
    // The rarest pairs first: fewest places to try, and one of them lies outside any misspelt word.
    let mut anchors: Vec<(usize, usize)> = (0..unit.len() - 1)
        .map(|i| {
            (
                b.places(hash(from + i), hash(from + i + 1))
                    .take(TRIES)
                    .count(),
                i,
            )
        })
        .filter(|&(n, _)| n > 0)
        .collect();
    anchors.sort_unstable();
    let mut tried = 0;
    // Most anchors lead to the same few starts. Of very many only the first are remembered.
    let mut starts: Vec<usize> = Vec::with_capacity(STARTS);
    for (_, i) in anchors.into_iter().take(6) {
        for p in b.places(hash(from + i), hash(from + i + 1)) {
            let start = p as i64 - i as i64;
            // A list number or a compound written apart shifts the start by a word or two.
            for shift in [0, -1, 1, -2, 2] {
                let Ok(start) = usize::try_from(start + shift) else {
                    continue;
                };
                if starts.contains(&start) {
                    continue;
                }
                if let Some(place) = accept(a, unit, b, start, false) {
                    return Some(place);
                }
                if starts.len() < STARTS {
                    starts.push(start);
                }
            }
            tried += 1;
            if tried >= TRIES {
                return None;
            }
        }
    }
    None
}

/// Whether a unit has a number that stands nowhere in `b`. No tolerance makes two numbers one, so there is no place to look for.
fn lacks_number(a: &Comparable, unit: &Unit, b: &Comparable) -> bool {
    let words = unit.stream.clone().filter_map(|p| a.at(p as usize));
    let mut numbers = words
        .filter(|word| word.kind == WordKind::Number && !word.flags.has(WordFlags::ENUMERATOR));
    numbers.any(|word| !b.has_fact(word.hash))
}

/// The first position from `at` on that is not packaging.
fn skip_packaging(b: &Comparable, mut at: usize) -> usize {
    while at < b.stream.len() && !b.kind_at(at).is_content() {
        at = b.sentence_around(at).end.max(at + 1);
    }
    at
}

/// The place at `start`, if the whole unit stands there and means the same there.
fn accept(
    a: &Comparable,
    unit: &Unit,
    b: &Comparable,
    start: usize,
    follows: bool,
) -> Option<Place> {
    let end = walk(a, unit, b, start)?;
    let place = Place {
        start: start as u32,
        end: end as u32,
    };
    same_meaning(a, unit, b, start, end, follows).then_some(place)
}

/// Walks the unit's words and the witness's side by side; the position behind the last matched word.
fn walk(a: &Comparable, unit: &Unit, b: &Comparable, start: usize) -> Option<usize> {
    let (mut i, mut j) = (unit.stream.start as usize, start);
    let last = unit.stream.end as usize;
    let mut altered = 0;
    while i < last {
        let x = a.at(i)?;
        let y = b.at(j);
        if y.is_some_and(|y| x.hash == y.hash) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if let Some(y) = y
            && altered < most_altered(unit.len())
            && alike(&a.document, x, &b.document, y)
        {
            (i, j, altered) = (i + 1, j + 1, altered + 1);
            continue;
        }
        let numbered = |w: &Word| w.flags.has(WordFlags::ENUMERATOR);
        match (numbered(x), y.is_some_and(numbered)) {
            // Two list numbers that differ are two facts.
            (true, true) => return None,
            (true, false) => i += 1,
            (false, true) if i > unit.stream.start as usize => j += 1,
            _ => {
                let (m, n) = compound(a, i, last, b, j)?;
                (i, j, altered) = (i + m, j + n, altered + 1);
                if altered > most_altered(unit.len()) {
                    return None;
                }
            }
        }
    }
    (j > start).then_some(j)
}

/// Whether one word here is two there ("e-mail", "email"); how many words each side takes.
fn compound(
    a: &Comparable,
    i: usize,
    last: usize,
    b: &Comparable,
    j: usize,
) -> Option<(usize, usize)> {
    let joined = |c: &Comparable, p: usize| {
        let (x, y) = (c.at(p)?, c.at(p + 1)?);
        let hyphen = c.document.text.get(x.end as usize..y.start as usize)? == "-";
        let plain =
            x.kind == WordKind::Plain && y.kind == WordKind::Plain && !x.is_fact() && !y.is_fact();
        (plain && hyphen)
            .then(|| (c.document.word(x).to_owned() + c.document.word(y)).to_lowercase())
    };
    let single = |c: &Comparable, p: usize| c.at(p).map(|w| c.document.word(w).to_lowercase());
    if i + 1 < last && joined(a, i).is_some_and(|w| single(b, j) == Some(w)) {
        return Some((2, 1));
    }
    (joined(b, j).is_some_and(|w| single(a, i) == Some(w))).then_some((1, 2))
}

/// Whether what stands around the place leaves the meaning as it is.
fn same_meaning(
    a: &Comparable,
    unit: &Unit,
    b: &Comparable,
    start: usize,
    end: usize,
    follows: bool,
) -> bool {
    let opens = b.breaks_before(start);
    let closes = b.breaks_before(end);
    let Some((x, y)) = a.at(unit.stream.end as usize - 1).zip(b.at(end - 1)) else {
        return false;
    };
    // A question does not cover a statement, nor the other way round.
    if x.flags.has(WordFlags::ASKED) != y.flags.has(WordFlags::ASKED) {
        return false;
    }
    // A brief unit is everywhere inside longer sentences; it must be a sentence there too.
    if unit.len() < 4 && !follows && !(opens && closes) {
        return false;
    }
    // "costs 5" is not what "costs 5 million" says.
    if !closes && x.kind == WordKind::Number {
        return false;
    }
    // "I do not think" before it, "is not true" behind it: as far as the sentence or its break goes.
    let sentence = b.sentence_around(start);
    let before = (sentence.start..start)
        .rev()
        .take_while(|&p| !b.breaks_before(p + 1));
    let after = (end..b.sentence_around(end - 1).end).take_while(|&p| !b.breaks_before(p));
    !before.chain(after).filter_map(|p| b.at(p)).any(turns)
}
