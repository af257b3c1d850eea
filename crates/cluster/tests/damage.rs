//! Tables that are cut off, or whose bytes have changed: everything before is there, and nothing ever panics.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int64Array, NullArray, StringArray, StringViewArray,
};
use proptest::prelude::*;

use common::{compressed, parquet, read_parquet, read_stream, said, stream};

const MAIL: &[u8] =
    b"From: anna@example.org\n\nThe harbour was closed, and nobody knew why it was.";

/// Columns of three rows, one of every way in which bytes are laid out.
fn rows() -> Vec<(&'static str, ArrayRef)> {
    let long = "a path that is longer than a view";
    vec![
        ("id", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        (
            "path",
            Arc::new(StringViewArray::from(vec!["short", long, ""])),
        ),
        (
            "offset",
            Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
        ),
        ("nothing", Arc::new(NullArray::new(3))),
        (
            "form",
            Arc::new(
                ["mail", "text", "mail"]
                    .into_iter()
                    .collect::<DictionaryArray<Int8Type>>(),
            ),
        ),
        (
            "message",
            Arc::new(BinaryArray::from(vec![
                Some(MAIL),
                None,
                Some(b"From: b\n\nHi"),
            ])),
        ),
    ]
}

/// A stream of four batches with three rows each.
fn arrow() -> Vec<u8> {
    stream(rows(), &[], 4)
}

fn columns() -> Vec<u8> {
    parquet(
        &[(1, Some(MAIL)), (2, None), (3, Some(b"From: b\n\nHi"))],
        4,
    )
}

#[test]
fn a_stream_gives_everything_before_the_cut() {
    let whole = arrow();
    let (all, lost) = read_stream(&whole).unwrap();
    assert_eq!((all.len(), lost.len()), (12, 0));
    let all = said(&all);
    for cut in 0..whole.len() {
        let (rows, lost) = read_stream(&whole[..cut]).unwrap();
        assert_eq!(said(&rows), all[..rows.len()], "cut at {cut}");
        assert_eq!(rows.len() % 3, 0);
        // The mark of the end is eight bytes, of which the last four say it.
        assert_eq!(lost.len(), 1, "cut at {cut}: {lost:?}");
        assert!(
            lost[0].starts_with("x.arrow cannot be read to its end"),
            "{lost:?}"
        );
    }
}

#[test]
fn a_parquet_file_without_its_end_says_so() {
    let whole = columns();
    assert_eq!(read_parquet(&whole).unwrap().0.len(), 12);
    for cut in 0..whole.len() {
        let (rows, lost) = read_parquet(&whole[..cut]).unwrap();
        assert_eq!(rows.len(), 0);
        assert_eq!(lost.len(), 1);
    }
    let (_, lost) = read_parquet(&whole[..whole.len() - 5]).unwrap();
    assert!(lost[0].contains("table of contents"), "{lost:?}");
    let (_, lost) = read_parquet(b"PARE and more than that").unwrap();
    assert!(lost[0].contains("encrypted"), "{lost:?}");
}

#[test]
fn a_damaged_row_group_is_left_out_and_the_next_is_read() {
    let whole = columns();
    let at = whole
        .windows(MAIL.len().min(12))
        .position(|window| window == &MAIL[..12])
        .unwrap();
    let mut damaged = whole.clone();
    // The length in front of the message, inside the compressed page.
    damaged[at - 4..at + 4].fill(0xFF);
    let (rows, lost) = read_parquet(&damaged).unwrap();
    assert!(
        lost.iter().all(|what| what.contains("row group 1")),
        "{lost:?}"
    );
    assert_eq!(lost.len(), 1);
    assert_eq!(rows.len(), 9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic_in_a_stream(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>(), whole in any::<bool>(), packed in any::<bool>()) {
        let mut bytes = match packed { true => compressed(rows(), 4), false => arrow() };
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok((rows, _)) = read_stream(&bytes) {
            prop_assert!(rows.len() < 100_000_000);
        }
    }

    #[test]
    fn changed_bytes_never_panic_in_a_parquet_file(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), tail in any::<bool>()) {
        let mut bytes = columns();
        let length = bytes.len();
        for (at, value) in flips {
            // Half of the time in the table of contents, where the lengths are.
            let at = match tail { true => length - 1 - at.index(length / 2), false => at.index(length) };
            bytes[at] = value;
        }
        let _ = read_parquet(&bytes);
    }

    #[test]
    fn any_bytes_are_told(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_stream(&bytes);
        let _ = read_stream(&[b"\xFF\xFF\xFF\xFF".as_slice(), &bytes].concat());
        let _ = read_parquet(&[b"PAR1".as_slice(), &bytes, b"PAR1"].concat());
    }
}
