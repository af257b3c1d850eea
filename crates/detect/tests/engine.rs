//! What must hold for every collection: threads and file order change nothing; nothing is lost, with shortcuts or without.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use twicetold_detect::{FolderRule, KeepRule, Numbering, Options, Quiet, Scan, scan};
use twicetold_model::Standing;
use twicetold_source::Collection;

/// Sentences to build mails from; some differ in a fact only.
const SENTENCES: &[&str] = &[
    "The greenhouse heating failed during the frosty night and half of the seedlings froze.",
    "Please bring 20 chairs from the school on Friday.",
    "Please bring 25 chairs from the school on Friday.",
    "Our treasurer has paid the invoice for the new projector.",
    "Our treasurer has not paid the invoice for the new projector.",
    "Can you come to the rehearsal tomorrow evening?",
    "Nobody has seen the key to the boat house since the summer party.",
    "The train to Prague leaves at 7:45 from platform 3.",
    "I would rather meet at the bakery behind the old town hall.",
    "Water the tomatoes twice a day while we are away.",
];

/// A mail as a list of sentences, some of them quoted.
#[derive(Clone, Debug)]
struct Mail {
    own: Vec<usize>,
    quoted: Vec<usize>,
    greeting: bool,
    /// Two letters of a long word are swapped in every sentence.
    slips: bool,
}

fn mails() -> impl Strategy<Value = Vec<Mail>> {
    let sentences = || prop::collection::vec(0..SENTENCES.len(), 0..5);
    let mail = (sentences(), sentences(), any::<bool>(), any::<bool>()).prop_map(
        |(own, quoted, greeting, slips)| Mail {
            own,
            quoted,
            greeting,
            slips,
        },
    );
    prop::collection::vec(mail, 1..14)
}

fn write(folder: &Path, name: usize, mail: &Mail) {
    let said = |s: usize| match mail.slips {
        true => SENTENCES[s]
            .replace("ouse", "osue")
            .replace("ehears", "eheras"),
        false => SENTENCES[s].to_owned(),
    };
    let mut body = String::new();
    if mail.greeting {
        body.push_str("Dear all,\n\n");
    }
    for &s in &mail.own {
        body.push_str(&said(s));
        body.push('\n');
    }
    if !mail.quoted.is_empty() {
        body.push_str("\nOn Fri, 01 Mar 2019 00:04, Anna Kowalska wrote:\n");
        for &s in &mail.quoted {
            body.push_str("> ");
            body.push_str(&said(s));
            body.push('\n');
        }
    }
    let text = format!(
        "From: p{}@example.org\nSubject: {}Club\nDate: Fri, 01 Mar 2019 {:02}:00:00 +0000\nMessage-ID: <{name}@example.org>\n\n{body}",
        name % 3,
        if mail.quoted.is_empty() { "" } else { "Re: " },
        name % 24,
    );
    std::fs::write(folder.join(format!("{name:03}.eml")), text).unwrap();
}

fn folder_of(mails: &[Mail]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    mails
        .iter()
        .enumerate()
        .for_each(|(n, mail)| write(folder.path(), n, mail));
    folder
}

fn scan_with(folder: &Path, options: &Options) -> Scan {
    scan(&Collection::open(&[folder.to_owned()]), options, &Quiet)
}

/// A scan as comparable lines.
fn lines(scan: &Scan) -> Vec<String> {
    scan.messages
        .iter()
        .map(|m| {
            format!(
                "{} {:?} {:?} {:?}",
                m.location, m.verdict, m.residue, m.thread
            )
        })
        .collect()
}

