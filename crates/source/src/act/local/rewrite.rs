//! Messages inside a file: the file is replaced by one without them.
//!
//! In this order: what is removed is appended to the bin and on disk; the new file is written beside the old one, read again
//! message by message, and on disk; it takes the name of the old one. A kill before the last step leaves the old file, after it the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::super::disk::{
    Hashing, Kept, Moment, Stamp, Whole, copy_exactly, create_like, folder_of, remove_if_there,
    set_times_like, sync_folder,
};
use super::super::step::{Bin, Edit, Rewrite, Step, Text, Touched, Was};
use super::super::{Action, Failure, Prepared, Ready, Settled, Watch};
use super::flags::{self, Flags};
use super::index::{Index, checksum_of};
use super::moving::{changing, make, unmake};
use super::{Held, Kind, Local, Owed, SEARCHED_HEAD, Spot};
use crate::checksum::Checksum;
use crate::listing::Container;

impl Local<'_> {
    /// Works out what happens to messages inside the file that is held.
    pub(super) fn prepare_rewrite<'p>(
        &mut self,
        ready: Vec<Ready<'p, Spot>>,
        prepared: &mut Prepared<'p>,
    ) -> Result<(), Failure> {
        let Some(path) = self.held.as_ref().map(|held| held.path.clone()) else {
            return Ok(());
        };
        let mut removed: BTreeSet<usize> = BTreeSet::new();
        let mut marked: BTreeMap<usize, Flags> = BTreeMap::new();
        let mut messages = Vec::new();
        // Copies with the same bytes can be taken for each other: what one rests on must not be one that goes.
        let going: BTreeSet<usize> = ready
            .iter()
            .filter_map(|ready| match ready.spot.kind {
                Kind::Inside { number } => Some(number),
                Kind::File { .. } => None,
            })
            .collect();
        for ready in ready {
            let Kind::Inside { number } = ready.spot.kind else {
                continue;
            };
            let goes_too = |other: &Spot| matches!(other.kind, Kind::Inside { number } if other.path == path && going.contains(&number));
            let refusal = match self.wishes.action {
                Action::Hardlink => Some(Failure::new(
                    "it is inside a file with other messages, so it cannot be a link",
                    "use --action trash for it",
                )),
                _ if removed.contains(&number) || ready.witnesses.iter().any(goes_too) => {
                    Some(Failure::new(
                        "it cannot be told from another message with the same bytes",
                        "scan again for a new plan",
                    ))
                }
                Action::Flag if ready.spot.flags.deleted => {
                    Some(Failure::new("it is marked already", "nothing to do"))
                }
                Action::Label if ready.spot.flags.keywords.contains(&self.wishes.label) => {
                    Some(Failure::new("it is marked already", "nothing to do"))
                }
                _ => None,
            };
            if let Some(failure) = refusal {
                prepared.refused.push((ready.removal, failure));
                continue;
            }
            let touched = ready.spot.touched.clone();
            if !self.wishes.action.removes() {
                let mark = self.mark();
                marked.entry(number).or_default().add(&mark);
                messages.push((number, touched));
                continue;
            }
            removed.insert(number);
            messages.push((number, touched));
            match ready.witnesses.first() {
                Some(survivor) if survivor.path == path => {
                    if let Kind::Inside { number } = survivor.kind {
                        let wanted = ready.spot.flags.carried(ready.removal.category);
                        let missing = wanted.without(&survivor.flags);
                        if !missing.is_empty() {
                            marked.entry(number).or_default().add(&missing);
                        }
                    }
                }
                // A file of its own is renamed in a step of its own.
                Some(_) => self.carry_elsewhere(&ready, prepared),
                None => {}
            }
        }
        if messages.is_empty() {
            return Ok(());
        }
        let bin = self
            .wishes
            .action
            .removes()
            .then(|| self.wishes.destination(&path, None, false, &self.roots))
            .transpose()?;
        // The order of the file is the order of the edits, and of what is put back.
        messages.sort_by_key(|(number, _)| *number);
        let messages = messages.into_iter().map(|(_, touched)| touched).collect();
        let told = &mut prepared.told;
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        prepared.step = rewrite(held, messages, &removed, &marked, bin, told)?
            .map(|step| Step::Rewrite(Box::new(step)));
        Ok(())
    }

    /// Notes flags that go to a message outside the file that is held.
    fn carry_elsewhere<'p>(&mut self, ready: &Ready<'p, Spot>, prepared: &mut Prepared<'p>) {
        let Some(survivor) = ready.witnesses.first() else {
            return;
        };
        let wanted = ready.spot.flags.carried(ready.removal.category);
        let missing = wanted.without(&survivor.flags);
        if missing.is_empty() {
            return;
        }
        match &survivor.kind {
            Kind::Inside { .. } => {
                self.owed
                    .entry(survivor.path.clone())
                    .or_default()
                    .push(Owed {
                        message: survivor.touched.clone(),
                        flags: missing,
                    });
            }
            Kind::File { .. } => {
                if let Some(one) = self.carry(ready, &mut prepared.told) {
                    let carried = Touched {
                        carried: true,
                        ..survivor.touched.clone()
                    };
                    self.owed_moves.push((carried, one));
                }
            }
        }
    }

    /// Works out how flags are given to messages in a file that was not held when their copies went.
    pub(super) fn prepare_owed(
        &mut self,
        path: &Path,
        owed: Vec<Owed>,
    ) -> Result<Option<Step>, Failure> {
        self.hold_file(path, false)?;
        let Some(held) = &mut self.held else {
            return Ok(None);
        };
        let mut marked: BTreeMap<usize, Flags> = BTreeMap::new();
        let mut messages: BTreeMap<usize, Touched> = BTreeMap::new();
        for one in owed {
            let offset = one.message.location.offset.unwrap_or(0);
            if let Some(number) = held.index.find(offset, one.message.checksum) {
                marked.entry(number).or_default().add(&one.flags);
                let carried = true;
                messages.insert(
                    number,
                    Touched {
                        carried,
                        ..one.message
                    },
                );
            }
        }
        let messages = messages.into_values().collect();
        let step = rewrite(
            held,
            messages,
            &BTreeSet::new(),
            &marked,
            None,
            &mut Vec::new(),
        )?;
        Ok(step.map(|step| Step::Rewrite(Box::new(step))))
    }

    pub(super) fn carry_out_rewrite(&mut self, step: &Rewrite, watch: &dyn Watch) -> Settled {
        let all = (0..step.messages.len()).collect();
        match self.try_rewrite(step, watch) {
            Ok(()) => Settled {
                out: all,
                ..Settled::default()
            },
            Err(failure) => {
                let mut settled = settle(step);
                let stays = (0..step.messages.len()).filter(|n| !settled.out.contains(n));
                settled.failed = stays.map(|n| (n, failure.clone())).collect();
                settled
            }
        }
    }

    fn try_rewrite(&mut self, step: &Rewrite, watch: &dyn Watch) -> Result<(), Failure> {
        let path = &step.mailbox;
        let failed = |error: io::Error| changing(path, &error);
        let Some(Held {
            index,
            lock: Some(lock),
            replaced,
            ..
        }) = &mut self.held
        else {
            return Err(Failure::new("the mailbox is not locked", "start again"));
        };
        if let Some(bin) = &step.bin {
            fill_bin(&mut lock.file, bin, step, watch)?;
        }
        watch.reached("the removed messages are in the bin");
        let like = lock.file.metadata().map_err(failed)?;
        remove_if_there(&step.draft).map_err(failed)?;
        let draft = create_like(&step.draft, &like).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Failure::new(
                format!(
                    "a file with the owner and group of {} cannot be made in its folder: {error}",
                    path.display()
                ),
                "run as the owner of the mailbox",
            ),
            _ => failed(error),
        })?;
        let mut out = Hashing::new(BufWriter::with_capacity(1 << 16, draft));
        copy_edited(&mut lock.file, &step.edits, step.before.bytes, &mut out).map_err(failed)?;
        watch.reached("half of the new mailbox is written");
        out.flush().map_err(failed)?;
        let written = out.whole();
        let draft = out
            .into_inner()
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        if written != step.after {
            return Err(Failure::new(
                format!("{} was changed while it was read", path.display()),
                "start again",
            ));
        }
        set_times_like(&draft, &like).map_err(failed)?;
        draft.sync_all().map_err(failed)?;
        drop(draft);
        prove_rewrite(index, step)?;
        watch.reached("the new mailbox is written");
        let now = lock.file.metadata().map_err(failed)?;
        let named = fs::metadata(&**path).map_err(failed)?;
        if Stamp::of(&now) != index.stamp || Stamp::of(&named) != index.stamp {
            return Err(Failure::new(
                format!(
                    "{} was changed by a program that does not respect locks",
                    path.display()
                ),
                "close that program, and start again",
            ));
        }
        fs::rename(&*step.draft, &**path).map_err(failed)?;
        *replaced = true;
        watch.reached("the new mailbox has its name");
        sync_folder(folder_of(path)).map_err(failed)
    }
}

