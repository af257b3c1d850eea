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

    /// A share given as a number between 0 and 1, to six decimals, rounded down: what is one of six reaches `1.0 / 6.0`.
    pub fn of(share: f64) -> Self {
        const WHOLE: u64 = 1_000_000;
        // A hair more, for decimals that binary numbers put just below themselves.
        let part = share.clamp(0.0, 1.0) * WHOLE as f64 + 1e-3;
        Self::new(part as u64, WHOLE)
    }

    /// Whether `part` of `whole` is at least this share; of nothing, it is not.
    pub fn is_reached_by(self, part: u128, whole: u128) -> bool {
        whole > 0
            && part.saturating_mul(self.whole.into()) >= whole.saturating_mul(self.part.into())
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
    fn a_share_is_reached_exactly() {
        assert!(Share::of(0.8).is_reached_by(4, 5));
        for n in 1..=1000_u32 {
            assert!(Share::of(1.0 / f64::from(n)).is_reached_by(1, n.into()));
        }
        assert!(Share::of(0.7).is_reached_by(7, 10));
        assert!(!Share::of(0.8).is_reached_by(799, 1000));
        assert!(!Share::of(0.0).is_reached_by(0, 0));
        assert!(Share::of(f64::NAN).is_reached_by(0, 1));
    }

    #[test]
    fn the_ends_are_safe() {
        assert_eq!(Share::percent(0).enough(7), 7);
        assert_eq!(Share::percent(100).enough(7), 1);
        assert_eq!(Share::percent(100).enough(0), 0);
        assert_eq!(Share::new(3, 0).least(4), 4);
    }
}
