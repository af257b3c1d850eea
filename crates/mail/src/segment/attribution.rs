//! "On … wrote:" and its kin.

use std::sync::LazyLock;

use memchr::memchr3_iter;
use twicetold_model::SegmentKind;

use super::fold::evidence;
use super::headers::is_title;
use super::index::{Endings, Inside, Openings};
use super::lines::Page;
use super::markers::{LEADS, PRONOUNS, SAID, WROTE};
use super::names::is_name;

static STARTS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[LEADS]));
static WROTE_LAST: LazyLock<Endings> = LazyLock::new(|| Endings::of(WROTE));
static WROTE_INSIDE: LazyLock<Inside> = LazyLock::new(|| Inside::of(WROTE));
static SAID_LAST: LazyLock<Endings> = LazyLock::new(|| Endings::of(SAID));

/// An attribution is broken over at most this many lines.
const LINES: usize = 3;
/// A longer text is none.
const LONGEST: usize = 420;

/// How sure an attribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Only if marked lines follow.
    BeforeMarks,
    /// Whatever follows.
    Alone,
}

/// How much of an attribution is there; a broken one is put together until it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// Neither beginning nor sender.
    Tail,
    /// It starts as attributions do.
    Head,
    /// It names a sender or has a word of writing, but starts otherwise.
    Body,
    /// It starts with "On", a day or a number, and names a sender or a word of writing.
    Whole,
}

/// Marks attributions.
pub(super) fn mark(page: &mut Page<'_>) {
    let mut folded = String::new();
    for at in 0..page.lines.len() {
        if page.lines[at].kind.is_some() {
            continue;
        }
        let quote = page.quote_follows(at);
        if (quote || may_end(page, at))
            && let Some(lines) = find(page, at, quote, &mut folded)
        {
            page.mark(at + 1 - lines..at + 1, SegmentKind::Attribution);
        }
    }
}

/// Whether a line ends as attributions do, whatever follows it.
fn may_end(page: &Page<'_>, line: usize) -> bool {
    match page.last(line) {
        b':' | b'-' | b'*' => true,
        b'.' => page.words(line).ends_with("գրել է."),
        // Parts of longer signs.
        0x80.. => page.words(line).ends_with(['：', '៖', '։', '﹕']),
        _ => false,
    }
}

/// How many lines the attribution has that ends with this line. There is room to fold them in.
fn find(page: &Page<'_>, last: usize, quote: bool, folded: &mut String) -> Option<usize> {
    // Without marked lines below, only a date, a time or an address tells.
    let from = (last + 1).saturating_sub(LINES);
    if !quote && !(from..=last).any(|line| may_be_evidence(page.words(line))) {
        return None;
    }
    let mut best: Option<(Shape, usize)> = None;
    for lines in 1..=LINES.min(last + 1) {
        let first = last + 1 - lines;
        if lines > 1 && (!page.continues(first + 1) || page.lines[first].kind.is_some()) {
            break;
        }
        let length: usize = (first..=last).map(|line| page.length(line)).sum();
        if length > LONGEST {
            break;
        }
        folded.clear();
        folded.reserve(length + LINES);
        (first..=last).for_each(|line| page.fold_onto(folded, line));
        let Some((certainty, shape)) = judge(folded, page.words(first)) else {
            continue;
        };
        if !quote && certainty != Certainty::Alone {
            continue;
        }
        if best.is_none_or(|(best, _)| shape > best) {
            best = Some((shape, lines));
        }
        if shape == Shape::Whole {
            break;
        }
    }
    best.map(|(_, lines)| lines)
}

/// Whether a line can hold a number or an address once it is folded; other scripts have their own digits.
fn may_be_evidence(words: &str) -> bool {
    // No early end, so that the compiler can look at many bytes at once.
    words.bytes().fold(false, |found, byte| {
        found | byte.is_ascii_digit() | (byte == b'@') | !byte.is_ascii()
    })
}

/// Takes away dashes and asterisks around a folded text.
fn unframed(folded: &str) -> &str {
    folded.trim_matches(|letter: char| matches!(letter, '-' | '_' | '*' | '=' | '+' | ' '))
}

/// Whether a folded text starts as attributions do: "On", a weekday and a number, a number.
fn leads(folded: &str) -> bool {
    let mut words = folded.split(' ');
    let first = words.next().unwrap_or_default();
    let digit = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    digit(first)
        || words
            .next()
            .is_some_and(|second| digit(second) && first.chars().count() <= 12)
        || STARTS.opens(folded)
}

