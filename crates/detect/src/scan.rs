//! The way of a collection: read, sketch, find candidates, prove, decide.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_model::{Category, Form, Location, Problem, Standing, Verdict, Witness};
use twicetold_source::{Again, Collection, Trouble};

use crate::amend::{Before, amended};
use crate::aside::{Aside, Onward};
use crate::cache::{Cache, Course, Keeping, Opened, Reader, texts};
use crate::check;
use crate::comparable::Comparable;
use crate::counted::Unfit;
use crate::explain::shown_each;
use crate::keepset::{Decisions, First, Kept, Outcome, Second, Walk};
use crate::leads::{Leads, Looks, Told};
use crate::library::Library;
use crate::listed::{Called, Left};
use crate::memo::{Answers, Memo, Question, write_yes_or_no, yes_or_no};
use crate::options::{Numbering, Options};
use crate::part::{Statistics, Whole};
use crate::placed::Placed;
use crate::progress::{Progress, Stage};
use crate::reading::{self, Read};
use crate::record::Record;
use crate::versions::Nearness;

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Every message, sorted by location; the numbers in verdicts are indices into this.
    pub messages: Vec<ScannedMessage>,
    /// Files and folders that could not be used.
    pub troubles: Vec<Trouble>,
    /// How much each stage read a second time, to compare texts. It depends on the threads; nothing else does.
    pub reread: Vec<(Stage, Reread)>,
    /// How many messages were known from an earlier scan, so that they were not read again.
    pub remembered: u64,
    /// About how many messages nobody had to be asked, since what the last scan decided about them holds still.
    pub settled: u64,
}

/// How much of the mail was read again after everything had been read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reread {
    /// Messages, each as often as it was read.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Reread {
    /// How much of this is not in what was read `before`.
    fn since(self, before: Self) -> Self {
        Self {
            messages: self.messages - before.messages,
            bytes: self.bytes - before.bytes,
        }
    }
}

