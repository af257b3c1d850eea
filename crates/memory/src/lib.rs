//! How much memory may be used, and where does the rest stand?
//!
//! [`Bounded`] hands out memory for the whole program. As long as less is in use than [`keep_to`] allows, it is memory of
//! the system. What is asked for beyond that stands in a temporary file without a name, which is mapped: the system keeps at hand what is used, and
//! writes the rest to the disk when it needs room. Nobody who asks for memory has to know.
//!
//! This is the one crate of the workspace with `unsafe` code, since an allocator cannot do without: [`Bounded`] and the file behind it, and nothing else.

mod bounded;
mod counted;
mod disk;
mod file;
mod spare;

use std::io;
use std::path::Path;

pub use bounded::Bounded;

/// What a program takes besides what it asks for: its stacks, tables of the system, room between pieces of memory.
const BESIDES: u64 = 24 << 20;

/// From now on no more than about so many bytes of the system's memory are used, as far as [`Bounded`] hands it out; the rest stands in a file in `folder`. What is in use
/// already stays where it is. Less than some 32 MB cannot be kept to.
///
/// # Errors
/// If no file can be made there, or its file system does not promise room for it: then everything stands in memory.
pub fn keep_to(bytes: u64, folder: &Path) -> io::Result<()> {
    file::open(folder)?;
    bounded::return_large();
    bounded::return_rest();
    counted::keep_to(bytes.saturating_sub(BESIDES));
    Ok(())
}

/// From now on as much memory is used as it takes. What stands in the file stays there until it is given back.
pub fn use_any() {
    counted::keep_to(u64::MAX);
}

/// How long the file has become.
pub fn in_file() -> u64 {
    file::size()
}

/// Whether the file could not become longer when it was to: then more memory is used than [`keep_to`] allows.
pub fn is_full() -> bool {
    file::is_full()
}
