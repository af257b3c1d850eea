//! How much memory is in use?

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes of the system's memory that are in use, but for what threads have not told yet.
static IN_USE: AtomicI64 = AtomicI64::new(0);
/// How many may be.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);

/// What a thread tells at a time: threads wait for each other when they write to the same place.
const TOLD: i64 = 1 << 16;

/// From so many bytes on a piece is large: the system gets it back as a whole.
pub(crate) const LARGE: usize = 1 << 20;

/// What a piece of so many bytes takes. Small ones have their length beside them, and lie among others that may have been given back.
#[inline]
fn weight(size: usize) -> i64 {
    match size < LARGE {
        true => (size + size / 4 + 16) as i64,
        false => i64::try_from(size).unwrap_or(i64::MAX / 4),
    }
}

/// When so much less is in use than there was, what lies between the pieces that are is returned to the system.
const RETURNED: i64 = 32 << 20;

/// The most that was in use since that was done last.
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// What this thread has not told yet. It has nothing to be dropped, so it is there as long as the thread is.
    static OWN: Cell<i64> = const { Cell::new(0) };
}

/// From now on so many bytes may be in use.
pub(crate) fn keep_to(most: u64) {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    MOST.store(most, Ordering::Relaxed);
}

/// Whether there is a limit.
#[inline]
pub(crate) fn is_limited() -> bool {
    MOST.load(Ordering::Relaxed) != i64::MAX
}

/// Whether a piece of so many bytes is too much. Large ones are earlier, so that small ones, which are asked for all the time, seldom are.
#[inline]
pub(crate) fn is_too_much(size: usize) -> bool {
    let most = MOST.load(Ordering::Relaxed);
    let for_small = if size < LARGE { 0 } else { most / 8 };
    IN_USE.load(Ordering::Relaxed) > most - for_small - weight(size)
}

/// Counts a piece of so many bytes that is in use from now on.
#[inline]
pub(crate) fn taken(size: usize) {
    let _ = change(weight(size));
}

/// Counts a piece that no longer is. Whether much less is in use than there was.
#[inline]
pub(crate) fn given_back(size: usize) -> bool {
    change(-weight(size)).is_some_and(is_much_less)
}

/// Counts a piece that has another size from now on.
pub(crate) fn changed(from: usize, to: usize) {
    let _ = change(weight(to) - weight(from));
}

/// A thread ends: tells what it has not told yet.
pub(crate) fn tell() {
    let _ = OWN.try_with(|own| IN_USE.fetch_add(own.take(), Ordering::Relaxed));
}

/// Counts so much more, or less; how much is in use, if that was told.
#[inline]
fn change(by: i64) -> Option<i64> {
    OWN.with(|own| {
        let sum = own.get() + by;
        if sum.abs() < TOLD {
            own.set(sum);
            return None;
        }
        own.set(0);
        Some(IN_USE.fetch_add(sum, Ordering::Relaxed) + sum)
    })
}

/// Whether so much less is in use than there was that it is worth a look.
#[cold]
fn is_much_less(in_use: i64) -> bool {
    let peak = PEAK.fetch_max(in_use, Ordering::Relaxed).max(in_use);
    let less = in_use < peak - RETURNED;
    // One thread looks.
    less && PEAK
        .compare_exchange(peak, in_use, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
}
