//! Brings messages back to their folders on a server.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use twicetold_source::Checksum;
use twicetold_source::act::{Deed, Failure, OnServer, Place, ServerChange, Settled, Watch};

use super::Servers;
use super::connections::{Connection, failure};
use super::look::{first_in_target, locate, settable, uncarry};
use super::removing::transfer;
use crate::fault::Fault;
use crate::imap::actions::FlagChange;
use crate::uids::UidSet;

impl Servers<'_> {
    /// Brings back what is out.
    pub(super) fn bring_back(
        &mut self,
        step: &OnServer,
        out: &[usize],
        places: &[Place],
        watch: &dyn Watch,
    ) -> Settled {
        let mut settled = Settled::default();
        let mut left = out.to_vec();
        // A second try is worth it: what is back by then is not brought back twice.
        for attempt in 1..=2 {
            let mut failed = Vec::new();
            let mut told = Vec::new();
            let done = self.accounts.once(&step.account, &mut |connection| {
                failed.clear();
                told.clear();
                bring_back(
                    connection,
                    step,
                    &left,
                    places,
                    watch,
                    &mut failed,
                    &mut told,
                )
            });
            settled.told.append(&mut told);
            let (passing, why) = match done {
                Ok(Ok(())) => {
                    settled.out = failed.iter().map(|(number, _)| *number).collect();
                    settled.failed = failed;
                    settled.places = kept(places, &settled.out);
                    return settled;
                }
                Ok(Err(fault)) => (fault.is_passing(), failure(&step.account, fault)),
                Err(failure) => (false, failure),
            };
            let looked = self.look(step, places);
            if looked.unknown.is_some() {
                return looked;
            }
            settled.told.extend(looked.told);
            left.retain(|number| looked.out.contains(number));
            if !passing || attempt == 2 || left.is_empty() {
                settled.failed = left.iter().map(|&n| (n, why.clone())).collect();
                break;
            }
        }
        settled.places = kept(places, &left);
        settled.out = left;
        settled
    }
}

fn kept(places: &[Place], out: &[usize]) -> Vec<Place> {
    let still = |place: &&Place| out.contains(&place.message);
    places.iter().filter(still).copied().collect()
}

fn bring_back(
    connection: &mut Connection,
    step: &OnServer,
    out: &[usize],
    places: &[Place],
    watch: &dyn Watch,
    failed: &mut Vec<(usize, Failure)>,
    told: &mut Vec<String>,
) -> Result<(), Fault> {
    let uids: UidSet = out.iter().map(|&number| step.changes[number].uid).collect();
    match &step.deed {
        Deed::Move { to, .. } => {
            let lost = move_back(connection, step, out, places, to, watch, told)?;
            put_back(connection, step, &lost, to, watch, failed, told)?;
        }
        Deed::Remove => put_back(connection, step, out, "the trash", watch, failed, told)?,
        Deed::Flag(flag) => {
            connection.select(&step.folder, step.uid_validity)?;
            connection
                .session
                .store_flags(&uids, FlagChange::Remove, &[flag])?;
            watch.reached("marks taken away on the server");
        }
        Deed::Label(label) => {
            connection.select(&step.folder, step.uid_validity)?;
            connection
                .session
                .store_labels(&uids, FlagChange::Remove, &[label])?;
            watch.reached("marks taken away on the server");
        }
    }
    let back: Vec<usize> = out
        .iter()
        .copied()
        .filter(|number| failed.iter().all(|(n, _)| n != number))
        .collect();
    uncarry(connection, step, &back, told)?;
    watch.reached("carried flags taken back on the server");
    Ok(())
}

/// Moves messages back from where they went; those that are not there any more are the value.
fn move_back(
    connection: &mut Connection,
    step: &OnServer,
    out: &[usize],
    places: &[Place],
    to: &str,
    watch: &dyn Watch,
    told: &mut Vec<String>,
) -> Result<Vec<usize>, Fault> {
    let Some(opened) = connection.select_if_there(to)? else {
        return Ok(out.to_vec());
    };
    let mut found: BTreeMap<usize, u32> = places
        .iter()
        .filter(|place| place.uid_validity == opened.uid_validity && out.contains(&place.message))
        .map(|place| (place.message, place.uid))
        .collect();
    let flags = connection
        .session
        .flags_of(&found.values().copied().collect())?;
    found.retain(|_, uid| flags.contains_key(uid));
    let missing: Vec<usize> = out
        .iter()
        .copied()
        .filter(|number| !found.contains_key(number))
        .collect();
    let first = first_in_target(step, opened.uid_validity);
    found.extend(locate(connection, step, &missing, first)?);
    if first.is_some() {
        // A server that tells sizes wrongly may still find it by its Message-ID.
        let missing: Vec<usize> = missing
            .into_iter()
            .filter(|number| !found.contains_key(number))
            .collect();
        found.extend(locate(connection, step, &missing, None)?);
    }
    if found.is_empty() {
        return Ok(out.to_vec());
    }
    let uids: UidSet = found.values().copied().collect();
    let flags = connection.session.flags_of(&uids)?;
    for (&number, &uid) in &found {
        let before = settable(&step.changes[number].flags);
        let now = flags.get(&uid).map(Vec::as_slice).unwrap_or_default();
        if !same(&before, &settable(now)) {
            let one = UidSet::range(uid, uid);
            connection
                .session
                .store_flags(&one, FlagChange::Replace, &before)?;
        }
    }
    watch.reached("flags restored on the server");
    if connection.known(&step.folder)?.is_none() {
        connection.make(&step.folder)?;
        told.push(format!("the folder {} was made again", step.folder));
        connection.select_if_there(to)?;
    }
    let moved = transfer(
        connection,
        to,
        &step.folder,
        &uids,
        watch,
        &mut |connection| {
            let opened = connection.select_if_there(&step.folder)?;
            let same = opened.is_some_and(|opened| opened.uid_validity == step.uid_validity);
            let numbers: Vec<usize> = found.keys().copied().collect();
            let back = locate(connection, step, &numbers, step.uid_next.filter(|_| same))?;
            Ok(back
                .keys()
                .filter_map(|number| found.get(number).copied())
                .collect())
        },
    )?;
    let still = connection.session.uids_among(&uids)?;
    if !still.is_empty() {
        return Err(Fault::Refused {
            asked: format!("move messages back to {}", step.folder),
            said: "it left some of them where they are".to_owned(),
        });
    }
    let new: HashMap<u32, u32> = moved.uids.iter().copied().collect();
    restore_labels(connection, step, &found, &new, told)?;
    Ok(out
        .iter()
        .copied()
        .filter(|number| !found.contains_key(number))
        .collect())
}

