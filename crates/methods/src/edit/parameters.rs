//! From the length of a text to the numbers of the scheme.

use super::embedding::Windows;

/// A row of the paper's Table 5: what stands there as an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Characters.
    pub n: usize,
    /// The chance that hashes of close texts agree.
    pub near: f64,
    /// The chance that hashes of distant texts agree.
    pub far: f64,
    /// Hashes per tree.
    pub depth: usize,
}

const fn row(n: usize, near: f64, far: f64, depth: usize) -> Row {
    Row {
        n,
        near,
        far,
        depth,
    }
}

/// The paper's Table 5, and the ladder of lengths at which texts are hashed.
pub const TABLE: [Row; 10] = [
    row(100, 0.483, 0.477, 7),
    row(150, 0.555, 0.537, 9),
    row(250, 0.605, 0.593, 11),
    row(500, 0.657, 0.648, 15),
    row(750, 0.692, 0.687, 18),
    row(1000, 0.712, 0.708, 20),
    row(2000, 0.754, 0.751, 27),
    row(5000, 0.804, 0.802, 39),
    row(8316, 0.825, 0.823, 47),
    row(2_494_232, 0.963, 0.963, 389),
];

impl Row {
    /// w = r = ⌈n^(2/3)⌉, computed in integers: the least w with w³ ≥ n².
    pub fn width(&self) -> usize {
        let square = (self.n as u128).pow(2);
        let (mut low, mut high) = (1_u128, square.max(1));
        while low < high {
            let middle = low.midpoint(high);
            if middle.checked_pow(3).is_none_or(|cube| cube >= square) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as usize
    }

    /// The paper's windows and q-grams for this length.
    pub fn windows(&self) -> Windows {
        Windows::of_width(self.width())
    }

    /// ρ = ln p_I / ln p_II: how fast the number of trees must grow.
    pub fn growth(&self) -> f64 {
        self.near.ln() / self.far.ln()
    }

    /// L = |P|^ρ, the number of trees that the theory asks for; some 30 to 40 do.
    pub fn trees(&self, texts: usize) -> f64 {
        (texts as f64).powf(self.growth())
    }

    /// K = log n to the base 1/p_II, rounded up.
    pub fn theoretical_depth(&self) -> usize {
        ((self.n as f64).ln() / (1.0 / self.far).ln()).ceil() as usize
    }
}

/// Which q-grams are counted and how deep the trees are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As Table 5 has it: q-grams of two thirds of a window, as deep as the table says.
    Paper,
    /// Short q-grams, which most edits leave whole.
    Short {
        /// Characters in a q-gram.
        q: usize,
        /// Width of the windows, as a multiple of n^(2/3).
        widen: usize,
        /// Width of the hash's steps, as a multiple of the window's.
        step: usize,
        /// Hashes per tree.
        depth: usize,
    },
}

/// The numbers for texts of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// How many characters are read.
    pub n: usize,
    /// Windows and q-grams.
    pub windows: Windows,
    /// Width of the hash's steps.
    pub step: usize,
    /// Hashes per tree.
    pub depth: usize,
}

impl Shape {
    /// The numbers at a rung of the ladder.
    pub fn rung(&self, row: &Row) -> Rung {
        match *self {
            Self::Paper => {
                let windows = row.windows();
                Rung {
                    n: row.n,
                    windows,
                    step: windows.width,
                    depth: row.depth,
                }
            }
            Self::Short {
                q,
                widen,
                step,
                depth,
            } => {
                let width = (row.width() * widen.max(1)).min(row.n);
                let q = q.clamp(1, width);
                let windows = Windows {
                    width,
                    shortest: q,
                    longest: q,
                };
                Rung {
                    n: row.n,
                    windows,
                    step: width.saturating_mul(step.max(1)),
                    depth: depth.max(1),
                }
            }
        }
    }

    /// The rungs at which a text of `length` characters is hashed: the largest it fills, and the
    /// next smaller one, so that texts just above and just below a rung still meet.
    pub fn rungs(&self, length: usize, longest: usize) -> Vec<Rung> {
        let filled: Vec<&Row> = TABLE
            .iter()
            .filter(|row| row.n <= length && row.n <= longest)
            .collect();
        filled
            .iter()
            .rev()
            .take(2)
            .map(|row| self.rung(row))
            .collect()
    }
}
