//! One form for every way of writing a word.

use icu_normalizer::ComposingNormalizerBorrowed;
use xxhash_rust::xxh3::xxh3_64;

/// The stable hash of a word that is in normal form already.
pub fn hash_of(normal: &str) -> u64 {
    xxh3_64(normal.as_bytes())
}

/// The stable hash of a word as it is written. `form` is room for its normal form where that is needed.
pub(super) fn hash_as_written(word: &str, form: &mut String) -> u64 {
    let mut lower = [0; 32];
    match lower.get_mut(..word.len()) {
        Some(lower) if word.is_ascii() => {
            lower.copy_from_slice(word.as_bytes());
            lower.make_ascii_lowercase();
            xxh3_64(lower)
        }
        _ => {
            normalise(word, form);
            hash_of(form)
        }
    }
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
    if word.chars().all(is_inert) {
        return form.push_str(word);
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

/// Whether a character is in normal form already, whatever stands beside it: the bulk of Chinese,
/// Japanese and Thai.
fn is_inert(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{e01}'..='\u{e32}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_normal_form() {
        let mut form = String::new();
        for word in [
            "",
            "10:45",
            "EB2601",
            "€7",
            &"Ab1".repeat(10),
            &"Ab1".repeat(20),
        ] {
            let hash = hash_as_written(word, &mut form);
            normalise(word, &mut form);
            assert_eq!(hash, hash_of(&form), "{word}");
        }
    }

    #[test]
    fn inert_characters_are_their_own_normal_form() {
        let nfkc = ComposingNormalizerBorrowed::new_nfkc();
        let inert: String = ('\u{0}'..=char::MAX).filter(|c| is_inert(*c)).collect();
        assert_eq!(nfkc.normalize(&inert), inert.as_str());
        for c in inert.chars() {
            let mut buffer = [0; 4];
            assert!(nfkc.is_normalized(c.encode_utf8(&mut buffer)));
            assert!(c.to_lowercase().eq([c]) && !c.is_whitespace());
        }
        // None of them is put together with one before it.
        let doubled: String = inert.chars().flat_map(|c| ['か', 'カ', 'ั', c]).collect();
        assert_eq!(nfkc.normalize(&doubled), doubled.as_str());
    }
}
