//! SpTable and SpTrees: stored abstractions, one comparison per node.
//!
//! An abstraction is cut into subsequences of 1, 2, 4, … symbols. Each stands in a node of a binary
//! tree: the first in the root, every next one in the left child if it begins with a start tag and in
//! the right child if it begins with an end tag. A node holds hashes of subsequences, each tied to the
//! one it follows. Searching walks down and stops at the first node that does not know the subsequence.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use xxhash_rust::xxh3::xxh3_64;

use super::abstraction::{Abstraction, Symbol};
use super::near::{Votes, apart};

/// Ten levels hold 1 + 2 + … + 512 symbols; longer abstractions are cut there.
pub const LONGEST: usize = 1023;
/// How many lengths share a tree.
const RANGE: usize = 16;

/// What a node keeps of a subsequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Node {
    /// A hash: subsequences match if they are equal.
    #[default]
    Exact,
    /// The paper's proposal, a SimHash of the symbols: subsequences match within so many bits. It
    /// does not find a page with one more tag, which has another length and other subsequences from
    /// there on; for that there is the `near` module.
    SimHash {
        /// How many of 64 bits may differ.
        bits: u32,
    },
}

/// A subsequence stored in a node.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// By which the next level refers to it.
    number: u32,
    /// How many abstractions pass through it.
    uses: u32,
    /// The abstractions that end here.
    ids: BTreeSet<u64>,
}

/// Entries of a node, by the entry they follow and by their hash.
type Entries = HashMap<u32, BTreeMap<u64, Entry>>;

/// A tree for abstractions of similar length, its nodes numbered 1 (the root), 2 and 3, 4 to 7 …
#[derive(Clone, Debug, Default)]
struct SpTree {
    nodes: HashMap<usize, Entries>,
    last: u32,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The matching abstractions, in order.
    pub ids: Vec<u64>,
    /// How many levels were visited.
    pub levels: usize,
}

/// From lengths to trees.
#[derive(Clone, Debug, Default)]
pub struct SpTable {
    node: Node,
    trees: BTreeMap<usize, SpTree>,
}

/// The subsequences of an abstraction: node and hash, level by level.
fn path(abstraction: &Abstraction, node: Node) -> Vec<(usize, u64)> {
    let symbols = abstraction.reordered();
    let symbols = &symbols[..symbols.len().min(LONGEST)];
    let mut path = Vec::with_capacity(10);
    let (mut start, mut place) = (0, 1);
    while start < symbols.len() {
        let piece = &symbols[start..symbols.len().min(2 * start + 1)];
        if start > 0 {
            place = 2 * place + usize::from(piece[0].is_end());
        }
        path.push((place, node.hash(piece)));
        start = 2 * start + 1;
    }
    path
}

impl Node {
    fn hash(self, piece: &[Symbol]) -> u64 {
        match self {
            Self::Exact => {
                let bytes: Vec<u8> = piece
                    .iter()
                    .flat_map(|s| s.number().to_le_bytes())
                    .collect();
                xxh3_64(&bytes)
            }
            Self::SimHash { .. } => {
                let mut votes = Votes::default();
                piece
                    .iter()
                    .for_each(|symbol| votes.add(symbol.number(), 1));
                votes.hash()
            }
        }
    }
}

impl SpTable {
    /// An empty table whose nodes keep what `node` says.
    pub fn new(node: Node) -> Self {
        Self {
            node,
            trees: BTreeMap::new(),
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Stores an abstraction under a number; storing it twice changes nothing.
    pub fn add(&mut self, id: u64, abstraction: &Abstraction) {
        let path = path(abstraction, self.node);
        if path.is_empty() || self.holds(id, abstraction, &path) {
            return;
        }
        let tree = self.trees.entry(abstraction.len() / RANGE).or_default();
        let mut parent = 0;
        let levels = path.len();
        for (level, (place, hash)) in path.into_iter().enumerate() {
            let entries = tree
                .nodes
                .entry(place)
                .or_default()
                .entry(parent)
                .or_default();
            let entry = entries.entry(hash).or_insert_with(|| {
                tree.last += 1;
                Entry {
                    number: tree.last,
                    ..Entry::default()
                }
            });
            entry.uses += 1;
            parent = entry.number;
            if level + 1 == levels {
                entry.ids.insert(id);
            }
        }
    }

    fn holds(&self, id: u64, abstraction: &Abstraction, path: &[(usize, u64)]) -> bool {
        let Some(tree) = self.trees.get(&(abstraction.len() / RANGE)) else {
            return false;
        };
        let mut found: Option<&Entry> = None;
        for (place, hash) in path {
            let parent = found.map_or(0, |entry| entry.number);
            found = tree
                .nodes
                .get(place)
                .and_then(|node| node.get(&parent)?.get(hash));
            if found.is_none() {
                return false;
            }
        }
        found.is_some_and(|entry| entry.ids.contains(&id))
    }

    /// Takes an abstraction away again; whether it was there.
    pub fn remove(&mut self, id: u64, abstraction: &Abstraction) -> bool {
        let path = path(abstraction, self.node);
        if !self.holds(id, abstraction, &path) {
            return false;
        }
        let range = abstraction.len() / RANGE;
        let Some(tree) = self.trees.get_mut(&range) else {
            return false;
        };
        let mut parent = 0;
        let levels = path.len();
        for (level, (place, hash)) in path.into_iter().enumerate() {
            let Some(node) = tree.nodes.get_mut(&place) else {
                break;
            };
            let Some(entries) = node.get_mut(&parent) else {
                break;
            };
            let Some(entry) = entries.get_mut(&hash) else {
                break;
            };
            let number = entry.number;
            entry.uses -= 1;
            if level + 1 == levels {
                entry.ids.remove(&id);
            }
            if entry.uses == 0 {
                entries.remove(&hash);
            }
            if entries.is_empty() {
                node.remove(&parent);
            }
            if node.is_empty() {
                tree.nodes.remove(&place);
            }
            parent = number;
        }
        if tree.nodes.is_empty() {
            self.trees.remove(&range);
        }
        true
    }

    /// The stored abstractions that match level by level.
    pub fn search(&self, abstraction: &Abstraction) -> Search {
        let path = path(abstraction, self.node);
        let Some(tree) = self.trees.get(&(abstraction.len() / RANGE)) else {
            return Search::default();
        };
        let mut search = Search::default();
        let mut matching: Vec<&Entry> = Vec::new();
        for (level, (place, hash)) in path.iter().enumerate() {
            search.levels = level + 1;
            let parents: Vec<u32> = match level {
                0 => vec![0],
                _ => matching.iter().map(|entry| entry.number).collect(),
            };
            let Some(node) = tree.nodes.get(place) else {
                matching.clear();
                break;
            };
            let follow = parents.iter().filter_map(|parent| node.get(parent));
            matching = match self.node {
                Node::Exact => follow.filter_map(|entries| entries.get(hash)).collect(),
                Node::SimHash { bits } => follow
                    .flatten()
                    .filter(|(stored, _)| apart(**stored, *hash) <= bits)
                    .map(|(_, entry)| entry)
                    .collect(),
            };
            if matching.is_empty() {
                break;
            }
        }
        let ids: BTreeSet<u64> = matching
            .iter()
            .flat_map(|entry| entry.ids.iter().copied())
            .collect();
        search.ids = ids.into_iter().collect();
        search
    }
}
