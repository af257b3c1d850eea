//! Finds the files below the paths a user names, each once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::discarded::{LeftOut, is_discarded};
use crate::identity::Identity;
use crate::judge::{Content, HEAD, is_control_name, is_foreign_name, judge};
use crate::listing::{
    Container, Entry, Folder, Listing, Mailbox, MailboxKind, Place, shown, shown_path,
};
use crate::stamp::Stamp;
use crate::trouble::Trouble;
use crate::{STREAM_ABOVE, TRASH};

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) listing: Listing,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) troubles: Vec<Trouble>,
    pub(crate) passed_over: usize,
}

/// A folder that the user named.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    shown: String,
    identity: Identity,
}

/// A file that the user named.
#[derive(Debug)]
struct NamedFile {
    shown: String,
    /// The path without links, by which the file is known when it is met again in a folder.
    canonical: Option<PathBuf>,
    container: bool,
}

/// A folder to be listed.
#[derive(Clone, Debug)]
struct Visit {
    path: PathBuf,
    shown: String,
    /// The Maildir whose `cur` or `new` this is, or the tree it belongs to.
    mailbox: usize,
    /// The tree that files outside Maildirs are counted for.
    tree: usize,
    messages_only: bool,
    /// A link led here, so that nobody named it twice if it was seen before.
    linked: bool,
}

#[derive(Debug, Default)]
struct Walk {
    left_out: LeftOut,
    seen: HashSet<Identity>,
    roots: HashMap<Identity, String>,
    named: HashMap<Identity, NamedFile>,
    named_twice: HashSet<String>,
    folders: Vec<Folder>,
    entries: Vec<Entry>,
    mailboxes: Vec<Mailbox>,
    troubles: Vec<Trouble>,
    passed_over: usize,
    /// Folders behind links wait until every real folder was seen, so that real paths win.
    linked_folders: Vec<Visit>,
    linked_files: Vec<(Visit, OsString)>,
}

/// Lists what is below the paths.
pub(crate) fn walk(paths: &[PathBuf], left_out: LeftOut) -> Found {
    let mut walk = Walk {
        left_out,
        folders: vec![Folder::nowhere()],
        ..Walk::default()
    };
    let elsewhere = walk.left_out.elsewhere.iter();
    walk.troubles = elsewhere.map(|name| Trouble::discarded(name)).collect();
    let roots = walk.look_at(paths);
    for root in roots {
        walk.root(root);
    }
    while !walk.linked_folders.is_empty() {
        let mut links = std::mem::take(&mut walk.linked_folders);
        links.sort_by(|a, b| a.shown.cmp(&b.shown));
        links.into_iter().for_each(|visit| walk.below(visit));
    }
    walk.take_linked_files();
    walk.finish()
}

