//! The same pairs, found by an engine with many machines.
//!
//! The engine gets of each text what [`Entering`] says, brings those together that share keys (or bits), and asks about each text by
//! [`Asking`], which has the rules and the limits of `join` and `hamming`. The candidates come in the order in which those would have
//! met them; then the pairs are the same.

use twicetold_mail::{Wants, read_wanted};
use twicetold_model::{RawMessage, Sketch, shared_keys};

use super::Sought;
use super::join::WALK;
use super::methods::{by_keys, hash, score_of_bits};
use super::reading::{all_wanted, id, put, sketch_of};
use super::shelf::Shelf;

/// What an engine has to know of a text to find its partners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The same for texts with equal sketches.
    pub class: u128,
    /// By what partners meet: keys, sorted, or the one hash whose bits are compared.
    pub keys: Vec<u64>,
    /// What comparing needs besides.
    pub body: Vec<u8>,
    /// How many keys a partner that has as many keys or more must share, 1 at least.
    pub least: usize,
}

/// What to tell an engine of a sketch; `None` if the method has nothing to say about the text.
fn enter(sought: &Sought, sketch: Option<Sketch>) -> Option<Entered> {
    let mut shelf = Shelf::default();
    put(&sought.method, sketch, &mut shelf);
    if !shelf.has(0) {
        return None;
    }
    let class = shelf.identity(0);
    Some(match by_keys(sought, &shelf) {
        Some(rule) => Entered {
            class,
            keys: shelf.keys(0).to_vec(),
            body: shelf.body(0).to_vec(),
            least: rule.least(0).max(1),
        },
        None => Entered {
            class,
            keys: vec![hash(&sought.method, shelf.body(0))],
            body: Vec::new(),
            least: 1,
        },
    })
}

/// In how many bits the hashes of partners may differ: `None` for a method that compares keys, `Some(None)` if no two different
/// sketches are near enough.
pub fn farthest(sought: &Sought) -> Option<Option<u32>> {
    by_keys(sought, &Shelf::default())
        .is_none()
        .then(|| super::methods::farthest(sought))
}

/// How many entries of lists a text walks if the number of its partners is limited.
pub fn walk_limit() -> usize {
    WALK
}

/// One text after the other, each with its candidates.
#[derive(Debug)]
pub struct Asking<'s> {
    sought: &'s Sought,
    most: usize,
    /// The text that asks, and the candidate.
    shelf: Shelf,
    least: usize,
    found: Vec<i64>,
    /// The walk was cut off, or there are more partners than are listed.
    stopped: bool,
    /// As many partners are listed as may be.
    full: bool,
}

impl<'s> Asking<'s> {
    /// Asks by this method. `most` partners of a text are listed; `None` for all.
    pub fn new(sought: &'s Sought, most: Option<usize>) -> Self {
        Self {
            sought,
            most: most.unwrap_or(usize::MAX),
            shelf: Shelf::default(),
            least: 1,
            found: Vec::new(),
            stopped: false,
            full: false,
        }
    }

    /// Another text asks. `stopped` says that its walk through the lists was cut off.
    pub fn ask(&mut self, keys: Vec<u64>, body: Vec<u8>, stopped: bool) {
        self.shelf = Shelf::default();
        self.shelf.push(Some(Sketch { keys, body }), true, true);
        let rule = by_keys(self.sought, &self.shelf);
        self.least = rule.map_or(1, |rule| rule.least(0).max(1));
        self.found.clear();
        (self.stopped, self.full) = (stopped, false);
    }

    /// The score of the next candidate if it is a partner and is listed.
    pub fn meet(&mut self, number: i64, keys: Vec<u64>, body: Vec<u8>) -> Option<f64> {
        if self.full {
            return None;
        }
        let score = self.compare(keys, body)?;
        if self.found.len() == self.most {
            // It is not listed, nor is anybody behind it.
            (self.full, self.stopped) = (true, true);
            return None;
        }
        self.found.push(number);
        Some(score)
    }

    /// The last candidate: the last holder of the commonest key. It is listed besides if the walk was stopped, so that large groups
    /// hold together.
    pub fn tie(&mut self, number: i64, keys: Vec<u64>, body: Vec<u8>) -> Option<f64> {
        if !self.stopped || self.found.contains(&number) {
            return None;
        }
        self.compare(keys, body)
    }

