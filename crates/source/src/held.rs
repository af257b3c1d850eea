//! Messages that somebody holds in memory, as a collection.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use twicetold_model::{Location, RawMessage};

use crate::task::Task;

/// Messages in one task at the most.
const MESSAGES: usize = 128;

/// Messages in memory, sorted by location, each location once.
#[derive(Debug, Default)]
pub(crate) struct Held {
    messages: Vec<RawMessage<'static>>,
}

impl Held {
    pub(crate) fn new(mut messages: Vec<RawMessage<'static>>) -> Self {
        messages.sort_by(|a, b| a.location.cmp(&b.location));
        messages.dedup_by(|later, first| later.location == first.location);
        Self { messages }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        let bytes = self.messages.iter().map(|message| message.bytes.len());
        bytes.map(|bytes| bytes as u64).sum()
    }

    pub(crate) fn find(&self, location: &Location) -> Option<&RawMessage<'static>> {
        let place = |message: &RawMessage<'_>| message.location.cmp(location);
        let found = self.messages.binary_search_by(place).ok()?;
        self.messages.get(found)
    }

    /// The work of handing them out.
    pub(crate) fn tasks(held: &Arc<Self>) -> impl Iterator<Item = Task> + Send + use<> {
        let held = Arc::clone(held);
        let count = held.messages.len();
        (0..count).step_by(MESSAGES).map(move |start| {
            let some = start..count.min(start + MESSAGES);
            Task::held(Arc::clone(&held), some)
        })
    }

    pub(crate) fn hand_out(&self, some: Range<usize>, each: &mut dyn FnMut(RawMessage<'_>)) {
        for message in self.messages.get(some).unwrap_or_default() {
            each(RawMessage {
                location: message.location.clone(),
                form: message.form,
                bytes: Cow::Borrowed(&message.bytes),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use twicetold_model::Form;

    use super::*;

    fn message(path: &str, bytes: &'static [u8]) -> RawMessage<'static> {
        RawMessage {
            location: Location {
                path: path.to_owned(),
                offset: None,
            },
            form: Form::Text,
            bytes: Cow::Borrowed(bytes),
        }
    }

    #[test]
    fn each_location_is_handed_out_once_in_order() {
        let mut messages: Vec<_> = (0..300)
            .rev()
            .map(|n| message(&format!("{n:03}"), b"text"))
            .collect();
        messages.push(message("007", b"a later one"));
        let held = Arc::new(Held::new(messages));
        let mut paths = Vec::new();
        for task in Held::tasks(&held) {
            task.run(&mut |raw| paths.push(raw.location.path), &mut |trouble| {
                panic!("{trouble:?}")
            });
        }
        let expected: Vec<String> = (0..300).map(|n| format!("{n:03}")).collect();
        assert_eq!(paths, expected);
        assert_eq!(held.total_bytes(), 1200);
        let found = held.find(&message("007", b"").location).unwrap();
        assert_eq!(&*found.bytes, b"text");
        assert!(held.find(&message("7", b"").location).is_none());
    }
}
