//! How much a word tells, by how rare it is in ordinary mail.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use twicetold_methods::imatch::Lexicon;

use super::tokens::{Token, number};

/// What a word tells that ordinary mail hardly has, in natural units of information.
const RARE: f32 = 7.0;
/// What a short word tells: names, numbers and scraps, as good as always used by somebody.
const SHORT: f32 = 2.5;
/// What the words below tell.
const COMMON: f32 = 1.5;

/// Words of four letters and more that stand in more than one of eight honest messages, and that are
/// therefore in no lexicon of mid-frequency words.
const EVERYWHERE: &str = "list just more like some only time other group date email information \
    message here know into make work well first need want over free these subject through back take \
    last send thanks help please sent original today business week following call contact questions \
    monday tuesday wednesday thursday friday attached receive thank review mail http https html href \
    2000 2001 2002 from with this that have will your";

/// How much a word tells: the logarithm of one in how many honest messages has it, between 1 and 7.
pub(super) fn information(token: &Token) -> f32 {
    if token.letters < 4 {
        return SHORT;
    }
    table().get(&token.hash).copied().unwrap_or(RARE)
}

/// The words of the shipped lexicon, folded, and what each tells.
fn table() -> &'static HashMap<u64, f32, FixedState> {
    static TABLE: OnceLock<HashMap<u64, f32, FixedState>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let lexicon = Lexicon::shipped();
        let documents = f64::from(lexicon.documents().max(1));
        let mut table: HashMap<u64, f32, FixedState> = HashMap::default();
        for (word, df, _) in lexicon.words() {
            let tells = (documents / f64::from(df.max(1))).ln() as f32;
            let told = table.entry(number(word)).or_insert(RARE);
            // Different words that fold alike tell as little as the commonest of them.
            *told = told.min(tells.clamp(COMMON, RARE));
        }
        for word in EVERYWHERE.split_whitespace() {
            table.insert(number(word), COMMON);
        }
        table
    })
}
