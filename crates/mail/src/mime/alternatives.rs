//! `multipart/alternative`: the same message several times, to be counted once.
//!
//! The plain text is preferred, unless the HTML says more; where each says what the other does not,
//! both stay, because no content may get lost.

use foldhash::{HashSet, HashSetExt};
use xxhash_rust::xxh3::xxh3_64;

/// One rendering of a message.
#[derive(Default)]
pub(super) struct Rendering {
    /// What a reader sees.
    pub(super) text: String,
    /// Whether it comes from HTML.
    pub(super) html: bool,
    /// The link targets it holds.
    pub(super) links: Vec<String>,
}

/// More alternatives than this are not compared with each other but shown one after the other.
const MOST: usize = 8;

/// Makes one text of several renderings.
pub(super) fn choose(mut renderings: Vec<Rendering>) -> (String, bool) {
    renderings.retain(|one| !one.text.trim().is_empty());
    // Stable: plain text first, otherwise as written.
    renderings.sort_by_key(|one| one.html);
    let mut rest = renderings.into_iter();
    let Some(mut chosen) = rest.next() else {
        return Default::default();
    };
    let mut compared = 1;
    for next in rest {
        compared += 1;
        if compared > MOST {
            append(&mut chosen.text, &next.text);
            continue;
        }
        let here = words(&chosen.text);
        let there = words(&next.text);
        if next.html == chosen.html && here == there {
            continue;
        }
        if few(lacking(&there, &here), there.len()) {
            continue;
        }
        // A plain text that spells out the targets of the links says nothing more by that.
        let mut known = there;
        let size = known.len();
        for link in &next.links {
            known.extend(words(link));
        }
        let nothing_more = few(lacking(&here, &known), size.max(here.len()));
        if nothing_more || (next.html && is_notice(&chosen.text, &here)) {
            chosen = next;
        } else {
            append(&mut chosen.text, &next.text);
        }
    }
    (chosen.text, chosen.html)
}

/// Adds a text below another one, a blank line between them.
pub(super) fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if !text.ends_with("\n\n") {
            text.push('\n');
        }
    }
    text.push_str(more);
}

/// Whether a plain text only says that the message is to be read as HTML: it is short, names HTML,
/// and holds no number that could be a fact.
fn is_notice(text: &str, words: &HashSet<u64>) -> bool {
    words.len() <= 40
        && words.contains(&xxh3_64(b"html"))
        && !text.bytes().any(|b| b.is_ascii_digit())
}

/// How many words of `these` are not among `those`.
fn lacking(these: &HashSet<u64>, those: &HashSet<u64>) -> usize {
    these.difference(those).count()
}

fn few(count: usize, of: usize) -> bool {
    count <= 3 + of / 50
}

/// The distinct words of a text. Scripts without blanks give pairs of characters, so that a line
/// break between them makes no difference.
fn words(text: &str) -> HashSet<u64> {
    let mut set = HashSet::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for c in text.chars() {
        if is_ideographic(c) {
            flush(&mut word, &mut set);
            if let Some(before) = previous {
                set.insert(u64::from(u32::from(before)) << 32 | u64::from(u32::from(c)));
            }
            previous = Some(c);
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            previous = None;
        } else {
            flush(&mut word, &mut set);
        }
    }
    flush(&mut word, &mut set);
    set
}

fn flush(word: &mut String, set: &mut HashSet<u64>) {
    if !word.is_empty() {
        set.insert(xxh3_64(word.as_bytes()));
        word.clear();
    }
}

fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
