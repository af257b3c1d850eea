//! Do the lengths in the header of a batch fit its body?
//!
//! The decoder takes the places of its buffers on trust, and panics if they lie outside.

use arrow_ipc::RecordBatch;

/// A batch has so many rows at the most: columns of nothing take no bytes, and could have any number.
pub(super) const MOST_ROWS: u64 = 1 << 24;
/// Whatever a column holds, in lists too, is not more than this.
const MOST_VALUES: i64 = 1 << 32;

pub(super) fn check(batch: &RecordBatch<'_>, body: usize) -> Result<(), String> {
    if batch.compression().is_some() {
        return Err("its columns are compressed; write it without compression".to_owned());
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
        let end = match (
            u64::try_from(buffer.offset()),
            u64::try_from(buffer.length()),
        ) {
            (Ok(offset), Ok(length)) => offset.checked_add(length),
            _ => None,
        };
        if end.is_none_or(|end| end > body as u64) {
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
