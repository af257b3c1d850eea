//! Where do removed messages go?

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::super::disk::{Kept, is_there};
use super::super::step::Made;
use super::super::{Action, Failure};
use super::Wishes;

/// The name of a message's file in its new place, and what has to be made for it.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) path: PathBuf,
    pub(super) made: Vec<Made>,
}

impl Wishes {
    /// Where a file goes: a message, or for a message inside a file the file that takes it.
    ///
    /// `maildir` is the Maildir folder in whose `cur` or `new` the message lies, `roots` are the paths that were scanned.
    pub(super) fn destination(
        &self,
        path: &Path,
        maildir: Option<&Path>,
        is_message: bool,
        roots: &[PathBuf],
    ) -> Result<Destination, Failure> {
        let name = path.file_name().unwrap_or_default();
        match self.action {
            Action::Trash => Ok(match maildir {
                Some(maildir) => {
                    let trash = top_of(maildir).join(&self.trash);
                    in_maildir(&trash, name)
                }
                None => {
                    let (root, below) = root_of(path, roots);
                    plain(root.join(&self.trash).join(below))
                }
            }),
            Action::MoveTo => {
                let to = self.to.clone().ok_or_else(|| {
                    Failure::new("no folder is named to move to", "name it with --to")
                })?;
                if is_message && to.join("cur").is_dir() {
                    return Ok(in_maildir(&to, name));
                }
                Ok(plain(to.join(root_of(path, roots).1)))
            }
            Action::Delete => {
                let below: PathBuf = path
                    .components()
                    .filter(|part| matches!(part, Component::Normal(_)))
                    .collect();
                Ok(plain(self.store.join(below)))
            }
            Action::Flag | Action::Hardlink | Action::Label => Err(Failure::new(
                "nothing is moved by this action",
                "choose another --action",
            )),
        }
    }

    /// Whether a path lies in the trash.
    pub(super) fn is_trash(&self, path: &Path) -> bool {
        path.components()
            .any(|part| part.as_os_str() == self.trash.as_os_str())
    }
}

/// The first Maildir of a Maildir++, whose folders have names with a dot.
fn top_of(maildir: &Path) -> &Path {
    let is_folder = maildir
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    match maildir.parent() {
        Some(top) if is_folder && top.join("cur").is_dir() => top,
        _ => maildir,
    }
}

/// The folder that was scanned and in which a file lies, and the path below it; for a file that was named itself, its folder.
fn root_of<'p>(path: &'p Path, roots: &'p [PathBuf]) -> (&'p Path, &'p Path) {
    let found = roots
        .iter()
        .filter_map(|root| Some((root.as_path(), path.strip_prefix(root).ok()?)))
        .filter(|(_, below)| !below.as_os_str().is_empty())
        .max_by_key(|(root, _)| root.as_os_str().len());
    found.unwrap_or_else(|| {
        let name = path.file_name().unwrap_or_default();
        (super::super::disk::folder_of(path), Path::new(name))
    })
}

fn plain(path: PathBuf) -> Destination {
    let mut made: Vec<Made> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !is_there(folder))
        .map(folder)
        .collect();
    made.reverse();
    Destination { path, made }
}

fn in_maildir(maildir: &Path, name: &OsStr) -> Destination {
    let mut name = name.to_owned();
    if !name.as_encoded_bytes().contains(&b':') {
        name.push(":2,");
    }
    let mut destination = plain(maildir.join("cur").join(name));
    for part in ["new", "tmp"] {
        let path = maildir.join(part);
        if !is_there(&path) {
            destination.made.push(folder(&path));
        }
    }
    // By this file others know that it is a folder of a Maildir++ and no mailbox of its own.
    let mark = maildir.join("maildirfolder");
    if !is_there(maildir) && !is_there(&mark) {
        destination.made.push(Made {
            path: Kept(mark),
            folder: false,
        });
    }
    destination
}

fn folder(path: &Path) -> Made {
    Made {
        path: Kept(path.to_path_buf()),
        folder: true,
    }
}

/// The name itself if it is free, or else one like it. Of a name in a Maildir the part before the first comma or colon changes.
pub(super) fn free_name(path: &Path, taken: &HashSet<PathBuf>) -> PathBuf {
    let is_free = |path: &Path| !is_there(path) && !taken.contains(path);
    if is_free(path) {
        return path.to_path_buf();
    }
    let name = path.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    let in_maildir = bytes.windows(3).any(|part| part == b":2,");
    let cut = if in_maildir {
        bytes.iter().position(|b| matches!(b, b',' | b':'))
    } else {
        bytes.iter().rposition(|&b| b == b'.').filter(|&at| at > 0)
    };
    let cut = cut.unwrap_or(bytes.len());
    let part = |bytes: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        OsStr::from_bytes(bytes).to_owned()
    };
    let (front, back) = (part(&bytes[..cut]), part(&bytes[cut..]));
    (2_u64..)
        .map(|number| {
            let mut other: OsString = front.clone();
            other.push(if in_maildir {
                format!("_{number}")
            } else {
                format!("-{number}")
            });
            other.push(&back);
            path.with_file_name(other)
        })
        .find(|path| is_free(path))
        .unwrap_or_else(|| path.to_path_buf())
}

/// The device of the file system on which a path lies or would lie.
pub(super) fn device_of(path: &Path) -> Option<u64> {
    path.ancestors()
        .find_map(|part| fs::metadata(part).ok())
        .map(|metadata| metadata.dev())
}
