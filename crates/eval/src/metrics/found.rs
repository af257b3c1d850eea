//! Precision and recall.

use serde::{Deserialize, Serialize};

/// How many were found rightly, found wrongly and missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Found, and rightly.
    pub right: u64,
    /// Found, and wrongly.
    pub wrong: u64,
    /// Not found.
    pub missed: u64,
}

impl Found {
    /// The share of what was found that is right; 1 if nothing was found.
    pub fn precision(self) -> f64 {
        ratio(self.right, self.right + self.wrong)
    }

    /// The share of what there is that was found; 1 if there is nothing to find.
    pub fn recall(self) -> f64 {
        ratio(self.right, self.right + self.missed)
    }

    /// The harmonic mean of both.
    pub fn f1(self) -> f64 {
        let (p, r) = (self.precision(), self.recall());
        if p + r > 0.0 {
            2.0 * p * r / (p + r)
        } else {
            0.0
        }
    }

    /// Both counts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            missed: self.missed + other.missed,
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn the_papers_own_example() {
        // 128 by hand, 127 by the program, 124 of them right: .976378 and .96875 in its Figure 13.
        let found = Found {
            right: 124,
            wrong: 3,
            missed: 4,
        };
        assert!((found.precision() - 0.976_378).abs() < 1e-6);
        assert!((found.recall() - 0.968_75).abs() < 1e-9);
        assert!((found.f1() - 0.972_549).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_not_a_division_by_zero() {
        let nothing = Found::default();
        assert_eq!(
            (nothing.precision(), nothing.recall(), nothing.f1()),
            (1.0, 1.0, 1.0)
        );
        let missed = Found {
            missed: 1,
            wrong: 1,
            right: 0,
        };
        assert_eq!(missed.f1(), 0.0);
    }
}
