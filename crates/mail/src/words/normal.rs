//! One form for every way of writing a word.

use icu_normalizer::ComposingNormalizerBorrowed;
use xxhash_rust::xxh3::xxh3_64;

/// The stable hash of a word that is in normal form already.
pub fn hash_of(normal: &str) -> u64 {
    xxh3_64(normal.as_bytes())
}

/// The normal form of a word: lower case, compatibility forms folded (full-width letters,
/// ligatures), every apostrophe the same.
///
/// ```
/// let mut form = String::new();
/// twicetold_mail::words::normalise("Ｄon’t", &mut form);
/// assert_eq!(form, "don't");
/// ```
pub fn normalise(word: &str, form: &mut String) {
    form.clear();
    if word.is_ascii() {
        form.push_str(word);
        form.make_ascii_lowercase();
        return;
    }
    let folded = ComposingNormalizerBorrowed::new_nfkc().normalize(word);
    for c in folded.chars() {
        match c {
            '\u{2019}' | '\u{2018}' | '\u{02BC}' | '\u{00B4}' | '\u{FF07}' | '`' => form.push('\''),
            // A word that crosses a line end carries the line end and the next line's quote marks.
            c if c.is_whitespace() || c == '>' => {}
            c => form.extend(c.to_lowercase()),
        }
    }
}
