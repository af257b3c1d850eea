//! Reading a snapshot of the file into memory, on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use redb::ReadTransaction;

use super::decode;
use super::embedded::{CAMPAIGNS, INDEX};
use super::memory::{AT_ONCE, Deed, Memory};
use super::postings::Load;
use crate::campaign::CampaignId;

/// Threads that read: more than there may be processors, because a file that is not in the system's memory is waited for.
const THREADS: usize = 4;
/// Stretches of the file that threads take in turn.
const STRETCHES: usize = 256;

/// Reads a snapshot into an empty memory, until `unwanted` says so.
pub(super) fn read(
    memory: &mut Memory,
    snapshot: &ReadTransaction,
    unwanted: &(impl Fn() -> bool + Sync),
) -> Result<(), redb::Error> {
    campaigns(memory, snapshot, unwanted)?;
    keys(memory, snapshot, unwanted)
}

/// Numbers of which a stretch consists.
fn stretch(at: usize) -> (u64, u64) {
    let width = u64::MAX / STRETCHES as u64 + 1;
    let first = at as u64 * width;
    (first, first + (width - 1))
}

/// Has threads work on all stretches; the first mistake ends it.
fn share_out(work: impl Fn(usize) -> Result<(), redb::Error> + Sync) -> Result<(), redb::Error> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let each = || {
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= STRETCHES {
                break;
            }
            work(at).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let begin = || {
            let name = "spam-reading".to_owned();
            thread::Builder::new().name(name).spawn_scoped(scope, each)
        };
        // One that cannot be begun leaves its work to the others.
        let threads: Vec<_> = (1..THREADS).filter_map(|_| begin().ok()).collect();
        let own = each();
        threads.into_iter().fold(own, |all, thread| {
            // A thread does not panic; if it did, this one does.
            let its = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.and(its)
        })
    })
}

/// Gives every campaign a number, and notes what a glance at it tells.
fn campaigns(
    memory: &mut Memory,
    snapshot: &ReadTransaction,
    unwanted: &(impl Fn() -> bool + Sync),
) -> Result<(), redb::Error> {
    let memory = Mutex::new(memory);
    let note = |deeds: &mut Vec<Deed>| {
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        deeds.drain(..).for_each(|deed| memory.apply(&deed));
    };
    share_out(|at| {
        let (first, last) = stretch(at);
        let mut deeds = Vec::with_capacity(AT_ONCE);
        for entry in snapshot.open_table(CAMPAIGNS)?.range(first..=last)? {
            let (id, found) = entry?;
            // One that is damaged is read when it is asked for, and said to be.
            let record = decode(found.value().1);
            let id = CampaignId(id.value());
            deeds.push(match record {
                Some(record) => Deed::of(id, Some(&record)),
                None => Deed::Became(id, None),
            });
            if deeds.len() == AT_ONCE {
                note(&mut deeds);
                if unwanted() {
                    return Ok(());
                }
            }
        }
        note(&mut deeds);
        Ok(())
    })
}

/// Notes where all keys lead.
fn keys(
    memory: &mut Memory,
    snapshot: &ReadTransaction,
    unwanted: &(impl Fn() -> bool + Sync),
) -> Result<(), redb::Error> {
    let (campaigns, filling) = (&memory.campaigns, memory.postings.filling());
    // Campaigns that have keys and no record: there are none in a file that was written by this program.
    let strays = Mutex::new(Vec::new());
    let add = |load: &mut Load, keys: &mut Vec<u64>, ids: &mut Vec<u64>| {
        let numbers = campaigns.numbers(ids);
        for ((&key, &id), number) in keys.iter().zip(ids.iter()).zip(numbers) {
            if let Some(number) = number {
                filling.add(load, key, number);
            } else {
                let mut strays = strays.lock().unwrap_or_else(PoisonError::into_inner);
                strays.push(Deed::Led(key, CampaignId(id)));
            }
        }
        keys.clear();
        ids.clear();
    };
    share_out(|at| {
        let (first, last) = stretch(at);
        let (mut keys, mut ids) = (Vec::with_capacity(AT_ONCE), Vec::with_capacity(AT_ONCE));
        let mut load = Load::default();
        for entry in snapshot
            .open_table(INDEX)?
            .range((first, 0)..=(last, u64::MAX))?
        {
            let (key, id) = entry?.0.value();
            keys.push(key);
            ids.push(id);
            if keys.len() == AT_ONCE {
                add(&mut load, &mut keys, &mut ids);
                if unwanted() {
                    return Ok(());
                }
            }
        }
        add(&mut load, &mut keys, &mut ids);
        filling.finish(&mut load);
        Ok(())
    })?;
    drop(filling);
    let strays = strays.into_inner().unwrap_or_else(PoisonError::into_inner);
    strays.iter().for_each(|deed| memory.apply(deed));
    Ok(())
}
