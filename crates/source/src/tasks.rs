//! Cuts the work to be done into tasks.

use std::sync::Arc;

use crate::STREAM_ABOVE;
use crate::listing::{Entry, Listing};
use crate::stream::{Limits, Stream};
use crate::task::Task;
use crate::trouble::Trouble;

/// Files in one task at the most.
const FILES: usize = 128;
/// Bytes of files in one task, more or less.
const BYTES: u64 = 4 << 20;

/// The tasks in the order of the paths.
#[derive(Debug)]
pub(crate) struct Tasks<'a> {
    listing: &'a Arc<Listing>,
    next: usize,
    stream: Option<Stream>,
}

impl<'a> Tasks<'a> {
    pub(crate) fn new(listing: &'a Arc<Listing>) -> Self {
        Self {
            listing,
            next: 0,
            stream: None,
        }
    }

    /// Takes as many files as make a task, up to the next one that is to be streamed.
    fn files(&mut self) -> Task {
        let start = self.next;
        let mut bytes = 0;
        for entry in &self.listing.entries[start..] {
            let full = self.next - start >= FILES || bytes >= BYTES;
            if full || is_streamed(entry) {
                break;
            }
            bytes += entry.size;
            self.next += 1;
        }
        Task::files(Arc::clone(self.listing), start..self.next)
    }
}

fn is_streamed(entry: &Entry) -> bool {
    entry.container.is_some() && entry.size > STREAM_ABOVE
}

impl Iterator for Tasks<'_> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        loop {
            if let Some(task) = self.stream.as_mut().and_then(Stream::next) {
                return Some(task);
            }
            self.stream = None;
            let entry = self.listing.entries.get(self.next)?;
            let Some(container) = entry.container.filter(|_| is_streamed(entry)) else {
                return Some(self.files());
            };
            self.next += 1;
            let shown = self.listing.shown(entry);
            match Stream::open(&self.listing.path(entry), &shown, container, Limits::USUAL) {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => return Some(Task::trouble(Trouble::reading(&shown, &error))),
            }
        }
    }
}
