//! What a glance at a campaign tells: that a message cannot belong to it.
//!
//! The larger the store, the more campaigns share a word pair or two with any message by chance. To read each of them
//! from the file and to compare it, only to find that the rest is different, would make checks slower as
//! the store grows. So of each campaign a little is held in memory: short tags of what would be compared. Tags
//! agree where the things agree, and now and then by chance: what a glance rules out, comparing would have ruled out.
//!
//! Text says nothing below a share of a tenth, unless four edit keys agree ([`crate::evidence`]). The share found is at
//! most the share of the weight: the mean of square roots, squared, is at most the mean.

use std::sync::Arc;

use twicetold_methods::simhash::distance;
use xxhash_rust::xxh3::xxh3_64;

use crate::campaign::Campaign;
use crate::evidence::{Alike, Asked, NAMED, SURE_EDITS, is_packed, tag};
use crate::sketch::{LayoutSketch, Sketches};

/// A campaign of which there is more than this is read each time.
const LONGEST: usize = 1024;

/// Of each variant kept: how many pairs there are, the weight of the heaviest, that of all (two numbers), how many numbers
/// of the layout follow; for each eighth of the pairs its last one's number, shortened, and the weight up to there; tags of the pairs; of the layout the checksum's tag, the hash (four numbers), how many
/// tags, that of the links or 0, and tags of the pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance(Arc<[u16]>);

impl Glance {
    /// What is held of a campaign; `None` if it is too much.
    pub fn of(campaign: &Campaign) -> Option<Self> {
        let mut held = Vec::with_capacity(128);
        for exemplar in &campaign.exemplars {
            put(&mut held, &exemplar.0);
            if held.len() > LONGEST {
                return None;
            }
        }
        Some(Self(held.into()))
    }

    /// What is held, as numbers.
    pub(crate) fn numbers(&self) -> &[u16] {
        &self.0
    }

    /// Whether a message may belong to the campaign, with which it has at most so many edit keys in common.
    pub(crate) fn may_fit(&self, message: &Asked<'_>, edits: usize) -> bool {
        may_fit(&self.0, message, edits)
    }
}

impl From<&[u16]> for Glance {
    fn from(numbers: &[u16]) -> Self {
        Self(numbers.into())
    }
}

/// As [`Glance::may_fit`], of what is held as numbers.
pub(crate) fn may_fit(glance: &[u16], message: &Asked<'_>, edits: usize) -> bool {
    if edits >= SURE_EDITS {
        return true;
    }
    let mut rest = glance;
    while let Some((head, after)) = rest.split_first_chunk::<HEAD>() {
        let &[pairs, heaviest, low, high, layout] = head;
        let Some((cuts, after)) = after.split_first_chunk::<CUTS>() else {
            return true;
        };
        let Some((pairs, after)) = after.split_at_checked(usize::from(pairs)) else {
            return true;
        };
        let Some((layout, after)) = after.split_at_checked(usize::from(layout)) else {
            return true;
        };
        let (sought, weight) = match message.limit() {
            u64::MAX => (pairs, u64::from(high) << 16 | u64::from(low)),
            limit => reach(pairs, cuts, limit),
        };
        let found = sought.iter().filter(|&&tag| message.may_have(tag)).count();
        // A tenth of the text; whole numbers, so that nothing is lost by rounding.
        if found as u64 * u64::from(heaviest) * 10 >= weight && found > 0 {
            return true;
        }
        if may_look_alike(message.layout(), layout) {
            return true;
        }
        rest = after;
    }
    false
}

/// Of the pairs that can be looked for in a message of which only those up to a limit are known: no fewer of them, and no more of
/// their weight.
fn reach<'p>(pairs: &'p [u16], cuts: &[u16; CUTS], limit: u64) -> (&'p [u16], u64) {
    let limit = short(limit);
    let up_to = |is_in: fn(u16, u16) -> bool| {
        let eighths = cuts.chunks_exact(2);
        eighths.take_while(|cut| is_in(cut[0], limit)).count()
    };
    // An eighth whose last pair is below the limit is in as a whole; one whose last pair is above it, but for that pair.
    let (in_, may_be_in) = (
        up_to(|last, limit| last < limit),
        up_to(|last, limit| last <= limit),
    );
    let most = match may_be_in {
        EIGHTHS => pairs.len(),
        eighths => eighth(pairs.len(), eighths + 1).saturating_sub(1),
    };
    let weight = match in_.checked_sub(1) {
        None => 0,
        Some(last) => u64::from(cuts[2 * last + 1]) * SHORTENED,
    };
    (pairs.get(..most).unwrap_or(pairs), weight)
}