/// The rewriting that takes out these messages of a file and marks those.
fn rewrite(
    held: &mut Held,
    messages: Vec<Touched>,
    removed: &BTreeSet<usize>,
    marked: &BTreeMap<usize, Flags>,
    bin: Option<super::place::Destination>,
    told: &mut Vec<String>,
) -> Result<Option<Rewrite>, Failure> {
    let path = held.path.clone();
    let failed = |error: io::Error| changing(&path, &error);
    let mut own;
    let file = match &mut held.lock {
        Some(lock) => &mut lock.file,
        None => {
            own = File::open(&path).map_err(failed)?;
            &mut own
        }
    };
    let index = &held.index;
    let metadata = file.metadata().map_err(failed)?;
    let mut bin = bin.map(|destination| Bin {
        before: fs::metadata(&destination.path)
            .map(|found| found.len())
            .ok(),
        path: Kept(destination.path),
        made: destination.made,
    });
    let mut edits = Vec::new();
    for (&number, flags) in marked {
        if removed.contains(&number) {
            continue;
        }
        let (start, bytes) = index.stretch(number);
        let mut head = vec![0; usize::try_from(bytes.min(SEARCHED_HEAD)).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))
            .and_then(|_| io::Read::read_exact(file, &mut head))
            .map_err(failed)?;
        let edit = (index.container == Container::Mbox)
            .then(|| flags::edit_head(&head, start, flags))
            .flatten();
        match edit {
            Some(edit) => edits.extend(edit),
            None => told.push(format!(
                "{}@{start}: its header has no place for the flags of its copy",
                path.display()
            )),
        }
    }
    if let Some(bin) = &mut bin {
        let mut end = bin.before.unwrap_or(0);
        let mut tail = tail_of(&bin.path);
        for &number in removed {
            let (start, bytes) = index.stretch(number);
            end += padding(&tail, index.container).len() as u64;
            let checksum = checksum_of(file, start, bytes).map_err(failed)?;
            edits.push(Edit {
                start,
                bytes,
                becomes: Text::default(),
                was: Was::Bin {
                    start: end,
                    checksum,
                },
                after: number
                    .checked_sub(1)
                    .and_then(|before| index.messages.get(before))
                    .map(|before| before.1),
            });
            end += bytes;
            tail = last_bytes(file, start, bytes).map_err(failed)?;
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|edit| edit.start);
    let end = metadata.len();
    let mut before = Hashing::new(io::sink());
    file.rewind().map_err(failed)?;
    copy_exactly(file, end, &mut before).map_err(failed)?;
    let mut after = Hashing::new(io::sink());
    copy_edited(file, &edits, end, &mut after).map_err(failed)?;
    Ok(Some(Rewrite {
        draft: draft_of(&path),
        mailbox: Kept(path),
        messages,
        before: before.whole(),
        modified: Moment::modified(&metadata),
        after: after.whole(),
        bin,
        edits,
    }))
}

