//! I-Match with randomised lexicons: one look-up per lexicon.
//!
//! *Lexicon randomization for near-duplicate detection with I-Match* (Kołcz and Chowdhury). A message
//! becomes the *set* of its words that a lexicon holds, neither the commonest words nor the rarest, and
//! that set becomes one hash. One changed lexicon word changes it, so K further lexicons, each the first
//! one with a random part of its words removed, make K further hashes: a changed word that a lexicon
//! lacks does not change its hash. Two messages are near duplicates if any of the K + 1 agrees.
//!
//! | parameter | default | more | less |
//! |---|---|---|---|
//! | `lexicon` | shipped, English mail | a lexicon of your own collection or of clean news text | – |
//! | `copies` (K) | 10 | more changed copies found, more keys | 0: the plain method |
//! | `removal` | [`Removal::Same`] .33 | larger p: stable under more changes, fewer words in each hash | smaller p: fewer chance matches |
//! | `least_words` | 5 | fewer chance matches | short messages get a signature |
//! | `ratio` | 10 % | long texts are told apart better | fewer words from the secondary lexicon, stabler |
//! | `votes` | 1 | fewer chance matches | – |
//!
//! **Words** are the paper's: subject and body, runs of alphanumerics in lower case, at least 4
//! characters, at most one digit, each once; fewer than 5 are too few for a signature. Languages
//! written without spaces make few such words: the method mostly abstains there.
//!
//! **Signature.** S = L ∩ U, with U the words of the message and L the primary lexicon. If that is less
//! than `ratio` of U, the commonest words of B ∩ U are added, the fewest needed, with B the secondary
//! lexicon. (The paper prints L ∩ U there; B ∩ U is meant.) With fewer than `least_words`, or still below
//! the ratio, there is no hash. Every copy does the same with its own part of L and B, drawn from a keyed
//! hash of (seed, copy, word), so that no copy is ever stored.
//!
//! **Stability.** After n inserted or deleted lexicon words one of the K hashes stays with probability
//! `1 − (1 − pⁿ)^K`, and it takes 1/pⁿ lexicons on average until one does; a test measures it. The paper's
//! equation (6) and Table 4 have `(1 − p)ⁿ` instead, which is the chance that *no* changed word was
//! removed: the opposite event.
//!
//! **Substitutions** the paper leaves open: each is a deletion and often an insertion as well, and a
//! tenth of the words of a long message is far more than pⁿ can bear. [`Removal::Fitted`] is the remedy
//! offered here: it removes the more, the more lexicon words a message has, so that each hash stands for
//! about `words` of them, however long the message. What then counts is the *share* of changed words.
//! Of 200 spam messages with a tenth of their words substituted the paper's way finds 43 % with K = 10 and
//! 47 % with K = 20, the fitted one ([`Removal::FITTED`]) 83 % and 89 %, none of them with a false alarm on
//! 4,150 legitimate messages.
//!
//! **Score**: the share of hashes that agree, so 1 for equal texts and 0 where none does. By the paper's
//! rule every pair above 0 is a near duplicate; `votes` asks for more than one agreement. Template
//! pages with the same words but for one rare name match (§7.1.1): verify before acting on it. The method
//! knows no direction, so containment is given the same number.
//!
//! ```
//! use twicetold_methods::imatch::{Imatch, LexiconBuilder, Range};
//! use twicetold_model::{Document, Method};
//!
//! let document = |text: &str| Document { text: text.into(), ..Document::default() };
//! let mut builder = LexiconBuilder::default();
//! for text in ["common alpha bravo", "common charlie delta", "common echoes", "common alpha"] {
//!     builder.add(&document(text));
//! }
//! let imatch = Imatch::new(builder.build(Range { low: 0.2, high: 1.0 }, 1000));
//! let sketch = |text: &str| imatch.sketch(&document(text));
//! let a = sketch("alpha bravo charlie delta echoes common").unwrap();
//! let b = sketch("Echoes? Delta, charlie, bravo: ALPHA again again").unwrap();
//! assert_eq!(imatch.compare(&a, &b).resemblance, 1.0); // the same lexicon words
//! assert_eq!(sketch("alpha bravo"), None); // too short
//! ```

mod build;
mod file;
mod lexicon;
mod signature;
mod words;

pub use build::{LexiconBuilder, Range};
pub use file::LexiconError;
pub use lexicon::{Lexicon, Part};
pub use signature::Removal;
pub use words::{each_word, unique_words};

use std::sync::Arc;

use twicetold_model::{Document, Evidence, Method, Sketch, shared_keys};

/// Fewer different words than this are too few for a signature (the paper's number).
pub const TOO_SHORT: usize = 5;

/// The method and its parameters.
#[derive(Clone, Debug)]
pub struct Imatch {
    /// The words that count.
    pub lexicon: Arc<Lexicon>,
    /// How many randomised copies of the lexicon there are besides it (K).
    pub copies: u32,
    /// How much each copy lacks.
    pub removal: Removal,
    /// The fewest lexicon words that make a hash.
    pub least_words: usize,
    /// The least share of a message's words that must be lexicon words, in hundredths.
    pub ratio: u32,
    /// How many hashes must agree for a score above 0.
    pub votes: usize,
    /// Where the randomised copies come from; signatures with different seeds do not match.
    pub seed: u64,
}

impl Default for Imatch {
    fn default() -> Self {
        Self::with(Lexicon::shipped())
    }
}

impl Imatch {
    /// The default parameters with a lexicon of one's own.
    pub fn new(lexicon: Lexicon) -> Self {
        Self::with(Arc::new(lexicon))
    }

    fn with(lexicon: Arc<Lexicon>) -> Self {
        Self {
            lexicon,
            copies: 10,
            removal: Removal::PAPER,
            least_words: 5,
            ratio: 10,
            votes: 1,
            seed: 0,
        }
    }

    /// Whether two sketches are near duplicates: at least `votes` hashes agree.
    pub fn agree(&self, a: &Sketch, b: &Sketch) -> bool {
        shared_keys(&a.keys, &b.keys) >= self.votes.clamp(1, a.keys.len().min(b.keys.len()).max(1))
    }
}

impl Method for Imatch {
    fn name(&self) -> &'static str {
        "imatch"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        Sketch::of_keys(self.signature(&unique_words(document)))
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        let agreed = if self.agree(a, b) {
            shared_keys(&a.keys, &b.keys)
        } else {
            0
        };
        let score = agreed as f64 / a.keys.len().max(b.keys.len()).max(1) as f64;
        Evidence {
            containment: score,
            resemblance: score,
        }
    }
}

#[cfg(test)]
mod tests;
