//! The sketches that `pairs` would make, handed out one by one: for an engine that finds pairs elsewhere.
//!
//! Nothing is kept. A few tasks are read at a time, on all threads, and what they make is handed out in the order of the collection before the
//! next ones begin.

use rayon::prelude::*;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::catalogue::Chosen;
use twicetold_model::{Form, Location, Problem, RawMessage, Sketch};
use twicetold_source::{Collection, Task, Trouble};

use super::reading::{id, sketch_of, wanted};
use crate::progress::{Progress, Stage};

/// How many tasks are read at a time for each thread: enough that a long one does not keep the others waiting for long.
const AT_ONCE: usize = 4;

/// A method, ready to sketch.
#[derive(Clone, Debug)]
pub struct Sketcher {
    method: Chosen,
    wants: Wants,
}

/// A text and what the method keeps of it.
#[derive(Clone, Debug)]
pub struct Sketched {
    /// Where it stands.
    pub location: Location,
    /// What it calls itself: the id of a JSON line or of a Reuters story.
    pub id: Option<String>,
    /// How its bytes are understood.
    pub form: Form,
    /// How many bytes it has.
    pub bytes: u64,
    /// What the method keeps of it; `None` if the method has nothing to say about it.
    pub sketch: Option<Sketch>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// What is met on the way through a collection.
#[derive(Debug)]
pub enum Met<'a> {
    /// A text, and its bytes.
    Text(Sketched, &'a [u8]),
    /// A file or folder that could not be used as it was meant.
    Trouble(Trouble),
}

impl Sketcher {
    /// Sketches by this method.
    pub fn new(method: Chosen) -> Self {
        let wants = wanted(&method);
        Self { method, wants }
    }

    /// Sketches a text as `pairs` does.
    pub fn sketch(&self, raw: &RawMessage<'_>) -> Sketched {
        let mut document = read_wanted(raw.form, &raw.bytes, self.wants);
        let sketch = sketch_of(&self.method, &document);
        Sketched {
            location: raw.location.clone(),
            form: raw.form,
            bytes: raw.bytes.len() as u64,
            sketch,
            problems: std::mem::take(&mut document.problems),
            id: id(raw.form, document),
        }
    }
}

/// Sketches every text of a collection, by a [`Sketcher`] or in another way. `make` is called on all threads, what it made is given to `take` in the order of the collection, the
/// same whatever the number of threads. Ends early if `take` fails.
///
/// # Errors
/// Whatever `take` fails with.
pub fn sketch_each<T: Send, E>(
    collection: &Collection,
    sketch: impl Fn(&RawMessage<'_>) -> Sketched + Sync,
    progress: &dyn Progress,
    make: impl Fn(Met<'_>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    progress.begin(Stage::Reading, collection.total_bytes());
    for trouble in collection.troubles() {
        take(make(Met::Trouble(trouble.clone())))?;
    }
    let mut tasks = collection.tasks();
    loop {
        let some: Vec<Task> = tasks
            .by_ref()
            .take(AT_ONCE * rayon::current_num_threads())
            .collect();
        if some.is_empty() {
            return Ok(());
        }
        let made: Vec<Vec<T>> = some
            .into_par_iter()
            .map(|task| run(task, &sketch, progress, &make))
            .collect();
        made.into_iter().flatten().try_for_each(&mut take)?;
    }
}

fn run<T>(
    task: Task,
    sketch: &impl Fn(&RawMessage<'_>) -> Sketched,
    progress: &dyn Progress,
    make: &impl Fn(Met<'_>) -> T,
) -> Vec<T> {
    let made = std::cell::RefCell::new(Vec::new());
    task.run(
        &mut |raw| {
            let sketched = sketch(&raw);
            progress.advance(1, sketched.bytes);
            made.borrow_mut()
                .push(make(Met::Text(sketched, &raw.bytes)));
        },
        &mut |trouble| made.borrow_mut().push(make(Met::Trouble(trouble))),
    );
    made.into_inner()
}
