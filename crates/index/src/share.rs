//! A share between none and all, as a ratio of whole numbers.

/// A share `part / whole`. Whole numbers, because floats get `⌈0.8 · 5⌉` wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    /// `part` of `whole`; more than all is all, and a share of nothing is all of it.
    pub fn new(part: u64, whole: u64) -> Self {
        if whole == 0 {
            Self { part: 1, whole: 1 }
        } else {
            Self {
                part: part.min(whole),
                whole,
            }
        }
    }

    /// So many hundredths.
    pub fn percent(percent: u32) -> Self {
        Self::new(u64::from(percent), 100)
    }

    /// The fewest of `n` things that are at least this share of them.
    pub fn least(self, n: usize) -> usize {
        (n as u64 * self.part).div_ceil(self.whole) as usize
    }

    /// How many of `n` things must be looked at so that at least one of any [`Share::least`] is among them.
    pub fn enough(self, n: usize) -> usize {
        (n - self.least(n) + 1).min(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rounding_where_there_is_none() {
        assert_eq!(Share::percent(80).least(5), 4);
        assert_eq!(Share::percent(80).enough(5), 2);
        assert_eq!(Share::percent(95).least(20), 19);
    }

    #[test]
    fn the_ends_are_safe() {
        assert_eq!(Share::percent(0).enough(7), 7);
        assert_eq!(Share::percent(100).enough(7), 1);
        assert_eq!(Share::percent(100).enough(0), 0);
        assert_eq!(Share::new(3, 0).least(4), 4);
    }
}
