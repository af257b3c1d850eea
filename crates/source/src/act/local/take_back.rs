//! Puts messages back into a file from which they were taken.
//!
//! If the file still begins with what was left, the result is the file that was, byte for byte, and what was delivered since
//! behind it. Otherwise each message is put behind the one that it stood behind, or at the end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::super::disk::{
    Hashing, copy_exactly, create_like, folder_of, remove_if_there, set_modified, set_times_like,
    sync_folder,
};
use super::super::step::{Bin, Edit, Rewrite, Was};
use super::super::{Failure, Settled, Watch};
use super::Local;
use super::index::{Index, checksum_of};
use super::lock::Lock;
use super::moving::{changing, unmake};
use super::rewrite::{draft_of, empty_bin, padding};
use crate::checksum::Checksum;
use crate::listing::Container;

/// A stretch that goes back: where it goes in the file as it is now, what it replaces there, and where it is.
struct Back<'e> {
    at: u64,
    replaces: u64,
    edit: &'e Edit,
    /// Where it begins in the bin.
    in_bin: Option<u64>,
}

impl Local<'_> {
    /// Puts back what a step took out, and takes back what it marked.
    pub(super) fn take_back_rewrite(&mut self, step: &Rewrite, watch: &dyn Watch) -> Settled {
        let mut settled = Settled::default();
        if let Err(failure) = self.try_take_back(step, &mut settled, watch) {
            settled.out = (0..step.messages.len()).collect();
            settled.failed = settled
                .out
                .iter()
                .map(|&number| (number, failure.clone()))
                .collect();
        }
        settled
    }

    fn try_take_back(
        &self,
        step: &Rewrite,
        settled: &mut Settled,
        watch: &dyn Watch,
    ) -> Result<(), Failure> {
        let path = &step.mailbox;
        let failed = |error: io::Error| changing(path, &error);
        if !path.exists() {
            fs::create_dir_all(folder_of(path)).map_err(failed)?;
            File::create_new(&**path).map_err(failed)?;
            settled
                .told
                .push(format!("{} was gone and was made again", path.display()));
        }
        // Before the lock: reading the file without its handle would give the lock up.
        let index = Index::of(path).ok();
        let mut lock = Lock::take(path, &self.wishes.token, self.wishes.patience)?;
        let mut bin = match &step.bin {
            None => None,
            Some(bin) => Some(File::open(&*bin.path).map_err(|error| {
                Failure::new(
                    format!("{} cannot be read: {error}", bin.path.display()),
                    "the removed messages were in it; if another program removed it, look for a backup",
                )
            })?),
        };
        let like = lock.file.metadata().map_err(failed)?;
        let end = like.len();
        let unchanged = end >= step.after.bytes
            && checksum_of(&mut lock.file, 0, step.after.bytes).map_err(failed)?
                == step.after.checksum;
        let (backs, lost) = where_to(step, index.as_ref(), unchanged, end, bin.as_mut());
        if !unchanged {
            settled.told.push(format!(
                "{} has changed since; its messages are put back in their place as far as that can be found",
                path.display()
            ));
        }
        for &number in &lost {
            settled.out.push(number);
            settled.failed.push((
                number,
                Failure::new(
                    format!("it is no longer in {}", bin_name(step)),
                    "another program removed it; if you have a backup, it holds it",
                ),
            ));
        }
        if backs.is_empty() {
            return Ok(());
        }
        let draft_path = draft_of(path);
        remove_if_there(&draft_path).map_err(failed)?;
        let draft = create_like(&draft_path, &like).map_err(failed)?;
        let mut out = Hashing::new(BufWriter::with_capacity(1 << 16, draft));
        // What somebody else has written since may end or begin anyhow.
        let container = (!unchanged).then(|| container_of(index.as_ref(), step));
        write_back(
            &mut lock.file,
            end,
            &backs,
            bin.as_mut(),
            container,
            &mut out,
        )
        .map_err(failed)?;
        out.flush().map_err(failed)?;
        let written = out.whole();
        let draft = out
            .into_inner()
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        if written == step.before {
            set_times_like(&draft, &like).map_err(failed)?;
            set_modified(&draft, step.modified).map_err(failed)?;
        } else if unchanged && lost.is_empty() && end == step.after.bytes {
            let _ = remove_if_there(&draft_path);
            return Err(Failure::new(
                format!("{} could not be put together as it was", path.display()),
                "nothing was changed; please report this",
            ));
        }
        draft.sync_all().map_err(failed)?;
        if let Some(container) = container {
            let before = index.as_ref().map_or(0, |index| index.messages.len());
            let found = Index::as_container(&draft_path, container).map(|new| new.messages.len());
            if found != Ok(before + backs.len()) {
                let _ = remove_if_there(&draft_path);
                return Err(Failure::new(
                    format!(
                        "{} has changed so that messages cannot be put back into it",
                        path.display()
                    ),
                    format!("they are in {}", bin_name(step)),
                ));
            }
        }
        watch.reached("the old mailbox is written");
        fs::rename(&*draft_path, &**path).map_err(failed)?;
        watch.reached("the old mailbox has its name");
        sync_folder(folder_of(path)).map_err(failed)?;
        drop(bin);
        if let Some(bin) = &step.bin {
            clear_bin(bin, step, &backs, &mut settled.told);
        }
        watch.reached("the bin is cleared");
        Ok(())
    }
}

