//! Messages that are files: moved by renaming, marked by renaming, made one by linking.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::super::disk::{
    Kept, Moment, Stamp, copy_new, folder_of, is_there, remove_if_there, rename_new, set_modified,
    sync_folder, whole,
};
use super::super::step::{Change, Files, Made, Move};
use super::super::{Action, Failure, Prepared, Ready, Settled, Watch};
use super::flags::{self, Flags};
use super::place::{device_of, free_name};
use super::{Kind, Local, Owed, Spot, find_renamed};

impl Local<'_> {
    /// Works out what happens to messages that are files.
    pub(super) fn prepare_files<'p>(
        &mut self,
        ready: Vec<Ready<'p, Spot>>,
        prepared: &mut Prepared<'p>,
    ) {
        let mut files = Files::default();
        for ready in ready {
            match self.change(&ready, &mut files.made, &mut prepared.told) {
                Ok(moves) => files.changes.push(Change {
                    message: ready.spot.touched.clone(),
                    moves,
                }),
                Err(failure) => prepared.refused.push((ready.removal, failure)),
            }
        }
        if !files.changes.is_empty() {
            prepared.step = Some(super::Step::Files(files));
        }
    }

    fn change(
        &mut self,
        ready: &Ready<'_, Spot>,
        made: &mut Vec<Made>,
        told: &mut Vec<String>,
    ) -> Result<Vec<Move>, Failure> {
        let spot = &ready.spot;
        let Kind::File {
            whole,
            maildir,
            linked,
        } = &spot.kind
        else {
            return Err(Failure::new("it is not a file", "scan again"));
        };
        if *linked {
            return Err(Failure::new(
                format!("{} is a link to another file", spot.path.display()),
                "scan the folder in which the file itself lies",
            ));
        }
        let from = Kept(spot.path.clone());
        let to = match self.wishes.action {
            Action::Hardlink => return self.link(ready).map(|link| vec![link]),
            Action::Flag | Action::Label => {
                let mark = self.mark();
                let maildir = maildir.as_deref().ok_or_else(|| no_flags(&spot.path))?;
                let (to, unknown) =
                    marked(&spot.path, maildir, &mark).ok_or_else(|| no_flags(&spot.path))?;
                if !unknown.is_empty() {
                    return Err(Failure::new(
                        format!(
                            "the folder {} does not know the label {}",
                            maildir.display(),
                            self.wishes.label
                        ),
                        "use the label once in your mail program, so that Dovecot writes it to dovecot-keywords, or use --action flag",
                    ));
                }
                if to == spot.path {
                    return Err(Failure::new("it is marked already", "nothing to do"));
                }
                to
            }
            Action::Trash | Action::MoveTo | Action::Delete => {
                let destination =
                    self.wishes
                        .destination(&spot.path, maildir.as_deref(), true, &self.roots)?;
                for new in destination.made {
                    if !made.contains(&new) {
                        made.push(new);
                    }
                }
                destination.path
            }
        };
        let to = free_name(&to, &self.taken);
        self.taken.insert(to.clone());
        let draft = (device_of(&to) != device_of(&spot.path)).then(|| draft_of(&to));
        let mut moves = Vec::new();
        if self.wishes.action.removes() {
            moves.extend(self.carry(ready, told));
        }
        moves.push(Move::Rename {
            from,
            to: Kept(to),
            whole: *whole,
            draft,
        });
        Ok(moves)
    }

    /// What marking adds to a message.
    pub(super) fn mark(&self) -> Flags {
        let mut mark = Flags::default();
        if self.wishes.action == Action::Label {
            mark.keywords.insert(self.wishes.label.clone());
        } else {
            mark.deleted = true;
        }
        mark
    }

    /// Gives the flags of a message that goes to the one that stays.
    pub(super) fn carry(
        &mut self,
        ready: &Ready<'_, Spot>,
        told: &mut Vec<String>,
    ) -> Option<Move> {
        let survivor = ready.witnesses.first()?;
        let wanted = ready.spot.flags.carried(ready.removal.category);
        let Kind::File { whole, maildir, .. } = &survivor.kind else {
            let missing = wanted.without(&survivor.flags);
            if !missing.is_empty() {
                self.owed
                    .entry(survivor.path.clone())
                    .or_default()
                    .push(Owed {
                        message: survivor.touched.clone(),
                        flags: missing,
                    });
            }
            return None;
        };
        // A message outside a Maildir has no place for flags.
        let maildir = maildir.as_deref()?;
        // An earlier message of this run may have given it flags, and another name.
        let now = self
            .renamed
            .get(&survivor.path)
            .cloned()
            .unwrap_or_else(|| survivor.path.clone());
        let known = flags::keywords_of(maildir);
        let has = flags::of_name(now.file_name()?.to_str()?, &known);
        let missing = wanted.without(&has);
        if missing.is_empty() {
            return None;
        }
        let (to, unknown) = marked(&now, maildir, &missing)?;
        if !unknown.is_empty() {
            told.push(format!(
                "{}: its folder has no letter for {}, so that was not carried over",
                survivor.touched.location,
                unknown.join(", ")
            ));
        }
        if to == now || is_there(&to) || self.taken.contains(&to) {
            return None;
        }
        if let Some(stamp) = self.stamps.get(&now).copied() {
            self.stamps.insert(to.clone(), stamp);
        }
        self.taken.insert(to.clone());
        self.renamed.insert(survivor.path.clone(), to.clone());
        Some(Move::Rename {
            from: Kept(now),
            to: Kept(to),
            whole: *whole,
            draft: None,
        })
    }

    fn link(&self, ready: &Ready<'_, Spot>) -> Result<Move, Failure> {
        let Kind::File { whole, .. } = &ready.spot.kind else {
            return Err(Failure::new("it is not a file", "scan again"));
        };
        let path = &ready.spot.path;
        let same = ready.witnesses.iter().find(|witness| {
            matches!(&witness.kind, Kind::File { whole: other, linked: false, .. } if other == whole)
        });
        let Some(survivor) = same else {
            return Err(Failure::new(
                "no message that is kept has the same bytes, so the two cannot be one file",
                "use --action trash for it",
            ));
        };
        let metadata = fs::metadata(path).map_err(|error| changing(path, &error))?;
        let other = fs::metadata(&survivor.path).map_err(|error| changing(path, &error))?;
        if Stamp::of(&other).same_file(&metadata) {
            return Err(Failure::new("it is one file already", "nothing to do"));
        }
        if other.dev() != metadata.dev() {
            return Err(Failure::new(
                format!("{} lies on another disk", survivor.path.display()),
                "use --action trash for it",
            ));
        }
        Ok(Move::Link {
            path: Kept(path.clone()),
            survivor: Kept(survivor.path.clone()),
            draft: draft_of(path),
            whole: *whole,
            modified: Moment::modified(&metadata),
            mode: metadata.mode() & 0o7777,
        })
    }

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

/// The path of a message in a Maildir with more flags, and the keywords for which the folder has no letter.
fn marked(path: &Path, maildir: &Path, more: &Flags) -> Option<(PathBuf, Vec<String>)> {
    let name = path.file_name()?.to_str()?;
    let (name, unknown) = flags::add_to_name(name, more, &flags::keywords_of(maildir));
    // Only in `cur` do names carry flags.
    Some((maildir.join("cur").join(name), unknown))
}

fn no_flags(path: &Path) -> Failure {
    Failure::new(
        format!(
            "{} is a file outside a Maildir, which has no place for flags or labels",
            path.display()
        ),
        "use --action trash for it",
    )
}

fn draft_of(path: &Path) -> Kept {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".twicetold-draft");
    Kept(path.with_file_name(name))
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

fn folders_of(one: &Move) -> Vec<PathBuf> {
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

/// How far a move came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Before,
    /// Both names are there.
    Between,
    After,
    /// Neither is.
    Nowhere,
}

fn reached(one: &Move) -> Reached {
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
fn settle_change(change: &Change, told: &mut Vec<String>) -> bool {
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
    expected: super::Whole,
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
        let mut to = super::super::disk::create_like(draft, &from.metadata()?)?;
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
