//! Has a file changed? Asked of the file system, without reading the file.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// By what a file is taken for unchanged without being read: what it is, how long it is, and when it was last touched.
///
/// Writing to a file, renaming it, changing its mode or setting its times back all move one of these. What they cannot
/// show is a change within the clock tick of the one before it: see [`Stamp::is_settled`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The file system it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// How many bytes it has.
    pub size: u64,
    /// When its bytes last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything about it last changed, in nanoseconds since 1970; not everywhere known.
    pub changed: i64,
}

impl Stamp {
    /// What the file system says of a file.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let mut stamp = Self {
            size: metadata.len(),
            modified: metadata.modified().map_or(0, nanoseconds),
            ..Self::default()
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            stamp.device = metadata.dev();
            stamp.inode = metadata.ino();
            stamp.changed = metadata
                .ctime()
                .saturating_mul(1_000_000_000)
                .saturating_add(metadata.ctime_nsec());
        }
        stamp.changed = stamp.changed.max(stamp.modified);
        stamp
    }

    /// Whether it is the same file, and nothing was written to it, as far as that is shown.
    pub(crate) fn has_same_bytes(&self, other: &Self) -> bool {
        let bytes = |stamp: &Self| (stamp.device, stamp.inode, stamp.size, stamp.modified);
        bytes(self) == bytes(other)
    }

    /// Whether the file had been left alone for `long` enough at the time `seen`. One that was written just then may be
    /// written again without its times showing it: clocks of file systems tick slowly.
    pub fn is_settled(&self, seen: SystemTime, long: Duration) -> bool {
        let long = i64::try_from(long.as_nanos()).unwrap_or(i64::MAX);
        self.modified.max(self.changed) < nanoseconds(seen).saturating_sub(long)
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let signed = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => signed(since),
        Err(before) => -signed(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_settles() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let stamp = Stamp {
            modified: 999_000_000_000,
            changed: 999_500_000_000,
            ..Stamp::default()
        };
        assert!(!stamp.is_settled(now, Duration::from_secs(2)));
        assert!(stamp.is_settled(now + Duration::from_secs(2), Duration::from_secs(2)));
        let ahead = Stamp {
            modified: i64::MAX,
            ..stamp
        };
        assert!(!ahead.is_settled(now, Duration::ZERO));
    }
}
