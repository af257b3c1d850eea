//! `twicetold review` as users run it, in a real browser.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod browser;
mod common;
mod mailboxes;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use browser::Browser;
use common::{Folder, text, twicetold};
use mailboxes::{copy, difference, tree};

/// The page, until the test ends.
struct Review {
    child: Child,
    address: String,
}

impl Review {
    fn of(paths: &[&str], state: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_twicetold"))
            .args(["review", "--no-open", "--state", state])
            .args(paths)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let address = first
            .strip_prefix("Review at ")
            .and_then(|rest| rest.split(' ').next());
        Self {
            address: address.unwrap_or_else(|| panic!("{first}")).to_owned(),
            child,
        }
    }

    fn at(&self, page: &str) -> String {
        format!("{}{page}", self.address)
    }
}

impl Drop for Review {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sample(folder: &Folder) -> [String; 2] {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample");
    copy(&sample.join("mailbox"), Path::new(&folder.at("mailbox")));
    std::fs::copy(sample.join("list.mbox"), folder.at("list.mbox")).unwrap();
    [folder.at("mailbox"), folder.at("list.mbox")]
}

#[test]
fn help_teaches() {
    let run = twicetold(["review", "--help"]);
    assert_eq!(run.status.code(), Some(0));
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "--no-open",
        "--export",
        "--state",
        "docs/review.md",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn wrong_usage_is_told_with_a_hint() {
    for (args, code) in [
        (&["review"][..], 2),
        (&["review", "--export", "report.pdf", "sample"], 2),
        (&["review", "--no-open", "no/such/box"], 1),
        (&["review", "--port", "99999", "."], 2),
    ] {
        let run = twicetold(args.iter().copied());
        assert_eq!(run.status.code(), Some(code), "{args:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let folder = Folder::new("review-port");
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = twicetold([
        "review",
        "--no-open",
        "--port",
        &port,
        "--state",
        &folder.at("state"),
        &folder.at(""),
    ]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("hint: choose another one with --port"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn the_table_and_the_report_are_written_without_a_page() {
    let folder = Folder::new("review-export");
    let [mailbox, list] = sample(&folder);
    for name in ["out.csv", "out.jsonl", "out.html"] {
        let run = twicetold([
            "review",
            "--quiet",
            "--export",
            &folder.at(name),
            &mailbox,
            &list,
        ]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        assert!(run.stdout.is_empty());
    }
    let lines = std::fs::read_to_string(folder.at("out.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let table = std::fs::read_to_string(folder.at("out.csv")).unwrap();
    assert_eq!(table.lines().count(), rows.len() + 1);
    assert!(
        table.starts_with("table,path,offset,message_id,date,from,subject,"),
        "{table}"
    );
    let has = |field: &str| {
        rows.iter()
            .filter(|r| !r[field].is_null() && r[field] != serde_json::json!([]))
            .count()
    };
    assert!(
        has("thread_group") > 5
            && has("duplicate_group") > 2
            && has("contained_in") > 2
            && has("near_duplicate_of") > 2,
        "{lines}"
    );
    for row in &rows {
        assert_eq!(row["inclusive"] == true, row["choice"] == "keep", "{row}");
        assert!(!row["reason"].as_str().unwrap().is_empty(), "{row}");
    }
    let report = std::fs::read_to_string(folder.at("out.html")).unwrap();
    assert!(
        report.contains("say nothing new") && report.ends_with("</html>\n"),
        "{report}"
    );
    assert!(
        !report.contains("<script") && !report.contains("src=") && !report.contains("http:"),
        "{report}"
    );
}

#[test]
fn look_decide_let_go_and_undo_in_a_browser() {
    let folder = Folder::new("review-browser");
    let [mailbox, list] = sample(&folder);
    let Some(browser) = Browser::start(folder.at("profile"), 1280, 900) else {
        return;
    };
    let review = Review::of(&[&mailbox, &list], &folder.at("state"));
    let before = tree(Path::new(&mailbox));
    let list_before = std::fs::read(&list).unwrap();

    // The overview says how much, and leads to the messages.
    browser.go(&review.address);
    let headline = browser.wait_for("h1", "can go");
    let going: u64 = headline.split(' ').next().unwrap().parse().unwrap();
    assert!(going > 5, "{headline}");
    browser.wait_for("table", "word for word the same");
    assert_eq!(
        browser.run("return document.querySelectorAll('svg.picture').length"),
        3
    );
    browser.click("p.actions a.button");
    browser.wait_for("[role=status]", &format!("{going} messages"));

    // A filter, by hand.
    browser.go(&review.at("messages"));
    browser.run("document.querySelector('select[name=kind]').value = 'quoted'");
    browser.type_into("#search", "trails");
    browser.click(".filters button");
    browser.wait_for("tbody", "quoted");
    let other = "return Array.from(document.querySelectorAll('tbody .badge'), b => b.innerText).filter(t => t !== 'quoted').length";
    assert_eq!(browser.run(other), 0);

    // Side by side, by keyboard: the first row, opened; its first passage; its place in the witness.
    browser.press("j");
    browser.press("o");
    browser.wait_for(".key", "stands in A");
    browser.press("n");
    let focus = "return document.activeElement.id";
    let here = browser.run(focus);
    assert!(here.as_str().unwrap().starts_with('h'), "{here}");
    assert_eq!(
        browser.run("return document.querySelectorAll('mark.hot').length"),
        2
    );
    browser.run("document.activeElement.click()");
    assert!(browser.run(focus).as_str().unwrap().starts_with('t'));
    let same = "const t = e => e.closest('mark').innerText.replace(/^\\S+/, '').replace(/[>\\s]+/g, ' ').trim(); \
        const a = document.activeElement; return [t(a), t(document.getElementById(a.dataset.pair))]";
    let same = browser.run(same);
    assert_eq!(same[0], same[1]);

    // Keeping loses nothing; taking it back neither.
    browser.press("x");
    browser.wait_for(".lead", "by your choice");
    browser.press("u");
    browser.wait_for(".notice", "Taken back");
    browser.wait_for(".lead", "Goes.");

    // The conversation.
    browser.press("t");
    browser.wait_for(".tree", "inclusive");
    browser.wait_for(".tree", "can go: held by");

    // A choice that would lose content is refused, with what would be lost.
    browser.go(&review.at("messages?kind=unique"));
    browser.press("j");
    browser.press("x");
    let told = browser.wait_for(".notice.refused", "content would be lost");
    assert!(
        !browser.text(".notice.refused blockquote").is_empty(),
        "{told}"
    );

    // The help.
    browser.press("?");
    browser.wait_for("dialog[open]", "take the last choice back");
    browser.click("dialog button");

    // Let go, and bring back: every byte is where it was.
    browser.go(&review.at("go"));
    browser.wait_for(".lead", &format!("{going} messages"));
    browser.click("input[name=sure]");
    browser.click("button.danger");
    browser.wait_for(".notice.done", &format!("{going} messages"));
    browser.wait_for(".lead", "Nothing is to go.");
    assert!(difference(&before, &tree(Path::new(&mailbox))).is_some());
    browser.click("form[action$=undo] button");
    browser.wait_for(".notice.done", "put back");
    browser.wait_for(".lead", &format!("{going} messages"));
    let gone = |tree: mailboxes::Tree| -> mailboxes::Tree {
        tree.into_iter()
            .filter(|(path, _)| {
                !path
                    .components()
                    .any(|p| p.as_os_str() == ".Twicetold-Trash")
            })
            .collect()
    };
    assert_eq!(
        difference(&gone(before), &gone(tree(Path::new(&mailbox)))),
        None
    );
    assert_eq!(list_before, std::fs::read(&list).unwrap());
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn a_narrow_screen_needs_no_scrolling_sideways() {
    let folder = Folder::new("review-narrow");
    let [mailbox, list] = sample(&folder);
    let Some(browser) = Browser::start(folder.at("profile"), 500, 800) else {
        return;
    };
    let review = Review::of(&[&mailbox, &list], &folder.at("state"));
    browser.go(&review.address);
    browser.wait_for("h1", "can go");
    for page in ["", "messages", "message/3", "go", "problems"] {
        browser.go(&review.at(page));
        let wide = browser.run(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert!(
            wide.as_i64().unwrap() <= 0,
            "{page} is {wide} pixels too wide"
        );
    }
}

/// Mail by somebody who wants to be more than text.
fn hostile(folder: &Folder) -> String {
    let script =
        "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";
    let html = "<html><body onload=\"document.title='owned'\"><script src=\"http://127.0.0.1:9/x.js\"></script>\
        <img src=\"http://127.0.0.1:9/pixel.png\"><iframe src=\"javascript:alert(1)\"></iframe>\
        <a href=\"javascript:alert(2)\">The harvest report is ready for everybody in the valley.</a>\
        <p>It was a good year for plums and a bad one for pears.</p></body></html>";
    let long = "x".repeat(2 << 20);
    let mail = |name: &str, headers: &str, body: &str| {
        std::fs::write(folder.at(name), format!("From: a@example.org\r\nDate: Mon, 1 Jan 2024 10:00:00 +0000\r\n{headers}\r\n\r\n{body}\r\n")).unwrap();
    };
    std::fs::create_dir_all(folder.at("mail")).unwrap();
    mail(
        "mail/1.eml",
        &format!("Subject: {script}\r\nMessage-ID: <1\"'><b>@x>"),
        &format!(
            "{script}\r\nThe plums are ripe and the ladder is in the shed.\r\n'\"><svg onload=alert(3)>"
        ),
    );
    mail(
        "mail/2.eml",
        &format!("Subject: {script}\r\nMessage-ID: <2@x>"),
        &format!(
            "{script}\r\nThe plums are ripe and the ladder is in the shed.\r\n'\"><svg onload=alert(3)>"
        ),
    );
    mail(
        "mail/3.eml",
        "Subject: page\r\nContent-Type: text/html",
        html,
    );
    mail(
        "mail/4.eml",
        "Subject: page again\r\nContent-Type: text/html",
        html,
    );
    mail(
        "mail/5\u{202e}gpj.eml",
        "Subject: invoice \u{202e}fdp.exe\u{2066}",
        "Pay \u{202e}0001\u{202c} today, says the treasurer of the club.\r\n\u{200f}\u{2067}turned",
    );
    mail(
        "mail/6.eml",
        "Subject: long",
        &format!("{long}\r\nThe last line of a very long letter."),
    );
    mail(
        "mail/7.eml",
        &format!("Subject: {}", "y".repeat(100_000)),
        "A subject without an end.",
    );
    mail(
        "mail/<img src=x onerror=alert(4)>.eml",
        "Subject: file name",
        "What is in a name, asked somebody.",
    );
    folder.at("mail")
}

#[test]
fn a_hostile_mailbox_does_nothing() {
    let folder = Folder::new("review-hostile");
    let mail = hostile(&folder);
    let Some(browser) = Browser::start(folder.at("profile"), 1280, 900) else {
        return;
    };
    let review = Review::of(&[&mail], &folder.at("state"));
    browser.go(&review.address);
    browser.wait_for("h1", "messages");
    let mut pages: Vec<String> = [
        "",
        "messages",
        "messages?q=%3Cscript%3Ealert(5)%3C/script%3E",
        "messages?folder=%22%3E%3Cscript%3E",
        "go",
        "problems",
    ]
    .iter()
    .map(|p| (*p).to_owned())
    .collect();
    pages.extend((0..8).map(|n| format!("message/{n}")));
    pages.extend((0..8).map(|n| format!("thread/{n}")));
    for page in &pages {
        browser.go(&review.at(page));
        browser.wait_for("h1", "");
        assert_eq!(browser.alert(), None, "{page}");
        let title = browser.run("return document.title");
        assert!(
            title.as_str().unwrap().ends_with(" – Twicetold"),
            "{page}: {title}"
        );
        // Nothing of a message is an element: no image, frame, foreign script or link to elsewhere.
        let foreign = "return Array.from(document.querySelectorAll('img, iframe, object, embed, main script, svg[onload], [onerror], [onload], a, script'))\
            .filter(e => !(e.localName === 'a' && new URL(e.getAttribute('href') ?? e.href.baseVal, location).origin === location.origin))\
            .filter(e => !(e.localName === 'script' && e.src === location.origin + document.body.dataset.root + 'script.js'))\
            .map(e => e.outerHTML)";
        assert_eq!(browser.run(foreign), serde_json::json!([]), "{page}");
        let turning = "return /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/.test(document.documentElement.outerHTML)";
        assert_eq!(browser.run(turning), false, "{page}");
        assert_eq!(browser.console(), Vec::<String>::new(), "{page}");
    }
    // What was loaded came from here.
    let loaded = browser.run("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith('data:'))");
    assert_eq!(loaded, serde_json::json!([]));
    browser.go(&review.at("messages?q=fdp"));
    assert!(browser.text("tbody").contains("invoice fdp.exe"));
    browser.click("tbody [data-open]");
    browser.wait_for(".head", "5\\u{202e}gpj.eml");
}
