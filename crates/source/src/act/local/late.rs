//! Mail that came too late.
//!
//! A program that opened a mailbox, and then waited for our lock on it, writes to the file that had the name when it was
//! opened: a file that nobody will see again. So the old file is kept open for a while, and what was added to it is added to the new one.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::super::disk::copy_exactly;
use super::lock::Lock;

/// How many old files are kept open at the most.
pub(super) const MOST: usize = 32;
/// How long a program that waited for our lock may take to write.
const WAIT: Duration = Duration::from_millis(50);

/// A file whose name another one has now.
#[derive(Debug)]
pub(super) struct Late {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Late {
    pub(super) fn new(path: PathBuf, file: File, bytes: u64) -> Self {
        Self { path, file, bytes }
    }

    /// Adds what came too late to the file that has the name now; tells how much it was.
    fn rescue(&mut self, token: &str, patience: Duration) -> io::Result<u64> {
        let now = self.file.metadata()?.len();
        let Some(more) = now.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(0);
        };
        let _lock = Lock::take(&self.path, token, patience).map_err(io::Error::other)?;
        let mut mailbox = OpenOptions::new().append(true).open(&self.path)?;
        self.file.seek(SeekFrom::Start(self.bytes))?;
        copy_exactly(&mut self.file, more, &mut mailbox)?;
        mailbox.flush()?;
        mailbox.sync_all()?;
        Ok(more)
    }
}

/// Looks after files that were replaced.
pub(super) fn rescue(late: Vec<Late>, token: &str, patience: Duration) -> Vec<String> {
    if !late.is_empty() {
        std::thread::sleep(WAIT);
    }
    let mut told = Vec::new();
    for mut one in late {
        match one.rescue(token, patience) {
            Ok(0) => {}
            Ok(_) => told.push(format!(
                "mail that was delivered to {} meanwhile was added to it",
                one.path.display()
            )),
            Err(error) => told.push(format!(
                "mail that was delivered to {} meanwhile could not be added to it: {error}",
                one.path.display()
            )),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_the_old_file_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box");
        std::fs::write(&path, "old and long").unwrap();
        let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
        let late = Late::new(path.clone(), File::open(&path).unwrap(), 12);
        let quiet = Late::new(path.clone(), File::open(&path).unwrap(), 16);
        std::fs::write(folder.path().join("new"), "new").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        writer.write_all(b" mail").unwrap();
        let told = rescue(vec![late], "1 test", Duration::ZERO);
        assert_eq!(told.len(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new mail");
        drop(quiet);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
