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
/// of the layout follow; tags of the pairs; of the layout the checksum's tag, the hash (four numbers), how many
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

    /// How many bytes it takes, with what memory is managed by.
    pub(crate) fn bytes(&self) -> u64 {
        2 * self.0.len() as u64 + 32
    }

    /// Whether a message may belong to the campaign, with which it has at most so many edit keys in common.
    pub(crate) fn may_fit(&self, message: &Asked<'_>, edits: usize) -> bool {
        if edits >= SURE_EDITS || !message.is_whole() {
            return true;
        }
        let mut rest: &[u16] = &self.0;
        while let Some((head, after)) = rest.split_first_chunk::<HEAD>() {
            let &[pairs, heaviest, low, high, layout] = head;
            let Some((pairs, after)) = after.split_at_checked(usize::from(pairs)) else {
                return true;
            };
            let Some((layout, after)) = after.split_at_checked(usize::from(layout)) else {
                return true;
            };
            let found = pairs.iter().filter(|&&tag| message.may_have(tag)).count();
            let weight = u64::from(high) << 16 | u64::from(low);
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
}

/// Numbers at the beginning of a variant.
const HEAD: usize = 5;

fn put(held: &mut Vec<u16>, known: &Sketches) {
    let packed = is_packed(known);
    let pairs = || {
        let all = known.pairs.iter();
        all.filter(|pair| packed || pair.is_content())
    };
    let heaviest = pairs().map(|pair| pair.weight).max().unwrap_or(0);
    let weight: u32 = pairs().map(|pair| u32::from(pair.weight)).sum();
    let look = known.layout.as_ref().map(look).unwrap_or_default();
    held.extend([
        pairs().count() as u16,
        heaviest.into(),
        weight as u16,
        (weight >> 16) as u16,
        look.len() as u16,
    ]);
    held.extend(pairs().map(|pair| tag(pair.key)));
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
        let (mut out, mut fits) = (0, 0);
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
        // Both happened often enough for this to mean something.
        assert!(out > 5_000 && fits > 5_000, "{out} {fits}");
    }

    #[test]
    fn strangers_that_share_a_pair_are_ruled_out() {
        let mut dice = Dice(9);
        let mut through = 0;
        for _ in 0..1000 {
            let pair = |key| Fingerprint {
                key,
                weight: 160,
                place: 0,
            };
            let mut sketches = [0; 2].map(|_| Sketches {
                pairs: dice.keys(300, 1 << 50).into_iter().map(pair).collect(),
                ..Sketches::default()
            });
            let [known, message] = &mut sketches;
            known.pairs.truncate(96);
            message.pairs.push(known.pairs[7]);
            message.pairs.sort_unstable_by_key(|pair| pair.key);
            message.all_pairs = message.pairs.len() as u32;
            let glance = Glance::of(&Campaign::begin(known, 0)).unwrap();
            through += usize::from(glance.may_fit(&Asked::new(message), 3));
        }
        assert!(through < 10, "{through}");
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
