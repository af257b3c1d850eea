//! Lexicons as files.
//!
//! Plain text that a person can read and compare, one line for each document frequency:
//!
//! ```text
//! twicetold lexicon 1
//! documents 4
//! range 0.2 0.8
//! primary 1
//! secondary 2
//! checksum 0123456789abcdef
//! 2 alpha
//! 1 bravo charlie
//! ```
//!
//! The checksum is the XXH3 hash of all other bytes. A file of another version is refused, not guessed at.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use super::build::Range;
use super::lexicon::Lexicon;
use super::words::each_word;

const TITLE: &str = "twicetold lexicon ";
const VERSION: &str = "1";

/// Why bytes are no lexicon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LexiconError {
    /// It does not start as a lexicon file does.
    Foreign,
    /// It is a lexicon file of a version this program does not know.
    Version(String),
    /// It is a lexicon file, but a part of it is missing or changed.
    Damaged(&'static str),
}

impl fmt::Display for LexiconError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("this is not a lexicon file"),
            Self::Version(version) => {
                write!(
                    f,
                    "this lexicon file has version {version}, which is not known; build it again"
                )
            }
            Self::Damaged(what) => write!(f, "this lexicon file is damaged: {what}"),
        }
    }
}

impl std::error::Error for LexiconError {}

impl Lexicon {
    /// The lexicon as a file. Equal lexicons make equal files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = format!(
            "{TITLE}{VERSION}\ndocuments {}\nrange {} {}\nprimary {}\nsecondary {}\n",
            self.documents,
            self.range.low,
            self.range.high,
            self.primary,
            self.secondary()
        );
        let mut body = String::new();
        for group in self.words.chunk_by(|(_, a), (_, b)| a == b) {
            if let Some((_, df)) = group.first() {
                body.push_str(&df.to_string());
            }
            for (word, _) in group {
                body.push(' ');
                body.push_str(word);
            }
            body.push('\n');
        }
        let checksum = checksum(&header, &body);
        format!("{header}checksum {checksum:016x}\n{body}").into_bytes()
    }

    /// Reads what [`Lexicon::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are something else, of another version, cut short or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LexiconError> {
        let rest = bytes
            .strip_prefix(TITLE.as_bytes())
            .ok_or(LexiconError::Foreign)?;
        let version = rest.split(|&b| b == b'\n').next().unwrap_or_default();
        if version != VERSION.as_bytes() {
            // The version comes from a file that may hold anything: show a little of it, harmless.
            let shown = version
                .iter()
                .take(12)
                .map(|&b| if b.is_ascii_graphic() { b as char } else { '?' });
            return Err(LexiconError::Version(shown.collect()));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|_| LexiconError::Damaged("it is not UTF-8"))?;
        read(text)
    }
}

pub(super) fn checksum(header: &str, body: &str) -> u64 {
    xxh3_64(header.as_bytes()) ^ xxh3_64(body.as_bytes()).rotate_left(1)
}

fn read(text: &str) -> Result<Lexicon, LexiconError> {
    let at = text
        .find("\nchecksum ")
        .ok_or(LexiconError::Damaged("the checksum is missing"))?
        + 1;
    let (header, rest) = text.split_at(at);
    let (sum, body) = rest
        .split_once('\n')
        .ok_or(LexiconError::Damaged("the words are missing"))?;
    if sum != format!("checksum {:016x}", checksum(header, body)) {
        return Err(LexiconError::Damaged("the checksum does not fit"));
    }
    // From here on only a file made by hand can be wrong; it is checked all the same.
    let wrong = LexiconError::Damaged("the header cannot be read");
    let field = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.strip_prefix(' '))
            .ok_or_else(|| wrong.clone())
    };
    let number = |name: &str| field(name)?.parse::<u32>().map_err(|_| wrong.clone());
    let (low, high) = field("range")?
        .split_once(' ')
        .ok_or_else(|| wrong.clone())?;
    let end = |text: &str| text.parse::<f64>().map_err(|_| wrong.clone());
    let range = Range {
        low: end(low)?,
        high: end(high)?,
    };
    let (documents, primary, secondary) = (
        number("documents")?,
        number("primary")?,
        number("secondary")?,
    );
    let words = read_words(body, documents)?;
    if words.len() as u64 != u64::from(primary) + u64::from(secondary) {
        return Err(LexiconError::Damaged("the number of words does not fit"));
    }
    let lexicon = Lexicon::new(documents, range, primary, words);
    if lexicon.has_repetitions() {
        return Err(LexiconError::Damaged("a word occurs twice"));
    }
    Ok(lexicon)
}

fn read_words(body: &str, documents: u32) -> Result<Vec<(Box<str>, u32)>, LexiconError> {
    let mut words: Vec<(Box<str>, u32)> = Vec::new();
    let mut limit = documents;
    for line in body.lines() {
        let mut parts = line.split(' ');
        let df: u32 = parts
            .next()
            .and_then(|df| df.parse().ok())
            .filter(|&df| df > 0 && df <= limit)
            .ok_or(LexiconError::Damaged(
                "a document frequency is out of order",
            ))?;
        limit = df - 1;
        for word in parts {
            if !is_word(word) {
                return Err(LexiconError::Damaged("it holds something that is no word"));
            }
            words.push((word.into(), df));
        }
    }
    Ok(words)
}

/// Whether cutting a text into words could have given this one.
fn is_word(word: &str) -> bool {
    let mut same = false;
    each_word(word, |found| same = found == word);
    same
}
