//! Counting the words of a collection, for a lexicon.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::imatch::LexiconBuilder;
use twicetold_source::{Collection, Trouble};

use crate::progress::{Progress, Stage};

/// Counts in how many texts of a collection each word occurs, on all threads. Besides, what could not be read.
pub fn count_words(
    collection: &Collection,
    progress: &dyn Progress,
) -> (LexiconBuilder, Vec<Trouble>) {
    progress.begin(Stage::Reading, collection.total_bytes());
    let troubles = Mutex::new(collection.troubles().to_vec());
    let counted = collection
        .tasks()
        .par_bridge()
        .fold(LexiconBuilder::default, |mut builder, task| {
            task.run(
                &mut |raw| {
                    builder.add(&read_wanted(raw.form, &raw.bytes, Wants::default()));
                    progress.advance(1, raw.bytes.len() as u64);
                },
                &mut |trouble| {
                    troubles
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(trouble);
                },
            );
            builder
        })
        .reduce(LexiconBuilder::default, |mut one, other| {
            one.merge(other);
            one
        });
    let mut troubles = troubles
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    (counted, troubles)
}
