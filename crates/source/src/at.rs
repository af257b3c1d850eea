//! Reading and writing at a place of a file, on any number of threads.

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
        let read = read_at(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

/// Writes `bytes` at a place of a file. Where others write in it does not matter.
///
/// # Errors
/// If the file cannot be written to.
#[cfg(unix)]
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Writes `bytes` at a place of a file. Where others write in it does not matter.
///
/// # Errors
/// If the file cannot be written to.
#[cfg(windows)]
pub fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                at += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills `bytes` with what stands at a place of a file, as far as there is any; how many there were. Where others read in it does not matter.
///
/// # Errors
/// If the file cannot be read.
pub fn fill_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match read_at(file, &mut bytes[read..], at.saturating_add(read as u64)) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Appends what stands at a place of a file, no more than `length` bytes; how many there were. Where others read in it does not matter.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn append_at(
    file: &File,
    bytes: &mut Vec<u8>,
    at: u64,
    length: usize,
) -> io::Result<usize> {
    let before = bytes.len();
    bytes.resize(before + length, 0);
    let read = fill_at(file, &mut bytes[before..], at);
    bytes.truncate(before + read.as_ref().unwrap_or(&0));
    read
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}