/// A message and what was decided about it.
#[derive(Clone, Debug)]
pub struct ScannedMessage {
    /// Where it stands.
    pub location: Location,
    /// How its bytes are understood.
    pub form: Form,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its `Message-ID`, or the id of a JSON line.
    pub message_id: Option<String>,
    /// Its subject, for people.
    pub subject: String,
    /// Its sender's address, for people.
    pub from: String,
    /// Its date in seconds since 1970.
    pub date: Option<i64>,
    /// A name for the conversation it belongs to, if it belongs to one with other messages.
    pub thread: Option<Arc<str>>,
    /// What was decided.
    pub verdict: Verdict,
    /// The text of each residue of the verdict, white space folded.
    pub residue: Vec<String>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// Scans a collection. Reads only. Same input, same result, whatever the number of threads.
pub fn scan(collection: &Collection, options: &Options, progress: &dyn Progress) -> Scan {
    scan_afresh(collection, options, Counted::default(), progress)
}

/// Reads everything and decides.
fn scan_afresh(
    collection: &Collection,
    options: &Options,
    counted: Counted<'_>,
    progress: &dyn Progress,
) -> Scan {
    let read = reading::read(collection, options, None, None, progress);
    let ready = relate(options, read, counted, None, progress);
    decide(collection, options, ready, Memo::default, || None, progress).scan
}

/// The same with statistics that were counted before, on this mail or on more than this: they are not counted again.
///
/// # Errors
/// If the statistics cannot be about this mail.
pub fn scan_counted(
    collection: &Collection,
    options: &Options,
    statistics: &Statistics,
    progress: &dyn Progress,
) -> Result<Scan, Unfit> {
    if options.numbering != Numbering::Stable {
        return Err(Unfit::Numbering);
    }
    if statistics.pairs().slots() < Statistics::slots(collection.total_bytes()) {
        return Err(Unfit::Small);
    }
    let read = reading::read(collection, options, None, Some(statistics), progress);
    read.fits?;
    let counted = Counted {
        before: Some(statistics),
        whole: None,
    };
    let ready = relate(options, read, counted, None, progress);
    Ok(decide(collection, options, ready, Memo::default, || None, progress).scan)
}

/// Scans a part of a larger collection: the verdicts are those that its messages have in the whole, as far as `whole` tells
/// and the part holds what decides about them.
pub fn scan_part(
    collection: &Collection,
    options: &Options,
    whole: &Whole<'_>,
    progress: &dyn Progress,
) -> Scan {
    let counted = Counted {
        before: None,
        whole: Some(whole),
    };
    scan_afresh(collection, options, counted, progress)
}

/// The same with a cache: what has not changed since the last scan is not read again. Same result.
pub fn scan_with(
    cache: &Cache,
    collection: &Collection,
    options: &Options,
    progress: &dyn Progress,
) -> Scan {
    let mut opened = cache.open(options);
    let unchanged = opened.unchanged(collection);
    if let Some(mut scan) = opened.result(&unchanged, options) {
        // Nothing is left to read; files passed over are counted all the same.
        drop(collection.tasks_but(unchanged.empty, |_| true));
        scan.troubles = troubles(collection);
        return scan;
    }
    if let Some(ready) = amended(&mut opened, &unchanged, collection, options, progress) {
        drop(unchanged);
        let memo = || Memo::with_all(opened.answers());
        let last_scan = || opened.last_scan(options);
        let decided = decide(collection, options, ready, memo, last_scan, progress);
        return remember(opened, collection, options, decided);
    }
    opened.keep_anew();
    let known = Some((&opened, &unchanged));
    let read = reading::read(collection, options, known, None, progress);
    drop(unchanged);
    opened.forget_files();
    if !opened.finish() {
        // The disk is full: what the cache was to hold is gone.
        drop((read, opened));
        let mut scan = scan_afresh(collection, options, Counted::default(), progress);
        note(
            &mut scan,
            cache.cannot_remember(&ErrorKind::StorageFull.into()),
        );
        return scan;
    }
    let memo = || Memo::with(opened.answers());
    let (counted, keeping) = (Counted::default(), opened.keeping());
    let ready = relate(options, read, counted, keeping, progress);
    let decided = decide(collection, options, ready, memo, || None, progress);
    remember(opened, collection, options, decided)
}

/// Keeps what was found, and the way to it, for the next scan.
fn remember(
    mut opened: Opened,
    collection: &Collection,
    options: &Options,
    decided: Decided,
) -> Scan {
    let Decided {
        mut scan,
        prints,
        answers,
        course,
    } = decided;
    match (course, opened.keeping()) {
        (Some(course), Some(keeping)) => keeping.course(&course),
        // Where something could not be read, the next scan asks everything again.
        _ => opened.keep_anew(),
    }
    if let Err(trouble) = opened.save(collection, &prints, options, &scan, &answers) {
        note(&mut scan, trouble);
    }
    scan
}

/// Tells of one thing more.
fn note(scan: &mut Scan, trouble: Trouble) {
    scan.troubles.push(trouble);
    scan.troubles.sort_by(|a, b| a.path.cmp(&b.path));
}

/// What was wrong with the files of a collection before any was read, sorted by path.
pub(crate) fn troubles(collection: &Collection) -> Vec<Trouble> {
    let mut troubles = collection.troubles().to_vec();
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    troubles
}

/// What was counted before the mail was read.
#[derive(Clone, Copy, Default)]
struct Counted<'c> {
    /// On all of this mail.
    before: Option<&'c Statistics>,
    /// On the whole of which this mail is a part.
    whole: Option<&'c Whole<'c>>,
}

/// Everything that is known before anybody is asked.
pub(crate) struct Ready<'w> {
    /// The messages, sorted by location.
    pub(crate) records: Vec<Record>,
    /// What could not be read, sorted by path.
    pub(crate) troubles: Vec<Trouble>,
    /// What there was no room for.
    pub(crate) aside: Aside,
    /// How many messages were known from the last scan.
    pub(crate) remembered: u64,
    pub(crate) placed: Placed,
    /// What leads from messages to others.
    pub(crate) leads: Leads,
    /// For each message whether it holds what no other has.
    pub(crate) new: Vec<bool>,
    /// What the last scan decided, as far as it holds still.
    pub(crate) before: Option<Before>,
    /// If this is a part of a larger collection: what is known from the whole.
    pub(crate) whole: Option<&'w Whole<'w>>,
}

