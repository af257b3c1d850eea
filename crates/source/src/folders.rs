//! Which folders are there, and which of them does a user mean?

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use crate::Collection;
use crate::folder_name::{WantedFolder, names_in};
use crate::judge::{Content, HEAD, judge};
use crate::listing::{Entry, MailboxKind, Place, shown};

/// How many files are opened to tell which of them are mailboxes.
const OPENED: usize = 500;

impl Collection {
    /// The folders, and files of many messages, that a user calls so, with those below them:
    /// their paths as they are shown, sorted. Folders above the paths given do not count.
    pub fn folders_called(&self, wanted: &str) -> Vec<String> {
        let folder = WantedFolder::called(wanted);
        let inboxes = match folder.is_inbox() {
            true => self.inboxes(),
            false => BTreeSet::new(),
        };
        let is_meant = |path: &str| {
            let names = names_in(path);
            folder.is_among(&names, self.outside(path)) || inboxes.contains(path)
        };
        self.matching(is_meant)
    }

    /// The same for a path: what is there, and what is below it.
    pub fn folders_below(&self, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        self.matching(|shown| {
            let rest = shown.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn matching(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let listing = &self.listing;
        let folder_path = |n: usize| listing.folders[n].shown.trim_end_matches('/');
        let meant: Vec<bool> = (0..listing.folders.len())
            .map(|n| n > 0 && is_meant(folder_path(n)))
            .collect();
        let mut found = BTreeSet::new();
        for entry in &listing.entries {
            if meant[entry.folder] {
                found.insert(folder_path(entry.folder).to_owned());
            } else if entry.place != Place::Maildir {
                // Perhaps it holds many messages.
                let path = listing.shown(entry);
                if is_meant(&path) {
                    found.insert(path);
                }
            }
        }
        found.into_iter().collect()
    }

    /// How many of the folders of a path stand above the path that was given.
    fn outside(&self, path: &str) -> usize {
        let given = self.given.iter().map(|given| given.trim_end_matches('/'));
        let above = given.filter(|given| path.starts_with(given));
        let names = above.map(|given| names_in(given).len());
        names.max().map_or(0, |count| count.saturating_sub(1))
    }

    /// The parts of Maildirs that have folders below them: a server calls these its inbox.
    fn inboxes(&self) -> BTreeSet<String> {
        let maildirs = self.mailboxes.iter();
        let maildirs = maildirs.filter(|mailbox| mailbox.kind == MailboxKind::Maildir);
        let maildirs: BTreeSet<&str> = maildirs.map(|mailbox| mailbox.path.as_str()).collect();
        let has_folders = |path: &&&str| {
            let below = format!("{}/.", path.trim_end_matches('/'));
            maildirs
                .range(below.as_str()..)
                .next()
                .is_some_and(|next| next.starts_with(&below))
        };
        let inboxes = maildirs.iter().filter(has_folders);
        let parts = inboxes.flat_map(|path| {
            let path = path.trim_end_matches('/');
            [format!("{path}/cur"), format!("{path}/new")]
        });
        parts.collect()
    }

    /// The folders and mailboxes that hold messages, for a user to choose from, sorted.
    pub fn folder_list(&self) -> Vec<String> {
        let listing = &self.listing;
        let mut list = BTreeSet::new();
        let mut opened = 0;
        for entry in &listing.entries {
            let folder = listing.folders[entry.folder].shown.trim_end_matches('/');
            let folder = match entry.place {
                Place::Maildir => folder.rsplit_once('/').map_or(folder, |(path, _)| path),
                _ => folder,
            };
            if entry.place != Place::Maildir && opened < OPENED {
                opened += 1;
                if self.is_mailbox(entry) {
                    list.insert(listing.shown(entry));
                    continue;
                }
            }
            if !folder.is_empty() {
                list.insert(folder.to_owned());
            }
        }
        list.into_iter().collect()
    }

    fn is_mailbox(&self, entry: &Entry) -> bool {
        let mut head = Vec::new();
        let read = File::open(self.listing.path(entry))
            .and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
        let content = judge(&head, &shown(&entry.name));
        let many = matches!(content, Content::Mbox | Content::JsonLines | Content::Sgml);
        read.is_ok() && many
    }
}
