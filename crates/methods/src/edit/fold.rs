//! Letters that look alike become one letter.
//!
//! Whoever writes `V1agra` with a Cyrillic `а`, with blanks between its letters or with characters
//! that have no width wants a reader to see one word and a program another. Folding undoes that. It
//! is lossy on purpose, but different digits stay different, so other numbers are still other texts.

/// Letters and digits in lower case, everything else dropped: the paper's preparation.
pub fn plain(text: &str) -> Vec<char> {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// As [`plain`], with look-alikes folded.
///
/// ```
/// use twicetold_methods::edit::fold;
/// let seen: String = fold("V1@gr\u{430} — ch e\u{200b} a p, 50 %").into_iter().collect();
/// assert_eq!(seen, "viagracheapso");
/// assert_eq!(fold("ｐｒｉｃé"), fold("pr!ce"));
/// ```
pub fn fold(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    fold_each(text, |letter| out.push(letter));
    out
}

/// As [`fold`], one letter after the other, without a list of them.
#[inline]
pub fn fold_each(text: &str, mut take: impl FnMut(char)) {
    if text.is_ascii() {
        fold_ascii(text.as_bytes(), take);
        return;
    }
    let mut characters = text.chars().peekable();
    let mut after_letter = false;
    while let Some(c) = characters.next() {
        let inside = after_letter && characters.peek().is_some_and(|next| next.is_alphanumeric());
        after_letter = c.is_alphanumeric();
        if let Some(letter) = ascii(c, inside) {
            take(letter);
        } else if !c.is_ascii() && (c.is_alphanumeric() || look_alike(c).is_some()) {
            for small in c.to_lowercase().filter(|c| c.is_alphanumeric()) {
                let known = look_alike(small).unwrap_or(small);
                take(ascii(known, false).unwrap_or(known));
            }
        }
    }
}

/// As [`fold_each`], for text in which most of its questions have one answer.
#[inline]
fn fold_ascii(text: &[u8], mut take: impl FnMut(char)) {
    let mut after_letter = false;
    for (at, byte) in text.iter().enumerate() {
        let letter = match byte {
            b'!' | b'+' | b'(' => {
                let before_letter = text.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
                ascii(char::from(*byte), after_letter && before_letter)
            }
            byte => match PLAIN.get(usize::from(*byte)) {
                Some(0) | None => None,
                Some(letter) => Some(char::from(*letter)),
            },
        };
        after_letter = byte.is_ascii_alphanumeric();
        if let Some(letter) = letter {
            take(letter);
        }
    }
}

/// What ASCII characters stand for wherever they stand; 0 for those that are dropped.
static PLAIN: [u8; 128] = {
    let mut table = [0; 128];
    let mut at = 0;
    while at < 128 {
        if let Some(letter) = ascii(at as u8 as char, false) {
            table[at] = letter as u8;
        }
        at += 1;
    }
    table
};

/// What an ASCII character stands for. `inside` says that it stands between two letters, where marks
/// such as `!` are letters in disguise.
const fn ascii(c: char, inside: bool) -> Option<char> {
    Some(match c {
        '0' => 'o',
        // `1`, `l`, `I` and `|` cannot be told apart in many typefaces.
        '1' | 'l' | 'L' | 'I' | '|' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        '8' => 'b',
        '!' if inside => 'i',
        '+' if inside => 't',
        '(' if inside => 'c',
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => return None,
    })
}

/// The Latin letter that a small letter of another alphabet, or one with a mark on it, looks like.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ' | 'ả' | 'а' | 'α' | 'ά' | 'ɑ' => 'a',
        'ь' | 'в' | 'β' | 'ƅ' => 'b',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' | 'с' | 'ϲ' | '¢' => 'c',
        'ď' | 'đ' | 'ԁ' | 'ɗ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ' | 'ẽ' | 'е' | 'ё' | 'є' | 'ε' | 'έ' | '€' => {
            'e'
        }
        'ƒ' => 'f',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' | 'ɡ' => 'g',
        'ĥ' | 'ħ' | 'н' | 'һ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'і' | 'ї' | 'ι' | 'ί' | 'ϊ' | 'ӏ' => {
            'i'
        }
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' | 'ⅼ' => 'i',
        'ĵ' | 'ј' | 'ϳ' => 'j',
        'ķ' | 'к' | 'κ' => 'k',
        'м' | 'ⅿ' => 'm',
        'ñ' | 'ń' | 'ņ' | 'ň' | 'п' | 'η' | 'ή' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ọ' | 'о' | 'ο' | 'ό' | 'σ' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ŕ' | 'ŗ' | 'ř' | 'г' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' | 'ѕ' | '§' => 's',
        'ţ' | 'ť' | 'ŧ' | 'ț' | 'т' | 'τ' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ụ' | 'υ' | 'ύ' | 'ц' => 'u',
        'ν' | 'ѵ' | 'ⅴ' => 'v',
        'ŵ' | 'ω' | 'ώ' | 'ԝ' | 'ш' => 'w',
        'х' | 'χ' | 'ⅹ' => 'x',
        'ý' | 'ÿ' | 'ŷ' | 'у' | 'γ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        '£' => 'i',
        // Full-width forms stand in the same order as ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_through_ascii_leads_to_the_same_end() {
        for first in ['a', '1', ' ', '!'] {
            for x in 0..128_u8 {
                for y in 0..128_u8 {
                    let text = format!("{first}{}{}", char::from(x), char::from(y));
                    // With a character that is dropped, all of it goes the long way.
                    let long = fold(&format!("{text}\u{200b}"));
                    assert_eq!(fold(&text), long, "{text:?}");
                }
            }
        }
    }
}
