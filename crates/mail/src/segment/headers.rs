//! "-----Original Message-----" and blocks of quoted headers.

use std::sync::LazyLock;

use memchr::memchr2;
use twicetold_model::SegmentKind;

use super::fold::{Evidence, evidence, fold, fold_short};
use super::index::Openings;
use super::lines::{Page, head};
use super::markers::{FORWARDED, LABELS, Label, ORIGINAL, RULE_ENDINGS, RULE_OPENINGS};

static RULES_THAT_END: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[RULE_ENDINGS]));
static RULES_THAT_OPEN: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[RULE_OPENINGS]));
static TITLES: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[ORIGINAL, FORWARDED]));
/// How any rule with words starts.
static RULES: LazyLock<Openings> =
    LazyLock::new(|| Openings::of(&[RULE_ENDINGS, RULE_OPENINGS, ORIGINAL, FORWARDED]));
/// The names of all labels, and which label each one is.
static NAMES: LazyLock<(Openings, Vec<Label>)> = LazyLock::new(|| {
    let tables: Vec<&[&str]> = LABELS.iter().map(|(_, names)| *names).collect();
    let kinds = LABELS
        .iter()
        .flat_map(|(kind, names)| std::iter::repeat_n(*kind, names.len()))
        .collect();
    (Openings::of(&tables), kinds)
});

/// A longer label is no label.
const LONGEST_LABEL: usize = 48;
/// A longer rule is no rule.
const LONGEST_RULE: usize = 240;
/// A list of recipients that goes on for more lines than this is something else.
const LONGEST_LIST: usize = 400;

/// Marks rules and header blocks; gives the lines after which a quotation is said to be over.
pub(super) fn mark(page: &mut Page<'_>) -> Vec<usize> {
    let mut closed = Vec::new();
    let mut at = 0;
    while at < page.lines.len() {
        if page.lines[at].kind.is_some() {
            at += 1;
        } else if let Some((rule, lines)) = rule(page, at) {
            if rule == Rule::End {
                closed.push(at + lines);
            }
            page.mark(at..at + lines, SegmentKind::Attribution);
            at += lines;
        } else if let Some(end) = block(page, at) {
            let begin = head_of_block(page, at);
            page.mark(begin..end, SegmentKind::Attribution);
            at = end;
        } else {
            at += 1;
        }
    }
    closed
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Begin,
    End,
}

/// A rule between dashes at this line, and how many lines it takes.
fn rule(page: &Page<'_>, at: usize) -> Option<(Rule, usize)> {
    let first = page.first(at);
    if first.is_ascii_alphanumeric() {
        return None;
    }
    let words = page.words(at);
    let framed = words.starts_with(['-', '_', '*', '=', '[', '#', '~', '–', '—', '<', '+', '|']);
    if !framed || words.len() > LONGEST_RULE {
        return None;
    }
    let inner = unframe(words);
    if inner.is_empty() || words.len() - inner.len() < 2 {
        return None;
    }
    if !RULES.may_open(inner) {
        return None;
    }
    let folded = fold(inner);
    let folded = folded.trim_end_matches([':', ' ']);
    if RULES_THAT_END.opens(folded) {
        return Some((Rule::End, 1));
    }
    if is_title(folded) {
        return Some((Rule::Begin, 1));
    }
    if !RULES_THAT_OPEN.opens(folded) {
        return None;
    }
    // "--- Forwarded by X on" is broken in two when it is long; the dashes at the end tell.
    let closes = |line: usize| page.words(line).ends_with(['-', '_', '*', '=', ']']);
    if closes(at) {
        Some((Rule::Begin, 1))
    } else if page.continues(at + 1) && closes(at + 1) && page.words(at + 1).len() < 120 {
        Some((Rule::Begin, 2))
    } else {
        None
    }
}

/// Takes away what frames a rule.
fn unframe(words: &str) -> &str {
    words.trim_matches(|letter: char| {
        matches!(
            letter,
            '-' | '_' | '*' | '=' | '#' | '~' | '–' | '—' | '[' | ']' | '<' | '>' | '+' | '|'
        ) || letter.is_whitespace()
    })
}