    /// Whether the text may have more partners than were listed.
    pub fn is_cut(&self) -> bool {
        self.stopped
    }

    fn compare(&mut self, keys: Vec<u64>, body: Vec<u8>) -> Option<f64> {
        self.shelf.keep_first();
        self.shelf.push(Some(Sketch { keys, body }), true, true);
        let (here, there) = (self.shelf.keys(0), self.shelf.keys(1));
        let Some(rule) = by_keys(self.sought, &self.shelf) else {
            let bits = (here.first()? ^ there.first()?).count_ones();
            let near = super::methods::farthest(self.sought)?;
            return (bits <= near).then(|| score_of_bits(&self.sought.method, bits));
        };
        let common = shared_keys(here, there);
        (common >= self.least).then(|| rule.score(0, 1, common))?
    }
}

/// Methods, ready to make entries of texts.
#[derive(Debug)]
pub struct Entering<'s> {
    methods: &'s [Sought],
    wants: Wants,
}

impl<'s> Entering<'s> {
    /// Makes entries by these methods.
    pub fn new(methods: &'s [Sought]) -> Self {
        Self {
            methods,
            wants: all_wanted(methods),
        }
    }

    /// What a text calls itself, and its entry for each method. It is read once.
    pub fn enter(&self, raw: &RawMessage<'_>) -> (Option<String>, Vec<Option<Entered>>) {
        let document = read_wanted(raw.form, &raw.bytes, self.wants);
        let entries = self
            .methods
            .iter()
            .map(|sought| enter(sought, sketch_of(&sought.method, &document)))
            .collect();
        (id(raw.form, document), entries)
    }
}

#[cfg(test)]
mod tests {
    use twicetold_methods::catalogue::Chosen;

    use super::*;

    fn sought(name: &str) -> Sought {
        let method = Chosen::new(name).unwrap();
        let threshold = method.threshold();
        Sought { method, threshold }
    }

    fn keys(first: u64) -> Vec<u64> {
        (first..first + 20).collect()
    }

    #[test]
    fn as_many_partners_are_listed_as_may_be_and_one_that_ties() {
        let sought = sought("winnow");
        let mut asking = Asking::new(&sought, Some(1));
        asking.ask(keys(0), Vec::new(), false);
        assert_eq!(asking.meet(1, keys(100), Vec::new()), None);
        let score = asking.meet(2, keys(1), Vec::new()).unwrap();
        assert!((score - 0.95).abs() < 1e-9);
        assert!(!asking.is_cut());
        assert_eq!(
            asking.tie(9, keys(0), Vec::new()),
            None,
            "nothing was stopped"
        );
        assert_eq!(
            asking.meet(3, keys(1), Vec::new()),
            None,
            "one is listed already"
        );
        assert!(asking.is_cut());
        assert_eq!(asking.tie(2, keys(1), Vec::new()), None, "it is listed");
        assert_eq!(asking.tie(9, keys(0), Vec::new()), Some(1.0));
        // The next one begins anew; its walk was cut off.
        asking.ask(keys(0), Vec::new(), true);
        assert!(asking.is_cut());
        assert_eq!(
            asking.tie(9, keys(100), Vec::new()),
            None,
            "it is no partner"
        );
        assert_eq!(asking.tie(9, keys(0), Vec::new()), Some(1.0));
    }

    #[test]
    fn hashes_are_compared_by_bits() {
        let sought = sought("simhash");
        let near = farthest(&sought).unwrap().unwrap();
        let mut asking = Asking::new(&sought, None);
        asking.ask(vec![0], Vec::new(), false);
        let last = (1_u64 << near) - 1;
        let score = asking.meet(1, vec![last], Vec::new()).unwrap();
        assert!((score - (1.0 - f64::from(near) / 64.0)).abs() < 1e-9);
        assert_eq!(asking.meet(2, vec![last << 1 | 1], Vec::new()), None);
        assert_eq!(asking.meet(3, Vec::new(), Vec::new()), None, "no hash");
        assert_eq!(farthest(&self::sought("winnow")), None);
    }
}
