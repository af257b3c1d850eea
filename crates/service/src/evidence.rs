//! What a message and a reported one have in common, method by method, and how sure that makes us.
//!
//! | method | evidence, 0 to 1 | certainty that it is the same campaign |
//! |---|---|---|
//! | `winnow` | share of the reported text found in the message, by rarity, spread over all of it | 0 below .1, .5 at .35, 1 from .6 on; less if what was found tells little or stands in a quotation |
//! | `imatch` | share of hashes that agree | .35 for the first agreement, each further one takes a third of the doubt |
//! | `simhash` | 1 − different bits / 64 | .4 within 3 bits, .2 within 8 |
//! | `edit` | share of keys that agree | .2 for each, at most .6 |
//! | `layout` | 1 − different bits / 64, 1 for equal layouts | see [`Match::layout`] |
//!
//! Text methods are independent enough to be joined as doubts are: the certainty is 1 less the product of
//! all doubts. Hashes can agree by chance, so `imatch`, `simhash` and one or two keys of `edit` count only
//! if a tenth of the text was found as well.

use serde::{Deserialize, Serialize};
use twicetold_methods::simhash::distance;
use twicetold_model::shared_keys;

use crate::sketch::{Fingerprint, LayoutSketch, STRETCHES, Sketches};

/// A campaign is named from this certainty on.
pub const NAMED: f64 = 0.5;
/// Found text that tells less than this (in natural units of information) is not believed in full: some
/// four pairs of rare words.
const ENOUGH: f64 = 40.0;
/// The share of found text that makes agreeing hashes count, and below which it says nothing itself.
const VERIFIED: f64 = 0.1;
/// A message that says something is no variant of one that is packaging and nothing else; what it says is to be less than this part of that.
const PACKED: u64 = 4;
/// Edit keys that make a text known whatever was found of it.
pub(crate) const SURE_EDITS: usize = 4;
/// Different bits that layouts with links to the same domains may have, and by which part the number of
/// their tags may differ.
const NEAR_LAYOUT: u32 = 9;
const NEAR_TAGS: u16 = 6;
/// The same for layouts that lead to the very same pages.
const FAR_LAYOUT: u32 = 16;
const FAR_TAGS: u16 = 3;
/// Different bits that rich layouts without any link may have.
const NEAR_LINKLESS: u32 = 5;
/// An equal layout without links says something from so many tags on.
const RICH_LAYOUT: u16 = 24;

/// What each method found; `None` where a method has nothing to say about one of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The share of the reported text that the message holds.
    pub winnow: Option<f64>,
    /// The share of I-Match hashes that agree.
    pub imatch: Option<f64>,
    /// The share of SimHash bits that agree.
    pub simhash: Option<f64>,
    /// The share of keys of the edit method that agree.
    pub edit: Option<f64>,
    /// How alike the layouts are.
    pub layout: Option<f64>,
}

/// How sure it is that a message belongs to the campaign of a reported one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    /// By what it says, 0 to 1.
    pub text: f64,
    /// By how it looks and where its links lead, 0 to 1. Layouts count only if both link to the same
    /// domains or pages, or if they are equal and rich.
    pub layout: f64,
    /// What each method found.
    pub evidence: Evidence,
}

impl Match {
    /// Whether the text alone names the campaign.
    pub fn by_text(&self) -> bool {
        self.text >= NAMED
    }

    /// Whether the campaign is named at all.
    pub fn is_named(&self) -> bool {
        self.by_text() || self.layout >= NAMED
    }

    /// One number for both. Text and layout together are surer than text; layout alone is never more
    /// than half sure, and so never enough to block.
    pub fn certainty(&self) -> f64 {
        if self.by_text() {
            1.0 - (1.0 - self.text) * (1.0 - self.layout / 2.0)
        } else if self.layout >= NAMED {
            self.layout / 2.0
        } else {
            0.0
        }
    }
}

/// Compares a message with a reported one.
pub fn compare(message: &Sketches, known: &Sketches) -> Match {
    Asked::new(message).compare(known)
}

/// A message that is compared with many reported ones.
pub(crate) struct Asked<'m> {
    message: &'m Sketches,
    /// Of long messages only pairs with small numbers are kept: others cannot be looked for.
    limit: u64,
    /// A bit for each of its pairs, by the last digits of its number: most pairs of a stranger are seen at once
    /// not to be there.
    bits: [u64; BITS / 64],
    /// Whether it says something of its own besides what it quotes.
    talks: bool,
    /// How many pairs it has besides packaging.
    content: u64,
}

