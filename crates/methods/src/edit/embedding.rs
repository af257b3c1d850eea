//! The deterministic embedding: texts as counts of q-grams in every window.
//!
//! Far too large to keep, but it is what the random hashes sample, and its distance `D` is bounded
//! from both sides by the edit distance.

use std::collections::HashMap;

/// Width of the windows and lengths of the q-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Characters in a window.
    pub width: usize,
    /// The shortest q-grams that are counted.
    pub shortest: usize,
    /// The longest.
    pub longest: usize,
}

impl Windows {
    /// The paper's lengths of q-grams for windows of this width: q₁ = ⌊2w/3⌋ + 1 and
    /// Δq = ⌊½(−7 + √(57 + 16(w − 2w/3)))⌋.
    pub fn of_width(width: usize) -> Self {
        let shortest = 2 * width / 3 + 1;
        // w − 2w/3 = w/3, in integers: (2Δq + 7)² ≤ 57 + 16w/3.
        let most = 3 * 57 + 16 * width;
        let mut steps = 0;
        while 3 * (2 * (steps + 1) + 7) * (2 * (steps + 1) + 7) <= most {
            steps += 1;
        }
        Self {
            width,
            shortest,
            longest: shortest + steps,
        }
    }

    /// How many lengths there are, Δq + 1.
    pub fn lengths(&self) -> usize {
        self.longest + 1 - self.shortest
    }

    /// `D(x, y)`: the L1 distance of the counts, summed over windows and lengths of q-grams, divided
    /// by how many of both there are. The longer text is cut; texts shorter than a window are 0 apart.
    pub fn distance(&self, x: &[char], y: &[char]) -> f64 {
        let n = x.len().min(y.len());
        let Some(last) = n.checked_sub(self.width) else {
            return 0.0;
        };
        let sum: u64 = (self.shortest..=self.longest)
            .map(|q| self.sum_for(&x[..n], &y[..n], q))
            .sum();
        sum as f64 / ((last + 1) * self.lengths()) as f64
    }

    /// The part of the sum that one length of q-grams gives, counted by sliding the window.
    fn sum_for(&self, x: &[char], y: &[char], q: usize) -> u64 {
        let mut numbers = HashMap::new();
        let mut number = |text: &[char]| -> Vec<usize> {
            text.windows(q)
                .map(|gram| {
                    let next = numbers.len();
                    *numbers.entry(gram.to_vec()).or_insert(next)
                })
                .collect()
        };
        let (x, y) = (number(x), number(y));
        let mut surplus = vec![0_i32; numbers.len()];
        let mut apart = 0_u64;
        let mut change = |gram: usize, by: i32, apart: &mut u64| {
            let before = u64::from(surplus[gram].unsigned_abs());
            surplus[gram] += by;
            *apart = *apart + u64::from(surplus[gram].unsigned_abs()) - before;
        };
        let in_window = self.width + 1 - q;
        let mut sum = 0;
        for at in 0..x.len() {
            change(x[at], 1, &mut apart);
            change(y[at], -1, &mut apart);
            if at >= in_window {
                change(x[at - in_window], -1, &mut apart);
                change(y[at - in_window], 1, &mut apart);
            }
            if at + 1 >= in_window {
                sum += apart;
            }
        }
        sum
    }

    /// The most that `D` can be: all q-grams of all windows differ.
    pub fn farthest(&self) -> f64 {
        (2 * (self.width + 1)) as f64 - (self.shortest + self.longest) as f64
    }

    /// What `D` is at least for texts of `n` characters that are more than `edits` apart.
    pub fn at_least(&self, n: usize, edits: usize) -> f64 {
        let steps = self.lengths() as f64;
        let spread = steps * (steps + 1.0);
        let height = self.width as f64 - (steps - 1.0) + 1.0;
        let windows = (n + 1 - self.width) as f64;
        spread * height * (edits as f64 / (2.0 * steps) - 2.0) / (windows * steps)
    }

    /// What `D` is at most for texts of `n` characters that are at most `edits` apart.
    pub fn at_most(&self, n: usize, edits: usize) -> f64 {
        let (width, n) = (self.width as f64, n as f64);
        2.0 * edits as f64 * (width * width + n + 1.0) / (n - width + 1.0)
    }
}
