//! Do two different words say the same?
//!
//! Two tolerances, both narrow, because a wrong one loses content: inflection ("introduce",
//! "introduces") and one slip of the fingers in a long word ("introduce", "introdcue"). Numbers,
//! names, addresses and denials are never tolerated.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use twicetold_mail::words::normalise;
use twicetold_model::{Document, Language, Word, WordFlags, WordKind};

/// Pairs one slip apart that are both words, so that neither is a misspelling of the other.
const DISTINCT: &[(&str, &str)] = &[
    ("trial", "trail"),
    ("angel", "angle"),
    ("quiet", "quite"),
    ("diary", "dairy"),
    ("united", "untied"),
    ("causal", "casual"),
    ("marital", "martial"),
    ("scared", "sacred"),
    ("brain", "brian"),
    ("unite", "untie"),
    ("silver", "sliver"),
    ("tired", "tried"),
    ("field", "filed"),
    ("being", "begin"),
    ("signed", "singed"),
    ("sing", "sign"),
    ("signing", "singing"),
    ("unclear", "nuclear"),
    ("stake", "skate"),
    ("barely", "barley"),
    ("bowels", "bowles"),
    ("calm", "clam"),
    ("coast", "costa"),
    ("carol", "coral"),
    ("infection", "inflection"),
    ("statutes", "statues"),
    ("desserts", "deserts"),
    ("planning", "planing"),
    ("starring", "staring"),
    ("hopping", "hoping"),
    ("contract", "contact"),
    ("country", "county"),
    ("through", "thorough"),
    ("infections", "inflections"),
    ("contracts", "contacts"),
    ("countries", "counties"),
    ("contracted", "contacted"),
    ("contracting", "contacting"),
    ("interred", "inferred"),
    ("reserved", "reversed"),
    ("petition", "partition"),
    ("prescribed", "proscribed"),
    ("received", "relieved"),
    ("adoption", "adaption"),
    ("appraise", "apprise"),
    ("inference", "interference"),
    ("relation", "relaxation"),
    ("resolution", "revolution"),
    ("specialty", "speciality"),
    ("transmission", "transition"),
    ("revenues", "avenues"),
    ("expansive", "expensive"),
    ("detection", "deflection"),
    ("reflection", "refection"),
];

/// Whether two words that are not equal say the same in these documents.
pub(crate) fn alike(a: &Document, x: &Word, b: &Document, y: &Word) -> bool {
    let plain = |w: &Word| w.kind == WordKind::Plain && !w.flags.has(WordFlags::NEGATION);
    if !plain(x) || !plain(y) {
        return false;
    }
    let (x_written, y_written) = (a.word(x), b.word(y));
    if x_written.len() < 4 || y_written.len() < 4 || x_written.len().abs_diff(y_written.len()) > 4 {
        return false;
    }
    if begin_otherwise(x_written, y_written) {
        return false;
    }
    let (mut p, mut q) = (String::new(), String::new());
    normalise(x_written, &mut p);
    normalise(y_written, &mut q);
    if p == q {
        return true;
    }
    if !p.chars().chain(q.chars()).all(char::is_alphabetic) {
        return false;
    }
    inflected(&p, &q, a.language, b.language)
        || misspelt(
            &p,
            &q,
            x.flags.has(WordFlags::CAPITAL) && y.flags.has(WordFlags::CAPITAL),
        )
}

/// Whether two words begin with different letters: then no tolerance makes them one. Most words are told apart by this.
fn begin_otherwise(x: &str, y: &str) -> bool {
    match (x.as_bytes().first(), y.as_bytes().first()) {
        (Some(x), Some(y)) => {
            x.is_ascii_alphabetic() && y.is_ascii_alphabetic() && !x.eq_ignore_ascii_case(y)
        }
        _ => false,
    }
}

