//! Sets of UIDs, as IMAP writes them: `1:4,7`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of UIDs, kept as sorted ranges that neither touch nor overlap.
///
/// ```
/// use twicetold_account::UidSet;
/// let mut set: UidSet = "7,1:3".parse().unwrap();
/// set.insert(4);
/// assert_eq!(set.to_string(), "1:4,7");
/// assert_eq!(set.len(), 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UidSet {
    ranges: Vec<(u32, u32)>,
}

impl UidSet {
    /// The UIDs from `first` to `last`.
    pub fn range(first: u32, last: u32) -> Self {
        let mut set = Self::default();
        set.insert_range(first, last);
        set
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many UIDs are in the set.
    pub fn len(&self) -> u64 {
        self.ranges
            .iter()
            .map(|&(first, last)| u64::from(last - first) + 1)
            .sum()
    }

    /// The highest UID.
    pub fn last(&self) -> Option<u32> {
        self.ranges.last().map(|&(_, last)| last)
    }

    /// Whether the UID is in the set.
    pub fn contains(&self, uid: u32) -> bool {
        let after = self.ranges.partition_point(|&(first, _)| first <= uid);
        after > 0 && self.ranges[after - 1].1 >= uid
    }

    /// Adds a UID.
    pub fn insert(&mut self, uid: u32) {
        self.insert_range(uid, uid);
    }

    /// Adds all UIDs from one to another; their order does not matter, as in IMAP.
    pub fn insert_range(&mut self, first: u32, last: u32) {
        let (first, last) = (first.min(last), first.max(last));
        // Ranges that touch or overlap the new one are replaced by their union.
        let from = self
            .ranges
            .partition_point(|&(_, end)| end.checked_add(1).is_some_and(|next| next < first));
        let to = self
            .ranges
            .partition_point(|&(start, _)| last.checked_add(1).is_none_or(|next| start <= next));
        if from < to {
            let first = first.min(self.ranges[from].0);
            let last = last.max(self.ranges[to - 1].1);
            self.ranges.splice(from..to, [(first, last)]);
        } else {
            self.ranges.insert(from, (first, last));
        }
    }

    /// Adds all UIDs of another set.
    pub fn extend(&mut self, other: &Self) {
        let mut all = std::mem::take(&mut self.ranges);
        all.extend_from_slice(&other.ranges);
        self.ranges = merged(all);
    }

    /// What is in this set and not in the other.
    pub fn without(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let mut at = 0;
        for &(first, last) in &self.ranges {
            let mut next = Some(first);
            while at < other.ranges.len() && other.ranges[at].1 < first {
                at += 1;
            }
            let mut cut = at;
            while let (Some(from), Some(&(start, end))) = (next, other.ranges.get(cut)) {
                if start > last {
                    break;
                }
                if start > from {
                    ranges.push((from, start - 1));
                }
                next = end.checked_add(1).filter(|&after| after <= last);
                cut += 1;
            }
            if let Some(from) = next {
                ranges.push((from, last));
            }
        }
        Self { ranges }
    }

    /// What is in both sets.
    pub fn common(&self, other: &Self) -> Self {
        self.without(&self.without(other))
    }

    /// The UIDs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }

    /// The set cut into parts of at most `most` UIDs each; a part is short enough for one command.
    pub fn parts(&self, most: u32) -> Vec<Self> {
        // A server need not take lines of more than 8,000 characters; a range has at most 22.
        const RANGES: usize = 300;
        let most = most.max(1);
        let mut parts = Vec::new();
        let mut part = Self::default();
        let mut room = most;
        for &(mut first, last) in &self.ranges {
            loop {
                if room == 0 || part.ranges.len() >= RANGES {
                    parts.push(std::mem::take(&mut part));
                    room = most;
                }
                let end = last.min(first.saturating_add(room - 1));
                part.ranges.push((first, end));
                room -= end - first + 1;
                match end.checked_add(1) {
                    Some(next) if next <= last => first = next,
                    _ => break,
                }
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
        parts
    }
}

fn merged(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if before.1.checked_add(1).is_none_or(|next| first <= next) => {
                before.1 = before.1.max(last);
            }
            _ => merged.push((first, last)),
        }
    }
    merged
}

impl FromIterator<u32> for UidSet {
    fn from_iter<T: IntoIterator<Item = u32>>(uids: T) -> Self {
        Self {
            ranges: merged(uids.into_iter().map(|uid| (uid, uid)).collect()),
        }
    }
}

impl fmt::Display for UidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, &(first, last)) in self.ranges.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            if first == last {
                write!(f, "{first}")?;
            } else {
                write!(f, "{first}:{last}")?;
            }
        }
        Ok(())
    }
}

