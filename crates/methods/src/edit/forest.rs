//! The LSH forest: who shares the longest prefix of hashes?
//!
//! Every tree is a prefix tree of hash vectors, held as a sorted set: the texts below a node stand
//! next to each other. A query enters each tree where it would stand itself and walks outwards; the
//! common prefix only gets shorter on the way, so this is the ascent of the paper. All trees ascend
//! together, deepest first.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::{Peekable, Rev};

use super::resemblance;
use super::signature::Signature;

/// Most answers per wanted one: a level is always read to its end, but not if it holds everything.
const OVERFLOW: usize = 16;

/// A text found in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub id: u64,
    /// How many first hashes it has in common with the query: deeper is closer.
    pub level: usize,
}

/// Which of the found texts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All of them.
    All,
    /// Those on the deepest level that was found.
    Deepest,
    /// Those on the mean level, rounded down and up.
    Half,
    /// Those on the mean level or deeper.
    AtLeastHalf,
}

impl Filter {
    /// Keeps what the filter lets through, in order.
    pub fn apply(self, found: &mut Vec<Found>) {
        let deepest = found.iter().map(|one| one.level).max().unwrap_or(0);
        let sum: usize = found.iter().map(|one| one.level).sum();
        let count = found.len().max(1);
        let (down, up) = (sum / count, sum.div_ceil(count));
        found.retain(|one| match self {
            Self::All => true,
            Self::Deepest => one.level == deepest,
            Self::Half => (down..=up).contains(&one.level),
            Self::AtLeastHalf => one.level * count >= sum,
        });
    }
}

/// A prefix tree: hash vectors and whose they are, in order.
type Tree = BTreeSet<(Box<[u16]>, u64)>;

/// Texts by their hash vectors, and short texts by their length.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// By number of characters and of tree.
    trees: BTreeMap<(u32, u16), Tree>,
    /// By length.
    short: BTreeMap<usize, BTreeMap<u64, Vec<char>>>,
}

impl Forest {
    /// Adds a text.
    pub fn insert(&mut self, id: u64, signature: &Signature) {
        for (place, vector) in signature.vectors() {
            self.trees
                .entry(place)
                .or_default()
                .insert((vector.into(), id));
        }
        if let Some(text) = signature.short_text() {
            self.short
                .entry(text.len())
                .or_default()
                .insert(id, text.to_vec());
        }
    }

    /// Takes a text away again, given the signature it was added with.
    pub fn remove(&mut self, id: u64, signature: &Signature) {
        for (place, vector) in signature.vectors() {
            if let Some(tree) = self.trees.get_mut(&place) {
                tree.remove(&(vector.into(), id));
                if tree.is_empty() {
                    self.trees.remove(&place);
                }
            }
        }
        if let Some(text) = signature.short_text()
            && let Some(texts) = self.short.get_mut(&text.len())
        {
            texts.remove(&id);
            if texts.is_empty() {
                self.short.remove(&text.len());
            }
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.short.is_empty()
    }

    /// The paper's multiset S: texts in order of their level, deepest first, the same text once for
    /// every tree that finds it, until there are more than `wanted` (the paper takes 2L) or nothing
    /// is left. A level once begun is read to its end.
    pub fn ascend(&self, signature: &Signature, wanted: usize) -> Vec<Found> {
        let mut walks: Vec<Walk<'_>> = signature
            .vectors()
            .filter_map(|(place, vector)| Some(Walk::new(self.trees.get(&place)?, vector)))
            .collect();
        let mut level = walks.iter().filter_map(Walk::level).max().unwrap_or(0);
        let mut found = Vec::new();
        while level > 0 && found.len() <= wanted {
            let mut next = 0;
            for walk in &mut walks {
                while let Some(id) = walk.next_on(level) {
                    found.push(Found { id, level });
                    if found.len() >= wanted.saturating_mul(OVERFLOW) {
                        return found;
                    }
                }
                next = next.max(walk.level().unwrap_or(0));
            }
            level = next;
        }
        found
    }

    /// The texts that are really close: candidates of the ascent and short texts, compared by edit
    /// distance, best first. `text` gives the characters of a candidate.
    pub fn nearest<'a>(
        &self,
        signature: &Signature,
        wanted: usize,
        least: f64,
        text: impl Fn(u64) -> Option<&'a [char]>,
    ) -> Vec<(u64, f64)> {
        let ids: BTreeSet<u64> = self
            .ascend(signature, wanted)
            .iter()
            .map(|one| one.id)
            .collect();
        let mine = signature.text();
        let mut near: BTreeMap<u64, f64> = BTreeMap::new();
        for id in ids {
            if let Some(score) = text(id).and_then(|other| resemblance(mine, other, least)) {
                near.insert(id, score);
            }
        }
        if let Some(text) = signature.short_text() {
            let span = (text.len() as f64 * (1.0 - least) / least.max(0.1)).ceil() as usize;
            let lengths = text.len().saturating_sub(span)..=text.len() + span;
            for (id, other) in self.short.range(lengths).flat_map(|(_, texts)| texts) {
                if let Some(score) = resemblance(text, other, least) {
                    near.insert(*id, score);
                }
            }
        }
        let mut near: Vec<(u64, f64)> = near.into_iter().collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near
    }
}

/// Texts of a tree from some place on.
type Stretch<'a> = std::collections::btree_set::Range<'a, (Box<[u16]>, u64)>;

/// A query's way through one tree, outwards from where it would stand.
struct Walk<'a> {
    query: &'a [u16],
    after: Peekable<Stretch<'a>>,
    before: Peekable<Rev<Stretch<'a>>>,
    ahead: (Option<usize>, Option<usize>),
}

impl<'a> Walk<'a> {
    fn new(tree: &'a Tree, query: &'a [u16]) -> Self {
        let here: (Box<[u16]>, u64) = (query.into(), 0);
        let after = tree.range(here.clone()..).peekable();
        let before = tree.range(..here).rev().peekable();
        let mut walk = Self {
            query,
            after,
            before,
            ahead: (None, None),
        };
        walk.look();
        walk
    }

    /// Notes how much the next text on either side has in common with the query.
    fn look(&mut self) {
        let common = |vector: &[u16]| {
            vector
                .iter()
                .zip(self.query)
                .take_while(|(a, b)| a == b)
                .count()
        };
        self.ahead = (
            self.after.peek().map(|(vector, _)| common(vector)),
            self.before.peek().map(|(vector, _)| common(vector)),
        );
    }

    /// The level of the nearest text that has not been taken.
    fn level(&self) -> Option<usize> {
        self.ahead.0.max(self.ahead.1)
    }

    /// Takes the next text if it stands on this level.
    fn next_on(&mut self, level: usize) -> Option<u64> {
        let taken = if self.ahead.0 == Some(level) {
            self.after.next()
        } else if self.ahead.1 == Some(level) {
            self.before.next()
        } else {
            return None;
        };
        self.look();
        taken.map(|(_, id)| *id)
    }
}
