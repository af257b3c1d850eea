//! A campaign: reported messages that are variants of one another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use twicetold_methods::simhash::block_keys;
use twicetold_methods::winnow::mix;
use xxhash_rust::xxh3::xxh3_64;

use crate::evidence::{Asked, Match};
use crate::sketch::{Fingerprint, Sketches};

/// Variants that are kept to compare with; further ones are only counted.
const EXEMPLARS: usize = 6;
/// A variant that holds less than this of every one kept is kept as well.
const NEW_VARIANT: f64 = 0.85;
/// One in so many pairs has to be left of a variant of which some are let go of.
const LEAST_LEFT: usize = 5;
/// Pairs that are kept of a reported message, the smallest numbers: a fair sample of its text.
const KEPT_PAIRS: usize = 96;
/// Of these, the ones that the index knows.
const INDEXED_PAIRS: usize = 16;
/// Pairs of a message that are looked up, the smallest numbers.
const SOUGHT_PAIRS: usize = 128;
/// Reporters that are known by name; further ones are only counted.
const NAMED_REPORTERS: usize = 256;
/// Messages by one reporter that are told apart.
const TOLD_APART: usize = 32;

/// The name of a campaign: sixteen hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CampaignId(pub u64);

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for CampaignId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl Serialize for CampaignId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for CampaignId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(serde::de::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

/// What one reporter said about a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// When first, in seconds since 1970.
    pub first: i64,
    /// When last.
    pub last: i64,
    /// Which different messages, by [`Sketches::identity`], sorted; at most 32.
    pub messages: Vec<u64>,
    /// Whether it counts as confirmed in the reporter's figures.
    pub confirmed: bool,
    /// Whether it counts as disputed in the reporter's figures.
    pub disputed: bool,
}

/// A campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its name.
    pub id: CampaignId,
    /// When it was first reported, in seconds since 1970.
    pub first_seen: i64,
    /// When it was last reported or recognised, to the day.
    pub last_seen: i64,
    /// How many different messages were reported, counted per reporter.
    pub messages: u64,
    /// How many of them were authenticated bulk mail.
    pub bulk: u64,
    /// Who reported it.
    pub reports: BTreeMap<String, Report>,
    /// How many reporters there are besides.
    pub further_reporters: u64,
    /// Who keeps such mail, and since when.
    pub keeps: BTreeMap<String, i64>,
    /// Variants to compare with.
    pub exemplars: Vec<Exemplar>,
    /// Campaigns that turned out to be the same.
    pub merged: Vec<CampaignId>,
}

/// A reported message as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exemplar(pub Sketches);

impl Serialize for Exemplar {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.0.to_bytes();
        if serializer.is_human_readable() {
            let mut text = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                text.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
                text.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
            }
            serializer.serialize_str(&text)
        } else {
            serializer.serialize_bytes(&bytes)
        }
    }
}

