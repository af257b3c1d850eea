//! Changing files so that a power cut at any moment leaves either the old or the new.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::checksum::Checksum;
use crate::listing::{real_path, shown_path};

/// A path that can be written to a journal, whatever its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kept(pub PathBuf);

impl std::ops::Deref for Kept {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Kept {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&shown_path(&self.0))
    }
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(real_path(&String::deserialize(deserializer)?)))
    }
}

/// A file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// How many bytes it has.
    pub bytes: u64,
    /// Their checksum.
    pub checksum: Checksum,
}

/// When a file was last written: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment(pub i64, pub u32);

impl Moment {
    pub(super) fn modified(metadata: &Metadata) -> Self {
        Self(
            metadata.mtime(),
            u32::try_from(metadata.mtime_nsec()).unwrap_or(0),
        )
    }

    fn accessed(metadata: &Metadata) -> Self {
        Self(
            metadata.atime(),
            u32::try_from(metadata.atime_nsec()).unwrap_or(0),
        )
    }

    fn time(self) -> SystemTime {
        let nanos = Duration::from_nanos(u64::from(self.1));
        match u64::try_from(self.0) {
            Ok(seconds) => UNIX_EPOCH + Duration::from_secs(seconds) + nanos,
            Err(_) => UNIX_EPOCH - Duration::from_secs(self.0.unsigned_abs()) + nanos,
        }
    }
}

/// What changes when somebody else writes to a file or replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: Moment,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: Moment::modified(metadata),
        }
    }

    /// Whether it is the same file, be it written to.
    pub(super) fn same_file(self, metadata: &Metadata) -> bool {
        self.device == metadata.dev() && self.inode == metadata.ino()
    }
}

/// Makes sure that what was made, renamed or removed in a folder stays so.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder of a path, `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Whether there is anything at this path, a link that leads nowhere included.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Gives a file another name, unless that name is taken.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::io::Errno;
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A file system that cannot say "unless taken": a second name says it, and both names together are noticed later.
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::XDEV) => Err(error),
        Err(_) if is_there(to) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Reads a file and tells what it is as a whole.
pub(super) fn whole(path: &Path) -> io::Result<Whole> {
    let mut hasher = Hashing::new(io::sink());
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.whole())
}

/// Counts and hashes what is written through it.
pub(super) struct Hashing<W> {
    inner: W,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    pub(super) fn new(inner: W) -> Self {
        Self {
            inner,
            hasher: blake3::Hasher::new(),
            bytes: 0,
        }
    }

    pub(super) fn whole(&self) -> Whole {
        Whole {
            bytes: self.bytes,
            checksum: self.hasher.finalize().into(),
        }
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Makes a new file with the owner and the rights of another one; nobody else can read it before it has them.
pub(super) fn create_like(path: &Path, like: &Metadata) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .read(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (like.uid(), like.gid()) {
        std::os::unix::fs::fchown(&file, Some(like.uid()), Some(like.gid()))?;
    }
    file.set_permissions(fs::Permissions::from_mode(like.mode() & 0o7777))?;
    Ok(file)
}

/// Gives a file the times of another one.
pub(super) fn set_times_like(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_times(
        fs::FileTimes::new()
            .set_accessed(Moment::accessed(like).time())
            .set_modified(Moment::modified(like).time()),
    )
}

/// Says when a file was last written.
pub(super) fn set_modified(file: &File, moment: Moment) -> io::Result<()> {
    file.set_modified(moment.time())
}

/// Copies a file to a name that is free, by way of `draft`; the copy is complete and on disk when it gets its name.
pub(super) fn copy_new(from: &Path, to: &Path, draft: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let like = source.metadata()?;
    // A draft under our own name is what a killed run left.
    remove_if_there(draft)?;
    let mut copy = create_like(draft, &like)?;
    io::copy(&mut source, &mut copy)?;
    set_times_like(&copy, &like)?;
    copy.sync_all()?;
    rename_new(draft, to)?;
    sync_folder(folder_of(to))
}

/// Removes a file, if it is there.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies so many bytes and no fewer.
pub(super) fn copy_exactly(from: &mut dyn Read, bytes: u64, to: &mut dyn Write) -> io::Result<()> {
    let copied = io::copy(&mut from.take(bytes), to)?;
    if copied == bytes {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
