//! What every kind of mailbox promises, tested for each of them with the same messages.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use support::{open, read_all, write};
use twicetold_model::{Form, Location};
use twicetold_source::{Collection, MailboxKind};

/// A way to keep messages: its name, what writes them below a folder, and what it is seen as.
struct Kind {
    name: &'static str,
    write: fn(&Path, &[String], Order),
    seen_as: MailboxKind,
    form: Form,
    /// Whether several messages share a file.
    offsets: bool,
    /// Whether the message comes back with exactly the bytes it had.
    exact: fn(&str) -> String,
}

/// In which order the files are made.
#[derive(Clone, Copy)]
enum Order {
    Forward,
    Backward,
}

const FROM: &str = "From a@b Thu Jan  1 00:00:00 1970\n";

fn as_is(message: &str) -> String {
    message.to_owned()
}

/// mboxo cannot tell `>From ` it made from `>From ` it found.
fn one_mark_less(message: &str) -> String {
    message
        .replace("\n>From ", "\nFrom ")
        .replace("\n>>From ", "\n>From ")
}

fn each(messages: &[String], order: Order, mut write: impl FnMut(usize, &str)) {
    let numbers: Vec<usize> = match order {
        Order::Forward => (0..messages.len()).collect(),
        Order::Backward => (0..messages.len()).rev().collect(),
    };
    for number in numbers {
        write(number, &messages[number]);
    }
}

fn maildir(root: &Path, messages: &[String], order: Order) {
    for part in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join("Mail").join(part)).unwrap();
    }
    each(messages, order, |number, message| {
        let folder = if number % 3 == 0 { "new" } else { "cur" };
        write(root, &format!("Mail/{folder}/{number}.host:2,S"), message);
    });
    write(root, "Mail/tmp/9.host", "Subject: half delivered\n\n");
    write(root, "Mail/dovecot-uidlist", "3 V1\n");
}

fn maildir_plus_plus(root: &Path, messages: &[String], order: Order) {
    fs::create_dir_all(root.join("Mail/cur")).unwrap();
    each(messages, order, |number, message| {
        let folder = ["", ".Work", ".Work.Old"][number % 3];
        write(
            root,
            &format!("Mail/{folder}/cur/{number}.host:2,"),
            message,
        );
        write(root, &format!("Mail/{folder}/maildirfolder"), "");
    });
}

fn nested_maildirs(root: &Path, messages: &[String], order: Order) {
    each(messages, order, |number, message| {
        let folder = ["Inbox", "Inbox/Work", "Archive/2001"][number % 3];
        write(
            root,
            &format!("Mail/{folder}/cur/{number}.host:2,"),
            message,
        );
    });
}

fn mbox(root: &Path, messages: &[String], stuff: fn(&str) -> bool) {
    let mut file = String::new();
    for message in messages {
        file += FROM;
        for line in message.split_inclusive('\n') {
            file += if stuff(line) { ">" } else { "" };
            file += line;
        }
        file += "\n";
    }
    write(root, "Mail", file);
}

fn mboxo(root: &Path, messages: &[String], _: Order) {
    mbox(root, messages, |line| line.starts_with("From "));
}

fn mboxrd(root: &Path, messages: &[String], _: Order) {
    mbox(root, messages, |line| {
        line.trim_start_matches('>').starts_with("From ")
    });
}

fn mboxrd_of_dos(root: &Path, messages: &[String], order: Order) {
    mboxrd(root, messages, order);
    let file = fs::read_to_string(root.join("Mail")).unwrap();
    fs::write(root.join("Mail"), file.replace('\n', "\r\n")).unwrap();
}

fn with_dos_lines(message: &str) -> String {
    message.replace('\n', "\r\n")
}

/// `Content-Length` counts what is written, so it is put in after stuffing.
fn with_length(message: &str) -> String {
    let (headers, body) = message.split_once("\n\n").unwrap();
    format!("{headers}\nContent-Length: {}\n\n{body}", body.len())
}

fn mboxcl2(root: &Path, messages: &[String], _: Order) {
    let messages: Vec<String> = messages
        .iter()
        .map(|message| with_length(message))
        .collect();
    mbox(root, &messages, |_| false);
}

fn mboxcl(root: &Path, messages: &[String], _: Order) {
    let stuffed = |message: &String| with_length(&message.replace("\nFrom ", "\n>From "));
    let messages: Vec<String> = messages.iter().map(stuffed).collect();
    mbox(root, &messages, |_| false);
}

fn after_mboxcl(message: &str) -> String {
    one_mark_less(&with_length(&message.replace("\nFrom ", "\n>From ")))
}

