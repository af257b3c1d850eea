//! Filters that learn from reports: the service as it is, and each of its methods alone.

use twicetold_index::{Limits, MemoryIndex};
use twicetold_methods::simhash::HammingIndex;
use twicetold_service::{Class, Embedded, Engine, Evidence, Sketches, compare};

use super::Mail;
use crate::EvalError;

/// The reporter of everything.
const READER: &str = "reader";
/// The time of everything: nothing ages during an experiment.
pub(super) const NOW: i64 = 1_000_000_000;

/// What a filter does.
pub trait Filter {
    /// How much the message looks like spam, and whether the filter calls it so.
    ///
    /// # Errors
    /// If the store of the filter fails.
    fn classify(&mut self, mail: &Mail) -> Result<(f64, bool), EvalError>;

    /// Learns what the message was.
    ///
    /// # Errors
    /// If the store of the filter fails.
    fn train(&mut self, mail: &Mail) -> Result<(), EvalError>;
}

/// The service, all methods together, with one trusted reporter.
pub struct Combined(Engine);

impl Combined {
    /// A service that knows nothing yet.
    ///
    /// # Errors
    /// If the store cannot be made.
    pub fn new() -> Result<Self, EvalError> {
        Self::on(Engine::new(Box::new(Embedded::in_memory()?)))
    }

    /// A filter on an engine.
    ///
    /// # Errors
    /// If the store of the engine fails.
    pub fn on(engine: Engine) -> Result<Self, EvalError> {
        engine.introduce(READER)?;
        Ok(Self(engine))
    }

    /// As [`Filter::classify`], of sketches.
    ///
    /// # Errors
    /// If the store fails.
    pub fn judge(&self, sketches: &Sketches) -> Result<(f64, bool), EvalError> {
        let answer = self.0.check(sketches, NOW)?;
        Ok((answer.score, answer.class == Class::Spam))
    }

    /// As [`Filter::train`], of sketches.
    ///
    /// # Errors
    /// If the store fails.
    pub fn learn(&self, sketches: &Sketches, spam: bool) -> Result<(), EvalError> {
        if spam {
            self.0.report(sketches, READER, NOW)?;
        } else if self.0.check(sketches, NOW)?.class == Class::Spam {
            // Only what was taken for spam is told to be none: a reader does nothing about the rest.
            self.0.revoke(sketches, READER, NOW)?;
        }
        Ok(())
    }
}

impl Filter for Combined {
    fn classify(&mut self, mail: &Mail) -> Result<(f64, bool), EvalError> {
        self.judge(&mail.sketches)
    }

    fn train(&mut self, mail: &Mail) -> Result<(), EvalError> {
        self.learn(&mail.sketches, mail.spam)
    }
}

/// What a method says of a message and a reported one.
pub type Says = fn(&Evidence) -> Option<f64>;

/// The methods of the service: the name, what each says of a pair, and from where on it alone calls a message spam.
pub const METHODS: [(&str, Says, f64); 5] = [
    ("winnow", |evidence| evidence.winnow, 0.35),
    ("imatch", |evidence| evidence.imatch, 0.01),
    ("simhash", |evidence| evidence.simhash, 1.0 - 3.0 / 64.0),
    ("edit", |evidence| evidence.edit, 0.01),
    ("layout", |evidence| evidence.layout, 0.9),
];

/// One method alone: the score is what it says of the most similar reported message.
pub struct ByMethod {
    method: usize,
    known: Vec<Sketches>,
    keys: Vec<Vec<u64>>,
    index: MemoryIndex,
    bits: HammingIndex,
}

/// How many different bits of a SimHash are of interest.
const NEAR: u32 = 12;
/// How much of the index is walked, and how many are compared, for one message.
const LIMITS: Limits = Limits {
    entries: 20_000,
    messages: 20,
};

impl ByMethod {
    /// The method at this place of [`METHODS`].
    pub fn new(method: usize) -> Self {
        Self {
            method,
            known: Vec::new(),
            keys: Vec::new(),
            index: MemoryIndex::new(),
            bits: HammingIndex::default(),
        }
    }

    fn keys_of(&self, sketches: &Sketches) -> Vec<u64> {
        let mut keys = match METHODS[self.method].0 {
            "winnow" => sketches.pairs.iter().map(|pair| pair.key).collect(),
            "imatch" => sketches.imatch.clone(),
            "edit" => sketches.edit.clone(),
            "layout" => sketches
                .layout
                .iter()
                .flat_map(|layout| {
                    let links = layout.links.iter().chain(&layout.targets).copied();
                    links.chain([layout.checksum])
                })
                .collect(),
            _ => Vec::new(),
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl Filter for ByMethod {
    fn classify(&mut self, mail: &Mail) -> Result<(f64, bool), EvalError> {
        let (name, says, threshold) = METHODS[self.method];
        let near: Vec<u32> = if name == "simhash" {
            let bits = mail.sketches.simhash.iter();
            bits.flat_map(|&bits| self.bits.within(bits, NEAR))
                .map(|found| found.id)
                .take(LIMITS.messages)
                .collect()
        } else {
            let keys = self.keys_of(&mail.sketches);
            let of = |n: u32| self.keys.get(n as usize).map_or(&[][..], Vec::as_slice);
            let found = self.index.sharing(&keys, usize::MAX, LIMITS, of);
            found.iter().map(|candidate| candidate.message).collect()
        };
        let known = near.iter().filter_map(|&n| self.known.get(n as usize));
        let scores = known.filter_map(|known| says(&compare(&mail.sketches, known).evidence));
        let score = scores.fold(0.0, f64::max);
        Ok((score, score >= threshold))
    }

    fn train(&mut self, mail: &Mail) -> Result<(), EvalError> {
        if mail.spam {
            let id = self.known.len() as u32;
            let keys = self.keys_of(&mail.sketches);
            self.index.insert(id, keys.iter().copied());
            if let Some(bits) = mail.sketches.simhash {
                self.bits.insert(id, bits);
            }
            self.keys.push(keys);
            self.known.push(mail.sketches.clone());
        }
        Ok(())
    }
}
