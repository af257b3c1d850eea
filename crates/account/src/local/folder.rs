//! A folder of an account on this machine.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

use super::draft::{Draft, PREFIX};
use super::flags::{Key, base, parse, with_letters, without_letters};
use super::names::{maildir, short_hash};
use super::state::State;

/// A folder of an account on this machine.
#[derive(Debug)]
pub(crate) struct LocalFolder {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
    home: String,
    /// The files here by what they are on the server, once they were listed.
    here: Option<Here>,
}

#[derive(Debug, Default)]
struct Here {
    /// Path below the Maildir, such as `cur/…`.
    by_key: HashMap<Key, String>,
    /// Messages of an earlier validity, by size: the server may hand them out once more.
    earlier: HashMap<u64, Vec<Earlier>>,
}

#[derive(Clone, Debug)]
struct Earlier {
    name: String,
    key: Key,
    checksum: Option<blake3::Hash>,
}

/// What became of a message that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is new.
    New,
    /// It was here already, under a UID that is not valid any more.
    Again,
}

impl LocalFolder {
    /// Finds the folder's Maildir, without making it.
    pub(crate) fn find(root: &Path, name: &str, delimiter: Option<char>) -> Result<Self, Fault> {
        let usual = maildir(name, delimiter);
        // Two folders whose names the file system does not tell apart get different ones.
        let other = format!("{usual}%{}", short_hash(name));
        for local in [usual, other] {
            let path = if local.is_empty() {
                root.to_owned()
            } else {
                root.join(local)
            };
            let state = match State::read(&path)? {
                Some(state) if state.folder == name => state,
                Some(_) => continue,
                None => State::new(name),
            };
            return Ok(Self {
                path,
                state,
                home: short_hash(name),
                here: None,
            });
        }
        Err(Fault::Wish {
            what: format!("there is no place for the folder {name}: its name is taken"),
            hint: "rename the folder on the server, or leave it out: --exclude".into(),
        })
    }