/// What kind of file it is, or was.
fn container_of(index: Option<&Index>, step: &Rewrite) -> Container {
    let bin = || Index::of(&step.bin.as_ref()?.path).ok();
    index
        .map(|index| index.container)
        .or_else(|| bin().map(|bin| bin.container))
        .unwrap_or(Container::Mbox)
}

fn bin_name(step: &Rewrite) -> String {
    step.bin
        .as_ref()
        .map_or_else(String::new, |bin| bin.path.display().to_string())
}

/// Where each stretch goes, in the order of the file, and the messages that are nowhere to be found.
fn where_to<'e>(
    step: &'e Rewrite,
    index: Option<&Index>,
    unchanged: bool,
    end: u64,
    mut bin: Option<&mut File>,
) -> (Vec<Back<'e>>, Vec<usize>) {
    let mut backs = Vec::new();
    let mut lost = Vec::new();
    let mut removal = 0;
    // How far the stretches before have moved what comes behind them.
    let (mut taken, mut put) = (0_u64, 0_u64);
    let bin_index = step.bin.as_ref().and_then(|bin| Index::of(&bin.path).ok());
    let mut last: Option<(Checksum, u64)> = None;
    let mut moved = 0_i64;
    for edit in &step.edits {
        let in_place = (edit.start + put).saturating_sub(taken);
        match &edit.was {
            Was::Here(_) if unchanged => backs.push(Back {
                at: in_place,
                replaces: edit.becomes.0.len() as u64,
                edit,
                in_bin: None,
            }),
            // Flags in a mailbox that changed since are somebody else's by now.
            Was::Here(_) => {}
            Was::Bin { start, checksum } => {
                let number = removal;
                removal += 1;
                let own = step.messages.get(number).map(|message| message.checksum);
                let found = bin.as_deref_mut().and_then(|bin| {
                    // What stood before them and was taken out moved all of them alike.
                    let likely = [*start, start.saturating_add_signed(moved)];
                    find_in(bin, likely, edit.bytes, *checksum, bin_index.as_ref())
                });
                if let Some(found) = found {
                    moved = found.cast_signed().wrapping_sub(start.cast_signed());
                }
                match found {
                    None => lost.push(number),
                    Some(found) => {
                        let at = if unchanged {
                            in_place
                        } else {
                            behind(edit, index, last, end)
                        };
                        last = own.map(|own| (own, at));
                        backs.push(Back {
                            at,
                            replaces: 0,
                            edit,
                            in_bin: Some(found),
                        });
                    }
                }
            }
        }
        taken += edit.bytes;
        put += edit.becomes.0.len() as u64;
    }
    // Stable, so that neighbours stay in their order.
    backs.sort_by_key(|back| back.at);
    (backs, lost)
}

/// The place behind the message that a stretch stood behind.
fn behind(edit: &Edit, index: Option<&Index>, last: Option<(Checksum, u64)>, end: u64) -> u64 {
    let Some(index) = index else {
        return end;
    };
    match edit.after {
        None => index.messages.first().map_or(end, |first| first.0),
        // It stood behind one that goes back, too.
        Some(after) if last.is_some_and(|last| last.0 == after) => last.map_or(end, |last| last.1),
        Some(after) => index.first(after).map_or(end, |number| {
            let (start, bytes) = index.stretch(number);
            start + bytes
        }),
    }
}