/// Numbers at the beginning of a variant.
const HEAD: usize = 5;
/// Parts of the pairs of a variant, and numbers that tell about them.
const EIGHTHS: usize = 8;
const CUTS: usize = 2 * EIGHTHS;
/// In what the weight of a part is counted, so that a short number is enough.
const SHORTENED: u64 = 16;

/// Where so many eighths of the pairs end.
fn eighth(pairs: usize, eighths: usize) -> usize {
    pairs * eighths / EIGHTHS
}

/// A pair's number, shortened so that order is kept.
fn short(key: u64) -> u16 {
    (key >> 48) as u16
}

fn put(held: &mut Vec<u16>, known: &Sketches) {
    let packed = is_packed(known);
    let pairs = known.pairs.iter();
    let pairs: Vec<_> = pairs.filter(|pair| packed || pair.is_content()).collect();
    let weight = |end: usize| -> u32 {
        let some = pairs.iter().take(end);
        some.map(|pair| u32::from(pair.weight)).sum()
    };
    let heaviest = pairs.iter().map(|pair| pair.weight).max().unwrap_or(0);
    let all = weight(pairs.len());
    let look = known.layout.as_ref().map(look).unwrap_or_default();
    held.extend([
        pairs.len() as u16,
        heaviest.into(),
        all as u16,
        (all >> 16) as u16,
        look.len() as u16,
    ]);
    for eighths in 1..=EIGHTHS {
        let end = eighth(pairs.len(), eighths);
        let last = end.checked_sub(1).and_then(|last| pairs.get(last));
        held.push(last.map_or(0, |pair| short(pair.key)));
        held.push((u64::from(weight(end)) / SHORTENED) as u16);
    }
    held.extend(pairs.iter().map(|pair| tag(pair.key)));
    held.extend(look);
}

fn look(layout: &LayoutSketch) -> Vec<u16> {
    let near = layout.near;
    let mut look = vec![
        tag(layout.checksum),
        near as u16,
        (near >> 16) as u16,
        (near >> 32) as u16,
        (near >> 48) as u16,
        layout.tags,
        links(layout),
    ];
    look.extend(layout.targets.iter().map(|&target| tag(target)));
    look
}

/// A tag of the link domains, 0 if there are none.
fn links(layout: &LayoutSketch) -> u16 {
    let mut bytes = Vec::with_capacity(8 * layout.links.len());
    for link in &layout.links {
        bytes.extend(link.to_le_bytes());
    }
    if bytes.is_empty() {
        0
    } else {
        tag(xxh3_64(&bytes)).max(1)
    }
}

fn may_look_alike(message: Option<&LayoutSketch>, known: &[u16]) -> bool {
    let (Some(message), Some((head, targets))) = (message, known.split_first_chunk::<7>()) else {
        return false;
    };
    let &[checksum, a, b, c, d, tags, its_links] = head;
    let near = [a, b, c, d]
        .iter()
        .rev()
        .fold(0, |near, &part| near << 16 | u64::from(part));
    let own: Vec<u16> = message.targets.iter().map(|&target| tag(target)).collect();
    // Counted from the side on which chance makes it more.
    let shared = |of: &[u16], in_: &[u16]| of.iter().filter(|tag| in_.contains(tag)).count();
    let (ours, theirs) = (shared(&own, targets), shared(targets, &own));
    let links = links(message);
    let alike = Alike {
        equal: tag(message.checksum) == checksum,
        bits: distance(message.near, near),
        tags: (message.tags, tags),
        links: (links != 0 || its_links != 0).then_some(links == its_links),
        pages: ours.max(theirs) >= 2 && ours.max(theirs) >= own.len().min(targets.len()),
    };
    alike.certainty() >= NAMED
}

#[cfg(test)]
mod tests {
    use twicetold_methods::winnow::mix;

    use super::*;
    use crate::sketch::Fingerprint;

