//! Where is each message of a step now? Asked after a cut, a kill, or an answer that does not say it.

use std::collections::{BTreeMap, HashMap, HashSet};

use twicetold_source::Checksum;
use twicetold_source::act::{Deed, OnServer, Place, ServerChange, Settled, Whole};

use super::connections::Connection;
use crate::fault::Fault;
use crate::imap::actions::FlagChange;
use crate::imap::session::MOST_MESSAGE;
use crate::uids::UidSet;

const DELETED: &str = "\\Deleted";

/// Finds out how far a step came, and brings every message of it to all or nothing.
///
/// `places` is where its messages were when that was last known: then undoing was begun, and messages may have come back under other UIDs.
/// A message that is found in both folders stays in the one it comes from.
pub(super) fn look(
    connection: &mut Connection,
    step: &OnServer,
    places: &[Place],
) -> Result<Settled, Fault> {
    let mut settled = Settled::default();
    let opened = connection.select_if_there(&step.folder)?;
    let all: UidSet = step.changes.iter().map(|change| change.uid).collect();
    let flags = match opened {
        Some(opened) if opened.uid_validity == step.uid_validity => {
            connection.session.flags_of(&all)?
        }
        _ => BTreeMap::new(),
    };
    match &step.deed {
        Deed::Flag(flag) => {
            let marked = |change: &ServerChange| {
                let now = flags.get(&change.uid);
                now.is_some_and(|now| has(now, flag)) && !has(&change.flags, flag)
            };
            settled.out = numbers(step, marked);
            return Ok(settled);
        }
        Deed::Label(label) => {
            let labels = if flags.is_empty() {
                BTreeMap::new()
            } else {
                connection.session.labels_of(&all)?
            };
            settled.out = numbers(step, |change| {
                labels
                    .get(&change.uid)
                    .is_some_and(|now| now.contains(label))
            });
            return Ok(settled);
        }
        Deed::Move { .. } | Deed::Remove => {}
    }
    let here = numbers(step, |change| flags.contains_key(&change.uid));
    let missing = numbers(step, |change| !flags.contains_key(&change.uid));
    let was_out = !places.is_empty() || step.deed == Deed::Remove;
    let returned = match step.uid_next {
        Some(first) if opened.is_some() && was_out => {
            locate(connection, step, &missing, Some(first))?
        }
        _ => BTreeMap::new(),
    };
    if let Deed::Move { to, .. } = &step.deed {
        let gone: Vec<usize> = missing
            .iter()
            .copied()
            .filter(|number| !returned.contains_key(number))
            .collect();
        let back: Vec<usize> = here.iter().chain(returned.keys()).copied().collect();
        let there = there(connection, step, to, places, &gone, &back)?;
        for number in gone {
            match there.found.get(&number) {
                Some(&uid) => {
                    settled.out.push(number);
                    settled.places.push(Place {
                        message: number,
                        uid_validity: there.uid_validity,
                        uid,
                    });
                }
                None if places.iter().any(|place| place.message == number) => {
                    // Gone from there as well. That it was there is not forgotten: undoing then puts it back from its copy.
                    settled.out.push(number);
                    let known = places.iter().filter(|place| place.message == number);
                    settled.places.extend(known);
                }
                None => settled.told.push(format!(
                    "{}: another program moved or removed it meanwhile",
                    step.changes[number].message.location
                )),
            }
        }
        settled.told.extend(there.told);
    } else {
        settled.out = missing
            .into_iter()
            .filter(|number| !returned.contains_key(number))
            .collect();
    }
    restore(connection, step, &here, &flags, &returned)?;
    let back: Vec<usize> = (0..step.changes.len())
        .filter(|number| !settled.out.contains(number))
        .collect();
    uncarry(connection, step, &back, &mut settled.told)?;
    Ok(settled)
}

/// What was found in the folder that messages go to.
struct There {
    uid_validity: u32,
    /// The number of the message in the step, and its UID.
    found: BTreeMap<usize, u32>,
    told: Vec<String>,
}

