//! The state in one file, crash-safe: what was acknowledged is on disk.
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | `format` | `1` |
//! | `index` | key, campaign | – |
//! | `campaigns` | campaign | version, record |
//! | `reporters` | name | the reporter, as JSON |
//!
//! One thread writes. Whoever commits hands it the changes and waits; all that are waiting go into one
//! transaction, so that many reports share one `fsync`. Readers see snapshots and never wait.
//! A server has [`State::warm`] read the index into memory, which spares it nearly all walks down its tree.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};

use super::memory::Deed;
use super::ready::Ready;
use super::view::{Latest, View};
use super::warm::{Keeper, Warmth};
use super::{
    COMMON, Change, Committed, FORMAT, Owners, Question, Record, State, StateError, Stored, Tally,
    add, decode, encode, proposed,
};
use crate::campaign::CampaignId;
use crate::glance::Glance;
use crate::reputation::Reporter;

const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
pub(super) const INDEX: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("index");
pub(super) const CAMPAIGNS: TableDefinition<'_, u64, (u64, &[u8])> =
    TableDefinition::new("campaigns");
pub(super) const REPORTERS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("reporters");

/// The name of the file in the folder of the state.
const FILE: &str = "spam.redb";
/// Memory for pages read lately. The rest is the operating system's business.
const CACHE: usize = 256 << 20;
/// Whoever reads more records than this at once looks through all of them, and will not soon ask for these again.
const MET: usize = 64;
/// Changes that share a transaction at the most.
const TOGETHER: usize = 256;

/// The state in a file.
#[derive(Debug)]
pub struct Embedded {
    database: Arc<Database>,
    latest: Arc<Latest>,
    ready: Ready,
    place: String,
    writer: Mutex<Option<Sender<Job>>>,
    thread: Option<JoinHandle<()>>,
    warmth: Arc<Warmth>,
    /// Whether [`State::warm`] was called.
    warming: AtomicBool,
}

/// What the writing thread is asked to do, and whom to answer.
struct Job {
    work: Work,
    answer: SyncSender<Result<Committed, StateError>>,
}

enum Work {
    Changes(Vec<Change>),
    Reporter(String, Option<Reporter>),
    /// From now on the index is in memory, if it takes no more than so many bytes.
    Warm(u64),
}

impl Embedded {
    /// Opens the state in a folder, which is made if it is missing. If another process has it open, this
    /// waits for as long as `patience`.
    pub fn open(folder: &Path, patience: Duration) -> Result<Self, StateError> {
        let file = folder.join(FILE);
        let place = file.display().to_string();
        let failed = |error: &dyn std::fmt::Display| StateError::Failed {
            place: place.clone(),
            what: error.to_string(),
        };
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let began = Instant::now();
        let database = loop {
            match Database::builder().set_cache_size(CACHE).create(&file) {
                Ok(database) => break database,
                Err(DatabaseError::DatabaseAlreadyOpen) if began.elapsed() < patience => {
                    thread::sleep(Duration::from_millis(20));
                }
                Err(DatabaseError::DatabaseAlreadyOpen) => {
                    return Err(StateError::InUse { place });
                }
                Err(error) => return Err(failed(&error)),
            }
        };
        Self::with(database, place)
    }

    /// A state that is gone when it is dropped, for trials and tests.
    pub fn in_memory() -> Result<Self, StateError> {
        let place = "memory".to_owned();
        let backend = redb::backends::InMemoryBackend::new();
        let database = Database::builder().create_with_backend(backend);
        let database = database.map_err(|error| StateError::Failed {
            place: place.clone(),
            what: error.to_string(),
        })?;
        Self::with(database, place)
    }

    fn with(database: Database, place: String) -> Result<Self, StateError> {
        let found = prepare(&database).map_err(|error| StateError::Failed {
            place: place.clone(),
            what: error.to_string(),
        })?;
        if found != FORMAT.to_string() {
            return Err(StateError::Format {
                place,
                found,
                reads: FORMAT,
            });
        }
        let latest = Latest::open(&database).map_err(|error| StateError::Failed {
            place: place.clone(),
            what: error.to_string(),
        })?;
        let (database, latest) = (Arc::new(database), Arc::new(latest));
        let (send, receive) = channel();
        let (shared, name) = (Arc::clone(&database), place.clone());
        let view = Arc::clone(&latest);
        let warmth = Arc::new(Warmth::default());
        let warm = Arc::clone(&warmth);
        let thread = thread::Builder::new()
            .name("spam-state".to_owned())
            .spawn(move || write_all(&shared, &view, &warm, &receive, &name))
            .map_err(|error| StateError::Failed {
                place: place.clone(),
                what: error.to_string(),
            })?;
        Ok(Self {
            database,
            latest,
            ready: Ready::default(),
            place,
            writer: Mutex::new(Some(send)),
            thread: Some(thread),
            warmth,
            warming: AtomicBool::new(false),
        })
    }

