//! Where blocks begin and end.

/// What a text is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// At line ends: for large texts.
    Paragraphs = 0,
    /// At full stops, question marks and exclamation marks.
    Sentences = 1,
}

/// Abbreviations that end in their only full stop. Those with one inside ("e.g.") are known by their form.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "etc", "vs", "inc", "ltd", "corp", "dept",
    "approx", "ext", "tel", "fig", "cf", "bzw", "usw", "ggf", "evtl", "nr", "str", "hr", "fr",
    "mme", "mlle", "sra", "sig",
];

/// The sentences of a text in lower case, white space made single spaces, abbreviations left out.
///
/// `. ? !` end a sentence unless the word goes on after them, as in `3.14` or `www.example.org`;
/// `。？！` end it anywhere. Quote marks at the start of a line are no part of a sentence.
///
/// ```
/// use twicetold_methods::blocks::sentences;
/// let cut = sentences("Send it, e.g. by\nmail. At 9.30? 你好。再见！");
/// assert_eq!(cut, ["send it, by mail", "at 9.30", "你好", "再见"]);
/// ```
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_sentence(text, |sentence| found.push(sentence.to_owned()));
    found
}

/// Hands each sentence to `visit`.
pub(super) fn each_sentence(text: &str, mut visit: impl FnMut(&str)) {
    let mut sentence = String::new();
    let mut flush = |sentence: &mut String| {
        if sentence.chars().any(char::is_alphanumeric) {
            visit(sentence.trim_end());
        }
        sentence.clear();
    };
    for line in text.lines() {
        for token in unquoted(line).split_whitespace() {
            if is_abbreviation(token) {
                continue;
            }
            let mut rest = token;
            while let Some((at, length)) = first_stop(rest) {
                push(&mut sentence, &rest[..at]);
                flush(&mut sentence);
                rest = &rest[at + length..];
            }
            push(&mut sentence, rest);
            if !sentence.is_empty() && !sentence.ends_with(' ') {
                sentence.push(' ');
            }
        }
    }
    flush(&mut sentence);
}

/// Hands each line that says anything to `visit`, in lower case, white space made single spaces.
pub(super) fn each_paragraph(text: &str, mut visit: impl FnMut(&str)) {
    let mut paragraph = String::new();
    for line in text.lines() {
        paragraph.clear();
        for token in unquoted(line).split_whitespace() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            push(&mut paragraph, token);
        }
        if !paragraph.is_empty() {
            visit(&paragraph);
        }
    }
}

/// Adds a piece in lower case.
fn push(block: &mut String, piece: &str) {
    if piece.is_ascii() {
        let start = block.len();
        block.push_str(piece);
        if let Some(added) = block.get_mut(start..) {
            added.make_ascii_lowercase();
        }
    } else {
        block.extend(piece.chars().flat_map(char::to_lowercase));
    }
}

/// A line without its quote marks.
fn unquoted(line: &str) -> &str {
    let bare = line.trim_start();
    if bare.starts_with('>') {
        bare.trim_start_matches(['>', ' ', '\t'])
    } else {
        bare
    }
}

/// Where the first sentence end of a token is, and how many bytes it has.
fn first_stop(token: &str) -> Option<(usize, usize)> {
    // Most tokens are plain words, and then there is nothing to look for.
    if token.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    token.char_indices().find_map(|(at, c)| {
        let ends = match c {
            '。' | '？' | '！' => true,
            '.' | '?' | '!' => {
                let mut after = token[at + 1..].chars();
                !after
                    .next()
                    .is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '=' | '&'))
            }
            _ => false,
        };
        ends.then_some((at, c.len_utf8()))
    })
}

/// Whether a token is an abbreviation that holds a full stop: "e.g.", "(U.S.A.)", "Dr.".
fn is_abbreviation(token: &str) -> bool {
    // Most tokens hold no full stop, and long ones are no abbreviations.
    if token.len() > 24 || !token.as_bytes().contains(&b'.') {
        return false;
    }
    let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
    if let Some(word) = bare.strip_suffix('.')
        && ABBREVIATIONS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word))
    {
        return true;
    }
    let parts = bare.strip_suffix('.').unwrap_or(bare).split('.');
    let letters = |part: &str| {
        (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic)
    };
    // The first part is one letter, so that "co.uk" is none; the only exception worth a line is "Ph.D.".
    let starts_short = parts
        .clone()
        .next()
        .is_some_and(|part| part.chars().count() == 1);
    let degree = bare
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("ph.d"))
        && bare.len() <= 5;
    degree || starts_short && parts.clone().count() > 1 && parts.clone().all(letters)
}
