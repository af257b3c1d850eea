//! Is it a near copy that differs in a fact?
//!
//! Asked of every message that is kept: if nearly all of it stands in another kept message of about
//! the same length, and every sentence that does not differs from its counterpart there in a number,
//! a date, an address or a denial, the two are *versions*. Both stay; the user is shown the difference.

use rayon::prelude::*;
use twicetold_model::{Residue, ResidueKind, Witness, Word};

use crate::amend::Before;
use crate::cache::{Reader, Writer, read_residues, read_witness, residues, texts, witness};
use crate::comparable::{Comparable, Unit};
use crate::cover::{Held, content, hold_while, residue_kind};
use crate::explain::shown_each;
use crate::gathered::gathered;
use crate::keepset::{Kept, Walk};
use crate::memo::Question;
use crate::progress::Progress;

/// How many near copies are looked at for one message: a template has thousands, and any will do.
const LOOKED_AT: usize = 4;

/// So many messages are looked at one after the other, on one thread.
const TOGETHER: usize = 64;

/// What a kept message shares with the kept message nearest to it.
#[derive(Clone, Debug)]
pub(crate) struct Nearness {
    /// The near copy it is a version of, if it is one.
    pub(crate) version_of: Option<Witness>,
    /// What stands only here.
    pub(crate) residue: Vec<Residue>,
    /// The words of that.
    pub(crate) shown: Vec<String>,
}

impl Walk<'_> {
    /// Looks for versions among the kept messages; in any order. With `before`, only what has changed is looked at again.
    pub(crate) fn versions(
        &self,
        stay: &[u32],
        kept: &Kept,
        mut before: Option<&mut Before>,
        progress: &dyn Progress,
    ) -> Vec<(u32, Nearness)> {
        let mut known = Vec::new();
        let mut asked = Vec::new();
        for &a in stay {
            let before = before.as_deref_mut();
            match before.and_then(|before| before.take_nearness(a)) {
                Some(near) => known.extend(near.map(|near| (a, near))),
                None => asked.push(a),
            }
        }
        progress.advance((stay.len() - asked.len()) as u64, 0);
        // Near copies have each other for candidates. One after the other, the texts of one are at hand for the next.
        let mut near: Vec<(u32, Vec<u32>)> = asked
            .par_iter()
            .with_max_len(TOGETHER)
            .map(|&a| (a, self.near_copies(a, kept)))
            .collect();
        near.retain(|(_, candidates)| {
            let alone = candidates.is_empty();
            progress.advance(u64::from(alone), 0);
            !alone
        });
        near.par_sort_unstable_by_key(|(a, candidates)| {
            (candidates.iter().copied().fold(*a, u32::min), *a)
        });
        let found = near.par_chunks(TOGETHER).map(|some| {
            let some = some.iter().filter_map(|(a, candidates)| {
                let near = self.nearness(*a, candidates);
                progress.advance(1, 0);
                Some((*a, near?))
            });
            some.collect()
        });
        gathered(known, found)
    }

    /// The kept messages that share most with `a`, if they share much and are about as long.
    fn near_copies(&self, a: u32, kept: &Kept) -> Vec<u32> {
        let record = &self.records[a as usize];
        if record.is_empty() || record.said.short {
            return Vec::new();
        }
        let mut candidates = self.near(a, LOOKED_AT, |b| kept.has(b) && self.alike_in_size(a, b));
        // There is one list for every message: none may keep the room it was found in.
        candidates.shrink_to_fit();
        candidates
    }

    /// What `a` shares with the nearest of `candidates`.
    fn nearness(&self, a: u32, candidates: &[u32]) -> Option<Nearness> {
        let print = |m: u32| self.records[m as usize].print;
        let asked = || {
            Question::new("nearest")
                .of(print(a))
                .with(self.options.version_percent as usize)
                .of_each(candidates.iter().map(|&b| print(b)))
        };
        // Messages have other numbers in the next scan: the answer names candidates by their place.
        let known = self.memo.ask(asked, read_nearness, write_nearness, || {
            self.nearest(a, candidates)
        })?;
        known.map(|mut near| {
            if let Some(witness) = &mut near.version_of {
                witness.message = candidates.get(witness.message as usize).copied()?;
            }
            Some(near)
        })?
    }

    /// What `a` shares with the nearest of `candidates`, which is named by its place among them; `None` if a text can no
    /// longer be read.
    fn nearest(&self, a: u32, candidates: &[u32]) -> Option<Option<Nearness>> {
        let text = self.library.get(a)?;
        let mut best: Option<(usize, Held)> = None;
        let all = text.says();
        for (place, &b) in candidates.iter().enumerate() {
            let most = best.as_ref().map_or(0, |(most, _)| *most);
            // Whoever has no more than this matters only as a version.
            let least = all.div_ceil(2).max(most + 1);
            let mut lost = 0;
            // Of the units that are not there, as long as each has a counterpart: how many words are the same, and whether a fact differs.
            let mut altered = Some((0, false));
            let held = hold_while(&text, b, self.library.get(b)?, |unit, witness| {
                lost += unit.len();
                altered = altered.and_then(|(same, fact)| {
                    let (more, in_fact) = counterpart(&text, unit, witness)?;
                    Some((same + more, fact | in_fact))
                });
                altered.is_some() || all - lost >= least
            });
            let Some(held) = held else {
                continue;
            };
            let words = held.words(&text);
            if let Some((residue, near)) = differences(&text, &held, altered)
                && near * 100 >= all * self.options.version_percent as usize
            {
                let containment = words as f64 / all.max(1) as f64;
                return Some(Some(Nearness {
                    version_of: Some(Witness {
                        message: place as u32,
                        containment,
                    }),
                    shown: shown_each(&text, &residue),
                    residue,
                }));
            }
            if words > most {
                best = Some((words, held));
            }
        }
        // Where most of a message stands elsewhere, say what keeps it.
        let best = best.filter(|(words, _)| words * 2 >= all);
        Some(best.map(|(_, held)| {
            let residue = unfound(&text, &held, residue_kind);
            Nearness {
                version_of: None,
                shown: shown_each(&text, &residue),
                residue,
            }
        }))
    }

    fn alike_in_size(&self, a: u32, b: u32) -> bool {
        let (x, y) = (
            self.records[a as usize].said.says,
            self.records[b as usize].said.says,
        );
        u64::from(x.min(y)) * 100 >= u64::from(x.max(y)) * u64::from(self.options.version_percent)
    }
}