/// Whether a folded text is a title such as "original message", and nothing else.
pub(super) fn is_title(folded: &str) -> bool {
    let folded = folded.trim_end_matches([':', ' ']);
    (4..=80).contains(&folded.len()) && TITLES.holds(folded)
}

/// Whether a line is a long rule of one character.
pub(super) fn is_long_rule(words: &str, least: usize) -> bool {
    let bytes = words.as_bytes();
    bytes.len() >= least
        && matches!(bytes[0], b'_' | b'-' | b'=' | b'*' | b'~' | b'#' | b'+')
        && bytes.iter().all(|byte| *byte == bytes[0] || *byte == b' ')
        && bytes.iter().filter(|byte| **byte == bytes[0]).count() >= least
}

/// The label at the start of a line and what stands behind it.
fn label<'t>(page: &Page<'t>, at: usize) -> Option<(Label, &'t str)> {
    if !page.lines.get(at)?.colon {
        return None;
    }
    let words = page.words(at);
    // Most lines are prose without a colon near the start; 0xef starts the full-width one.
    let near = &words.as_bytes()[..words.len().min(LONGEST_LABEL)];
    let found = memchr2(b':', 0xef, near)?;
    let start = words.trim_start_matches(['*', ' ', '_']);
    let colon = if near[found] == b':' {
        found - (words.len() - start.len())
    } else {
        head(start, LONGEST_LABEL).find([':', '：'])?
    };
    let label = start[..colon]
        .trim_matches(|letter: char| letter == '*' || letter == '_' || letter.is_whitespace());
    if label.is_empty() || label.bytes().filter(|byte| *byte == b' ').count() > 3 {
        return None;
    }
    // Most lines with a colon are prose: look at the shape before looking it up.
    let (names, kinds) = &*NAMES;
    if !names.may_open(label) {
        return None;
    }
    let mut buffer = [0; LONGEST_LABEL];
    let folded = fold_short(label, &mut buffer);
    let kind = *kinds.get(names.number(&folded)?)?;
    let value = start[colon..]
        .trim_start_matches([':', '：', '*', '_'])
        .trim();
    Some((kind, value))
}

/// What the labels of a block have shown so far.
#[derive(Default)]
struct Seen {
    from: bool,
    date: bool,
    to: bool,
    copy: bool,
    subject: bool,
    address: bool,
    /// A time of day as the date.
    time: bool,
}

impl Seen {
    fn add(&mut self, label: Label, value: &str) {
        // Only these can show anything.
        let Evidence { address, time, .. } = if label == Label::Date || value.contains('@') {
            evidence(&fold(head(value, 400)))
        } else {
            Evidence::default()
        };
        self.address |= address;
        match label {
            Label::From => self.from = true,
            Label::Date => {
                self.date = true;
                self.time |= time;
            }
            Label::To => self.to = true,
            Label::Copy => self.copy = true,
            Label::Subject => self.subject = true,
            Label::Other => {}
        }
    }

    fn labels(&self) -> usize {
        [self.from, self.date, self.to, self.copy, self.subject]
            .iter()
            .filter(|seen| **seen)
            .count()
    }

    /// "From: Paris, To: Rome" is a journey, and a memo has "To:", "From:" and "Subject:" but was
    /// written for this message; what was sent before has an address or a time of day.
    fn is_message(&self, announced: bool, stamped: bool) -> bool {
        self.labels() >= 2
            && (announced
                || ((self.address || self.time || stamped)
                    && ((self.from && (self.subject || self.date || self.to))
                        || (self.subject && (self.to || self.date)))))
    }
}