/// Finds out how everything that was read is related, and keeps it for the next scan where that is wanted.
fn relate<'w>(
    options: &Options,
    read: Read,
    counted: Counted<'w>,
    keeping: Option<&Keeping>,
    progress: &dyn Progress,
) -> Ready<'w> {
    let Read {
        records,
        troubles,
        pairs: own_pairs,
        told,
        aside,
        remembered,
        ..
    } = read;
    progress.begin(Stage::Relating, records.len() as u64);
    if let Some(keeping) = keeping {
        keeping.pairs(&own_pairs);
    }
    let own_pairs = own_pairs.complete();
    let whole = counted.whole;
    let pairs = counted.before.map_or(&own_pairs, Statistics::pairs);
    let placed = Placed::of(&records, options, whole);
    let relating = Told {
        keeping,
        whole,
        ..placed.told(&records, &aside, options)
    };
    let looks = Looks::at(&relating, pairs, &told);
    // Nobody asks what occurs how often any more.
    drop((own_pairs, told));
    let (leads, new) = Leads::of(&relating, looks);
    Ready {
        records,
        troubles,
        aside,
        remembered,
        placed,
        leads,
        new,
        before: None,
        whole,
    }
}

/// What was decided.
struct Decided {
    scan: Scan,
    /// The checksum of each message's bytes.
    prints: Vec<u128>,
    /// What comparing texts led to.
    answers: Answers,
    /// How it came to this; `None` if something could not be read.
    course: Option<Course>,
}

