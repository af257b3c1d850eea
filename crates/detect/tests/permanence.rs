//! Only mail that stays can be the reason to let other mail go.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use twicetold_detect::{Cache, KeepRule, Options, Quiet, Scan, scan, scan_with};
use twicetold_model::Standing;
use twicetold_source::Collection;

const LETTER: &str = "The greenhouse heating failed during the frosty night and half of the \
                      seedlings froze.\nPlease bring 20 chairs from the school on Friday.\n";
const MORE: &str = "The train to Prague leaves at 7:45 from platform 3.\n";

fn mail(day: u32, headers: &str, body: &str) -> String {
    format!(
        "From: anna@example.org\nSubject: Club\nDate: {day} Mar 2019 10:00:00 +0000\n\
         Message-ID: <{day}@example.org>\n{headers}\n{body}"
    )
}

/// A folder with these files.
fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("mail").tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn scanned(folder: &Path, keep: &[KeepRule]) -> Scan {
    let options = Options {
        keep: keep.to_vec(),
        ..Options::default()
    };
    scan(&Collection::open(&[folder.to_owned()]), &options, &Quiet)
}

/// The files that may go, and for each the first of those that hold what it says.
fn going(scan: &Scan, folder: &Path) -> Vec<(String, String)> {
    let name = |path: &str| {
        let below = path.strip_prefix(folder.to_str().unwrap()).unwrap();
        below.trim_start_matches('/').to_owned()
    };
    let redundant = scan
        .messages
        .iter()
        .filter(|message| matches!(message.verdict.standing, Standing::Redundant(_)));
    redundant
        .map(|message| {
            let witness = message.verdict.witnesses[0].message as usize;
            let witness = &scan.messages[witness].location.path;
            (name(&message.location.path), name(witness))
        })
        .collect()
}

fn check(files: &[(&str, String)], expected: &[(&str, &str)]) {
    let folder = folder(files);
    for keep in [
        vec![KeepRule::Oldest],
        vec![KeepRule::Newest],
        vec![KeepRule::Largest],
    ] {
        let found = going(&scanned(folder.path(), &keep), folder.path());
        let found: Vec<_> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found, expected, "{keep:?}");
    }
}

/// Places and headers of a message that may be gone tomorrow.
const LEAVING: [(&str, &str); 8] = [
    ("m/cur/2.host:2,ST", ""),
    ("m/cur/2.host:2,DS", ""),
    ("m/.Trash/cur/2.host:2,S", ""),
    ("Drafts/2.eml", ""),
    ("mh/,2", ""),
    ("a/2.eml", "X-Status: D\n"),
    ("a/2.eml", "X-Mozilla-Status: 0009\n"),
    ("a/2.eml", "X-Gmail-Labels: Spam,Unread\n"),
];

#[test]
fn of_copies_the_one_stays_that_lasts() {
    for (place, headers) in LEAVING {
        for (leaving, staying) in [(1, 2), (2, 1)] {
            check(
                &[
                    (place, mail(leaving, headers, LETTER)),
                    ("m/cur/1.host:2,S", mail(staying, "", LETTER)),
                ],
                &[(place, "m/cur/1.host:2,S")],
            );
        }
    }
}

#[test]
fn a_longer_message_that_leaves_is_no_witness() {
    for (place, headers) in LEAVING {
        let longer = format!("{LETTER}{MORE}");
        check(
            &[
                (place, mail(1, headers, &longer)),
                ("m/cur/1.host:2,S", mail(2, "", LETTER)),
            ],
            &[],
        );
        // But it goes itself for one that stays.
        check(
            &[
                (place, mail(1, headers, LETTER)),
                ("m/cur/1.host:2,S", mail(2, "", &longer)),
            ],
            &[(place, "m/cur/1.host:2,S")],
        );
    }
}

#[test]
fn where_all_leave_none_goes_for_another() {
    check(
        &[
            ("m/.Trash/cur/1.host:2,S", mail(1, "", LETTER)),
            ("m/.Trash/cur/2.host:2,S", mail(1, "", LETTER)),
            ("m/cur/3.host:2,T", mail(2, "", LETTER)),
        ],
        &[],
    );
}

