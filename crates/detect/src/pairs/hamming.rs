//! Every pair of 64-bit hashes within a distance.

use rayon::prelude::*;
use twicetold_methods::simhash::HammingIndex;

use super::copies::{Copies, Scored};
use crate::progress::Progress;

/// How many texts are done at once.
const CHUNK: usize = 2048;

/// The pairs of classes whose hashes differ in at most `distance` bits, and how many classes had more partners than
/// `most`. `score` says what a distance means.
pub(super) fn within(
    hashes: &[u64],
    copies: &Copies,
    distance: u32,
    score: impl Fn(u32) -> f64 + Sync,
    most: Option<usize>,
    progress: &dyn Progress,
) -> (Vec<Scored>, usize) {
    let mut index = HammingIndex::default();
    for (class, &hash) in (0..).zip(hashes) {
        index.insert(class, hash);
    }
    let most = most.unwrap_or(usize::MAX);
    let chunks: Vec<(Vec<Scored>, usize)> = hashes
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, hashes)| {
            let (mut found, mut cut) = (Vec::new(), 0);
            for (class, &hash) in (chunk as u32 * CHUNK as u32..).zip(hashes) {
                let near = index.within(hash, distance);
                let partners = near
                    .iter()
                    .filter(|near| near.id > class && copies.may_pair(class, near.id));
                let before = found.len();
                for near in partners {
                    if found.len() - before == most {
                        cut += 1;
                        break;
                    }
                    found.push((class, near.id, score(near.distance)));
                }
            }
            progress.advance(hashes.len() as u64, 0);
            (found, cut)
        })
        .collect();
    let cut = chunks.iter().map(|(_, cut)| cut).sum();
    let pairs = chunks.into_iter().flat_map(|(found, _)| found).collect();
    (pairs, cut)
}
