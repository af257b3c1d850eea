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
pub(crate) struct Tasks<'a, W> {
    listing: &'a Arc<Listing>,
    /// Which files are to be read, by their place in the listing.
    wanted: W,
    next: usize,
    stream: Option<Stream>,
}

impl<'a, W: Fn(usize) -> bool> Tasks<'a, W> {
    pub(crate) fn new(listing: &'a Arc<Listing>, wanted: W) -> Self {
        Self {
            listing,
            wanted,
            next: 0,
            stream: None,
        }
    }

    /// Takes as many files as make a task, up to the next one that is to be streamed.
    fn files(&mut self) -> Task {
        let mut files = Vec::new();
        let mut bytes = 0;
        for entry in &self.listing.entries[self.next..] {
            let full = files.len() >= FILES || bytes >= BYTES;
            if full || is_streamed(entry) {
                break;
            }
            self.next += 1;
            if (self.wanted)(self.next - 1) {
                bytes += entry.stamp.size;
                files.push(self.next - 1);
            }
        }
        Task::files(Arc::clone(self.listing), files)
    }
}

fn is_streamed(entry: &Entry) -> bool {
    entry.container.is_some() && entry.stamp.size > STREAM_ABOVE
}

impl<W: Fn(usize) -> bool> Iterator for Tasks<'_, W> {
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
            if !(self.wanted)(self.next - 1) {
                continue;
            }
            let shown = self.listing.shown(entry);
            match Stream::open(&self.listing.path(entry), &shown, container, Limits::USUAL) {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => return Some(Task::trouble(Trouble::reading(&shown, &error))),
            }
        }
    }
}
