//! List footers, confidentiality notices, warnings of gateways, advertising of providers.

use std::ops::Range;
use std::sync::LazyLock;

use twicetold_model::SegmentKind;

use super::fold::fold_onto;
use super::headers::is_long_rule;
use super::index::{Inside, Openings};
use super::lines::{Page, head};
use super::phrases::{
    ADDED, ADDED_SPEAKS_OF, BANNERS, DISCLAIMER_STARTS, DISCLAIMING, DISCLAIMING_TOO, FOOTER_WORDS,
};

static ADDITIONS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[ADDED]));
static NOTICES: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[DISCLAIMER_STARTS]));
static WARNINGS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[BANNERS]));
/// How anything that is added starts.
static ALL_ADDED: LazyLock<Openings> =
    LazyLock::new(|| Openings::of(&[ADDED, DISCLAIMER_STARTS, BANNERS]));
static SIGNS: LazyLock<Inside> = LazyLock::new(|| Inside::of(DISCLAIMING));
static FURTHER_SIGNS: LazyLock<Inside> = LazyLock::new(|| Inside::of(DISCLAIMING_TOO));
static SPEAKING_OF: LazyLock<Inside> = LazyLock::new(|| Inside::of(ADDED_SPEAKS_OF));
static NOTICES_INSIDE: LazyLock<Inside> = LazyLock::new(|| Inside::of(DISCLAIMER_STARTS));
static FOOTERS: LazyLock<Inside> = LazyLock::new(|| Inside::of(FOOTER_WORDS));

/// How long a rule above a footer is.
const RULE: usize = 20;
/// How many lines below the rule must tell that it is a footer.
const TELLING_LINES: usize = 5;
/// A footer has no more lines.
const FOOTER_LINES: usize = 12;
/// How much may follow a footer in its part: more footers, not a further article.
const LINES_AFTER_FOOTER: usize = 15;
/// A notice of this many bytes is no paragraph but a page.
const LONGEST_NOTICE: usize = 6000;
/// What providers add is short.
const LONGEST_ADDED: usize = 700;
/// How far into a paragraph the first sign of a notice stands.
const NOTICE_START: usize = 200;
/// Of a longer line the start is looked at first.
const LONG_LINE: usize = 600;
/// A notice that does not start as notices do has at least so many bytes.
const SHORTEST_UNANNOUNCED: usize = 120;
/// No banner is longer.
const LONGEST_BANNER: usize = 60;
/// How many paragraphs are looked at from either end.
const PARAGRAPHS: usize = 8;

/// Marks list footers below a rule of underscores or dashes.
pub(super) fn mark_footers(page: &mut Page<'_>) {
    let mut at = 0;
    while at < page.lines.len() {
        if let Some(end) = footer(page, at) {
            page.mark(at..end, SegmentKind::Boilerplate);
            at = end;
        } else {
            at += 1;
        }
    }
}

/// One past the last line of the footer whose rule stands here.
fn footer(page: &Page<'_>, rule: usize) -> Option<usize> {
    if !matches!(
        page.first(rule),
        b'_' | b'-' | b'=' | b'*' | b'~' | b'#' | b'+'
    ) {
        return None;
    }
    let words = page.words(rule);
    if words.len() < RULE {
        return None;
    }
    let line = page.lines[rule];
    let ruled = is_long_rule(words, RULE) || is_titled_rule(words);
    if line.kind.is_some() || !ruled {
        return None;
    }
    let below = |at: &usize| {
        page.lines
            .get(*at)
            .is_some_and(|below| below.depth == line.depth && below.kind.is_none())
    };
    let mut telling = None;
    for at in (rule + 1..=rule + TELLING_LINES).take_while(below) {
        let words = page.words(at);
        if words.len() > 400 {
            return None;
        }
        if FOOTERS.any(&page.folded(at)) {
            telling = Some(at);
            break;
        }
    }
    let mut end = telling? + 1;
    let mut linked = false;
    for at in rule + 1..end {
        linked |= is_linked(page.words(at));
    }
    while end - rule <= FOOTER_LINES
        && below(&end)
        && (!page.lines[end].gap || is_bare_link(page.words(end)))
    {
        linked |= is_linked(page.words(end));
        end += 1;
    }
    let part_end = (end..)
        .take_while(below)
        .take(LINES_AFTER_FOOTER + 1)
        .last()
        .map_or(end, |last| last + 1);
    let closing = part_end - end <= LINES_AFTER_FOOTER;
    let short = (rule + 1..end).all(|at| page.words(at).len() <= 160);
    (closing && linked && short).then_some(end)
}

