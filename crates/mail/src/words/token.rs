//! From a run of characters without spaces to the words in it.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed, options::WordBreakInvariantOptions};
use twicetold_model::{Word, WordFlags, WordKind};
use unicode_segmentation::UnicodeSegmentation;

use super::address::Addresses;
use super::ascii::{ends_run, number_end};
use super::bits::Bits;
use super::common::{NONE, denies};
use super::known::{Found, Known};
use super::letters::Letters;
use super::normal::{hash_as_written, hash_of, normalise};
use super::short;
use crate::html::link_hash;

/// Words of languages written without spaces. Looking up its dictionaries takes longer than reading a short mail.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

/// The words found so far, and what is needed to find more.
pub(super) struct Tokens<'t> {
    pub(super) text: &'t str,
    /// What every byte of the text is.
    pub(super) bits: Bits,
    pub(super) words: Vec<Word>,
    pub(super) commons: Commons,
    pub(super) known: Known,
    form: String,
    joined: String,
}

/// Which words are common: the number of each, and its place in the table.
#[derive(Debug)]
pub(super) struct Commons {
    /// Each as one number: its place below. What stands behind the last one means nothing.
    all: Vec<u64>,
    count: usize,
}

impl Commons {
    fn with_room_for(words: usize) -> Self {
        Self {
            all: vec![0; words],
            count: 0,
        }
    }

    /// Makes room for so many more.
    #[inline]
    pub(super) fn make_room(&mut self, more: usize) {
        if self.all.len() < self.count + more {
            self.all.resize((self.count + more) * 2, 0);
        }
    }