/// The name of a new file until it takes the place of the old one.
pub(super) fn draft_of(path: &Path) -> Kept {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".twicetold-draft");
    Kept(path.with_file_name(name))
}

/// Copies a file with some stretches replaced.
pub(super) fn copy_edited(
    file: &mut File,
    edits: &[Edit],
    end: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut at = 0;
    for edit in edits {
        file.seek(SeekFrom::Start(at))?;
        let kept = edit
            .start
            .checked_sub(at)
            .ok_or(io::ErrorKind::InvalidData)?;
        copy_exactly(file, kept, out)?;
        out.write_all(&edit.becomes.0)?;
        at = edit.start + edit.bytes;
    }
    file.seek(SeekFrom::Start(at))?;
    copy_exactly(file, end.saturating_sub(at), out)
}

/// What has to stand between what a bin ends with and the next message.
pub(super) fn padding(tail: &[u8], container: Container) -> &'static [u8] {
    let ends_line = tail.is_empty() || tail.ends_with(b"\n");
    match container {
        _ if tail.is_empty() => b"",
        Container::Mbox if tail.ends_with(b"\n\n") || tail.ends_with(b"\n\r\n") => b"",
        Container::Mbox if ends_line => b"\n",
        Container::Mbox => b"\n\n",
        Container::JsonLines | Container::Sgml if ends_line => b"",
        Container::JsonLines | Container::Sgml => b"\n",
    }
}

