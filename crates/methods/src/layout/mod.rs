//! HTML messages that are laid out alike, whatever they say.
//!
//! The *layout abstraction* of Cosdes, a collaborative spam detection system, with its SpTable and
//! SpTrees, and the later proposal to keep SimHashes in their nodes. A message becomes the list of its
//! tags (comments, hidden and empty elements left out, each stretch of text one `<mytext/>`), put into
//! an order that tells messages apart early, and the registrable domains of its links, once each.
//! [`Abstraction`] is that list; [`SpTable`] finds equal ones; a SimHash of tag shingles ([`simhash`])
//! finds near-equal ones. A message without HTML has no layout: the method abstains.
//!
//! | parameter | default | more | less |
//! |---|---|---|---|
//! | `least` | 12 | fewer messages have a layout that means something | simple pages look alike |
//! | `run` | 3 | order of tags counts more, an extra tag costs more | only the mix of tags counts |
//! | `anchor` | 8 | other links make another layout | links hardly matter |
//!
//! Two layouts are alike by the cosine of the angle that their SimHashes show: .9 is nine bits of 64.
//! At .9, with 71 HTML spam messages stored and one tag in a hundred or in twenty followed by a new
//! one, .97 are found again (all but those below `least`); with all words replaced .97; with all links
//! replaced .34 (`anchor` = 1: .96, but only .86 with all words replaced). None of 172 honest HTML
//! messages is near any of them. Equal abstractions, the paper's test, keep .87, .42, .37 and .23. One
//! SimHash per node instead of a hash, the paper's variant, keeps .87, .44, .37 and .23: a new tag
//! shifts all that follows. The parameters were chosen among sixty on these same messages, so expect
//! a little less elsewhere.
//!
//! A layout alone proves nothing: thousands of honest newsletters share one.
//!
//! ```
//! use twicetold_methods::layout::{Abstraction, Node, SpTable};
//! use twicetold_model::{Layout, Tag, TagName};
//!
//! let p = TagName::of(b"p").unwrap();
//! let page = Layout {
//!     tags: vec![Tag { name: p, end: false }, Tag::TEXT, Tag { name: p, end: true }],
//!     hosts: vec!["www.spam.com".to_owned()],
//! };
//! let abstraction = Abstraction::of(&page);
//! assert_eq!(abstraction.len(), 4); // <spam.com> <p> <mytext/> </p>
//! let mut table = SpTable::new(Node::Exact);
//! table.add(1, &abstraction);
//! let search = table.search(&abstraction);
//! assert_eq!((search.ids, search.levels), (vec![1], 3)); // subsequences of 1, 2 and 1 symbols
//! ```

mod abstraction;
mod near;
mod sptree;

pub use abstraction::{Abstraction, Symbol, order, registrable};
pub use near::{Votes, apart, keys, simhash};
pub use sptree::{LONGEST, Node, Search, SpTable};

use twicetold_model::{Document, Evidence, Method, Sketch};

use crate::winnow::mix;

/// The method and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cosdes {
    /// Layouts with fewer tags and anchors say nothing.
    pub least: usize,
    /// How many tags make a shingle.
    pub run: usize,
    /// How many shingles an anchor counts for.
    pub anchor: u32,
}

impl Default for Cosdes {
    fn default() -> Self {
        Self {
            least: 12,
            run: 3,
            anchor: 8,
        }
    }
}

/// How alike two layouts are whose SimHashes differ in so many bits: the cosine of the angle they show.
pub fn alike(bits: u32) -> f64 {
    (std::f64::consts::PI * f64::from(bits) / 64.0)
        .cos()
        .max(0.0)
}

impl Cosdes {
    /// The checksum and the SimHash that the body of a sketch holds; `None` if it is not one of this method.
    pub fn of_body(body: &[u8]) -> Option<(u64, u64)> {
        Body::decode(body).map(|body| (body.checksum, body.near))
    }

    /// The SimHash of an abstraction.
    pub fn hash(&self, abstraction: &Abstraction) -> u64 {
        simhash(abstraction, self.run, self.anchor)
    }
}

/// What the body of a sketch holds.
struct Body {
    checksum: u64,
    near: u64,
}

impl Body {
    fn encode(&self) -> Vec<u8> {
        [self.checksum.to_le_bytes(), self.near.to_le_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (checksum, near) = bytes.split_at_checked(8)?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        Some(Self {
            checksum: number(checksum)?,
            near: number(near)?,
        })
    }
}

impl Method for Cosdes {
    fn name(&self) -> &'static str {
        "layout"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        let abstraction = Abstraction::of(document.layout.as_deref()?);
        if abstraction.len() < self.least.max(1) {
            return None;
        }
        let body = Body {
            checksum: abstraction.checksum(),
            near: self.hash(&abstraction),
        };
        let mut keys: Vec<u64> = keys(body.near).collect();
        keys.push(mix(body.checksum));
        if let Some(links) = abstraction.links() {
            keys.push(links);
        }
        keys.sort_unstable();
        keys.dedup();
        Some(Sketch {
            keys,
            body: body.encode(),
        })
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        let alike = match (Body::decode(&a.body), Body::decode(&b.body)) {
            (Some(a), Some(b)) if a.checksum == b.checksum => 1.0,
            (Some(a), Some(b)) => {
                // The angle between the two lists of votes, which is never nought for different lists.
                self::alike(apart(a.near, b.near).max(1))
            }
            _ => 0.0,
        };
        Evidence {
            containment: alike,
            resemblance: alike,
        }
    }
}

#[cfg(test)]
mod tests;
