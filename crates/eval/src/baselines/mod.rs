//! What the papers compare with: small, and for evaluation only.
//!
//! | baseline | |
//! |---|---|
//! | [`exact`] | a hash of the whole text, its words in lower case |
//! | [`cosine`] | over different words: the truth of paper 001, by brute force |
//! | [`string_similarity`] | by edit distance: the truth of paper 004 |
//! | [`MinHash`] | of word tuples: super-shingles (DSC-SS), megashingles, and LSH by bands |
//! | [`asd`] | sentence hashes without the split by size, compared as sets (paper 002's rival) |
//!
//! The winnowing of paper 000 as printed is [`twicetold_methods::winnow::paper`].

mod minhash;
mod truths;

pub use minhash::{MinHash, Rule};
pub use truths::{asd, cosine, exact, near_earlier, near_pairs, string_similarity};
