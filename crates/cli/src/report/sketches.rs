//! Sketches for an engine that finds pairs, or for the spam service. The schema is told in `docs/scale.md`.

use std::sync::Arc;

use twicetold_cluster::{SketchRow, form_name};
use twicetold_detect::{Sketched, Sketcher};
use twicetold_model::{Location, Problem, RawMessage};
use twicetold_service::{Sketches, Trust};

/// The method whose sketches the spam service takes. It is none of those that find pairs: it is several of them at once.
pub(crate) const SPAM: &str = "spam";

/// Who makes the sketches.
pub(crate) enum How {
    /// A method that finds pairs.
    Method(Box<Sketcher>),
    /// What the spam service keeps of a message.
    Spam(Trust),
}

/// How the sketches are made: the same in every row.
pub(crate) struct Making {
    /// Who makes them.
    pub(crate) how: How,
    /// The name of the method.
    pub(crate) method: &'static str,
    /// What is not as it is by default.
    pub(crate) settings: Arc<[String]>,
    /// Whether each row has the message itself.
    pub(crate) with_message: bool,
}

impl Making {
    /// What is known of a text. The sketch of the spam service comes with the row.
    pub(crate) fn sketch(&self, raw: &RawMessage<'_>) -> Sketched {
        match &self.how {
            How::Method(sketcher) => sketcher.sketch(raw),
            How::Spam(_) => Sketched {
                location: raw.location.clone(),
                id: None,
                form: raw.form,
                bytes: raw.bytes.len() as u64,
                sketch: None,
                problems: Vec::new(),
            },
        }
    }

    /// The row of a text; `id` is what it is called if it does not say so itself.
    pub(crate) fn row(&self, id: Option<&str>, sketched: Sketched, message: &[u8]) -> SketchRow {
        let location = sketched.location;
        let id = id.or(sketched.id.as_deref());
        let (sketch, keys) = match &self.how {
            How::Method(_) => match sketched.sketch {
                Some(sketch) => (Some(sketch.to_bytes()), sketch.keys),
                None => (None, Vec::new()),
            },
            How::Spam(trust) => {
                let sketches = Sketches::of(sketched.form, message, trust);
                let keys = sketches.pairs.iter().map(|pair| pair.key).collect();
                (Some(sketches.to_bytes()), keys)
            }
        };
        SketchRow {
            id: id.map_or_else(|| location.to_string(), str::to_owned),
            path: location.path.to_string(),
            offset: location.offset,
            form: Some(form_name(sketched.form)),
            bytes: Some(sketched.bytes),
            method: self.method,
            settings: Arc::clone(&self.settings),
            sketch,
            keys,
            problems: (sketched.problems.into_iter())
                .map(|problem| problem.what.into_owned())
                .collect(),
            message: self.with_message.then(|| message.to_vec()),
            ..SketchRow::default()
        }
    }

    /// The row of something that could not be read.
    pub(crate) fn unread(&self, id: String, location: Location, problem: &Problem) -> SketchRow {
        SketchRow {
            id,
            path: location.path.to_string(),
            offset: location.offset,
            method: self.method,
            settings: Arc::clone(&self.settings),
            problems: vec![problem.what.to_string()],
            ..SketchRow::default()
        }
    }
}