    /// Gives room in the file back to the operating system. Only for a state nobody else uses meanwhile;
    /// without it room is used again but not given back.
    pub fn compact(mut self) -> Result<(), StateError> {
        self.stop();
        let place = self.place.clone();
        let failed = |what: String| StateError::Failed {
            place: place.clone(),
            what,
        };
        let database = Arc::get_mut(&mut self.database)
            .ok_or_else(|| failed("is being read; try again".to_owned()))?;
        database
            .compact()
            .map(drop)
            .map_err(|error| failed(error.to_string()))
    }

    fn stop(&mut self) {
        let writer = self
            .writer
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        drop(writer.take());
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has answered nobody, and they know.
            let _ = thread.join();
        }
        self.warmth.end();
        self.latest.close();
    }

    fn ask(&self, work: Work) -> Result<Committed, StateError> {
        let gone = || self.failed("the writing thread has ended");
        let (answer, wait) = sync_channel(1);
        {
            let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = writer.as_ref().ok_or_else(gone)?;
            writer.send(Job { work, answer }).map_err(|_| gone())?;
        }
        wait.recv().map_err(|_| gone())?
    }

    fn failed(&self, what: impl std::fmt::Display) -> StateError {
        StateError::Failed {
            place: self.place.clone(),
            what: what.to_string(),
        }
    }

    fn read<T>(&self, what: impl FnOnce(&View) -> Result<T, redb::Error>) -> Result<T, StateError> {
        let view = self.latest.get();
        let view = view.ok_or_else(|| self.failed("has been closed"))?;
        what(&view).map_err(|error| self.failed(error))
    }

    fn damaged(&self, what: impl std::fmt::Display) -> StateError {
        StateError::Damaged {
            place: self.place.clone(),
            what: what.to_string(),
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes the tables if they are missing and returns the format.
fn prepare(database: &Database) -> Result<String, redb::Error> {
    let transaction = database.begin_read()?;
    if let Ok(meta) = transaction.open_table(META)
        && let Some(format) = meta.get("format")?
    {
        return Ok(format.value().to_owned());
    }
    drop(transaction);
    let transaction = database.begin_write()?;
    {
        transaction.open_table(INDEX)?;
        transaction.open_table(CAMPAIGNS)?;
        transaction.open_table(REPORTERS)?;
        let mut meta = transaction.open_table(META)?;
        meta.insert("format", FORMAT.to_string().as_str())?;
    }
    transaction.commit()?;
    Ok(FORMAT.to_string())
}

/// Works until nobody can ask any more.
fn write_all(
    database: &Arc<Database>,
    latest: &Latest,
    warmth: &Arc<Warmth>,
    jobs: &Receiver<Job>,
    place: &str,
) {
    let mut keeper = Keeper::default();
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        while batch.len() < TOGETHER
            && let Ok(next) = jobs.try_recv()
        {
            batch.push(next);
        }
        // Before anybody can see them.
        keeper.note(added(&batch));
        let mut deeds = keeper.is_wanted().then(Vec::new);
        let outcome = write_batch(database, &batch, deeds.as_mut());
        match &outcome {
            Ok(_) => keeper.done(warmth, deeds.unwrap_or_default()),
            Err(_) => keeper.lost(warmth),
        }
        let outcome = outcome.and_then(|answers| latest.renew(database).map(|()| answers));
        for job in &batch {
            if let Work::Warm(bytes) = job.work {
                keeper.begin(bytes);
            }
        }
        keeper.renew(database, warmth);
        for (at, job) in batch.into_iter().enumerate() {
            let answer = match &outcome {
                Ok(answers) => Ok(answers.get(at).copied().unwrap_or(Committed::Conflict)),
                Err(error) => Err(StateError::Failed {
                    place: place.to_owned(),
                    what: error.to_string(),
                }),
            };
            // Whoever asked may have gone.
            let _ = job.answer.send(answer);
        }
    }
}

/// All keys that are about to be added.
fn added(jobs: &[Job]) -> impl Iterator<Item = u64> {
    let changes = jobs.iter().flat_map(|job| match &job.work {
        Work::Changes(changes) => changes.as_slice(),
        _ => &[],
    });
    changes.flat_map(|change| &change.added).copied()
}

/// Makes all changes of a batch, and writes down what that was.
fn write_batch(
    database: &Database,
    jobs: &[Job],
    mut deeds: Option<&mut Vec<Deed>>,
) -> Result<Vec<Committed>, redb::Error> {
    let transaction = database.begin_write()?;
    let mut answers = Vec::with_capacity(jobs.len());
    for job in jobs {
        answers.push(match &job.work {
            Work::Changes(changes) => write_changes(&transaction, changes, deeds.as_deref_mut())?,
            Work::Reporter(name, reporter) => {
                write_reporter(&transaction, name, reporter.as_ref())?;
                Committed::Done
            }
            Work::Warm(_) => Committed::Done,
        });
    }
    // The default durability: when this returns, it is on disk.
    transaction.commit()?;
    Ok(answers)
}

/// Makes all changes or none of them.
fn write_changes(
    transaction: &WriteTransaction,
    changes: &[Change],
    deeds: Option<&mut Vec<Deed>>,
) -> Result<Committed, redb::Error> {
    let mut campaigns = transaction.open_table(CAMPAIGNS)?;
    for change in changes {
        let found = campaigns
            .get(change.id.0)?
            .map_or(0, |found| found.value().0);
        if found != change.expected {
            return Ok(Committed::Conflict);
        }
    }
    let mut index = transaction.open_table(INDEX)?;
    let mut reporters = transaction.open_table(REPORTERS)?;
    // In the order of the file: a large batch then touches each page once.
    let entries = |keys: fn(&Change) -> &[u64]| {
        let mut entries: Vec<(u64, u64)> = changes
            .iter()
            .flat_map(|change| keys(change).iter().map(|&key| (key, change.id.0)))
            .collect();
        entries.sort_unstable();
        entries
    };
    let (mut parted, mut led) = (Vec::new(), Vec::new());
    for (key, id) in entries(|change| &change.removed) {
        if index.remove((key, id))?.is_some() {
            parted.push(Deed::Parted(key, CampaignId(id)));
        }
    }
    for (key, id) in entries(|change| &change.added) {
        if index.insert((key, id), ())?.is_none() {
            led.push(Deed::Led(key, CampaignId(id)));
        }
    }
    if let Some(deeds) = deeds {
        // A key that goes from one campaign to another leads to both for a moment, and never to none.
        deeds.append(&mut led);
        deeds.append(&mut parted);
        let became = |change: &Change| Deed::of(change.id, change.record.as_ref());
        deeds.extend(changes.iter().map(became));
    }
    for change in changes {
        let id = change.id.0;
        match &change.record {
            Some(record) => {
                campaigns.insert(id, (change.expected + 1, encode(record).as_slice()))?;
            }
            None => {
                campaigns.remove(id)?;
            }
        }
        for (name, tally) in &change.tallies {
            tally_up(&mut reporters, name, tally)?;
        }
    }
    Ok(Committed::Done)
}

fn tally_up(
    reporters: &mut redb::Table<'_, &str, &[u8]>,
    name: &str,
    tally: &Tally,
) -> Result<(), redb::Error> {
    let mut reporter: Reporter = reporters
        .get(name)?
        .and_then(|found| serde_json::from_slice(found.value()).ok())
        .unwrap_or_default();
    add(&mut reporter, tally);
    let bytes = serde_json::to_vec(&reporter).unwrap_or_default();
    reporters.insert(name, bytes.as_slice())?;
    Ok(())
}

fn write_reporter(
    transaction: &WriteTransaction,
    name: &str,
    reporter: Option<&Reporter>,
) -> Result<(), redb::Error> {
    let mut reporters = transaction.open_table(REPORTERS)?;
    match reporter {
        Some(reporter) => {
            let bytes = serde_json::to_vec(reporter).unwrap_or_default();
            reporters.insert(name, bytes.as_slice())?;
        }
        None => {
            reporters.remove(name)?;
        }
    }
    Ok(())
}

impl State for Embedded {
    fn owners(&self, keys: &[u64], most: usize) -> Result<Vec<Owners>, StateError> {
        let (mut all, unread) = match self.warmth.owners(keys, most) {
            Some(known) => known,
            None => {
                let filter = self.warmth.filter();
                let may_lead = |&at: &usize| {
                    let key = keys.get(at).copied().unwrap_or_default();
                    !filter.as_ref().is_some_and(|filter| filter.excludes(key))
                };
                let unread = (0..keys.len()).filter(may_lead).collect();
                (vec![Owners::default(); keys.len()], unread)
            }
        };
        if unread.is_empty() {
            return Ok(all);
        }
        self.read(|view| {
            for at in unread {
                let (Some(&key), Some(owners)) = (keys.get(at), all.get_mut(at)) else {
                    continue;
                };
                for entry in view.index.range((key, 0)..=(key, u64::MAX))? {
                    if owners.ids.len() == most {
                        owners.more = true;
                        break;
                    }
                    owners.ids.push(CampaignId(entry?.0.value().1));
                }
            }
            Ok(all)
        })
    }

    fn glances(&self, ids: &[CampaignId]) -> Vec<Option<Glance>> {
        self.warmth.glances(ids)
    }

    fn propose(&self, question: &Question<'_>) -> Result<Vec<CampaignId>, StateError> {
        if let Some(ids) = self.warmth.propose(question) {
            return Ok(ids);
        }
        let owners = self.owners(question.keys(), COMMON)?;
        Ok(proposed(question, &owners, |ids| self.glances(ids)))
    }

    fn records(&self, ids: &[CampaignId]) -> Result<Vec<Option<Stored>>, StateError> {
        let found = self.read(|view| {
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.push(view.campaigns.get(id.0)?.map(|found| {
                    let (version, bytes) = found.value();
                    let record = if ids.len() > MET {
                        decode(bytes)
                    } else {
                        self.ready.record(*id, bytes)
                    };
                    (version, record)
                }));
            }
            Ok(found)
        })?;
        ids.iter()
            .zip(found)
            .map(|(id, found)| match found {
                None => Ok(None),
                Some((version, Some(record))) => Ok(Some(Stored { version, record })),
                Some((_, None)) => Err(self.damaged(format!("campaign {id}"))),
            })
            .collect()
    }

    fn names(&self, after: Option<CampaignId>, most: usize) -> Result<Vec<CampaignId>, StateError> {
        let from = match after {
            None => 0,
            Some(CampaignId(u64::MAX)) => return Ok(Vec::new()),
            Some(CampaignId(id)) => id + 1,
        };
        self.read(|view| {
            let mut names = Vec::new();
            for entry in view.campaigns.range(from..)?.take(most) {
                names.push(CampaignId(entry?.0.value()));
            }
            Ok(names)
        })
    }

    fn each(&self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), StateError> {
        let damaged = self.read(|view| {
            for entry in view.campaigns.iter()? {
                let (id, found) = entry?;
                let Some(record) = decode(found.value().1) else {
                    return Ok(Some(CampaignId(id.value())));
                };
                if !take(record) {
                    break;
                }
            }
            Ok(None)
        })?;
        damaged.map_or(Ok(()), |id| Err(self.damaged(format!("campaign {id}"))))
    }

    fn commit(&self, changes: &[Change]) -> Result<Committed, StateError> {
        if changes.is_empty() {
            return Ok(Committed::Done);
        }
        self.ask(Work::Changes(changes.to_vec()))
    }

    fn reporters(&self, names: &[&str]) -> Result<Vec<Option<Reporter>>, StateError> {
        let found = self.read(|view| {
            let mut found = Vec::with_capacity(names.len());
            for &name in names {
                found.push(
                    view.reporters
                        .get(name)?
                        .map(|found| found.value().to_vec()),
                );
            }
            Ok(found)
        })?;
        names
            .iter()
            .zip(found)
            .map(|(name, found)| {
                found
                    .map(|bytes| {
                        serde_json::from_slice(&bytes)
                            .map_err(|_| self.damaged(format!("reporter {name}")))
                    })
                    .transpose()
            })
            .collect()
    }

    fn all_reporters(&self) -> Result<Vec<(String, Reporter)>, StateError> {
        let found = self.read(|view| {
            let mut found = Vec::new();
            for entry in view.reporters.iter()? {
                let (name, bytes) = entry?;
                found.push((name.value().to_owned(), bytes.value().to_vec()));
            }
            Ok(found)
        })?;
        found
            .into_iter()
            .map(|(name, bytes)| match serde_json::from_slice(&bytes) {
                Ok(reporter) => Ok((name, reporter)),
                Err(_) => Err(self.damaged(format!("reporter {name}"))),
            })
            .collect()
    }

    fn set_reporter(&self, name: &str, reporter: Option<&Reporter>) -> Result<(), StateError> {
        self.ask(Work::Reporter(name.to_owned(), reporter.cloned()))
            .map(drop)
    }

    fn warm(&self, bytes: u64) -> Result<(), StateError> {
        self.warming.store(true, Ordering::Release);
        self.ask(Work::Warm(bytes)).map(drop)
    }

    fn is_warm(&self) -> bool {
        !self.warming.load(Ordering::Acquire) || self.warmth.is_warm()
    }

    fn place(&self) -> &str {
        &self.place
    }
}