/// On Gmail, what goes to the trash loses its labels.
fn restore_labels(
    connection: &mut Connection,
    step: &OnServer,
    found: &BTreeMap<usize, u32>,
    new: &HashMap<u32, u32>,
    told: &mut Vec<String>,
) -> Result<(), Fault> {
    let mut alike: BTreeMap<&[String], UidSet> = BTreeMap::new();
    for (&number, uid) in found {
        let change = &step.changes[number];
        match new.get(uid) {
            _ if change.labels.is_empty() => {}
            Some(&uid) => alike.entry(&change.labels).or_default().insert(uid),
            None => told.push(format!(
                "{}: the server does not tell where it is now, so its labels were not given back",
                change.message.location
            )),
        }
    }
    if alike.is_empty() {
        return Ok(());
    }
    connection.select_if_there(&step.folder)?;
    for (labels, uids) in alike {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        connection
            .session
            .store_labels(&uids, FlagChange::Add, &labels)?;
    }
    Ok(())
}

/// Puts messages back from the copies that were kept beside the journal.
fn put_back(
    connection: &mut Connection,
    step: &OnServer,
    numbers: &[usize],
    lost_in: &str,
    watch: &dyn Watch,
    failed: &mut Vec<(usize, Failure)>,
    told: &mut Vec<String>,
) -> Result<(), Fault> {
    if numbers.is_empty() {
        return Ok(());
    }
    if connection.known(&step.folder)?.is_none() {
        connection.make(&step.folder)?;
        told.push(format!("the folder {} was made again", step.folder));
    }
    let folder = connection.folder(&step.folder)?;
    for &number in numbers {
        let change = &step.changes[number];
        let bytes = match stored(change) {
            Ok(bytes) => bytes,
            Err(why) => {
                failed.push((
                    number,
                    Failure::new(
                        format!("it is no longer in {lost_in}, and the copy beside the journal cannot be used: {why}"),
                        "if you have a backup, it holds it",
                    ),
                ));
                continue;
            }
        };
        if step.deed != Deed::Remove {
            told.push(format!(
                "{} was no longer in {lost_in}; it came back from the copy beside the journal",
                change.message.location
            ));
        }
        let flags = settable(&change.flags);
        let size = bytes.len() as u64;
        let mut put = |flags: &[&str]| {
            connection
                .session
                .append(&folder, flags, change.date, size, &mut &bytes[..])
        };
        match put(&flags) {
            Ok(_) => {}
            // Some servers take no keywords here.
            Err(Fault::Refused { .. }) if flags.iter().any(|flag| !flag.starts_with('\\')) => {
                let own: Vec<&str> = flags.into_iter().filter(|f| f.starts_with('\\')).collect();
                put(&own)?;
                told.push(format!(
                    "{}: the server did not take its keywords back",
                    change.message.location
                ));
            }
            Err(fault) => return Err(fault),
        }
        watch.reached("a message put back on the server");
    }
    Ok(())
}

/// The bytes of a message, from beside the journal; they must be what they were.
fn stored(change: &ServerChange) -> io::Result<Vec<u8>> {
    let copy = change
        .copy
        .as_ref()
        .ok_or_else(|| io::Error::other("none was kept"))?;
    let mut file = File::open(&copy.path)?;
    file.seek(SeekFrom::Start(copy.start))?;
    let mut bytes = Vec::new();
    file.take(change.whole.bytes).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == change.whole.bytes && Checksum::of(&bytes) == change.whole.checksum {
        Ok(bytes)
    } else {
        Err(io::Error::other("it is not what it was"))
    }
}

fn same(a: &[&str], b: &[&str]) -> bool {
    let set = |flags: &[&str]| -> BTreeSet<String> {
        flags.iter().map(|flag| flag.to_lowercase()).collect()
    };
    a.len() == b.len() && set(a) == set(b)
}