/// Bits that tell whether a message may have a pair: one for each [`tag`].
const BITS: usize = 1 << 16;

/// A short name of a number, which different ones may share.
pub(crate) fn tag(key: u64) -> u16 {
    key as u16
}

fn bit(tag: u16) -> (usize, u64) {
    let place = usize::from(tag);
    (place / 64, 1 << (place % 64))
}

impl<'m> Asked<'m> {
    /// Prepares a message.
    pub(crate) fn new(message: &'m Sketches) -> Self {
        let mut bits = [0; BITS / 64];
        for pair in &message.pairs {
            let (word, bit) = bit(tag(pair.key));
            bits[word] |= bit;
        }
        let limit = match message.pairs.last() {
            Some(last) if message.all_pairs as usize > message.pairs.len() => last.key,
            _ => u64::MAX,
        };
        let content = message.pairs.iter().filter(|pair| pair.is_content());
        // Those that are kept stand for all.
        let content = content.count() as u64 * u64::from(message.all_pairs)
            / (message.pairs.len() as u64).max(1);
        Self {
            message,
            limit,
            bits,
            talks: talks_about(&message.pairs),
            content,
        }
    }

    /// Whether it may have a pair of this tag.
    pub(crate) fn may_have(&self, tag: u16) -> bool {
        let (word, bit) = bit(tag);
        self.bits[word] & bit != 0
    }

    /// Pairs with larger numbers cannot be looked for.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// How it is laid out.
    pub(crate) fn layout(&self) -> Option<&LayoutSketch> {
        self.message.layout.as_ref()
    }

    /// Compares it with a reported one.
    pub(crate) fn compare(&self, known: &Sketches) -> Match {
        let (message, found) = (self.message, self.found(known));
        let imatch = shared_keys(&message.imatch, &known.imatch);
        let edit = shared_keys(&message.edit, &known.edit);
        let bits = message
            .simhash
            .zip(known.simhash)
            .map(|(a, b)| distance(a, b));
        let mut doubt = 1.0 - found.certainty();
        if found.share >= VERIFIED {
            doubt *= 1.0 - by_imatch(imatch);
            doubt *= 1.0 - by_simhash(bits);
        }
        if found.share >= VERIFIED || edit >= SURE_EDITS {
            doubt *= 1.0 - 0.2 * edit.min(3) as f64;
        }
        let (layout, alike) = by_layout(message.layout.as_ref(), known.layout.as_ref());
        let share = |agree: usize, a: &[u64], b: &[u64]| {
            let least = a.len().min(b.len());
            (least > 0).then(|| agree as f64 / least as f64)
        };
        Match {
            text: 1.0 - doubt,
            layout,
            evidence: Evidence {
                winnow: (found.compared > 0).then_some(found.share),
                imatch: share(imatch, &message.imatch, &known.imatch),
                simhash: bits.map(|bits| 1.0 - f64::from(bits) / 64.0),
                edit: share(edit, &message.edit, &known.edit),
                layout: alike,
            },
        }
    }

    /// Looks for the pairs of a reported message's content in the message.
    ///
    /// The reported text is cut into stretches, and the square roots of the shares found in each are
    /// averaged. A text changed all over loses as much everywhere and keeps its share; a footer or a notice
    /// that two messages have in common fills some stretches and leaves the others empty, and loses.
    fn found(&self, known: &Sketches) -> Found {
        let packed = is_packed(known);
        // The footer of a list is not what a message says that stands above one.
        if packed && self.content * PACKED > u64::from(known.all_pairs) {
            return Found::default();
        }
        // In sixteenths.
        let (mut have, mut all) = ([0_u32; STRETCHES], [0_u32; STRETCHES]);
        let (mut compared, mut quoted) = (0, 0);
        let mut rest = self.message.pairs.as_slice();
        let sought = known
            .pairs
            .iter()
            .filter(|pair| pair.key <= self.limit && (packed || pair.is_content()));
        for pair in sought {
            let weight = u32::from(pair.weight);
            all[pair.stretch()] += weight;
            compared += 1;
            if !self.may_have(tag(pair.key)) {
                continue;
            }
            let at = rest.partition_point(|one| one.key < pair.key);
            rest = rest.get(at..).unwrap_or_default();
            if let Some(held) = rest.first().filter(|one| one.key == pair.key) {
                have[pair.stretch()] += weight;
                if held.is_quoted() {
                    quoted += weight;
                }
            }
        }
        let units = |sixteenths: u32| f64::from(sixteenths) / 16.0;
        let (all, have) = (all.map(units), have.map(units));
        let (total, tells): (f64, f64) = (all.iter().sum(), have.iter().sum());
        if tells <= 0.0 {
            return Found {
                compared,
                ..Found::default()
            };
        }
        // Few pairs cannot fill eight stretches.
        let width = match compared {
            0..16 => 4,
            16..32 => 2,
            _ => 1,
        };
        let roots: f64 = all
            .chunks(width)
            .zip(have.chunks(width))
            .map(|(all, have)| (all.iter().sum::<f64>(), have.iter().sum::<f64>()))
            .filter(|(all, _)| *all > 0.0)
            .map(|(all, have)| (have / all).sqrt() * all / total)
            .sum();
        Found {
            share: (roots * roots).min(1.0),
            tells,
            compared,
            quoted: if self.talks {
                units(quoted) / tells
            } else {
                0.0
            },
        }
    }
}