fn tail_of(path: &Path) -> Vec<u8> {
    let read = || {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        last_bytes(&mut file, 0, bytes)
    };
    read().unwrap_or_default()
}

fn last_bytes(file: &mut File, start: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let length = bytes.min(4);
    let mut tail = vec![0; usize::try_from(length).unwrap_or(0)];
    file.seek(SeekFrom::Start(start + bytes - length))?;
    io::Read::read_exact(file, &mut tail)?;
    Ok(tail)
}

/// Appends what is removed to the bin.
fn fill_bin(
    mailbox: &mut File,
    bin: &Bin,
    step: &Rewrite,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let failed = |error: io::Error| changing(&bin.path, &error);
    make(&bin.made).map_err(|(path, error)| changing(&path, &error))?;
    let mode = mailbox.metadata().map_err(failed)?.mode() & 0o777;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(mode)
        .open(&*bin.path)
        .map_err(failed)?;
    // Others may append to it as well.
    let _ = rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    let mut end = file.metadata().map_err(failed)?.len();
    if end != bin.before.unwrap_or(0) {
        return Err(Failure::new(
            format!("{} was changed by another program", bin.path.display()),
            "start again",
        ));
    }
    let mut out = BufWriter::with_capacity(1 << 16, file);
    for (number, edit) in step.edits.iter().enumerate() {
        let Was::Bin { start, checksum } = edit.was else {
            continue;
        };
        let padding = start.checked_sub(end).filter(|bytes| *bytes <= 2);
        let padding = padding.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
        out.write_all(&b"\n\n"[..usize::try_from(padding).unwrap_or(0)])
            .map_err(failed)?;
        let mut hashing = Hashing::new(&mut out);
        mailbox
            .seek(SeekFrom::Start(edit.start))
            .and_then(|_| copy_exactly(mailbox, edit.bytes, &mut hashing))
            .map_err(failed)?;
        if hashing.whole().checksum != checksum {
            return Err(Failure::new(
                format!("{} was changed while it was read", step.mailbox.display()),
                "start again",
            ));
        }
        end = start + edit.bytes;
        if number == 0 {
            out.flush().map_err(failed)?;
            watch.reached("the first removed message is in the bin");
        }
    }
    let file = out
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    sync_folder(folder_of(&bin.path)).map_err(failed)
}

