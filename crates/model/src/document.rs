//! What a message says.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Problem;

/// A message after reading: what a person would see, cut into segments, sentences and words.
///
/// Offsets are bytes into [`Document::text`]. Making a document never fails; what could not be
/// understood is listed in [`Document::problems`].
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Who, when, about what, in answer to what.
    pub envelope: Envelope,
    /// The visible text, lines ended by `\n`, quote marks left in place.
    pub text: String,
    /// The text cut into stretches of one kind and one quote depth, in order, without gaps
    /// between lines that hold words.
    pub segments: Vec<Segment>,
    /// Every word of the text, in order.
    pub words: Vec<Word>,
    /// The words grouped into sentences, in order; no sentence crosses a segment.
    pub sentences: Vec<Sentence>,
    /// What is attached, by checksum of the decoded bytes, in order of appearance.
    pub attachments: Vec<Attachment>,
    /// Stable hashes of the link targets that the text does not show (an HTML `href`), sorted, each once.
    pub links: Vec<u64>,
    /// The language most of the text is in, as far as its commonest words tell.
    pub language: Language,
    /// How its HTML is laid out. Reading does not fill it, because only one method asks for it;
    /// `None` also for a message without HTML.
    pub layout: Option<Box<Layout>>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

impl Document {
    /// The characters of a word as they stand in the text.
    pub fn word(&self, word: &Word) -> &str {
        self.text.get(word.range()).unwrap_or_default()
    }

    /// The words of a sentence.
    pub fn sentence_words(&self, sentence: &Sentence) -> &[Word] {
        self.words
            .get(sentence.words.start as usize..sentence.words.end as usize)
            .unwrap_or_default()
    }
}

/// The headers that matter for a verdict, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// `Message-ID` with its angle brackets.
    pub message_id: Option<String>,
    /// `In-Reply-To` and `References`, oldest first, each once, with angle brackets.
    pub references: Vec<String>,
    /// The sender's address in lower case, or the display name if there is no address.
    pub from: String,
    /// The sender's display name as written; empty if there is none.
    pub from_name: String,
    /// Display names and addresses of `To` and `Cc`, joined by spaces.
    pub recipients: String,
    /// The decoded subject.
    pub subject: String,
    /// `Date` in seconds since 1970, if there is one that can be understood.
    pub date: Option<i64>,
    /// `List-Id`, or another header that names a mailing list, in lower case.
    pub list: Option<String>,
}

/// A stretch of the text of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// How many quote marks stand before its lines; 0 for text that is not quoted by marks.
    pub depth: u8,
    /// First byte in the text, at the start of a line.
    pub start: u32,
    /// One past the last byte, at the end of a line.
    pub end: u32,
}

/// What a stretch of text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// What the sender wrote for this message.
    Own,
    /// What somebody wrote before, by quote marks or below an attribution.
    Quoted,
    /// "On … wrote:", "-----Original Message-----", a block of quoted headers.
    Attribution,
    /// "Dear all,".
    Greeting,
    /// "Kind regards, Anna".
    Closing,
    /// What follows "-- ", or a line such as "Sent from my phone".
    Signature,
    /// List footers, confidentiality notices, unsubscribe notes.
    Boilerplate,
}

impl SegmentKind {
    /// Whether a reader would miss it: own and quoted text is content, the rest is packaging.
    pub fn is_content(self) -> bool {
        matches!(self, Self::Own | Self::Quoted)
    }
}

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Stable 64-bit hash of its normal form; the same on every machine and in every run.
    pub hash: u64,
    /// First byte in the text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// What sort of word it is.
    pub kind: WordKind,
    /// What else is known of it.
    pub flags: WordFlags,
}

impl Word {
    /// The bytes it takes in the text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it is a fact: something that must not get lost, nor change.
    pub fn is_fact(&self) -> bool {
        self.kind != WordKind::Plain
            || self.flags.has(WordFlags::NEGATION)
            || self.flags.has(WordFlags::CALENDAR)
    }
}

/// What sort of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WordKind {
    /// Letters only.
    Plain,
    /// A number, amount, date, time, telephone number or code: it holds a digit.
    Number,
    /// A web address.
    Url,
    /// An e-mail address.
    Address,
    /// A pictograph such as an emoji.
    Symbol,
}

/// A set of yes/no properties of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WordFlags(u8);