impl<'de> Deserialize<'de> for Exemplar {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            from_hexadecimal(&text).ok_or_else(|| serde::de::Error::custom("not hexadecimal"))?
        } else {
            <&[u8]>::deserialize(deserializer)?.to_vec()
        };
        Sketches::from_bytes(&bytes)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("no sketch of this version"))
    }
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            &[high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

impl Campaign {
    /// A campaign that begins with this message; nobody has reported it yet.
    pub(crate) fn begin(sketches: &Sketches, now: i64) -> Self {
        Self {
            id: Self::id_for(sketches),
            first_seen: now,
            last_seen: now,
            messages: 0,
            bulk: 0,
            reports: BTreeMap::new(),
            further_reporters: 0,
            keeps: BTreeMap::new(),
            exemplars: vec![kept(sketches)],
            merged: Vec::new(),
        }
    }

    /// The name of the campaign that begins with this message: it depends on what the message says and on
    /// nothing else.
    pub(crate) fn id_for(sketches: &Sketches) -> CampaignId {
        let layout = sketches.layout.as_ref().map_or(0, |layout| layout.checksum);
        let what = if sketches.pairs.is_empty() { layout } else { 0 };
        let bytes = [sketches.identity.to_le_bytes(), what.to_le_bytes()].concat();
        // Names are never 0, which would look like none.
        CampaignId(xxh3_64(&bytes).max(1))
    }

    /// How a message fits: the best of all variants kept.
    pub fn compare(&self, message: &Sketches) -> Match {
        self.compare_asked(&Asked::new(message))
    }

    /// As [`Campaign::compare`], for a message that is compared with several campaigns.
    pub(crate) fn compare_asked(&self, message: &Asked<'_>) -> Match {
        let mut best = Match::default();
        for known in &self.exemplars {
            let found = message.compare(&known.0);
            let key = |one: &Match| (one.certainty(), one.text, one.layout);
            if key(&found) > key(&best) || best == Match::default() {
                best = found;
            }
        }
        best
    }

    /// Whether exactly this text was reported, however little it says.
    pub fn holds(&self, message: &Sketches) -> bool {
        let same = |known: &Exemplar| known.0.identity == message.identity;
        !message.pairs.is_empty() && self.exemplars.iter().any(same)
    }

    /// How many different people reported it.
    pub fn reporters(&self) -> u64 {
        self.reports.len() as u64 + self.further_reporters
    }

    /// Whether most of it is authenticated bulk mail.
    pub fn is_bulk(&self) -> bool {
        self.bulk * 2 > self.messages
    }

    /// Files a report. Says whether the reporter is new to the campaign.
    pub(crate) fn report(&mut self, message: &Sketches, reporter: &str, now: i64) -> bool {
        self.last_seen = self.last_seen.max(now);
        self.first_seen = self.first_seen.min(now);
        self.keeps.remove(reporter);
        let found = self.compare(message);
        if self.exemplars.len() < EXEMPLARS
            && !self.holds(message)
            && found
                .evidence
                .winnow
                .is_none_or(|share| share < NEW_VARIANT)
        {
            self.exemplars.push(kept(message));
        }
        if !self.reports.contains_key(reporter) && self.reports.len() >= NAMED_REPORTERS {
            self.further_reporters += 1;
            self.count(message);
            return false;
        }
        let new = !self.reports.contains_key(reporter);
        let report = self.reports.entry(reporter.to_owned()).or_default();
        if new {
            report.first = now;
        }
        report.last = report.last.max(now);
        if let Err(at) = report.messages.binary_search(&message.identity) {
            if report.messages.len() < TOLD_APART {
                report.messages.insert(at, message.identity);
            }
            self.count(message);
        }
        new
    }

    fn count(&mut self, message: &Sketches) {
        self.messages += 1;
        self.bulk += u64::from(message.authenticated_bulk);
    }

    /// Somebody whose word counts keeps a message that was taken for one of these. What both have in common is no sign of
    /// spam, be it the frame of a newsletter or the footer of a list, and is let go of; the rest is still looked for. If there
    /// is hardly any rest, the text itself is disputed, and stays.
    pub(crate) fn let_go(&mut self, kept: &Sketches) {
        for Exemplar(known) in &mut self.exemplars {
            let shared = |pair: &Fingerprint| {
                let found = kept.pairs.binary_search_by_key(&pair.key, |one| one.key);
                found.is_ok()
            };
            let left = known.pairs.iter().filter(|pair| !shared(pair)).count();
            if left * LEAST_LEFT >= known.pairs.len() {
                known.pairs.retain(|pair| !shared(pair));
            }
        }
    }

    /// Takes over what another campaign has, which is the same as this one.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.first_seen = self.first_seen.min(other.first_seen);
        self.last_seen = self.last_seen.max(other.last_seen);
        self.messages += other.messages;
        self.bulk += other.bulk;
        self.further_reporters += other.further_reporters;
        for (name, theirs) in other.reports {
            if !self.reports.contains_key(&name) && self.reports.len() >= NAMED_REPORTERS {
                self.further_reporters += 1;
                continue;
            }
            let report = self.reports.entry(name).or_insert_with(|| theirs.clone());
            report.first = report.first.min(theirs.first);
            report.last = report.last.max(theirs.last);
            report.confirmed |= theirs.confirmed;
            report.disputed |= theirs.disputed;
            let both: BTreeSet<u64> = report
                .messages
                .iter()
                .chain(&theirs.messages)
                .copied()
                .collect();
            report.messages = both.into_iter().take(TOLD_APART).collect();
        }
        for (name, since) in other.keeps {
            self.keeps.entry(name).or_insert(since);
        }
        for exemplar in other.exemplars {
            if self.exemplars.len() < 2 * EXEMPLARS && !self.holds(&exemplar.0) {
                self.exemplars.push(exemplar);
            }
        }
        self.merged.push(other.id);
        self.merged.extend(other.merged);
        self.merged.sort_unstable();
        self.merged.dedup();
    }

    /// What the index knows it by.
    pub fn keys(&self) -> BTreeSet<u64> {
        let of = |one: &Exemplar| keys(&one.0, INDEXED_PAIRS);
        self.exemplars.iter().flat_map(of).collect()
    }
}

/// What a message is looked up by, each once.
pub(crate) fn sought(message: &Sketches) -> Vec<u64> {
    let mut keys = keys(message, SOUGHT_PAIRS);
    keys.sort_unstable();
    keys.dedup();
    keys
}

const IMATCH: u64 = 0x11;
const EDIT: u64 = 0x22;
const LAYOUT: u64 = 0x33;
const LINKS: u64 = 0x44;
const NEAR: u64 = 0x55;

/// The number under which the index knows a number of a method: different methods must not meet.
fn of(method: u64, key: u64) -> u64 {
    mix(key ^ mix(method))
}

/// Those of [`sought`] that are edit keys, sorted.
pub(crate) fn sought_edits(message: &Sketches) -> Vec<u64> {
    let mut keys: Vec<u64> = message.edit.iter().map(|&key| of(EDIT, key)).collect();
    keys.sort_unstable();
    keys
}

/// Numbers to look a message up by: of its pairs the smallest, and all of the other methods.
fn keys(sketches: &Sketches, pairs: usize) -> Vec<u64> {
    let mut keys: Vec<u64> = sketches
        .pairs
        .iter()
        .take(pairs)
        .map(|pair| pair.key)
        .collect();
    keys.extend(sketches.imatch.iter().map(|&key| of(IMATCH, key)));
    keys.extend(sketches.edit.iter().map(|&key| of(EDIT, key)));
    if let Some(layout) = &sketches.layout {
        keys.push(of(LAYOUT, layout.checksum));
        let links: Vec<u8> = layout
            .links
            .iter()
            .flat_map(|link| link.to_le_bytes())
            .collect();
        if links.is_empty() {
            keys.extend(
                block_keys(layout.near, 4)
                    .into_iter()
                    .map(|key| of(NEAR, key)),
            );
        } else {
            keys.push(of(LINKS, xxh3_64(&links)));
        }
    }
    keys
}

/// A message as it is kept: of its pairs those of the content, and of those a fair sample.
fn kept(sketches: &Sketches) -> Exemplar {
    let mut kept = sketches.clone();
    if kept.pairs.iter().any(|pair| pair.is_content()) {
        kept.pairs.retain(|pair| pair.is_content());
    }
    kept.pairs.truncate(KEPT_PAIRS);
    Exemplar(kept)
}
