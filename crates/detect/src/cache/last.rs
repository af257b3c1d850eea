//! Where do the messages of a file stand that the last scan read?

use std::sync::OnceLock;

use twicetold_model::RawMessage;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::frames::Place;
use super::known::{KnownFile, KnownMessage};
use crate::record::print;

/// A file of the last scan.
pub(crate) struct LastFile<'k> {
    pub(crate) path: &'k str,
    messages: &'k [KnownMessage],
    /// No checksum will do but the one by which messages are known.
    verify: bool,
    /// The checksums of all of them, sorted, once they are asked for.
    sums: OnceLock<Box<[u128]>>,
}

/// The checksum by which a message of the last scan is known again where it may stand.
fn sum(message: &KnownMessage, verify: bool) -> u128 {
    match verify {
        true => message.print,
        false => u128::from(message.kept.quick),
    }
}

/// The same of a message as it is now.
fn sum_of(raw: &RawMessage<'_>, verify: bool) -> u128 {
    match verify {
        true => print(raw),
        false => u128::from(quick(raw)),
    }
}

impl<'k> LastFile<'k> {
    /// A file that is known; with `verify` its messages are known again by their slow checksums only.
    pub(super) fn of(file: &'k KnownFile, verify: bool) -> Self {
        Self {
            path: &file.path,
            messages: &file.messages,
            verify,
            sums: OnceLock::new(),
        }
    }

    /// Its messages: where each stands in it, the checksum of its bytes, and where its record is.
    pub(crate) fn messages(&self) -> impl ExactSizeIterator<Item = (Option<u64>, u128, Place)> {
        self.messages
            .iter()
            .map(|m| (m.offset, m.print, m.kept.place))
    }

    /// The number there of a message that stands where it stood, if it is the same one.
    pub(crate) fn same(&self, raw: &RawMessage<'_>) -> Option<usize> {
        let offset = raw.location.offset;
        let found = self.messages.binary_search_by_key(&offset, |m| m.offset);
        let found = found.ok()?;
        (sum(&self.messages[found], self.verify) == sum_of(raw, self.verify)).then_some(found)
    }

    /// The checksum by which a message is known again in this file, if one of its messages had the same.
    pub(crate) fn known(&self, raw: &RawMessage<'_>) -> Option<u128> {
        let all = || {
            let sums = self.messages.iter().map(|m| sum(m, self.verify));
            let mut sums: Box<[u128]> = sums.collect();
            sums.sort_unstable();
            sums
        };
        let sum = sum_of(raw, self.verify);
        let found = self.sums.get_or_init(all).binary_search(&sum);
        found.is_ok().then_some(sum)
    }

    /// The numbers there of messages that stand elsewhere in the file, known by these checksums, in the order in which they stand: those in front of them are gone,
    /// or others have come. `None` for what is not found behind the one before it, and for all if that is more than `most`. `taken` says which are found already.
    pub(crate) fn shifted(
        &self,
        sums: impl Iterator<Item = u128>,
        taken: impl Fn(usize) -> bool,
        most: usize,
    ) -> Option<Vec<Option<usize>>> {
        let (mut from, mut missed) = (0, 0);
        let find = |wanted: u128| {
            let mut rest = (from..self.messages.len()).filter(|&n| !taken(n));
            let found = rest.find(|&n| sum(&self.messages[n], self.verify) == wanted);
            from = found.map_or(from, |found| found + 1);
            missed += usize::from(found.is_none());
            (missed <= most).then_some(found)
        };
        sums.map(find).collect()
    }
}

/// A checksum of a message's form and bytes that is found soon.
pub(super) fn quick(raw: &RawMessage<'_>) -> u64 {
    let how = (raw.bytes.len() as u64) << 8 | raw.form as u64;
    xxh3_64_with_seed(&raw.bytes, how)
}