/// One past the last line of the header block that starts here.
fn block(page: &Page<'_>, begin: usize) -> Option<usize> {
    let (first, value) = label(page, begin)?;
    if first == Label::Other {
        return None;
    }
    let mut seen = Seen::default();
    seen.add(first, value);
    let depth = page.lines[begin].depth;
    let (mut at, mut last, mut end) = (begin + 1, first, begin + 1);
    while at < page.lines.len() && at - begin < LONGEST_LIST {
        let line = page.lines[at];
        if line.kind.is_some() || line.depth != depth {
            break;
        }
        match label(page, at) {
            // Blank lines between labels come from HTML; a label that comes again starts another block.
            Some((kind, value)) if !(line.gap && kind == Label::Other) => {
                if seen.has(kind) {
                    break;
                }
                seen.add(kind, value);
                last = kind;
                end = at + 1;
            }
            _ if line.gap => break,
            _ if continues_value(page, at, begin, last) => end = at + 1,
            _ => break,
        }
        at += 1;
    }
    let announced = begin > 0
        && (page.lines[begin - 1].kind == Some(SegmentKind::Attribution)
            || is_announcement(page.words(begin - 1)));
    let stamped = sender_above(page, begin) < begin;
    seen.is_message(announced, stamped).then_some(end)
}

impl Seen {
    fn has(&self, label: Label) -> bool {
        match label {
            Label::From => self.from,
            Label::Date => self.date,
            Label::To => self.to,
            Label::Copy => self.copy,
            Label::Subject => self.subject,
            Label::Other => false,
        }
    }
}

/// Whether a line without a label goes on with the value above it.
fn continues_value(page: &Page<'_>, at: usize, begin: usize, last: Label) -> bool {
    let words = page.words(at);
    if words.len() > 2000 {
        return false;
    }
    let before = page.words(at - 1);
    let indented = page.indent(at) > page.indent(begin);
    match last {
        Label::To | Label::Copy | Label::From | Label::Other => {
            before.ends_with([',', ';'])
                || (indented && words.len() <= 200)
                || words.starts_with('<')
                || (words.contains('@')
                    && (words.contains([';', '<', ',']) || !words.contains(' ')))
                || (words.contains(';') && before.contains(';'))
        }
        // A subject that was wrapped is followed by another label, or indented and then ended.
        Label::Subject | Label::Date => {
            let ended = page.lines.get(at + 1).is_none_or(|next| next.gap);
            let labelled = page.continues(at + 1) && label(page, at + 1).is_some();
            words.len() <= 120 && (labelled || (indented && ended))
        }
    }
}

/// A title without dashes, which counts only above a header block.
fn is_announcement(words: &str) -> bool {
    words.len() <= LONGEST_RULE && is_title(&fold(unframe(words)))
}

/// Where the packaging of a block starts: with a rule, a title, or the sender and time above it.
fn head_of_block(page: &Page<'_>, block: usize) -> usize {
    let mut begin = block;
    let depth = page.lines[block].depth;
    for _ in 0..3 {
        let Some(above) = begin.checked_sub(1) else {
            break;
        };
        let line = page.lines[above];
        let words = page.words(above);
        let free = line.kind.is_none() && line.depth == depth;
        if free && (is_long_rule(words, 5) || is_announcement(words)) {
            begin = above;
        } else {
            break;
        }
    }
    let senderless = !matches!(label(page, block), Some((Label::From, _)));
    if begin == block && senderless {
        begin = sender_above(page, block);
    }
    begin
}

/// Some programs write the sender and the time above "To:" without labels.
fn sender_above(page: &Page<'_>, block: usize) -> usize {
    let depth = page.lines[block].depth;
    let free = |at: usize| {
        let line = page.lines[at];
        line.kind.is_none() && line.depth == depth && page.words(at).len() <= 100
    };
    let stamp = |at: usize| {
        let found = evidence(&page.folded(at));
        found.date && found.time
    };
    let Some(above) = block.checked_sub(1).filter(|&at| free(at) && stamp(at)) else {
        return block;
    };
    let words = page.words(above);
    // "05/08/2001 04:05 PM" alone: the name stands on the line before.
    let letters = words
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .count();
    if letters > 4 {
        let sentence = words.ends_with(['.', '!', '?']) || words.split_whitespace().count() > 10;
        return if sentence { block } else { above };
    }
    match above.checked_sub(1) {
        Some(name)
            if free(name)
                && page.words(name).len() <= 70
                && page.words(name).split_whitespace().count() <= 6
                && !page.words(name).ends_with(['.', '!', '?', ',', ':']) =>
        {
            name
        }
        _ => above,
    }
}
