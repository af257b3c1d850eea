//! The lines OpenPGP puts around a signed text.

use twicetold_model::SegmentKind;

use super::lines::Page;

/// More lines than any signature has.
const LONGEST: usize = 120;

/// Marks the head of a signed message and its signature; keys and encrypted text are content.
pub(super) fn mark(page: &mut Page<'_>) {
    let mut at = 0;
    while at < page.lines.len() {
        if page.first(at) != b'-' {
            at += 1;
            continue;
        }
        let words = page.words(at);
        let end = if !words.starts_with("-----BEGIN PGP SIG") {
            at + 1
        } else if words == "-----BEGIN PGP SIGNED MESSAGE-----" {
            let head = (at + 1..page.lines.len())
                .take_while(|&line| page.continues(line) && page.words(line).starts_with("Hash:"))
                .count();
            page.mark(at..at + 1 + head, SegmentKind::Boilerplate);
            at + 1 + head
        } else if words == "-----BEGIN PGP SIGNATURE-----" {
            let end = signature_end(page, at);
            page.mark(at..end, SegmentKind::Boilerplate);
            end
        } else {
            at + 1
        };
        at = end;
    }
}

/// One past the last line of a signature; a torn one ends where its lines stop looking like one.
fn signature_end(page: &Page<'_>, begin: usize) -> usize {
    let depth = page.lines[begin].depth;
    let mut at = begin + 1;
    while at < page.lines.len() && at - begin <= LONGEST && page.lines[at].depth == depth {
        let words = page.words(at);
        if words == "-----END PGP SIGNATURE-----" {
            return at + 1;
        }
        let header = ["Version:", "Comment:", "Charset:", "Hash:", "MessageID:"]
            .iter()
            .any(|name| words.starts_with(name));
        let code = words.len() <= 80
            && words
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        if !header && !code {
            break;
        }
        at += 1;
    }
    at
}