/// Where a stretch is in the bin: where it was put, or where it moved when others were taken out.
fn find_in(
    bin: &mut File,
    likely: [u64; 2],
    bytes: u64,
    checksum: Checksum,
    index: Option<&Index>,
) -> Option<u64> {
    let mut is_at =
        |start: u64| checksum_of(bin, start, bytes).is_ok_and(|found| found == checksum);
    if let Some(start) = likely.into_iter().find(|&start| is_at(start)) {
        return Some(start);
    }
    index?
        .messages
        .iter()
        .map(|message| message.0)
        .find(|&start| is_at(start))
}

/// Writes the file with everything in its place; with a container, what is put in is kept apart from what is there.
fn write_back(
    mailbox: &mut File,
    end: u64,
    backs: &[Back<'_>],
    mut bin: Option<&mut File>,
    container: Option<Container>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Ending {
        inner: out,
        tail: Vec::new(),
    };
    let mut at = 0;
    for back in backs {
        mailbox.seek(SeekFrom::Start(at))?;
        let kept = back.at.saturating_sub(at);
        if kept > 0 && at > 0 {
            out.pad(container)?;
        }
        copy_exactly(mailbox, kept, &mut out)?;
        out.pad(container)?;
        match (&back.edit.was, back.in_bin, bin.as_deref_mut()) {
            (Was::Here(text), _, _) => out.write_all(&text.0)?,
            (Was::Bin { .. }, Some(start), Some(bin)) => {
                bin.seek(SeekFrom::Start(start))?;
                copy_exactly(bin, back.edit.bytes, &mut out)?;
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        at = back.at + back.replaces;
    }
    mailbox.seek(SeekFrom::Start(at))?;
    if end > at {
        out.pad(container)?;
    }
    copy_exactly(mailbox, end.saturating_sub(at), &mut out)
}

/// Remembers how what was written ends.
struct Ending<'w> {
    inner: &'w mut dyn Write,
    tail: Vec<u8>,
}

impl Ending<'_> {
    fn pad(&mut self, container: Option<Container>) -> io::Result<()> {
        match container {
            None => Ok(()),
            Some(container) => self.write_all(padding(&self.tail, container)),
        }
    }
}

impl Write for Ending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        let last = &bytes[written.saturating_sub(4)..written];
        self.tail.extend_from_slice(last);
        let needless = self.tail.len().saturating_sub(4);
        self.tail.drain(..needless);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Takes out of the bin what was put back.
fn clear_bin(bin: &Bin, step: &Rewrite, backs: &[Back<'_>], told: &mut Vec<String>) {
    let all = step
        .edits
        .iter()
        .filter(|edit| matches!(edit.was, Was::Bin { .. }))
        .count();
    let mut cuts: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut moved = false;
    for back in backs {
        if let (Some(found), Was::Bin { start, .. }) = (back.in_bin, &back.edit.was) {
            moved |= found != *start;
            cuts.insert((found, back.edit.bytes));
        }
    }
    let now = fs::metadata(&*bin.path).map_or(0, |found| found.len());
    let tail = cuts
        .last()
        .is_some_and(|(start, bytes)| start + bytes == now);
    if cuts.len() == all && !moved && tail {
        empty_bin(bin, step, told);
        return;
    }
    match cut(&bin.path, &cuts) {
        Ok(0) => {
            let _ = remove_if_there(&bin.path);
            unmake(&bin.made);
        }
        Ok(_) => {}
        Err(error) => told.push(changing(&bin.path, &error).to_string()),
    }
}

/// Replaces a file by one without these stretches; returns how many bytes are left.
fn cut(path: &Path, cuts: &BTreeSet<(u64, u64)>) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let like = file.metadata()?;
    let draft_path = draft_of(path);
    remove_if_there(&draft_path)?;
    let mut out = BufWriter::new(create_like(&draft_path, &like)?);
    let (mut at, mut left) = (0, 0);
    for &(start, bytes) in cuts.iter().chain([&(like.len(), 0)]) {
        file.seek(SeekFrom::Start(at))?;
        let kept = start.saturating_sub(at);
        // No more than the empty lines between two messages.
        let mut between = vec![0; usize::try_from(kept).unwrap_or(usize::MAX).min(3)];
        file.read_exact(&mut between)?;
        if kept < 3 && between.iter().all(|&byte| byte == b'\n') {
            at = start + bytes;
            continue;
        }
        out.write_all(&between)?;
        copy_exactly(&mut file, kept - between.len() as u64, &mut out)?;
        left += kept;
        at = start + bytes;
    }
    let draft = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    draft.sync_all()?;
    fs::rename(&*draft_path, path)?;
    sync_folder(folder_of(path))?;
    Ok(left)
}
