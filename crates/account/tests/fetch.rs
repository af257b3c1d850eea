//! Fetching from a real Dovecot: all of it, once, and later only what changed.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::time::{Duration, SystemTime};

use support::*;
use twicetold_account::{FetchOptions, FlagChange, Session, Skipped, UidSet};
use twicetold_testbed::{Dovecot, Folder, Setup};

#[test]
fn thousands_of_messages_come_once_with_flags_and_dates() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 2000);
    fill(&dovecot, "Archive", 2000, 700);
    let home = Folder::new();
    let profile = imap(&dovecot);
    let report = fetched_well(&profile, home.path());
    assert_eq!(report.new_messages(), 2700);
    assert_eq!(contents(home.path()), mails(0..2000));
    assert_eq!(contents(&home.at(".Archive")), mails(2000..2700));
    assert!(file_of(home.path(), 3).unwrap().ends_with(":2,S"));
    let file = home.at("cur").join(file_of(home.path(), 4).unwrap());
    assert!(file.to_str().unwrap().ends_with(":2,"));
    let date = fs::metadata(&file).unwrap().modified().unwrap();
    let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_004);
    // Dovecot takes the date of the file, which is that of its delivery, unless it is told one.
    assert!(date > expected);
    assert!(is_empty(&home.at("tmp")));

    let again = fetched_well(&profile, home.path());
    assert_eq!(again.new_messages(), 0);
    assert_eq!(contents(home.path()), mails(0..2000));
}

#[test]
fn later_only_what_changed_is_taken_over() {
    // With QRESYNC, with CONDSTORE alone, and with neither.
    for capabilities in [
        "",
        "IMAP4rev1 SASL-IR UIDPLUS CONDSTORE ENABLE",
        "IMAP4rev1 SASL-IR UIDPLUS",
    ] {
        let mut setup = Setup::default();
        if !capabilities.is_empty() {
            setup.more = format!("imap_capability = {capabilities}\n");
        }
        changes_are_taken_over(&Dovecot::with(&setup));
    }
}

fn changes_are_taken_over(dovecot: &Dovecot) {
    fill(dovecot, "INBOX", 0, 60);
    let home = Folder::new();
    let profile = imap(dovecot);
    fetched_well(&profile, home.path());

    let mut other = session(dovecot);
    let inbox = other.folder_named("INBOX");
    other.select(&inbox).unwrap();
    let set = |text: &str| text.parse::<UidSet>().unwrap();
    other
        .store_flags(
            &set("2,5"),
            FlagChange::Add,
            &["\\Answered", "\\Flagged", "$Work"],
        )
        .unwrap();
    other
        .store_flags(&set("4"), FlagChange::Remove, &["\\Seen"])
        .unwrap();
    other.remove_messages(&set("10:12")).unwrap();
    fill(dovecot, "INBOX", 60, 5);

    let report = fetched_well(&profile, home.path());
    let told = &report.folders[0];
    assert_eq!(
        (told.new, told.changed, told.gone, told.removed),
        (5, 3, 3, 0),
        "{told:?}"
    );
    // UID n is mail n - 1.
    assert!(file_of(home.path(), 1).unwrap().ends_with(":2,FR"));
    assert!(file_of(home.path(), 3).unwrap().ends_with(":2,"));
    // What is gone on the server stays here.
    assert_eq!(contents(home.path()), mails(0..65));
    let labels = fs::read_to_string(home.at(".twicetold-labels.jsonl")).unwrap();
    assert_eq!(
        labels.matches("\"keywords\":[\"$Work\"]").count(),
        2,
        "{labels}"
    );

    let quiet = fetched_well(&profile, home.path());
    let told = &quiet.folders[0];
    assert_eq!((told.new, told.changed, told.gone), (0, 0, 0));

    // With --mirror it does not.
    other.remove_messages(&set("20")).unwrap();
    let mirror = FetchOptions {
        mirror: true,
        ..FetchOptions::default()
    };
    let report = fetched(&profile, home.path(), &mirror);
    assert_eq!(report.folders[0].removed, 4, "{report:?}");
    assert_eq!(
        contents(home.path()),
        mails((0..65).filter(|n| ![9, 10, 11, 19].contains(n)))
    );
}

#[test]
fn what_the_user_removed_here_does_not_come_back() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 10);
    let home = Folder::new();
    let profile = imap(&dovecot);
    fetched_well(&profile, home.path());
    fs::remove_file(home.at("cur").join(file_of(home.path(), 3).unwrap())).unwrap();
    fill(&dovecot, "INBOX", 10, 1);
    fetched_well(&profile, home.path());
    assert_eq!(contents(home.path()), mails((0..11).filter(|&n| n != 3)));
}

