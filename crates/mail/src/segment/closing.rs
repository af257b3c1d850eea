//! "Kind regards, Anna".

use std::ops::Range;
use std::sync::LazyLock;

use twicetold_model::SegmentKind;

use super::fold::{asks_or_counts, fold, without_spaces};
use super::index::Openings;
use super::lines::Page;
use super::names::{People, is_name, is_uncased_name};
use super::phrases::{CLOSING_TAILS, REGARDS, THANKS};

/// Thanks have the first numbers.
static PHRASES: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[THANKS, REGARDS]));

/// A longer line is no closing.
const LONGEST: usize = 120;
/// Nor is one with more words.
const MOST_WORDS: usize = 9;
/// How many lines may follow a closing phrase in its part.
const LINES_AFTER: usize = 10;
/// How many lines a name may take.
const NAME_LINES: usize = 3;

/// What a closing line says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phrase {
    /// Thanks, which may be the message.
    Thanks,
    /// Nothing.
    Regards,
}

/// Marks the closing at the end of a part and gives what is left before it.
pub(super) fn mark(page: &mut Page<'_>, part: Range<usize>, people: &People<'_>) -> Range<usize> {
    let mut begin = part.end;
    let mut names;
    // From the end upwards, over names and phrases.
    loop {
        names = names_above(page, part.start..begin, people);
        let Some(at) = (begin - names)
            .checked_sub(1)
            .filter(|&at| at >= part.start)
        else {
            break;
        };
        match phrase(page, at, people) {
            Some(_) => begin = at,
            None => break,
        }
    }
    if begin == part.end {
        begin = formula_above(page, part.clone(), people).unwrap_or(begin);
    }
    // Without any phrase, a last line that can be a name has been counted.
    if begin == part.end && part.len() > 1 && names > 0 {
        let last = part.end - 1;
        let words = page.words(last);
        let before = page.words(last - 1);
        let after_sentence = || {
            page.lines[last].gap
                || before.ends_with(['.', '!', '?', ',', ':', ')', '。', '！', '？', ';', '-'])
        };
        let single = || {
            is_name(words)
                && words.split_whitespace().count() <= 2
                && !words.ends_with(['!', ':', '?', ';'])
        };
        if people.is_sender_line(words)
            || is_team(words)
            || (single() && after_sentence() && !is_item(page, last))
        {
            begin = last;
        }
    }
    // Thanks without anything before them are an answer.
    if begin == part.start
        && part
            .clone()
            .any(|at| phrase(page, at, people) == Some(Phrase::Thanks))
    {
        return part;
    }
    // Nor is a lone name or phrase packaging of nothing.
    if begin == part.start && part.len() == 1 && phrase(page, begin, people).is_none() {
        return part;
    }
    let closing = begin..part.end;
    for at in closing {
        if page.lines[at].kind.is_none() && (is_closing_line(page, at, people)) {
            page.mark(at..at + 1, SegmentKind::Closing);
        }
    }
    part.start..begin
}

fn is_closing_line(page: &Page<'_>, at: usize, people: &People<'_>) -> bool {
    phrase(page, at, people).is_some() || may_sign(page.words(at), people)
}

/// Whether a line can be the name below a phrase.
fn may_sign(words: &str, people: &People<'_>) -> bool {
    is_name(words) || people.is_sender_line(words) || is_uncased_name(words) || is_team(words)
}

/// How many lines at the end of a range can be the name below a phrase.
fn names_above(page: &Page<'_>, lines: Range<usize>, people: &People<'_>) -> usize {
    lines
        .rev()
        .take(NAME_LINES)
        .take_while(|&at| may_sign(page.words(at), people) && phrase(page, at, people).is_none())
        .count()
}

/// A phrase that says nothing, above a few short lines: title, company, telephone.
///
/// These lines are facts and stay content; only the phrase and the name are marked.
fn formula_above(page: &mut Page<'_>, part: Range<usize>, people: &People<'_>) -> Option<usize> {
    let from = part.start.max(part.end.saturating_sub(LINES_AFTER + 1));
    let at = (from..part.end)
        .rev()
        .find(|&at| phrase(page, at, people) == Some(Phrase::Regards))?;
    if at == part.start || (at + 1..part.end).any(|line| page.words(line).len() > 90) {
        return None;
    }
    let mut end = at + 1;
    if end < part.end && may_sign(page.words(end), people) {
        end += 1;
    }
    page.mark(at..end, SegmentKind::Closing);
    None
}

