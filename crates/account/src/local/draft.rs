//! A message that is arriving: a file in `tmp`, which is nobody's message until it is whole.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::fault::Fault;
use crate::wire::Sink;

/// How names of drafts begin; leftovers of these are removed.
pub(crate) const PREFIX: &str = "twicetold-";

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A message that is arriving. Dropped before it is kept, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    file: Option<File>,
    size: u64,
    hasher: Option<Box<blake3::Hasher>>,
}

impl Draft {
    /// Begins a draft in a Maildir. Its checksum is taken along if it will be asked for.
    pub(crate) fn begin(maildir: &Path, with_checksum: bool) -> Result<Self, Fault> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{count}", std::process::id());
        let path = maildir.join("tmp").join(name);
        let file = super::create_private_file(&path)
            .map_err(|error| Fault::local("write", &path, error))?;
        Ok(Self {
            path,
            file: Some(file),
            size: 0,
            hasher: with_checksum.then(Box::default),
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The checksum of what has arrived, if it was wanted.
    pub(crate) fn checksum(&self) -> Option<blake3::Hash> {
        self.hasher.as_ref().map(|hasher| hasher.finalize())
    }

    /// Gives the message its date and its place.
    pub(crate) fn keep(mut self, place: &Path, date: Option<i64>) -> Result<(), Fault> {
        if let (Some(file), Some(date)) = (&self.file, date) {
            // A date that the file system cannot hold is no reason to lose the message.
            let _ = file.set_modified(moment(date));
        }
        self.file = None;
        fs::rename(&self.path, place).map_err(|error| Fault::local("write", place, error))?;
        self.path = PathBuf::new();
        Ok(())
    }
}

fn moment(date: i64) -> SystemTime {
    let length = Duration::from_secs(date.unsigned_abs());
    let moment = if date < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(length)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(length)
    };
    moment.unwrap_or(SystemTime::UNIX_EPOCH)
}

impl Sink for Draft {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        self.size += bytes.len() as u64;
        match &mut self.file {
            Some(file) => file
                .write_all(bytes)
                .map_err(|error| Fault::local("write", &self.path, error)),
            None => Ok(()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            self.file = None;
            let _ = fs::remove_file(&self.path);
        }
    }
}
