//! Who could be meant by a few capitalised words.

use std::cell::{Cell, OnceCell};
use std::sync::LazyLock;

use memchr::memchr2_iter;
use twicetold_model::Envelope;

use super::fold::{fold, fold_short, without_spaces};
use super::index::Openings;
use super::lines::head;
use super::phrases::{NAME_PARTICLES, NAMES_LIKE_VERBS, NOT_NAMES};

static ANSWERS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[NOT_NAMES]));

/// The names in the headers of a message, folded; collected when somebody asks for them, as few do.
pub(super) struct People<'e> {
    envelope: &'e Envelope,
    sender: OnceCell<Vec<String>>,
    recipients: OnceCell<Vec<String>>,
    /// How often somebody has asked.
    asked: Cell<u32>,
}

impl<'e> People<'e> {
    /// The people of a message.
    pub(super) fn new(envelope: &'e Envelope) -> Self {
        Self {
            envelope,
            sender: OnceCell::new(),
            recipients: OnceCell::new(),
            asked: Cell::new(0),
        }
    }

    /// Whether this folded word is part of the sender's name.
    fn is_sender(&self, word: &str) -> bool {
        self.may_be_sender(word) && self.sender().iter().any(|name| name == word)
    }

    /// Whether a word, folded or not, can be part of the sender's name; saves taking the name apart for most.
    fn may_be_sender(&self, word: &str) -> bool {
        if self.may_glance() {
            return may_hold(&self.envelope.from_name, word) || may_hold(&self.envelope.from, word);
        }
        let mut names = self.sender().iter();
        names.any(|name| name.eq_ignore_ascii_case(word))
    }

    fn sender(&self) -> &[String] {
        self.sender.get_or_init(|| {
            let from = &self.envelope.from;
            let local = from.split('@').next().unwrap_or_default();
            let mut names = tokens(&self.envelope.from_name);
            names.extend(tokens(local));
            names
        })
    }

    /// Whether this folded word is part of any name in the headers.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.is_sender(word) || self.is_recipient(word)
    }

    /// Whether names are still to be looked through as they are written: a message of many parts asks so often that it is better to take them apart.
    fn may_glance(&self) -> bool {
        const GLANCES: u32 = 16;
        let asked = self.asked.get();
        self.asked.set(asked.saturating_add(1));
        asked < GLANCES
    }

    fn is_recipient(&self, word: &str) -> bool {
        // A message to thousands is not addressed by name.
        let recipients = head(&self.envelope.recipients, 20_000);
        if self.may_glance() && !may_hold(recipients, word) {
            return false;
        }
        let names = self.recipients.get_or_init(|| {
            let mut names = tokens(recipients);
            names.sort_unstable();
            names
        });
        names
            .binary_search_by(|name| name.as_str().cmp(word))
            .is_ok()
    }

    /// Whether a line is the sender's name, or part of it, and nothing else.
    pub(super) fn is_sender_line(&self, words: &str) -> bool {
        if words.len() > 60 || words.ends_with(['?', ':', ';']) {
            return false;
        }
        // Most lines start with a word that is no part of the sender's name.
        let first = words
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '\'')
            .find(|name| !name.is_empty());
        if words.is_ascii() && first.is_none_or(|name| name.len() > 1 && !self.may_be_sender(name))
        {
            return false;
        }
        let folded = fold(words);
        let mut names = folded
            .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
            .filter(|name| !name.is_empty())
            .peekable();
        names.peek().is_some()
            && names.all(|name| {
                self.is_sender(name)
                    || (name.chars().count() == 1 && name.chars().all(char::is_alphabetic))
            })
            && folded
                .split_whitespace()
                .any(|name| name.chars().filter(|letter| letter.is_alphabetic()).count() > 1)
    }
}

/// Whether a word, folded or not, can be one of the [`tokens`] of some names.
fn may_hold(names: &str, word: &str) -> bool {
    let Some(&first) = word.as_bytes().first() else {
        return true;
    };
    // Folding changes nothing but case inside the tokens of ASCII.
    !names.is_ascii()
        || memchr2_iter(
            first.to_ascii_lowercase(),
            first.to_ascii_uppercase(),
            names.as_bytes(),
        )
        .filter_map(|at| names.get(at..at + word.len()))
        .any(|part| part.eq_ignore_ascii_case(word))
}

/// The parts of a name or address that are letters, at least two of them.
fn tokens(names: &str) -> Vec<String> {
    fold(names)
        .split(|letter: char| !letter.is_alphabetic() && letter != '\'')
        .filter(|name| {
            name.chars().count() >= 2 && !matches!(*name, "com" | "org" | "net" | "info" | "mail")
        })
        .map(str::to_owned)
        .collect()
}

