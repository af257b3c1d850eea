//! What does a reader see of an HTML page?
//!
//! The page is read once, as a stream of tags and text, without building a tree: [`read`] takes time
//! in proportion to its length, however broken or deeply nested it is. Quoted text comes out with
//! `> ` before its lines, one per level, exactly as plain mail has it, so that one segmenter serves
//! both.

mod elements;
mod link;
mod open;
mod page;
mod style;
pub mod tags;
mod writer;

pub(crate) use link::hidden_links;
pub use link::link_hash;

/// The visible side of an HTML page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// What a reader sees.
    pub text: String,
    /// Targets of links, as written, except those that their own link text spells out.
    pub links: Vec<String>,
}

/// Reads an HTML page, or any piece of one.
///
/// ```
/// let page = twicetold_mail::html::read("<p>Hello <b>you</b></p><blockquote>old<br>news</blockquote>");
/// assert_eq!(page.text, "Hello you\n\n> old\n> news\n");
/// ```
pub fn read(source: &str) -> Page {
    let (page, concealed) = page::read(source, false);
    if concealed && page.text.trim().is_empty() {
        // Everything is hidden, most likely by a tag that was never closed: better to show it.
        return page::read(source, true).0;
    }
    page
}

/// The character set that a page declares for itself near its start.
pub(crate) fn declared_charset(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..2048).unwrap_or(bytes).to_ascii_lowercase();
    let meta = memchr::memmem::find(&head, b"<meta")?;
    let at = meta + memchr::memmem::find(&head[meta..], b"charset=")? + b"charset=".len();
    let name: String = head[at..]
        .iter()
        .skip_while(|b| matches!(b, b'"' | b'\'' | b' '))
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
        .map(|b| *b as char)
        .collect();
    (!name.is_empty()).then_some(name)
}
