//! Memory that stands in a file.

use std::fs::{self, File, OpenOptions};
use std::hint;
use std::io;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use dlmalloc::{Allocator, Dlmalloc};
use memmap2::{MmapOptions, MmapRaw};

/// So many addresses are set aside for the file; it never gets longer.
const LONGEST: usize = 1 << 38;
/// The file grows by so many bytes, or by what is asked for if that is more.
const GROWS_BY: usize = 32 << 20;

/// Pages of memory are no larger than this anywhere.
const PAGE: usize = 1 << 16;

/// The file, once there is one.
static MAPPED: OnceLock<Mapped> = OnceLock::new();
/// Where its addresses begin.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// How long it is: pieces stand before its end. Whoever is given one by another thread knows of the end that it stands before.
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// It could not become longer: nobody asks again, since each answer takes a while.
static FULL: AtomicBool = AtomicBool::new(false);

struct Mapped {
    file: File,
    map: MmapRaw,
}

/// Makes the file, unless there is one.
pub(crate) fn open(folder: &Path) -> io::Result<()> {
    if MAPPED.get().is_none() {
        let mapped = Mapped::new(folder)?;
        let mapped = MAPPED.get_or_init(|| mapped);
        BASE.store(mapped.map.as_ptr() as usize, Ordering::Release);
    }
    FULL.store(false, Ordering::Relaxed);
    Ok(())
}

/// How long the file is.
pub(crate) fn size() -> u64 {
    LENGTH.load(Ordering::Relaxed) as u64
}

/// Whether it could not become longer when it was to.
pub(crate) fn is_full() -> bool {
    FULL.load(Ordering::Relaxed)
}

impl Mapped {
    fn new(folder: &Path) -> io::Result<Self> {
        let file = nameless(folder)?;
        // A file system that cannot promise room is told from one that has none: here, not when memory is wanted.
        reserve(&file, 0, PAGE as u64)?;
        // Addresses behind the end of the file are set aside, and used when it has grown.
        let map = MmapOptions::new().len(LONGEST).map_raw(&file)?;
        Ok(Self { file, map })
    }
}

/// A new file that has no name: nobody else can open it, and it is gone with the process.
fn nameless(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut attempts = 0..16_u32;
    loop {
        let attempt = attempts.next().ok_or(io::ErrorKind::AlreadyExists)?;
        let name = format!("twicetold-memory-{}-{attempt}", std::process::id());
        let path = folder.join(name);
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
        }
    }
}

/// Where pieces of the file are handed out.
pub(crate) struct Source;

// SAFETY: every piece that `alloc` returns lies inside the mapping, behind all pieces before it, and in a part of the file that is there: it can be
// read and written as long as the process lives, since neither the mapping nor the file are ever taken back.
unsafe impl Allocator for Source {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let nothing = (ptr::null_mut(), 0, 0);
        let length = LENGTH.load(Ordering::Relaxed);
        let size = size.max(GROWS_BY);
        let may_grow = !FULL.load(Ordering::Relaxed) && size <= LONGEST - length;
        let Some(mapped) = MAPPED.get().filter(|_| may_grow) else {
            return nothing;
        };
        if reserve(&mapped.file, length as u64, size as u64).is_err() {
            FULL.store(true, Ordering::Relaxed);
            return nothing;
        }
        LENGTH.store(length + size, Ordering::Relaxed);
        // In bounds: `length` is below `LONGEST`, for which addresses have been set aside.
        (mapped.map.as_mut_ptr().wrapping_add(length), size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        false
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}

/// Makes a file longer, with room on the disk for all of it: writing to memory cannot fail, so nothing may be missing then.
#[cfg(unix)]
fn reserve(file: &File, from: u64, size: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    Ok(fallocate(file, FallocateFlags::empty(), from, size)?)
}

/// Tells the system that what stands in a piece of the file is of no use any more: it need not be written to the disk. The room there stays, so it can be
/// written to again; what can be read there until then is not known.
#[cfg(unix)]
pub(crate) fn release(piece: usize, size: usize) {
    use rustix::fs::{FallocateFlags, fallocate};
    let place = piece - BASE.load(Ordering::Relaxed);
    // Pages that others have a share in stay.
    let (from, to) = (place.next_multiple_of(PAGE), (place + size) / PAGE * PAGE);
    if let Some(mapped) = MAPPED.get()
        && from < to
    {
        let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
        // Where a file system cannot do that, it writes what nobody reads.
        let _ = fallocate(&mapped.file, flags, from as u64, (to - from) as u64);
    }
}

/// Elsewhere nothing stands in a file.
#[cfg(not(unix))]
pub(crate) fn release(_: usize, _: usize) {}

/// Elsewhere nothing stands in a file.
#[cfg(not(unix))]
fn reserve(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Who hands out pieces; one thread at a time.
pub(crate) struct Pieces(std::cell::UnsafeCell<Dlmalloc<Source>>, AtomicBool);

// SAFETY: only `with` looks at what is inside, and lets one thread in at a time.
unsafe impl Sync for Pieces {}

/// The pieces of the file.
pub(crate) static PIECES: Pieces = Pieces::new();

impl Pieces {
    const fn new() -> Self {
        let pieces = Dlmalloc::new_with_allocator(Source);
        Self(std::cell::UnsafeCell::new(pieces), AtomicBool::new(false))
    }

    /// Whether a piece stands in the file.
    #[inline]
    pub(crate) fn have(&self, piece: *mut u8) -> bool {
        // Addresses below the base wrap around to large numbers; as long as there is no file, it has no length.
        (piece as usize).wrapping_sub(BASE.load(Ordering::Relaxed)) < LENGTH.load(Ordering::Relaxed)
    }

    /// A lock of the system might ask for memory itself; this one is held for some hundred steps.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Dlmalloc<Source>) -> T) -> T {
        let Self(pieces, busy) = self;
        let mut tries = 0;
        while busy.swap(true, Ordering::Acquire) {
            tries += 1;
            match tries % 64 {
                0 => thread::yield_now(),
                _ => hint::spin_loop(),
            }
        }
        // SAFETY: whoever finds `busy` unset has set it, and nobody else comes here before it is unset.
        let done = act(unsafe { &mut *pieces.get() });
        busy.store(false, Ordering::Release);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_there_is_no_file_no_piece_stands_in_it() {
        for address in [0, 16, 1 << 20, LONGEST - 1, LONGEST, usize::MAX] {
            let piece = ptr::without_provenance_mut(address);
            assert!(!PIECES.have(piece), "{address:x}");
        }
    }
}
