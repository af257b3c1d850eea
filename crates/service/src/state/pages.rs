//! A large table that begins as zeros, on large pages where the system has them.
//!
//! Whoever looks something up in a table of many hundred megabytes waits for the memory; and on small pages first for the
//! memory in which it is written where the page is.

use std::fmt;
use std::io;
use std::marker::PhantomData;

use memmap2::{MmapMut, MmapOptions};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A table of so many, fixed when it is made.
pub(super) struct Pages<T> {
    bytes: MmapMut,
    of: PhantomData<T>,
}

impl<T> Pages<T>
where
    T: FromBytes + IntoBytes + KnownLayout + Immutable,
{
    /// Zeros, at least one; the system gives the memory when they are first touched.
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let size = count.max(1).checked_mul(size_of::<T>());
        let size = size.ok_or(io::ErrorKind::OutOfMemory)?;
        let bytes = MmapOptions::new().len(size).map_anon()?;
        #[cfg(target_os = "linux")]
        {
            // A kernel without large pages says so, and small ones do.
            let _ = bytes.advise(memmap2::Advice::HugePage);
        }
        Ok(Self {
            bytes,
            of: PhantomData,
        })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[T] {
        // Pages begin where any number may stand, and were made for whole ones.
        <[T]>::ref_from_bytes(&self.bytes).unwrap_or_default()
    }

    /// All of them, to be changed.
    pub(super) fn all_mut(&mut self) -> &mut [T] {
        <[T]>::mut_from_bytes(&mut self.bytes).unwrap_or_default()
    }

    /// The bytes they take once all are in use.
    pub(super) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pages({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_begins_as_zeros_and_keeps_what_is_written() {
        for count in [0, 1, 5, 100_000] {
            let mut pages: Pages<[u64; 8]> = Pages::new(count).unwrap();
            assert_eq!(pages.all().len(), count.max(1));
            assert_eq!(pages.size(), 64 * count.max(1) as u64);
            assert!(pages.all().iter().all(|line| *line == [0; 8]));
            for (at, line) in pages.all_mut().iter_mut().enumerate() {
                line[7] = at as u64;
            }
            assert_eq!(pages.all().last().unwrap()[7], count.max(1) as u64 - 1);
        }
        assert!(Pages::<[u64; 8]>::new(usize::MAX).is_err());
    }
}
