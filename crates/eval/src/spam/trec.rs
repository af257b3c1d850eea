//! The filter as the TREC spam filter evaluation tool kit calls it: `initialize`, `classify`, `train`, `finalize`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use twicetold_model::Form;
use twicetold_service::{Embedded, Engine, Sketches, Trust};

use super::Combined;
use crate::EvalError;

/// How long a call waits for another one that has the state open.
const PATIENCE: Duration = Duration::from_secs(30);
/// Says that a folder is a filter's, so that nothing else is ever removed.
const MARK: &str = "twicetold-trec-filter";

/// Makes the state of a filter that knows nothing, in a folder that is new, empty or a filter's from before.
///
/// # Errors
/// If the folder holds something else, or cannot be written.
pub fn initialize(folder: &Path) -> Result<(), EvalError> {
    let mark = folder.join(MARK);
    let holds = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if holds && !mark.is_file() {
        return Err(EvalError::refused(format!(
            "{} holds other files",
            folder.display()
        )));
    }
    if holds {
        fs::remove_dir_all(folder).map_err(EvalError::writing(folder))?;
    }
    fs::create_dir_all(folder).map_err(EvalError::writing(folder))?;
    fs::write(
        &mark,
        "The state of twicetold eval filter; finalize removes it.\n",
    )
    .map_err(EvalError::writing(&mark))?;
    open(folder).map(drop)
}

fn open(folder: &Path) -> Result<Combined, EvalError> {
    if !folder.join(MARK).is_file() {
        return Err(EvalError::refused(format!(
            "{} is no filter's folder; run initialize first",
            folder.display()
        )));
    }
    Combined::on(Engine::new(Box::new(Embedded::open(folder, PATIENCE)?)))
}

fn sketch(message: &Path) -> Result<Sketches, EvalError> {
    let bytes = fs::read(message).map_err(EvalError::reading(message))?;
    Ok(Sketches::of(Form::Mail, &bytes, &Trust::default()))
}

/// Says what a message is, in the line that the tool kit reads: `class=spam score=0.95 tfile=`.
///
/// # Errors
/// If the filter was not initialized, or the message cannot be read.
pub fn classify(folder: &Path, message: &Path) -> Result<String, EvalError> {
    let (score, spam) = open(folder)?.judge(&sketch(message)?)?;
    let class = if spam { "spam" } else { "ham" };
    Ok(format!("class={class} score={score:.6} tfile="))
}

/// Learns what a message was.
///
/// # Errors
/// If the filter was not initialized, or the message cannot be read.
pub fn train(folder: &Path, spam: bool, message: &Path) -> Result<(), EvalError> {
    open(folder)?.learn(&sketch(message)?, spam)
}

/// Removes the state.
///
/// # Errors
/// If the folder is not a filter's, or cannot be removed.
pub fn finalize(folder: &Path) -> Result<(), EvalError> {
    if !folder.join(MARK).is_file() {
        return Err(EvalError::refused(format!(
            "{} is no filter's folder",
            folder.display()
        )));
    }
    fs::remove_dir_all(folder).map_err(EvalError::writing(folder))
}
