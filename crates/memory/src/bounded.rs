//! The allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

use crate::counted::{LARGE, changed, given_back, is_too_much, taken};
use crate::file::{PIECES, release, size as file_size};
use crate::spare::{self, Class};

/// Hands out memory: the system's, and beyond what [`crate::keep_to`] allows memory that stands in a file.
pub struct Bounded;

// SAFETY: a piece comes from the system or from the file, and goes back to where it came from, which its address tells; on the way it may be kept by a thread for
// somebody who asks for as much. It has the room of its class, if it has one, so whoever is given it has enough. Nothing here panics.
unsafe impl GlobalAlloc for Bounded {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = Class::of(layout) else {
            return obtain(layout);
        };
        let piece = spare::take(class);
        match piece.is_null() {
            true => obtain(class.layout()),
            false => piece,
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Class::of(layout).is_none() && !is_too_much(layout.size()) {
            // SAFETY: as promised by the caller.
            let piece = unsafe { System.alloc_zeroed(layout) };
            if !piece.is_null() {
                taken(layout.size());
            }
            return piece;
        }
        // SAFETY: as promised by the caller; the piece has so many bytes, and nobody else knows it yet.
        unsafe {
            let piece = self.alloc(layout);
            if !piece.is_null() {
                ptr::write_bytes(piece, 0, layout.size());
            }
            piece
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller, nobody uses it any more; if it has a class, it was handed out with the room of that.
        unsafe {
            match Class::of(layout) {
                None => give_back(piece, layout),
                Some(class) if spare::keep(piece, class) => {}
                Some(class) => give_back(piece, class.layout()),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller, the new size fits the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let there = match (Class::of(layout), Class::of(new)) {
            (Some(old), Some(new)) if old == new => return piece,
            (None, None) if !PIECES.have(piece) => {
                let there = match new.size() > layout.size() {
                    true => in_file(new, new.size() - layout.size()),
                    false => ptr::null_mut(),
                };
                if there.is_null() {
                    // SAFETY: it does not stand in the file, so it comes from the system; the rest as promised by the caller.
                    let grown = unsafe { System.realloc(piece, layout, size) };
                    if !grown.is_null() {
                        changed(layout.size(), size);
                    }
                    return grown;
                }
                there
            }
            // SAFETY: the size is not 0, as promised by the caller.
            _ => unsafe { self.alloc(new) },
        };
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

/// A piece of the file, if so many bytes more are too much for the system's memory; null if they are not, or there is no room.
#[inline]
fn in_file(layout: Layout, more: usize) -> *mut u8 {
    match is_too_much(more) {
        // SAFETY: any size and alignment may be asked for; what is returned is written to by the caller only.
        true => PIECES.with(|pieces| unsafe { pieces.malloc(layout.size(), layout.align()) }),
        false => ptr::null_mut(),
    }
}

/// A new piece; null if there is no room.
fn obtain(layout: Layout) -> *mut u8 {
    let piece = in_file(layout, layout.size());
    if !piece.is_null() {
        return piece;
    }
    // SAFETY: nobody asks for nothing: a class has room for something, and whoever needs no class asks for much.
    let piece = unsafe { System.alloc(layout) };
    if !piece.is_null() {
        taken(layout.size());
    }
    piece
}

/// Gives a piece back to where it came from.
///
/// # Safety
/// It was obtained with this layout, and nobody uses it any more.
pub(crate) unsafe fn give_back(piece: *mut u8, layout: Layout) {
    if PIECES.have(piece) {
        if layout.size() >= LARGE {
            release(piece, layout.size());
        }
        // SAFETY: it stands in the file, so it comes from there; the rest as promised by the caller.
        PIECES.with(|pieces| unsafe { pieces.free(piece, layout.size(), layout.align()) });
        return;
    }
    // SAFETY: it does not stand in the file, so it comes from the system; the rest as promised by the caller.
    unsafe { System.dealloc(piece, layout) };
    if given_back(layout.size()) && file_size() > 0 {
        return_rest();
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
