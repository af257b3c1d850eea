//! Have we seen this spam?
//!
//! People report messages; the service puts them into [`Campaign`]s, clusters of variants, and recognises
//! further variants. [`Engine`] is the door: [`Engine::check`], [`Engine::report`], [`Engine::revoke`]. It
//! works on [`Sketches`], which are made of a message and do not contain it, stands on any [`State`], is
//! shared by threads, and never reads a clock.
//!
//! ```
//! use twicetold_model::Form;
//! use twicetold_service::{Class, Embedded, Engine, Sketches, Trust};
//!
//! let engine = Engine::new(Box::new(Embedded::in_memory()?));
//! engine.introduce("anna")?;
//! let sketch = |text: &str| Sketches::of(Form::Text, text.as_bytes(), &Trust::default());
//! let spam = sketch("Genuine Zurich wristwatches, certified movement, sapphire glass! Order before midnight, courier included.");
//! engine.report(&spam, "anna", 1_000_000_000)?;
//! let variant = sketch("G3nuine Zur1ch wr1stwatches, certified movement, s@pphire gl@ss! Order before midnight, courier included. Bye");
//! let answer = engine.check(&variant, 1_000_000_060)?;
//! assert_eq!(answer.class, Class::Spam);
//! assert_eq!(engine.check(&sketch("Shall we have lunch at the harbour tomorrow?"), 1_000_000_060)?.class, Class::Unknown);
//! # Ok::<(), twicetold_service::StateError>(())
//! ```
//!
//! Never: blocks on layout alone, nor on the word of strangers alone; keeps the text of a message.

mod campaign;
mod engine;
mod evidence;
mod glance;
mod reputation;
mod sketch;
mod state;
mod told;

pub use campaign::{Campaign, CampaignId, Exemplar, Report};
pub use engine::{
    Answer, Class, Engine, ExchangeError, KEEPERS, Line, Outcome, Receipt, SPAM, Summary, Tidied,
};
pub use evidence::{Evidence, Match, NAMED, compare};
pub use glance::Glance;
pub use reputation::{HALF, Reporter, Standing, belief};
pub use sketch::{Fingerprint, LayoutSketch, Sketches, Trust};
pub use state::{
    Change, Committed, Embedded, Owners, Question, Record, Redis, State, StateError, Stored, Tally,
};
pub use told::{CampaignTold, CheckTold, ReceiptTold, SCHEMA, short};
