//! Carries out a step on a server.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use twicetold_source::act::{Deed, Failure, OnServer, Place, Settled, Watch};

use super::connections::{Connection, failure};
use super::look::{carries, first_in_target, has, locate, store_each};
use super::{Address, Servers};
use crate::fault::Fault;
use crate::imap::actions::{FlagChange, Moved};
use crate::local::create_private_folder;
use crate::uids::UidSet;

/// How often a step is taken up again after the connection was cut in the middle of it.
const TRIES: usize = 3;

impl Servers<'_> {
    /// Carries out a step. After a cut it is looked how far it came, and the rest is taken up again.
    pub(super) fn remove(&mut self, step: &OnServer, watch: &dyn Watch) -> Settled {
        let mut settled = self.remove_kept(step, watch);
        if settled.out.is_empty() && settled.unknown.is_none() {
            drop_copies(step);
        }
        settled.out.sort_unstable();
        settled
    }

    fn remove_kept(&mut self, step: &OnServer, watch: &dyn Watch) -> Settled {
        let mut settled = Settled::default();
        if let Err((path, error)) = self.keep_copies(step) {
            let failure = Failure::new(
                format!("{} cannot be written: {error}", path.display()),
                "make room on the disk or name another folder with --state, then start again; nothing was changed on the server",
            );
            settled.failed = (0..step.changes.len())
                .map(|number| (number, failure.clone()))
                .collect();
            return settled;
        }
        watch.reached("copies kept beside the journal");
        let mut left: Vec<usize> = (0..step.changes.len()).collect();
        for attempt in 1..=TRIES {
            let done = self.accounts.once(&step.account, &mut |connection| {
                carry_out(connection, step, &left, watch)
            });
            let why = match done {
                Ok(Ok(done)) => {
                    settled.out.extend(done.out);
                    settled.places.extend(done.places);
                    settled.failed.extend(done.failed);
                    settled.told.extend(done.told);
                    break;
                }
                Ok(Err(fault)) => {
                    let passing = fault.is_passing();
                    (passing, failure(&step.account, fault))
                }
                Err(failure) => (false, failure),
            };
            let (passing, why) = why;
            let looked = self.look(step, &[]);
            if looked.unknown.is_some() {
                return looked;
            }
            // What had gone before counts as well: all of it was looked for.
            settled.out = looked.out;
            settled.places = looked.places;
            settled.told.extend(looked.told);
            left.retain(|number| !settled.out.contains(number));
            if passing {
                settled.told.push(format!(
                    "{}; {} of the {} messages of {} that were being dealt with had gone",
                    why.what,
                    settled.out.len(),
                    step.changes.len(),
                    step.folder
                ));
            }
            if !passing || attempt == TRIES || left.is_empty() {
                let rest = left.iter().map(|&number| (number, why.clone()));
                settled.failed.extend(rest);
                break;
            }
        }
        settled
    }

    /// Keeps the bytes of what goes on this machine; they are on disk when this returns.
    fn keep_copies<'s>(&self, step: &'s OnServer) -> Result<(), (&'s Path, io::Error)> {
        let Some(path) = copies_of(step) else {
            return Ok(());
        };
        let failed = |error| (path, error);
        let folder = path.parent().unwrap_or(Path::new("."));
        create_private_folder(folder).map_err(failed)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        for change in &step.changes {
            let address = Address {
                account: step.account.clone(),
                folder: step.folder.clone(),
                uid_validity: step.uid_validity,
                uid: change.uid,
            };
            let held = self.held.get(&address);
            let held = held.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
            file.write_all(&held.bytes).map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        for folder in folder.ancestors().take(2) {
            fs::File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(failed)?;
        }
        Ok(())
    }
}

/// The file with the copies of a step.
fn copies_of(step: &OnServer) -> Option<&Path> {
    let mut changes = step.changes.iter();
    changes.find_map(|change| Some(&*change.copy.as_ref()?.path))
}

/// Copies of messages that did not go are of no use.
fn drop_copies(step: &OnServer) {
    if let Some(path) = copies_of(step) {
        let _ = fs::remove_file(path);
    }
}

/// What was done with some messages of a step.
#[derive(Default)]
struct Done {
    out: Vec<usize>,
    places: Vec<Place>,
    failed: Vec<(usize, Failure)>,
    told: Vec<String>,
}

fn carry_out(
    connection: &mut Connection,
    step: &OnServer,
    left: &[usize],
    watch: &dyn Watch,
) -> Result<Done, Fault> {
    if let Deed::Move { to, made: true, .. } = &step.deed
        && connection.known(to)?.is_none()
    {
        connection.make(to)?;
        watch.reached("a folder made on the server");
    }
    let mut done = Done::default();
    give_flags(connection, step, left, &mut done.told)?;
    watch.reached("flags carried on the server");
    connection.select(&step.folder, step.uid_validity)?;
    let uids: UidSet = left
        .iter()
        .map(|&number| step.changes[number].uid)
        .collect();
    match &step.deed {
        Deed::Move { to, .. } => move_all(connection, step, left, &uids, to, watch, &mut done)?,
        Deed::Remove => {
            let session = &mut connection.session;
            session.store_flags(&uids, FlagChange::Add, &["\\Deleted"])?;
            watch.reached("messages marked on the server");
            session.expunge(&uids)?;
            watch.reached("messages removed on the server");
            let still = session.uids_among(&uids)?;
            session.store_flags(&still, FlagChange::Remove, &["\\Deleted"])?;
            divide(step, left, &mut done, |uid| !still.contains(uid));
        }
        Deed::Flag(flag) => {
            let session = &mut connection.session;
            session.store_flags(&uids, FlagChange::Add, &[flag])?;
            watch.reached("messages marked on the server");
            let now = session.flags_of(&uids)?;
            divide(step, left, &mut done, |uid| {
                now.get(&uid).is_some_and(|now| has(now, flag))
            });
        }
        Deed::Label(label) => {
            let session = &mut connection.session;
            session.store_labels(&uids, FlagChange::Add, &[label])?;
            watch.reached("messages marked on the server");
            let now = session.labels_of(&uids)?;
            divide(step, left, &mut done, |uid| {
                now.get(&uid).is_some_and(|now| now.contains(label))
            });
        }
    }
    Ok(done)
}

