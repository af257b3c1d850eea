//! Decisions: what may go goes, what would be lost stays, and the page says why.

#![allow(clippy::unwrap_used)]

mod support;

use support::{Served, folder};

/// Two copies, a reply that quotes a third, and a message of its own. Numbers follow the names.
fn mails() -> tempfile::TempDir {
    let copy = "From: anna@example.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: Paint\nMessage-ID: <a@x>\n\nThe boat needs a new coat of paint before the summer begins.\n";
    let asked = "From: ben@example.org\nDate: Tue, 2 Jan 2024 10:00:00 +0000\nSubject: Ladder\nMessage-ID: <q@x>\n\nDoes anybody know where the long ladder of the boat house went?\n";
    let reply = "From: cleo@example.org\nDate: Wed, 3 Jan 2024 10:00:00 +0000\nSubject: Re: Ladder\nMessage-ID: <r@x>\nIn-Reply-To: <q@x>\n\nBehind the shed, under the blue cover, where it always was.\n\nBen wrote:\n> Does anybody know where the long ladder of the boat house went?\n";
    folder(&[
        ("0.eml", copy),
        ("1.eml", copy),
        ("2.eml", asked),
        ("3.eml", reply),
        (
            "4.eml",
            "From: dora@example.org\nSubject: Keys & <b>locks</b>\n\nThe key of the new lock hangs beside the kitchen door.\n",
        ),
    ])
}

/// Whether each message goes, as the list says.
fn going(page: &Served) -> Vec<bool> {
    let list = page.get("messages?sort=place").body;
    (0..5)
        .map(|n| {
            let row = list.split(&format!("id=\"m{n}\"")).nth(1).unwrap();
            let row = row.split("</tr>").next().unwrap();
            row.contains("value=\"keep\"")
        })
        .collect()
}

#[test]
fn it_begins_as_the_scan_decided() {
    let mails = mails();
    let page = Served::over(mails.path());
    assert_eq!(going(&page), [false, true, true, false, false]);
    assert!(page.get("").body.contains("2 of 5 messages can go"));
}

#[test]
fn what_would_be_lost_is_told_and_stays() {
    let mails = mails();
    let page = Served::over(mails.path());
    assert_eq!(
        page.post("choose", "what=remove&message=4&page=messages")
            .status,
        303
    );
    let told = page.get("messages").body;
    assert!(told.contains("content would be lost"), "{told}");
    assert!(
        told.contains("The key of the new lock hangs beside the kitchen door."),
        "{told}"
    );
    assert!(
        told.contains("Keys &amp; &lt;b&gt;locks&lt;/b&gt;") && !told.contains("<b>locks"),
        "{told}"
    );
    assert!(!going(&page)[4]);
    // A witness stays as well: what rests on it would be lost.
    page.post("choose", "what=remove&message=3&page=messages");
    let told = page.get("messages").body;
    assert!(told.contains("Behind the shed"), "{told}");
    // Told once.
    assert!(!page.get("messages").body.contains("content would be lost"));
}

#[test]
fn the_survivor_can_be_chosen_and_the_choice_taken_back() {
    let mails = mails();
    let page = Served::over(mails.path());
    page.post("choose", "what=survive&message=1&page=message/1");
    assert_eq!(going(&page), [true, false, true, false, false]);
    assert!(page.get("message/0").body.contains("identical"));
    page.post("choose", "what=back&page=messages");
    assert_eq!(going(&page), [false, true, true, false, false]);
    // The reply says more than the question: it cannot go in its place.
    page.post("choose", "what=survive&message=2&page=message/2");
    assert!(page.get("").body.contains("content would be lost"));
    assert_eq!(going(&page), [false, true, true, false, false]);
}

#[test]
fn both_copies_never_go() {
    let mails = mails();
    let page = Served::over(mails.path());
    page.post("choose", "what=remove&message=0&page=messages");
    let told = page.get("messages").body;
    assert!(told.contains("content would be lost"), "{told}");
    assert_eq!(going(&page), [false, true, true, false, false]);
    page.post("choose", "what=keep&message=1&page=messages");
    page.post("choose", "what=remove&message=0&page=messages");
    assert_eq!(going(&page), [true, false, true, false, false]);
}

