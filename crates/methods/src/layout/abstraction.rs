//! Procedure SAG: the tags of a message, reordered, with the anchors in front.

use twicetold_model::{Layout, Tag};
use xxhash_rust::xxh3::xxh3_64;

/// What an abstraction is made of: a tag, or an anchor, which is the domain that a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u64);

impl Symbol {
    const ANCHOR: u64 = 1 << 63;

    /// A tag.
    pub fn tag(tag: Tag) -> Self {
        Self(u64::from(tag.name.number()) << 1 | u64::from(tag.end))
    }

    /// An anchor: `<anchor/>` with the domain it leads to.
    pub fn anchor(domain: &str) -> Self {
        Self(xxh3_64(domain.as_bytes()) | Self::ANCHOR)
    }

    /// Whether it is an end tag. Anchors, like `<mytext/>`, count as start tags.
    pub fn is_end(self) -> bool {
        self.0 & Self::ANCHOR == 0 && self.0 & 1 == 1
    }

    /// A stable number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The abstraction of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abstraction {
    /// The anchors, in order of their numbers.
    pub anchors: Vec<Symbol>,
    /// The tags as they stand in the page.
    pub tags: Vec<Symbol>,
}

impl Abstraction {
    /// The abstraction of a layout.
    pub fn of(layout: &Layout) -> Self {
        let mut anchors: Vec<Symbol> = layout
            .hosts
            .iter()
            .map(|host| Symbol::anchor(registrable(host)))
            .collect();
        anchors.sort_unstable();
        anchors.dedup();
        Self {
            anchors,
            tags: layout.tags.iter().copied().map(Symbol::tag).collect(),
        }
    }

    /// How many symbols it has.
    pub fn len(&self) -> usize {
        self.anchors.len() + self.tags.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The symbols in the order in which they are compared: the anchors, which tell most, then the
    /// tags in [`order`].
    pub fn reordered(&self) -> Vec<Symbol> {
        let mut out = Vec::with_capacity(self.len());
        out.extend_from_slice(&self.anchors);
        out.extend(order(self.tags.len()).map(|at| self.tags[at]));
        out
    }

    /// A number for all its anchors together; `None` if it has none.
    pub fn links(&self) -> Option<u64> {
        let bytes: Vec<u8> = self
            .anchors
            .iter()
            .flat_map(|s| s.number().to_le_bytes())
            .collect();
        (!bytes.is_empty()).then(|| xxh3_64(&bytes))
    }

    /// A number that is equal for equal abstractions, and different for others but for a chance of 2⁻⁶⁴.
    pub fn checksum(&self) -> u64 {
        let mut bytes = Vec::with_capacity(8 * self.len() + 8);
        bytes.extend((self.anchors.len() as u64).to_le_bytes());
        for symbol in self.anchors.iter().chain(&self.tags) {
            bytes.extend(symbol.number().to_le_bytes());
        }
        xxh3_64(&bytes)
    }
}

/// The order in which the tags of a page of this length are compared: the middle, the quarters, the
/// eighths, and so on, the very first tag last. Pages begin alike and end alike; neighbours tell the
/// same thing twice. So places far from both ends and far from each other come first.
pub fn order(length: usize) -> impl Iterator<Item = usize> {
    let bits = usize::BITS - length.saturating_sub(1).leading_zeros();
    let slots = 1_usize << bits;
    (1..=slots).filter_map(move |at| {
        let slot = match bits {
            0 => 0,
            _ => (at % slots).reverse_bits() >> (usize::BITS - bits),
        };
        // More slots than places: every place belongs to the first slot that falls on it.
        let place = slot * length / slots;
        (place < length && slot == (place * slots).div_ceil(length)).then_some(place)
    })
}

/// The part of a host name that somebody registered: `shop.example.co.uk` becomes `example.co.uk`.
/// A number (`192.0.2.1`) or a bare suffix stays as it is.
///
/// ```
/// use twicetold_methods::layout::registrable;
/// assert_eq!(registrable("www.shop.example.co.uk"), "example.co.uk");
/// assert_eq!(registrable("192.0.2.1"), "192.0.2.1");
/// ```
pub fn registrable(host: &str) -> &str {
    let number = host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if number {
        host
    } else {
        psl::domain_str(host).unwrap_or(host)
    }
}