fn is_kept(scan: &Scan, n: usize) -> bool {
    !matches!(scan.messages[n].verdict.standing, Standing::Redundant(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(mails in mails(), newest in any::<bool>(), shortcuts in any::<bool>()) {
        let folder = folder_of(&mails);
        let keep = vec![if newest { KeepRule::Newest } else { KeepRule::Oldest }];
        let options = Options { keep, shortcuts, ..Options::default() };
        let scan = scan_with(folder.path(), &options);
        prop_assert_eq!(scan.messages.len(), mails.len());
        let said = |mail: &Mail| mail.own.iter().chain(&mail.quoted).copied().collect::<BTreeSet<_>>();
        let kept: BTreeSet<usize> = (0..mails.len()).filter(|&n| is_kept(&scan, n)).flat_map(|n| said(&mails[n])).collect();
        for (n, mail) in mails.iter().enumerate() {
            prop_assert!(said(mail).is_subset(&kept), "message {n} lost a sentence: {mails:?}");
            for witness in &scan.messages[n].verdict.witnesses {
                prop_assert!(is_kept(&scan, witness.message as usize), "witness of {n} is kept");
            }
        }
    }

    #[test]
    fn threads_change_nothing(mails in mails()) {
        let folder = folder_of(&mails);
        let expected = lines(&scan_with(folder.path(), &Options::default()));
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        prop_assert_eq!(&alone.install(|| lines(&scan_with(folder.path(), &Options::default()))), &expected);
    }

    #[test]
    fn shortcuts_change_nothing(mails in mails()) {
        let folder = folder_of(&mails);
        let expected = lines(&scan_with(folder.path(), &Options { shortcuts: false, ..Options::default() }));
        prop_assert_eq!(lines(&scan_with(folder.path(), &Options::default())), expected);
    }

    #[test]
    fn copies_to_the_letter_are_judged_like_any_message(mails in mails(), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..8), memory in 0..4_000_u64) {
        let folder = folder_of(&mails);
        // From the same sender, at another time, under another id.
        for (n, pick) in picks.iter().enumerate() {
            let first = pick.index(mails.len());
            write(folder.path(), 300 + 3 * n + first % 3, &mails[first]);
        }
        let expected = lines(&scan_with(folder.path(), &Options { shortcuts: false, ..Options::default() }));
        prop_assert_eq!(&lines(&scan_with(folder.path(), &Options::default())), &expected);
        let memory = Some(memory);
        prop_assert_eq!(&lines(&scan_with(folder.path(), &Options { memory, ..Options::default() })), &expected);
    }

    #[test]
    fn little_memory_changes_nothing(mails in mails(), memory in 0..4_000_u64) {
        let folder = folder_of(&mails);
        let expected = lines(&scan_with(folder.path(), &Options::default()));
        let memory = Some(memory);
        prop_assert_eq!(lines(&scan_with(folder.path(), &Options { memory, ..Options::default() })), expected);
    }

    #[test]
    fn the_order_of_the_paths_changes_nothing(mails in mails()) {
        let folder = folder_of(&mails);
        let mut paths: Vec<_> = (0..mails.len()).map(|n| folder.path().join(format!("{n:03}.eml"))).collect();
        let forward = lines(&scan(&Collection::open(&paths), &Options::default(), &Quiet));
        paths.reverse();
        prop_assert_eq!(lines(&scan(&Collection::open(&paths), &Options::default(), &Quiet)), forward);
    }

    #[test]
    fn of_equal_messages_exactly_one_stays(more in prop::collection::vec(0..SENTENCES.len(), 0..4), copies in 2..6_usize) {
        // Long enough to mean the same whoever sends it.
        let own = [0, 7].into_iter().chain(more).collect();
        let mails = vec![Mail { own, quoted: Vec::new(), greeting: false, slips: false }; copies];
        let folder = folder_of(&mails);
        for keep in [KeepRule::Oldest, KeepRule::Newest, KeepRule::Largest, KeepRule::Smallest] {
            let scan = scan_with(folder.path(), &Options { keep: vec![keep], ..Options::default() });
            prop_assert_eq!((0..copies).filter(|&n| is_kept(&scan, n)).count(), 1);
        }
    }
}

#[test]
fn the_policy_decides_who_survives() {
    let mail = Mail {
        own: vec![0, 3, 6],
        quoted: Vec::new(),
        greeting: false,
        slips: false,
    };
    let folder = folder_of(&[mail.clone(), mail.clone(), mail]);
    let survivor = |keep: Vec<KeepRule>| {
        let scan = scan_with(
            folder.path(),
            &Options {
                keep,
                ..Options::default()
            },
        );
        (0..3).find(|&n| is_kept(&scan, n))
    };
    assert_eq!(survivor(vec![KeepRule::Oldest]), Some(0));
    assert_eq!(survivor(vec![KeepRule::Newest]), Some(2));
    let archive = folder.path().join("001 Archive");
    std::fs::create_dir(&archive).unwrap();
    std::fs::rename(folder.path().join("001.eml"), archive.join("1.eml")).unwrap();
    let second = FolderRule::called("001 archive");
    assert_eq!(
        survivor(vec![KeepRule::Folders(vec![second]), KeepRule::Newest]),
        Some(1)
    );
}

#[test]
fn a_greeting_does_not_overrule_the_policy() {
    let plain = Mail {
        own: vec![0, 3, 6],
        quoted: Vec::new(),
        greeting: false,
        slips: false,
    };
    let greeting = Mail {
        greeting: true,
        ..plain.clone()
    };
    let folder = folder_of(&[greeting, plain]);
    let scan = scan_with(
        folder.path(),
        &Options {
            keep: vec![KeepRule::Newest],
            ..Options::default()
        },
    );
    assert!(!is_kept(&scan, 0) && is_kept(&scan, 1));
}

#[test]
fn the_papers_numbers_find_the_same() {
    let long = Mail {
        own: vec![0, 3, 6, 8],
        quoted: vec![9, 7],
        greeting: false,
        slips: false,
    };
    let inside = Mail {
        own: vec![9, 7],
        quoted: Vec::new(),
        greeting: true,
        slips: false,
    };
    let misspelt = Mail {
        own: vec![0, 7],
        slips: true,
        ..inside.clone()
    };
    let folder = folder_of(&[long, inside, misspelt]);
    for numbering in [Numbering::Stable, Numbering::Dictionary, Numbering::Paper] {
        let scan = scan_with(
            folder.path(),
            &Options {
                numbering,
                ..Options::default()
            },
        );
        let kept: Vec<bool> = (0..3).map(|n| is_kept(&scan, n)).collect();
        assert_eq!(kept, [true, false, false], "{numbering:?}");
    }
}

#[test]
fn a_deep_thread_keeps_its_last_message() {
    let mails: Vec<Mail> = (0..SENTENCES.len())
        .map(|n| Mail {
            own: vec![n],
            quoted: (0..n).rev().collect(),
            greeting: false,
            slips: false,
        })
        .filter(|m| !m.own.contains(&2) && !m.own.contains(&4))
        .collect();
    let folder = folder_of(&mails);
    let scan = scan_with(folder.path(), &Options::default());
    let kept: Vec<usize> = (0..mails.len()).filter(|&n| is_kept(&scan, n)).collect();
    assert_eq!(kept, [mails.len() - 1]);
}

#[test]
fn hostile_bytes_never_stop_a_scan() {
    let folder = tempfile::tempdir().unwrap();
    let nested = (0..1500).fold(
        String::from("Content-Type: multipart/mixed; boundary=b0\n\n"),
        |mut text, n| {
            text.push_str(&format!(
                "--b{n}\nContent-Type: multipart/mixed; boundary=b{}\n\n",
                n + 1
            ));
            text
        },
    );
    let cases: &[(&str, Vec<u8>)] = &[
        ("empty.eml", Vec::new()),
        ("nul.eml", b"Subject: x\n\n\0\0\0".to_vec()),
        ("bytes.eml", (0..=255).cycle().take(5000).collect()),
        ("nested.eml", nested.into_bytes()),
        (
            "date.eml",
            b"Date: yesterday\nContent-Type: text/plain; charset=klingon\n\nnuqneH \xff\xfe"
                .to_vec(),
        ),
        (
            "line.eml",
            [b"Subject: long\n\n".to_vec(), b"word ".repeat(400_000)].concat(),
        ),
    ];
    for (name, bytes) in cases {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let scan = scan_with(folder.path(), &Options::default());
    assert!(
        scan.messages
            .iter()
            .any(|m| m.location.path.ends_with("nested.eml"))
    );
    assert!((0..scan.messages.len()).all(|n| is_kept(&scan, n)));
}
