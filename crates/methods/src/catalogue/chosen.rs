//! A method that somebody chose, with its settings.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use twicetold_model::Method;

use super::{METHODS, entry};
use crate::blocks::{Blocks, Formula};
use crate::edit::{Edit, Shape};
use crate::imatch::{Imatch, Lexicon, Removal};
use crate::layout::Cosdes;
use crate::simhash::{Features, SimHash, Weights};
use crate::winnow::Winnow;

/// Which number counts where a method knows a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// The mean of both containments.
    #[default]
    Resemblance,
    /// The larger one: how much of the shorter text the longer one holds.
    Containment,
}

/// A method with its settings.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// Word pairs, and which number counts.
    Winnow(Winnow, Measure),
    /// Hashes of lexicon words.
    Imatch(Imatch),
    /// Hashes of sentences.
    Blocks(Blocks),
    /// 64 bits.
    SimHash(SimHash),
    /// HTML tags.
    Layout(Cosdes),
    /// Characters.
    Edit(Edit),
}

/// A name that is not known, or a value that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError(String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}

impl Chosen {
    /// The method of this name, as it is by default.
    ///
    /// # Errors
    /// If there is none; the error names all there are.
    pub fn new(name: &str) -> Result<Self, SettingError> {
        Ok(match name {
            "winnow" => Self::Winnow(Winnow::default(), Measure::default()),
            "imatch" => Self::Imatch(Imatch::default()),
            "blocks" => Self::Blocks(Blocks::default()),
            "simhash" => Self::SimHash(SimHash::default()),
            "layout" => Self::Layout(Cosdes::default()),
            "edit" => Self::Edit(Edit::default()),
            _ => {
                let known: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
                return Err(SettingError(format!(
                    "there is no method {name:?}; there are {}",
                    known.join(", ")
                )));
            }
        })
    }

    /// The method itself.
    pub fn method(&self) -> &dyn Method {
        match self {
            Self::Winnow(winnow, _) => winnow,
            Self::Imatch(imatch) => imatch,
            Self::Blocks(blocks) => blocks,
            Self::SimHash(simhash) => simhash,
            Self::Layout(cosdes) => cosdes,
            Self::Edit(edit) => edit,
        }
    }

    /// The name users type.
    pub fn name(&self) -> &'static str {
        self.method().name()
    }

    /// From which score on a pair counts unless told otherwise.
    pub fn threshold(&self) -> f64 {
        match self {
            Self::Winnow(..) => 0.5,
            // One hash of all: the paper's rule.
            Self::Imatch(imatch) => imatch.votes as f64 / (f64::from(imatch.copies) + 1.0),
            Self::Blocks(_) => 0.6,
            Self::SimHash(simhash) => 1.0 - f64::from(simhash.distance) / 64.0,
            Self::Layout(_) => 0.9,
            Self::Edit(_) => 0.85,
        }
    }

    /// Takes a lexicon; only imatch has one, the others leave it.
    pub fn take_lexicon(&mut self, lexicon: &Arc<Lexicon>) {
        if let Self::Imatch(imatch) = self {
            imatch.lexicon = Arc::clone(lexicon);
        }
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// If the method has no such parameter, or the value cannot be; the error says what can.
    pub fn set(&mut self, parameter: &str, value: &str) -> Result<(), SettingError> {
        let known = entry(self.name()).map_or(&[][..], |entry| entry.parameters);
        let Some(row) = known.iter().find(|row| row.name == parameter) else {
            let names: Vec<&str> = known.iter().map(|row| row.name).collect();
            return Err(SettingError(format!(
                "{} has no parameter {parameter:?}; it has {}",
                self.name(),
                names.join(", ")
            )));
        };
        self.assign(parameter, value).ok_or_else(|| {
            SettingError(format!(
                "{}.{parameter} cannot be {value:?}; it may be: {}",
                self.name(),
                row.values
            ))
        })
    }

    fn assign(&mut self, parameter: &str, value: &str) -> Option<()> {
        match self {
            Self::Winnow(winnow, measure) => match parameter {
                "window" => winnow.window = within(value, 1..=64)?,
                _ => {
                    *measure = one_of(value, &MEASURES)?;
                }
            },
            Self::Imatch(imatch) => match parameter {
                "copies" => imatch.copies = within(value, 0..=1000)?,
                "removal" => {
                    let p = within(value, 0.0..=1.0)?;
                    imatch.removal = removal(p, fitted(imatch.removal).1);
                }
                "fitted" => {
                    let words = within(value, 0..=1000)?;
                    imatch.removal = removal(fitted(imatch.removal).0, words);
                }
                "least-words" => imatch.least_words = within(value, 1..=1000)?,
                "ratio" => imatch.ratio = within(value, 0..=100)?,
                "votes" => imatch.votes = within(value, 1..=1000)?,
                _ => imatch.seed = value.parse().ok()?,
            },
            Self::Blocks(blocks) => match parameter {
                "formula" => blocks.formula = one_of(value, &FORMULAS)?,
                _ => blocks.large = value.parse().ok()?,
            },
            Self::SimHash(simhash) => match parameter {
                "distance" => simhash.distance = within(value, 0..=64)?,
                "features" => {
                    let known = Features::ALL.into_iter();
                    simhash.features = known.into_iter().find(|f| f.name() == value)?;
                }
                "weights" => simhash.weights = one_of(value, &WEIGHTS)?,
                _ => simhash.stop_words = one_of(value, &YES_NO)?,
            },
            Self::Layout(cosdes) => match parameter {
                "least" => cosdes.least = within(value, 1..=1000)?,
                "run" => cosdes.run = within(value, 1..=100)?,
                _ => cosdes.anchor = within(value, 0..=1000)?,
            },
            Self::Edit(edit) => return assign_edit(edit, parameter, value),
        }
        Some(())
    }

    /// What a parameter is set to; `None` if the method has no such parameter.
    pub fn get(&self, parameter: &str) -> Option<String> {
        Some(match (self, parameter) {
            (Self::Winnow(winnow, _), "window") => winnow.window.to_string(),
            (Self::Winnow(_, measure), "measure") => name_of(measure, &MEASURES),
            (Self::Imatch(imatch), "copies") => imatch.copies.to_string(),
            (Self::Imatch(imatch), "removal") => fitted(imatch.removal).0.to_string(),
            (Self::Imatch(imatch), "fitted") => fitted(imatch.removal).1.to_string(),
            (Self::Imatch(imatch), "least-words") => imatch.least_words.to_string(),
            (Self::Imatch(imatch), "ratio") => imatch.ratio.to_string(),
            (Self::Imatch(imatch), "votes") => imatch.votes.to_string(),
            (Self::Imatch(imatch), "seed") => imatch.seed.to_string(),
            (Self::Blocks(blocks), "formula") => name_of(&blocks.formula, &FORMULAS),
            (Self::Blocks(blocks), "large") => blocks.large.to_string(),
            (Self::SimHash(simhash), "distance") => simhash.distance.to_string(),
            (Self::SimHash(simhash), "features") => simhash.features.name().to_owned(),
            (Self::SimHash(simhash), "weights") => name_of(&simhash.weights, &WEIGHTS),
            (Self::SimHash(simhash), "stop-words") => name_of(&simhash.stop_words, &YES_NO),
            (Self::Layout(cosdes), "least") => cosdes.least.to_string(),
            (Self::Layout(cosdes), "run") => cosdes.run.to_string(),
            (Self::Layout(cosdes), "anchor") => cosdes.anchor.to_string(),
            (Self::Edit(edit), parameter) => return edit_setting(edit, parameter),
            _ => return None,
        })
    }
}