fn by_imatch(agree: usize) -> f64 {
    1.0 - 0.65_f64.powi(agree.min(8) as i32)
}

fn by_simhash(bits: Option<u32>) -> f64 {
    match bits {
        Some(0..=3) => 0.4,
        Some(4..=8) => 0.2,
        _ => 0.0,
    }
}

/// The certainty of two layouts, and how alike they are.
fn by_layout(a: Option<&LayoutSketch>, b: Option<&LayoutSketch>) -> (f64, Option<f64>) {
    let Some((a, b)) = a.zip(b) else {
        return (0.0, None);
    };
    let equal = a.checksum == b.checksum;
    let bits = distance(a.near, b.near);
    let alike = if equal {
        1.0
    } else {
        1.0 - f64::from(bits.max(1)) / 64.0
    };
    let shared = shared_keys(&a.targets, &b.targets);
    let alikeness = Alike {
        equal,
        bits,
        tags: (a.tags, b.tags),
        links: (!a.links.is_empty() || !b.links.is_empty()).then(|| a.links == b.links),
        pages: shared >= 2 && shared == a.targets.len().min(b.targets.len()),
    };
    (alikeness.certainty(), Some(alike))
}

/// What two layouts have in common.
pub(crate) struct Alike {
    /// Whether tags and link domains are equal.
    pub(crate) equal: bool,
    /// Different bits of their hashes.
    pub(crate) bits: u32,
    /// How many tags each has.
    pub(crate) tags: (u16, u16),
    /// Whether they link to the same domains; `None` if neither links anywhere.
    pub(crate) links: Option<bool>,
    /// Whether one leads only to pages that the other leads to, and to two at least.
    pub(crate) pages: bool,
}

impl Alike {
    /// How sure that makes us that they are of one campaign.
    pub(crate) fn certainty(&self) -> f64 {
        let (a, b) = self.tags;
        let near = |bits_at_most: u32, part: u16| {
            self.bits <= bits_at_most && a.abs_diff(b) <= a.max(b) / part
        };
        let same_links = self.links == Some(true);
        let rich = self.links.is_none() && a.min(b) >= 2 * RICH_LAYOUT;
        if self.equal && (same_links || a >= RICH_LAYOUT) {
            1.0
        } else if same_links && near(NEAR_LAYOUT, NEAR_TAGS) {
            1.0 - f64::from(self.bits) / f64::from(2 * NEAR_LAYOUT)
        } else if self.pages && near(FAR_LAYOUT, FAR_TAGS) || rich && near(NEAR_LINKLESS, NEAR_TAGS)
        {
            NAMED
        } else {
            0.0
        }
    }
}

/// Whether all that is kept of a message is packaging, which then has to do.
pub(crate) fn is_packed(known: &Sketches) -> bool {
    !known.pairs.iter().any(|pair| pair.is_content())
}

/// How much of a reported text stands in a message.
#[derive(Default)]
struct Found {
    /// The share found, by weight, less for passages found in one place only.
    share: f64,
    /// How much all that was found tells.
    tells: f64,
    /// How many pairs could be looked for.
    compared: usize,
    /// The share of what was found that the message only quotes.
    quoted: f64,
}

impl Found {
    fn certainty(&self) -> f64 {
        let of_share = ((self.share - VERIFIED) / 0.5).clamp(0.0, 1.0);
        let of_sum = (self.tells / ENOUGH).min(1.0);
        // Whoever quotes spam to talk about it does not send it.
        of_share * of_sum * (1.0 - 0.6 * self.quoted)
    }
}

/// Whether a message says something of its own besides what it quotes.
fn talks_about(pairs: &[Fingerprint]) -> bool {
    let own = pairs
        .iter()
        .filter(|pair| pair.is_content() && !pair.is_quoted());
    own.count() * 20 >= pairs.len()
}