/// Whether a folded text can be an attribution. `raw` is its first line as written.
fn judge(folded: &str, raw: &str) -> Option<(Certainty, Shape)> {
    let inner = unframed(folded);
    let certainty = certainty(folded, inner, raw)?;
    let telling = inner.contains('@') || WROTE_INSIDE.any_whole(inner);
    let shape = match (leads(inner), telling) {
        (true, true) => Shape::Whole,
        (false, true) => Shape::Body,
        (true, false) => Shape::Head,
        (false, false) => Shape::Tail,
    };
    Some((certainty, shape))
}

/// How sure a folded text is an attribution, if it can be one at all.
fn certainty(folded: &str, inner: &str, raw: &str) -> Option<Certainty> {
    let dashed = folded.starts_with("--") && folded.ends_with("--");
    let body = inner.trim_end_matches([':', ' ', '։', '"', '*']);
    let armenian = inner.ends_with("գրել է.");
    let body = if armenian {
        body.trim_end_matches('.')
    } else {
        body
    };
    let colon = armenian || inner[body.len()..].contains([':', '։']);
    let words = body.bytes().filter(|byte| *byte == b' ').count() + 1;
    if words > 45 || (body.contains("://") && !body.contains('@')) {
        return None;
    }
    if is_title(body) {
        return Some(Certainty::BeforeMarks);
    }
    // A sentence may end before the line does; attributions are one phrase.
    if is_prose(body) {
        return None;
    }
    let found = evidence(body);
    let lead = leads(body);
    let stamped = found.date || found.time;

    let before = WROTE_LAST.before(body).min_by_key(|rest| rest.len());
    if let Some(who) = before {
        let sure = found.bracketed || (lead && stamped) || (found.date && found.time);
        if sure && (colon || dashed) {
            return Some(Certainty::Alone);
        }
        let named = found.number || found.address || names_someone(who, raw);
        return (named && (colon || stamped || found.address)).then_some(Certainty::BeforeMarks);
    }
    if let Some(who) = SAID_LAST.before(body).next() {
        let named = found.address || (lead && stamped) || names_someone(who, raw);
        return (named && colon).then_some(Certainty::BeforeMarks);
    }
    if colon && (found.number || found.address) && WROTE_INSIDE.any_whole(body) {
        let sure = words <= 25 && (found.bracketed && stamped || found.date && found.time);
        return Some(if sure {
            Certainty::Alone
        } else {
            Certainty::BeforeMarks
        });
    }
    // No word of writing: a time stamp and a sender, or what stands before marked lines.
    let sender_last = body.ends_with('>') && found.bracketed;
    if sender_last && stamped && lead {
        return Some(if colon {
            Certainty::Alone
        } else {
            Certainty::BeforeMarks
        });
    }
    let quoting = [
        "quoting ",
        "zitat von ",
        "citando a ",
        "citando ",
        "according to ",
        "posted by ",
    ];
    if colon && quoting.iter().any(|lead| body.starts_with(lead)) && words <= 12 {
        return Some(Certainty::BeforeMarks);
    }
    let hinted = colon && words <= 25 && (found.bracketed || (found.date && found.time));
    hinted.then_some(Certainty::BeforeMarks)
}

/// Whether a sentence ends inside a text: behind a question, an exclamation or a word too long for an abbreviation.
fn is_prose(body: &str) -> bool {
    let long = |end: usize| {
        // "1. maalisk. 2019" is a date.
        if body[end..]
            .trim_start_matches(['.', ' '])
            .starts_with(|letter: char| letter.is_ascii_digit())
        {
            return false;
        }
        let word = body[..end].rsplit(' ').next().unwrap_or_default();
        word.chars().count() >= 5 && word.chars().all(char::is_alphabetic)
    };
    let bytes = body.as_bytes();
    memchr3_iter(b'?', b'!', b'.', bytes)
        .filter(|end| bytes.get(end + 1) == Some(&b' '))
        .any(|end| bytes[end] != b'.' || long(end))
}

/// Whether what stands before the word of writing is somebody.
fn names_someone(who: &str, raw: &str) -> bool {
    let who = who.trim_matches(|letter: char| matches!(letter, ' ' | ',' | '"' | '\''));
    if who == "you" {
        return true;
    }
    let count = who.split(' ').count();
    if who.is_empty() || count > 6 || PRONOUNS.contains(&who) {
        return false;
    }
    // "On Monday, Anna" as well as "Anna".
    if leads(who) && count <= 6 {
        return true;
    }
    if count == 1 {
        return who
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '\''));
    }
    let written: Vec<&str> = raw.split_whitespace().take(count).collect();
    written.len() == count && is_name(&written.join(" "))
}