/// The new file holds the messages that stay, each as it was, and no other.
fn prove_rewrite(index: &Index, step: &Rewrite) -> Result<(), Failure> {
    let gone: BTreeSet<u64> = step
        .edits
        .iter()
        .filter(|edit| matches!(edit.was, Was::Bin { .. }))
        .map(|edit| edit.start)
        .collect();
    let expected = index
        .messages
        .iter()
        .filter(|(start, _)| !gone.contains(start))
        .map(|(_, checksum)| *checksum);
    let found = Index::as_container(&step.draft, index.container)?;
    if expected.eq(found.messages.iter().map(|(_, checksum)| *checksum)) {
        return Ok(());
    }
    Err(Failure::new(
        format!(
            "without these messages, the others in {} could no longer be told apart",
            step.mailbox.display()
        ),
        "the mailbox stays as it is; let your mail program remove them",
    ))
}

/// The checksum of the beginning of a file.
pub(super) fn begins_with(path: &Path, whole: Whole) -> bool {
    File::open(path).is_ok_and(|mut file| {
        file.metadata()
            .is_ok_and(|found| found.len() >= whole.bytes)
            && checksum_of(&mut file, 0, whole.bytes).is_ok_and(|found| found == whole.checksum)
    })
}

/// Looks whether a rewriting that was interrupted came to its end, and clears away what it left.
pub(super) fn settle(step: &Rewrite) -> Settled {
    let _ = remove_if_there(&step.draft);
    let all: Vec<usize> = (0..step.messages.len()).collect();
    // In this order: when the last message was removed, the file that was begins with the file that is.
    if begins_with(&step.mailbox, step.before) {
        let mut settled = Settled::default();
        if let Some(bin) = &step.bin {
            empty_bin(bin, step, &mut settled.told);
        }
        return settled;
    }
    if begins_with(&step.mailbox, step.after) {
        return Settled {
            out: all,
            ..Settled::default()
        };
    }
    let found: BTreeSet<Checksum> = Index::of(&step.mailbox)
        .map(|index| index.messages.iter().map(|m| m.1).collect())
        .unwrap_or_default();
    let out = all
        .into_iter()
        .filter(|&n| !found.contains(&step.messages[n].checksum))
        .collect();
    let bin = step.bin.as_ref().map_or(String::new(), |bin| {
        format!(
            "; {} may hold messages that it holds too",
            bin.path.display()
        )
    });
    Settled {
        out,
        told: vec![format!(
            "{} was changed by another program meanwhile{bin}",
            step.mailbox.display()
        )],
        ..Settled::default()
    }
}

/// Takes what a step appended to a bin off it again.
pub(super) fn empty_bin(bin: &Bin, step: &Rewrite, told: &mut Vec<String>) {
    let end = step
        .edits
        .iter()
        .filter_map(|edit| match edit.was {
            Was::Bin { start, .. } => Some(start + edit.bytes),
            Was::Here(_) => None,
        })
        .max();
    let Ok(now) = fs::metadata(&*bin.path).map(|found| found.len()) else {
        unmake(&bin.made);
        return;
    };
    let before = bin.before.unwrap_or(0);
    if end.is_none_or(|end| now > end) || now < before {
        told.push(format!(
            "{} was changed by another program; it may hold messages that {} holds too",
            bin.path.display(),
            step.mailbox.display()
        ));
        return;
    }
    let done = if bin.before.is_none() {
        remove_if_there(&bin.path)
    } else {
        OpenOptions::new()
            .write(true)
            .open(&*bin.path)
            .and_then(|file| file.set_len(before).and_then(|()| file.sync_all()))
    };
    match done {
        Ok(()) => unmake(&bin.made),
        Err(error) => told.push(changing(&bin.path, &error).to_string()),
    }
}