/// What was given is no set of UIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUidSet;

impl fmt::Display for NoUidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a set of UIDs such as 1:4,7")
    }
}

impl std::error::Error for NoUidSet {}

impl std::str::FromStr for UidSet {
    type Err = NoUidSet;

    fn from_str(text: &str) -> Result<Self, NoUidSet> {
        let uid = |text: &str| match text.parse::<u32>() {
            Ok(uid) if uid > 0 && text.bytes().all(|c| c.is_ascii_digit()) => Ok(uid),
            _ => Err(NoUidSet),
        };
        let mut ranges = Vec::new();
        if text.is_empty() {
            return Ok(Self::default());
        }
        for part in text.split(',') {
            let (first, last) = match part.split_once(':') {
                Some((first, last)) => (uid(first)?, uid(last)?),
                None => (uid(part)?, uid(part)?),
            };
            ranges.push((first.min(last), first.max(last)));
        }
        Ok(Self {
            ranges: merged(ranges),
        })
    }
}

impl Serialize for UidSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UidSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn plain(set: &UidSet) -> BTreeSet<u32> {
        set.iter().collect()
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "0",
            "a",
            "1:",
            ":2",
            "1,,2",
            "+1",
            "4294967296",
            "1:*",
            " 1",
        ] {
            assert_eq!(text.parse::<UidSet>(), Err(NoUidSet), "{text}");
        }
        assert_eq!("4:2".parse(), Ok(UidSet::range(2, 4)));
        let all = UidSet::range(1, u32::MAX);
        assert_eq!(all.to_string().parse(), Ok(all.clone()));
        assert_eq!(all.without(&UidSet::range(5, u32::MAX)).to_string(), "1:4");
        assert_eq!(all.parts(u32::MAX).len(), 1);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_set(
            a in proptest::collection::vec((1u32..60, 0u32..5), 0..12),
            b in proptest::collection::vec((1u32..60, 0u32..5), 0..12),
            most in 1u32..7,
        ) {
            let build = |parts: &[(u32, u32)]| {
                let mut set = UidSet::default();
                for &(first, more) in parts { set.insert_range(first, first + more); }
                set
            };
            let (a, b) = (build(&a), build(&b));
            let (pa, pb) = (plain(&a), plain(&b));
            prop_assert_eq!(a.len(), pa.len() as u64);
            prop_assert_eq!(plain(&a.without(&b)), pa.difference(&pb).copied().collect());
            prop_assert_eq!(plain(&a.common(&b)), pa.intersection(&pb).copied().collect());
            let mut both = a.clone();
            both.extend(&b);
            prop_assert_eq!(plain(&both), pa.union(&pb).copied().collect());
            prop_assert_eq!(a.to_string().parse::<UidSet>(), Ok(a.clone()));
            prop_assert_eq!(pa.iter().copied().collect::<UidSet>(), a.clone());
            for uid in 1..70 { prop_assert_eq!(a.contains(uid), pa.contains(&uid)); }
            let parts = a.parts(most);
            prop_assert!(parts.iter().all(|part| (1..=u64::from(most)).contains(&part.len())));
            prop_assert_eq!(parts.iter().flat_map(UidSet::iter).collect::<Vec<_>>(), a.iter().collect::<Vec<_>>());
        }
    }
}
