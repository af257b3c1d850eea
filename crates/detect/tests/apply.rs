//! Random mailboxes: scan, apply, and everything that was said is still there; undo, and everything is as it was.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use twicetold_detect::{Doubt, Options, Quiet, plan, recheck, scan};
use twicetold_model::{Problem, RawMessage, Standing};
use twicetold_source::act::{
    Action, Case, Judge, Local, Progress, State, Undisturbed, Wishes, apply, undo,
};
use twicetold_source::{Checksum, Collection, Plan, TRASH};

/// What people write: each line a sentence, each with words of its own.
const SENTENCES: [&str; 10] = [
    "The blue boat needs a new rudder before the regatta in spring.",
    "Please bring the long ladder and two buckets to the boathouse.",
    "The hut in the mountains has room for 12 guests this winter.",
    "Whoever wants to come should write to Clara before the month ends.",
    "Somebody left a pair of wooden oars behind the tool shed.",
    "From now on the bakery delivers cake on every second Saturday.",
    "The pond behind the garden is frozen and safe for skating.",
    "Members of the museum get in free at 10:30 on the first Sunday.",
    "Nobody has paid the invoice over 250 euros for the trailer yet.",
    "The keys hang on a nail beside the old map of the river.",
];

/// A message: its own sentences, those it quotes, where it is kept, its flags.
#[derive(Clone, Debug)]
struct Sent {
    own: Vec<usize>,
    quoted: Vec<usize>,
    place: usize,
    flags: usize,
}

const FLAGS: [&str; 4] = ["", "S", "FS", "RS"];

fn sent() -> impl Strategy<Value = Sent> {
    let some = || prop::collection::vec(0..SENTENCES.len(), 0..4);
    (
        prop::collection::vec(0..SENTENCES.len(), 1..4),
        some(),
        0..6_usize,
        0..4_usize,
    )
        .prop_map(|(own, quoted, place, flags)| Sent {
            own,
            quoted,
            place,
            flags,
        })
}

fn text(message: &Sent, number: usize) -> String {
    let line = |n: &usize| format!("{}\n", SENTENCES[*n]);
    let own: String = message.own.iter().map(line).collect();
    let quoted: String = message
        .quoted
        .iter()
        .map(|n| format!("> {}", line(n)))
        .collect();
    // A few messages share sender, subject and day, so that copies are copies in every respect.
    let day = number % 3 + 1;
    format!(
        "From: anna@example.org\nSubject: club\nDate: {day:02} Jan 2024 10:00:00 +0000\n\
         Message-ID: <{number}@example.org>\n\n{own}{quoted}"
    )
}

fn write(root: &Path, messages: &[Sent]) {
    for folder in [
        "mail/cur",
        "mail/new",
        "mail/tmp",
        "mail/.Old/cur",
        "mail/.Old/new",
        "tree/deep",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let mut boxes = [String::new(), String::new()];
    for (number, message) in messages.iter().enumerate() {
        let text = text(message, number);
        let flags = FLAGS[message.flags];
        let path = match message.place {
            0 => format!("mail/cur/{number}.host:2,{flags}"),
            1 => format!("mail/.Old/cur/{number}.host:2,{flags}"),
            2 => format!("mail/new/{number}.host"),
            3 => format!("tree/deep/{number}.eml"),
            place => {
                let (head, body) = text.split_once("\n\n").unwrap();
                let status =
                    ["", "\nStatus: RO", "\nX-Status: F", "\nX-Keywords: a b"][message.flags];
                let body = body.replace("\nFrom ", "\n>From ");
                let body = body
                    .strip_prefix("From ")
                    .map_or(body.clone(), |rest| format!(">From {rest}"));
                boxes[place - 4] +=
                    &format!("From a@b Mon Jan  1 10:00:00 2024\n{head}{status}\n\n{body}\n");
                continue;
            }
        };
        fs::write(root.join(path), text).unwrap();
    }
    for (number, file) in boxes.iter().enumerate() {
        if !file.is_empty() {
            fs::write(root.join(format!("{number}.mbox")), file).unwrap();
        }
    }
}

type Tree = BTreeMap<PathBuf, (Vec<u8>, i64, i64)>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let seen = fs::symlink_metadata(&path).unwrap();
            if seen.is_dir() {
                found.insert(path.clone(), Default::default());
                waiting.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, (bytes, seen.mtime(), seen.mtime_nsec()));
            }
        }
    }
    found
}

/// All messages in these places, and the sentences in them.
fn read(paths: &[PathBuf]) -> (BTreeMap<Checksum, usize>, BTreeSet<usize>) {
    let (mut messages, mut sentences) = (BTreeMap::new(), BTreeSet::new());
    for task in Collection::open(paths).tasks() {
        task.run(
            &mut |message| {
                *messages.entry(Checksum::of_message(&message)).or_default() += 1;
                let text = String::from_utf8_lossy(&message.bytes).into_owned();
                sentences.extend((0..SENTENCES.len()).filter(|&n| text.contains(SENTENCES[n])));
            },
            &mut |trouble| panic!("{trouble:?}"),
        );
    }
    (messages, sentences)
}

/// All messages in these places by their checksums.
fn by_checksum(paths: &[PathBuf]) -> BTreeMap<Checksum, RawMessage<'static>> {
    let collection = Collection::open(paths);
    let mut found = BTreeMap::new();
    for task in collection.tasks() {
        task.run(
            &mut |message| {
                let raw = collection.read(&message.location).unwrap();
                found.insert(Checksum::of_message(&raw), raw);
            },
            &mut |trouble| panic!("{trouble:?}"),
        );
    }
    found
}

