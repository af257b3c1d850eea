//! What is kept of a message: fingerprints from which nobody can read it.
//!
//! | method | what | how two are compared |
//! |---|---|---|
//! | `winnow` | numbers of all pairs of neighbouring words, folded, each with its rarity and its place | the share of the reported text that stands in the message |
//! | `imatch` | hashes of the mid-frequency words under randomised lexicons | how many agree |
//! | `simhash` | 64 bits of the words | how many bits differ |
//! | `edit` | hashes of sampled stretches of letters | how many agree |
//! | `layout` | the tags and link domains of its HTML | equal, or near |
//!
//! A sketch can be made where the message is and sent elsewhere: [`Sketches::to_bytes`].

mod bytes;
mod headers;
mod rarity;
mod tokens;

use std::sync::OnceLock;

use twicetold_methods::edit::Sweep;
use twicetold_methods::imatch::{Imatch, Removal};
use twicetold_methods::layout::{Abstraction, Cosdes};
use twicetold_methods::simhash::SimHash;
use twicetold_methods::winnow::pair;
use twicetold_model::{Document, Form, Method};
use xxhash_rust::xxh3::xxh3_64;

pub use headers::Trust;

/// More word pairs than this are sampled by their numbers, the smallest ones kept.
pub(crate) const MOST_PAIRS: usize = 1024;
/// Into how many stretches a text is cut to tell where a pair stands.
pub(crate) const STRETCHES: usize = 8;
/// Rarities are kept in steps of 1/16 of a natural unit.
const STEP: f32 = 16.0;
/// Layouts with fewer tags and links than this say nothing: less than the method's own limit, because a
/// layout counts here only together with the same links, or if it is equal and rich.
const LEAST_TAGS: usize = 6;
/// Texts with fewer letters than this have no edit keys: they would be shared by many.
const LEAST_LETTERS: usize = 160;

/// One word pair of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// The number of the pair.
    pub key: u64,
    /// How much it tells, in sixteenths of a natural unit of information.
    pub weight: u8,
    /// In which eighth of the text it stands (three bits), and the flags below.
    pub place: u8,
}

impl Fingerprint {
    /// It stands in a greeting, a signature or a footer.
    pub(crate) const PACKAGING: u8 = 8;
    /// It stands in text that is quoted with marks.
    pub(crate) const QUOTED: u8 = 16;

    /// In which stretch of the text it stands, 0 to 7.
    pub fn stretch(self) -> usize {
        usize::from(self.place) % STRETCHES
    }

    /// Whether it belongs to what the message says, and not to its packaging.
    pub fn is_content(self) -> bool {
        self.place & Self::PACKAGING == 0
    }

    /// Whether it stands in quoted text.
    pub fn is_quoted(self) -> bool {
        self.place & Self::QUOTED != 0
    }
}

/// How an HTML message is laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutSketch {
    /// Equal for equal tags and link domains.
    pub checksum: u64,
    /// Near for near tags and link domains.
    pub near: u64,
    /// A number for each link domain, sorted, at most sixteen.
    pub links: Vec<u64>,
    /// A number for each page it links to without showing the address, sorted, the smallest sixteen.
    pub targets: Vec<u64>,
    /// How many tags it has, at most 65,535.
    pub tags: u16,
}

/// What is kept of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketches {
    /// Word pairs, sorted by number, each once, the smallest 1,024.
    pub pairs: Vec<Fingerprint>,
    /// How many pairs there were before that cut.
    pub all_pairs: u32,
    /// I-Match hashes, sorted.
    pub imatch: Vec<u64>,
    /// The SimHash of its words.
    pub simhash: Option<u64>,
    /// Keys of the edit method, sorted.
    pub edit: Vec<u64>,
    /// Its layout, if it has HTML that shows something.
    pub layout: Option<LayoutSketch>,
    /// Equal for equal texts, folded, with equal attachments.
    pub identity: u64,
    /// Whether it is bulk mail that says from whom it is: a mailing list is named, and the server that
    /// the reader trusts found SPF or DKIM to pass.
    pub authenticated_bulk: bool,
}

impl Sketches {
    /// Sketches a message.
    pub fn of(form: Form, message: &[u8], trust: &Trust) -> Self {
        let mut document = twicetold_mail::read(form, message);
        let layout = twicetold_mail::html::tags::layout_of(form, message);
        document.layout = layout.map(Box::new);
        let mut sketches = Self::of_document(&document);
        sketches.authenticated_bulk =
            form == Form::Mail && headers::is_authenticated_bulk(message, trust);
        sketches
    }

