//! What does a report show of each message, when everything is decided?

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use twicetold_model::{Form, Location, Verdict};
use twicetold_source::Again;

use crate::aside::{Onward, Stored};
use crate::record::Record;
use crate::said::Said;
use crate::scan::ScannedMessage;
use crate::seldom::Shown;

/// What is left of a record when everything is decided.
pub(crate) struct Left {
    location: Location,
    form: Form,
    bytes: u64,
    date: Option<i64>,
    seldom: Stored,
}

impl Left {
    /// Lets the rest go.
    pub(crate) fn of(record: Record) -> Self {
        // Of what several have said each has its own to show.
        let shown_of = |own: Option<Box<Stored>>, said: Arc<Said>| match own {
            Some(own) => *own,
            None => {
                Arc::try_unwrap(said).map_or_else(|said| said.seldom.to_show(), |said| said.seldom)
            }
        };
        Self {
            location: record.location,
            form: record.form,
            bytes: record.bytes,
            date: record.date,
            seldom: shown_of(record.shown, record.said),
        }
    }

    /// Where the message stands.
    pub(crate) fn into_location(self) -> Location {
        self.location
    }

    /// The message as a report shows it.
    pub(crate) fn into_message(
        self,
        verdict: Verdict,
        residue: Vec<String>,
        onward: &mut Onward<'_>,
        again: &Again<'_>,
    ) -> ScannedMessage {
        let shown = onward.take_shown(self.seldom);
        // What cannot be read back from where it was put stands in the message still.
        let shown = shown.unwrap_or_else(|| {
            let raw = again.read(&self.location, self.bytes);
            raw.map_or_else(|_| Shown::lost(), |raw| Shown::of(&raw))
        });
        ScannedMessage {
            location: self.location,
            form: self.form,
            bytes: self.bytes,
            message_id: shown.message_id,
            subject: shown.subject,
            from: shown.from,
            date: self.date,
            thread: None,
            verdict,
            residue,
            problems: shown.problems,
        }
    }
}

/// How conversations are called.
pub(crate) enum Called {
    /// By these names.
    Known(HashMap<u32, Arc<str>, FixedState>),
    /// Each after one of its messages.
    After(HashMap<u32, u32, FixedState>),
}

impl Called {
    /// Each conversation of at least two messages is called after the earliest one that has a Message-ID, or else after its first.
    pub(crate) fn after(records: &[Record], threads: &[u32]) -> Self {
        let begins = |&n: &u32| {
            let r = &records[n as usize];
            (
                r.id.is_none(),
                !r.references.is_empty(),
                r.date.is_none(),
                r.date,
                &r.location,
            )
        };
        // For each conversation its first message so far, if one has been met, and whether that was the only one.
        let room = threads.iter().max().map_or(0, |&most| most as usize + 1);
        let mut met: Vec<Option<(u32, bool)>> = vec![None; room];
        for (n, &thread) in (0..).zip(threads) {
            let met = &mut met[thread as usize];
            *met = Some(match *met {
                None => (n, true),
                Some((first, _)) if begins(&first) <= begins(&n) => (first, false),
                Some(_) => (n, false),
            });
        }
        let several = (0..).zip(met).filter_map(|(thread, met)| {
            let (first, alone) = met?;
            (!alone).then_some((thread, first))
        });
        Self::After(several.collect())
    }

    /// The name of each: the Message-ID of the one it is called after, or else where that one stands.
    pub(crate) fn names(self, messages: &[ScannedMessage]) -> HashMap<u32, Arc<str>, FixedState> {
        let name = |m: &ScannedMessage| match &m.message_id {
            Some(id) => id.as_str().into(),
            None => m.location.to_string().into(),
        };
        match self {
            Self::Known(names) => names,
            Self::After(messages_of) => messages_of
                .into_iter()
                .map(|(thread, m)| (thread, name(&messages[m as usize])))
                .collect(),
        }
    }
}