/// A message with a bare `From ` line is not unstuffed; one without may be.
fn after_mboxcl2(message: &str) -> String {
    let message = with_length(message);
    if message.contains("\nFrom ") {
        message
    } else {
        one_mark_less(&message)
    }
}

fn eml_tree(root: &Path, messages: &[String], order: Order) {
    each(messages, order, |number, message| {
        write(root, &format!("Mail/{}/{number}.eml", number % 4), message);
    });
}

fn bare_tree(root: &Path, messages: &[String], order: Order) {
    each(messages, order, |number, message| {
        write(
            root,
            &format!("Mail/inbox-{}/{number}.", number % 4),
            message,
        );
    });
}

fn json_lines(root: &Path, messages: &[String], _: Order) {
    let lines: Vec<String> = messages.iter().map(|message| as_json(message)).collect();
    write(root, "Mail", lines.join("\n"));
}

fn as_json(message: &str) -> String {
    format!("{{\"id\":1,\"text\":{message:?}}}")
}

fn sgml(root: &Path, messages: &[String], _: Order) {
    let texts: Vec<String> = messages.iter().map(|message| as_sgml(message)).collect();
    write(
        root,
        "Mail",
        format!("<DATA>\n{}\n</DATA>\n", texts.join("\n")),
    );
}

fn as_sgml(message: &str) -> String {
    let body = message.replace('&', "&amp;").replace('<', "&lt;");
    format!("<REUTERS NEWID=\"1\">\n<TEXT><BODY>{body}</BODY></TEXT>\n</REUTERS>")
}

fn texts(root: &Path, messages: &[String], order: Order) {
    each(messages, order, |number, message| {
        write(root, &format!("Mail/{number}.txt"), as_text(message));
    });
}

fn as_text(message: &str) -> String {
    format!("Once upon a time\n{message}")
}

#[rustfmt::skip]
const KINDS: [Kind; 13] = [
    Kind { name: "Maildir", write: maildir, seen_as: MailboxKind::Maildir, form: Form::Mail, offsets: false, exact: as_is },
    Kind { name: "Maildir++", write: maildir_plus_plus, seen_as: MailboxKind::Maildir, form: Form::Mail, offsets: false, exact: as_is },
    Kind { name: "nested Maildirs", write: nested_maildirs, seen_as: MailboxKind::Maildir, form: Form::Mail, offsets: false, exact: as_is },
    Kind { name: "mboxo", write: mboxo, seen_as: MailboxKind::Mbox, form: Form::Mail, offsets: true, exact: one_mark_less },
    Kind { name: "mboxrd", write: mboxrd, seen_as: MailboxKind::Mbox, form: Form::Mail, offsets: true, exact: as_is },
    Kind { name: "mboxrd of DOS", write: mboxrd_of_dos, seen_as: MailboxKind::Mbox, form: Form::Mail, offsets: true, exact: with_dos_lines },
    Kind { name: "mboxcl", write: mboxcl, seen_as: MailboxKind::Mbox, form: Form::Mail, offsets: true, exact: after_mboxcl },
    Kind { name: "mboxcl2", write: mboxcl2, seen_as: MailboxKind::Mbox, form: Form::Mail, offsets: true, exact: after_mboxcl2 },
    Kind { name: "EML tree", write: eml_tree, seen_as: MailboxKind::Tree, form: Form::Mail, offsets: false, exact: as_is },
    Kind { name: "tree of bare numbers", write: bare_tree, seen_as: MailboxKind::Tree, form: Form::Mail, offsets: false, exact: as_is },
    Kind { name: "JSON lines", write: json_lines, seen_as: MailboxKind::JsonLines, form: Form::Json, offsets: true, exact: as_json },
    Kind { name: "Reuters SGML", write: sgml, seen_as: MailboxKind::Sgml, form: Form::Sgml, offsets: true, exact: as_sgml },
    Kind { name: "texts", write: texts, seen_as: MailboxKind::Tree, form: Form::Text, offsets: false, exact: as_text },
];

fn letters() -> Vec<String> {
    let bodies = [
        "hello\n",
        "",
        "\n",
        "\n\n\n",
        "two\n\nparagraphs\n",
        "From now on\n",
        "a\n\nFrom a@b Thu Jan  1 00:00:00 1970\nSubject: inner\n\nb\n",
        ">From Anna, quoted\n",
        ">>From Berta, quoted twice\n",
        "Grüße aus 東京\n",
    ];
    let mut letters: Vec<String> = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| format!("Message-ID: <{number}@x>\nSubject: {number}\n\n{body}"))
        .collect();
    // More than makes one task, and a letter larger than a block.
    for number in 0..150 {
        letters.push(format!(
            "Message-ID: <more-{number}@x>\nSubject: more\n\nNumber {number}\n"
        ));
    }
    letters.push(format!(
        "Subject: large\n\n{}",
        "A line of text that is long enough\n".repeat(150_000)
    ));
    letters
}

