//! A mailbox that grows is judged as if it were read anew. There are many batches here, since they are small in tests.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use twicetold_source::Collection;

use crate::cache::{Cache, Part};
use crate::options::Options;
use crate::progress::Quiet;
use crate::scan::{Scan, scan, scan_with};

/// So long a file must be left alone to be known again.
const TICK: Duration = Duration::from_millis(15);

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    fn sentence(&mut self) -> String {
        let count = 4 + self.below(14);
        // Some words are frequent and some are not, as in any language.
        let words = (0..count).map(|_| {
            let rare = [12, 150, 4000][self.below(3)];
            format!("wo{}", self.below(rare))
        });
        let words: Vec<String> = words.collect();
        let fact = match self.below(6) {
            0 => format!(" {} euros", self.below(300)),
            _ => String::new(),
        };
        // Where no full stop ends a sentence, a blank line does.
        let stop = ["", ".", "."][self.below(3)];
        format!("{}{fact}{stop}", words.join(" "))
    }

    fn text(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        let lines: Vec<String> = (0..count).map(|_| self.sentence()).collect();
        lines.join("\n")
    }
}

/// Mail as it is written: originals, answers, forwards, near copies, notices, thanks.
#[derive(Default)]
struct Writing {
    /// The subject and the text of what was written so far.
    letters: Vec<(String, String)>,
}

impl Writing {
    fn next(&mut self, dice: &mut Dice) -> String {
        let number = self.letters.len();
        let from = format!("p{}@example.org", dice.below(30));
        let earlier = match number {
            0 => None,
            _ => Some(number - 1 - dice.below(number.min(200))),
        };
        let mut head = String::new();
        let (subject, text) = match (dice.below(10), earlier) {
            (0..3, Some(n)) => {
                let (subject, text) = &self.letters[n];
                head = format!("In-Reply-To: <{n}@example.org>\n");
                let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
                let wrote = "On Fri, 1 Mar 2019, somebody wrote:";
                let own = dice.text(3);
                let re = subject.trim_start_matches("Re: ");
                (
                    format!("Re: {re}"),
                    format!("{own}\n\n{wrote}\n{}", quoted.join("\n")),
                )
            }
            (3, Some(n)) => {
                let (subject, text) = &self.letters[n];
                let blank = ["\n", "\n\n"][dice.below(2)];
                (subject.clone(), text.replace('\n', blank))
            }
            (4, Some(n)) => {
                let (subject, text) = &self.letters[n];
                (subject.clone(), text.replacen("wo1", "wo2", 1))
            }
            (5..7, Some(n)) => {
                head = format!("In-Reply-To: <{n}@example.org>\n");
                let thanks = ["Thanks!", "Agreed, let us do that.", "No."][dice.below(3)];
                (format!("Re: {}", self.letters[n].0), thanks.to_owned())
            }
            (7, _) => {
                let text = format!(
                    "Your parcel number {} has left our house this morning.\n\
                     It will be with you within a few days, if nothing goes wrong.\n\
                     Write to us if it does not arrive, and tell us its number.",
                    dice.below(400)
                );
                ("Your parcel".to_owned(), text)
            }
            _ => (format!("About {}", dice.below(500)), dice.text(9)),
        };
        let footer = match dice.below(3) {
            0 => "\n\nThis list is for members of the rowing club only, so please do not forward.",
            _ => "",
        };
        let body = format!("Hello,\n\n{text}{footer}\n");
        // Some have a file with them, and several the same one.
        let (kind, body) = match dice.below(8) {
            0 => {
                let file = format!("file {} of a few", dice.below(12));
                let kind = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n";
                let own = "Content-Type: application/octet-stream; name=x.bin\n\n";
                (kind, format!("--b\n\n{body}--b\n{own}{file}\n--b--\n"))
            }
            _ => ("", body),
        };
        let mail = format!(
            "From: {from}\nMessage-ID: <{number}@example.org>\n{head}Subject: {subject}\n{kind}\
             Date: Fri, 1 Mar 2019 10:{:02}:00 +0000\n\n{body}",
            number % 60
        );
        self.letters.push((subject, text));
        mail
    }
}

/// A mailbox that grows, and the cache of its scans.
struct Growing {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
    files: Vec<PathBuf>,
    /// How many were put there in all.
    put: usize,
    dice: Dice,
    writing: Writing,
}

impl Growing {
    fn new(seed: u64, messages: usize) -> Self {
        let mut growing = Self {
            folder: tempfile::tempdir().unwrap(),
            cache: tempfile::tempdir().unwrap(),
            files: Vec::new(),
            put: 0,
            dice: Dice(seed << 40 | 0x9e37_79b9),
            writing: Writing::default(),
        };
        for name in ["cur", "new", "tmp"] {
            fs::create_dir(growing.folder.path().join(name)).unwrap();
        }
        (0..messages).for_each(|_| growing.write());
        growing
    }