#[test]
fn a_cache_of_a_server_holds_no_local_mail() {
    let cached = "ImapMail/imap.example.org/1.eml";
    let local = "Mail/Local Folders/1.eml";
    check(
        &[(cached, mail(1, "", LETTER)), (local, mail(2, "", LETTER))],
        &[(cached, local)],
    );
    let longer = format!("{LETTER}{MORE}");
    check(
        &[(cached, mail(1, "", &longer)), (local, mail(2, "", LETTER))],
        &[],
    );
    let other = "ImapMail/imap.example.org/2.eml";
    check(
        &[(cached, mail(1, "", &longer)), (other, mail(2, "", LETTER))],
        &[(other, cached)],
    );
}

#[test]
fn an_attachment_in_the_trash_is_no_reason() {
    let attached = |body: &str| {
        format!(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n{body}\
             --b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; \
             filename=a.bin\nContent-Transfer-Encoding: base64\n\nAAECAwQF\n--b--\n"
        )
    };
    let with = |day, body: &str| {
        let all = attached(body);
        let (headers, rest) = all.split_once("\n\n").unwrap();
        mail(day, &format!("{headers}\n"), rest)
    };
    let longer = format!("{LETTER}{MORE}");
    for (other, expected) in [
        ("m/.Trash/cur/3.host:2,S", &[][..]),
        (
            "m/cur/3.host:2,S",
            &[("m/cur/1.host:2,S", "m/cur/2.host:2,S")][..],
        ),
    ] {
        check(
            &[
                ("m/cur/1.host:2,S", with(1, LETTER)),
                ("m/cur/2.host:2,S", mail(2, "", &longer)),
                (
                    other,
                    with(
                        3,
                        "Nobody has seen the key to the boat house since summer.\n",
                    ),
                ),
            ],
            expected,
        );
    }
}

#[test]
fn a_flag_that_changes_is_seen_with_a_cache() {
    let tick = Duration::from_millis(15);
    // Enough others that the scan amends what the last one found.
    let others: Vec<(String, String)> = (10..30)
        .map(|n| {
            let body = format!("Meeting number {n} of the committee is about budget item {n}.\n");
            (format!("m/cur/{n}.host:2,S"), mail(n % 27 + 1, "", &body))
        })
        .collect();
    let longer = format!("{LETTER}{MORE}");
    for (first, second) in [(LETTER, LETTER), (&*longer, LETTER)] {
        let mut files = vec![
            ("m/cur/1.host:2,S", mail(1, "", first)),
            ("m/cur/2.host:2,S", mail(2, "", second)),
        ];
        files.extend(
            others
                .iter()
                .map(|(name, text)| (name.as_str(), text.clone())),
        );
        let (folder, store) = (folder(&files), tempfile::tempdir().unwrap());
        let paths = [folder.path().to_owned()];
        let options = Options::default();
        let cache = Cache::new(store.path(), &paths, &options).settling(tick);
        let go = || {
            std::thread::sleep(tick * 2);
            let with = scan_with(&cache, &Collection::open(&paths), &options, &Quiet);
            let without = scan(&Collection::open(&paths), &options, &Quiet);
            let with = going(&with, folder.path());
            assert_eq!(with, going(&without, folder.path()));
            with.into_iter().map(|(gone, _)| gone).collect::<Vec<_>>()
        };
        let rename = |from: &str, to: &str| {
            let path = |name| folder.path().join("m/cur").join(name);
            fs::rename(path(from), path(to)).unwrap();
        };
        assert_eq!(go(), ["m/cur/2.host:2,S"]);
        rename("1.host:2,S", "1.host:2,ST");
        let expected: &[&str] = match first == second {
            true => &["m/cur/1.host:2,ST"],
            false => &[],
        };
        assert_eq!(go(), expected);
        rename("1.host:2,ST", "1.host:2,S");
        assert_eq!(go(), ["m/cur/2.host:2,S"]);
    }
}