/// Finds messages in the folder they go to; of those that are in their own folder, a second copy is taken away.
fn there(
    connection: &mut Connection,
    step: &OnServer,
    to: &str,
    places: &[Place],
    gone: &[usize],
    back: &[usize],
) -> Result<There, Fault> {
    let mut there = There {
        uid_validity: 0,
        found: BTreeMap::new(),
        told: Vec::new(),
    };
    let Some(opened) = connection.select_if_there(to)? else {
        return Ok(there);
    };
    there.uid_validity = opened.uid_validity;
    let known: BTreeMap<usize, u32> = places
        .iter()
        .filter(|place| place.uid_validity == opened.uid_validity)
        .map(|place| (place.message, place.uid))
        .collect();
    let present = connection
        .session
        .uids_among(&known.values().copied().collect())?;
    let mut taken: HashSet<u32> = HashSet::new();
    for number in gone.iter().chain(back) {
        if let Some(&uid) = known.get(number).filter(|uid| present.contains(**uid)) {
            taken.insert(uid);
            there.found.insert(*number, uid);
        }
    }
    let first = first_in_target(step, opened.uid_validity);
    // Those that are nowhere else come first: what is left over is a second copy.
    let mut wanted: Vec<usize> = gone.to_vec();
    if first.is_some() {
        wanted.extend(back);
    }
    wanted.retain(|number| !there.found.contains_key(number));
    let found = locate_but(connection, step, &wanted, first, taken)?;
    there.found.extend(found);
    let doubled: UidSet = back
        .iter()
        .filter_map(|number| there.found.get(number).copied())
        .collect();
    if !doubled.is_empty() {
        match connection.session.remove_messages(&doubled) {
            Ok(()) => {}
            Err(Fault::Lacks { .. }) => there.told.push(format!(
                "{to} holds a second copy of messages that are back in {}; remove it with your mail program",
                step.folder
            )),
            Err(fault) => return Err(fault),
        }
    }
    Ok(there)
}

/// The first UID that a message of the step can have where it goes, if UIDs mean there what they meant.
pub(super) fn first_in_target(step: &OnServer, uid_validity: u32) -> Option<u32> {
    match &step.deed {
        Deed::Move {
            uid_validity: Some(before),
            uid_next,
            ..
        } => uid_next.filter(|_| *before == uid_validity),
        Deed::Move { made: true, .. } => Some(1),
        _ => None,
    }
}

/// Finds messages of a step in the open folder by their bytes; each UID is given to one message only.
///
/// With a first UID, only messages from there on count, found by their size; without one, the server searches by Message-ID.
pub(super) fn locate(
    connection: &mut Connection,
    step: &OnServer,
    wanted: &[usize],
    first: Option<u32>,
) -> Result<BTreeMap<usize, u32>, Fault> {
    locate_but(connection, step, wanted, first, HashSet::new())
}

fn locate_but(
    connection: &mut Connection,
    step: &OnServer,
    wanted: &[usize],
    first: Option<u32>,
    mut taken: HashSet<u32>,
) -> Result<BTreeMap<usize, u32>, Fault> {
    let mut found = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let session = &mut connection.session;
    let mut candidates = UidSet::default();
    match first {
        Some(first) => {
            let sizes: HashSet<u64> = wanted
                .iter()
                .map(|&number| step.changes[number].whole.bytes)
                .collect();
            for (uid, size) in session.sizes_from(first)? {
                if sizes.contains(&size) {
                    candidates.insert(uid);
                }
            }
        }
        None => {
            let mut ids: Vec<&str> = wanted
                .iter()
                .filter_map(|&number| step.changes[number].message_id.as_deref())
                .collect();
            ids.sort_unstable();
            ids.dedup();
            for id in ids {
                candidates.extend(&session.with_message_id(id)?);
            }
        }
    }
    let mut by_content: HashMap<Checksum, Vec<u32>> = HashMap::new();
    // Not all at once: a folder may hold many large ones of the same size.
    for part in candidates.parts(32) {
        session.read_messages(&part, MOST_MESSAGE, &mut |message| {
            let checksum = Checksum::of(&message.bytes);
            by_content.entry(checksum).or_default().push(message.uid);
        })?;
    }
    for &number in wanted {
        let Whole { checksum, .. } = step.changes[number].whole;
        let free = by_content
            .get(&checksum)
            .and_then(|uids| uids.iter().find(|uid| !taken.contains(uid)));
        if let Some(&uid) = free {
            taken.insert(uid);
            found.insert(number, uid);
        }
    }
    Ok(found)
}