/// Sorts messages into those that are out and those that the server left.
fn divide(step: &OnServer, left: &[usize], done: &mut Done, is_out: impl Fn(u32) -> bool) {
    for &number in left {
        if is_out(step.changes[number].uid) {
            done.out.push(number);
        } else {
            done.failed.push((number, unchanged(&step.account)));
        }
    }
}

fn unchanged(account: &str) -> Failure {
    Failure::new(
        format!("account {account}: the server left it as it was"),
        "perhaps you may not change that folder; try it with your mail program",
    )
}

/// Gives the flags of messages that go to those that stay.
fn give_flags(
    connection: &mut Connection,
    step: &OnServer,
    left: &[usize],
    told: &mut Vec<String>,
) -> Result<(), Fault> {
    for ((folder, uid_validity), wanted) in carries(step, left) {
        let given = connection
            .select(folder, uid_validity)
            .and_then(|_| store_each(connection, FlagChange::Add, &wanted));
        match given {
            Ok(()) => {}
            Err(fault @ (Fault::Refused { .. } | Fault::Wish { .. })) => told.push(format!(
                "flags were not carried over to messages in {folder}: {fault}"
            )),
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

fn move_all(
    connection: &mut Connection,
    step: &OnServer,
    left: &[usize],
    uids: &UidSet,
    to: &str,
    watch: &dyn Watch,
    done: &mut Done,
) -> Result<(), Fault> {
    let moved = transfer(
        connection,
        &step.folder,
        to,
        uids,
        watch,
        &mut |connection| {
            // The server does not tell where copies are: only what is found again may go.
            let opened = connection.select_if_there(to)?;
            let first = opened.and_then(|opened| first_in_target(step, opened.uid_validity));
            let found = locate(connection, step, left, first)?;
            Ok(found
                .keys()
                .map(|&number| step.changes[number].uid)
                .collect())
        },
    )?;
    let still = connection.session.uids_among(uids)?;
    let new: HashMap<u32, u32> = moved.uids.iter().copied().collect();
    let mut unknown = Vec::new();
    for &number in left {
        let uid = step.changes[number].uid;
        match (still.contains(uid), new.get(&uid), moved.uid_validity) {
            (true, _, _) => done.failed.push((number, unchanged(&step.account))),
            (false, Some(&uid), Some(uid_validity)) => {
                done.out.push(number);
                done.places.push(Place {
                    message: number,
                    uid_validity,
                    uid,
                });
            }
            (false, _, _) => unknown.push(number),
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let opened = connection.select_if_there(to)?;
    let uid_validity = opened.map_or(0, |opened| opened.uid_validity);
    let first = first_in_target(step, uid_validity);
    let found = match opened {
        Some(_) => locate(connection, step, &unknown, first)?,
        None => BTreeMap::new(),
    };
    for number in unknown {
        match found.get(&number) {
            Some(&uid) => {
                done.out.push(number);
                done.places.push(Place {
                    message: number,
                    uid_validity,
                    uid,
                });
            }
            None => done.failed.push((
                number,
                Failure::new(
                    "another program moved or removed it meanwhile",
                    "scan again for a new plan",
                ),
            )),
        }
    }
    Ok(())
}

/// Moves messages of the open folder by one command, or copies, marks and expunges them by UID; the folder is open afterwards.
///
/// `found` tells which of them are in the target, where the server does not say it.
pub(super) fn transfer(
    connection: &mut Connection,
    from: &str,
    to: &str,
    uids: &UidSet,
    watch: &dyn Watch,
    found: &mut dyn FnMut(&mut Connection) -> Result<UidSet, Fault>,
) -> Result<Moved, Fault> {
    let target = connection.folder(to)?;
    if connection.session.has("MOVE") || connection.session.has("IMAP4REV2") {
        let moved = connection.session.move_messages(uids, &target)?;
        watch.reached("messages moved on the server");
        return Ok(moved);
    }
    let copied = connection.session.copy_messages(uids, &target)?;
    watch.reached("messages copied on the server");
    let sources = match copied.uid_validity {
        Some(_) => copied.uids.iter().map(|&(from, _)| from).collect(),
        None => {
            let sources = found(connection)?;
            connection.select_if_there(from)?;
            sources
        }
    };
    let sources = uids.common(&sources);
    let session = &mut connection.session;
    session.store_flags(&sources, FlagChange::Add, &["\\Deleted"])?;
    watch.reached("messages marked on the server");
    session.expunge(&sources)?;
    watch.reached("messages removed on the server");
    Ok(copied)
}