    /// Sketches a message that has been read, its layout filled in if that is to count.
    pub fn of_document(document: &Document) -> Self {
        let tokens = tokens::tokens(document);
        let letters: usize = tokens.iter().map(|token| token.letters).sum();
        let (pairs, all_pairs) = fingerprints(&tokens);
        let imatch = imatch().sketch(document);
        let edit = if letters < LEAST_LETTERS {
            Vec::new()
        } else {
            edit().keys(document)
        };
        Self {
            pairs,
            all_pairs,
            imatch: imatch.map(|sketch| sketch.keys).unwrap_or_default(),
            simhash: simhash().of_document(document),
            edit,
            layout: layout(document),
            identity: identity(document, &tokens),
            authenticated_bulk: false,
        }
    }

    /// Whether there is nothing to recognise it by.
    pub fn is_blank(&self) -> bool {
        self.pairs.is_empty() && self.layout.is_none()
    }
}

/// I-Match with few, fitted lexicons: found to bear a tenth of changed words.
fn imatch() -> &'static Imatch {
    static IMATCH: OnceLock<Imatch> = OnceLock::new();
    IMATCH.get_or_init(|| Imatch {
        copies: 12,
        removal: Removal::FITTED,
        ..Imatch::default()
    })
}

fn simhash() -> SimHash {
    SimHash {
        stop_words: false,
        ..SimHash::default()
    }
}

/// Few trees of sixteen hashes, at most 2,000 letters read.
fn edit() -> &'static Sweep {
    static EDIT: OnceLock<Sweep> = OnceLock::new();
    EDIT.get_or_init(|| Sweep::new(12, 16, 2, 4, 2000, 0))
}

/// The pairs of neighbouring words, sorted by number, and how many there are in all.
fn fingerprints(tokens: &[tokens::Token]) -> (Vec<Fingerprint>, u32) {
    let content = tokens.iter().filter(|token| !token.packaging).count();
    let (mut all, mut seen) = (Vec::with_capacity(tokens.len()), 0_usize);
    let mut known = tokens.first().map_or(0.0, rarity::information);
    for two in tokens.windows(2) {
        let [first, second] = two else { continue };
        let before = known;
        known = rarity::information(second);
        let packaging = first.packaging || second.packaging;
        // A place in the content, so that a long footer does not crowd it into one stretch.
        let stretch = (seen * STRETCHES / content.max(1)).min(STRETCHES - 1) as u8;
        seen += usize::from(!first.packaging);
        let tells = before + known;
        let mut place = stretch;
        if packaging {
            place |= Fingerprint::PACKAGING;
        }
        if first.quoted || second.quoted {
            place |= Fingerprint::QUOTED;
        }
        all.push(Fingerprint {
            key: pair(first.hash, second.hash),
            weight: (tells * STEP).clamp(1.0, 255.0) as u8,
            place,
        });
    }
    // Of equal pairs the first in the content stays, quoted ones last.
    all.sort_unstable_by_key(|one| {
        let later = (!one.is_content(), one.is_quoted());
        (one.key, later, one.place)
    });
    all.dedup_by_key(|one| one.key);
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
    all.truncate(MOST_PAIRS);
    (all, count)
}

fn layout(document: &Document) -> Option<LayoutSketch> {
    let method = Cosdes::default();
    let abstraction = Abstraction::of(document.layout.as_deref()?);
    if abstraction.len() < LEAST_TAGS {
        return None;
    }
    let mut links: Vec<u64> = abstraction
        .anchors
        .iter()
        .map(|link| link.number())
        .collect();
    links.truncate(16);
    Some(LayoutSketch {
        checksum: abstraction.checksum(),
        near: method.hash(&abstraction),
        links,
        targets: document.links.iter().copied().take(16).collect(),
        tags: u16::try_from(abstraction.tags.len()).unwrap_or(u16::MAX),
    })
}

/// A number for what the message says and carries, whatever its headers.
fn identity(document: &Document, tokens: &[tokens::Token]) -> u64 {
    let mut bytes = Vec::with_capacity(8 * tokens.len());
    for token in tokens {
        bytes.extend(token.hash.to_le_bytes());
    }
    for link in &document.links {
        bytes.extend(link.to_le_bytes());
    }
    for attachment in &document.attachments {
        bytes.extend(attachment.digest);
    }
    xxh3_64(&bytes)
}
