//! A scan with a cache finds what a scan without one finds, whatever happened to the mail or to the cache in between.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use twicetold_detect::{Cache, Options, Quiet, Scan, scan, scan_with};
use twicetold_source::Collection;

/// The clock of the file system ticks every few milliseconds.
const TICK: Duration = Duration::from_millis(15);

const SENTENCES: &[&str] = &[
    "The greenhouse heating failed during the frosty night and half of the seedlings froze.",
    "Please bring 20 chairs from the school on Friday.",
    "Please bring 25 chairs from the school on Friday.",
    "Our treasurer has paid the invoice for the new projector.",
    "Our treasurer has not paid the invoice for the new projector.",
    "Can you come to the rehearsal tomorrow evening?",
    "Nobody has seen the key to the boat house since the summer party.",
    "Nobody has seen the keys to the boat house since the summer party.",
    "The train to Prague leaves at 7:45 from platform 3.",
    "I would rather meet at the bakery behind the old town hall.",
    "Water the tomatoes twice a day while we are away.",
];

fn mail(number: usize, said: &[usize], quoted: &[usize]) -> String {
    let mut mail = format!(
        "From: Anna <anna@example.org>\nMessage-ID: <{number}@example.org>\nSubject: News {}\n\
         Date: Fri, 1 Mar 2019 10:{:02}:00 +0000\n\n",
        number % 3,
        number % 60
    );
    for &s in said {
        mail.push_str(SENTENCES[s % SENTENCES.len()]);
        mail.push('\n');
    }
    if !quoted.is_empty() {
        mail.push_str("\nOn Fri, 01 Mar 2019 00:04, Anna wrote:\n");
    }
    for &s in quoted {
        mail.push_str("> ");
        mail.push_str(SENTENCES[s % SENTENCES.len()]);
        mail.push('\n');
    }
    mail
}

