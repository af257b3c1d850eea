//! What happens to messages that are files: worked out, and nothing done.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::disk::{Kept, Moment, Stamp, is_there};
use super::super::step::{Change, Files, Made, Move};
use super::super::{Action, Failure, Prepared, Ready};
use super::flags::{self, Flags};
use super::moving::changing;
use super::place::{device_of, free_name};
use super::{Kind, Local, Owed, Spot};

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

pub(super) fn draft_of(path: &Path) -> Kept {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".twicetold-draft");
    Kept(path.with_file_name(name))
}
