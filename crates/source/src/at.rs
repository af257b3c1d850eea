//! Reading at a place of a file, on any number of threads.

use std::fs::File;
use std::io;

/// Fills `bytes` with what stands at a place of a file. Where others read in it does not matter.
///
/// # Errors
/// If the file ends before, or cannot be read.
#[cfg(unix)]
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Fills `bytes` with what stands at a place of a file. Where others read in it does not matter.
///
/// # Errors
/// If the file ends before, or cannot be read.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}
