//! Keeps mail programs away from a file of many messages while it is replaced.
//!
//! Two ways of locking are in use, and programs honour one, the other or both: a lock file `NAME.lock` beside the mailbox, and
//! a lock of the operating system on the file (`fcntl`). Both are taken, the lock file first.
//!
//! The operating system's lock is the process's: closing *any* handle of the file gives it up. So while a mailbox is held, it is
//! read through the handle in here and no other.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

use super::super::Failure;
use super::super::disk::{Stamp, remove_if_there};

/// How long to sleep between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// A mailbox that nobody else changes.
#[derive(Debug)]
pub(super) struct Lock {
    dot: PathBuf,
    pub(super) file: File,
}

/// The lock file of a mailbox.
pub(super) fn lock_path(mailbox: &Path) -> PathBuf {
    let mut name = OsString::from(mailbox);
    name.push(".lock");
    PathBuf::from(name)
}

impl Lock {
    /// Takes both locks, or tells who is in the way.
    pub(super) fn take(mailbox: &Path, token: &str, patience: Duration) -> Result<Self, Failure> {
        let end = Instant::now() + patience;
        let dot = lock_path(mailbox);
        loop {
            match make(&dot, token) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if Instant::now() >= end {
                        return Err(in_the_way(mailbox, &dot, patience));
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(error) => {
                    return Err(Failure::new(
                        format!("{} cannot be locked: {error}", mailbox.display()),
                        "its folder must allow new files; check its rights and the room on the disk",
                    ));
                }
            }
        }
        match lock_file(mailbox, end) {
            Ok(file) => Ok(Self { dot, file }),
            Err(failure) => {
                let _ = remove_if_there(&dot);
                Err(failure)
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Ours alone: it was made by `make`, which fails if it is there.
        let _ = remove_if_there(&self.dot);
    }
}

/// Where a lock file is written before it gets its name, so that it is never there without saying whose it is.
pub(super) fn draft(dot: &Path, token: &str) -> PathBuf {
    let mut name = OsString::from(dot);
    name.push(format!(".{}", token.split(' ').next().unwrap_or_default()));
    PathBuf::from(name)
}

fn make(dot: &Path, token: &str) -> io::Result<()> {
    let draft = draft(dot, token);
    remove_if_there(&draft)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(&draft)?;
    file.write_all(token.as_bytes())?;
    let linked = fs::hard_link(&draft, dot);
    remove_if_there(&draft)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        other => return other,
    }
    // A file system without links.
    let mut file = OpenOptions::new().write(true).create_new(true).open(dot)?;
    file.write_all(token.as_bytes())
}

fn in_the_way(mailbox: &Path, dot: &Path, patience: Duration) -> Failure {
    Failure::new(
        format!(
            "{} is locked by another program ({} was there for {} s)",
            mailbox.display(),
            dot.display(),
            patience.as_secs()
        ),
        "close the mail program that uses it and start again; if none does, the lock file was left by a program that crashed, and may be removed",
    )
}

fn lock_file(mailbox: &Path, end: Instant) -> Result<File, Failure> {
    let failed = |error: &io::Error| {
        Failure::new(
            format!(
                "{} cannot be opened for writing: {error}",
                mailbox.display()
            ),
            "check its rights",
        )
    };
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(mailbox)
            .map_err(|error| failed(&error))?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let opened = file.metadata().map_err(|error| failed(&error))?;
                // Somebody may have replaced it between the opening and the lock.
                if fs::metadata(mailbox).is_ok_and(|now| Stamp::of(&opened).same_file(&now)) {
                    return Ok(file);
                }
            }
            Err(Errno::AGAIN | Errno::ACCESS) => {}
            // A file system without locks: the lock file has to do.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::INVAL) => return Ok(file),
            Err(error) => return Err(failed(&error.into())),
        }
        if Instant::now() >= end {
            return Err(Failure::new(
                format!("{} is locked by another program", mailbox.display()),
                "close the mail program that uses it, and start again",
            ));
        }
        std::thread::sleep(PAUSE);
    }
}