/// A mailbox of each kind, and a cache.
struct Place {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
    /// How much memory a scan with the cache may take.
    memory: Option<u64>,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            cache: tempfile::tempdir().unwrap(),
            memory: None,
        };
        for name in ["box/cur", "box/new", "box/tmp"] {
            fs::create_dir_all(place.folder.path().join(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn cache(&self) -> Cache {
        let paths = [self.folder.path().to_owned()];
        Cache::new(self.cache.path(), &paths, &Options::default()).settling(TICK)
    }

    fn scan_with(&self, cache: &Cache) -> Scan {
        // What was written a moment ago is not taken for settled.
        std::thread::sleep(TICK * 2);
        let options = Options {
            memory: self.memory,
            ..Options::default()
        };
        scan_with(cache, &self.collection(), &options, &Quiet)
    }

    fn collection(&self) -> Collection {
        Collection::open(&[self.folder.path().to_owned()])
    }

    /// Scans with the cache and without it, and compares.
    fn same(&self) -> Scan {
        let with = self.scan_with(&self.cache());
        let without = scan(&self.collection(), &Options::default(), &Quiet);
        assert_eq!(said(&with), said(&without));
        with
    }
}

/// All of a scan but how much work it was, and that nothing can be remembered of it.
fn said(scan: &Scan) -> String {
    let troubles = scan.troubles.iter();
    let about_mail = troubles.filter(|t| !t.problem.what.starts_with("nothing is remembered"));
    let troubles: Vec<_> = about_mail.collect();
    format!("{:#?} {troubles:?}", scan.messages)
}

/// How many messages were read again to compare texts.
fn read_again(scan: &Scan) -> u64 {
    scan.reread.iter().map(|(_, again)| again.messages).sum()
}

fn all(scan: &Scan) -> u64 {
    scan.messages.len() as u64
}

/// Something that happens to a mailbox.
#[derive(Clone, Debug)]
enum Change {
    New(usize, Vec<usize>, Vec<usize>),
    Rewrite(usize, Vec<usize>),
    Remove(usize),
    Flag(usize),
    Copy(usize),
    Append(Vec<usize>),
    RewriteMbox(Vec<usize>),
    /// One letter of the mbox is another one: every message stands where it stood.
    Alter(usize),
    /// A message of the mbox is gone, stands there twice, stands last, or has another one before it.
    Shift(usize, usize, Vec<usize>),
}

fn change() -> impl Strategy<Value = Change> {
    let few = || prop::collection::vec(0..SENTENCES.len(), 1..4);
    prop_oneof![
        (0..1000_usize, few(), few()).prop_map(|(n, a, b)| Change::New(n, a, b)),
        (any::<usize>(), few()).prop_map(|(n, a)| Change::Rewrite(n, a)),
        any::<usize>().prop_map(Change::Remove),
        any::<usize>().prop_map(Change::Flag),
        any::<usize>().prop_map(Change::Copy),
        few().prop_map(Change::Append),
        few().prop_map(Change::RewriteMbox),
        any::<usize>().prop_map(Change::Alter),
        (0..4_usize, any::<usize>(), few()).prop_map(|(how, n, own)| Change::Shift(how, n, own)),
    ]
}

impl Place {
    fn change(&self, step: usize, change: &Change) {
        let mut files: Vec<PathBuf> = fs::read_dir(self.path("box/cur"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let pick = |n: usize| files.get(n % files.len().max(1)).cloned();
        let mbox = |said: &[usize]| {
            format!(
                "From anna Fri Mar  1 10:00:00 2019\n{}\n",
                mail(step, said, &[])
            )
        };
        match change {
            Change::New(n, own, quoted) => {
                self.write(&format!("box/cur/{step}.{n}:2,"), &mail(*n, own, quoted));
            }
            Change::Rewrite(n, own) => {
                if let Some(path) = pick(*n) {
                    fs::write(path, mail(*n % 60, own, &[])).unwrap();
                }
            }
            Change::Remove(n) => {
                if let Some(path) = pick(*n) {
                    fs::remove_file(path).unwrap();
                }
            }
            Change::Flag(n) => {
                if let Some(path) = pick(*n) {
                    let name = format!("{}S", path.to_str().unwrap());
                    fs::rename(path, name).unwrap();
                }
            }
            Change::Copy(n) => {
                if let Some(path) = pick(*n) {
                    fs::copy(path, self.path(&format!("box/cur/{step}.copy:2,"))).unwrap();
                }
            }
            Change::Append(own) => {
                let mut text = fs::read_to_string(self.path("old.mbox")).unwrap_or_default();
                text.push_str(&mbox(own));
                self.write("old.mbox", &text);
            }
            Change::RewriteMbox(own) => self.write("old.mbox", &mbox(own)),
            Change::Shift(how, n, own) => {
                let text = fs::read_to_string(self.path("old.mbox")).unwrap_or_default();
                let messages = text.split_inclusive("\n\nFrom anna").map(str::to_owned);
                let mut messages: Vec<String> = messages.collect();
                let count = messages.len().max(1);
                // The first and the last have another beginning or end than the others.
                if count > 3 {
                    let any = 1 + n % (count - 2);
                    match how {
                        0 => drop(messages.remove(any)),
                        1 => messages.insert(count / 2, messages[any].clone()),
                        2 => {
                            let one = messages.remove(any);
                            messages.insert(count - 2, one);
                        }
                        _ => {
                            let one = mbox(own);
                            let one = one.trim_start_matches("From anna").trim_end();
                            messages.insert(any, format!("{one}\n\nFrom anna"));
                        }
                    }
                    self.write("old.mbox", &messages.concat());
                }
            }
            Change::Alter(n) => {
                let text = fs::read_to_string(self.path("old.mbox")).unwrap_or_default();
                let places: Vec<usize> = text.match_indices('e').map(|(at, _)| at).collect();
                if let Some(&at) = places.get(n % places.len().max(1)) {
                    self.write("old.mbox", &format!("{}a{}", &text[..at], &text[at + 1..]));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_changes_the_verdicts_are_the_same(
        rounds in prop::collection::vec(prop::collection::vec(change(), 0..6), 2..5),
        memory in prop_oneof![Just(None), Just(Some(0))],
    ) {
        let place = Place { memory, ..Place::new() };
        for n in 0..6 {
            place.write(&format!("box/cur/{n}:2,"), &mail(n, &[n, n + 1, n + 4], &[n + 2, n + 3]));
        }
        for (round, changes) in rounds.iter().enumerate() {
            for (n, change) in changes.iter().enumerate() {
                place.change(round * 10 + n, change);
            }
            place.same();
        }
    }
}

fn ten() -> Place {
    let place = Place::new();
    for n in 0..10 {
        let text = mail(n, &[n, n + 1], &[n + 3, n + 4]);
        place.write(&format!("box/cur/{n}:2,"), &text);
    }
    place
}

#[test]
fn an_unchanged_mailbox_is_not_read() {
    let place = ten();
    // Nothing of this is mail.
    place.write("picture.png", "");
    assert_eq!(place.same().remembered, 0);
    let second = place.same();
    assert_eq!(second.remembered, all(&second));
    assert_eq!(read_again(&second), 0);
    // Other options, the same mail: no message is read first, but other texts may have to be compared.
    let options = Options {
        keep: vec![twicetold_detect::KeepRule::Newest],
        ..Options::default()
    };
    let with = scan_with(&place.cache(), &place.collection(), &options, &Quiet);
    let without = scan(&place.collection(), &options, &Quiet);
    assert_eq!(said(&with), said(&without));
    assert_eq!(with.remembered, all(&with));
}

#[test]
fn without_memory_everything_stands_in_the_cache() {
    let place = Place {
        memory: Some(0),
        ..ten()
    };
    assert_eq!(place.same().remembered, 0);
    place.write("box/new/more", &mail(77, &[2, 5], &[1]));
    let scan = place.same();
    assert_eq!(scan.remembered, all(&scan) - 1);
    let subjects: Vec<&str> = scan.messages.iter().map(|m| m.subject.as_str()).collect();
    assert!(subjects.iter().all(|subject| subject.starts_with("News ")));
}

#[test]
fn copies_are_remembered_each_by_itself() {
    for memory in [None, Some(0)] {
        let place = Place { memory, ..ten() };
        for n in 0..10 {
            // To the last byte the same, and the same under another id at another time.
            place.write(
                &format!("box/new/{n}"),
                &mail(n, &[n, n + 1], &[n + 3, n + 4]),
            );
            let later = mail(n + 30, &[n, n + 1], &[n + 3, n + 4]);
            place.write(&format!("box/new/{n}-later"), &later);
        }
        let first = place.same();
        assert_eq!((first.remembered, all(&first)), (0, 30));
        let second = place.same();
        assert_eq!((second.remembered, read_again(&second)), (30, 0));
        // Those that were read first are gone; what the others say is known all the same.
        for n in 0..10 {
            fs::remove_file(place.path(&format!("box/cur/{n}:2,"))).unwrap();
            fs::remove_file(place.path(&format!("box/new/{n}"))).unwrap();
        }
        let third = place.same();
        assert_eq!((third.remembered, all(&third)), (10, 10));
        let ids = third
            .messages
            .iter()
            .filter_map(|m| m.message_id.as_deref());
        assert!(ids.eq((30..40).map(|n| format!("<{n}@example.org>"))));
    }
}

#[test]
fn one_new_message_costs_one_reading() {
    let place = ten();
    place.same();
    place.write("box/cur/new:2,", &mail(77, &[2], &[6]));
    let scan = place.same();
    assert_eq!(scan.remembered + 1, all(&scan));
    assert!(read_again(&scan) < 6, "{:?}", scan.reread);
}

#[test]
fn what_a_new_message_does_not_touch_is_not_asked_about() {
    let place = Place::new();
    // Pairs that have nothing to do with each other.
    let words = |n: usize, from: usize| -> String {
        let words = (from..from + 12).map(|m| format!("word{m}of{n}"));
        words.collect::<Vec<_>>().join(" ")
    };
    let about = |n: usize, more: &str| {
        let head = format!("From: a{n}@example.org\nSubject: S{n}\n");
        format!("{head}\n{}.\n{more}\n", words(n, 0))
    };
    for n in 0..40 {
        place.write(&format!("box/cur/{n}a:2,"), &about(n, ""));
        place.write(&format!("box/cur/{n}b:2,"), &about(n, &words(n, 50)));
    }
    let first = place.same();
    assert_eq!(first.settled, 0);
    assert_eq!(place.same().settled, all(&first));
    // A third one about the same as two of them; a copy; one about something else; and one that is moved.
    place.write("box/cur/new:2,", &about(17, &words(17, 56)));
    let second = place.same();
    let open = all(&second) - second.settled;
    assert!((2..9).contains(&open), "{open} of {}", all(&second));
    place.write("box/cur/copy:2,", &about(30, ""));
    place.write("box/cur/other:2,", &about(99, ""));
    fs::rename(place.path("box/cur/5b:2,"), place.path("box/cur/5b:2,S")).unwrap();
    let third = place.same();
    let open = all(&third) - third.settled;
    assert!((4..16).contains(&open), "{open} of {}", all(&third));
    assert_eq!(
        third.remembered + 1,
        all(&third),
        "the copy is known by its bytes"
    );
    // One is gone: what it had, another one may have alone from now on.
    fs::remove_file(place.path("box/cur/17b:2,")).unwrap();
    let fourth = place.same();
    let open = all(&fourth) - fourth.settled;
    assert!((2..9).contains(&open), "{open} of {}", all(&fourth));
}

#[test]
fn renamed_and_moved_messages_are_known_by_their_bytes() {
    let place = ten();
    place.same();
    fs::rename(place.path("box/cur/3:2,"), place.path("box/cur/3:2,RS")).unwrap();
    fs::rename(place.path("box/cur/4:2,"), place.path("four.eml")).unwrap();
    let scan = place.same();
    assert_eq!(scan.remembered, all(&scan));
}

#[test]
fn verifying_reads_every_byte() {
    let place = ten();
    place.same();
    let path = place.path("box/cur/5:2,");
    // A change that the file system is made to hide as far as it can be.
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('e', "a", 1)).unwrap();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(before)
        .unwrap();
    let with = place.scan_with(&place.cache().verifying());
    assert_eq!(with.remembered + 1, all(&with));
    place.same();
}

/// An mbox of so many messages that has been scanned.
fn mbox_of(count: usize) -> Place {
    let place = Place::new();
    for n in 0..count {
        place.change(n, &Change::Append(vec![n, n + 1]));
    }
    place.same();
    place
}

#[test]
fn a_letter_changed_in_the_middle_of_a_growing_mbox_is_noticed() {
    let place = mbox_of(10);
    let text = fs::read_to_string(place.path("old.mbox")).unwrap();
    let words = text.match_indices("\n\n").nth(4).unwrap().0;
    let letter = words + text[words..].find('e').unwrap();
    let altered = format!("{}a{}", &text[..letter], &text[letter + 1..]);
    place.write("old.mbox", &altered);
    place.change(10, &Change::Append(vec![3, 5]));
    let scan = place.same();
    assert_eq!(scan.remembered + 2, all(&scan));
}

#[test]
fn those_behind_one_that_is_gone_from_an_mbox_are_known() {
    let place = mbox_of(12);
    for (how, known) in [(0, 11), (3, 11), (1, 13), (2, 13)] {
        place.change(20 + how, &Change::Shift(how, 4, vec![2, 7]));
        let scan = place.same();
        assert_eq!(scan.remembered, known, "{how}");
        assert!(scan.settled > 0, "{how}");
    }
}

#[test]
fn what_was_just_written_is_not_trusted() {
    let place = ten();
    let cache = place.cache().settling(Duration::from_secs(3600));
    place.scan_with(&cache);
    let second = place.scan_with(&cache);
    // The bytes were read again, and known by their checksum.
    assert_eq!(second.remembered, all(&second));
    place.write("box/cur/5:2,", &mail(5, &[9, 10], &[]));
    let third = place.scan_with(&cache);
    assert_eq!(third.remembered + 1, all(&third));
}

/// The files of the cache.
fn files(cache: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "lock")
        .collect();
    files.sort();
    files
}

#[test]
fn a_damaged_cache_is_read_around_and_made_anew() {
    let place = ten();
    place.same();
    let folder = place.cache().folder().to_owned();
    let healthy: Vec<(PathBuf, Vec<u8>)> = files(&folder)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    assert_eq!(healthy.len(), 3, "{:?}", files(&folder));
    for (path, bytes) in &healthy {
        let step = (bytes.len() / 12).max(1);
        for at in (0..bytes.len()).step_by(step) {
            for (path, bytes) in &healthy {
                fs::write(path, bytes).unwrap();
            }
            let mut broken = bytes.clone();
            broken[at] ^= 0x55;
            fs::write(path, &broken).unwrap();
            // One comes and goes, so that what was kept of how messages are related is asked for.
            place.write("box/cur/more:2,", &mail(at % 97, &[at, at / 3], &[]));
            place.same();
            fs::write(path, &bytes[..at]).unwrap();
            fs::remove_file(place.path("box/cur/more:2,")).unwrap();
            place.same();
            let scan = place.same();
            assert_eq!(scan.remembered, all(&scan), "it was not mended");
        }
    }
    for path in files(&folder) {
        fs::write(path, b"something else altogether").unwrap();
    }
    place.same();
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, b"a file where the cache should be").unwrap();
    place.same();
}

#[test]
fn the_file_of_records_does_not_grow_for_ever() {
    let place = ten();
    let long = "A long line about nothing that anyone has said before. ".repeat(40);
    let mut largest = 0;
    for round in 0..40 {
        let text = format!(
            "{}{}",
            mail(round, &[round], &[]),
            long.replace("line", &format!("line{round}"))
        );
        let many: String = (0..200)
            .map(|n| format!("{n}{round} unheard of words {n}{round}. "))
            .collect();
        place.write("box/cur/big:2,", &(text + &many));
        place.same();
        let sizes = files(place.cache().folder())
            .into_iter()
            .map(|path| fs::metadata(path).unwrap().len());
        largest = largest.max(sizes.sum());
    }
    assert!(largest < 3 << 20, "{largest}");
}

#[test]
fn two_scans_at_once_do_not_hurt_each_other() {
    let place = ten();
    let expected = said(&scan(&place.collection(), &Options::default(), &Quiet));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(said(&place.scan_with(&place.cache())), expected);
                }
            });
        }
    });
    let last = place.same();
    assert_eq!(last.remembered, all(&last));
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_told() {
    let place = ten();
    let file = place.cache.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let paths = [place.folder.path().to_owned()];
    let with = place.scan_with(&Cache::new(&file, &paths, &Options::default()));
    let [trouble] = with.troubles.as_slice() else {
        panic!("{:?}", with.troubles);
    };
    assert!(trouble.is_note() && trouble.path.ends_with("file"));
    assert!(trouble.problem.what.starts_with("nothing is remembered"));
    let without = scan(&place.collection(), &Options::default(), &Quiet);
    assert_eq!(
        format!("{:?}", with.messages),
        format!("{:?}", without.messages)
    );
}

#[test]
fn a_cache_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = ten();
    place.same();
    for path in files(place.cache().folder()) {
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o077,
            0,
            "{path:?}"
        );
    }
}