/// "------------ Yahoo! Groups Sponsor ------------".
fn is_titled_rule(words: &str) -> bool {
    words.len() <= 120
        && words.starts_with("-----")
        && words
            .bytes()
            .filter(|byte| matches!(byte, b'-' | b'~' | b'>' | b'_'))
            .count()
            >= RULE
        && words.contains("Yahoo! Groups")
}

fn is_linked(words: &str) -> bool {
    words.contains("://") || words.contains("www.") || words.contains('@') || words.contains(" at ")
}

/// A line that is one address and nothing else.
fn is_bare_link(words: &str) -> bool {
    !words.contains(' ') && words.contains("://")
}

/// Marks what was added at the top and the bottom of a part and gives what is left between.
pub(super) fn mark_ends(page: &mut Page<'_>, part: Range<usize>) -> Range<usize> {
    let mut left = part;
    // The paragraph that was found not to be one, so that it need not be asked again from the other end.
    let mut written = None;
    for _ in 0..PARAGRAPHS {
        let begin = paragraph_start(page, &left);
        if begin >= left.end {
            break;
        }
        if !is_added(page, begin..left.end) {
            written = Some(begin..left.end);
            break;
        }
        let begin = with_rule_above(page, begin, left.start);
        page.mark(begin..left.end, SegmentKind::Boilerplate);
        left.end = begin;
    }
    for _ in 0..PARAGRAPHS {
        let end = (left.start + 1..left.end)
            .find(|&at| page.lines[at].gap)
            .unwrap_or(left.end);
        let known = written.as_ref() == Some(&(left.start..end));
        if left.is_empty() || known || !is_added(page, left.start..end) {
            break;
        }
        page.mark(left.start..end, SegmentKind::Boilerplate);
        left.start = end;
    }
    left
}

/// Where the last paragraph of a part starts, if that can be seen from its end.
fn paragraph_start(page: &Page<'_>, part: &Range<usize>) -> usize {
    const LONGEST: usize = 60;
    let from = part.start.max(part.end.saturating_sub(LONGEST));
    (from..part.end)
        .rev()
        .find(|&at| at == part.start || page.lines[at].gap)
        .unwrap_or(part.end)
}

/// A rule directly above a notice belongs to it.
fn with_rule_above(page: &Page<'_>, begin: usize, first: usize) -> usize {
    match begin.checked_sub(1) {
        Some(above) if above >= first && is_long_rule(page.words(above), 5) => above,
        _ => begin,
    }
}

/// Whether a short paragraph may start as what is added does; told without folding it.
fn may_be_added(page: &Page<'_>, lines: Range<usize>) -> bool {
    let Some(first) = lines
        .clone()
        .map(|at| page.words(at))
        .find(|words| !is_long_rule(words, 5))
    else {
        return true;
    };
    let start = first.trim_start_matches(is_frame);
    // Folding can make other letters longer, and BANNERS are compared without what is around them.
    ALL_ADDED.may_open(start)
        || WARNINGS.may_open(bare(first))
        || !lines.into_iter().all(|at| page.words(at).is_ascii())
}

/// What may stand around a notice.
fn is_frame(letter: char) -> bool {
    matches!(
        letter,
        '*' | '_' | '-' | '=' | '#' | '~' | ' ' | '<' | '>' | '[' | '(' | '|' | '"'
    )
}

/// Most paragraphs show by how they start that nobody added them; tells so from enough of the folded paragraph.
fn starts_otherwise(folded: &str) -> bool {
    let text = folded.trim_start_matches(is_frame);
    text.len() > NOTICE_START
        && bare(folded).len() > LONGEST_BANNER
        && !ADDITIONS.starts(text)
        && !NOTICES.starts(text)
        && !SIGNS.any(head(text, NOTICE_START))
}