/// Whether a line can be a person's name: one to four capitalised words, nothing else.
pub(super) fn is_name(words: &str) -> bool {
    if words.len() > 80 {
        return false;
    }
    let mut capitals = 0;
    for (before, word) in bare(words).split_whitespace().enumerate() {
        let word = word.trim_matches([',', '"', '(', ')']);
        let capital = is_name_word(word);
        if before == 5 || !(capital || NAME_PARTICLES.contains(&word)) {
            return false;
        }
        capitals += usize::from(capital);
    }
    (1..=4).contains(&capitals)
}

/// Whether a line can be a name in a script without capitals; only its place can tell.
pub(super) fn is_uncased_name(words: &str) -> bool {
    // All letters of ASCII have capitals.
    if words.len() > 100 || words.is_ascii() {
        return false;
    }
    let bare = bare(words);
    let letters = bare.chars().filter(|letter| letter.is_alphabetic()).count();
    let uncased = bare.chars().all(|letter| {
        letter.is_whitespace() || letter == '.' || is_uncased(letter) || is_mark(letter)
    });
    let longest = if bare.chars().any(without_spaces) {
        8
    } else {
        30
    };
    uncased && (1..=longest).contains(&letters) && bare.split_whitespace().count() <= 3
}

/// Whether a letter belongs to a script without capitals.
pub(super) fn is_uncased(letter: char) -> bool {
    letter.is_alphabetic() && !letter.is_lowercase() && !letter.is_uppercase()
}

/// Vowel signs of scripts without capitals, which do not count as letters.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}')
}

/// The words of a name line without what people put around their names.
fn bare(words: &str) -> &str {
    words
        .trim_start_matches(['-', '–', '—', '~', '/', '*', ' ', '_', '=', '.', ':'])
        .trim_end_matches(['.', ',', '*', ' ', '_', '-', '!', '~'])
}

/// Whether a word is written as names are, and is no common answer.
pub(super) fn is_name_word(word: &str) -> bool {
    const LONGEST: usize = 30;
    if word.len() > LONGEST {
        return false;
    }
    let mut letters = word.chars();
    if !letters.next().is_some_and(char::is_uppercase) {
        return false;
    }
    let shaped =
        letters.all(|letter| letter.is_alphabetic() || matches!(letter, '.' | '\'' | '’' | '-'));
    if !shaped {
        return false;
    }
    let mut buffer = [0; LONGEST];
    let folded = fold_short(word, &mut buffer);
    let plain = folded.trim_end_matches('.');
    if ANSWERS.holds(plain) {
        return false;
    }
    let verbal = plain.len() > 3
        && ["ed", "ing", "ly", "tion", "ment", "ness", "able", "ible"]
            .iter()
            .any(|ending| plain.ends_with(ending));
    !verbal || NAMES_LIKE_VERBS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use twicetold_model::Envelope;

    use super::{NAME_PARTICLES, People, fold, may_hold, tokens};

    #[test]
    fn whoever_asks_often_gets_the_same_answers() {
        let envelope = Envelope {
            from: "anna.kowalska@example.org".to_owned(),
            from_name: "Anna O'Brien-Kowalska".to_owned(),
            recipients: "Bob Miller <bob@example.com>, Zoë".to_owned(),
            ..Envelope::default()
        };
        let people = People::new(&envelope);
        let words = [
            "anna", "brien", "o'brien", "bob", "zoë", "carol", "example", "ann",
        ];
        let ask = || words.map(|word| (people.knows(word), people.is_sender_line(word)));
        let first = ask();
        assert!(first[0] == (true, true) && first[3].0 && !first[5].0);
        (0..10).for_each(|_| assert_eq!(ask(), first));
    }

    #[test]
    fn a_particle_is_told_from_a_name_by_its_first_letter() {
        let large = |particle: &&&str| particle.starts_with(char::is_uppercase);
        assert_eq!(NAME_PARTICLES.iter().find(large), None);
    }

    #[test]
    fn names_are_taken_apart_wherever_they_hold_the_word() {
        let texts = [
            "",
            "Anna  O'Brien",
            "anna.kowalska@example.org, Bob <b-o-b@example.com>",
            "Jörg MÜLLER",
            "KELVIN \u{212a}elly",
        ];
        for names in texts {
            for token in tokens(names) {
                assert!(may_hold(names, &token), "{names:?} {token:?}");
                let upper = token.to_uppercase();
                assert!(may_hold(names, &upper) || !names.is_ascii());
            }
            for word in ["zoë", "carol", "annabel", "Ann", ""] {
                let held = tokens(names).contains(&fold(word));
                assert!(may_hold(names, word) || !held, "{names:?} {word:?}");
            }
        }
        assert!(!may_hold("Anna Kowalska", "bob"));
    }
}
