//! Do other messages say everything this one says?

use std::sync::Arc;

use twicetold_model::{
    Category, Passage, Proof, Residue, ResidueKind, SegmentKind, Witness, WordFlags,
};

use crate::align::{Place, find};
use crate::comparable::{Comparable, Unit, as_written};

/// What one message holds of another: for each unit, where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) message: u32,
    pub(crate) text: Arc<Comparable>,
    pub(crate) places: Vec<Option<Place>>,
}

/// Looks for every unit of `a` that says something in `b`.
pub(crate) fn hold(a: &Comparable, message: u32, b: Arc<Comparable>) -> Held {
    let mut places = Vec::with_capacity(a.units.len());
    look_for_each(a, &b, |_, place| {
        places.push(place);
        true
    });
    Held {
        message,
        text: b,
        places,
    }
}

/// The same as long as there is hope: `missed` is told of each unit that says something and is not there. `None` once it sees no reason to go on.
pub(crate) fn hold_while(
    a: &Comparable,
    message: u32,
    b: Arc<Comparable>,
    mut missed: impl FnMut(&Unit, &Comparable) -> bool,
) -> Option<Held> {
    let mut places = Vec::with_capacity(a.units.len());
    let all = look_for_each(a, &b, |unit, place| {
        places.push(place);
        place.is_some() || !unit.content || missed(unit, &b)
    });
    all.then_some(Held {
        message,
        text: b,
        places,
    })
}

/// Tells of every unit of `a` where it stands in `b`, if it says something and stands there, until somebody has heard enough; whether all were told.
fn look_for_each(
    a: &Comparable,
    b: &Comparable,
    mut tell: impl FnMut(&Unit, Option<Place>) -> bool,
) -> bool {
    let (mut after, mut first) = (None, true);
    a.units.iter().all(|unit| {
        if !unit.content {
            return tell(unit, None);
        }
        // An answer is nothing without the unit it answers.
        let place = match unit.answers && after.is_none() && !first {
            true => None,
            false => find(a, unit, b, after),
        };
        (after, first) = (place, false);
        tell(unit, place)
    })
}

impl Held {
    /// Whether it holds every unit of `a` that says something.
    pub(crate) fn is_complete(&self, a: &Comparable) -> bool {
        content(a).all(|(n, _)| self.places[n].is_some())
    }

    /// How many content words of `a` it holds.
    pub(crate) fn words(&self, a: &Comparable) -> usize {
        content(a)
            .filter(|&(n, _)| self.places[n].is_some())
            .map(|(_, u)| u.len())
            .sum()
    }

    /// Whether all own text of `a` that it holds is quoted here.
    pub(crate) fn quotes_own_text(&self, a: &Comparable) -> bool {
        content(a)
            .filter(|(_, u)| u.kind == SegmentKind::Own)
            .filter_map(|(n, _)| self.places[n])
            .all(|p| self.text.kind_at(p.start as usize) == SegmentKind::Quoted)
    }
}

/// The units that say something, with their numbers.
pub(crate) fn content(a: &Comparable) -> impl Iterator<Item = (usize, &Unit)> {
    a.units.iter().enumerate().filter(|(_, u)| u.content)
}

/// The fewest messages of `held` that hold all of `a` together, as far as greed finds them; `None` if they do not, or
/// if it takes more than `most`.
pub(crate) fn combine(a: &Comparable, held: &[Held], most: usize) -> Option<Vec<usize>> {
    let needed: Vec<(usize, usize)> = content(a).map(|(n, u)| (n, u.len())).collect();
    let mut covered = vec![false; a.units.len()];
    let mut chosen: Vec<usize> = Vec::new();
    while needed.iter().any(|&(n, _)| !covered[n]) {
        let gain = |h: &Held| -> usize {
            needed
                .iter()
                .filter(|&&(n, _)| !covered[n] && h.places[n].is_some())
                .map(|&(_, len)| len)
                .sum()
        };
        // The first of equally good ones: candidates come in a fixed order.
        let best = held.iter().enumerate().rev().max_by_key(|(_, h)| gain(h))?;
        if gain(best.1) == 0 || chosen.len() == most {
            return None;
        }
        chosen.push(best.0);
        needed
            .iter()
            .filter(|&&(n, _)| best.1.places[n].is_some())
            .for_each(|&(n, _)| covered[n] = true);
    }
    for at in (0..chosen.len()).rev() {
        let others = |n: usize| {
            chosen
                .iter()
                .enumerate()
                .any(|(i, &c)| i != at && held[c].places[n].is_some())
        };
        if chosen.len() > 1 && needed.iter().all(|&(n, _)| others(n)) {
            chosen.remove(at);
        }
    }
    Some(chosen)
}