fn write_nearness(out: &mut Writer, near: &Option<Nearness>) {
    out.maybe(near.as_ref(), |out, near| {
        out.maybe(near.version_of.as_ref(), witness);
        residues(out, &near.residue);
        texts(out, &near.shown);
    });
}

fn read_nearness(from: &mut Reader<'_>) -> Option<Option<Nearness>> {
    from.maybe(|from| {
        Some(Nearness {
            version_of: from.maybe(read_witness)?,
            residue: read_residues(from)?,
            shown: from.list(Reader::text)?,
        })
    })
}

/// If every unit that is not in the witness differs from its counterpart there in a fact: those units, and how many
/// words are the same in all. It is known of the counterparts how many words are the same, and whether a fact differs; nothing if one is missing.
fn differences(
    a: &Comparable,
    held: &Held,
    counterparts: Option<(usize, bool)>,
) -> Option<(Vec<Residue>, usize)> {
    let (same, fact) = counterparts?;
    let residue = unfound(a, held, |_| ResidueKind::Fact);
    // All of the text stands there: then an attachment, a link or the subject makes the difference.
    (fact || residue.is_empty()).then_some((residue, held.words(a) + same))
}

/// What of a message stands nowhere in the message nearest to it.
fn unfound(a: &Comparable, held: &Held, kind: fn(&Unit) -> ResidueKind) -> Vec<Residue> {
    content(a)
        .filter(|&(n, _)| held.places[n].is_none())
        .map(|(_, unit)| Residue {
            words: unit.words.clone(),
            kind: kind(unit),
        })
        .collect()
}

/// How many places of a witness are compared with a unit before it counts as having no counterpart.
const PLACES: usize = 6;

/// The stretch of a witness that says nearly what a unit says: how many words are the same, and whether a fact is among
/// those that differ. `None` if nothing comes near.
pub(crate) fn counterpart(a: &Comparable, unit: &Unit, b: &Comparable) -> Option<(usize, bool)> {
    let from = unit.stream.start as usize;
    let hash = |p: usize| a.at(p).map_or(0, |w| w.hash);
    let by_pair = (0..unit.len().saturating_sub(1)).flat_map(|i| {
        b.places(hash(from + i), hash(from + i + 1))
            .take(2)
            .map(move |p| (p as usize).saturating_sub(i))
    });
    // A unit of a few words with a changed fact has no pair left to find it by.
    let by_start = (0..b.stream.len()).filter(|&p| {
        unit.len() <= 3 && b.starts_sentence(p) && b.at(p).is_some_and(|w| w.hash == hash(from))
    });
    // Pairs that follow each other lead to the same start.
    let mut last = None;
    let compared = |start: usize| match last {
        Some((before, compared)) if before == start => compared,
        _ => {
            let compared = compare(a, unit, b, start);
            last = Some((start, compared));
            compared
        }
    };
    by_pair
        .chain(by_start)
        .take(PLACES)
        .map(compared)
        .max()
        .filter(|&(same, _)| same * 2 >= unit.len())
}

/// How many words on either side are stepped over where they differ, the fewest first.
const STEPS: [(usize, usize); 15] = [
    (0, 1),
    (1, 0),
    (0, 2),
    (1, 1),
    (2, 0),
    (0, 3),
    (1, 2),
    (2, 1),
    (3, 0),
    (1, 3),
    (2, 2),
    (3, 1),
    (2, 3),
    (3, 2),
    (3, 3),
];

/// Walks a unit and a stretch of a witness side by side, stepping over up to three words where they differ: how many
/// are the same, and whether what differs holds a fact.
fn compare(a: &Comparable, unit: &Unit, b: &Comparable, start: usize) -> (usize, bool) {
    let here = |i: usize| {
        a.at(unit.stream.start as usize + i)
            .filter(|_| i < unit.len())
    };
    let there = |j: usize| b.at(start + j);
    let is_fact = |w: Option<&Word>| w.is_some_and(Word::is_fact);
    let (mut i, mut j, mut same, mut fact) = (0, 0, 0, false);
    while let (Some(x), Some(y)) = (here(i), there(j)) {
        if x.hash == y.hash {
            (i, j, same) = (i + 1, j + 1, same + 1);
            continue;
        }
        let [ahead, beyond] = [
            [0, 1, 2, 3].map(|m| here(i + m)),
            [0, 1, 2, 3].map(|n| there(j + n)),
        ]
        .map(|words| words.map(|word| word.map(|word| word.hash)));
        let meet = |&(m, n): &(usize, usize)| ahead[m].is_some() && ahead[m] == beyond[n];
        let (m, n) = STEPS.into_iter().find(meet).unwrap_or((1, 1));
        fact |= (i..i + m).any(|i| is_fact(here(i))) || (j..j + n).any(|j| is_fact(there(j)));
        (i, j) = (i + m, j + n);
    }
    (same, fact || (i..unit.len()).any(|i| is_fact(here(i))))
}
