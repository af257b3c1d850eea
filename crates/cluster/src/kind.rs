//! What rows are written in, told by their first bytes.

/// What rows are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One JSON object a line.
    Jsonl,
    /// An Arrow IPC stream, or an Arrow IPC file (Feather), which is one with a table of contents behind.
    Arrow,
    /// A Parquet file.
    Parquet,
}

/// The beginnings by which a kind is recognised: no JSON begins like this.
const BEGINNINGS: [(&[u8], Kind); 4] = [
    (b"PAR1", Kind::Parquet),
    (b"PARE", Kind::Parquet),
    (b"\xFF\xFF\xFF\xFF", Kind::Arrow),
    (b"ARROW1", Kind::Arrow),
];

impl Kind {
    /// What begins with these bytes; `None` if more of them are needed to tell. What is no table counts as JSON lines.
    ///
    /// The first byte of a JSON line decides, so that nobody waits for a second one.
    pub fn of_beginning(bytes: &[u8]) -> Option<Self> {
        let mut open = bytes.is_empty();
        for (beginning, kind) in BEGINNINGS {
            if bytes.starts_with(beginning) {
                return Some(kind);
            }
            open |= beginning.starts_with(bytes);
        }
        (!open).then_some(Self::Jsonl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_its_first_bytes_and_never_by_more_than_needed() {
        for (bytes, kind) in [
            (&b"{"[..], Some(Kind::Jsonl)),
            (b" ", Some(Kind::Jsonl)),
            (b"\xEF", Some(Kind::Jsonl)),
            (b"PAX", Some(Kind::Jsonl)),
            (b"P", None),
            (b"", None),
            (b"PAR1\x15", Some(Kind::Parquet)),
            (b"\xFF\xFF\xFF", None),
            (b"\xFF\xFF\xFF\xFF\x10", Some(Kind::Arrow)),
            (b"ARROW1\0\0", Some(Kind::Arrow)),
        ] {
            assert_eq!(Kind::of_beginning(bytes), kind, "{bytes:?}");
        }
    }
}
