//! Messages that are files, moved by renaming, marked by renaming, made one by linking.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::super::disk::{
    Stamp, copy_new, folder_of, remove_if_there, rename_new, sync_folder, whole,
};
use super::super::step::{Change, Files, Made, Move};
use super::super::{Failure, Settled, Watch};
use super::Local;
use super::how_far::settle_change;

impl Local<'_> {
    /// Carries out what was prepared; what fails for a message is taken back for it.
    pub(super) fn carry_out_files(&mut self, files: &Files, watch: &dyn Watch) -> Settled {
        let mut settled = Settled::default();
        if let Err((path, error)) = make(&files.made) {
            let failure = changing(&path, &error);
            settled.failed = (0..files.changes.len())
                .map(|number| (number, failure.clone()))
                .collect();
            unmake(&files.made);
            return settled;
        }
        watch.reached("trash folders made");
        let mut folders = BTreeSet::new();
        for (number, change) in files.changes.iter().enumerate() {
            match self.carry_out_change(change, watch) {
                Ok(()) => {
                    settled.out.push(number);
                    folders.extend(change.moves.iter().flat_map(folders_of));
                }
                Err(failure) => {
                    settle_change(change, &mut settled.told);
                    settled.failed.push((number, failure));
                }
            }
        }
        for folder in folders {
            // A file system that cannot do this cannot do it for anybody.
            let _ = sync_folder(&folder);
        }
        if settled.out.is_empty() {
            unmake(&files.made);
        }
        settled
    }

    fn carry_out_change(&self, change: &Change, watch: &dyn Watch) -> Result<(), Failure> {
        for one in &change.moves {
            let path = match one {
                Move::Rename { from, .. } => from,
                Move::Link { path, .. } => path,
            };
            let now = fs::metadata(path).map_err(|error| changing(path, &error))?;
            if self
                .stamps
                .get(path.0.as_path())
                .is_some_and(|stamp| *stamp != Stamp::of(&now))
            {
                return Err(Failure::new(
                    format!("{} was changed just now by another program", path.display()),
                    "scan again for a new plan",
                ));
            }
            do_move(one, watch).map_err(|error| changing(path, &error))?;
            watch.reached("a file moved");
        }
        Ok(())
    }
}

/// What to say about a change that failed.
pub(super) fn changing(path: &Path, error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "ask for the right to change its folder, or leave it out with --except"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room on the disk, and start again"
        }
        io::ErrorKind::NotFound => "another program moved or removed it; scan again for a new plan",
        _ => "it stays as it is; start again, or leave it out with --except",
    };
    Failure::new(
        format!("{} cannot be changed: {error}", path.display()),
        next,
    )
}

pub(super) fn folders_of(one: &Move) -> Vec<PathBuf> {
    match one {
        Move::Rename { from, to, .. } => {
            vec![folder_of(from).to_path_buf(), folder_of(to).to_path_buf()]
        }
        Move::Link { path, .. } => vec![folder_of(path).to_path_buf()],
    }
}

fn do_move(one: &Move, watch: &dyn Watch) -> io::Result<()> {
    match one {
        Move::Rename {
            from,
            to,
            draft: None,
            ..
        } => rename_new(from, to),
        Move::Rename {
            from,
            to,
            whole: expected,
            draft: Some(draft),
        } => {
            copy_new(from, to, draft)?;
            watch.reached("a file copied to another disk");
            if whole(to)? != *expected {
                return Err(io::Error::other("its copy differs from it"));
            }
            fs::remove_file(from)
        }
        Move::Link {
            path,
            survivor,
            draft,
            whole: expected,
            ..
        } => {
            if whole(survivor)? != *expected {
                return Err(io::Error::other("the message that stays has changed"));
            }
            remove_if_there(draft)?;
            fs::hard_link(survivor, draft)?;
            watch.reached("a link made");
            fs::rename(draft, path)
        }
    }
}

/// Makes folders and files that are not there; they get the rights of the folder they are in.
pub(super) fn make(made: &[Made]) -> Result<(), (PathBuf, io::Error)> {
    let mut synced = BTreeSet::new();
    for new in made {
        let mode = fs::metadata(folder_of(&new.path)).map_or(0o700, |found| found.mode() & 0o777);
        let done = if new.folder {
            DirBuilder::new().mode(mode).create(&*new.path)
        } else {
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode & 0o666)
                .open(&*new.path)
                .map(drop)
        };
        match done {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err((new.path.0.clone(), error));
            }
            _ => synced.insert(folder_of(&new.path).to_path_buf()),
        };
    }
    for folder in synced {
        let _ = sync_folder(&folder);
    }
    Ok(())
}

/// Removes what was made, if nothing else has come into it since.
pub(super) fn unmake(made: &[Made]) {
    let ours: BTreeSet<&Path> = made.iter().map(|new| &*new.path).collect();
    let used = made.iter().filter(|new| new.folder).any(|new| {
        fs::read_dir(&*new.path).is_ok_and(|entries| {
            entries
                .flatten()
                .any(|entry| !ours.contains(entry.path().as_path()))
        })
    });
    if used {
        return;
    }
    let mut parts: Vec<&Made> = made.iter().collect();
    parts.sort_by_key(|new| std::cmp::Reverse(new.path.components().count()));
    for new in parts {
        let _ = if new.folder {
            fs::remove_dir(&*new.path)
        } else if fs::metadata(&*new.path).is_ok_and(|found| found.len() == 0) {
            fs::remove_file(&*new.path)
        } else {
            Ok(())
        };
    }
}