    /// Numbers that look drawn and are always the same.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = mix(self.0.wrapping_add(1));
            self.0 % end
        }

        /// A sorted choice of so many, out of a few that are often drawn and many that are not.
        fn keys(&mut self, count: u64, common: u64) -> Vec<u64> {
            let mut keys: Vec<u64> = (0..count)
                .map(|_| {
                    let far = self.below(4) > 0;
                    mix(self.below(common) + if far { self.below(1 << 40) } else { 0 })
                })
                .collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        }

        fn sketches(&mut self) -> Sketches {
            let count = [0, 1, 3, 12, 60, 96][self.below(6) as usize];
            let pairs = self.keys(count, 200);
            let pairs: Vec<Fingerprint> = pairs
                .into_iter()
                .map(|key| Fingerprint {
                    key,
                    weight: (1 + self.below(224)) as u8,
                    place: self.below(32) as u8,
                })
                .collect();
            let layout = (self.below(2) == 0).then(|| LayoutSketch {
                checksum: self.below(3),
                near: 0xffff << self.below(20),
                links: self.few(),
                targets: self.few(),
                tags: (20 + self.below(60)) as u16,
            });
            Sketches {
                all_pairs: pairs.len() as u32 + u32::from(self.below(9) == 0),
                pairs,
                imatch: self.few(),
                edit: self.few(),
                simhash: Some(self.below(300)),
                layout,
                identity: self.below(1 << 40),
                authenticated_bulk: false,
            }
        }

        fn few(&mut self) -> Vec<u64> {
            let count = self.below(5);
            let mut keys: Vec<u64> = (0..count).map(|_| self.below(6)).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        }
    }

    #[test]
    fn what_a_glance_rules_out_comparing_rules_out() {
        let mut dice = Dice(5);
        let (mut out, mut fits, mut long) = (0, 0, 0);
        for _ in 0..40_000 {
            let mut campaign = Campaign::begin(&dice.sketches(), 0);
            for _ in 0..dice.below(3) {
                campaign.exemplars.push(crate::Exemplar(dice.sketches()));
            }
            let mut message = dice.sketches();
            if dice.below(3) == 0 {
                // A variant, or at least a part of what was reported.
                let known = &campaign.exemplars[0].0.pairs;
                let some = known.iter().filter(|_| dice.below(3) > 0);
                message.pairs.extend(some);
                message.pairs.sort_unstable_by_key(|pair| pair.key);
                message.pairs.dedup_by_key(|pair| pair.key);
                message.all_pairs = message.pairs.len() as u32;
            }
            if dice.below(3) == 0 {
                // One so long that not all of it is known.
                let known = dice.below(1 + message.pairs.len() as u64);
                message.pairs.truncate(known as usize);
                long += 1;
            }
            let edits = campaign
                .exemplars
                .iter()
                .map(|one| twicetold_model::shared_keys(&one.0.edit, &message.edit))
                .max()
                .unwrap_or(0);
            let asked = Asked::new(&message);
            let glance = Glance::of(&campaign).unwrap();
            let named = campaign.compare(&message).is_named();
            let may = glance.may_fit(&asked, edits);
            assert!(may || !named, "{campaign:?}\n{message:?}");
            out += usize::from(!may);
            fits += usize::from(named);
        }
        // All happened often enough for this to mean something.
        let seen = [out, fits, long];
        assert!(seen.iter().all(|&count| count > 5_000), "{seen:?}");
    }

    #[test]
    fn strangers_that_share_a_pair_are_ruled_out() {
        assert!(through(300, 400) < 10);
    }

    #[test]
    fn so_are_strangers_to_a_long_message() {
        let through = [2_000, 3_000, 5_000].map(|pairs| through(pairs, 1024));
        assert!(through[0] < 100 && through[2] < 500, "{through:?}");
    }

    /// Of a thousand messages with so many pairs, of which so many are known, how many would be compared with somebody
    /// else's campaign because of one pair?
    fn through(pairs: u64, known_pairs: usize) -> usize {
        let mut dice = Dice(9);
        let mut through = 0;
        for _ in 0..1000 {
            let pair = |key| Fingerprint {
                key,
                weight: 160,
                place: 0,
            };
            let mut sketches = [300, pairs].map(|count| Sketches {
                pairs: dice.keys(count, 1 << 50).into_iter().map(pair).collect(),
                ..Sketches::default()
            });
            let [known, message] = &mut sketches;
            known.pairs.truncate(96);
            message.pairs.push(known.pairs[7]);
            message.pairs.sort_unstable_by_key(|pair| pair.key);
            message.all_pairs = message.pairs.len() as u32;
            message.pairs.truncate(known_pairs);
            let glance = Glance::of(&Campaign::begin(known, 0)).unwrap();
            through += usize::from(glance.may_fit(&Asked::new(message), 3));
        }
        through
    }

    #[test]
    fn a_campaign_of_many_long_variants_is_read() {
        let mut dice = Dice(3);
        let mut campaign = Campaign::begin(&dice.sketches(), 0);
        assert!(Glance::of(&campaign).is_some());
        for _ in 0..200 {
            campaign.exemplars.push(crate::Exemplar(dice.sketches()));
        }
        assert_eq!(Glance::of(&campaign), None);
    }
}
