//! Which words of two stretches are the same?
//!
//! The longest common subsequence, for stretches as long as a few sentences. What begins and ends alike is taken off first, so that only
//! the part that differs is worked on; if that part is longer than anybody could follow by eye, all of it counts as different.

/// How many words the differing part may have on each side.
const MOST: usize = 600;

/// Which words of a first stretch meet which of a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Positions in both, rising.
    pub(crate) pairs: Vec<(u32, u32)>,
    first: u32,
    second: u32,
}

impl Pairing {
    /// Positions of the first stretch that meet none.
    pub(crate) fn only_first(&self) -> Vec<u32> {
        rest(self.first, self.pairs.iter().map(|p| p.0))
    }

    /// Positions of the second stretch that meet none.
    pub(crate) fn only_second(&self) -> Vec<u32> {
        rest(self.second, self.pairs.iter().map(|p| p.1))
    }
}

/// The numbers below `len` that are not among `taken`, which rise.
fn rest(len: u32, taken: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut taken = taken.peekable();
    (0..len)
        .filter(|&n| taken.next_if_eq(&n).is_none())
        .collect()
}

/// Pairs up the equal words of two stretches, in order.
pub(crate) fn pair_up(a: &[u64], b: &[u64]) -> Pairing {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a[head..], &b[head..]);
    let tail = a_rest
        .iter()
        .rev()
        .zip(b_rest.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (a_mid, b_mid) = (
        &a_rest[..a_rest.len() - tail],
        &b_rest[..b_rest.len() - tail],
    );
    let mut pairs: Vec<(u32, u32)> = (0..head as u32).map(|n| (n, n)).collect();
    if a_mid.len() <= MOST && b_mid.len() <= MOST {
        let moved = |(x, y): (usize, usize)| ((head + x) as u32, (head + y) as u32);
        pairs.extend(longest(a_mid, b_mid).into_iter().map(moved));
    }
    let ends = (a.len() - tail..a.len()).zip(b.len() - tail..b.len());
    pairs.extend(ends.map(|(x, y)| (x as u32, y as u32)));
    Pairing {
        pairs,
        first: a.len() as u32,
        second: b.len() as u32,
    }
}

/// The longest common subsequence by the usual table.
fn longest(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if a[i] == b[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_found() {
        for (a, b, here, there) in [
            ("abc", "abc", "", ""),
            ("abc", "axc", "1", "1"),
            ("abcd", "bcd", "0", ""),
            ("", "xy", "", "01"),
            ("axbyc", "abc", "13", ""),
            ("ab", "ba", "0", "1"),
            ("aaa", "aa", "2", ""),
        ] {
            let words = |s: &str| s.bytes().map(u64::from).collect::<Vec<_>>();
            let told = |n: Vec<u32>| n.iter().map(u32::to_string).collect::<String>();
            let pairs = pair_up(&words(a), &words(b));
            assert_eq!(
                (told(pairs.only_first()), told(pairs.only_second())),
                (here.to_owned(), there.to_owned()),
                "{a} {b}"
            );
        }
    }

    #[test]
    fn stretches_too_long_to_follow_differ_in_the_middle() {
        let a: Vec<u64> = (0..2000).collect();
        let mut b = a.clone();
        b[5] = 9_999;
        b[1990] = 9_998;
        assert_eq!(pair_up(&a, &b).only_first(), (5..=1990).collect::<Vec<_>>());
    }
}