struct Proofs;

impl Judge for Proofs {
    fn check(&self, cases: &[Case<'_>]) -> Vec<Result<(), Problem>> {
        let check = |case: &Case<'_>| {
            let thread = &case.removal.message.thread;
            let named = case.witnesses.iter().zip(&case.removal.witnesses);
            recheck(&Doubt {
                message: &case.message,
                witnesses: named
                    .map(|(raw, named)| (raw, thread.is_some() && named.thread == *thread))
                    .collect(),
                short: Options::default().short,
            })
        };
        cases.iter().map(check).collect()
    }
}

struct Silent;

impl Progress for Silent {
    fn advance(&self, _messages: u64) {}
}

fn wishes(action: Action, base: &Path) -> Wishes {
    Wishes {
        action,
        trash: TRASH.into(),
        to: Some(base.join("away")),
        label: "twicetold".to_owned(),
        store: base.join("state/store/1"),
        patience: Duration::from_secs(1),
        token: "1 test".to_owned(),
    }
}

/// Where an action puts messages.
fn bins(action: Action, base: &Path) -> Vec<PathBuf> {
    let all = match action {
        Action::MoveTo => vec![base.join("away")],
        Action::Delete => vec![base.join("state/store")],
        _ => vec![
            base.join("Mail").join(TRASH),
            base.join("Mail/mail").join(TRASH),
        ],
    };
    all.into_iter().filter(|path| path.exists()).collect()
}

fn check(messages: &[Sent], action: Action) -> Result<(), TestCaseError> {
    // Hidden folders are left out when mailboxes are read.
    let mut builder = tempfile::Builder::new();
    builder.prefix("mail");
    // In memory, if the machine has a place for that: writing every step to disk takes its time.
    let folder = builder
        .tempdir_in("/dev/shm")
        .or_else(|_| builder.tempdir())
        .unwrap();
    let base = folder.path();
    let root = base.join("Mail");
    write(&root, messages);
    let before = tree(&root);
    let (all, said) = read(std::slice::from_ref(&root));

    let options = Options::default();
    let collection = Collection::open(std::slice::from_ref(&root));
    let found = scan(&collection, &options, &Quiet);
    let planned = plan(
        &collection,
        &found,
        &options,
        base,
        std::slice::from_ref(&root),
    );
    let mut file = Vec::new();
    planned
        .write(&mut file, serde_json::ser::CompactFormatter)
        .unwrap();
    let planned = Plan::parse(&file).unwrap();
    let redundant = |m: &&twicetold_detect::ScannedMessage| {
        matches!(m.verdict.standing, Standing::Redundant(_))
    };
    prop_assert_eq!(
        planned.removals.len(),
        found.messages.iter().filter(redundant).count()
    );

    let state = State::open(&base.join("state")).unwrap();
    let (_, mut journal) = state
        .begin(action, &planned, Path::new("p"), &Undisturbed)
        .unwrap();
    let mut hands = Local::new(&planned, wishes(action, base));
    let chosen: Vec<usize> = (0..planned.removals.len()).collect();
    let applied = apply(
        &planned,
        &chosen,
        &HashSet::new(),
        &mut hands,
        &Proofs,
        Some(&mut journal),
        &Undisturbed,
        &Silent,
    );
    prop_assert!(applied.refused.is_empty(), "{:?}", applied.refused);
    prop_assert!(applied.stopped.is_none(), "{:?}", applied.stopped);
    prop_assert_eq!(applied.done.len(), planned.removals.len());
    drop(journal);

    // What is kept says everything; what is kept and what went are all there was.
    let (kept, still_said) = read(std::slice::from_ref(&root));
    prop_assert_eq!(still_said, said);
    prop_assert_eq!(
        kept.values().sum::<usize>(),
        messages.len() - planned.removals.len()
    );
    let bins = bins(action, base);
    let mut both = bins.clone();
    both.push(root.clone());
    prop_assert_eq!(read(&both).0, all);

    // Read from where they are now, what went is still proved by what was kept.
    let (in_mail, in_bins) = (by_checksum(std::slice::from_ref(&root)), by_checksum(&bins));
    let cases: Vec<Case<'_>> = planned
        .removals
        .iter()
        .map(|removal| Case {
            removal,
            message: in_bins[&removal.message.checksum].clone(),
            witnesses: removal
                .witnesses
                .iter()
                .map(|witness| in_mail[&witness.checksum].clone())
                .collect(),
        })
        .collect();
    prop_assert!(Proofs.check(&cases).iter().all(Result::is_ok));

    let runs = state.runs().unwrap();
    let mut hands = Local::without_plan(wishes(action, base));
    let undone = undo(&state, &runs[0], &mut hands, false, &Undisturbed, &Silent).unwrap();
    prop_assert!(
        undone.failed.is_empty() && undone.told.is_empty(),
        "{undone:?}"
    );
    prop_assert_eq!(tree(&root), before);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_undo_gives_all_of_it_back(
        messages in prop::collection::vec(sent(), 1..24),
        action in prop_oneof![Just(Action::Trash), Just(Action::MoveTo), Just(Action::Delete)],
    ) {
        check(&messages, action)?;
    }
}
