//! Messages that are files, brought back.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::disk::{
    Whole, copy_new, create_like, folder_of, is_there, remove_if_there, rename_new, set_modified,
    sync_folder, whole,
};
use super::super::step::{Change, Files, Move};
use super::super::{Failure, Settled, Watch};
use super::files::draft_of;
use super::find_renamed;
use super::how_far::{Reached, reached};
use super::moving::{changing, folders_of, unmake};
use super::place::free_name;

/// Brings messages back, the last one first.
pub(super) fn take_back(files: &Files, out: &[usize], watch: &dyn Watch) -> Settled {
    let mut settled = Settled::default();
    for &number in out.iter().rev() {
        let Some(change) = files.changes.get(number) else {
            continue;
        };
        match take_back_change(change, &mut settled.told, watch) {
            Ok(()) => {}
            Err(failure) => {
                settled.out.push(number);
                settled.failed.push((number, failure));
            }
        }
    }
    settled.out.reverse();
    if settled.out.is_empty() {
        unmake(&files.made);
    }
    settled
}

fn take_back_change(
    change: &Change,
    told: &mut Vec<String>,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    for (rank, one) in change.moves.iter().rev().enumerate() {
        let done = match one {
            Move::Rename {
                from,
                to,
                whole,
                draft,
            } => rename_back(from, to, *whole, draft.is_some(), told),
            Move::Link { .. } => unlink(one, told),
        };
        match done {
            Ok(()) => {}
            Err(failure) if rank == 0 => return Err(failure),
            // The message is back. What the one that stays was called is a matter of flags.
            Err(failure) => told.push(format!("flags stay as they are: {}", failure.what)),
        }
        watch.reached("a file moved back");
        folders_of(one).iter().for_each(|folder| {
            let _ = sync_folder(folder);
        });
    }
    Ok(())
}

fn rename_back(
    from: &Path,
    to: &Path,
    expected: Whole,
    copied: bool,
    told: &mut Vec<String>,
) -> Result<(), Failure> {
    let now = if is_there(to) {
        to.to_path_buf()
    } else {
        let found = find_renamed(to, &mut HashMap::new()).filter(|_| to != from);
        found.ok_or_else(|| {
            Failure::new(
                format!("{} is no longer there", to.display()),
                "another program removed it; if you have a backup, it holds it",
            )
        })?
    };
    let content = whole(&now).map_err(|error| changing(&now, &error))?;
    if content != expected {
        told.push(format!(
            "{} was changed since; it is brought back as it is now",
            now.display()
        ));
    }
    let folder = folder_of(from);
    if !folder.is_dir() {
        fs::create_dir_all(folder).map_err(|error| changing(folder, &error))?;
        told.push(format!("the folder {} was made again", folder.display()));
    }
    let home = free_name(from, &std::collections::HashSet::new());
    if home != from {
        told.push(format!(
            "{} is taken by another file; the message is {} now",
            from.display(),
            home.display()
        ));
    }
    let done = if copied {
        copy_new(&now, &home, &draft_of(&home)).and_then(|()| fs::remove_file(&now))
    } else {
        rename_new(&now, &home)
    };
    done.map_err(|error| changing(&now, &error))
}

/// Makes a file of its own again from a second name of another one.
fn unlink(one: &Move, told: &mut Vec<String>) -> Result<(), Failure> {
    let Move::Link {
        path,
        draft,
        whole: expected,
        modified,
        mode,
        ..
    } = one
    else {
        return Ok(());
    };
    if reached(one) != Reached::After {
        told.push(format!("{} is a file of its own already", path.display()));
        return Ok(());
    }
    let copy = || -> io::Result<()> {
        remove_if_there(draft)?;
        let mut from = fs::File::open(&**path)?;
        let mut to = create_like(draft, &from.metadata()?)?;
        io::copy(&mut from, &mut to)?;
        to.set_permissions(fs::Permissions::from_mode(*mode))?;
        set_modified(&to, *modified)?;
        to.sync_all()?;
        if whole(draft)? != *expected {
            remove_if_there(draft)?;
            return Err(io::Error::other("it was changed since"));
        }
        fs::rename(&**draft, &**path)
    };
    copy().map_err(|error| changing(path, &error))
}
