//! Are two paths the same file?

use std::fs::Metadata;
use std::path::Path;

/// What stays the same whichever path leads to a file or folder.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

/// What stays the same whichever path leads to a file or folder.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    path: std::path::PathBuf,
}

impl Identity {
    /// The identity of what is at `path`, links followed.
    #[cfg(unix)]
    pub(crate) fn of(_path: &Path, metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// The identity of what is at `path`, links followed.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path, _metadata: &Metadata) -> Self {
        Self {
            path: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
        }
    }
}