#[test]
fn a_run_killed_before_its_note_fetches_no_copies() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 20);
    let home = Folder::new();
    let profile = imap(&dovecot);
    fetched_well(&profile, home.path());
    // As after a crash between the messages and the note: the note is older than the messages.
    let note = home.at(".twicetold-fetch.json");
    let text = fs::read_to_string(&note).unwrap();
    assert!(text.contains("\"have\":\"1:20\""), "{text}");
    let older = text
        .replace("\"have\":\"1:20\"", "\"have\":\"1:7\"")
        .replace("\"complete_to\":21", "\"complete_to\":0");
    fs::write(&note, older).unwrap();
    // One of them was cut short by the crash, one has got other flags since, and one was half there.
    let cut = home.at("cur").join(file_of(home.path(), 15).unwrap());
    fs::write(&cut, "half").unwrap();
    let renamed = home.at("cur").join(file_of(home.path(), 16).unwrap());
    fs::rename(&renamed, renamed.to_str().unwrap().replace(":2,", ":2,F")).unwrap();
    fs::write(home.at("tmp/twicetold-1-1"), "left behind").unwrap();
    let report = fetched_well(&profile, home.path());
    assert_eq!(report.new_messages(), 13);
    assert_eq!(contents(home.path()), mails(0..20));
    assert!(is_empty(&home.at("tmp")));
    // Even without any note nothing is doubled.
    fs::remove_file(&note).unwrap();
    fetched_well(&profile, home.path());
    assert_eq!(contents(home.path()), mails(0..20));
}

#[test]
fn a_folder_numbered_anew_is_recognised() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "Work", 0, 30);
    let home = Folder::new();
    let profile = imap(&dovecot);
    fetched_well(&profile, home.path());
    // Without its own notes, Dovecot numbers anew; one message went meanwhile, one came.
    let maildir = dovecot.maildir("anna", "Work");
    for entry in fs::read_dir(&maildir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_str().unwrap().starts_with("dovecot") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let gone = fs::read_dir(maildir.join("cur"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .min()
        .unwrap();
    fs::remove_file(gone).unwrap();
    fill(&dovecot, "Work", 30, 1);
    std::thread::sleep(Duration::from_millis(1100));
    let report = fetched_well(&profile, home.path());
    let told = report
        .folders
        .iter()
        .find(|folder| folder.name == "Work")
        .unwrap();
    assert_eq!((told.new, told.again), (1, 29), "{told:?}");
    assert_eq!(contents(&home.at(".Work")), mails(0..31));
    fill(&dovecot, "Work", 31, 1);
    assert_eq!(fetched_well(&profile, home.path()).new_messages(), 1);
    assert_eq!(contents(&home.at(".Work")), mails(0..32));
}

#[test]
fn folders_of_any_name_are_kept_apart() {
    let dovecot = Dovecot::start();
    let names = [
        "Entwürfe",
        "A & B",
        "日本語/仕事",
        "a.b",
        "dot/.hidden",
        "50% \"off\"",
        "-",
        "😀",
    ];
    let mut other = session(&dovecot);
    for (number, name) in names.iter().enumerate() {
        let folder = other.folder_named(name);
        other.create_folder(&folder).unwrap();
        let bytes = mail(number);
        other
            .append(
                &folder,
                &["\\Seen"],
                Some(1_000_000_000),
                bytes.len() as u64,
                &mut &bytes[..],
            )
            .unwrap();
    }
    let home = Folder::new();
    let report = fetched_well(&imap(&dovecot), home.path());
    assert_eq!(report.new_messages(), names.len() as u64);
    for (number, name) in names.iter().enumerate() {
        let told = report
            .folders
            .iter()
            .find(|folder| folder.name == *name)
            .unwrap_or_else(|| panic!("{name} in {report:?}"));
        assert_eq!(told.path.parent(), Some(home.path()), "{name}");
        assert_eq!(contents(&told.path), mails([number]), "{name}");
        let file = told
            .path
            .join("cur")
            .join(file_of(&told.path, number).unwrap());
        let date = fs::metadata(file).unwrap().modified().unwrap();
        assert_eq!(
            date,
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
        );
    }
    assert!(
        home.at(".Entwürfe").is_dir()
            && home.at(".日本語.仕事").is_dir()
            && home.at(".a%2Eb").is_dir()
    );
}

#[test]
fn folders_are_chosen_by_patterns_and_views_are_left_out() {
    let dovecot = Dovecot::start();
    for (place, folder) in ["INBOX", "Work/2023", "Work/2024", "Junk", "Everything"]
        .into_iter()
        .enumerate()
    {
        fill(&dovecot, folder, place, 1);
    }
    let home = Folder::new();
    let profile = imap(&dovecot);
    let chosen = |folders: &[&str], exclude: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        let options = FetchOptions {
            folders: own(folders),
            exclude: own(exclude),
            dry_run: true,
            ..FetchOptions::default()
        };
        let report = fetched(&profile, home.path(), &options);
        assert!(is_empty(home.path()), "a dry run writes nothing");
        let names: Vec<String> = report
            .folders
            .iter()
            .filter(|f| f.missing > 0)
            .map(|f| f.name.clone())
            .collect();
        (names, report)
    };
    let (all, report) = chosen(&[], &[]);
    assert_eq!(all, ["INBOX", "Junk", "Work/2023", "Work/2024"]);
    assert_eq!(report.skipped, [("Everything".to_owned(), Skipped::View)]);
    assert_eq!(
        chosen(&["Work/*", "inbox"], &["*2023"]).0,
        ["INBOX", "Work/2024"]
    );
    assert_eq!(chosen(&["Everything"], &[]).0, ["Everything"]);
    let (none, report) = chosen(&["Wrok"], &[]);
    assert_eq!(
        (none.len(), report.problems),
        (0, vec!["no folder fits Wrok".to_owned()])
    );
}

#[test]
fn trash_stays_on_the_server_if_nobody_will_read_it() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 5);
    fill(&dovecot, "Trash", 5, 3);
    let home = Folder::new();
    let profile = imap(&dovecot);
    let mut options = FetchOptions {
        without_discarded: true,
        ..FetchOptions::default()
    };
    let report = fetched(&profile, home.path(), &options);
    assert_eq!(report.new_messages(), 5, "{report:?}");
    let trash = ("Trash".to_owned(), Skipped::Discarded);
    assert!(report.skipped.contains(&trash), "{report:?}");
    options.without_discarded = false;
    let report = fetched(&profile, home.path(), &options);
    assert_eq!(report.new_messages(), 3, "{report:?}");
    assert_eq!(contents(&home.at(".Trash")), mails(5..8));
}

