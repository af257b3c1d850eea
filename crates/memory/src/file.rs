//! Memory that stands in a file.

use std::cell::UnsafeCell;
use std::fs::File;
use std::hint;
use std::io;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use dlmalloc::{Allocator, Dlmalloc};
use memmap2::{MmapOptions, MmapRaw};

use crate::disk::Promise;

/// So many addresses are set aside for the file, if there are so many: a quarter of a terabyte.
const ADDRESSES: usize = 1 << if usize::BITS < 64 { 30 } else { 38 };
/// With fewer there is no file.
const FEWEST: usize = 1 << 28;
/// The file grows by so many bytes, or by what is asked for if that is more.
const GROWS_BY: usize = 32 << 20;
/// Pages of memory are no larger than this anywhere.
const PAGE: usize = 1 << 16;

/// The file, once there is one.
static MAPPED: OnceLock<Mapped> = OnceLock::new();
/// Where its addresses begin. It is set before anybody can get hold of a piece.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// How long it is: pieces stand before its end. Whoever is given one by another thread knows of the end that it stands before.
static LENGTH: AtomicUsize = AtomicUsize::new(0);
/// It could not become longer: nobody asks again, since each answer takes a while.
static FULL: AtomicBool = AtomicBool::new(false);

struct Mapped {
    file: File,
    promise: Promise,
    /// It never gets longer than this.
    map: MmapRaw,
}

/// Makes the file, unless there is one.
pub(crate) fn open(folder: &Path) -> io::Result<()> {
    if MAPPED.get().is_none() {
        let mapped = Mapped::new(folder)?;
        MAPPED.get_or_init(|| {
            BASE.store(mapped.map.as_ptr() as usize, Ordering::Relaxed);
            mapped
        });
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

/// Tells the system that what stands in a piece of the file is of no use any more.
pub(crate) fn release(piece: *mut u8, size: usize) {
    let place = piece as usize - BASE.load(Ordering::Relaxed);
    // Pages that others have a share in stay.
    let (from, to) = (place.next_multiple_of(PAGE), (place + size) / PAGE * PAGE);
    if let Some(mapped) = MAPPED.get()
        && from < to
    {
        let Mapped { file, promise, .. } = mapped;
        promise.release(file, from as u64, (to - from) as u64);
    }
}

impl Mapped {
    fn new(folder: &Path) -> io::Result<Self> {
        // It has no name: nobody else can open it, and it is gone with the process.
        let file = tempfile::tempfile_in(folder)?;
        let promise = Promise::of(&file)?;
        // Where no room can be promised that is told here, not when memory is wanted.
        promise.reserve(&file, 0, PAGE as u64)?;
        // Addresses behind the end of the file are set aside, and used when it has grown.
        let mut addresses = ADDRESSES;
        let map = loop {
            match MmapOptions::new().len(addresses).map_raw(&file) {
                Ok(map) => break map,
                Err(_) if addresses > FEWEST => addresses /= 2,
                Err(error) => return Err(error),
            }
        };
        Ok(Self { file, promise, map })
    }
}

/// Where pieces of the file are handed out.
pub(crate) struct Source;

// SAFETY: every piece that `alloc` returns lies inside the mapping, behind all pieces before it, and in a part of the file that is there: it can be
// read and written as long as the process lives, since neither the mapping nor the file are ever taken back.
unsafe impl Allocator for Source {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let nothing = (ptr::null_mut(), 0, 0);
        let Some(Mapped { file, promise, map }) = MAPPED.get() else {
            return nothing;
        };
        let length = LENGTH.load(Ordering::Relaxed);
        let size = size.max(GROWS_BY);
        let fits = !is_full() && size <= map.len() - length;
        if !fits || promise.reserve(file, length as u64, size as u64).is_err() {
            // There may be room for less than this.
            FULL.fetch_or(size == GROWS_BY, Ordering::Relaxed);
            return nothing;
        }
        LENGTH.store(length + size, Ordering::Relaxed);
        // In bounds: so much of the mapping was left.
        (map.as_mut_ptr().wrapping_add(length), size, 0)
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

/// Who hands out pieces; one thread at a time.
pub(crate) struct Pieces {
    source: UnsafeCell<Dlmalloc<Source>>,
    busy: AtomicBool,
}

// SAFETY: only `with` looks at what is inside, and lets one thread in at a time.
unsafe impl Sync for Pieces {}

/// The pieces of the file.
pub(crate) static PIECES: Pieces = Pieces {
    source: UnsafeCell::new(Dlmalloc::new_with_allocator(Source)),
    busy: AtomicBool::new(false),
};

impl Pieces {
    /// Whether a piece stands in the file.
    #[inline]
    pub(crate) fn have(&self, piece: *mut u8) -> bool {
        // Addresses below the base wrap around to large numbers; as long as there is no file, it has no length.
        (piece as usize).wrapping_sub(BASE.load(Ordering::Relaxed)) < LENGTH.load(Ordering::Relaxed)
    }

    /// Lets a thread in when no other is. A lock of the system might ask for memory itself.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Dlmalloc<Source>) -> T) -> T {
        let mut tries = 0_u32;
        while self.busy.swap(true, Ordering::Acquire) {
            tries += 1;
            match tries {
                // Most are in for some hundred steps,
                ..64 => hint::spin_loop(),
                64..1024 => thread::yield_now(),
                // and some wait for the disk.
                _ => thread::sleep(Duration::from_micros(50)),
            }
        }
        let _inside = Inside(&self.busy);
        // SAFETY: whoever finds `busy` unset has set it, and nobody else comes here before it is unset.
        act(unsafe { &mut *self.source.get() })
    }
}

/// Somebody is in, until this is dropped.
struct Inside<'p>(&'p AtomicBool);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_there_is_no_file_no_piece_stands_in_it() {
        for address in [0, 16, 1 << 20, ADDRESSES - 1, ADDRESSES, usize::MAX] {
            let piece = ptr::without_provenance_mut(address);
            assert!(!PIECES.have(piece), "{address:x}");
        }
    }
}