fn assign_edit(edit: &mut Edit, parameter: &str, value: &str) -> Option<()> {
    match parameter {
        "preset" => {
            *edit = one_of(
                value,
                &[("practical", Edit::practical()), ("paper", Edit::paper())],
            )?;
        }
        "trees" => edit.trees = within(value, 1..=1000)?,
        "folds" => edit.folds = one_of(value, &YES_NO)?,
        "longest" => edit.longest = within(value, 100..=1_000_000)?,
        "seed" => edit.seed = value.parse().ok()?,
        _ => {
            // The paper's shape has none of these to set: whoever sets one leaves it.
            let (mut q, mut widen, mut step, mut depth) = match edit.shape {
                Shape::Short {
                    q,
                    widen,
                    step,
                    depth,
                } => (q, widen, step, depth),
                Shape::Paper => (3, 2, 4, 16),
            };
            match parameter {
                "q" => q = within(value, 1..=100)?,
                "widen" => widen = within(value, 1..=100)?,
                "step" => step = within(value, 1..=100)?,
                _ => depth = within(value, 1..=400)?,
            }
            edit.shape = Shape::Short {
                q,
                widen,
                step,
                depth,
            };
        }
    }
    Some(())
}

fn edit_setting(edit: &Edit, parameter: &str) -> Option<String> {
    let short = |take: fn(usize, usize, usize, usize) -> usize| match edit.shape {
        Shape::Short {
            q,
            widen,
            step,
            depth,
        } => take(q, widen, step, depth).to_string(),
        Shape::Paper => "the paper's".to_owned(),
    };
    Some(match parameter {
        "preset" if edit.shape == Shape::Paper => "paper".to_owned(),
        "preset" => "practical".to_owned(),
        "q" => short(|q, _, _, _| q),
        "widen" => short(|_, widen, _, _| widen),
        "step" => short(|_, _, step, _| step),
        "depth" => short(|_, _, _, depth| depth),
        "trees" => edit.trees.to_string(),
        "folds" => name_of(&edit.folds, &YES_NO),
        "longest" => edit.longest.to_string(),
        "seed" => edit.seed.to_string(),
        _ => return None,
    })
}

const MEASURES: [(&str, Measure); 2] = [
    ("resemblance", Measure::Resemblance),
    ("containment", Measure::Containment),
];
const FORMULAS: [(&str, Formula); 3] = [
    ("matched", Formula::Matched),
    ("paper", Formula::Paper),
    ("share", Formula::Share),
];
const WEIGHTS: [(&str, Weights); 2] = [
    ("frequency", Weights::Frequency),
    ("presence", Weights::Presence),
];
const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// A number inside a range.
fn within<T: FromStr + PartialOrd>(value: &str, range: RangeInclusive<T>) -> Option<T> {
    value.parse().ok().filter(|number| range.contains(number))
}

fn one_of<T: Clone>(value: &str, known: &[(&str, T)]) -> Option<T> {
    known
        .iter()
        .find(|(name, _)| *name == value)
        .map(|(_, meant)| meant.clone())
}

fn name_of<T: PartialEq>(meant: &T, known: &[(&str, T)]) -> String {
    let found = known.iter().find(|(_, other)| other == meant);
    found.map(|(name, _)| *name).unwrap_or_default().to_owned()
}

/// The two numbers of a removal; no words means that the removal is the same for all texts.
fn fitted(removal: Removal) -> (f64, u32) {
    match removal {
        Removal::Same { p } => (p, 0),
        Removal::Fitted { p, words } => (p, words),
    }
}

fn removal(p: f64, words: u32) -> Removal {
    match words {
        0 => Removal::Same { p },
        words => Removal::Fitted { p, words },
    }
}
