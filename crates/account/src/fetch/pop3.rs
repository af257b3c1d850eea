//! Fetching over POP3: one heap of messages, known by their unique ids.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::SystemTime;

use crate::fault::{Error, Fault};
use crate::local::draft::Draft;
use crate::local::flags::Key;
use crate::local::folder::LocalFolder;
use crate::local::settle;
use crate::pop3::{Listed, Pop3Session};

use super::{FetchReport, FolderReport, Job};

/// The folder here. POP3 shows no other.
const INBOX: &str = "INBOX";
/// How many messages are noted, and removed from the server, at a time.
const PORTION: usize = 200;
/// How many messages are asked for ahead, where the server allows that.
const AHEAD: usize = 16;

pub(crate) fn fetch(job: &Job<'_>) -> Result<FetchReport, Fault> {
    let mut session = Pop3Session::connect(job.profile, job.credentials)?;
    let mut local = LocalFolder::find(job.root, INBOX, None)?;
    let mut told = FolderReport {
        name: INBOX.into(),
        path: local.path.clone(),
        ..FolderReport::default()
    };
    let known: HashSet<String> = local.state.unique_ids.iter().cloned().collect();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut wanted = Vec::new();
    let mut had = Vec::new();
    for listed in session.list()? {
        match key_of(&listed, &mut seen) {
            Some(key) if known.contains(&key) => had.push((listed.number, key)),
            key => wanted.push((listed.number, key)),
        }
    }
    told.missing = wanted.len() as u64;
    let mut report = FetchReport::default();
    if !job.options.dry_run {
        local.prepare()?;
        local.look()?;
        job.progress.expect(told.missing);
        job.progress.folder(INBOX);
        let mut work = Work {
            job,
            session,
            local,
            known,
            told: &mut told,
            problems: &mut report.problems,
        };
        let mut outcome = work.take_in(wanted);
        if outcome.is_ok() && job.options.delete_after_fetch {
            outcome = work.remove_known(had);
        }
        let Work { session, told, .. } = work;
        match outcome {
            // Only now does the server remove what was marked.
            Ok(()) => outcome = session.log_out(),
            Err(_) => told.removed_on_server = 0,
        }
        if let Err(fault) = outcome {
            told.removed_on_server = 0;
            report.failure = Some(Error::new(&job.profile.name, fault));
        }
    }
    report.folders.push(told);
    Ok(report)
}

/// What a message is called here. Two messages with one id are the first and the second of them.
fn key_of(listed: &Listed, seen: &mut HashMap<String, u32>) -> Option<String> {
    let id = listed.unique_id.as_ref()?;
    let count = seen.entry(id.clone()).or_insert(0);
    *count += 1;
    let text = match count {
        1 => format!("id {id}"),
        count => format!("id {count} {id}"),
    };
    Some(digits(blake3::hash(text.as_bytes())))
}

fn digits(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

struct Work<'a> {
    job: &'a Job<'a>,
    session: Pop3Session,
    local: LocalFolder,
    known: HashSet<String>,
    told: &'a mut FolderReport,
    problems: &'a mut Vec<String>,
}

impl Work<'_> {
    fn take_in(&mut self, wanted: Vec<(u32, Option<String>)>) -> Result<(), Fault> {
        let ahead = if self.session.can_pipeline() {
            AHEAD
        } else {
            1
        };
        let mut waiting: VecDeque<(u32, Option<String>)> = wanted.into();
        let mut asked: VecDeque<(u32, Option<String>)> = VecDeque::new();
        let mut portion = Vec::new();
        let mut outcome = Ok(());
        while outcome.is_ok() {
            while asked.len() < ahead && portion.len() + asked.len() < PORTION {
                let Some(next) = waiting.pop_front() else {
                    break;
                };
                outcome = self.session.ask_message(next.0);
                asked.push_back(next);
            }
            let Some((number, key)) = asked.pop_front() else {
                if portion.is_empty() {
                    break;
                }
                self.note(&mut portion)?;
                continue;
            };
            match self.take_one(number, key) {
                Ok(Some(key)) => portion.push((number, key)),
                Ok(None) => {}
                Err(fault) => outcome = Err(fault),
            }
        }
        // Whatever ended it: what has arrived is noted.
        let arrived: Vec<String> = portion.into_iter().map(|(_, key)| key).collect();
        self.settle(arrived)?;
        outcome
    }

    fn take_one(&mut self, number: u32, key: Option<String>) -> Result<Option<String>, Fault> {
        let mut draft = Draft::begin(&self.local.path, key.is_none())?;
        if !self.session.take_message(&mut draft)? {
            self.problems.push(format!(
                "the server did not hand out message {number}; the next fetch asks again"
            ));
            return Ok(None);
        }
        let size = draft.size();
        let key = match (key, draft.checksum()) {
            (Some(key), _) => key,
            (None, Some(checksum)) => digits(checksum),
            (None, None) => return Ok(None),
        };
        self.job.progress.advance(1, size);
        // Without unique ids everything is fetched each time, and what is known is let go.
        if self.known.contains(&key) {
            self.told.again += 1;
            return Ok(Some(key));
        }
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0));
        self.local
            .keep(draft, Key::Pop3(key.clone()), Some(now), "")?;
        self.told.new += 1;
        self.told.bytes += size;
        Ok(Some(key))
    }

    /// Notes what has arrived; then, and not before, it may go from the server.
    fn note(&mut self, portion: &mut Vec<(u32, String)>) -> Result<(), Fault> {
        let portion = std::mem::take(portion);
        self.settle(portion.iter().map(|(_, key)| key.clone()).collect())?;
        if self.job.options.delete_after_fetch {
            for (number, _) in portion {
                self.session.mark_removed(number)?;
                self.told.removed_on_server += 1;
            }
        }
        Ok(())
    }

    fn settle(&mut self, keys: Vec<String>) -> Result<(), Fault> {
        let fresh: Vec<String> = keys
            .into_iter()
            .filter(|key| self.known.insert(key.clone()))
            .collect();
        if fresh.is_empty() {
            return Ok(());
        }
        settle(&self.local.path, &[])?;
        self.local.state.unique_ids.extend(fresh);
        self.local.note()
    }

    /// Messages fetched earlier go as well, if they are still here.
    fn remove_known(&mut self, had: Vec<(u32, String)>) -> Result<(), Fault> {
        for (number, key) in had {
            if self.local.holds(&Key::Pop3(key)) {
                self.session.mark_removed(number)?;
                self.told.removed_on_server += 1;
            }
        }
        Ok(())
    }
}
