//! Sketches for an engine that finds pairs. The schema is told in `docs/scale.md`.

use std::sync::Arc;

use twicetold_cluster::{SketchRow, form_name};
use twicetold_detect::Sketched;
use twicetold_model::{Location, Problem};

/// How the sketches are made: the same in every row.
#[derive(Debug)]
pub(crate) struct Making {
    /// The method.
    pub(crate) method: &'static str,
    /// What is not as it is by default.
    pub(crate) settings: Arc<[String]>,
    /// Whether each row has the message itself.
    pub(crate) with_message: bool,
}

impl Making {
    /// The row of a text; `id` is what it is called if it does not say so itself.
    pub(crate) fn row(&self, id: Option<&str>, sketched: Sketched, message: &[u8]) -> SketchRow {
        let location = sketched.location;
        let id = id.or(sketched.id.as_deref());
        let sketch = sketched.sketch.as_ref();
        SketchRow {
            id: id.map_or_else(|| location.to_string(), str::to_owned),
            path: location.path,
            offset: location.offset,
            form: Some(form_name(sketched.form)),
            bytes: Some(sketched.bytes),
            method: self.method,
            settings: Arc::clone(&self.settings),
            sketch: sketch.map(|sketch| sketch.to_bytes()),
            keys: sketched
                .sketch
                .map(|sketch| sketch.keys)
                .unwrap_or_default(),
            problems: sketched
                .problems
                .into_iter()
                .map(|p| p.what.into_owned())
                .collect(),
            message: self.with_message.then(|| message.to_vec()),
            ..SketchRow::default()
        }
    }

    /// The row of something that could not be read.
    pub(crate) fn unread(&self, id: String, location: Location, problem: &Problem) -> SketchRow {
        SketchRow {
            id,
            path: location.path,
            offset: location.offset,
            method: self.method,
            settings: Arc::clone(&self.settings),
            problems: vec![problem.what.to_string()],
            ..SketchRow::default()
        }
    }
}
