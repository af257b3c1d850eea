//! Edit distance, by bits and within a band.
//!
//! Myers' algorithm works on 64 rows of the table at once; Ukkonen's band leaves out the cells that no
//! cheap enough path can touch. Together a comparison takes `length · most / 64` steps. Most texts that
//! are compared are strangers, and are told apart by their q-grams before that, in `length` steps.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// The fewest insertions, deletions and replacements that turn one text into the other; `None` if
/// that takes more than `most`.
///
/// ```
/// use twicetold_methods::edit::distance;
/// let letters = |text: &str| text.chars().collect::<Vec<_>>();
/// assert_eq!(distance(&letters("kitten"), &letters("sitting"), 5), Some(3));
/// assert_eq!(distance(&letters("kitten"), &letters("sitting"), 2), None);
/// ```
pub fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    let (a, b) = without_common_ends(a, b);
    let (rows, columns) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if columns.len() - rows.len() > most {
        return None;
    }
    if rows.is_empty() {
        return Some(columns.len());
    }
    if most < columns.len() / 3 && at_least(rows, columns) > most {
        return None;
    }
    Band::new(rows, most.min(columns.len()))
        .run(columns)
        .filter(|found| *found <= most)
}

/// Characters in a q-gram, and how many sorts of q-grams are told apart; a power of two.
const GRAM: usize = 3;
const SORTS: usize = 4096;

/// A number that the edit distance is never below: an edit takes at most `GRAM` q-grams away and brings as
/// many. Taking different q-grams for the same sort makes the number smaller, never larger.
fn at_least(a: &[char], b: &[char]) -> usize {
    let sort = |gram: &[char]| {
        let mixed = gram.iter().fold(0_u32, |sum, &c| {
            (sum ^ u32::from(c))
                .wrapping_mul(0x9e37_79b1)
                .rotate_left(15)
        });
        mixed as usize % SORTS
    };
    let mut counts = [0_i32; SORTS];
    a.windows(GRAM).for_each(|gram| counts[sort(gram)] += 1);
    b.windows(GRAM).for_each(|gram| counts[sort(gram)] -= 1);
    let apart: u64 = counts
        .iter()
        .map(|count| u64::from(count.unsigned_abs()))
        .sum();
    apart.div_ceil(2 * GRAM as u64) as usize
}

/// Whether texts of which each letter is one byte take more than `most` edits for certain, by the same bound. Texts that are looked up
/// are mostly strangers to what is found, and this tells it without taking them apart.
pub(super) fn are_strangers(a: &[u8], b: &[u8], most: usize) -> bool {
    if a.len().abs_diff(b.len()) > most {
        return true;
    }
    let sort = |gram: &[u8]| match *gram {
        [x, y, z] => (usize::from(x) << 7 ^ usize::from(y) << 4 ^ usize::from(z)) % SORTS,
        _ => 0,
    };
    let mut counts = [0_u32; SORTS];
    a.windows(GRAM).for_each(|gram| counts[sort(gram)] += 1);
    let mut common = 0;
    for gram in b.windows(GRAM) {
        let count = &mut counts[sort(gram)];
        common += usize::from(*count > 0);
        *count = count.saturating_sub(1);
    }
    let all = (a.len() + b.len()).saturating_sub(2 * (GRAM - 1));
    all.saturating_sub(2 * common).div_ceil(2 * GRAM) > most
}

fn without_common_ends<'a>(mut a: &'a [char], mut b: &'a [char]) -> (&'a [char], &'a [char]) {
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    (a, b) = (&a[shared..], &b[shared..]);
    let shared = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    (&a[..a.len() - shared], &b[..b.len() - shared])
}

/// 64 rows of one column: where it rises, where it falls, and its last value.
#[derive(Clone, Copy)]
struct Block {
    rises: u64,
    falls: u64,
    score: usize,
}

struct Band {
    /// For every letter of the rows, a bit for each row that holds it, block by block.
    places: HashMap<char, Vec<u64>, FixedState>,
    blocks: Vec<Block>,
    rows: usize,
    most: usize,
}

impl Band {
    fn new(rows: &[char], most: usize) -> Self {
        let count = rows.len().div_ceil(64);
        let mut places: HashMap<char, Vec<u64>, FixedState> = HashMap::default();
        for (row, letter) in rows.iter().enumerate() {
            places.entry(*letter).or_insert_with(|| vec![0; count])[row / 64] |= 1 << (row % 64);
        }
        let blocks = (0..count)
            .map(|at| Block {
                rises: !0,
                falls: 0,
                score: rows.len().min(at * 64 + 64),
            })
            .collect();
        Self {
            places,
            blocks,
            rows: rows.len(),
            most,
        }
    }

    fn run(mut self, columns: &[char]) -> Option<usize> {
        let nowhere = vec![0; self.blocks.len()];
        // Blocks that have been worked on; those below hold their first column still.
        let mut reached = (self.most / 64 + 1).min(self.blocks.len());
        for (column, letter) in columns.iter().enumerate() {
            let first = (column + 1).saturating_sub(self.most + 1) / 64;
            let needed = ((column + 1 + self.most) / 64 + 1).min(self.blocks.len());
            while reached < needed {
                let above = self.blocks[reached - 1].score;
                let height = (self.rows - reached * 64).min(64);
                self.blocks[reached] = Block {
                    rises: !0,
                    falls: 0,
                    score: above + height,
                };
                reached += 1;
            }
            let places = self.places.get(letter).unwrap_or(&nowhere);
            // Above the band, each column is taken to be one more than the column before.
            let mut step = 1_i8;
            let band = self.blocks.iter_mut().zip(places).enumerate();
            for (at, (block, equal)) in band.take(reached).skip(first) {
                let last_row = (self.rows - at * 64 - 1).min(63);
                step = block.advance(*equal, step, last_row);
            }
        }
        self.blocks
            .last()
            .filter(|_| reached == self.blocks.len())
            .map(|block| block.score)
    }
}

impl Block {
    /// Moves on by one column. `step` is the difference to the column before in the row above, and
    /// the answer is that difference in the last row.
    fn advance(&mut self, mut equal: u64, step: i8, last_row: usize) -> i8 {
        let vertical = equal | self.falls;
        equal |= u64::from(step < 0);
        let horizontal = ((equal & self.rises).wrapping_add(self.rises) ^ self.rises) | equal;
        let mut up = self.falls | !(horizontal | self.rises);
        let mut down = self.rises & horizontal;
        let out = (up >> last_row & 1) as i8 - (down >> last_row & 1) as i8;
        up = up << 1 | u64::from(step > 0);
        down = down << 1 | u64::from(step < 0);
        self.rises = down | !(vertical | up);
        self.falls = up & vertical;
        self.score = self.score.saturating_add_signed(isize::from(out));
        out
    }
}
