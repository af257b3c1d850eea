//! One mail after the other: a copy of an earlier one, or new?

use std::collections::HashMap;

use rayon::prelude::*;
use twicetold_index::{Limits, MemoryIndex};
use twicetold_methods::blocks::{Blocks, Formula, Kind, Record};
use twicetold_model::Share;

use crate::baselines::asd;

/// How records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Matched,
    Printed,
    Definition2,
    Asd,
}

impl Measure {
    pub(super) const ALL: [Self; 4] = [Self::Matched, Self::Printed, Self::Definition2, Self::Asd];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Matched => "ours",
            Self::Printed => "formula (3)",
            Self::Definition2 => "Definition 2",
            Self::Asd => "ASD",
        }
    }

    fn blocks(self) -> Blocks {
        let formula = match self {
            Self::Matched | Self::Asd => Formula::Matched,
            Self::Printed => Formula::Paper,
            Self::Definition2 => Formula::Share,
        };
        Blocks {
            formula,
            ..Blocks::default()
        }
    }

    /// What is kept of a text.
    pub(super) fn record(self, text: &str) -> Record {
        let large = self != Self::Asd && text.len() >= self.blocks().large;
        Record::of(
            if large {
                Kind::Paragraphs
            } else {
                Kind::Sentences
            },
            text,
        )
    }

    /// Whether two records are as alike as a threshold.
    pub(super) fn reaches(self, a: &Record, b: &Record, percent: u32) -> bool {
        match self {
            Self::Asd => asd(&a.blocks, &b.blocks) >= f64::from(percent) / 100.0 - 1e-9,
            _ => self
                .blocks()
                .similarity(a, b)
                .reaches(Share::percent(percent)),
        }
    }
}

/// How much of the index is walked for one text: blocks that very many texts have tell nothing.
const LIMITS: Limits = Limits {
    entries: 100_000,
    messages: 200,
};

/// For each text the earlier one that it is a copy of, as the paper's step 5 has it: a copy is not added to the database.
pub(super) fn duplicates<T: AsRef<str> + Sync>(
    texts: &[T],
    measure: Measure,
    percent: u32,
) -> Vec<Option<usize>> {
    let records: Vec<Record> = texts
        .par_iter()
        .map(|text| measure.record(text.as_ref()))
        .collect();
    let keys: Vec<Vec<u64>> = records.iter().map(Record::keys).collect();
    let mut index = MemoryIndex::new();
    let mut same: HashMap<&[u64], usize> = HashMap::new();
    let mut found = Vec::with_capacity(texts.len());
    for (n, record) in records.iter().enumerate() {
        let of = |m: u32| keys.get(m as usize).map_or(&[][..], Vec::as_slice);
        // The very same record is met first, however common its blocks are.
        let equal = same.get(keys[n].as_slice()).copied().into_iter();
        let near = index.sharing(&keys[n], usize::MAX, LIMITS, of);
        let candidates = equal.chain(near.iter().map(|candidate| candidate.message as usize));
        let known = candidates
            .into_iter()
            .find(|&m| measure.reaches(record, &records[m], percent));
        if known.is_none() && !record.blocks.is_empty() {
            index.insert(n as u32, keys[n].iter().copied());
            same.entry(&keys[n]).or_insert(n);
        }
        found.push(known);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_found_and_a_stranger_is_not() {
        let texts = [
            "One here. Two here. Three here. Four here.",
            "Quite another text. Nothing in common.",
            "One here. Two here. Three here. Five here.",
            "",
        ];
        for measure in Measure::ALL {
            assert_eq!(
                duplicates(&texts, measure, 60),
                [None, None, Some(0), None],
                "{measure:?}"
            );
        }
        assert_eq!(duplicates(&texts, Measure::Matched, 90)[2], None);
    }

    #[test]
    fn the_printed_formula_forgives_a_dropped_sentence() {
        let texts = [
            "One here. Two here. Three here. Four here.",
            "One here. Two here. Three here.",
        ];
        assert_eq!(duplicates(&texts, Measure::Printed, 90)[1], Some(0));
        assert_eq!(duplicates(&texts, Measure::Matched, 90)[1], None);
        assert_eq!(
            duplicates(&texts, Measure::Definition2, 50)[1],
            None,
            "another count"
        );
    }
}
