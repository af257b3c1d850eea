//! Labelled cases out of any mailbox: so that a user can test on mail like theirs.
//!
//! The sentences of real messages are put together anew, so that what is true is known by construction: copies, copies
//! with a greeting or a typing error, other orders, quotations, messages that two others cover together; and the traps,
//! in which nothing may go: half a quotation, a changed number, another attachment, the same short answer, one template,
//! a long text with one new sentence.
//!
//! | written | |
//! |---|---|
//! | `mail/NNNNNN.eml` | the messages; people and addresses are invented, sentences are the mailbox's own |
//! | `truth.jsonl` | what each message says ([`Label`]) |
//! | `classification.txt` | who makes whom redundant, by Message-ID |

mod draft;
mod kinds;
mod sentences;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::redundancy::{Label, holders};
use crate::{Corpus, Dice, EvalError, Watch};

pub use kinds::KINDS;
use kinds::{Desk, Message};
use sentences::Stock;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many messages.
    pub messages: usize,
    /// How many cases of each kind.
    pub cases: Vec<(&'static str, usize)>,
    /// How many messages of the mailbox had sentences to use.
    pub sources: usize,
}

/// Makes `cases` cases of every kind out of the messages below some paths, as far as their sentences go, and writes them
/// into a folder that must be new or empty.
///
/// # Errors
/// If the folder holds something, nothing can be read, the sentences do not make a single case, or writing fails.
pub fn write(
    paths: &[PathBuf],
    folder: &Path,
    cases: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Written, EvalError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(EvalError::refused(format!(
            "{} is not empty, and labelled cases are not mixed with other files",
            folder.display()
        )));
    }
    let corpus = Corpus::read(paths, usize::MAX, watch, |raw| {
        sentences::of(&twicetold_mail::read(raw.form, &raw.bytes))
    })?;
    let mut dice = Dice::new(seed);
    let texts = corpus.items.into_iter().map(|item| item.value).collect();
    let mut stock = Stock::new(texts, &mut dice);
    let sources = stock.len();
    let mut desk = Desk::default();
    let mut counts: Vec<(&'static str, usize)> = KINDS.iter().map(|kind| (kind.name, 0)).collect();
    // One case of every kind in turn, so that a small mailbox gives some of each.
    for round in 0..cases {
        for (kind, count) in KINDS.iter().zip(&mut counts) {
            let case = format!("{}-{round}", kind.name);
            if desk.make(kind, &case, &mut stock, &mut dice) {
                count.1 += 1;
            }
        }
    }
    if desk.messages.is_empty() {
        return Err(EvalError::refused(
            "the messages have too few sentences of their own to make a case; name a larger mailbox",
        ));
    }
    // Copies are not to lie beside their originals in time or name.
    dice.shuffle(&mut desk.messages);
    put(folder, &desk.messages, watch)?;
    Ok(Written {
        messages: desk.messages.len(),
        cases: counts,
        sources,
    })
}

fn put(folder: &Path, messages: &[Message], watch: &dyn Watch) -> Result<(), EvalError> {
    let mail = folder.join("mail");
    fs::create_dir_all(&mail).map_err(EvalError::writing(&mail))?;
    watch.begin("writing", messages.len() as u64);
    let mut labels = Vec::with_capacity(messages.len());
    for (n, message) in messages.iter().enumerate() {
        let file = format!("{n:06}.eml");
        let path = mail.join(&file);
        fs::write(&path, message.draft.to_bytes()).map_err(EvalError::writing(&path))?;
        labels.push(Label {
            file,
            id: message.draft.id.clone(),
            case: message.case.clone(),
            category: message.category.to_owned(),
            units: message.units.clone(),
        });
        watch.step(1);
    }
    let mut truth = String::new();
    for label in &labels {
        truth.push_str(&format!("{}\n", json!(label)));
    }
    let mut classification =
        "# A redundant message, then every message that alone holds all it says.\n".to_owned();
    for (label, by) in labels.iter().zip(holders(&labels)) {
        if !by.is_empty() {
            let ids: Vec<&str> = by.iter().map(|&n| labels[n].id.as_str()).collect();
            classification.push_str(&format!("{} {}\n", label.id, ids.join(" ")));
        }
    }
    for (name, text) in [
        ("truth.jsonl", truth),
        ("classification.txt", classification),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(EvalError::writing(&path))?;
    }
    Ok(())
}
