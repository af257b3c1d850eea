//! Is it a near copy that differs in a fact?
//!
//! Asked of every message that is kept: if nearly all of it stands in another kept message of about
//! the same length, and every sentence that does not differs from its counterpart there in a number,
//! a date, an address or a denial, the two are *versions*. Both stay; the user is shown the difference.

use rayon::prelude::*;
use twicetold_model::{Residue, ResidueKind, Witness, Word};

use crate::align::Place;
use crate::comparable::{Comparable, Unit};
use crate::cover::{Held, hold, residue_kind};
use crate::keepset::{Kept, Walk};

/// How many near copies are looked at for one message.
const LOOKED_AT: usize = 4;

/// What a kept message shares with the kept message nearest to it.
#[derive(Clone, Debug)]
pub(crate) struct Nearness {
    /// The nearest one, if it is near enough to name.
    pub(crate) witness: Option<Witness>,
    /// Whether the two are versions of each other.
    pub(crate) version: bool,
    /// What stands only here.
    pub(crate) residue: Vec<Residue>,
}

impl Walk<'_> {
    /// Looks for versions among the kept messages.
    pub(crate) fn versions(&self, stay: &[u32], kept: &Kept) -> Vec<(u32, Nearness)> {
        stay.par_iter().filter_map(|&a| Some((a, self.nearness(a, kept)?))).collect()
    }

    fn nearness(&self, a: u32, kept: &Kept) -> Option<Nearness> {
        let record = &self.records[a as usize];
        let shared = &self.shared[a as usize];
        if record.is_empty() || shared.is_empty() || shared.len() * 10 < record.fingerprints.len() * 4 {
            return None;
        }
        let candidates = self.candidates(kept.index(), a, LOOKED_AT);
        if candidates.is_empty() {
            return None;
        }
        let text = self.library.get(a)?;
        let mut best: Option<(usize, Held)> = None;
        for b in candidates {
            let held = hold(&text, b, self.library.get(b)?);
            let words = held.words(&text);
            if let Some((residue, near)) = self.differences(&text, &held)
                && self.alike_in_size(a, b)
                && near * 100 >= text.says() * self.options.version_percent as usize
                && !record.short
            {
                let containment = words as f64 / text.says().max(1) as f64;
                return Some(Nearness { witness: Some(Witness { message: b, containment }), version: true, residue });
            }
            if best.as_ref().is_none_or(|(most, _)| words > *most) {
                best = Some((words, held));
            }
        }
        let (words, held) = best.filter(|(words, _)| *words > 0)?;
        let containment = words as f64 / text.says().max(1) as f64;
        let residue = unfound(&text, &held);
        Some(Nearness { witness: Some(Witness { message: held.message, containment }), version: false, residue })
    }

    fn alike_in_size(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.records[a as usize].says, self.records[b as usize].says);
        u64::from(x.min(y)) * 100 >= u64::from(x.max(y)) * u64::from(self.options.version_percent)
    }

    /// If every unit that is not in the witness differs from its counterpart there in a fact: those units, and how many
    /// words are the same in all.
    fn differences(&self, a: &Comparable, held: &Held) -> Option<(Vec<Residue>, usize)> {
        let mut near = held.words(a);
        let mut residue = Vec::new();
        let mut fact = false;
        for (n, unit) in a.units.iter().enumerate().filter(|(_, u)| u.content) {
            if held.places[n].is_some() {
                continue;
            }
            let (same, differs_in_fact) = counterpart(a, unit, &held.text)?;
            near += same;
            fact |= differs_in_fact;
            residue.push(Residue { words: unit.words.clone(), kind: ResidueKind::Fact });
        }
        // All of the text stands there: then an attachment, a link or the subject makes the difference.
        (fact || residue.is_empty()).then_some((residue, near))
    }
}

/// What of a message stands nowhere in the message nearest to it.
fn unfound(a: &Comparable, held: &Held) -> Vec<Residue> {
    a.units
        .iter()
        .zip(&held.places)
        .filter(|(unit, place)| unit.content && place.is_none())
        .map(|(unit, _)| {
            let fact = counterpart(a, unit, &held.text).is_some_and(|(_, fact)| fact);
            let kind = if fact { ResidueKind::Fact } else { residue_kind(unit) };
            Residue { words: unit.words.clone(), kind }
        })
        .collect()
}

/// The stretch of a witness that says nearly what a unit says: how many words are the same, and whether a fact is among
/// those that differ. `None` if nothing comes near.
fn counterpart(a: &Comparable, unit: &Unit, b: &Comparable) -> Option<(usize, bool)> {
    let from = unit.stream.start as usize;
    let hash = |p: usize| a.at(p).map_or(0, |w| w.hash);
    let mut best: Option<(usize, bool)> = None;
    for i in 0..unit.len().saturating_sub(1) {
        for p in b.places(hash(from + i), hash(from + i + 1)).take(4) {
            let start = (p as usize).saturating_sub(i);
            let found = compare(a, unit, b, Place { start: start as u32, end: (start + unit.len() + 2) as u32 });
            if best.is_none_or(|(same, _)| found.0 > same) {
                best = Some(found);
            }
        }
        if best.is_some_and(|(same, _)| same + 3 >= unit.len()) {
            break;
        }
    }
    if best.is_none() && unit.len() <= 3 {
        // A unit of a few words with a changed fact has no pair left to find it by.
        best = (0..b.stream.len())
            .filter(|&p| b.starts_sentence(p) && b.at(p).is_some_and(|w| w.hash == hash(from)))
            .map(|p| compare(a, unit, b, Place { start: p as u32, end: (p + unit.len()) as u32 }))
            .max();
    }
    best.filter(|&(same, _)| same * 2 >= unit.len())
}

/// Longest common subsequence of a unit and a stretch, and whether what differs holds a fact.
fn compare(a: &Comparable, unit: &Unit, b: &Comparable, place: Place) -> (usize, bool) {
    let here: Vec<&Word> = unit.stream.clone().filter_map(|p| a.at(p as usize)).take(200).collect();
    let there: Vec<&Word> = (place.start..place.end).filter_map(|p| b.at(p as usize)).take(210).collect();
    let width = there.len() + 1;
    let mut table = vec![0_u16; (here.len() + 1) * width];
    for (i, x) in here.iter().enumerate().rev() {
        for (j, y) in there.iter().enumerate().rev() {
            table[i * width + j] = if x.hash == y.hash {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut fact) = (0, 0, false);
    while i < here.len() && j < there.len() {
        if here[i].hash == there[j].hash {
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            fact |= here[i].is_fact();
            i += 1;
        } else {
            fact |= there[j].is_fact();
            j += 1;
        }
    }
    fact |= here[i..].iter().any(|w| w.is_fact());
    (usize::from(table.first().copied().unwrap_or(0)), fact)
}
