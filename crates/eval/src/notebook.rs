//! Finished measurements are written down, and not made again.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::EvalError;

/// The name of the file in the folder of results.
const FILE: &str = "measurements.jsonl";

/// Finished measurements by what was measured: the experiment, its parameters, the checksum of its inputs and the
/// version of the program. Each is written down as soon as it is finished, so that an interrupted run goes on there.
#[derive(Debug, Default)]
pub struct Notebook {
    known: HashMap<String, Value>,
    file: Option<(PathBuf, File)>,
    /// How many measurements were found written down since it was opened.
    pub reused: usize,
    /// How many were made.
    pub made: usize,
}

impl Notebook {
    /// A notebook that keeps nothing.
    pub fn forgetful() -> Self {
        Self::default()
    }

    /// The notebook in a folder, which is made if need be. With `fresh`, what it holds is forgotten.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn open(folder: &Path, fresh: bool) -> Result<Self, EvalError> {
        fs::create_dir_all(folder).map_err(EvalError::writing(folder))?;
        let path = folder.join(FILE);
        let mut known = HashMap::new();
        let old = match fs::read_to_string(&path) {
            _ if fresh => String::new(),
            Ok(old) => old,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(EvalError::reading(&path)(error)),
        };
        let (mut whole, mut kept) = (true, String::new());
        for line in old.lines() {
            // A line that a killed run left unfinished is measured again.
            let entry = serde_json::from_str::<Value>(line).ok();
            let parts = entry.as_ref().and_then(|entry| {
                Some((
                    entry.get("measured")?.as_str()?,
                    entry.get("found")?.clone(),
                ))
            });
            match parts {
                Some((measured, found)) => {
                    known.insert(measured.to_owned(), found);
                    kept.push_str(line);
                    kept.push('\n');
                }
                None => whole = false,
            }
        }
        if fresh || !whole || (!old.is_empty() && !old.ends_with('\n')) {
            fs::write(&path, kept).map_err(EvalError::writing(&path))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(EvalError::writing(&path))?;
        Ok(Self {
            known,
            file: Some((path, file)),
            reused: 0,
            made: 0,
        })
    }

    /// What was found under this name, or else what `make` finds now. The name holds everything that the finding
    /// depends on but the version of the program, which is added.
    ///
    /// # Errors
    /// If the measurement fails or cannot be written down.
    pub fn measure<T: Serialize + DeserializeOwned>(
        &mut self,
        measured: &str,
        make: impl FnOnce() -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let measured = format!("{} {measured}", env!("CARGO_PKG_VERSION"));
        let known = self.known.get(&measured);
        if let Some(found) = known.and_then(|found| T::deserialize(found).ok()) {
            self.reused += 1;
            return Ok(found);
        }
        let found = make()?;
        self.made += 1;
        let value = serde_json::to_value(&found).unwrap_or(Value::Null);
        if let Some((path, file)) = &mut self.file {
            let line = format!("{}\n", json!({ "measured": measured, "found": value }));
            file.write_all(line.as_bytes())
                .and_then(|()| file.flush())
                .map_err(EvalError::writing(path.clone()))?;
        }
        self.known.insert(measured, value);
        Ok(found)
    }
}
