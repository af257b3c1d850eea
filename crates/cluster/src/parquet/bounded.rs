//! A file of which nothing is asked that lies outside it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file and its length, so that no room is made for bytes that are not there.
pub(super) struct Bounded {
    file: File,
    length: u64,
}

impl Bounded {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }

    /// What is wrong with its first and its last bytes, in words for people.
    pub(super) fn trouble(&self) -> Option<String> {
        let ends = |start: u64| self.get_bytes(start, 4).ok();
        let first = ends(0);
        if first.as_deref() == Some(b"PARE") {
            return Some("it is encrypted".to_owned());
        }
        if first.as_deref() != Some(b"PAR1") {
            return Some("it is no Parquet file".to_owned());
        }
        let last = ends(self.length.saturating_sub(4)).filter(|_| self.length >= 12);
        (last.as_deref() != Some(b"PAR1")).then(|| {
            "it is cut off: its table of contents, which stands at its end, is missing".to_owned()
        })
    }

    fn at(&self, start: u64, length: u64) -> Result<File> {
        if start
            .checked_add(length)
            .is_none_or(|end| end > self.length)
        {
            return Err(ParquetError::EOF(
                "a column lies outside the file".to_owned(),
            ));
        }
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start, 0)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::with_capacity(length.min(1 << 24));
        let file = self.at(start, length as u64)?;
        let read = file.take(length as u64).read_to_end(&mut bytes)?;
        if read != length {
            return Err(ParquetError::EOF("the file became shorter".to_owned()));
        }
        Ok(bytes.into())
    }
}
