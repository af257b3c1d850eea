//! Brute force, and the simplest fingerprints.

use rayon::prelude::*;
use twicetold_methods::blocks::Block;
use twicetold_methods::edit::resemblance;
use twicetold_model::{Document, shared_keys};
use xxhash_rust::xxh3::Xxh3;

use crate::Watch;

/// A hash of all words of a text in order; equal for texts that differ in case, marks and white space only.
pub fn exact(document: &Document) -> u64 {
    let mut hash = Xxh3::new();
    document
        .words
        .iter()
        .for_each(|word| hash.update(&word.hash.to_le_bytes()));
    hash.digest()
}

/// The cosine of two sets of words (sorted, each once): `|A ∩ B| / √(|A|·|B|)`; 0 if one is empty.
pub fn cosine(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    shared_keys(a, b) as f64 / ((a.len() * b.len()) as f64).sqrt()
}

/// How alike two texts are by edit distance, `1 − edits / longer`; `None` if less than `least`.
pub fn string_similarity(a: &[char], b: &[char], least: f64) -> Option<f64> {
    resemblance(a, b, least)
}

/// How alike two records of sentences are as sets: `|A ∩ B| / max(|A|, |B|)`.
///
/// The paper that describes ASD is not at hand; this is what paper 002 tells of it, with its formula (2) as the measure.
pub fn asd(a: &[Block], b: &[Block]) -> f64 {
    let set = |blocks: &[Block]| {
        let mut set = blocks.to_vec();
        set.sort_unstable();
        set.dedup();
        set
    };
    let (a, b) = (set(a), set(b));
    let common = a
        .iter()
        .filter(|block| b.binary_search(block).is_ok())
        .count();
    common as f64 / a.len().max(b.len()).max(1) as f64
}

/// Every pair (a < b) of word sets with a cosine of at least `least`, by brute force.
pub fn near_pairs(sets: &[&[u64]], least: f64, watch: &dyn Watch) -> Vec<(u32, u32)> {
    watch.begin("comparing all pairs", sets.len() as u64);
    (0..sets.len())
        .into_par_iter()
        .flat_map_iter(|b| {
            watch.step(1);
            let fits = move |a: &usize| {
                // A cosine cannot exceed the root of the ratio of sizes.
                let (m, n) = (sets[*a].len(), sets[b].len());
                m.min(n) as f64 >= least * least * m.max(n) as f64 - 1e-9
                    && cosine(sets[*a], sets[b]) >= least - 1e-9
            };
            (0..b).filter(fits).map(move |a| (a as u32, b as u32))
        })
        .collect()
}

/// For each word set, how many earlier ones have a cosine of at least `least` with it.
pub fn near_earlier(sets: &[&[u64]], least: f64, watch: &dyn Watch) -> Vec<usize> {
    let mut counts = vec![0; sets.len()];
    for (_, b) in near_pairs(sets, least, watch) {
        counts[b as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn cosines() {
        assert_eq!(cosine(&[1, 2, 3, 4], &[1, 2, 3, 4]), 1.0);
        assert_eq!(cosine(&[1, 2, 3, 4], &[4]), 0.5);
        assert_eq!(cosine(&[], &[1]), 0.0);
        let sets: [&[u64]; 4] = [&[1, 2, 3, 4], &[9], &[1, 2, 3, 4, 5], &[1, 2, 3, 4]];
        assert_eq!(near_pairs(&sets, 0.89, &Silent), [(0, 2), (0, 3), (2, 3)]);
        assert_eq!(near_earlier(&sets, 0.89, &Silent), [0, 0, 1, 2]);
    }

    #[test]
    fn sentences_as_sets() {
        use twicetold_methods::blocks::{Kind, Record};
        let of = |text: &str| Record::of(Kind::Sentences, text).blocks;
        assert_eq!(asd(&of("One. Two. Three."), &of("Three. One. Two.")), 1.0);
        assert_eq!(asd(&of("One. Two."), &of("One. Two. Three. Four.")), 0.5);
        assert_eq!(asd(&of(""), &of("")), 0.0);
    }
}
