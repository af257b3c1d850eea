//! Any bytes, as a response of an IMAP server: it is taken apart or refused, and nothing in it can be larger than it is.
#![no_main]
// The parser is private to its crate, and the crate brings TLS along: the files themselves are enough.
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/account/src/uids.rs"]
mod uids;

#[path = "../../crates/account/src/imap"]
mod imap {
    pub(crate) mod cursor;
    pub(crate) mod names;
    pub(crate) mod response;
}

use imap::names;
use imap::response::{Body, Code, Response, Streamed, is_body, literal, may_hold_literals, parse};

fuzz_target!(|bytes: &[u8]| {
    let _ = (may_hold_literals(bytes), is_body(bytes));
    // As the session does it: a message that was announced has passed by already.
    let streamed = literal(bytes).map(|size| Streamed {
        at: bytes.len(),
        size,
    });
    for streamed in [None, streamed] {
        let parsed = parse(bytes, streamed);
        assert_eq!(
            parsed,
            parse(bytes, streamed),
            "the same bytes say the same"
        );
        match parsed {
            Ok(Response::Fetch(message)) => {
                if let Some(Body::Inline(inline)) = &message.body {
                    assert!(inline.len() <= bytes.len());
                }
                let flags = message.flags.unwrap_or_default();
                let labels = message.gmail_labels.unwrap_or_default();
                assert!(flags.len() + labels.len() <= bytes.len());
            }
            Ok(Response::Search(uids) | Response::Vanished(uids)) => {
                let text = uids.to_string();
                if !uids.is_empty() {
                    assert_eq!(text.parse(), Ok(uids), "a set of UIDs comes back");
                }
            }
            Ok(Response::Tagged { status, .. } | Response::Status(status)) => {
                if let Some(Code::CopyUid(_, from, to)) = status.code {
                    assert!(from.len() + to.len() <= bytes.len());
                }
            }
            _ => {}
        }
    }
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(
        names::decode(&names::encode(&text)),
        text,
        "names come back"
    );
    let _ = names::decode(&text);
});
