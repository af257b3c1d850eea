//! How alike two lists of blocks are.

use twicetold_model::Share;

/// How two records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// `Σ (M − |i − j|) / M²` over the k-th occurrences of equal blocks, M = max(m, n). The default.
    Matched,
    /// `Σᵢ Σⱼ (M − |i − j|)·[xᵢ = yⱼ] / (m·n)`, as the paper prints it; may exceed 1.
    Paper,
    /// The share of equal blocks, for records of equal count only (the paper's Definition 2).
    Share,
}

/// A similarity as a ratio of whole numbers, so that it can be held against a threshold without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Similarity {
    sum: u128,
    of: u128,
    /// How many blocks have a partner, repetitions counted.
    pub matched: usize,
}

impl Similarity {
    /// Nothing alike.
    pub const NONE: Self = Self {
        sum: 0,
        of: 1,
        matched: 0,
    };

    /// The ratio as a number.
    pub fn value(self) -> f64 {
        self.sum as f64 / self.of as f64
    }

    /// Whether it is at least `t`.
    pub fn reaches(self, t: Share) -> bool {
        t.is_reached_by(self.sum, self.of)
    }
}

/// How alike two lists of blocks are. Takes time for sorting them, however often blocks repeat.
pub fn similarity<B: Ord>(formula: Formula, x: &[B], y: &[B]) -> Similarity {
    if x.is_empty() || y.is_empty() {
        return Similarity::NONE;
    }
    let (m, n) = (x.len() as u128, y.len() as u128);
    let longest = m.max(n);
    let (mut sum, mut matched) = (0, 0);
    each_shared(x, y, |here, there| {
        let pairs = here.len().min(there.len());
        matched += pairs;
        sum += match formula {
            Formula::Matched => {
                let moved: u128 = here
                    .iter()
                    .zip(there)
                    .map(|(i, j)| i.abs_diff(*j) as u128)
                    .sum();
                pairs as u128 * longest - moved
            }
            Formula::Paper => (here.len() * there.len()) as u128 * longest - all_moves(here, there),
            Formula::Share => pairs as u128,
        };
    });
    let of = match formula {
        Formula::Matched => longest * longest,
        Formula::Paper => m * n,
        Formula::Share if m == n => m,
        Formula::Share => {
            return Similarity {
                matched,
                ..Similarity::NONE
            };
        }
    };
    Similarity { sum, of, matched }
}

/// Hands over, for each block that both lists have, where it stands in each, ascending.
fn each_shared<B: Ord>(x: &[B], y: &[B], mut visit: impl FnMut(&[usize], &[usize])) {
    let order = |blocks: &[B]| {
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_unstable_by(|&a, &b| blocks[a].cmp(&blocks[b]).then(a.cmp(&b)));
        order
    };
    let (in_x, in_y) = (order(x), order(y));
    let (mut left, mut right) = (in_x.as_slice(), in_y.as_slice());
    while let (Some(&i), Some(&j)) = (left.first(), right.first()) {
        let here = left.partition_point(|&at| x[at] <= x[i]);
        let there = right.partition_point(|&at| y[at] <= y[j]);
        match x[i].cmp(&y[j]) {
            std::cmp::Ordering::Less => left = &left[here..],
            std::cmp::Ordering::Greater => right = &right[there..],
            std::cmp::Ordering::Equal => {
                visit(&left[..here], &right[..there]);
                (left, right) = (&left[here..], &right[there..]);
            }
        }
    }
}

/// `Σ |i − j|` over all pairs of two ascending lists, in one walk over both: before each position
/// stand so many of the other list with such a sum, and after it the rest.
fn all_moves(here: &[usize], there: &[usize]) -> u128 {
    let total: u128 = there.iter().map(|&j| j as u128).sum();
    let (mut before, mut sum_before) = (0_u128, 0_u128);
    let mut moves = 0;
    let mut there_left = there.iter().peekable();
    for &i in here {
        while let Some(&j) = there_left.next_if(|j| **j <= i) {
            before += 1;
            sum_before += j as u128;
        }
        let i = i as u128;
        let after = there.len() as u128 - before;
        moves += i * before - sum_before + (total - sum_before - i * after);
    }
    moves
}