    /// Makes what a Maildir needs, and clears away what a cut left.
    pub(crate) fn prepare(&self) -> Result<(), Fault> {
        for part in ["tmp", "new", "cur"] {
            let path = self.path.join(part);
            super::create_private_folder(&path)
                .map_err(|error| Fault::local("make", &path, error))?;
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && self.state.folder != "INBOX" {
            // Other programs know by it that this is a folder of a Maildir++.
            let mark = self.path.join("maildirfolder");
            fs::write(&mark, b"").map_err(|error| Fault::local("write", &mark, error))?;
        }
        let tmp = self.path.join("tmp");
        let entries = fs::read_dir(&tmp).map_err(|error| Fault::local("read", &tmp, error))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Looks which messages are here.
    pub(crate) fn look(&mut self) -> Result<(), Fault> {
        if self.here.is_some() {
            return Ok(());
        }
        let mut here = Here::default();
        for part in ["cur", "new"] {
            let path = self.path.join(part);
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Fault::local("read", &path, error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| Fault::local("read", &path, error))?;
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let Some(named) = parse(&name).filter(|named| named.home == self.home) else {
                    continue;
                };
                let name = format!("{part}/{name}");
                match named.key {
                    Key::Imap(validity, _) if validity != self.state.uid_validity => {
                        here.earlier.entry(named.size).or_default().push(Earlier {
                            name,
                            key: named.key,
                            checksum: None,
                        });
                    }
                    key => {
                        here.by_key.insert(key, name);
                    }
                }
            }
        }
        // The order in which a folder is read is nobody's choice.
        for same_size in here.earlier.values_mut() {
            same_size.sort_by(|a, b| b.name.cmp(&a.name));
        }
        self.here = Some(here);
        Ok(())
    }

    /// Forgets what was seen, as after the validity changed.
    pub(crate) fn look_again(&mut self) -> Result<(), Fault> {
        self.here = None;
        self.look()
    }

    /// Whether messages of an earlier validity are here, so that checksums will be needed.
    pub(crate) fn has_earlier(&self) -> bool {
        self.here
            .as_ref()
            .is_some_and(|here| !here.earlier.is_empty())
    }

    /// Whether a message is here.
    pub(crate) fn holds(&self, key: &Key) -> bool {
        self.here
            .as_ref()
            .is_some_and(|here| here.by_key.contains_key(key))
    }

    /// Puts a message that has arrived in its place.
    pub(crate) fn keep(
        &mut self,
        draft: Draft,
        key: Key,
        date: Option<i64>,
        letters: &str,
    ) -> Result<(PathBuf, Kept), Fault> {
        let home = self.home.clone();
        let path = self.path.clone();
        let here = self.here.get_or_insert_default();
        let name = format!(
            "cur/{}",
            with_letters(&base(date.unwrap_or(0), &key, &home, draft.size()), letters)
        );
        let place = path.join(&name);
        if let Some(found) = take_earlier(here, &path, &draft)? {
            rename(&path.join(&found), &place)?;
            here.by_key.insert(key, name);
            return Ok((place, Kept::Again));
        }
        draft.keep(&place, date)?;
        // A crash after the last fetch put it there and before that was noted.
        if let Some(before) = here.by_key.insert(key, name.clone())
            && before != name
        {
            let _ = fs::remove_file(path.join(before));
        }
        Ok((place, Kept::New))
    }

    /// Gives a message other flags; whether that changed anything.
    pub(crate) fn set_letters(&mut self, key: &Key, letters: &str) -> Result<bool, Fault> {
        let Some(name) = self.here.as_ref().and_then(|here| here.by_key.get(key)) else {
            return Ok(false);
        };
        let bare = name.rsplit('/').next().unwrap_or(name);
        let next = format!("cur/{}", with_letters(without_letters(bare), letters));
        if *name == next {
            return Ok(false);
        }
        let (from, to) = (self.path.join(name), self.path.join(&next));
        match fs::rename(&from, &to) {
            Ok(()) => {}
            // Another program has just moved it: next time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Fault::local("rename", &from, error)),
        }
        if let Some(here) = &mut self.here {
            here.by_key.insert(key.clone(), next);
        }
        Ok(true)
    }

    /// Removes a message; whether it was here.
    pub(crate) fn remove(&mut self, key: &Key) -> Result<bool, Fault> {
        let Some(name) = self.here.as_mut().and_then(|here| here.by_key.remove(key)) else {
            return Ok(false);
        };
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Fault::local("remove", &path, error)),
        }
    }

    /// Removes the messages of earlier validities, which the server no longer has.
    pub(crate) fn remove_earlier(&mut self) -> Result<u64, Fault> {
        let mut removed = 0;
        let earlier = self
            .here
            .as_mut()
            .map(|here| std::mem::take(&mut here.earlier));
        for earlier in earlier
            .into_iter()
            .flatten()
            .flat_map(|(_, same_size)| same_size)
        {
            let path = self.path.join(earlier.name);
            fs::remove_file(&path).map_err(|error| Fault::local("remove", &path, error))?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Notes what was fetched; the messages themselves have to be on the disk by then.
    pub(crate) fn note(&self) -> Result<(), Fault> {
        self.state.write(&self.path)
    }
}

/// Finds the message among those of an earlier validity, byte for byte.
fn take_earlier(here: &mut Here, maildir: &Path, draft: &Draft) -> Result<Option<String>, Fault> {
    let Some(same_size) = here.earlier.get_mut(&draft.size()) else {
        return Ok(None);
    };
    let Some(wanted) = draft.checksum() else {
        return Ok(None);
    };
    for place in (0..same_size.len()).rev() {
        let earlier = &mut same_size[place];
        let checksum = match earlier.checksum {
            Some(checksum) => checksum,
            None => match checksum_of(&maildir.join(&earlier.name)) {
                Ok(checksum) => *earlier.checksum.insert(checksum),
                // Gone or unreadable: then it is no copy to rely on.
                Err(_) => continue,
            },
        };
        if checksum == wanted {
            let found = same_size.remove(place);
            if same_size.is_empty() {
                here.earlier.remove(&draft.size());
            }
            here.by_key.remove(&found.key);
            return Ok(Some(found.name));
        }
    }
    Ok(None)
}

fn checksum_of(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

fn rename(from: &Path, to: &Path) -> Result<(), Fault> {
    fs::rename(from, to).map_err(|error| Fault::local("rename", from, error))
}