#[test]
fn many_at_once_are_checked_one_by_one() {
    let mails = mails();
    let page = Served::over(mails.path());
    page.post("choose", "what=keep-all&page=messages");
    assert_eq!(going(&page), [false; 5]);
    page.post(
        "choose",
        "what=remove-all&page=messages&sender=ben%40example.org",
    );
    assert_eq!(going(&page), [false, false, true, false, false]);
    page.post("choose", "what=remove-all&page=messages");
    assert!(page.get("messages").body.contains("more messages stay"));
    assert_eq!(going(&page), [false, true, true, false, false]);
    page.post("choose", "what=back&page=messages");
    page.post("choose", "what=back&page=messages");
    page.post("choose", "what=back&page=messages");
    assert_eq!(going(&page), [false, true, true, false, false]);
}

#[test]
fn lists_are_filtered_and_sorted() {
    let mails = mails();
    let page = Served::over(mails.path());
    for (query, expected) in [
        ("q=LADDER", 2),
        ("q=ladder+re:", 1),
        ("kind=quoted", 1),
        ("kind=redundant", 2),
        ("kind=unique&choice=stay", 3),
        ("sender=ben%40example.org", 1),
        ("year=2024", 4),
        ("year=1999", 0),
        ("choice=go&kind=identical", 1),
        ("choice=changed", 0),
        ("folder=/nowhere", 0),
        ("at=99", 5),
        ("sort=nonsense", 5),
    ] {
        let body = page.get(&format!("messages?{query}")).body;
        assert_eq!(body.matches("data-row").count(), expected, "{query}");
    }
    let first = page.get("messages?sort=sender").body;
    let at = |part: &str| first.find(part).unwrap();
    assert!(at("<bdi>anna@") < at("<bdi>ben@") && at("<bdi>ben@") < at("<bdi>cleo@"));
}

#[test]
fn the_plan_and_the_table_follow_the_choices() {
    let mails = mails();
    let page = Served::over(mails.path());
    page.post("choose", "what=keep&message=2&page=messages");
    let plan = page.get("plan.jsonl").body;
    assert_eq!(plan.lines().count(), 3, "{plan}");
    assert!(plan.contains("1.eml") && !plan.contains("2.eml"), "{plan}");
    let table = page.get("export/twicetold.jsonl").body;
    assert_eq!(table.lines().count(), 5);
    let row: serde_json::Value = serde_json::from_str(table.lines().nth(2).unwrap()).unwrap();
    assert_eq!(
        (row["choice"].as_str(), row["verdict"].as_str()),
        (Some("keep"), Some("quoted"))
    );
    let copy: serde_json::Value = serde_json::from_str(table.lines().nth(1).unwrap()).unwrap();
    assert_eq!(copy["near_duplicate_percent"], 100.0);
    assert!(
        copy["duplicate_group"].as_str().unwrap().ends_with("0.eml"),
        "{copy}"
    );
    assert!(
        page.get("export/twicetold.html")
            .body
            .contains("Messages that can go")
    );
}

#[test]
fn side_by_side_shows_where_it_stands() {
    let mails = mails();
    let page = Served::over(mails.path());
    let body = page.get("message/2").body;
    assert!(
        body.contains("data-pair=\"t0\"") && body.contains("id=\"t0\""),
        "{body}"
    );
    assert!(body.contains("<mark class=\"held w0\">"), "{body}");
    assert!(body.contains("who wrote what follows"), "{body}");
    let tree = page.get("thread/2").body;
    assert!(
        tree.contains("depth-0 goes") && tree.contains("depth-1 stays"),
        "{tree}"
    );
    assert!(
        tree.contains("can go: held by") && tree.contains("holds "),
        "{tree}"
    );
}

#[test]
fn nothing_is_let_go_unless_one_is_sure() {
    let mails = mails();
    let page = Served::over(mails.path());
    page.post("apply", "");
    assert!(page.get("go").body.contains("tick the box"));
    page.post("apply", "sure=yes");
    for _ in 0..3000 {
        let body = page.get("go").body;
        if body.contains("these doors are closed") {
            // What could not be done changed nothing, choices included.
            assert_eq!(going(&page), [false, true, true, false, false]);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the failure is not told");
}