    /// Notes a word if it is a common one, if there is room. Whether it is one nobody can foresee, so it is written in any case.
    #[inline]
    pub(super) fn note(&mut self, number: usize, common: u16) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = (number as u64) << u16::BITS | u64::from(common);
            self.count += usize::from(common != NONE);
        }
    }

    /// Forgets the words from this number on.
    fn truncate(&mut self, words: usize) {
        let before = |word: &u64| (word >> u16::BITS) < words as u64;
        self.count = self.all[..self.count].partition_point(before);
    }

    /// The words noted, in their order, so many at a time.
    pub(super) fn chunks(
        &self,
        size: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = (usize, u16)> + Clone> {
        let apart = |&word: &u64| ((word >> u16::BITS) as usize, word as u16);
        let chunks = self.all[..self.count].chunks(size);
        chunks.map(move |some| some.iter().map(apart))
    }
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str, expected: usize) -> Self {
        Self {
            text,
            bits: Bits::of(text.as_bytes()),
            words: Vec::with_capacity(expected),
            commons: Commons::with_room_for(expected / 2),
            known: Known::take(),
            form: String::new(),
            joined: String::new(),
        }
    }

    /// The words, and which of them are common.
    pub(super) fn finish(self) -> (Vec<Word>, Commons) {
        self.known.leave();
        (self.words, self.commons)
    }

    /// A run of ASCII characters in which there may be addresses.
    pub(super) fn ascii_run(&mut self, chunk: Range<usize>) {
        let rest = self.addresses(chunk);
        self.ascii_rest(rest);
    }

    /// Takes web and mail addresses out of a run; returns what is left behind the last one.
    fn addresses(&mut self, chunk: Range<usize>) -> Range<usize> {
        let mut addresses = Addresses::new(&self.text.as_bytes()[chunk.clone()]);
        let mut from = 0;
        while let Some((found, kind)) = addresses.next(from) {
            let place = chunk.start + found.start..chunk.start + found.end;
            self.ascii_rest(chunk.start + from..place.start);
            self.push_address(place, kind);
            from = found.end;
        }
        chunk.start + from..chunk.end
    }

    fn push_address(&mut self, range: Range<usize>, kind: WordKind) {
        let written = &self.text[range.clone()];
        let hash = match kind {
            WordKind::Url if written.contains("://") => link_hash(written),
            WordKind::Url => link_hash(&format!("http://{written}")),
            _ => hash_as_written(written, &mut self.form),
        };
        // Clients repeat an address behind itself: "a@b.c<mailto:a@b.c>", "http://x <http://x>".
        if self
            .words
            .last()
            .is_some_and(|last| last.kind == kind && last.hash == hash)
        {
            return;
        }
        if kind == WordKind::Address && self.words.len() >= 2 {
            let (before, last) = (
                self.words[self.words.len() - 2],
                self.words[self.words.len() - 1],
            );
            if last.hash == hash_of("mailto") {
                self.words.pop();
                self.commons.truncate(self.words.len());
                if before.kind == kind && before.hash == hash {
                    return;
                }
            }
        }
        self.push(hash, range, kind);
    }

    /// A run with characters beyond ASCII. Returns where to go on if it ran over the line end.
    pub(super) fn unicode(
        &mut self,
        chunk: Range<usize>,
        ends_line: bool,
        rest: &[Range<usize>],
    ) -> Option<usize> {
        let chunk = self.addresses(chunk);
        let text = self.text;
        let mut at = chunk.start;
        while let Some(c) = text.get(at..chunk.end).and_then(|s| s.chars().next()) {
            if is_spaceless(c) {
                let end = run_end(text, at..chunk.end, is_spaceless);
                if ends_line && end == chunk.end {
                    return self.spaceless(at..end, rest);
                }
                self.spaceless(at..end, &[]);
                at = end;
            } else {
                let end = run_end(text, at..chunk.end, |c| !is_spaceless(c));
                self.spaced(at..end);
                at = end;
            }
        }
        None
    }

    /// Text of a language that puts spaces between its words.
    fn spaced(&mut self, range: Range<usize>) {
        let text = self.text;
        let mut number_until = range.start;
        for (n, piece) in text[range.clone()].split_word_bound_indices() {
            let at = range.start + n;
            let Some(first) = piece.chars().next() else {
                continue;
            };
            if at < number_until {
                continue;
            }
            if first.is_alphanumeric() && !piece.chars().any(char::is_numeric) {
                self.push_word(at..at + piece.len());
            } else if first.is_alphanumeric() {
                let mut end = at + piece.len();
                let bytes = text.as_bytes();
                if bytes[end - 1].is_ascii_alphanumeric() {
                    end = number_end(&bytes[..range.end], end - 1).max(end);
                }
                let start = at - currency_before(&text[range.start..at]);
                let hash = hash_as_written(&text[start..end], &mut self.form);
                self.push_number(hash, start..end, range.end);
                number_until = end;
            } else if is_pictograph(first) {
                self.push_as(piece, at..at + piece.len(), WordKind::Symbol);
            } else if let Some(sign) = piece.chars().next().filter(|&c| c == '&') {
                let mut buffer = [0; 4];
                if range.len() == 1 {
                    self.push_as(sign.encode_utf8(&mut buffer), at..at + 1, WordKind::Plain);
                }
            }
        }
    }

    /// Text of a language that writes its words without spaces; it may go on in the lines that follow.
    fn spaceless(&mut self, first: Range<usize>, rest: &[Range<usize>]) -> Option<usize> {
        let text = self.text;
        // The run as one string, and for each piece where it came from.
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        let mut pieces = vec![(0, first.start)];
        joined.push_str(&text[first]);
        let mut on = None;
        for line in rest {
            let end = run_end(text, line.clone(), is_spaceless);
            if end == line.start {
                break;
            }
            pieces.push((joined.len(), line.start));
            joined.push_str(&text[line.start..end]);
            on = Some(end);
            if end < line.end {
                break;
            }
        }
        let place = |at: usize| {
            let (from, there) = pieces[pieces.partition_point(|p| p.0 <= at).saturating_sub(1)];
            there + (at - from)
        };
        let mut breaks = SEGMENTER.segment_str(&joined);
        let mut from = breaks.next().unwrap_or(0);
        for to in breaks {
            if let Some(last) = joined[from..to].char_indices().next_back() {
                let end = place(from + last.0) + last.1.len_utf8();
                normalise(&joined[from..to], &mut self.form);
                let hash = hash_of(&self.form);
                let denied = denies(&self.form);
                self.push(hash, place(from)..end, WordKind::Plain);
                if let Some(word) = self.words.last_mut().filter(|_| denied) {
                    word.flags.set(WordFlags::NEGATION);
                }
            }
            from = to;
        }
        self.joined = joined;
        on
    }

    /// A word of letters; "don't" and "we'll" are two words each.
    pub(super) fn push_word(&mut self, range: Range<usize>) {
        normalise(&self.text[range.clone()], &mut self.form);
        let Some((stem, ending, split)) = contraction(&self.form) else {
            let hash = hash_of(&self.form);
            let kind = if self.form.bytes().any(|b| b.is_ascii_digit()) {
                WordKind::Number
            } else {
                WordKind::Plain
            };
            return self.push(hash, range, kind);
        };
        let (stem, ending) = (hash_of(stem), hash_of(ending));
        let written = &self.text[range.clone()];
        // The same cut in the text as written; an apostrophe may take three bytes there.
        let cut = written
            .char_indices()
            .nth(split)
            .map_or(range.end, |(n, _)| range.start + n);
        if split > 0 {
            self.push(stem, range.start..cut, WordKind::Plain);
        }
        self.push(ending, cut..range.end, WordKind::Plain);
    }

    /// A number of ASCII, as [`number_end`] finds them, in a stretch of text that ends at `limit`.
    pub(super) fn push_ascii_number(&mut self, range: Range<usize>, limit: usize) {
        // All its signs stay what they are when its letters are made small, so most fit into registers as letters do.
        let short = Letters::at(self.text.as_bytes(), range.start, range.len());
        let hash = match short {
            Some(letters) => short::hash(&letters),
            None => hash_as_written(&self.text[range.clone()], &mut self.form),
        };
        self.push_number(hash, range, limit);
    }

    /// A number, in a stretch of text that ends at `limit`; "2." or "2)" in front of something numbers it.
    fn push_number(&mut self, hash: u64, range: Range<usize>, limit: usize) {
        let bytes = &self.text.as_bytes()[..limit];
        let numbers = range.len() <= 2
            && matches!(bytes.get(range.end), Some(b'.' | b')'))
            && ends_run(bytes, range.end + 1)
            && (self.opens_line(range.start) || self.opens_sentence(range.start));
        self.push(hash, range, WordKind::Number);
        if numbers {
            self.flag_last(WordFlags::ENUMERATOR);
        }
    }

    /// Whether no word stands before this place on its line.
    fn opens_line(&self, at: usize) -> bool {
        let before = |last: &Word| self.text.as_bytes().get(last.end as usize..at);
        let last = self.words.last().and_then(before);
        last.is_none_or(|between| between.contains(&b'\n'))
    }

    /// Whether what stands here comes behind a mark and blanks.
    fn opens_sentence(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end_matches(' ').as_bytes().last();
        matches!(before, Some(b'.' | b'?' | b'!' | b':' | b';'))
    }

    pub(super) fn push_as(&mut self, normal: &str, range: Range<usize>, kind: WordKind) {
        let normal = if normal == "&" { "and" } else { normal };
        self.push(hash_of(normal), range, kind);
    }

    fn flag_last(&mut self, flag: WordFlags) {
        if let Some(word) = self.words.last_mut() {
            word.flags.set(flag);
        }
    }

    fn push(&mut self, hash: u64, range: Range<usize>, kind: WordKind) {
        let found = Found::of(hash);
        let mut flags = found.flags;
        if self.text[range.clone()]
            .chars()
            .next()
            .is_some_and(char::is_uppercase)
        {
            flags.set(WordFlags::CAPITAL);
        }
        self.commons.make_room(1);
        self.commons.note(self.words.len(), found.common);
        // A text of four gigabytes is cut by the reader long before this.
        let (start, end) = (range.start as u32, range.end as u32);
        self.words.push(Word {
            hash,
            start,
            end,
            kind,
            flags,
        });
    }
}