/// Gives messages that are in their folder the flags they had.
fn restore(
    connection: &mut Connection,
    step: &OnServer,
    here: &[usize],
    flags: &BTreeMap<u32, Vec<String>>,
    returned: &BTreeMap<usize, u32>,
) -> Result<(), Fault> {
    // What is left of marking and expunging; whatever else changed was done by the user.
    let marked: UidSet = here
        .iter()
        .map(|&number| &step.changes[number])
        .filter(|change| {
            let now = flags.get(&change.uid);
            now.is_some_and(|now| has(now, DELETED)) && !has(&change.flags, DELETED)
        })
        .map(|change| change.uid)
        .collect();
    if marked.is_empty() && returned.is_empty() {
        return Ok(());
    }
    if connection.select_if_there(&step.folder)?.is_none() {
        return Ok(());
    }
    let session = &mut connection.session;
    if !marked.is_empty() {
        session.store_flags(&marked, FlagChange::Remove, &[DELETED])?;
    }
    for (&number, &uid) in returned {
        let kept = settable(&step.changes[number].flags);
        session.store_flags(&UidSet::range(uid, uid), FlagChange::Replace, &kept)?;
    }
    Ok(())
}

/// Messages of a folder, and the flags that each of them gets or loses.
type Flagged<'s> = Vec<(u32, &'s [String])>;

/// What messages that stay get because of these messages of a step, by folder and UIDVALIDITY.
pub(super) fn carries<'s>(
    step: &'s OnServer,
    numbers: &[usize],
) -> BTreeMap<(&'s str, u32), Flagged<'s>> {
    let mut folders: BTreeMap<(&str, u32), Flagged<'_>> = BTreeMap::new();
    for carry in numbers
        .iter()
        .filter_map(|&number| step.changes[number].carry.as_ref())
    {
        folders
            .entry((&carry.folder, carry.uid_validity))
            .or_default()
            .push((carry.uid, &carry.flags));
    }
    folders
}

/// Takes back the flags that messages which stay got from messages that did not go after all.
pub(super) fn uncarry(
    connection: &mut Connection,
    step: &OnServer,
    back: &[usize],
    told: &mut Vec<String>,
) -> Result<(), Fault> {
    for ((folder, uid_validity), carried) in carries(step, back) {
        let opened = connection.select_if_there(folder)?;
        if opened.is_none_or(|opened| opened.uid_validity != uid_validity) {
            told.push(format!(
                "flags that messages in {folder} got stay: it is not the folder it was"
            ));
            continue;
        }
        store_each(connection, FlagChange::Remove, &carried)?;
    }
    Ok(())
}

/// Changes flags of messages in the open folder, those with the same flags together.
pub(super) fn store_each(
    connection: &mut Connection,
    change: FlagChange,
    wanted: &[(u32, &[String])],
) -> Result<(), Fault> {
    let mut alike: BTreeMap<&[String], UidSet> = BTreeMap::new();
    for (uid, flags) in wanted {
        alike.entry(flags).or_default().insert(*uid);
    }
    for (flags, uids) in alike {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        connection.session.store_flags(&uids, change, &flags)?;
    }
    Ok(())
}

/// The flags that a client can set.
pub(super) fn settable(flags: &[String]) -> Vec<&str> {
    flags
        .iter()
        .map(String::as_str)
        .filter(|flag| !flag.eq_ignore_ascii_case("\\Recent"))
        .collect()
}

/// Whether a flag is among others; servers differ in how they write them.
pub(super) fn has(flags: &[String], flag: &str) -> bool {
    flags.iter().any(|known| known.eq_ignore_ascii_case(flag))
}

fn numbers(step: &OnServer, fits: impl Fn(&ServerChange) -> bool) -> Vec<usize> {
    step.changes
        .iter()
        .enumerate()
        .filter(|(_, change)| fits(change))
        .map(|(number, _)| number)
        .collect()
}