/// The proof that the chosen messages hold all of `a`: each unit with the first of them that has it.
pub(crate) fn proof(a: &Comparable, chosen: &[&Held]) -> Proof {
    let mut passages = Vec::new();
    for (n, unit) in content(a) {
        let found = chosen
            .iter()
            .enumerate()
            .find_map(|(w, h)| h.places[n].map(|p| (w, h, p)));
        if let Some((w, held, place)) = found {
            let there = words_of(&held.text, place);
            passages.push(Passage {
                words: unit.words.clone(),
                witness: w as u32,
                there,
            });
        }
    }
    Proof {
        witnesses: chosen.iter().map(|h| h.message).collect(),
        passages,
    }
}

/// The words of a text that a stretch of its stream takes, free words inside it included.
fn inner_words(text: &Comparable, stream: std::ops::Range<u32>) -> std::ops::Range<u32> {
    let word = |p: u32| text.stream.get(p as usize).copied().unwrap_or(0);
    word(stream.start)..word(stream.end.saturating_sub(1)) + 1
}

/// The words of a witness that a place takes, with the free words that open its sentence.
pub(crate) fn words_of(b: &Comparable, place: Place) -> std::ops::Range<u32> {
    let mut words = inner_words(b, place.start..place.end);
    let before = |n: u32| b.document.words.get(n.checked_sub(1)? as usize);
    while b.starts_sentence(place.start as usize)
        && before(words.start)
            .is_some_and(|w| w.flags.has(WordFlags::FREE) && !w.flags.has(WordFlags::END))
    {
        words.start -= 1;
    }
    words
}

/// The witnesses with the share of `a`'s content words that each holds.
pub(crate) fn witnesses(a: &Comparable, chosen: &[&Held]) -> Vec<Witness> {
    let all = a.says().max(1) as f64;
    chosen
        .iter()
        .map(|h| Witness {
            message: h.message,
            containment: h.words(a) as f64 / all,
        })
        .collect()
}

/// In which way the chosen messages hold `a`.
pub(crate) fn category(a: &Comparable, chosen: &[&Held]) -> Category {
    let [held] = chosen else {
        return Category::Combined;
    };
    let places: Vec<Place> = content(a).filter_map(|(n, _)| held.places[n]).collect();
    let in_order = places.windows(2).all(|w| w[0].end <= w[1].start);
    let unchanged = content(a).all(|(n, unit)| {
        held.places[n].is_some_and(|place| {
            let written = |c: &Comparable, r: std::ops::Range<u32>| -> Vec<(u64, u8)> {
                let words = &c.document.words[r.start as usize..r.end as usize];
                words.iter().map(|w| as_written(&c.document, w)).collect()
            };
            written(a, inner_words(a, unit.stream.clone()))
                == written(&held.text, inner_words(&held.text, place.start..place.end))
        })
    });
    match (is_mutual(a, held), in_order, unchanged) {
        (true, true, _) => Category::AlmostIdentical,
        (true, false, _) => Category::Rearranged,
        (false, true, true) => Category::Quoted,
        (false, _, _) => Category::QuotedChanged,
    }
}

/// Whether `a` says everything its witness says, too.
fn is_mutual(a: &Comparable, held: &Held) -> bool {
    let (here, there) = (a.says(), held.text.says());
    there <= here + here / 8 + 4 && {
        let mut after = None;
        content(&held.text).all(|(_, unit)| {
            after = find(&held.text, unit, a, after);
            after.is_some()
        })
    }
}

/// What of `a` stands in none of the chosen messages: packaging, courtesies, and content if there is any.
pub(crate) fn residue(a: &Comparable, chosen: &[&Held]) -> Vec<Residue> {
    let mut residue = Vec::new();
    for (n, unit) in a.units.iter().enumerate() {
        let found = chosen.iter().any(|h| {
            h.places[n].is_some() || !unit.content && find(a, unit, &h.text, None).is_some()
        });
        if !found {
            residue.push(Residue {
                words: unit.words.clone(),
                kind: residue_kind(unit),
            });
        }
    }
    residue
}

/// What an uncovered unit is.
pub(crate) fn residue_kind(unit: &Unit) -> ResidueKind {
    match unit.kind {
        _ if unit.content => ResidueKind::Content,
        SegmentKind::Attribution => ResidueKind::Attribution,
        SegmentKind::Signature | SegmentKind::Boilerplate => ResidueKind::Boilerplate,
        SegmentKind::Greeting | SegmentKind::Closing | SegmentKind::Own | SegmentKind::Quoted => {
            ResidueKind::Greeting
        }
    }
}
