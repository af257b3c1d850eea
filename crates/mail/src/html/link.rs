//! Link targets: their stable hash, and which of them a text does not show.

use foldhash::{HashSet, HashSetExt};
use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

/// A stable hash of a web address: blanks around it do not count, nor does the case of its scheme
/// and host; everything else does, the fragment too.
///
/// ```
/// use twicetold_mail::html::link_hash;
/// assert_eq!(link_hash(" HTTP://Example.ORG/Path#a "), link_hash("http://example.org/Path#a"));
/// assert_ne!(link_hash("http://example.org/Path"), link_hash("http://example.org/path"));
/// ```
pub fn link_hash(url: &str) -> u64 {
    let url = url.trim();
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| host + at);
    if url[..end].bytes().any(|b| b.is_ascii_uppercase()) {
        let mut lower = url[..end].to_ascii_lowercase();
        lower.push_str(&url[end..]);
        return xxh3_64(lower.as_bytes());
    }
    xxh3_64(url.as_bytes())
}

/// Whether a link leads to another place that has an address of its own.
pub(super) fn is_web(url: &str) -> bool {
    let url = url.trim_start().as_bytes();
    ["http://", "https://", "ftp://"].iter().any(|scheme| {
        url.get(..scheme.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// What people write of an address: no scheme, no slash at its end.
fn shown(url: &str) -> &str {
    let url = url.trim();
    let url = url.find("://").map_or(url, |at| &url[at + 3..]);
    url.trim_end_matches('/')
}

/// Whether a text is the address itself, as people write it.
pub(super) fn spells_out(text: &str, url: &str) -> bool {
    let text = text.trim().trim_matches(['<', '>']);
    let fits = text.len() <= url.len() + 16 && !text.is_empty();
    fits && link_hash(shown(text)) == link_hash(shown(url))
}

/// Hashes of the links whose address does not stand in the text; sorted, each once.
pub(crate) fn hidden_links(links: &[String], text: &str) -> Vec<u64> {
    if links.is_empty() {
        return Vec::new();
    }
    let seen = addresses(text);
    let mut hidden: Vec<u64> = links
        .iter()
        .filter(|url| !seen.contains(&link_hash(shown(url))))
        .map(|url| link_hash(url))
        .collect();
    hidden.sort_unstable();
    hidden.dedup();
    hidden
}

/// Hashes of all addresses in a text, without scheme and last slash.
fn addresses(text: &str) -> HashSet<u64> {
    let mut seen = HashSet::new();
    for (mark, skip) in [("://", 3), ("www.", 0)] {
        let finder = memmem::Finder::new(mark);
        let mut at = 0;
        while let Some(step) = finder.find(&text.as_bytes()[at..]) {
            let start = at + step + skip;
            let rest = &text[start..];
            let length = rest
                .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`'))
                .unwrap_or(rest.len());
            let address = &rest[..length];
            seen.insert(link_hash(shown(address)));
            let bare =
                address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '*']);
            seen.insert(link_hash(shown(bare)));
            at = (start + length).max(at + step + 1);
        }
    }
    seen
}