impl WordFlags {
    /// "not", "never", "without" and their like in many languages.
    pub const NEGATION: Self = Self(1);
    /// Too common to tell anything: left out of fingerprints.
    pub const STOP: Self = Self(2);
    /// An article or its like, which may come or go without changing what is said.
    pub const FREE: Self = Self(4);
    /// A list number ("2." or "2)") at the start of a line or of a sentence.
    pub const ENUMERATOR: Self = Self(8);
    /// Written with a capital first letter.
    pub const CAPITAL: Self = Self(16);
    /// The last word before a question mark.
    pub const ASKED: Self = Self(32);
    /// A sentence, a line of its own or a paragraph ends after this word.
    pub const END: Self = Self(64);
    /// The name of a weekday or month.
    pub const CALENDAR: Self = Self(128);

    /// Whether all of `other` is in this set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds `other` to this set.
    pub fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// This set if something holds, else an empty one.
    #[must_use]
    pub fn only_if(self, holds: bool) -> Self {
        Self(self.0 * u8::from(holds))
    }

    /// This set with `other` added.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A run of words that belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its words, as indices into [`Document::words`].
    pub words: Range<u32>,
    /// Its segment, as an index into [`Document::segments`].
    pub segment: u32,
}

/// A 256-bit checksum.
pub type Digest = [u8; 32];

/// Something attached to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its file name, if it has one.
    pub name: Option<String>,
    /// Its media type in lower case.
    pub media_type: String,
    /// How many bytes it has, decoded.
    pub size: u64,
    /// Checksum of the decoded bytes.
    pub digest: Digest,
}

/// The languages whose common words are known; [`Language::Other`] for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Language {
    #[default]
    Other,
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Russian,
    Polish,
    Czech,
    Turkish,
    Romanian,
    Hungarian,
}

/// How an HTML message is laid out, whatever it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The tags of what can be seen, in order, properly nested.
    pub tags: Vec<Tag>,
    /// The hosts that its links lead to, in lower case, sorted, each once.
    pub hosts: Vec<String>,
}

/// The start or end of an element, or a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Which element.
    pub name: TagName,
    /// Whether it is an end tag.
    pub end: bool,
}

impl Tag {
    /// A stretch of text: `<mytext/>`.
    pub const TEXT: Self = Self {
        name: TagName::TEXT,
        end: false,
    };
}

/// The name of an HTML element, as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagName(u8);

impl TagName {
    /// What a stretch of text is called.
    pub const TEXT: Self = Self(0);

    /// The element with this lower-case name; `None` if HTML has none.
    pub fn of(name: &[u8]) -> Option<Self> {
        let at = ELEMENTS
            .binary_search_by(|known| known.as_bytes().cmp(name))
            .ok()?;
        u8::try_from(at + 1).ok().map(Self)
    }

    /// The name as it is written.
    pub fn as_str(self) -> &'static str {
        match usize::from(self.0).checked_sub(1) {
            None => "mytext",
            Some(at) => ELEMENTS[at],
        }
    }

    /// A number that stands for this name for ever: stored sketches depend on it.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// The elements of HTML, old and new, in alphabetical order.
#[rustfmt::skip] // One name a line would be a long way to scroll.
const ELEMENTS: [&str; 148] = [
    "a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b", "base",
    "basefont", "bdi", "bdo", "bgsound", "big", "blink", "blockquote", "body", "br", "button",
    "canvas", "caption", "center", "cite", "code", "col", "colgroup", "data", "datalist", "dd",
    "del", "details", "dfn", "dialog", "dir", "div", "dl", "dt", "em", "embed", "fieldset",
    "figcaption", "figure", "font", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "iframe", "image", "img", "input",
    "ins", "isindex", "kbd", "keygen", "label", "layer", "legend", "li", "link", "listing", "main",
    "map", "mark", "marquee", "math", "menu", "menuitem", "meta", "meter", "multicol", "nav",
    "nobr", "noembed", "noframes", "nolayer", "noscript", "object", "ol", "optgroup", "option",
    "output", "p", "param", "picture", "plaintext", "portal", "pre", "progress", "q", "rb", "rbc",
    "rp", "rt", "rtc", "ruby", "s", "samp", "script", "search", "section", "select", "server",
    "slot", "small", "source", "spacer", "span", "strike", "strong", "style", "sub", "summary",
    "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time",
    "title", "tr", "track", "tt", "u", "ul", "var", "video", "wbr", "xmp",
];

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, TagName};

    #[test]
    fn every_element_is_found_by_its_name() {
        assert!(ELEMENTS.is_sorted());
        for name in ELEMENTS {
            assert_eq!(
                TagName::of(name.as_bytes()).map(TagName::as_str),
                Some(name)
            );
        }
        assert_eq!(TagName::of(b"mytext"), None);
        assert_eq!(TagName::of(b"o:p"), None);
        assert_eq!(TagName::TEXT.as_str(), "mytext");
    }
}
