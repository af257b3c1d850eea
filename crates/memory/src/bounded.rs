//! The allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

use crate::counted::{LARGE, given_back, is_too_much, taken};
use crate::file::{Pieces, release, size};

/// Hands out memory: the system's, and beyond what [`crate::keep_to`] allows memory that stands in a file.
pub struct Bounded {
    pieces: Pieces,
}

impl Bounded {
    /// For all of a program.
    #[allow(clippy::new_without_default)] // There is one, and it is static.
    pub const fn new() -> Self {
        Self {
            pieces: Pieces::new(),
        }
    }

    /// A piece of the file; null if there is no room.
    #[cold]
    fn in_file(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and alignment may be asked for; what is returned is written to by the caller only.
        self.pieces
            .with(|pieces| unsafe { pieces.malloc(layout.size(), layout.align()) })
    }

    /// Gives back a piece of the file.
    ///
    /// # Safety
    /// It was handed out by [`Self::in_file`] with this layout, and is no longer in use.
    #[cold]
    unsafe fn out_of_file(&self, piece: *mut u8, layout: Layout) {
        if layout.size() >= LARGE {
            release(piece as usize, layout.size());
        }
        self.pieces.with(|pieces| {
            // SAFETY: as promised by the caller.
            unsafe { pieces.free(piece, layout.size(), layout.align()) }
        });
    }

    /// Moves a piece to the file, or out of it, or within it; null if there is no room. Then it stays where it is.
    ///
    /// # Safety
    /// It was handed out by this allocator with this layout; `size` is not 0 and, rounded up to the alignment, no more than `isize::MAX`.
    #[cold]
    unsafe fn moved(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller, the new size fits the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not 0.
        let there = unsafe { self.alloc(new) };
        if !there.is_null() {
            // SAFETY: both pieces are at least so long, and as both are in use they do not overlap. The old one is not used from here on.
            unsafe {
                ptr::copy_nonoverlapping(piece, there, size.min(layout.size()));
                self.dealloc(piece, layout);
            }
        }
        there
    }
}

// SAFETY: a piece comes from the system or from the file, and goes back to where it came from, which its address tells. Nothing here panics.
unsafe impl GlobalAlloc for Bounded {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_too_much(layout.size()) {
            let piece = self.in_file(layout);
            if !piece.is_null() {
                return piece;
            }
        }
        // SAFETY: as promised by the caller.
        let piece = unsafe { System.alloc(layout) };
        if !piece.is_null() {
            taken(layout.size());
        }
        piece
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_too_much(layout.size()) {
            let piece = self.in_file(layout);
            if !piece.is_null() {
                // SAFETY: the piece has so many bytes, and nobody else knows it yet.
                unsafe { ptr::write_bytes(piece, 0, layout.size()) };
                return piece;
            }
        }
        // SAFETY: as promised by the caller.
        let piece = unsafe { System.alloc_zeroed(layout) };
        if !piece.is_null() {
            taken(layout.size());
        }
        piece
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if self.pieces.have(piece) {
            // SAFETY: it stands in the file, so it comes from there; the rest as promised by the caller.
            unsafe { self.out_of_file(piece, layout) };
        } else {
            // SAFETY: it does not stand in the file, so it comes from the system; the rest as promised by the caller.
            unsafe { System.dealloc(piece, layout) };
            if given_back(layout.size()) && size() > 0 {
                return_rest();
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Of a large one the old place is given back at once.
        if self.pieces.have(piece) && layout.size() < LARGE {
            let grown = self.pieces.with(|pieces| {
                // SAFETY: it stands in the file, so it comes from there; the rest as promised by the caller.
                unsafe { pieces.realloc(piece, layout.size(), layout.align(), size) }
            });
            if !grown.is_null() {
                return grown;
            }
        }
        let grows_too_much = || size > layout.size() && is_too_much(size - layout.size());
        if self.pieces.have(piece) || grows_too_much() {
            // SAFETY: as promised by the caller.
            return unsafe { self.moved(piece, layout, size) };
        }
        // SAFETY: it does not stand in the file, so it comes from the system; the rest as promised by the caller.
        let grown = unsafe { System.realloc(piece, layout, size) };
        if !grown.is_null() {
            let _ = given_back(layout.size());
            taken(size);
        }
        grown
    }
}

/// Has the system's allocator return large pieces to the system as soon as they are given back. As a rule it does so only with pieces that are larger than all that were
/// given back before, and keeps the others for later.
pub(crate) fn return_large() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEPT: i32 = 16 << 20;
        // SAFETY: both change nothing but numbers that the allocator goes by from here on, under its own lock.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE as i32);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        }
    }
}

/// Has the system's allocator return what lies between the pieces that are in use.
#[cold]
pub(crate) fn return_rest() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it may be called at any time, by any thread, and moves nothing.
        unsafe { libc::malloc_trim(0) };
    }
}