/// Decides about every message. What comparing texts led to before is asked for when texts are compared, what the last scan found when it is shown again.
fn decide(
    collection: &Collection,
    options: &Options,
    ready: Ready<'_>,
    memo: impl FnOnce() -> Memo,
    last_scan: impl FnOnce() -> Option<Scan>,
    progress: &dyn Progress,
) -> Decided {
    let Ready {
        records,
        mut troubles,
        aside,
        remembered,
        placed,
        leads,
        new,
        mut before,
        whole,
    } = ready;
    let Placed {
        threads,
        groups,
        order,
        ranks,
    } = placed;
    let memory = options.memory_for(collection.total_bytes());
    let library = Library::new(collection, &records, &aside, memory);
    let mut walk = Walk {
        records: &records,
        threads: &threads,
        library: &library,
        options,
        leads,
        new,
        order: &order,
        ranks,
        batches: whole.map(|whole| whole.batches(&records)),
        aside: &aside,
        memo: memo(),
        hard: Mutex::default(),
    };
    let Walked {
        kept,
        gone,
        outcomes,
        second,
        near,
        mut over,
    } = Walked::through(&walk, before.as_mut(), progress);
    // Nobody is looked for any more.
    walk.leads = Leads::default();
    walk.hard = Mutex::default();
    let settled = before.as_ref().map_or(0, Before::settled);
    let copies = proved_copies(&groups, &walk, before.as_ref(), progress);

    let mut verdicts: Vec<Verdict> = records.iter().map(alone).collect();
    for (&a, members) in &groups {
        if gone.contains_key(&a) {
            verdicts[a as usize] = redundant(a, &gone);
        }
        // Where all may be gone tomorrow, none of them is a reason to let another one go.
        let stays = |m: &&u32| {
            let permanence = |n: u32| records[n as usize].permanence;
            gone.contains_key(&a) || permanence(a).can_hold(permanence(**m))
        };
        for member in members
            .iter()
            .filter(|m| copies.get(m).copied().unwrap_or(false))
            .filter(stays)
        {
            // A copy of a message that goes itself rests on what that message rests on.
            verdicts[*member as usize] = match gone.contains_key(&a) {
                true => redundant(a, &gone),
                false => Verdict {
                    standing: Standing::Redundant(Category::Identical),
                    witnesses: vec![Witness {
                        message: a,
                        containment: 1.0,
                    }],
                    residue: Vec::new(),
                },
            };
        }
    }
    drop((kept, gone, groups, copies));
    let mut shown = vec![Vec::new(); records.len()];
    for (a, near) in near {
        verdicts[a as usize] = Verdict {
            standing: match near.version_of {
                Some(_) => Standing::Version,
                None => Standing::Unique,
            },
            witnesses: near.version_of.into_iter().collect(),
            residue: near.residue,
        };
        shown[a as usize] = near.shown;
    }
    let residues = residue_texts(&verdicts, shown, &walk, before.as_ref());
    let answers = walk.memo.answers();
    let new = walk.new;
    over.push((Stage::Copies, library.reread()));
    let is_whole = library.is_whole() && aside.is_whole();
    // No text is read any more.
    drop(library);
    let so_far = [Reread::default()]
        .into_iter()
        .chain(over.iter().map(|o| o.1));
    let reread = over
        .iter()
        .zip(so_far)
        .map(|(&(stage, read), before)| (stage, read.since(before)))
        .collect();
    let prints = records.iter().map(|record| record.print).collect();
    let called = match whole {
        Some(whole) => Called::Known(whole.thread_names(&records, &threads)),
        None => Called::after(&records, &threads),
    };
    // Of the records only what the report shows is needed from here on: the rest makes room for the report.
    let left: Vec<Left> = records.into_par_iter().map(Left::of).collect();
    let again = Again::of(collection);
    let message = |onward: &mut Onward<'_>,
                   ((left, verdict), residue): ((Left, Verdict), Vec<String>)| {
        left.into_message(verdict, residue, onward, &again)
    };
    let mut messages: Vec<ScannedMessage> =
        match before.and_then(|before| Some((before, last_scan()?))) {
            None => {
                let all = left.into_par_iter().zip(verdicts).zip(residues);
                all.map_init(|| aside.onward(), message).collect()
            }
            // What is shown of a message is what was shown. There is no room for another list of all of them.
            Some((before, last)) => {
                let all = left.into_iter().zip(verdicts).zip(residues);
                let all = all.zip(before.messages_of(last.messages));
                let mut onward = aside.onward();
                all.map(|(((left, verdict), residue), last)| match last {
                    None => message(&mut onward, ((left, verdict), residue)),
                    Some(last) => ScannedMessage {
                        location: left.into_location(),
                        verdict,
                        residue,
                        thread: None,
                        ..last
                    },
                })
                .collect()
            }
        };
    let names = called.names(&messages);
    for (message, thread) in messages.iter_mut().zip(&threads) {
        message.thread = names.get(thread).cloned();
    }
    // What was read of a file that somebody has written to meanwhile may be of two times.
    let mut changed = collection.changed();
    let is_still = changed.is_empty();
    changed.retain(|one| troubles.iter().all(|other| other.path != one.path));
    troubles.append(&mut changed);
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    let scan = Scan {
        messages,
        troubles,
        reread,
        remembered,
        settled,
    };
    let course = Course {
        order,
        threads,
        new,
        outcomes,
        hopeful: second.hopeful,
        before: second.before,
    };
    Decided {
        scan,
        prints,
        answers,
        course: (is_whole && is_still).then_some(course),
    }
}

/// What the walks came to.
struct Walked {
    kept: Kept,
    gone: Decisions,
    outcomes: Vec<Outcome>,
    second: Second,
    near: Vec<(u32, Nearness)>,
    /// How much had been read when each stage was over.
    over: Vec<(Stage, Reread)>,
}

impl Walked {
    /// Decides what is kept, looks again whether that is needed, and looks for versions. With `before`, only what has changed is asked again.
    fn through(walk: &Walk<'_>, mut before: Option<&mut Before>, progress: &dyn Progress) -> Self {
        let mut over: Vec<(Stage, Reread)> = Vec::new();
        if let Some(before) = &mut before {
            before.begin(walk);
        }
        let First {
            mut kept,
            mut gone,
            outcomes,
        } = walk.decide(before.as_deref_mut(), progress);
        over.push((Stage::Proving, walk.library.reread()));
        let second = walk.decide_again(&mut kept, &mut gone, before.as_deref(), progress);
        over.push((Stage::Combining, walk.library.reread()));
        if let Some(before) = &mut before {
            before.settle(walk, &kept);
        }
        let order = walk.order.iter().copied();
        let stay: Vec<u32> = order.filter(|a| !gone.contains_key(a)).collect();
        progress.begin(Stage::Versions, stay.len() as u64);
        let near = walk.versions(&stay, &kept, before, progress);
        over.push((Stage::Versions, walk.library.reread()));
        Self {
            kept,
            gone,
            outcomes,
            second,
            near,
            over,
        }
    }
}