impl Walk {
    /// Sorts the named paths into folders and files; files are taken at once.
    fn look_at(&mut self, paths: &[PathBuf]) -> Vec<Root> {
        let mut roots = Vec::new();
        for path in paths {
            let shown = shown_path(path);
            let metadata = match fs::metadata(path) {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.troubles.push(Trouble::named(&shown, &error));
                    continue;
                }
            };
            let identity = Identity::of(path, &metadata);
            if self.roots.contains_key(&identity) || self.named.contains_key(&identity) {
                self.note_named_twice(&shown);
            } else if metadata.is_dir() {
                self.roots.insert(identity.clone(), shown.clone());
                roots.push(Root {
                    path: path.clone(),
                    shown,
                    identity,
                });
            } else if metadata.is_file() {
                self.named_file(path, shown, identity, &metadata);
            } else {
                self.troubles.push(Trouble::new(
                    shown,
                    "neither a file nor a folder, so it was not read; name the file that holds the mail",
                ));
            }
        }
        roots
    }

    fn named_file(&mut self, path: &Path, shown: String, identity: Identity, metadata: &Metadata) {
        let in_maildir = path.parent().is_some_and(is_message_folder);
        let content = match read_head(path) {
            Ok(head) => judge(&head, &shown),
            Err(error) => {
                self.troubles.push(Trouble::reading(&shown, &error));
                return;
            }
        };
        let (kind, container) = match content {
            _ if in_maildir => (MailboxKind::Message, None),
            Content::Mail => (MailboxKind::Message, None),
            Content::Text => (MailboxKind::Text, None),
            Content::Mbox => (MailboxKind::Mbox, Some(Container::Mbox)),
            Content::JsonLines => (MailboxKind::JsonLines, Some(Container::JsonLines)),
            Content::Sgml => (MailboxKind::Sgml, Some(Container::Sgml)),
            Content::Empty => {
                self.passed_over += 1;
                return;
            }
            Content::Own => {
                self.passed_over += 1;
                self.troubles.push(Trouble::own(&shown));
                return;
            }
            Content::Foreign => {
                self.passed_over += 1;
                self.troubles.push(Trouble::not_messages(&shown));
                return;
            }
        };
        self.mailboxes.push(Mailbox {
            path: shown.clone(),
            kind,
            files: 1,
        });
        self.entries.push(Entry {
            folder: 0,
            name: path.as_os_str().to_owned(),
            stamp: Stamp::of(metadata),
            place: if in_maildir {
                Place::Maildir
            } else {
                Place::Named
            },
            container,
        });
        let canonical = path.canonicalize().ok();
        self.named.insert(
            identity,
            NamedFile {
                shown,
                canonical,
                container: container.is_some(),
            },
        );
    }

    fn root(&mut self, root: Root) {
        if self.seen.contains(&root.identity) {
            self.note_named_twice(&root.shown);
            return;
        }
        let tree = self.mailboxes.len();
        let files = self.entries.len();
        let troubles = self.troubles.len();
        let passed_over = self.passed_over;
        let messages_only = is_message_folder(&root.path);
        let kind = if messages_only {
            MailboxKind::Maildir
        } else {
            MailboxKind::Tree
        };
        self.mailboxes.push(Mailbox {
            path: root.shown.clone(),
            kind,
            files: 0,
        });
        self.below(Visit {
            path: root.path,
            shown: root.shown.clone(),
            mailbox: tree,
            tree,
            messages_only,
            linked: false,
        });
        let nothing = self.entries.len() == files
            && self.mailboxes.len() == tree + 1
            && self.troubles.len() == troubles
            && self.linked_files.is_empty()
            && self.linked_folders.is_empty();
        if nothing && !messages_only {
            let what = if self.passed_over == passed_over {
                "an empty folder; nothing was read"
            } else {
                "no file in this folder holds text, so there are no messages"
            };
            self.troubles.push(Trouble::new(root.shown, what));
        }
    }

    /// Lists a folder and every real folder below it.
    fn below(&mut self, first: Visit) {
        let mut waiting = vec![first];
        while let Some(visit) = waiting.pop() {
            match fs::metadata(&visit.path) {
                Ok(metadata) => {
                    let identity = Identity::of(&visit.path, &metadata);
                    if self.seen.contains(&identity) {
                        if let Some(root) = self.roots.get(&identity).cloned()
                            && !visit.linked
                        {
                            self.note_named_twice(&root);
                        }
                        continue;
                    }
                    self.seen.insert(identity);
                }
                Err(error) => {
                    self.troubles.push(Trouble::reading(&visit.shown, &error));
                    continue;
                }
            }
            let from = waiting.len();
            self.list(visit, &mut waiting);
            waiting[from..].reverse();
        }
    }

    /// Lists one folder; the folders in it are put to `waiting`.
    fn list(&mut self, visit: Visit, waiting: &mut Vec<Visit>) {
        let children = self.children(&visit);
        let is_maildir = !visit.messages_only
            && children
                .iter()
                .any(|child| child.name == "cur" && child.is_folder);
        let maildir = self.mailboxes.len();
        if is_maildir {
            let path = visit.shown.clone();
            self.mailboxes.push(Mailbox {
                path,
                kind: MailboxKind::Maildir,
                files: 0,
            });
        }
        let folder = self.folders.len();
        self.folders
            .push(Folder::new(visit.path.clone(), &visit.shown));
        for child in children {
            let name = shown(&child.name).into_owned();
            let path = visit.path.join(&child.name);
            if child.is_folder {
                let messages_only = is_maildir && (name == "cur" || name == "new");
                let hidden = name.starts_with('.') && !path.join("cur").is_dir();
                // What was let go is no reason to let anything else go.
                let trash = name == TRASH;
                if hidden || trash || visit.messages_only || is_maildir && name == "tmp" {
                    continue;
                }
                if self.leaves_out(&path, &name) {
                    let shown = format!("{}{name}", self.folders[folder].shown);
                    self.note_left_out(&path, shown);
                    continue;
                }
                let below = Visit {
                    shown: format!("{}{name}", self.folders[folder].shown),
                    path,
                    mailbox: if messages_only { maildir } else { visit.tree },
                    tree: visit.tree,
                    messages_only,
                    linked: visit.linked || child.is_link,
                };
                // The parts of a Maildir belong to it, links or not.
                if child.is_link && !messages_only {
                    self.linked_folders.push(below);
                } else {
                    waiting.push(below);
                }
            } else if name.starts_with('.') || is_control_name(&name) {
                // Hidden files and the notes of mail programs are nobody's messages.
            } else if child.is_link {
                self.linked_files.push((visit.clone(), child.name));
            } else {
                let place = match () {
                    () if visit.messages_only => Place::Maildir,
                    () if is_maildir => Place::BesideMaildir,
                    () => Place::Tree,
                };
                self.file(folder, &path, child.name, place, visit.mailbox);
            }
        }
    }

    /// Whether a folder is left out because what is in it was thrown away.
    fn leaves_out(&self, path: &Path, name: &str) -> bool {
        self.left_out.folders.iter().any(|folder| folder == path)
            || self.left_out.discarded && is_discarded(name) && path.join("cur").is_dir()
    }

    /// Tells that a folder is left out, if there is something in it that is not read anyway.
    fn note_left_out(&mut self, path: &Path, shown: String) {
        let named = fs::metadata(path)
            .is_ok_and(|metadata| self.roots.contains_key(&Identity::of(path, &metadata)));
        let holds = |part: &str| {
            fs::read_dir(path.join(part)).is_ok_and(|mut entries| entries.next().is_some())
        };
        if !named && (holds("cur") || holds("new")) {
            self.troubles.push(Trouble::discarded(&shown));
        }
    }

    fn children(&mut self, visit: &Visit) -> Vec<Child> {
        let mut children = Vec::new();
        let entries = match fs::read_dir(&visit.path) {
            Ok(entries) => entries,
            Err(error) => {
                self.troubles.push(Trouble::reading(&visit.shown, &error));
                return children;
            }
        };
        for entry in entries {
            let child = entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name())));
            match child {
                Ok((kind, name)) => {
                    let is_link = kind.is_symlink();
                    let is_folder = kind.is_dir() || is_link && visit.path.join(&name).is_dir();
                    children.push(Child {
                        name,
                        is_link,
                        is_folder,
                    });
                }
                Err(error) => self.troubles.push(Trouble::reading(&visit.shown, &error)),
            }
        }
        children.sort_by(|a, b| a.name.cmp(&b.name));
        children
    }

    /// Takes a file of a folder, unless it is nobody's message or was named itself.
    fn file(&mut self, folder: usize, path: &Path, name: OsString, place: Place, mailbox: usize) {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                if path.is_symlink() {
                    let shown = format!("{}{}", self.folders[folder].shown, shown(&name));
                    self.troubles.push(Trouble::link(&shown, &error));
                } else {
                    // It is gone already.
                    self.passed_over += 1;
                }
                return;
            }
        };
        if self.was_named(path, &metadata) {
            return;
        }
        let size = metadata.len();
        let name_shown = shown(&name);
        let in_maildir = place == Place::Maildir;
        if !metadata.is_file() || !in_maildir && (size == 0 || is_foreign_name(&name_shown)) {
            self.passed_over += 1;
            return;
        }
        let discarded = !in_maildir && self.left_out.discarded && is_discarded(&name_shown);
        if discarded && read_head(path).is_ok_and(|h| judge(&h, &name_shown) == Content::Mbox) {
            let shown = format!("{}{name_shown}", self.folders[folder].shown);
            self.troubles.push(Trouble::discarded(&shown));
            return;
        }
        let container = if in_maildir || size <= STREAM_ABOVE {
            None
        } else {
            match read_head(path).map(|head| judge(&head, &name_shown)) {
                Ok(Content::Mbox) => Some(Container::Mbox),
                Ok(Content::JsonLines) => Some(Container::JsonLines),
                Ok(Content::Sgml) => Some(Container::Sgml),
                // Whatever else it is will be seen when it is read.
                Ok(_) | Err(_) => None,
            }
        };
        match container {
            None => self.mailboxes[mailbox].files += 1,
            Some(container) => {
                let kind = match container {
                    Container::Mbox => MailboxKind::Mbox,
                    Container::JsonLines => MailboxKind::JsonLines,
                    Container::Sgml => MailboxKind::Sgml,
                };
                let path = format!("{}{name_shown}", self.folders[folder].shown);
                self.mailboxes.push(Mailbox {
                    path,
                    kind,
                    files: 1,
                });
            }
        }
        self.entries.push(Entry {
            folder,
            name,
            stamp: Stamp::of(&metadata),
            place,
            container,
        });
    }

    /// Whether a file met in a folder is one that the user named. A hard link to a named mbox is
    /// that mbox; a hard link to a named message is another copy of the message.
    fn was_named(&mut self, path: &Path, metadata: &Metadata) -> bool {
        if self.named.is_empty() {
            return false;
        }
        let Some(named) = self.named.get(&Identity::of(path, metadata)) else {
            return false;
        };
        if !named.container && named.canonical != path.canonicalize().ok() {
            return false;
        }
        let shown = named.shown.clone();
        self.note_named_twice(&shown);
        true
    }

    /// Takes files behind links, unless their real path was met or another link leads there too.
    fn take_linked_files(&mut self) {
        let mut links = std::mem::take(&mut self.linked_files);
        links.sort_by(|(a, a_name), (b, b_name)| (&a.shown, a_name).cmp(&(&b.shown, b_name)));
        let mut targets = HashSet::new();
        for (visit, name) in links {
            let path = visit.path.join(&name);
            let real_path_met = path.canonicalize().is_ok_and(|target| {
                let folder = target
                    .parent()
                    .and_then(|folder| Some((folder, fs::metadata(folder).ok()?)));
                !targets.insert(target.clone())
                    || folder.is_some_and(|(folder, metadata)| {
                        self.seen.contains(&Identity::of(folder, &metadata))
                    })
            });
            if real_path_met {
                continue;
            }
            let place = if visit.messages_only {
                Place::Maildir
            } else {
                Place::Tree
            };
            let folder = self.folders.len();
            self.folders.push(Folder::new(visit.path, &visit.shown));
            self.file(folder, &path, name, place, visit.mailbox);
        }
    }

    fn note_named_twice(&mut self, path: &str) {
        if self.named_twice.insert(path.to_owned()) {
            self.troubles.push(Trouble::named_twice(path));
        }
    }

    fn finish(mut self) -> Found {
        self.troubles.sort();
        self.troubles.dedup();
        self.mailboxes
            .retain(|mailbox| mailbox.files > 0 || mailbox.kind != MailboxKind::Tree);
        self.mailboxes.sort();
        Found {
            listing: Listing::new(self.folders, self.entries),
            mailboxes: self.mailboxes,
            troubles: self.troubles,
            passed_over: self.passed_over,
        }
    }
}

#[derive(Debug)]
struct Child {
    name: OsString,
    is_link: bool,
    is_folder: bool,
}

/// Whether this is `cur`, or `new` beside a `cur`: every file in it is a message.
pub(crate) fn is_message_folder(folder: &Path) -> bool {
    match folder.file_name() {
        Some(name) if name == "cur" => true,
        Some(name) if name == "new" => folder.with_file_name("cur").is_dir(),
        _ => false,
    }
}

fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}
