//! The file of records: one behind the other, each with its checksum.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use twicetold_source::read_exact_at;
use xxhash_rust::xxh3::xxh3_64;

/// What stands before each record: the checksum of its bytes.
const HEAD: usize = 8;
/// Records that stand closer than this are read together.
const GAP: u64 = 64 << 10;
/// The file is packed if it holds more than this besides twice what is used.
const SLACK: u64 = 1 << 20;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) at: u64,
    pub(super) length: u32,
}

impl Place {
    fn end(self) -> u64 {
        self.at.saturating_add(u64::from(self.length))
    }
}

/// The file with this number.
pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("records-{number}"))
}

/// A file of records that is being added to.
#[derive(Debug)]
pub(crate) struct Appending {
    out: BufWriter<File>,
    length: u64,
    failed: bool,
}

impl Appending {
    /// Makes a new file, for its owner alone; fails if there is one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self::behind(options.open(path)?, 0))
    }

    fn behind(file: File, length: u64) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 20, file),
            length,
            failed: false,
        }
    }

    /// Opens the file to write behind its first `length` bytes; what stands there is left over and goes.
    pub(super) fn open(path: &Path, length: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        // Shorter than it should be: its records will fail their checksums, and be written again behind it.
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Self::behind(file, length))
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &[u8]) -> Option<Place> {
        let place = Place {
            at: self.length,
            length: u32::try_from(HEAD + record.len()).ok()?,
        };
        let written = self
            .out
            .write_all(&xxh3_64(record).to_le_bytes())
            .and_then(|()| self.out.write_all(record));
        self.failed |= written.is_err();
        self.length = place.end();
        (!self.failed).then_some(place)
    }

    /// How long the file is, when all of it is there.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.failed {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.out.flush()?;
        Ok(self.length)
    }
}

/// Reads one record; several threads may do so at the same time.
pub(crate) fn read_back(file: &File, place: Place) -> Option<Vec<u8>> {
    let mut frame = vec![0; place.length as usize];
    read_exact_at(file, &mut frame, place.at).ok()?;
    checked(&frame, place)?;
    frame.drain(..HEAD);
    Some(frame)
}

/// Reads many records; those that stand close together are read at once.
pub(super) fn read_many(path: &Path, places: &[Place]) -> Vec<Option<Vec<u8>>> {
    let mut frames = vec![None; places.len()];
    let Ok(mut file) = File::open(path) else {
        return frames;
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&n| places[n].at);
    for run in order.chunk_by(|&a, &b| places[b].at <= places[a].end().saturating_add(GAP)) {
        let start = places[run[0]].at;
        let end = run.iter().map(|&n| places[n].end()).max().unwrap_or(start);
        let mut block = Vec::new();
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| (&mut file).take(end - start).read_to_end(&mut block));
        if read.is_err() {
            continue;
        }
        for &n in run {
            let from = (places[n].at - start) as usize;
            let frame = block.get(from..from + places[n].length as usize);
            frames[n] = frame
                .and_then(|f| checked(f, places[n]))
                .map(<[u8]>::to_vec);
        }
    }
    frames
}

/// The record in a frame, if it is the one that was written.
fn checked(frame: &[u8], place: Place) -> Option<&[u8]> {
    let (sum, record) = frame.split_first_chunk::<HEAD>()?;
    (frame.len() == place.length as usize && xxh3_64(record) == u64::from_le_bytes(*sum))
        .then_some(record)
}

/// Whether most of a file is records that nobody wants any more.
pub(super) fn is_mostly_dead<'p>(length: u64, wanted: impl Iterator<Item = &'p Place>) -> bool {
    let alive: u64 = wanted.map(|place| u64::from(place.length)).sum();
    length > 2 * alive + SLACK
}

/// Copies the records that are wanted to a new file; says where they are there, and how long it is.
pub(super) fn pack(
    from: &Path,
    to: &Path,
    places: &mut HashMap<u128, Place, FixedState>,
) -> io::Result<u64> {
    let old = File::open(from)?;
    let mut new = Appending::open(to, 0)?;
    let mut order: Vec<u128> = places.keys().copied().collect();
    order.sort_by_key(|print| (places[print].at, *print));
    let mut packed = HashMap::default();
    for print in order {
        let record = read_back(&old, places[&print]);
        if let Some(place) = record.and_then(|record| new.add(&record)) {
            packed.insert(print, place);
        }
    }
    *places = packed;
    new.finish()
}
