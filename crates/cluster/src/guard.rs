//! The last resort: a decoder of others that panics.
//!
//! Lengths and counts are checked here before the decoders of Arrow and Parquet see any bytes, and all they are asked for are plain
//! columns. But they are large, and they were written for files of friends: what they assert about a damaged file is not ours to
//! list. A panic of theirs is made an error of that batch, so that the rows before and behind it are not lost. Nothing of ours
//! is changed while they run: they get bytes and return a value.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a decoder now.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// What the decoder says, or that it gave up.
pub(crate) fn decode<T, E: ToString>(run: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    quiet();
    DECODING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    DECODING.set(false);
    match outcome {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("its lengths do not fit together".to_owned()),
    }
}

/// A panic that is caught is told as a damaged file: nothing else appears on stderr. Panics elsewhere are told as ever.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !DECODING.get() {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(decode(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(decode(|| Err::<(), _>("no")), Err("no".to_owned()));
        let bytes: &[u8] = &[];
        let panicked = decode(|| Ok::<_, String>(bytes[3]));
        assert!(panicked.unwrap_err().contains("do not fit"));
    }
}
