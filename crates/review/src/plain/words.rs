//! The plain words for categories and leftovers.

use twicetold_model::{Category, ResidueKind};

/// What a category means, in at most 37 characters.
pub fn meaning(category: Category) -> &'static str {
    match category {
        Category::Identical => "word for word the same",
        Category::AlmostIdentical => "but for a greeting, an ending, a typo",
        Category::Rearranged => "the same sentences in another order",
        Category::Quoted => "inside a longer message, unchanged",
        Category::QuotedChanged => "inside a longer one, slightly changed",
        Category::Combined => "said by several messages together",
    }
}

/// What a leftover is, and what that means for the message.
pub fn leftover(kind: ResidueKind) -> &'static str {
    match kind {
        ResidueKind::Content => "new content, which keeps the message",
        ResidueKind::Fact => "a changed fact, which keeps the message",
        ResidueKind::Greeting => "a greeting or closing (no content)",
        ResidueKind::Attribution => "a line that says who wrote what follows (no content)",
        ResidueKind::Boilerplate => "a signature, footer or disclaimer (no content)",
    }
}
