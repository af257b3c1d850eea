//! Writes down what may go, so that it can be carried out later.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_model::Standing;
use twicetold_source::{Checksum, Collection, Head, Named, PLAN_VERSION, Plan, Removal, plan_path};

use crate::options::Options;
use crate::order::KeepRule;
use crate::scan::{Scan, ScannedMessage};

/// The plan of a scan: every message that may go, with the messages that hold what it says.
///
/// `folder` is the one in which relative paths begin, and `roots` are the paths that were scanned. A message that can no longer be read,
/// or whose witness cannot, is left out.
pub fn plan(
    collection: &Collection,
    scan: &Scan,
    options: &Options,
    folder: &Path,
    roots: &[PathBuf],
) -> Plan {
    let redundant = |m: &ScannedMessage| matches!(m.verdict.standing, Standing::Redundant(_));
    let mut wanted: BTreeSet<u32> = BTreeSet::new();
    for (number, message) in scan.messages.iter().enumerate() {
        if redundant(message) {
            wanted.insert(number as u32);
            wanted.extend(message.verdict.witnesses.iter().map(|w| w.message));
        }
    }
    let checksums: HashMap<u32, Checksum, FixedState> = wanted
        .into_par_iter()
        .filter_map(|number| {
            let message = scan.messages.get(number as usize)?;
            let raw = collection.read(&message.location).ok()?;
            (raw.bytes.len() as u64 == message.bytes).then(|| (number, Checksum::of_message(&raw)))
        })
        .collect();
    let named = |number: u32| {
        let message = scan.messages.get(number as usize)?;
        Some(Named {
            location: message.location.clone(),
            form: message.form,
            bytes: message.bytes,
            checksum: *checksums.get(&number)?,
            message_id: message.message_id.clone(),
            subject: message.subject.clone(),
            thread: message.thread.as_deref().map(str::to_owned),
            uid_validity: None,
        })
    };
    let removals: Vec<Removal> = scan
        .messages
        .iter()
        .enumerate()
        .filter_map(|(number, message)| {
            let Standing::Redundant(category) = message.verdict.standing else {
                return None;
            };
            let witnesses: Option<Vec<Named>> = message
                .verdict
                .witnesses
                .iter()
                .map(|w| named(w.message))
                .collect();
            Some(Removal {
                message: named(number as u32)?,
                category,
                witnesses: witnesses.filter(|w| !w.is_empty())?,
            })
        })
        .collect();
    Plan {
        head: Head {
            twicetold_plan: PLAN_VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            folder: plan_path(folder),
            roots: roots.iter().map(|root| plan_path(root)).collect(),
            keep: options.keep.iter().flat_map(rule).collect(),
            short: options.short,
            scanned: scan.messages.len() as u64,
            removals: removals.len() as u64,
            bytes: removals.iter().map(|r| r.message.bytes).sum(),
        },
        removals,
        seal: Checksum::of(b""),
    }
}

/// A rule as the user would write it.
fn rule(rule: &KeepRule) -> Vec<String> {
    match rule {
        KeepRule::Oldest => vec!["oldest".to_owned()],
        KeepRule::Newest => vec!["newest".to_owned()],
        KeepRule::Largest => vec!["largest".to_owned()],
        KeepRule::Smallest => vec!["smallest".to_owned()],
        KeepRule::Folders(folders) => folders
            .iter()
            .map(|folder| format!("folder:{}", folder.name))
            .collect(),
    }
}
