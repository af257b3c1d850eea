//! Which texts are near duplicates of each other?
//!
//! The way of a collection: `reading` reads every text once and keeps a sketch of it for each method; `shelf` holds
//! the sketches; `copies` takes texts with equal sketches together; `join` (by shared keys) or `hamming` (by bits) finds
//! every pair at or above the threshold without looking at all pairs; `methods` says which of them serves which method;
//! `verify` reads the texts of a pair again and compares them directly; `groups` puts pairs together. `sketching` hands the
//! same sketches to whoever finds pairs elsewhere, and `elsewhere` judges what was found there.
//!
//! Nothing here removes or judges a message: that two texts are alike is no reason to remove one.

mod copies;
mod elsewhere;
mod groups;
mod hamming;
mod join;
mod lexicon;
mod methods;
mod reading;
mod shelf;
mod sketching;
mod verify;

use std::borrow::Cow;

use rayon::prelude::*;
use twicetold_methods::catalogue::Chosen;
use twicetold_model::Location;
use twicetold_source::{Collection, Trouble};

pub use elsewhere::{Asking, Entered, Entering, farthest, walk_limit};
pub use groups::{Group, groups};
pub use lexicon::count_words;
pub use sketching::{Met, Sketched, Sketcher, sketch_each};
pub use verify::{Check, Verify};

use crate::progress::Progress;
use reading::Place;

/// How many partners of one text are listed unless told otherwise.
pub const MOST: usize = 100;

/// A method and from which score on a pair counts.
#[derive(Clone, Debug)]
pub struct Sought {
    /// The method with its settings.
    pub method: Chosen,
    /// The least score.
    pub threshold: f64,
}

/// How to look for pairs.
#[derive(Clone, Debug)]
pub struct Looking {
    /// The methods, in the order in which they are reported.
    pub methods: Vec<Sought>,
    /// How many partners of one text are listed; `None` for all, however many pairs that makes.
    pub most: Option<usize>,
    /// Whether, and how, the texts of every pair are compared besides.
    pub verify: Option<Verify>,
}

/// Two texts that a method finds alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first text; the one from the first collection if there are two.
    pub a: u32,
    /// The second text.
    pub b: u32,
    /// Which of the methods asked for.
    pub method: u32,
    /// How alike the method finds them.
    pub score: f64,
    /// How alike their texts are by the check that was asked for; `None` without one, or if a text could not be read again.
    pub checked: Option<f64>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Pairs {
    places: Vec<Place>,
    /// How many of them belong to the first collection.
    first: usize,
    /// Every pair and method, sorted by the places of its texts, then by method.
    pub pairs: Vec<Pair>,
    /// For each method, how many texts it has something to say about.
    pub sketched: Vec<usize>,
    /// How many texts have more partners than were listed.
    pub cut: usize,
    /// Files and folders that could not be used.
    pub troubles: Vec<Trouble>,
}

impl Pairs {
    /// How many texts were read.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no text was read.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many of the texts are from the first collection; they come first.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Where a text stands.
    pub fn location(&self, text: u32) -> Location {
        let place = self.places.get(text as usize);
        place.map_or_else(
            || Location {
                path: "".into(),
                offset: None,
            },
            |place| place.location.clone(),
        )
    }

    /// The identifier of a text that has one: a line of JSON lines, a story of Reuters.
    pub fn id(&self, text: u32) -> Option<&str> {
        self.places.get(text as usize)?.id.as_deref()
    }

    /// What a text is called: its identifier, or else where it stands.
    pub fn name(&self, text: u32) -> Cow<'_, str> {
        match self.id(text) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(self.location(text).to_string()),
        }
    }

    /// Every path that a text was read from, each once.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let mut before = "";
        self.places.iter().filter_map(move |place| {
            let path = &*place.location.path;
            let new = path != before;
            before = path;
            new.then_some(path)
        })
    }
}

/// Finds the pairs within a collection, or between it and another one. Reads only. Same input, same result, whatever the
/// number of threads.
pub fn pairs(
    collection: &Collection,
    against: Option<&Collection>,
    looking: &Looking,
    progress: &dyn Progress,
) -> Pairs {
    let mut found = Pairs::default();
    let mut shelves = Vec::new();
    let collections: Vec<&Collection> = std::iter::once(collection).chain(against).collect();
    let bytes = collections.iter().map(|one| one.total_bytes()).sum();
    progress.begin(crate::Stage::Reading, bytes);
    for (n, collection) in collections.iter().enumerate() {
        let read = reading::read(collection, &looking.methods, progress);
        found.troubles.extend(read.troubles);
        found.places.extend(read.places);
        shelves.extend(read.shelves);
        if n == 0 {
            found.first = found.places.len();
        }
    }
    // The shelves of the second collection, if there is one, go behind those of the first.
    let second = shelves.split_off(looking.methods.len().min(shelves.len()));
    for (shelf, more) in shelves.iter_mut().zip(second) {
        shelf.append(more);
    }
    let sides = against.map(|_| found.first as u32);
    for (number, (sought, shelf)) in looking.methods.iter().zip(shelves).enumerate() {
        found.sketched.push(shelf.sketched());
        let (pairs, cut) = methods::find(sought, shelf, sides, looking.most, progress);
        found.cut += cut;
        found
            .pairs
            .extend(pairs.into_iter().map(|(a, b, score)| Pair {
                a,
                b,
                method: number as u32,
                score,
                checked: None,
            }));
    }
    // A text that stands in both collections is no near duplicate of itself.
    let places = &found.places;
    let same = |pair: &Pair| match (places.get(pair.a as usize), places.get(pair.b as usize)) {
        (Some(a), Some(b)) => a.location == b.location,
        _ => true,
    };
    found.pairs.retain(|pair| !same(pair));
    found
        .pairs
        .par_sort_unstable_by_key(|pair| (pair.a, pair.b, pair.method));
    if let Some(verify) = looking.verify {
        verify::check(&mut found, &collections, verify, progress);
    }
    found
}
