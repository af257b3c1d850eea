//! What is to be done in each folder: which messages to fetch; and what can be done without fetching,
//! flags and messages gone.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::fault::Fault;
use crate::imap::folders::{Folder, Opened, Purpose};
use crate::imap::session::Session;
use crate::local::flags::{Key, keywords, letters};
use crate::local::folder::LocalFolder;
use crate::local::labels::{self, Label};
use crate::local::settle;
use crate::uids::UidSet;

use super::{FetchReport, FolderReport, Job};

/// What is left to do.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) folders: Vec<Planned>,
}

/// A folder with messages to fetch.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) folder: Folder,
    pub(crate) local: Mutex<LocalFolder>,
    pub(crate) validity: u32,
    pub(crate) missing: UidSet,
    /// When all of them are here, everything below this UID is.
    pub(crate) complete_to: u32,
    /// The folder's place in the report.
    pub(crate) report: usize,
}

/// Looks at every folder. A folder that the server refuses is a problem; a fault ends it all.
pub(crate) fn plan(
    job: &Job<'_>,
    session: &mut Session,
    folders: &[Folder],
    gmail: bool,
    report: &mut FetchReport,
) -> Result<Plan, Fault> {
    let mut plan = Plan::default();
    let mut known_ids = if gmail && folders.len() > 1 {
        Some(ids_here(job, folders)?)
    } else {
        None
    };
    for folder in folders {
        job.progress.folder(&folder.name);
        let mut told = FolderReport {
            name: folder.name.clone(),
            ..FolderReport::default()
        };
        match look(job, session, folder, &mut known_ids, &mut told) {
            Ok(planned) => {
                if let Some(planned) = planned {
                    job.progress.expect(planned.missing.len());
                    plan.folders.push(Planned {
                        report: report.folders.len(),
                        ..planned
                    });
                }
                report.folders.push(told);
            }
            Err(Fault::Refused { asked, said }) => report
                .problems
                .push(format!("the server refused to {asked}: {said}")),
            Err(Fault::Wish { what, .. }) => report.problems.push(what),
            Err(fault) => {
                report.folders.push(told);
                return Err(fault);
            }
        }
    }
    Ok(plan)
}

fn look(
    job: &Job<'_>,
    session: &mut Session,
    folder: &Folder,
    known_ids: &mut Option<HashSet<u64>>,
    told: &mut FolderReport,
) -> Result<Option<Planned>, Fault> {
    let mut local = LocalFolder::find(job.root, &folder.name, folder.delimiter)?;
    told.path.clone_from(&local.path);
    let purpose = match folder.purpose {
        Some(Purpose::Trash) => Some("trash".to_owned()),
        Some(Purpose::Junk) => Some("junk".to_owned()),
        _ => None,
    };
    let other_purpose = local.state.purpose != purpose;
    local.state.purpose.clone_from(&purpose);
    let idle = !job.options.mirror || local.state.gone.is_empty();
    if idle && is_unchanged(folder, &local) {
        if other_purpose && !job.options.dry_run {
            local.note()?;
        }
        return Ok(None);
    }
    let opened = session.examine(folder)?;
    let dry_run = job.options.dry_run;
    if !dry_run {
        local.prepare()?;
    }
    if local.state.uid_validity != opened.uid_validity {
        // Every UID means another message now, or none.
        let mut fresh = crate::local::state::State::new(&folder.name);
        fresh.uid_validity = opened.uid_validity;
        fresh.purpose = purpose;
        local.state = fresh;
        local.look_again()?;
    }
    let changes = changes(session, &opened, &mut local, dry_run, told)?;
    let newly_gone = changes.gone.without(&local.state.gone);
    told.gone = newly_gone.len();
    if !dry_run {
        if job.options.mirror {
            local.look()?;
            let mut gone = changes.gone;
            gone.extend(&local.state.gone);
            for uid in gone.iter() {
                if local.remove(&Key::Imap(opened.uid_validity, uid))? {
                    told.removed += 1;
                }
            }
            told.gone = 0;
        }
        local.state.gone.extend(&newly_gone);
        if told.changed > 0 {
            settle(&local.path, &[])?;
        }
        local.state.modseq = opened.highest_modseq;
        local.note()?;
    }
    let mut missing = changes.missing;
    told.missing = missing.len();
    if let Some(known) = known_ids
        && !missing.is_empty()
    {
        missing = without_known(session, missing, known)?;
        told.elsewhere = told.missing - missing.len();
        told.missing = missing.len();
    }
    let complete_to = opened.uid_next.unwrap_or_else(|| {
        let last = local.state.have.last().max(missing.last());
        last.map_or(1, |last| last.saturating_add(1))
    });
    if missing.is_empty() && !dry_run {
        local.state.complete_to = complete_to;
        local.note()?;
        if job.options.mirror {
            local.look()?;
            told.removed += local.remove_earlier()?;
        }
    }
    if missing.is_empty() || dry_run {
        return Ok(None);
    }
    // Files of a run that was killed before it could note them are known by their names.
    local.look()?;
    Ok(Some(Planned {
        folder: folder.clone(),
        local: Mutex::new(local),
        validity: opened.uid_validity,
        missing,
        complete_to,
        report: 0,
    }))
}