/// Whether a paragraph was added by a program.
fn is_added(page: &Page<'_>, lines: Range<usize>) -> bool {
    let length: usize = lines.clone().map(|at| page.length(at)).sum();
    if length > LONGEST_NOTICE {
        return false;
    }
    if length + lines.len() < SHORTEST_UNANNOUNCED && !may_be_added(page, lines.clone()) {
        return false;
    }
    let mut folded = String::with_capacity((length + lines.len()).min(NOTICE_START * 2));
    let (mut rules, mut told) = (0, false);
    for at in lines.clone() {
        let words = page.words(at);
        if is_long_rule(words, 5) {
            rules += 1;
            continue;
        }
        // Where a whole paragraph is one line, its start is enough. That of ASCII is folded as it is in the whole.
        if !told && words.len() > LONG_LINE && words.is_ascii() {
            let before = folded.len();
            fold_onto(&mut folded, head(words, NOTICE_START * 2));
            if starts_otherwise(&folded) {
                return false;
            }
            folded.truncate(before);
        }
        page.fold_onto(&mut folded, at);
        if !told && folded.len() > NOTICE_START + 20 {
            told = true;
            if starts_otherwise(&folded) {
                return false;
            }
        }
    }
    let text = folded.trim_start_matches(is_frame);
    if text.is_empty() {
        return false;
    }
    if WARNINGS.holds(bare(&folded)) {
        return true;
    }
    let opened = ADDITIONS.starts(text);
    (opened
        && length <= LONGEST_ADDED
        && lines.len() - rules <= 10
        && every_sentence(text, |sentence| SPEAKING_OF.any(sentence)))
        || is_disclaimer(text)
}

/// A banner without what stands around it.
fn bare(folded: &str) -> &str {
    folded.trim_matches(['*', ' ', '.', '!', '-'])
}

/// Whether all sentences of a folded paragraph fit. When text was reflowed, a sentence of content
/// may stand in the paragraph of a notice, and it must not go with it.
fn every_sentence(text: &str, fits: impl Fn(&str) -> bool) -> bool {
    const SHORT: usize = 4;
    let says_something = |sentence: &&str| {
        sentence.split(' ').count() > SHORT || sentence.contains(|letter: char| letter.is_numeric())
    };
    // A full stop inside an address ends no sentence.
    let mut start = 0;
    let mut sentences = Vec::new();
    for (at, end) in text.match_indices(['.', '!', '?', ';', '。']) {
        let after = at + end.len();
        if end == "。" || text[after..].starts_with(' ') {
            sentences.push(&text[start..after]);
            start = after;
        }
    }
    sentences.push(&text[start..]);
    sentences
        .into_iter()
        .map(str::trim)
        .filter(says_something)
        .all(fits)
}

/// Whether a folded paragraph asks strangers not to read it.
fn is_disclaimer(text: &str) -> bool {
    const SHORTEST: usize = 40;
    let opened = NOTICES.starts(text);
    if text.len()
        < if opened {
            SHORTEST
        } else {
            SHORTEST_UNANNOUNCED
        }
    {
        return false;
    }
    // A notice that starts late shares its paragraph with something else. Looking only there first
    // also keeps ordinary paragraphs cheap.
    if !opened && !SIGNS.any(head(text, NOTICE_START)) {
        return false;
    }
    let strong = SIGNS.count(text);
    if strong == 0 {
        return false;
    }
    let weak = FURTHER_SIGNS.count(text);
    let told = (opened && strong + weak >= 4) || (strong >= 3 && strong + weak >= 6);
    told && every_sentence(text, |sentence| {
        [&SIGNS, &FURTHER_SIGNS, &NOTICES_INSIDE, &SPEAKING_OF]
            .iter()
            .any(|signs| signs.any(sentence))
    })
}

#[cfg(test)]
mod tests {
    use super::{ADDED, BANNERS, DISCLAIMER_STARTS, DISCLAIMING, LONGEST_BANNER, NOTICE_START};

    #[test]
    fn the_start_of_a_long_line_shows_whatever_a_notice_begins_with() {
        let longest = [ADDED, DISCLAIMER_STARTS, DISCLAIMING].concat();
        assert!(longest.iter().all(|entry| entry.len() <= NOTICE_START));
    }

    #[test]
    fn no_banner_is_longer_than_said() {
        assert!(BANNERS.iter().all(|banner| banner.len() <= LONGEST_BANNER));
    }
}
