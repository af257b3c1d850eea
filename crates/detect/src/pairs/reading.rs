//! Reading every text once, on all threads, and sketching it.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::catalogue::Chosen;
use twicetold_model::{Document, Form, Location, Sketch};
use twicetold_source::{Collection, Task, Trouble};

use super::Sought;
use super::shelf::Shelf;
use crate::progress::Progress;

/// Where a text stands, and what it calls itself.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) location: Location,
    pub(super) id: Option<Box<str>>,
}

/// What was read of a collection, in the order of its places.
pub(super) struct Read {
    pub(super) places: Vec<Place>,
    /// One for each method.
    pub(super) shelves: Vec<Shelf>,
    pub(super) troubles: Vec<Trouble>,
}

/// What one task read. Its texts stand together in the collection, in order.
#[derive(Default)]
struct Batch {
    places: Vec<Place>,
    shelves: Vec<Shelf>,
}

/// Reads a collection.
pub(super) fn read(collection: &Collection, methods: &[Sought], progress: &dyn Progress) -> Read {
    let wants = all_wanted(methods);
    let troubles = Mutex::new(collection.troubles().to_vec());
    let mut batches: Vec<Batch> = collection
        .tasks()
        .par_bridge()
        .map(|task| {
            let (batch, trouble) = run(task, methods, wants, progress);
            if !trouble.is_empty() {
                let mut all = troubles.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(trouble);
            }
            batch
        })
        .filter(|batch| !batch.places.is_empty())
        .collect();
    batches.sort_by(|a, b| first(a).cmp(&first(b)));
    let mut places = Vec::with_capacity(batches.iter().map(|batch| batch.places.len()).sum());
    let mut shelves: Vec<Shelf> = methods.iter().map(|_| Shelf::default()).collect();
    for batch in batches {
        places.extend(batch.places);
        for (shelf, more) in shelves.iter_mut().zip(batch.shelves) {
            shelf.append(more);
        }
    }
    let mut troubles = troubles
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    Read {
        places,
        shelves,
        troubles,
    }
}

fn first(batch: &Batch) -> Option<&Location> {
    batch.places.first().map(|place| &place.location)
}

fn run(
    task: Task,
    methods: &[Sought],
    wants: Wants,
    progress: &dyn Progress,
) -> (Batch, Vec<Trouble>) {
    let mut batch = Batch {
        places: Vec::new(),
        shelves: methods.iter().map(|_| Shelf::default()).collect(),
    };
    let mut troubles = Vec::new();
    let mut bytes = 0;
    task.run(
        &mut |raw| {
            let document = read_wanted(raw.form, &raw.bytes, wants);
            for (sought, shelf) in methods.iter().zip(&mut batch.shelves) {
                sketch(&sought.method, &document, shelf);
            }
            bytes += raw.bytes.len() as u64;
            batch.places.push(Place {
                id: id(raw.form, document).map(Into::into),
                location: raw.location,
            });
        },
        &mut |trouble| troubles.push(trouble),
    );
    progress.advance(batch.places.len() as u64, bytes);
    (batch, troubles)
}

/// What a text calls itself. Ids of mail are not unique: copies of a message share them.
pub(super) fn id(form: Form, document: Document) -> Option<String> {
    match form {
        Form::Json | Form::Sgml => document.envelope.message_id,
        Form::Mail | Form::Text => None,
    }
}

/// What several methods ask for besides the text.
pub(super) fn all_wanted(methods: &[Sought]) -> Wants {
    let wants = methods.iter().map(|sought| wanted(&sought.method));
    wants.fold(Wants::default(), Wants::and)
}

/// What a method asks for besides the text.
pub(super) fn wanted(method: &Chosen) -> Wants {
    let nothing = Wants::default();
    match method {
        Chosen::Winnow(..) | Chosen::SimHash(_) => Wants {
            words: true,
            ..nothing
        },
        Chosen::Edit(_) => Wants {
            segments: true,
            ..nothing
        },
        Chosen::Layout(_) => Wants {
            layout: true,
            ..nothing
        },
        Chosen::Imatch(_) | Chosen::Blocks(_) => nothing,
    }
}

/// The sketch of a document, if the method has something to say about it.
pub(super) fn sketch_of(method: &Chosen, document: &Document) -> Option<Sketch> {
    match method {
        Chosen::Edit(edit) => edit.sketch_of_text(document),
        other => other.method().sketch(document),
    }
}

/// Sketches a document and keeps of the sketch what finding pairs needs.
fn sketch(method: &Chosen, document: &Document, shelf: &mut Shelf) {
    put(method, sketch_of(method, document), shelf);
}

/// Keeps of a sketch what finding pairs needs.
pub(super) fn put(method: &Chosen, sketch: Option<Sketch>, shelf: &mut Shelf) {
    let (keys, body) = match method {
        Chosen::Winnow(..) | Chosen::Imatch(_) => (true, false),
        Chosen::Blocks(_) | Chosen::Edit(_) => (true, true),
        Chosen::SimHash(_) | Chosen::Layout(_) => (false, true),
    };
    shelf.push(sketch, keys, body);
}