/// Whether the last line is an item of a list rather than a name.
fn is_item(page: &Page<'_>, last: usize) -> bool {
    let words = page.words(last);
    let before = page.words(last - 1);
    words.starts_with(['-', '*', '•']) && before.starts_with(['-', '*', '•'])
        || before.ends_with(':') && !page.lines[last].gap
}

/// What stands before "team".
static OUR_TEAMS: LazyLock<Openings> =
    LazyLock::new(|| Openings::of(&[&["the ", "your ", "ihr ", "das ", "dein ", "euer ", "het "]]));
/// What stands before the name of a team.
static TEAMS_OF: LazyLock<Openings> = LazyLock::new(|| {
    Openings::of(&[&[
        "l'équipe ",
        "el equipo de ",
        "il team ",
        "a equipe ",
        "a equipa ",
        "команда ",
    ]])
});

/// "The Northwind team".
fn is_team(words: &str) -> bool {
    if words.len() > 60 || !(OUR_TEAMS.may_open(words) || TEAMS_OF.may_open(words)) {
        return false;
    }
    let folded = fold(words);
    let line = folded.trim_end_matches(['.', '!', ' ', ',']);
    let count = line.split(' ').count();
    if !(2..=5).contains(&count) || line.contains(|letter: char| letter.is_numeric()) {
        return false;
    }
    (OUR_TEAMS.starts(line) && (line.ends_with(" team") || line.ends_with("-team")))
        || TEAMS_OF.starts(line)
}

/// The closing phrase a line consists of.
fn phrase(page: &Page<'_>, at: usize, people: &People<'_>) -> Option<Phrase> {
    let may_precede = |letter: char| matches!(letter, '*' | '-' | ' ' | '(' | '~');
    let words = page.words(at);
    if words.len() > LONGEST || !PHRASES.may_open(words.trim_start_matches(may_precede)) {
        return None;
    }
    let folded = page.folded(at);
    let line = folded
        .trim_start_matches(may_precede)
        .trim_end_matches(may_end);
    if !PHRASES.opens(line) || asks_or_counts(words) {
        return None;
    }
    if words.bytes().filter(|byte| *byte == b' ').count() >= MOST_WORDS {
        return None;
    }
    let mut kind = None;
    for (number, rest) in PHRASES.numbered_after(line) {
        let thanks = number < THANKS.len();
        if (thanks || kind.is_none()) && is_tail(rest, words, people) {
            if thanks {
                return Some(Phrase::Thanks);
            }
            kind = Some(Phrase::Regards);
        }
    }
    kind
}

/// What may end a closing line.
fn may_end(letter: char) -> bool {
    matches!(
        letter,
        ',' | '.'
            | '!'
            | ';'
            | ':'
            | '-'
            | ' '
            | '~'
            | ')'
            | '*'
            | '_'
            | '、'
            | '…'
            | '('
            | '^'
            | '/'
    )
}

/// Whether what follows a phrase is a formula, a further phrase or a name.
fn is_tail(rest: &str, words: &str, people: &People<'_>) -> bool {
    let glued = rest.starts_with(|letter: char| letter.is_alphanumeric());
    let rest = rest.trim_matches(may_end);
    if rest.is_empty() || CLOSING_TAILS.contains(&rest) {
        return true;
    }
    if glued {
        // In scripts without spaces a phrase is the beginning of many sentences.
        return false;
    }
    if let Some(further) = rest
        .strip_prefix("and ")
        .or_else(|| rest.strip_prefix("& "))
        .or_else(|| rest.strip_prefix("und "))
        .or(Some(rest))
        && PHRASES.holds(further)
    {
        return true;
    }
    let count = rest.split(' ').count();
    if count > 4
        || rest.contains([',', '!', ';', ':'])
        || rest.chars().any(without_spaces) && count > 2
    {
        return false;
    }
    let written: Vec<&str> = words.split_whitespace().collect();
    let name = written[written.len().saturating_sub(count)..].join(" ");
    let name = name.trim_end_matches(may_end);
    people.is_sender_line(name)
        || is_name(name)
        || (rest.chars().any(without_spaces) && is_uncased_name(name))
}