    /// One comes that nobody has seen.
    fn write(&mut self) {
        let mail = self.writing.next(&mut self.dice);
        self.put(&mail);
    }

    /// It stands anywhere among those that are there.
    fn put(&mut self, mail: &str) {
        self.put += 1;
        let name = format!("cur/{:04}.{}:2,", self.dice.below(10_000), self.put);
        let path = self.folder.path().join(name);
        fs::write(&path, mail).unwrap();
        self.files.push(path);
    }

    fn change(&mut self) {
        let any = self.dice.below(self.files.len());
        match self.dice.below(9) {
            8 => self.remove(any),
            0 => self.put(&fs::read_to_string(&self.files[any]).unwrap()),
            1 => {
                let to = format!("{}S", self.files[any].to_str().unwrap());
                fs::rename(&self.files[any], &to).unwrap();
                self.files[any] = to.into();
            }
            _ => self.write(),
        }
    }

    fn remove(&mut self, number: usize) {
        fs::remove_file(self.files.swap_remove(number)).unwrap();
    }

    /// A cache of the mailbox in this folder.
    fn cache(&self, folder: &tempfile::TempDir) -> Cache {
        let paths = [self.folder.path().to_owned()];
        Cache::new(folder.path(), &paths, &Options::default()).settling(TICK)
    }

    /// Whether the cache holds for the next scan what that of a scan holds which has read everything.
    fn keeps_the_same(&self) {
        let fresh = tempfile::tempdir().unwrap();
        let paths = [self.folder.path().to_owned()];
        let options = Options::default();
        scan_with(
            &self.cache(&fresh),
            &Collection::open(&paths),
            &options,
            &Quiet,
        );
        let [own, other] = [&self.cache, &fresh].map(|folder| {
            let opened = self.cache(folder).open(&options);
            let related = opened.related().unwrap();
            let seen: Vec<Vec<u8>> = related
                .pairs()
                .unwrap()
                .blocks()
                .iter()
                .map(Vec::from)
                .collect();
            let fingerprints = related.lists::<u32>(Part::Fingerprints).unwrap();
            let sentences = related.lists::<u64>(Part::Sentences).unwrap();
            let course = related.course().unwrap();
            let order = (course.order, course.threads, course.new, course.outcomes);
            let second = (course.hopeful, course.before);
            (
                seen,
                [format!("{fingerprints:?}"), format!("{sentences:?}")],
                [format!("{order:?}"), format!("{second:?}")],
            )
        });
        assert!(own.0 == other.0, "which pairs occur twice");
        assert_eq!(own.1, other.1);
        assert_eq!(own.2, other.2);
    }

    /// Scans with the cache and without it, and compares.
    fn same(&self) -> Scan {
        std::thread::sleep(TICK * 2);
        let paths = [self.folder.path().to_owned()];
        let options = Options::default();
        let cache = self.cache(&self.cache);
        let with = scan_with(&cache, &Collection::open(&paths), &options, &Quiet);
        let without = scan(&Collection::open(&paths), &options, &Quiet);
        let said = |scan: &Scan| format!("{:#?}", scan.messages);
        assert!(
            said(&with) == said(&without),
            "{}",
            differences(&with, &without)
        );
        with
    }
}

fn differences(with: &Scan, without: &Scan) -> String {
    let both = with.messages.iter().zip(&without.messages);
    let both = both.map(|(a, b)| (format!("{a:?}"), format!("{b:?}")));
    let mut different = both.filter(|(a, b)| a != b);
    let first = different.next().unwrap_or_default();
    format!("{}\n{}\nand {} more", first.0, first.1, different.count())
}

/// Mailboxes of some messages and more change ten times, each time in the way of that round, and are scanned after it.
fn change_as_if_read_anew(some: usize, more: usize, change: impl Fn(&mut Growing, usize) -> Scan) {
    let (mut settled, mut all) = (0, 0);
    for seed in 1..25 {
        let mut growing = Growing::new(seed, some + more * (seed as usize % 9));
        growing.same();
        for round in 0..10 {
            let scan = change(&mut growing, round);
            settled += scan.settled;
            all += scan.messages.len() as u64;
        }
    }
    assert!(
        settled > all / 4,
        "of {all} verdicts only {settled} were taken over"
    );
}

#[test]
fn a_mailbox_of_many_batches_shrinks_as_if_it_were_read_anew() {
    change_as_if_read_anew(60, 31, |growing, round| {
        for _ in 0..1 + round % 2 {
            let any = growing.dice.below(growing.files.len());
            growing.remove(any);
        }
        if round % 3 == 0 {
            growing.change();
        }
        let scan = growing.same();
        if round % 4 == 3 {
            growing.keeps_the_same();
        }
        scan
    });
}

#[test]
fn a_mailbox_of_many_batches_grows_as_if_it_were_read_anew() {
    change_as_if_read_anew(40, 37, |growing, round| {
        // No more than count as a few.
        (0..1 + round % super::came::MOST).for_each(|_| growing.change());
        growing.same()
    });
}