fn for_each_kind(check: impl Fn(&Kind, &Path, &Collection, &[String])) {
    let letters = letters();
    for kind in &KINDS {
        println!("{}", kind.name);
        let root = tempfile::tempdir().unwrap();
        (kind.write)(root.path(), &letters, Order::Forward);
        let collection = open(root.path(), &["Mail"]);
        assert_eq!(collection.troubles(), []);
        check(kind, root.path(), &collection, &letters);
    }
}

#[test]
fn every_message_is_handed_out_once_with_its_bytes() {
    for_each_kind(|kind, _, collection, letters| {
        let (handed, troubles) = read_all(collection);
        assert_eq!(troubles, []);
        let mut texts: Vec<String> = handed.iter().map(|message| message.text.clone()).collect();
        let mut expected: Vec<String> = letters.iter().map(|letter| (kind.exact)(letter)).collect();
        texts.sort();
        expected.sort();
        for (text, expected) in texts.iter().zip(&expected) {
            assert_eq!(text, expected);
        }
        assert_eq!(texts.len(), expected.len());
        assert!(handed.iter().all(|message| message.form == kind.form));
    });
}

#[test]
fn locations_are_distinct_and_in_order() {
    for_each_kind(|kind, root, collection, _| {
        let (handed, _) = read_all(collection);
        let locations: Vec<&Location> = handed.iter().map(|message| &message.location).collect();
        assert!(locations.is_sorted());
        assert_eq!(
            locations.iter().collect::<HashSet<_>>().len(),
            locations.len()
        );
        let start = root.join("Mail");
        assert!(
            locations
                .iter()
                .all(|location| location.path.starts_with(start.to_str().unwrap()))
        );
        assert!(
            locations
                .iter()
                .all(|location| location.offset.is_some() == kind.offsets)
        );
    });
}

#[test]
fn reading_again_gives_the_same_from_many_threads() {
    for_each_kind(|_, _, collection, _| {
        let (handed, _) = read_all(collection);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for message in &handed {
                        let again = collection.read(&message.location).unwrap();
                        assert!(
                            again.bytes == message.text.as_bytes(),
                            "{}",
                            message.location
                        );
                        assert_eq!(again.form, message.form);
                        assert_eq!(again.location, message.location);
                    }
                });
            }
        });
    });
}

#[test]
fn threads_make_no_difference() {
    for_each_kind(|_, _, collection, _| {
        let (mut expected, _) = read_all(collection);
        let tasks = Mutex::new(collection.tasks());
        let handed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let Some(task) = tasks.lock().unwrap().next() else {
                            break;
                        };
                        let keep = &mut |message: twicetold_model::RawMessage<'_>| {
                            let text = String::from_utf8_lossy(&message.bytes).into_owned();
                            handed.lock().unwrap().push((message.location, text));
                        };
                        task.run(keep, &mut |trouble| panic!("{trouble:?}"));
                    }
                });
            }
        });
        let mut handed = handed.into_inner().unwrap();
        handed.sort();
        expected.sort_by(|a, b| a.location.cmp(&b.location));
        let expected: Vec<_> = expected.into_iter().map(|m| (m.location, m.text)).collect();
        assert!(handed == expected);
    });
}

#[test]
fn the_order_in_which_files_were_made_makes_no_difference() {
    let letters = letters();
    for kind in &KINDS {
        let root = tempfile::tempdir().unwrap();
        (kind.write)(root.path(), &letters, Order::Forward);
        let (forward, _) = read_all(&open(root.path(), &["Mail"]));
        let path = root.path().join("Mail");
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
        (kind.write)(root.path(), &letters, Order::Backward);
        let (backward, _) = read_all(&open(root.path(), &["Mail"]));
        assert!(forward == backward, "{}", kind.name);
    }
}

#[test]
fn mailboxes_are_recognised_and_bytes_counted() {
    for_each_kind(|kind, _, collection, letters| {
        assert!(!collection.mailboxes().is_empty());
        assert!(
            collection
                .mailboxes()
                .iter()
                .all(|mailbox| mailbox.kind == kind.seen_as)
        );
        let files: usize = collection
            .mailboxes()
            .iter()
            .map(|mailbox| mailbox.files)
            .sum();
        assert_eq!(files, if kind.offsets { 1 } else { letters.len() });
        let bytes: usize = letters.iter().map(String::len).sum();
        assert!(collection.total_bytes() >= bytes as u64);
        assert_eq!(collection.skipped(), 0);
    });
}
