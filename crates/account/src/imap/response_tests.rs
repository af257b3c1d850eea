use proptest::prelude::*;

use super::*;

fn parsed(line: &str) -> Response {
    parse(line.as_bytes(), None).unwrap()
}

#[test]
fn fetch_items_are_understood_in_any_order() {
    let line = b"* 12 FETCH (FLAGS (\\Seen $Forwarded) X-NEW (1 (\"a)\" {3}\r\nb)c)) BODY[] {5}\r\n UID 7 RFC822.SIZE 5 INTERNALDATE \"17-Jul-1996 02:44:25 -0700\" X-GM-MSGID 1278455344230334865 X-GM-LABELS (\\Inbox \"my label\"))";
    let at = line
        .windows(3)
        .position(|part| part == b"{5}")
        .map(|at| at + 5)
        .unwrap();
    let streamed = Some(Streamed { at, size: 5 });
    let expected = Fetched {
        uid: Some(7),
        flags: Some(vec!["\\Seen".into(), "$Forwarded".into()]),
        date: Some("17-Jul-1996 02:44:25 -0700".into()),
        size: Some(5),
        body: Some(Body::Streamed(5)),
        gmail_id: Some(1_278_455_344_230_334_865),
        gmail_labels: Some(vec!["\\Inbox".into(), "my label".into()]),
    };
    assert_eq!(parse(line, streamed), Ok(Response::Fetch(expected)));
    // Not streamed, five bytes have to follow, and then more items.
    assert!(parse(line, None).is_err());
    let Response::Fetch(nil) = parsed("* 1 FETCH (UID 3 BODY[] NIL)") else {
        panic!();
    };
    assert_eq!(nil.body, Some(Body::Missing));
    let Response::Fetch(quoted) = parsed("* 1 FETCH (BODY[] \"a\\\"b\")") else {
        panic!();
    };
    assert_eq!(quoted.body, Some(Body::Inline(b"a\"b".to_vec())));
    let other = "* 1 FETCH (BODY[HEADER.FIELDS (MESSAGE-ID)] \"x\" UID 4)";
    assert!(matches!(
        parsed(other),
        Response::Fetch(Fetched {
            uid: Some(4),
            body: None,
            ..
        })
    ));
}

#[test]
fn codes_are_understood() {
    let code = |line: &str| match parsed(line) {
        Response::Status(status) | Response::Tagged { status, .. } => status.code.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code("* OK [UIDVALIDITY 9] fine"), Code::UidValidity(9));
    assert_eq!(
        code("* OK [HIGHESTMODSEQ 715194045007] x"),
        Code::HighestModSeq(715_194_045_007)
    );
    assert_eq!(
        code("a1 OK [COPYUID 38 304,319:320 3956:3958] Done"),
        Code::CopyUid(38, vec![(304, 304), (319, 320)], vec![(3956, 3958)])
    );
    assert_eq!(code("a1 OK [APPENDUID 38 5] Done"), Code::AppendUid(38, 5));
    assert_eq!(code("a1 NO [TRYCREATE] no"), Code::TryCreate);
    assert_eq!(code("* NO [ALERT] full"), Code::Alert);
    assert!(parse(b"* OK [UIDVALIDITY x] y", None).is_err());
    assert!(parse(b"* OK [UIDVALIDITY 1", None).is_err());
}

#[test]
fn folders_counts_and_searches_are_understood() {
    assert_eq!(
        parsed("* LIST (\\HasNoChildren \\Sent) \"/\" \"a \\\"b\\\\\""),
        Response::List(Listed {
            attributes: vec!["\\HasNoChildren".into(), "\\Sent".into()],
            delimiter: Some('/'),
            name: b"a \"b\\".to_vec(),
        })
    );
    assert_eq!(
        parsed("* LIST () NIL {2}\r\n\"x"),
        Response::List(Listed {
            attributes: vec![],
            delimiter: None,
            name: b"\"x".to_vec()
        })
    );
    assert_eq!(
        parsed("* STATUS INBOX (MESSAGES 3 UIDNEXT 4 UIDVALIDITY 5 HIGHESTMODSEQ 6)"),
        Response::Counts(Counts {
            name: b"INBOX".to_vec(),
            messages: Some(3),
            uid_next: Some(4),
            uid_validity: Some(5),
            highest_modseq: Some(6),
        })
    );
    let set = |text: &str| text.parse::<UidSet>().unwrap();
    assert_eq!(parsed("* SEARCH 5 3 4"), Response::Search(set("3:5")));
    assert_eq!(parsed("* SEARCH"), Response::Search(set("")));
    assert_eq!(parsed("* SEARCH 2 (MODSEQ 9)"), Response::Search(set("2")));
    assert_eq!(
        parsed("* ESEARCH (TAG \"a\") UID ALL 1:3,9"),
        Response::Search(set("1:3,9"))
    );
    assert_eq!(
        parsed("* ESEARCH (TAG \"a\") UID"),
        Response::Search(set(""))
    );
    assert_eq!(
        parsed("* VANISHED (EARLIER) 41,43:45"),
        Response::Vanished(set("41,43:45"))
    );
}

#[test]
fn literals_are_seen_where_they_may_be() {
    assert_eq!(literal(b"x {12}"), Some(12));
    assert_eq!(literal(b"x {12+}"), Some(12));
    assert_eq!(literal(b"x {99999999999999999999999}"), Some(u64::MAX));
    assert_eq!(literal(b"x {}"), None);
    assert_eq!(literal(b"x 1}"), None);
    assert!(!may_hold_literals(b"* OK we had {12}"));
    assert!(!may_hold_literals(b"a1 OK {12}"));
    assert!(may_hold_literals(b"* 1 FETCH (BODY[] {12}"));
    assert!(is_body(b"* 1 FETCH (UID 3 BODY[] {12}"));
    assert!(is_body(b"* 1 FETCH (BODY[] ~{12}"));
    assert!(!is_body(b"* 1 FETCH (BODY[HEADER] {12}"));
}

#[test]
fn nonsense_is_refused() {
    for line in [
        "",
        "*",
        "* ",
        "x",
        "a1 WELL",
        "* 1 FETCH",
        "* 1 FETCH (",
        "* 1 FETCH (UID x)",
        "* 1 FETCH (UID 5) trailing",
        "* 1 FETCH (BODY[ 5)",
        "* LIST () \"/\"",
        "* LIST",
        "* STATUS x",
        "* SEARCH 1 x",
        "* VANISHED x",
        "* 1 FETCH (UID 99999999999)",
        "* 1 FETCH (X \"never closed)",
        "* 1 FETCH (BODY[] {10}\r\nshort)",
    ] {
        assert!(
            parse(line.as_bytes(), None).is_err(),
            "{line}: {:?}",
            parse(line.as_bytes(), None)
        );
    }
    let deep = format!(
        "* 1 FETCH (X {}{})",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(parse(deep.as_bytes(), None).is_ok());
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..220) {
        let _ = parse(&bytes, Some(Streamed { at, size: 3 }));
        let mut line = b"* 1 FETCH (".to_vec();
        line.extend_from_slice(&bytes);
        let _ = parse(&line, None);
        let mut line = b"* LIST (".to_vec();
        line.extend_from_slice(&bytes);
        let _ = parse(&line, None);
        let _ = literal(&bytes);
        let _ = is_body(&bytes);
    }
}

#[test]
fn there_is_no_uid_zero() {
    assert!(parse(b"* SEARCH 0", None).is_err());
    assert!(parse(b"* SEARCH 1 0", None).is_err());
    assert!(parse(b"* SEARCH", None).is_ok());
}
