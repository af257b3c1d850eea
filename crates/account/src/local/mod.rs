//! The mail of an account on this machine: a Maildir++ whose root is the inbox, with a note beside
//! each folder of what was fetched.

pub(crate) mod draft;
pub(crate) mod flags;
pub(crate) mod folder;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod state;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// Makes a folder, and those above it, for its owner alone.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Makes a file, or empties it, for its owner alone.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Waits until what was written below a folder is on the disk, files and names.
pub(crate) fn settle(folder: &Path, files: &[PathBuf]) -> Result<(), Fault> {
    let failed = |path: &Path, error| Fault::local("write", path, error);
    #[cfg(target_os = "linux")]
    {
        // One call for all of them: syncing thousands of small files one by one takes far longer.
        let _ = files;
        let handle = File::open(folder).map_err(|error| failed(folder, error))?;
        rustix::fs::syncfs(handle).map_err(|error| failed(folder, error.into()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        for file in files {
            File::open(file)
                .and_then(|file| file.sync_all())
                .map_err(|error| failed(file, error))?;
        }
        // Not every system lets folders be opened.
        if let Ok(handle) = File::open(folder.join("cur")) {
            let _ = handle.sync_all();
        }
        Ok(())
    }
}

/// The local mail of an account, held by one program at a time.
#[derive(Debug)]
pub(crate) struct LocalAccount {
    pub(crate) root: PathBuf,
    /// Held for as long as this is: the system gives it back, however the program ends.
    _lock: File,
}

impl LocalAccount {
    /// Opens the local mail at `root`, which is made if it is not there.
    pub(crate) fn open(root: &Path) -> Result<Self, Fault> {
        create_private_folder(root).map_err(|error| Fault::local("make", root, error))?;
        let path = root.join(".twicetold-lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| Fault::local("write", &path, error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                root: root.to_owned(),
                _lock: lock,
            }),
            Err(fs::TryLockError::WouldBlock) => Err(Fault::Busy {
                path: root.to_owned(),
            }),
            Err(fs::TryLockError::Error(error)) => Err(Fault::local("lock", &path, error)),
        }
    }
}

/// The folders of an account that were fetched: their names on the server, and their Maildirs here.
///
/// # Errors
///
/// If the local mail is there and cannot be read.
pub fn fetched_folders(root: &Path) -> Result<Vec<(String, PathBuf)>, Fault> {
    let mut found: Vec<(String, PathBuf)> = fetched_states(root)?
        .into_iter()
        .map(|(path, state)| (state.folder, path))
        .collect();
    found.sort();
    Ok(found)
}

/// The Maildirs that were fetched, and what is noted about them.
pub(crate) fn fetched_states(root: &Path) -> Result<Vec<(PathBuf, state::State)>, Fault> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(Fault::local("read", root, error)),
    };
    let mut maildirs = vec![root.to_owned()];
    for entry in entries {
        let entry = entry.map_err(|error| Fault::local("read", root, error))?;
        if entry.file_name().to_string_lossy().starts_with('.') && entry.path().is_dir() {
            maildirs.push(entry.path());
        }
    }
    for maildir in maildirs {
        if let Some(state) = state::State::read(&maildir)? {
            found.push((maildir, state));
        }
    }
    Ok(found)
}