#[test]
fn another_client_changes_the_mailbox_meanwhile() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 800);
    let home = Folder::new();
    let profile = imap(&dovecot);
    let mut other = session(&dovecot);
    let inbox = other.folder_named("INBOX");
    other.select(&inbox).unwrap();
    let report = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            fetched(
                &profile,
                home.path(),
                &FetchOptions {
                    jobs: Some(2),
                    ..FetchOptions::default()
                },
            )
        });
        for round in 0..40_u32 {
            // UIDs from the end, which are fetched last; mail n has UID n + 1.
            let uid = 800 - round;
            other
                .store_flags(&UidSet::range(1, 20), FlagChange::Add, &["\\Flagged"])
                .unwrap();
            other.remove_messages(&UidSet::range(uid, uid)).unwrap();
            fill(&dovecot, "INBOX", 1000 + round as usize, 1);
        }
        work.join().unwrap()
    });
    assert!(report.failure.is_none(), "{report:?}");
    assert_eq!(report.problems, Vec::<String>::new());
    // The next run has them all; of those that went, some came in time and stay.
    fetched_well(&profile, home.path());
    let here = contents(home.path());
    for number in (0..760).chain(1000..1040) {
        assert!(
            here.binary_search(&mail(number)).is_ok(),
            "{number} is missing"
        );
    }
    let mut unique = here.clone();
    unique.dedup();
    assert_eq!(here.len(), unique.len(), "copies were made");
    assert!(file_of(home.path(), 5).unwrap().contains(":2,F"));
}

#[test]
fn two_fetches_of_one_account_do_not_mix() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 3);
    let home = Folder::new();
    let lock = fs::File::create(home.at(".twicetold-lock")).unwrap();
    lock.lock().unwrap();
    let error = twicetold_account::fetch(
        &imap(&dovecot),
        &password(),
        home.path(),
        &FetchOptions::default(),
        &(),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("another twicetold is at work"),
        "{error}"
    );
    drop(lock);
    fetched_well(&imap(&dovecot), home.path());
}

#[test]
fn a_session_tells_what_the_server_can_do() {
    let dovecot = Dovecot::start();
    let session = Session::connect(&imap(&dovecot), &password()).unwrap();
    assert!(session.has("MOVE") && session.has("UIDPLUS") && session.has("CONDSTORE"));
    session.log_out();
}