/// Two forms of one word: the same stem, and endings of at most three letters.
fn inflected(p: &str, q: &str, a: Language, b: Language) -> bool {
    let language = if a == Language::Other { b } else { a };
    let Some(algorithm) = algorithm(language) else {
        return false;
    };
    let common = p.chars().zip(q.chars()).take_while(|(x, y)| x == y).count();
    let (m, n) = (p.chars().count(), q.chars().count());
    if common < 3 || m - common > 3 || n - common > 3 {
        return false;
    }
    let stemmer = Stemmer::create(algorithm);
    stemmer.stem(p) == stemmer.stem(q)
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::English => Algorithm::English,
        Language::German => Algorithm::German,
        Language::French => Algorithm::French,
        Language::Spanish => Algorithm::Spanish,
        Language::Italian => Algorithm::Italian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Dutch => Algorithm::Dutch,
        Language::Swedish => Algorithm::Swedish,
        Language::Danish => Algorithm::Danish,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Finnish => Algorithm::Finnish,
        Language::Russian => Algorithm::Russian,
        Language::Polish => Algorithm::Polish,
        Language::Czech => Algorithm::Czech,
        Language::Turkish => Algorithm::Turkish,
        Language::Romanian => Algorithm::Romanian,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Other => return None,
    })
}

/// One slip: two neighbouring letters swapped in a word of five or more, or one letter too many or too few in a word
/// of eight or more that is not a name.
fn misspelt(p: &str, q: &str, names: bool) -> bool {
    let slipped = match p.is_ascii() && q.is_ascii() {
        true => slip(p.as_bytes(), q.as_bytes(), names),
        false => {
            let letters = |word: &str| word.chars().collect::<Vec<char>>();
            slip(&letters(p), &letters(q), names)
        }
    };
    let are = |(x, y): &(&str, &str)| (p, q) == (*x, *y) || (q, p) == (*x, *y);
    slipped && !DISTINCT.iter().any(are)
}

fn slip<L: PartialEq>(p: &[L], q: &[L], names: bool) -> bool {
    let common = p.iter().zip(q).take_while(|(x, y)| x == y).count();
    if common == 0 {
        return false;
    }
    let (short, long) = if p.len() <= q.len() { (p, q) } else { (q, p) };
    match long.len() - short.len() {
        0 => {
            let swapped =
                common + 1 < p.len() && p[common] == q[common + 1] && p[common + 1] == q[common];
            swapped && p.len() >= 5 && p[common + 2..] == q[common + 2..]
        }
        1 => !names && short.len() >= 8 && common >= 3 && short[common..] == long[common + 1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_forgiven() {
        for (p, q) in [
            ("introduce", "introdcue"),
            ("going", "goign"),
            ("government", "goverment"),
            ("occurred", "occured"),
            ("übernehmen", "übernhemen"),
        ] {
            let long = p.len().min(q.len()) >= 8 || p.len() == q.len();
            assert_eq!(misspelt(p, q, false), long, "{p} {q}");
        }
    }

    #[test]
    fn another_word_is_not() {
        for (p, q) in [
            ("million", "billion"),
            ("form", "from"),
            ("trial", "trail"),
            ("contract", "contact"),
            ("legal", "illegal"),
            ("increase", "decrease"),
            ("monday", "sunday"),
            ("complement", "compliment"),
            ("able", "unable"),
        ] {
            assert!(!misspelt(p, q, false), "{p} {q}");
        }
        assert!(
            !misspelt("robertson", "robertsons", true),
            "names keep their spelling"
        );
    }

    #[test]
    fn words_that_begin_with_other_letters_are_told_apart_by_them() {
        assert!(begin_otherwise("harbour", "Museum"));
        for (x, y) in [
            ("Harbour", "harbor"),
            ("Übung", "Uebung"),
            ("１２", "12"),
            ("", "a"),
        ] {
            assert!(!begin_otherwise(x, y), "{x} {y}");
        }
    }

    #[test]
    fn inflection_needs_the_language() {
        assert!(inflected(
            "introduce",
            "introduces",
            Language::English,
            Language::Other
        ));
        assert!(!inflected(
            "introduce",
            "introduces",
            Language::Other,
            Language::Other
        ));
        assert!(!inflected(
            "organ",
            "organization",
            Language::English,
            Language::English
        ));
        assert!(inflected(
            "berichte",
            "berichten",
            Language::German,
            Language::German
        ));
    }
}
