//! The file `known`: what each file of mail held, what the scan found, and what comparing texts led to.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use twicetold_source::{Stamp, read_exact_at};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::bytes::{Reader, Writer, pieces};
use super::frames::Place;
use super::related::Pieces;
use super::verdicts::{self, Judged};
use crate::memo::{Answers, Earlier};
use crate::scan::Scan;

/// The name of the file.
pub(super) const NAME: &str = "known";
/// What it begins with.
const MARK: &[u8; 12] = b"twicetold\0sc";
/// The mark, the version, and for each of three parts its length and checksum.
const HEAD: usize = 12 + 4 + 3 * (8 + 16);

/// What a file held.
#[derive(Debug)]
pub(super) struct KnownFile {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    pub(super) messages: Vec<KnownMessage>,
}

/// A message in a file.
#[derive(Debug)]
pub(super) struct KnownMessage {
    pub(super) offset: Option<u64>,
    /// Checksum of its bytes.
    pub(super) print: u128,
    /// Where its record is.
    pub(super) kept: Kept,
}

/// Where the record of a message is, and by what the message is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) place: Place,
    /// A checksum of the message's bytes that is found soon, to see whether a message still stands in its file.
    pub(super) quick: u64,
}

/// What the last scan left.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) folder: PathBuf,
    /// The file as it was opened: another scan may put a new one in its place.
    pub(super) file: Option<Mutex<File>>,
    /// What that scan was asked.
    pub(super) asked: u128,
    /// The number of the file of records.
    pub(super) records: u64,
    /// How much of it counts.
    pub(super) length: u64,
    /// When that scan began.
    pub(super) seen: SystemTime,
    /// Where that is which says how the messages are related.
    pub(super) related: Option<Pieces>,
    /// Sorted by path.
    pub(super) files: Vec<KnownFile>,
}

impl Known {
    /// What the last scan left in this folder, if it is all there.
    pub(super) fn open(folder: &Path, version: u32) -> Option<Self> {
        let mut file = File::open(folder.join(NAME)).ok()?;
        let part = part(&mut file, version, 0)?;
        let mut from = Reader::new(&part);
        let asked = from.wide()?;
        let records = from.number()?;
        let length = from.number()?;
        let seen = UNIX_EPOCH.checked_add(Duration::from_nanos(from.hash()?))?;
        let related = from.maybe(Pieces::read)?;
        let files = from.list(|from| {
            Some(KnownFile {
                path: from.text()?,
                stamp: Stamp {
                    device: from.number()?,
                    inode: from.number()?,
                    size: from.number()?,
                    modified: from.hash()? as i64,
                    changed: from.hash()? as i64,
                },
                messages: from.list(|from| {
                    Some(KnownMessage {
                        offset: from.maybe(Reader::number)?,
                        print: from.wide()?,
                        kept: Kept {
                            place: Place::read(from)?,
                            quick: from.hash()?,
                        },
                    })
                })?,
            })
        })?;
        from.is_done().then_some(Self {
            folder: folder.to_owned(),
            file: Some(Mutex::new(file)),
            asked,
            records,
            length,
            seen,
            related,
            files,
        })
    }

    /// What that scan found, if it was asked the same.
    pub(super) fn result(&self, asked: u128) -> Option<Scan> {
        self.pieces(asked, |pieces| verdicts::read(pieces))
    }

    /// What it decided, if it was asked the same.
    pub(super) fn judged(&self, asked: u128) -> Option<Vec<Judged>> {
        self.pieces(asked, |pieces| verdicts::read_judged(pieces))
    }