/// Copies whose text has been compared with the one that stands for them, and is the same.
fn proved_copies(
    groups: &BTreeMap<u32, Vec<u32>>,
    walk: &Walk<'_>,
    before: Option<&Before>,
    progress: &dyn Progress,
) -> HashMap<u32, bool, FixedState> {
    let (library, memo) = (walk.library, &walk.memo);
    let copies = groups.values().map(|members| members.len() as u64).sum();
    progress.begin(Stage::Copies, copies);
    groups
        .par_iter()
        .filter(|(_, members)| !members.is_empty())
        .flat_map_iter(|(&a, members)| {
            // The text is read again only where a copy is written otherwise: in capitals, or wrapped.
            let mut first = None;
            let record = move |m: u32| &library.records[m as usize];
            let shown = move |m: u32| walk.aside.shown(record(m).shown());
            let shown_first = std::cell::OnceCell::new();
            let mut same = move |m: u32| {
                let asked = || {
                    Question::new("same")
                        .of(record(a).print)
                        .of(record(m).print)
                };
                let short = record(a).said.short;
                let compare = || {
                    let first: &Comparable =
                        first.get_or_insert_with(|| library.read(a)).as_ref()?;
                    let other = library.read(m)?;
                    let same_sender = !short || check::same_sender(first, &other);
                    Some(same_sender && check::identical(first, &other))
                };
                let known = before.and_then(|before| before.is_copy(m, a));
                if let Some(known) = known {
                    return known;
                }
                let shown_first = shown_first.get_or_init(|| shown(a));
                let copy = shown_first.as_ref().zip(shown(m));
                copy.is_some_and(|(first, other)| {
                    first.digest == other.digest && (!short || first.from == other.from)
                }) || memo.ask(asked, yes_or_no, write_yes_or_no, compare) == Some(true)
            };
            members.iter().map(move |&m| {
                let same = same(m);
                progress.advance(1, 0);
                (m, same)
            })
        })
        .collect()
}

/// The verdict about a message that shares nothing with others.
fn alone(record: &Record) -> Verdict {
    let standing = if record.unreadable {
        Standing::Unreadable
    } else {
        Standing::Unique
    };
    Verdict {
        standing,
        witnesses: Vec::new(),
        residue: Vec::new(),
    }
}

fn redundant(a: u32, gone: &Decisions) -> Verdict {
    gone.get(&a).map_or_else(
        || Verdict {
            standing: Standing::Unique,
            witnesses: Vec::new(),
            residue: Vec::new(),
        },
        |proven| Verdict {
            standing: Standing::Redundant(proven.category),
            witnesses: proven.witnesses.clone(),
            residue: proven.residue.clone(),
        },
    )
}

/// The words of each residue; those in `known` have been read already.
fn residue_texts(
    verdicts: &[Verdict],
    known: Vec<Vec<String>>,
    walk: &Walk<'_>,
    before: Option<&Before>,
) -> Vec<Vec<String>> {
    verdicts
        .par_iter()
        .zip(known)
        .enumerate()
        .with_max_len(256)
        .map(|(n, (verdict, known))| {
            if verdict.residue.is_empty() || !known.is_empty() {
                return known;
            }
            if let Some(known) = before.and_then(|before| before.residue(n as u32, verdict)) {
                return known;
            }
            let asked = || {
                let question = Question::new("residue").of(walk.records[n].print);
                verdict.residue.iter().fold(question, |question, r| {
                    question
                        .with(r.words.start as usize)
                        .with(r.words.end as usize)
                })
            };
            let read = || {
                let text = walk.library.read(n as u32)?;
                Some(shown_each(&text, &verdict.residue))
            };
            walk.memo
                .ask(
                    asked,
                    |from| from.list(Reader::text),
                    |out, shown: &Vec<String>| texts(out, shown),
                    read,
                )
                .unwrap_or_default()
        })
        .collect()
}