/// Whether the counts of the server alone show that nothing happened.
fn is_unchanged(folder: &Folder, local: &LocalFolder) -> bool {
    let (counts, state) = (&folder.counts, &local.state);
    let here = state.have.len() - state.gone.len().min(state.have.len());
    counts.uid_validity == Some(state.uid_validity)
        && counts.uid_next == Some(state.complete_to)
        && counts.highest_modseq.is_some()
        && counts.highest_modseq == state.modseq
        && counts.messages.map(u64::from) == Some(here)
}

struct Changes {
    missing: UidSet,
    gone: UidSet,
}

/// Takes over changed flags, and finds out what came and what went.
fn changes(
    session: &mut Session,
    opened: &Opened,
    local: &mut LocalFolder,
    dry_run: bool,
    told: &mut FolderReport,
) -> Result<Changes, Fault> {
    let have = local.state.have.clone();
    let Some(last) = have.last() else {
        let missing = if opened.messages == 0 {
            UidSet::default()
        } else {
            session.uids_from(1)?
        };
        return Ok(Changes {
            missing,
            gone: UidSet::default(),
        });
    };
    // Without a count of changes on the server's side, all flags are asked for.
    let since = opened.highest_modseq.and(local.state.modseq);
    let mut vanished = UidSet::default();
    let quiet = since.is_some() && since == opened.highest_modseq;
    if !quiet {
        local.look()?;
        let validity = opened.uid_validity;
        let known = labels::read(&local.path, validity)?;
        let mut noted = Vec::new();
        let mut changed = 0;
        vanished = session.flags(last, since, &mut |uid, flags| {
            if dry_run || !have.contains(uid) {
                return Ok(());
            }
            let mut different = local.set_letters(&Key::Imap(validity, uid), &letters(flags))?;
            let words = keywords(flags);
            let before = known.get(&uid);
            if before.map_or(&[][..], |label| &label.keywords) != words.as_slice() {
                noted.push(Label {
                    keywords: words,
                    ..before.cloned().unwrap_or(Label {
                        validity,
                        uid,
                        ..Label::default()
                    })
                });
                different = true;
            }
            changed += u64::from(different);
            Ok(())
        })?;
        labels::add(&local.path, &noted)?;
        told.changed = changed;
    }
    if session.is_enabled("QRESYNC") && since.is_some() && local.state.complete_to > 0 {
        // The server told what is gone, and everything below that point was complete.
        let missing = match opened.uid_next {
            Some(next) if next <= local.state.complete_to => UidSet::default(),
            _ => session.uids_from(local.state.complete_to)?,
        };
        let gone = have.common(&vanished);
        let here = have.without(&local.state.gone).without(&gone).len();
        // The numbers agree, unless somebody was at work meanwhile: then all is looked at.
        if here + missing.without(&have).len() == u64::from(opened.messages) {
            return Ok(Changes {
                missing: missing.without(&have),
                gone,
            });
        }
    }
    let on_server = session.uids_from(1)?;
    Ok(Changes {
        missing: on_server.without(&have),
        gone: have.without(&on_server),
    })
}

/// Gmail's numbers of the messages that are here, in any folder.
fn ids_here(job: &Job<'_>, folders: &[Folder]) -> Result<HashSet<u64>, Fault> {
    let mut ids = HashSet::new();
    for folder in folders {
        let local = LocalFolder::find(job.root, &folder.name, folder.delimiter)?;
        let labels = labels::read(&local.path, local.state.uid_validity)?;
        ids.extend(labels.values().filter_map(|label| label.gmail_id));
    }
    Ok(ids)
}

/// The messages whose number is not known yet; from now on, it is.
fn without_known(
    session: &mut Session,
    missing: UidSet,
    known: &mut HashSet<u64>,
) -> Result<UidSet, Fault> {
    let mut found = UidSet::default();
    session.gmail_ids(&missing, &mut |uid, id| {
        if !known.insert(id) {
            found.insert(uid);
        }
    })?;
    Ok(missing.without(&found))
}
