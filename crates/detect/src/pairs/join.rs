//! Every pair of texts that share enough keys, without looking at all pairs.
//!
//! Of two texts the one with fewer keys asks. If it must share `least` of its `n` keys with a partner, then any
//! `n − least + 1` of them include one that the partner has, so only its rarest keys are looked up. A key that no other text
//! has is the rarest of all: it uses up its place and costs nothing. Most texts of most collections have more of these than
//! places, and ask nobody.
//!
//! Likewise any `n − least + 3` keys include three that the partner has. So two lists more are walked, and only texts that are
//! met three times are compared: strangers that share a pair of common words are met once.
//!
//! The index is a list of (key, text) sorted by key. Keys that occur once are left out of it before it is made.

use rayon::prelude::*;
use twicetold_index::Twice;
use twicetold_model::shared_keys;

use super::copies::{Copies, Scored};
use super::shelf::Shelf;
use crate::progress::Progress;

/// How many entries of lists one text walks, if the number of partners is limited at all. The lists of its rarest keys
/// come first; what is left out are partners by keys that thousands of texts have.
pub(super) const WALK: usize = 20_000;
/// How many lists are walked beyond those that must be.
const EXTRA: usize = 2;
/// How many texts are done at once.
const CHUNK: usize = 2048;

/// What a method says about shared keys.
pub(super) trait Rule: Sync {
    /// The fewest keys that a text shares with a partner that has as many keys or more.
    fn least(&self, text: u32) -> usize;
    /// The score of two texts that share so many keys; `None` below the threshold. The first has not more keys
    /// than the second.
    fn score(&self, a: u32, b: u32, shared: usize) -> Option<f64>;
}

/// The pairs of classes that a rule lets through, and how many classes had more partners than `most`.
pub(super) fn join(
    shelf: &Shelf,
    copies: &Copies,
    rule: &dyn Rule,
    most: Option<usize>,
    progress: &dyn Progress,
) -> (Vec<Scored>, usize) {
    let index = Index::new(shelf, copies);
    let classes = index.order.len();
    let chunks: Vec<(Vec<Scored>, usize)> = (0..classes.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut asker = Asker::new(&index, shelf, copies, rule, most);
            let ranks = chunk * CHUNK..classes.min((chunk + 1) * CHUNK);
            let count = ranks.len() as u64;
            ranks.for_each(|rank| asker.ask(rank as u32));
            progress.advance(count, 0);
            (asker.found, asker.cut)
        })
        .collect();
    let cut = chunks.iter().map(|(_, cut)| cut).sum();
    let pairs = chunks.into_iter().flat_map(|(found, _)| found).collect();
    (pairs, cut)
}

/// Which classes have a key. Classes are called by their rank: few keys first.
struct Index {
    /// The class of each rank.
    order: Vec<u32>,
    /// The ranks that have a key, key after key, ascending for each.
    holders: Vec<u32>,
    /// Where the holders of each key begin and end; keys of a single holder are left out.
    lists: Vec<(u32, u32)>,
    /// The lists that each rank stands in, rank after rank.
    stands_in: Vec<u32>,
    /// Where the lists of each rank end.
    ends: Vec<u32>,
}

impl Index {
    fn new(shelf: &Shelf, copies: &Copies) -> Self {
        let keys = |class: u32| shelf.keys(copies.first(class));
        let mut order: Vec<u32> = (0..copies.len() as u32).collect();
        order.par_sort_unstable_by_key(|&class| (keys(class).len(), class));
        let twice = Twice::with_room_for(shelf.all_keys());
        order
            .par_iter()
            .for_each(|&class| keys(class).iter().for_each(|&key| twice.insert(key)));
        let mut entries: Vec<(u64, u32)> = order
            .par_iter()
            .enumerate()
            .flat_map_iter(|(rank, &class)| {
                let keys = keys(class).iter().filter(|&&key| twice.contains(key));
                keys.map(move |&key| (key, rank as u32))
            })
            .collect();
        drop(twice);
        entries.par_sort_unstable();
        let mut index = Self {
            holders: Vec::with_capacity(entries.len()),
            lists: Vec::new(),
            stands_in: Vec::new(),
            ends: vec![0; order.len()],
            order,
        };
        for list in entries
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|list| list.len() > 1)
        {
            let start = index.holders.len() as u32;
            index.holders.extend(list.iter().map(|&(_, rank)| rank));
            index.lists.push((start, index.holders.len() as u32));
        }
        drop(entries);
        index.note_where_each_stands();
        index
    }

    /// The lists of each rank: counted, laid out, filled in.
    fn note_where_each_stands(&mut self) {
        for &rank in &self.holders {
            self.ends[rank as usize] += 1;
        }
        let mut end = 0;
        for count in &mut self.ends {
            // The beginning now; filling in makes it the end.
            (*count, end) = (end, end + *count);
        }
        self.stands_in = vec![0; self.holders.len()];
        for (list, &(start, end)) in self.lists.iter().enumerate() {
            for &rank in &self.holders[start as usize..end as usize] {
                let place = &mut self.ends[rank as usize];
                self.stands_in[*place as usize] = list as u32;
                *place += 1;
            }
        }
    }

    fn lists_of(&self, rank: u32) -> &[u32] {
        let at = rank as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.stands_in[start as usize..self.ends[at] as usize]
    }

    fn holders(&self, list: u32) -> &[u32] {
        let (start, end) = self.lists[list as usize];
        &self.holders[start as usize..end as usize]
    }
}