    /// What `read` makes of the pieces of the result, if the same was asked.
    fn pieces<T>(
        &self,
        asked: u128,
        read: impl FnOnce(&mut dyn ExactSizeIterator<Item = Option<Vec<u8>>>) -> Option<T>,
    ) -> Option<T> {
        let file = self.file.as_ref().filter(|_| self.asked == asked)?;
        // Nobody holds the file while threads share the work: one of them may come to want it.
        let file = || file.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut at, length) = checked_part(&mut file(), super::VERSION, 1)?;
        let end = at + length;
        // All of it is as it was written. It may be too much to hold besides what is made of it.
        let mut next = |length: u64| {
            let behind = at.checked_add(length).filter(|&behind| behind <= end)?;
            let mut bytes = vec![0; usize::try_from(length).ok()?];
            read_exact_at(&file(), &mut bytes, at).ok()?;
            at = behind;
            Some(bytes)
        };
        let count = Reader::new(&next(8)?).hash()?;
        let mut pieces = (0..usize::try_from(count).ok()?).map(|_| {
            let length = Reader::new(&next(8)?).hash()?;
            next(length)
        });
        read(&mut pieces)
    }

    /// What comparing texts led to.
    pub(super) fn answers(&self) -> Option<Earlier> {
        Earlier::read(self.part(2)?)
    }

    fn part(&self, wanted: usize) -> Option<Vec<u8>> {
        let file = self.file.as_ref()?;
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        part(&mut file, super::VERSION, wanted)
    }

    /// Notes that it has been used.
    pub(super) fn touch(&self) {
        let file = File::options().append(true).open(self.folder.join(NAME));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Writes it in place of the one that is there.
    pub(super) fn write(&self, version: u32, scan: &Scan, answers: &Answers) -> io::Result<()> {
        let new = self.folder.join("known.new");
        let written = self.write_to(&new, version, scan, answers);
        let named = written.and_then(|()| fs::rename(&new, self.folder.join(NAME)));
        // A disk that is full is not to stay so for what nobody can use.
        named.inspect_err(|_| drop(fs::remove_file(&new)))
    }

    fn write_to(&self, new: &Path, version: u32, scan: &Scan, answers: &Answers) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = BufWriter::new(options.open(new)?);
        // How long the parts are is known when they have been written: none of them waits in memory for the others.
        out.write_all(&[0; HEAD])?;
        let mut head = Writer::default();
        head.raw(MARK);
        head.raw(&version.to_le_bytes());
        let mut add = |pieces: &mut dyn Iterator<Item = Writer>| {
            let (mut length, mut sum) = (0, Xxh3::new());
            for piece in pieces {
                length += piece.bytes.len() as u64;
                sum.update(&piece.bytes);
                out.write_all(&piece.bytes)?;
            }
            head.hash(length);
            head.wide(sum.digest128());
            io::Result::Ok(())
        };
        add(&mut std::iter::once(self.files_as_bytes()))?;
        let mut count = Writer::default();
        count.hash(verdicts::count(scan) as u64);
        let pieces = verdicts::pieces(scan).flat_map(|piece| {
            let mut length = Writer::default();
            length.hash(piece.bytes.len() as u64);
            [length, piece]
        });
        add(&mut std::iter::once(count).chain(pieces))?;
        add(&mut answers_as_bytes(answers))?;
        out.rewind()?;
        out.write_all(&head.bytes)?;
        out.into_inner()?;
        Ok(())
    }

    fn files_as_bytes(&self) -> Writer {
        let mut out = Writer::default();
        out.wide(self.asked);
        out.number(self.records);
        out.number(self.length);
        let seen = self.seen.duration_since(UNIX_EPOCH).unwrap_or_default();
        out.hash(u64::try_from(seen.as_nanos()).unwrap_or(0));
        out.maybe(self.related.as_ref(), |out, pieces| pieces.write(out));
        out.list(self.files.iter(), |out, file| {
            out.text(&file.path);
            out.number(file.stamp.device);
            out.number(file.stamp.inode);
            out.number(file.stamp.size);
            out.hash(file.stamp.modified as u64);
            out.hash(file.stamp.changed as u64);
            out.list(file.messages.iter(), |out, message| {
                out.maybe(message.offset, Writer::number);
                out.wide(message.print);
                message.kept.place.write(out);
                out.hash(message.kept.quick);
            });
        });
        out
    }
}

/// Answers in the order of their questions, some at a time.
fn answers_as_bytes(answers: &Answers) -> impl Iterator<Item = Writer> {
    pieces(answers.sorted(), |out, (key, answer)| {
        out.wide(key);
        out.number(answer.len() as u64);
        out.raw(answer);
    })
}

/// One of the three parts, if it is as it was written.
fn part(file: &mut File, version: u32, wanted: usize) -> Option<Vec<u8>> {
    let (at, length, sum) = find_part(file, version, wanted)?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut part = Vec::new();
    file.take(length).read_to_end(&mut part).ok()?;
    (part.len() as u64 == length && xxh3_128(&part) == sum).then_some(part)
}

/// Where one of the three parts begins and how long it is, if it is as it was written.
fn checked_part(file: &mut File, version: u32, wanted: usize) -> Option<(u64, u64)> {
    let (at, length, expected) = find_part(file, version, wanted)?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut sum = Xxh3::new();
    let mut rest = file.take(length);
    let mut block = vec![0; 1 << 18];
    let mut count = 0;
    loop {
        match rest.read(&mut block).ok()? {
            0 => break,
            read => {
                sum.update(&block[..read]);
                count += read as u64;
            }
        }
    }
    (count == length && sum.digest128() == expected).then_some((at, length))
}

/// Where one of the three parts begins, how long it is, and its checksum.
fn find_part(file: &mut File, version: u32, wanted: usize) -> Option<(u64, u64, u128)> {
    file.rewind().ok()?;
    let mut head = [0; HEAD];
    file.read_exact(&mut head).ok()?;
    let mut from = Reader::new(&head);
    if from.raw(MARK.len())? != MARK || from.raw(4)? != version.to_le_bytes() {
        return None;
    }
    let mut at = HEAD as u64;
    for number in 0..=wanted {
        let (length, sum) = (from.hash()?, from.wide()?);
        if number == wanted {
            return Some((at, length, sum));
        }
        at = at.checked_add(length)?;
    }
    None
}
