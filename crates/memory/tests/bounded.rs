//! Memory that is asked for beyond the limit stands in the file, and is memory like any other.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::io::ErrorKind;
use std::path::Path;
use std::thread;

use twicetold_memory::{Bounded, in_file, is_full, keep_to, use_any};

#[global_allocator]
static MEMORY: Bounded = Bounded;

/// What may be used.
const LIMIT: usize = 64 << 20;

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }

    /// Most are small, some are large.
    fn size(&mut self) -> usize {
        let most = [64, 700, 5_000, 70_000, 3_000_000][self.below(20).saturating_sub(15)];
        1 + self.below(most)
    }
}

/// A piece, each byte of which tells which one it is and where it stands.
struct Piece {
    bytes: Vec<u8>,
    seed: u8,
}

impl Piece {
    fn new(size: usize, seed: u8) -> Self {
        let mut piece = Self {
            bytes: Vec::new(),
            seed,
        };
        piece.grow(size);
        piece
    }

    fn byte(&self, at: usize) -> u8 {
        (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ self.seed
    }

    fn grow(&mut self, by: usize) {
        let from = self.bytes.len();
        self.bytes.reserve_exact(by);
        for at in from..from + by {
            let byte = self.byte(at);
            self.bytes.push(byte);
        }
    }

    fn shrink(&mut self, to: usize) {
        self.bytes.truncate(to);
        self.bytes.shrink_to_fit();
    }

    fn check(&self) {
        for (at, &byte) in self.bytes.iter().enumerate() {
            assert_eq!(byte, self.byte(at), "byte {at} of {}", self.bytes.len());
        }
    }
}

/// Takes, lengthens, shortens and gives back pieces until so many bytes are in use, and looks whether each still is what it was.
fn churn(seed: u64, bytes: usize) -> Vec<Piece> {
    let mut numbers = Numbers(seed);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut held = 0;
    while held < bytes {
        let size = numbers.size();
        match numbers.below(8) {
            0 if !pieces.is_empty() => {
                let piece = pieces.swap_remove(numbers.below(pieces.len()));
                piece.check();
                held -= piece.bytes.len();
            }
            1 if !pieces.is_empty() => {
                let at = numbers.below(pieces.len());
                pieces[at].grow(size);
                held += size;
            }
            2 if !pieces.is_empty() => {
                let at = numbers.below(pieces.len());
                let length = pieces[at].bytes.len();
                pieces[at].shrink(length / 2);
                held -= length - length / 2;
            }
            3 => {
                let zeros = vec![0_u8; size];
                assert!(zeros.iter().all(|&byte| byte == 0), "{size} zeros");
            }
            _ => {
                pieces.push(Piece::new(size, seed as u8));
                held += size;
            }
        }
    }
    pieces
}

/// How many bytes of memory the process has that stand in no file, where the system tells.
fn anonymous() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kibibytes: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// One test: there is one allocator, and it has one limit.
#[test]
fn memory_beyond_the_limit_stands_in_a_file_and_is_memory_like_any_other() {
    assert!(keep_to(LIMIT as u64, Path::new("/there/is/no/such/folder")).is_err());
    drop(churn(1, LIMIT * 2));
    assert_eq!(in_file(), 0, "nobody has set a limit yet");

    match keep_to(LIMIT as u64, &std::env::temp_dir()) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            eprintln!("skipped: no memory can stand in files here: {error}");
            return;
        }
        made => made.expect("a temporary file"),
    }
    for round in 0..2 {
        let threads: Vec<_> = (1..=4)
            .map(|n| thread::spawn(move || churn(round * 16 + n * 7 + 1, LIMIT)))
            .collect();
        let pieces: Vec<Vec<Piece>> = threads
            .into_iter()
            .map(|t| t.join().expect("bytes"))
            .collect();
        pieces.iter().flatten().for_each(Piece::check);
        assert!(in_file() > 2 * LIMIT as u64, "{}", in_file());
        if let Some(anonymous) = anonymous() {
            assert!(anonymous < LIMIT, "{anonymous}");
        }
        // Whoever gives back need not be who has taken.
        let other = thread::spawn(move || drop(pieces));
        other.join().expect("bytes given back");
    }
    let length = in_file();
    drop(churn(99, 4 * LIMIT));
    assert!(in_file() < 2 * length, "what was given back is used again");

    aligned_pieces_stay_aligned();

    let piece = churn(5, 3 * LIMIT);
    let length = in_file();
    use_any();
    let more = churn(6, 3 * LIMIT);
    assert_eq!(in_file(), length, "as much as it takes may be used");
    piece.iter().chain(&more).for_each(Piece::check);
    assert!(!is_full());
}

fn aligned_pieces_stay_aligned() {
    let held = churn(7, 2 * LIMIT);
    for align in [1, 8, 64, 4096, 1 << 16] {
        for size in [1, 100, 10_000, 3 << 20] {
            let layout = Layout::from_size_align(size, align).expect("a layout");
            // SAFETY: the size is not 0; the piece is given back with the layout that it has, and not used afterwards.
            unsafe {
                let piece = alloc(layout);
                assert!(!piece.is_null() && (piece as usize).is_multiple_of(align));
                piece.write_bytes(0xa5, size);
                let longer = realloc(piece, layout, size * 2);
                assert!(!longer.is_null() && (longer as usize).is_multiple_of(align));
                assert!((0..size).all(|at| *longer.add(at) == 0xa5));
                let layout = Layout::from_size_align_unchecked(size * 2, align);
                dealloc(longer, layout);
            }
        }
    }
    held.iter().for_each(Piece::check);
}
