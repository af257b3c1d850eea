//! Pieces that were given back and wait to be asked for again, on each thread.
//!
//! Reading a message takes some fifty pieces and gives most of them back, for the next one. They stay on the thread, where nobody else has to be asked.
//! Sizes are rounded up to classes, so that a piece serves everybody who asks for about as much. Only a scan, which has a limit, keeps pieces: a server may have
//! many threads, each with little to do.

use std::alloc::Layout;
use std::cell::Cell;
use std::ptr;

use crate::bounded::give_back;
use crate::counted::{is_limited, tell};

/// Up to so many bytes there is a class for every sixteen more.
const FINE: usize = 1 << 10;
/// Up to so many bytes there are eight classes for every doubling.
const MOST: usize = 1 << 16;
/// No piece has to stand at a multiple of more.
const ALIGNED: usize = 16;
const CLASSES: usize = FINE / 16 + 8 * 6;

/// Whether threads keep anything. Where they cannot be told to give it back when they end without asking for memory, they do not.
const KEEPING: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// A class keeps so many bytes on each thread, or two pieces if that is more.
const KEPT: usize = 1 << 14;

/// A class of pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class(usize);

impl Class {
    /// The class of a piece; none if it is too large, or has to stand in a special place, or if nothing is kept.
    #[inline]
    pub(crate) fn of(layout: Layout) -> Option<Self> {
        let size = layout.size().max(1);
        if !KEEPING || size > MOST || layout.align() > ALIGNED {
            return None;
        }
        Some(Self(match size <= FINE {
            true => (size - 1) / 16,
            false => {
                let top = (size - 1).ilog2();
                let within = (size - 1) >> (top - 3) & 7;
                FINE / 16 + (top - FINE.ilog2()) as usize * 8 + within
            }
        }))
    }

    /// How much room each piece of it has.
    #[inline]
    const fn room(self) -> usize {
        match self.0.checked_sub(FINE / 16) {
            None => (self.0 + 1) * 16,
            Some(above) => (FINE << (above / 8)) / 8 * (9 + above % 8),
        }
    }

    /// The layout that each piece of it has.
    #[inline]
    pub(crate) fn layout(self) -> Layout {
        // SAFETY: the alignment is a power of two, and no class has room for much.
        unsafe { Layout::from_size_align_unchecked(self.room(), ALIGNED) }
    }
}

/// The pieces of one thread.
struct Spare {
    /// Of each class the one that was given back last; it begins with the address of the one before.
    last: [Cell<*mut u8>; CLASSES],
    /// How many bytes there are of each.
    bytes: [Cell<u32>; CLASSES],
}

thread_local! {
    static SPARE: Spare = const {
        Spare {
            last: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            bytes: [const { Cell::new(0) }; CLASSES],
        }
    };
}

/// A piece of this class that was given back; null if there is none.
#[inline]
pub(crate) fn take(class: Class) -> *mut u8 {
    let take = |spare: &Spare| {
        let piece = spare.last[class.0].get();
        if !piece.is_null() {
            // SAFETY: whoever kept it has written this address to its beginning, and nobody has had it since.
            let before = unsafe { piece.cast::<*mut u8>().read() };
            spare.last[class.0].set(before);
            let bytes = &spare.bytes[class.0];
            bytes.set(bytes.get() - class.room() as u32);
        }
        piece
    };
    // A thread that ends has given back what it kept.
    SPARE.try_with(take).unwrap_or(ptr::null_mut())
}

/// Keeps a piece of this class, if there are not too many already.
///
/// # Safety
/// It has as much room as the class, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn keep(piece: *mut u8, class: Class) -> bool {
    if !is_limited() {
        return false;
    }
    let keep = |spare: &Spare| {
        let bytes = spare.bytes[class.0].get() as usize + class.room();
        let fits = bytes <= KEPT.max(2 * class.room());
        if fits {
            // SAFETY: it is long enough for an address and stands where one may stand; as promised by the caller it is nobody else's.
            unsafe { piece.cast::<*mut u8>().write(spare.last[class.0].get()) };
            spare.last[class.0].set(piece);
            spare.bytes[class.0].set(bytes as u32);
        }
        fits
    };
    SPARE.try_with(keep).unwrap_or(false)
}

impl Drop for Spare {
    /// The thread ends.
    fn drop(&mut self) {
        for class in 0..CLASSES {
            let mut piece = self.last[class].replace(ptr::null_mut());
            let layout = Class(class).layout();
            while !piece.is_null() {
                // SAFETY: as in `take`; each piece is of this class, and nobody else has it.
                unsafe {
                    let before = piece.cast::<*mut u8>().read();
                    give_back(piece, layout);
                    piece = before;
                }
            }
        }
        tell();
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_room_for_what_is_asked_for_and_little_more() {
        let mut last = 0;
        for size in 0..=MOST {
            let layout = Layout::from_size_align(size, 8).expect("a layout");
            let class = Class::of(layout).expect("a class");
            let room = class.room();
            assert!(
                room >= size.max(16) && room.is_multiple_of(16),
                "{size}: {room}"
            );
            assert!(room <= size.max(16) + 15.max(size / 8), "{size}: {room}");
            assert!(class.0 == last || class.0 == last + 1, "{size}");
            last = class.0;
        }
        assert_eq!(last + 1, CLASSES);
        for (size, align) in [(MOST + 1, 8), (64, 32)] {
            assert!(Class::of(Layout::from_size_align(size, align).expect("a layout")).is_none());
        }
    }
}
