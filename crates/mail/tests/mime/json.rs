//! One object of JSON lines.

use twicetold_mail::mime::open_json;

use crate::problems;

#[test]
fn json() {
    let visible = open_json(
        br#"{"id":7,"title":"T","author":"Anna","date":"2001-05-14T16:39:00-07:00","body":"a\r\nb","references":["x",3],"in_reply_to":"x"}"#,
    );
    assert_eq!(visible.text, "a\nb");
    let envelope = visible.envelope;
    assert_eq!(envelope.message_id.as_deref(), Some("7"));
    assert_eq!(
        (envelope.subject.as_str(), envelope.from.as_str()),
        ("T", "anna")
    );
    assert_eq!(envelope.from_name, "Anna");
    assert_eq!(envelope.date, Some(989_883_540));
    assert_eq!(envelope.references, ["x", "3"]);
    assert_eq!(
        open_json(br#"{"id":"a","text":"t","date":5}"#)
            .envelope
            .date,
        Some(5)
    );
    assert_eq!(
        problems(&open_json(b"{oops")),
        ["the JSON cannot be understood"]
    );
    assert_eq!(
        problems(&open_json(b"[1]")),
        ["the line is not a JSON object"]
    );
    assert_eq!(
        problems(&open_json(b"{\"id\":1}")),
        ["the JSON object has no text"]
    );
    assert_eq!(
        problems(&open_json(br#"{"text":"a","date":"soon"}"#)),
        ["the date cannot be understood"]
    );
    let deep = "[".repeat(100_000);
    assert_eq!(open_json(deep.as_bytes()).text, "");
}