/// A currency sign or minus directly before a number, in bytes.
fn currency_before(text: &str) -> usize {
    match text.chars().next_back() {
        Some(c @ ('€' | '£' | '¥' | '$' | '₹' | '₽' | '₩' | '−')) => c.len_utf8(),
        _ => 0,
    }
}

/// Splits an English contraction: the normal forms of both words, and the cut in characters.
fn contraction(normal: &str) -> Option<(&str, &'static str, usize)> {
    const ENDINGS: &[(&str, &str)] = &[
        ("n't", "not"),
        ("'ll", "will"),
        ("'ve", "have"),
        ("'re", "are"),
        ("'m", "am"),
    ];
    if normal == "cannot" {
        return Some(("can", "not", 3));
    }
    let apostrophe = normal.find('\'')?;
    // Behind these words it is "is"; behind others it may tell whose.
    if let (
        "it" | "he" | "she" | "that" | "there" | "here" | "what" | "who" | "where" | "how" | "when",
        "'s",
    ) = normal.split_at(apostrophe)
    {
        return Some((
            &normal[..apostrophe],
            "is",
            normal[..apostrophe].chars().count(),
        ));
    }
    let (stem, full) = ENDINGS
        .iter()
        .find_map(|(end, full)| Some((normal.strip_suffix(end)?, *full)))?;
    let cut = stem.chars().count();
    let stem = match (stem, full) {
        ("wo", "not") => "will",
        ("ca", "not") => "can",
        ("sha", "not") => "shall",
        _ => stem,
    };
    Some((stem, full, cut))
}

/// The end of the longest run of characters that satisfy `is`, from the start of `range`.
fn run_end(text: &str, range: Range<usize>, is: impl Fn(char) -> bool) -> usize {
    let end = range.end;
    text.get(range.clone())
        .and_then(|s| s.char_indices().find(|&(_, c)| !is(c)))
        .map_or(end, |(n, _)| range.start + n)
}

/// Letters of scripts that put no spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'      // Thai, Lao
        | '\u{1000}'..='\u{109F}'    // Burmese
        | '\u{1780}'..='\u{17FF}'    // Khmer
        | '\u{3040}'..='\u{30FF}'    // Hiragana, Katakana
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'    // Han
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}'    // half-width Katakana
        | '\u{20000}'..='\u{3FFFF}'
        | '々' | '〆')
        && c != '・'
}

/// Emoji and their like, which say something without being letters.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2190}'..='\u{21FF}' | '\u{2B00}'..='\u{2BFF}')
}
