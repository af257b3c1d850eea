//! Room on the disk: what a file system promises.
//!
//! Writing to memory cannot fail, so nothing may be missing on the disk when somebody writes to a piece of the file: the room is reserved before, and only
//! where a file system keeps such a promise.

use std::fs::File;
use std::io;

/// What a file system does for a file.
pub(crate) struct Promise {
    /// What is of no use any more can be told, and the room stays reserved.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    keeps_room: bool,
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::{
        FallocateFlags, IFlags, fallocate, fstatfs, fstatvfs, ioctl_getflags, ioctl_setflags,
    };
    use rustix::process::{Resource, getrlimit};

    use super::*;

    const BTRFS: u64 = 0x9123_683e;
    const EXT: u64 = 0xef53;
    const OVERLAY: u64 = 0x794c_7630;
    const TMPFS: u64 = 0x0102_1994;
    const XFS: u64 = 0x5846_5342;

    /// So much of a disk is left to others.
    const LEFT: u64 = 64 << 20;

    impl Promise {
        /// What the file system of a new file promises.
        pub(crate) fn of(file: &File) -> io::Result<Self> {
            // Some write to a new place what was written before: there may be no room for that. They can be told not to while a file is empty.
            let flags = ioctl_getflags(file);
            let in_place = flags.and_then(|flags| ioctl_setflags(file, flags | IFlags::NOCOW));
            let keeps_room = match fstatfs(file)?.f_type as u64 & 0xffff_ffff {
                EXT => true,
                TMPFS | OVERLAY => false,
                // What is reserved anew may be somebody else's by then.
                XFS => false,
                BTRFS if in_place.is_ok() => false,
                _ => {
                    let why = "its file system does not promise room";
                    return Err(io::Error::new(io::ErrorKind::Unsupported, why));
                }
            };
            Ok(Self { keeps_room })
        }

        /// Makes a file longer, with room on the disk for all of it.
        pub(crate) fn reserve(&self, file: &File, from: u64, size: u64) -> io::Result<()> {
            let longest = getrlimit(Resource::Fsize).current;
            if longest.is_some_and(|longest| from + size > longest) {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let disk = fstatvfs(file)?;
            if disk.f_bavail.saturating_mul(disk.f_frsize) < size + LEFT {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let reserved = fallocate(file, FallocateFlags::empty(), from, size);
            if reserved.is_err() {
                // A part of it may have been reserved.
                file.set_len(from)?;
            }
            Ok(reserved?)
        }

        /// Tells the system that what stands in a part of the file is of no use any more: it need not be written to the disk. It can be written to
        /// again; what can be read there until then is not known.
        pub(crate) fn release(&self, file: &File, from: u64, size: u64) {
            if self.keeps_room {
                let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
                // Else it is written, and nobody reads it.
                let _ = fallocate(file, flags, from, size);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Promise {
    /// It is not known what other systems promise: nothing stands in a file there.
    pub(crate) fn of(_: &File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn reserve(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn release(&self, _: &File, _: u64, _: u64) {}
}