/// Asks for one text after the other, and keeps the room it needs for that.
struct Asker<'a> {
    index: &'a Index,
    shelf: &'a Shelf,
    copies: &'a Copies,
    rule: &'a dyn Rule,
    most: Option<usize>,
    /// The lists to walk: length and number.
    lists: Vec<(u32, u32)>,
    /// For each rank, in which question it was met last, and how often there.
    seen: Vec<(u32, u32)>,
    stamp: u32,
    found: Vec<Scored>,
    cut: usize,
}

impl<'a> Asker<'a> {
    fn new(
        index: &'a Index,
        shelf: &'a Shelf,
        copies: &'a Copies,
        rule: &'a dyn Rule,
        most: Option<usize>,
    ) -> Self {
        Self {
            index,
            shelf,
            copies,
            rule,
            most,
            lists: Vec::new(),
            seen: vec![(0, 0); index.order.len()],
            stamp: 0,
            found: Vec::new(),
            cut: 0,
        }
    }

    /// Finds the partners of a rank among those of higher rank.
    fn ask(&mut self, rank: u32) {
        let class = self.index.order[rank as usize];
        let text = self.copies.first(class);
        let least = self.rule.least(text).max(1);
        let shared = self.index.lists_of(rank);
        // All keys that nobody else has are among the rarest.
        let Some(needed) = (shared.len() + 1).checked_sub(least).filter(|&n| n > 0) else {
            return;
        };
        self.lists.clear();
        self.lists.extend(shared.iter().map(|&list| {
            let (start, end) = self.index.lists[list as usize];
            (end - start, list)
        }));
        let walked = (needed + EXTRA).min(self.lists.len());
        let meetings = (walked - needed) as u32 + 1;
        if walked < self.lists.len() {
            self.lists.select_nth_unstable(walked - 1);
            self.lists.truncate(walked);
        }
        self.lists.sort_unstable();
        let (mut left, most) = match self.most {
            Some(most) => (WALK, most),
            None => (usize::MAX, usize::MAX),
        };
        let (mut stopped, mut partners) = (false, 0);
        self.stamp += 1;
        'walk: for &(_, list) in &self.lists {
            let holders = self.index.holders(list);
            let above = &holders[holders.partition_point(|&other| other <= rank)..];
            for &other in above {
                if left == 0 {
                    stopped = true;
                    break 'walk;
                }
                left -= 1;
                let (stamp, met) = &mut self.seen[other as usize];
                if *stamp != self.stamp {
                    (*stamp, *met) = (self.stamp, 0);
                }
                *met += 1;
                if *met != meetings {
                    continue;
                }
                let Some(pair) = self.compare(class, other, least) else {
                    continue;
                };
                if partners == most {
                    stopped = true;
                    break 'walk;
                }
                partners += 1;
                self.found.push(pair);
            }
        }
        if stopped {
            self.cut += 1;
            self.tie(class, rank, least, partners);
        }
    }

    /// The pair of a class with a rank, if the rule lets it through.
    fn compare(&self, class: u32, other: u32, least: usize) -> Option<Scored> {
        let other = self.index.order[other as usize];
        if !self.copies.may_pair(class, other) {
            return None;
        }
        let (here, there) = (self.copies.first(class), self.copies.first(other));
        let common = shared_keys(self.shelf.keys(here), self.shelf.keys(there));
        let score = (common >= least).then(|| self.rule.score(here, there, common))?;
        Some((class, other, score?))
    }

    /// A text whose walk was stopped is paired with the last holder of its commonest key as well. So do all others of its
    /// group, which is tied together by that, however few partners each of them lists.
    fn tie(&mut self, class: u32, rank: u32, least: usize, partners: usize) {
        let last = self
            .lists
            .last()
            .and_then(|&(_, list)| self.index.holders(list).last().copied());
        let Some(pair) = last
            .filter(|&last| last > rank)
            .and_then(|last| self.compare(class, last, least))
        else {
            return;
        };
        let mine = self.found.len() - partners;
        if self.found[mine..].iter().all(|known| known.1 != pair.1) {
            self.found.push(pair);
        }
    }
}
