//! What are the things called, and where do the rooms meet?
//!
//! Every other room depends on this one, and this one depends on nothing heavy. It holds the nouns
//! ([`Document`], [`Sketch`], [`Evidence`], [`Proof`], [`Verdict`]) and the one joint that methods
//! share ([`Method`]). It never reads a file, never parses a message, never decides anything.

mod document;
mod message;
mod method;
mod moment;
mod share;
mod verdict;

pub use document::{
    Attachment, Digest, Document, Envelope, Language, Layout, Segment, SegmentKind, Sentence, Tag,
    TagName, Word, WordFlags, WordKind,
};
pub use message::{Form, Location, Permanence, Problem, RawMessage};
pub use method::{Evidence, Method, Sketch, shared_keys};
pub use moment::{moment, seconds};
pub use share::Share;
pub use verdict::{Category, Passage, Proof, Residue, ResidueKind, Standing, Verdict, Witness};
