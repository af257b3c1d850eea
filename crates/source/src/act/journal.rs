//! What a run is about to do and has done, written down before it is done.
//!
//! One file per run, one entry per line: sixteen hexadecimal digits, a blank, and the entry as JSON. The digits are the
//! beginning of a checksum over the digits before and the entry, so that a line that is missing, changed or
//! half written is noticed, and with it everything behind it. Every entry is on disk before the run goes on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twicetold_model::Location;

use super::disk::{Kept, folder_of, sync_folder};
use super::on_server::Place;
use super::step::Step;
use super::{Action, Watch};
use crate::checksum::Checksum;

/// The version of the format.
pub(super) const JOURNAL_VERSION: u32 = 1;

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    /// The version of the format.
    pub twicetold_journal: u32,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// What was to be done.
    pub action: Action,
    /// The plan's file.
    pub plan: Kept,
    /// The plan's checksum.
    pub seal: Checksum,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Entry {
    /// The first one.
    Run(RunHead),
    /// A lock file is about to be made, with this in it.
    Lock {
        /// The lock file.
        path: Kept,
        /// What is written into it.
        token: String,
    },
    /// A step is about to be carried out.
    Begin {
        /// The step.
        step: Step,
    },
    /// Of this step, these messages are out (or marked), and the others are as they were.
    Out {
        /// The number of the step.
        step: usize,
        /// The numbers of the messages in it.
        out: Vec<usize>,
        /// Where they are, if the step does not say it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<Place>,
    },
    /// Messages stay, because the plan no longer fits.
    Refused {
        /// The messages.
        messages: Vec<Stayed>,
    },
    /// Nothing more is to be done.
    End,
    /// The run was killed, and somebody looked how far it came.
    Settled,
    /// A step is about to be undone.
    Undo {
        /// The number of the step.
        step: usize,
    },
    /// The undoing is over.
    UndoEnd,
    /// What was deleted is gone for good.
    Forgotten,
}

/// A message that stays though a plan names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stayed {
    /// Where it is.
    pub location: Location,
    /// Why.
    pub why: String,
}

/// A journal that is being written.
pub struct Journal<'w> {
    file: File,
    end: u64,
    chain: String,
    watch: &'w dyn Watch,
}

impl<'w> Journal<'w> {
    /// Begins a journal under a name that must be free.
    pub(super) fn create(path: &Path, head: RunHead, watch: &'w dyn Watch) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let mut journal = Self {
            file,
            end: 0,
            chain: String::new(),
            watch,
        };
        sync_folder(folder_of(path))?;
        journal.append(&Entry::Run(head))?;
        Ok(journal)
    }

    /// Goes on with a journal behind its last good line.
    pub(super) fn resume(
        path: &Path,
        read: &ReadJournal,
        watch: &'w dyn Watch,
    ) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.set_len(read.end)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            end: read.end,
            chain: read.chain.clone(),
            watch,
        })
    }

    /// Adds an entry; it is on disk when this returns.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let json = serde_json::to_string(entry)?;
        let chain = link(&self.chain, json.as_bytes());
        let line = format!("{chain} {json}\n");
        let written = self.write(line.as_bytes());
        if written.is_err() {
            // A half line would hide whatever comes behind it.
            let _ = self.file.set_len(self.end);
        } else {
            self.end += line.len() as u64;
            self.chain = chain;
        }
        written
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let (front, back) = line.split_at(line.len() / 2);
        self.file.write_all(front)?;
        self.watch.reached("half a line of the journal");
        self.file.write_all(back)?;
        self.file.sync_data()?;
        self.watch.reached("a line of the journal");
        Ok(())
    }
}

fn link(before: &str, json: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(json);
    let mut digits = Checksum::from(hasher.finalize()).to_string();
    digits.truncate(16);
    digits
}

/// A journal that was read, as far as it is good.
#[derive(Debug, Default)]
pub(super) struct ReadJournal {
    pub(super) entries: Vec<Entry>,
    /// Where the good part ends.
    pub(super) end: u64,
    chain: String,
    /// Whole lines stand behind the good part: somebody changed the file.
    pub(super) damaged: bool,
}

impl ReadJournal {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = Vec::new();
        File::open(path)?.read_to_end(&mut file)?;
        Ok(Self::parse(&file))
    }

    fn parse(file: &[u8]) -> Self {
        let mut read = Self::default();
        for line in file.split_inclusive(|&byte| byte == b'\n') {
            let Some((entry, chain)) = parse_line(line, &read.chain) else {
                read.damaged = line.ends_with(b"\n");
                break;
            };
            read.entries.push(entry);
            read.chain = chain;
            read.end += line.len() as u64;
        }
        read
    }
}

fn parse_line(line: &[u8], before: &str) -> Option<(Entry, String)> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (digits, json) = line.split_once(' ')?;
    if digits != link(before, json.as_bytes()) {
        return None;
    }
    Some((serde_json::from_str(json).ok()?, digits.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::Undisturbed;
    use super::*;

    fn head() -> RunHead {
        RunHead {
            twicetold_journal: JOURNAL_VERSION,
            began: 1,
            action: Action::Trash,
            plan: Kept("p".into()),
            seal: Checksum::of(b""),
        }
    }

    #[test]
    fn what_was_written_is_read_up_to_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1");
        let mut journal = Journal::create(&path, head(), &Undisturbed).unwrap();
        for step in 0..3 {
            let out = vec![1, 2];
            let places = Vec::new();
            journal.append(&Entry::Out { step, out, places }).unwrap();
        }
        let file = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', &file).map(|at| at + 1).collect();
        assert_eq!(ends.len(), 4);
        for cut in 0..=file.len() {
            let read = ReadJournal::parse(&file[..cut]);
            assert_eq!(
                read.entries.len(),
                ends.iter().filter(|&&e| e <= cut).count()
            );
            assert!(!read.damaged, "a torn line is no damage: {cut}");
        }
        let without_a_line = [&file[..ends[0]], &file[ends[1]..]].concat();
        let read = ReadJournal::parse(&without_a_line);
        assert_eq!((read.entries.len(), read.damaged), (1, true));
        std::fs::write(&path, &file[..ends[2] + 7]).unwrap();
        let read = ReadJournal::open(&path).unwrap();
        let mut again = Journal::resume(&path, &read, &Undisturbed).unwrap();
        again.append(&Entry::End).unwrap();
        let read = ReadJournal::open(&path).unwrap();
        assert_eq!(read.entries.len(), 4);
        assert_eq!(read.entries[3], Entry::End);
    }
}
