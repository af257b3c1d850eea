//! Web and mail addresses in a run of characters without spaces.

use std::ops::Range;

use memchr::{memchr, memmem};
use twicetold_model::WordKind;

/// Finds the addresses of a run one after the other.
///
/// What was found ahead is remembered: looking for it again behind every address before it would
/// take quadratic time.
pub(super) struct Addresses<'t> {
    bytes: &'t [u8],
    web: Ahead<Web>,
    mail: Ahead<Mail>,
}

/// What comes next of one sort.
enum Ahead<T> {
    /// Nobody has looked yet, or what was found is passed.
    Unknown,
    /// Nothing more.
    Nothing,
    Found(T),
}

/// The first `://`.
struct Web {
    scheme: usize,
    colon: usize,
    end: usize,
}

/// The first `@`.
struct Mail {
    start: usize,
    at: usize,
    end: usize,
    dotted: bool,
}

impl<'t> Addresses<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            web: Ahead::Unknown,
            mail: Ahead::Unknown,
        }
    }

    /// The next address that begins at `from` or later; `from` never goes back.
    pub(super) fn next(&mut self, from: usize) -> Option<(Range<usize>, WordKind)> {
        let url = match (self.web(from), self.www(from)) {
            (Some(a), Some(b)) => Some(if a.start <= b.start { a } else { b }),
            (a, b) => a.or(b),
        };
        match (url, self.mail(from)) {
            (Some(u), Some(m)) if m.end <= u.start => Some((m, WordKind::Address)),
            (Some(u), _) => Some((u, WordKind::Url)),
            (None, Some(m)) => Some((m, WordKind::Address)),
            (None, None) => None,
        }
    }

    /// A web address with its scheme.
    fn web(&mut self, from: usize) -> Option<Range<usize>> {
        let bytes = self.bytes;
        if matches!(&self.web, Ahead::Found(web) if web.colon < from) {
            self.web = Ahead::Unknown;
        }
        if let Ahead::Unknown = self.web {
            self.web = match memmem::find(&bytes[from..], b"://") {
                None => Ahead::Nothing,
                Some(n) => {
                    let colon = from + n;
                    let scheme = bytes[from..colon]
                        .iter()
                        .rposition(|b| !b.is_ascii_alphanumeric())
                        .map_or(from, |p| from + p + 1);
                    Ahead::Found(Web {
                        scheme,
                        colon,
                        end: url_end(bytes, colon + 3),
                    })
                }
            };
        }
        match &self.web {
            Ahead::Found(web) => {
                let start = web.scheme.max(from);
                (web.colon > start).then_some(start..web.end)
            }
            _ => None,
        }
    }

    /// A web address without its scheme; a bracket or the like may stand before it.
    fn www(&self, from: usize) -> Option<Range<usize>> {
        let rest = &self.bytes[from..];
        if rest.len() <= 6 {
            return None;
        }
        let n = rest
            .windows(4)
            .take(4)
            .position(|w| w.eq_ignore_ascii_case(b"www."))?;
        Some(from + n..url_end(self.bytes, from + n + 4))
    }

    /// A mail address.
    fn mail(&mut self, from: usize) -> Option<Range<usize>> {
        let bytes = self.bytes;
        if matches!(&self.mail, Ahead::Found(mail) if mail.at < from) {
            self.mail = Ahead::Unknown;
        }
        if let Ahead::Unknown = self.mail {
            self.mail = match memchr(b'@', &bytes[from..]) {
                None => Ahead::Nothing,
                Some(n) => Ahead::Found(Mail::around(bytes, from, from + n)),
            };
        }
        match &self.mail {
            Ahead::Found(mail) => {
                let start = mail.start.max(from);
                (mail.dotted && start < mail.at).then_some(start..mail.end)
            }
            _ => None,
        }
    }
}

impl Mail {
    /// The mail address around the `@` at `at`, not before `from`.
    fn around(bytes: &[u8], from: usize, at: usize) -> Self {
        let local = |b: &u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-' | b'=' | b'/')
        };
        let start = bytes[from..at]
            .iter()
            .rposition(|b| !local(b))
            .map_or(from, |p| from + p + 1);
        let domain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
        let mut end = bytes[at + 1..]
            .iter()
            .position(|b| !domain(b))
            .map_or(bytes.len(), |n| at + 1 + n);
        while end > at && matches!(bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        let dotted = memchr(b'.', &bytes[at + 1..end.max(at + 1)]).is_some();
        Self {
            start,
            at,
            end,
            dotted,
        }
    }
}

/// Where a web address ends that goes on at `from`; punctuation behind it does not belong to it.
fn url_end(bytes: &[u8], from: usize) -> usize {
    let mut end = bytes[from..]
        .iter()
        .position(|b| {
            matches!(
                b,
                b'<' | b'>' | b'"' | b'|' | b'\\' | b'^' | b'`' | b'{' | b'}'
            )
        })
        .map_or(bytes.len(), |n| from + n);
    let whole = &bytes[from..end];
    let surplus = |opening: u8, closing: u8| {
        let count = |mark: u8| memchr::memchr_iter(mark, whole).count();
        count(closing).saturating_sub(count(opening))
    };
    // Closing brackets that nothing inside the address opens.
    let mut round: Option<usize> = None;
    let mut square: Option<usize> = None;
    while end > from {
        let closes = match bytes[end - 1] {
            b')' => take(round.get_or_insert_with(|| surplus(b'(', b')'))),
            b']' => take(square.get_or_insert_with(|| surplus(b'[', b']'))),
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b'*' | b'_' => true,
            _ => false,
        };
        if !closes {
            break;
        }
        end -= 1;
    }
    end
}

/// Takes one away, if there is one.
fn take(count: &mut usize) -> bool {
    let some = *count > 0;
    *count = count.saturating_sub(1);
    some
}
