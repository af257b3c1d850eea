//! How far did a change of files come that was interrupted?

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::super::Settled;
use super::super::disk::{Stamp, is_there, remove_if_there, rename_new, sync_folder, whole};
use super::super::step::{Change, Files, Move};
use super::find_renamed;
use super::moving::{folders_of, unmake};

/// How far a move came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    Before,
    /// Both names are there.
    Between,
    After,
    /// Neither is.
    Nowhere,
}

pub(super) fn reached(one: &Move) -> Reached {
    match one {
        Move::Rename {
            from,
            to,
            whole: expected,
            ..
        } => match (is_there(from), is_there(to)) {
            (true, false) => Reached::Before,
            (false, true) => Reached::After,
            (true, true) => {
                let same = |path: &Path| whole(path).is_ok_and(|found| found == *expected);
                match (same(from), same(to)) {
                    (true, true) => Reached::Between,
                    (false, true) => Reached::After,
                    _ => Reached::Before,
                }
            }
            (false, false) => {
                let mut names = HashMap::new();
                if find_renamed(from, &mut names).is_some() {
                    Reached::Before
                } else if find_renamed(to, &mut names).is_some() {
                    Reached::After
                } else {
                    Reached::Nowhere
                }
            }
        },
        Move::Link { path, survivor, .. } => {
            let both = fs::metadata(&**path).and_then(|a| Ok((a, fs::metadata(&**survivor)?)));
            match both {
                Ok((a, b)) if Stamp::of(&a).same_file(&b) => Reached::After,
                _ => Reached::Before,
            }
        }
    }
}

/// Brings every message of a step that was interrupted to all or nothing.
pub(super) fn settle(files: &Files) -> Settled {
    let mut settled = Settled::default();
    for (number, change) in files.changes.iter().enumerate() {
        if settle_change(change, &mut settled.told) {
            settled.out.push(number);
        }
    }
    if settled.out.is_empty() {
        unmake(&files.made);
    }
    settled
}

/// Whether the message is out after all; if not, it and the one that stays are as they were.
pub(super) fn settle_change(change: &Change, told: &mut Vec<String>) -> bool {
    for one in &change.moves {
        let draft = match one {
            Move::Rename { draft, .. } => draft.as_ref(),
            Move::Link { draft, .. } => Some(draft),
        };
        if let Some(draft) = draft {
            let _ = remove_if_there(draft);
        }
    }
    let Some(last) = change.moves.last() else {
        return false;
    };
    match reached(last) {
        Reached::After => return true,
        Reached::Nowhere => {
            told.push(format!(
                "{}: another program moved or removed it meanwhile",
                change.message.location
            ));
            return false;
        }
        Reached::Before | Reached::Between => {}
    }
    for one in change.moves.iter().rev() {
        let done = match (reached(one), one) {
            (Reached::Between, Move::Rename { to, .. }) => fs::remove_file(&**to),
            (Reached::After, Move::Rename { from, to, .. }) if is_there(to) => rename_new(to, from),
            _ => Ok(()),
        };
        if let Err(error) = done {
            told.push(format!("{}: {error}", change.message.location));
        }
        folders_of(one).iter().for_each(|folder| {
            let _ = sync_folder(folder);
        });
    }
    false
}
