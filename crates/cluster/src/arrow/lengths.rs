//! Do the lengths in the header of a batch fit its body?
//!
//! The decoder takes the places of its buffers on trust, and panics if they lie outside.

use arrow_ipc::{CompressionType, RecordBatch};

/// A batch has so many rows at the most: columns of nothing take no bytes, and could have any number.
pub(super) const MOST_ROWS: u64 = 1 << 24;
/// Whatever a column holds, in lists too, is not more than this.
const MOST_VALUES: i64 = 1 << 32;

/// LZ4 makes no more than this of a byte.
const LZ4_AT_BEST: u64 = 256;

pub(super) fn check(batch: &RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    let compression = batch.compression().map(|compression| compression.codec());
    if compression.is_some_and(|codec| codec != CompressionType::LZ4_FRAME) {
        return Err(
            "its columns are compressed by Zstandard; write it with LZ4, or without compression"
                .to_owned(),
        );
    }
    match u64::try_from(batch.length()) {
        Ok(rows) if rows <= MOST_ROWS => {}
        Ok(rows) => {
            return Err(format!(
                "it has {rows} rows, more than can be held; write batches of fewer rows"
            ));
        }
        Err(_) => return Err("its number of rows is negative".to_owned()),
    }
    let damaged = || Err("its lengths do not fit together".to_owned());
    for node in batch.nodes().into_iter().flatten() {
        let fits = (0..=MOST_VALUES).contains(&node.length())
            && (0..=node.length()).contains(&node.null_count());
        if !fits {
            return damaged();
        }
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let places = (
            usize::try_from(buffer.offset()),
            usize::try_from(buffer.length()),
        );
        let (Ok(offset), Ok(length)) = places else {
            return damaged();
        };
        let Some(bytes) = (offset.checked_add(length)).and_then(|end| body.get(offset..end)) else {
            return damaged();
        };
        if compression.is_some() && !bytes.is_empty() && !fits(bytes) {
            return damaged();
        }
    }
    let counts = batch.variadicBufferCounts().into_iter().flatten();
    let buffers = batch.buffers().map_or(0, |buffers| buffers.len()) as i64;
    if counts
        .into_iter()
        .any(|count| !(0..=buffers).contains(&count))
    {
        return damaged();
    }
    Ok(())
}

/// Whether a compressed buffer can be as long as it says, in the eight bytes before it. -1 says that it is not compressed.
fn fits(bytes: &[u8]) -> bool {
    let Some((length, packed)) = bytes.split_first_chunk() else {
        return false;
    };
    match i64::from_le_bytes(*length) {
        -1 => true,
        length => u64::try_from(length)
            .is_ok_and(|length| length <= (packed.len() as u64).saturating_mul(LZ4_AT_BEST)),
    }
}
