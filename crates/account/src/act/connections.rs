//! Connections to the servers of accounts, made when they are needed and made again when they are cut.

use std::collections::HashMap;

use twicetold_source::act::Failure;

use crate::fault::{Error, Fault};
use crate::imap::folders::{Folder, Opened, Purpose, is_inbox};
use crate::imap::session::Session;

/// How often something that changes nothing is tried on a new connection.
const TRIES: usize = 3;

/// Names that trash folders have where the server does not say which one it is.
const TRASH_NAMES: [&str; 6] = [
    "trash",
    "deleted items",
    "deleted messages",
    "bin",
    "papierkorb",
    "corbeille",
];

/// Somebody who connects to the account of this name and logs in.
pub type Connect<'p> = Box<dyn FnMut(&str) -> Result<Session, Failure> + 'p>;

/// Connections by account.
pub(super) struct Connections<'p> {
    connect: Connect<'p>,
    open: HashMap<String, Connection>,
    /// Accounts that could not be reached: they are not tried for every message.
    unreachable: HashMap<String, Failure>,
}

/// A connection, and what is known about the server's folders.
pub(super) struct Connection {
    pub(super) session: Session,
    folders: Option<Vec<Folder>>,
}

impl<'p> Connections<'p> {
    pub(super) fn new(connect: Connect<'p>) -> Self {
        Self {
            connect,
            open: HashMap::new(),
            unreachable: HashMap::new(),
        }
    }

    /// Does something that can be done once more, on a new connection if the old one is cut.
    pub(super) fn with<T>(
        &mut self,
        account: &str,
        task: &mut dyn FnMut(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        for _ in 1..TRIES {
            match self.once(account, task)? {
                Err(fault) if fault.is_passing() => {}
                done => return done.map_err(|fault| failure(account, fault)),
            }
        }
        self.once(account, task)?
            .map_err(|fault| failure(account, fault))
    }

    /// Does something that may not be repeated without looking. A fault of the account's server is the inner value.
    pub(super) fn once<T>(
        &mut self,
        account: &str,
        task: &mut dyn FnMut(&mut Connection) -> Result<T, Fault>,
    ) -> Result<Result<T, Fault>, Failure> {
        if let Some(failure) = self.unreachable.get(account) {
            return Err(failure.clone());
        }
        let mut connection = match self.open.remove(account) {
            Some(connection) => connection,
            None => {
                let session = (self.connect)(account).inspect_err(|failure| {
                    self.unreachable.insert(account.to_owned(), failure.clone());
                })?;
                Connection {
                    session,
                    folders: None,
                }
            }
        };
        let done = task(&mut connection);
        let usable = match &done {
            Ok(_) => true,
            // The server has said its word, and waits for the next command.
            Err(fault) => matches!(
                fault,
                Fault::Refused { .. } | Fault::Lacks { .. } | Fault::Wish { .. }
            ),
        };
        if usable {
            self.open.insert(account.to_owned(), connection);
        }
        Ok(done)
    }

    pub(super) fn log_out(&mut self) {
        for (_, connection) in self.open.drain() {
            connection.session.log_out();
        }
    }
}

impl Connection {
    fn folders(&mut self) -> Result<&[Folder], Fault> {
        if self.folders.is_none() {
            self.folders = Some(self.session.folders()?.0);
        }
        Ok(self.folders.as_deref().unwrap_or_default())
    }

    /// The folder of this name, as the server calls it if it has it.
    pub(super) fn folder(&mut self, name: &str) -> Result<Folder, Fault> {
        let known = self.known(name)?;
        Ok(known.unwrap_or_else(|| self.session.folder_named(name)))
    }

    /// The folder of this name, if it is there.
    pub(super) fn known(&mut self, name: &str) -> Result<Option<Folder>, Fault> {
        let same =
            |folder: &&Folder| folder.name == name || is_inbox(name) && is_inbox(&folder.name);
        let found = self.folders()?.iter().find(same);
        Ok(found.filter(|folder| folder.holds_messages).cloned())
    }

    /// The folder for what goes: the one of this name, or the server's own.
    pub(super) fn trash(&mut self, wanted: Option<&str>) -> Result<Folder, Fault> {
        if let Some(name) = wanted {
            return self.folder(name);
        }
        let folders = self.folders()?;
        let by_purpose = |folder: &&Folder| folder.purpose == Some(Purpose::Trash);
        let by_name = |folder: &&Folder| {
            let last = match folder.delimiter {
                Some(delimiter) => folder.name.rsplit(delimiter).next(),
                None => Some(folder.name.as_str()),
            };
            let last = last.unwrap_or_default().to_lowercase();
            folder.holds_messages && TRASH_NAMES.contains(&last.as_str())
        };
        let found = folders.iter().find(by_purpose);
        if let Some(folder) = found.or_else(|| folders.iter().find(by_name)) {
            return Ok(folder.clone());
        }
        // Some servers have all folders below the inbox.
        let below = folders.iter().find_map(|folder| {
            let delimiter = folder.delimiter?;
            let prefix = format!("INBOX{delimiter}");
            let others = folders.iter().filter(|folder| !is_inbox(&folder.name));
            let all = others.clone().count() > 0
                && others.into_iter().all(|f| f.name.starts_with(&prefix));
            all.then_some(prefix)
        });
        let name = format!("{}Trash", below.unwrap_or_default());
        Ok(self.session.folder_named(&name))
    }

    /// Makes a folder, and remembers that it is there.
    pub(super) fn make(&mut self, name: &str) -> Result<(), Fault> {
        let folder = self.folder(name)?;
        self.session.create_folder(&folder)?;
        self.folders = None;
        Ok(())
    }

    /// Opens a folder for reading; its UIDs must mean what they meant.
    pub(super) fn examine(&mut self, name: &str, uid_validity: u32) -> Result<Opened, Fault> {
        let folder = self.folder(name)?;
        let opened = self.session.examine(&folder)?;
        same_numbers(name, &opened, uid_validity)?;
        Ok(opened)
    }

    /// Opens a folder for changes; its UIDs must mean what they meant.
    pub(super) fn select(&mut self, name: &str, uid_validity: u32) -> Result<Opened, Fault> {
        let folder = self.folder(name)?;
        let opened = self.session.select(&folder)?;
        same_numbers(name, &opened, uid_validity)?;
        Ok(opened)
    }

    /// Opens a folder for changes, if it is there.
    pub(super) fn select_if_there(&mut self, name: &str) -> Result<Option<Opened>, Fault> {
        match self.known(name)? {
            Some(folder) => self.session.select(&folder).map(Some),
            None => Ok(None),
        }
    }
}

fn same_numbers(name: &str, opened: &Opened, uid_validity: u32) -> Result<(), Fault> {
    if opened.uid_validity == uid_validity {
        return Ok(());
    }
    Err(Fault::Wish {
        what: format!("the server has numbered the messages of {name} anew since the scan"),
        hint: "scan again for a new plan".into(),
    })
}

/// What to say about a fault when messages were to go or to come back.
pub(super) fn failure(account: &str, fault: Fault) -> Failure {
    let next = match &fault {
        Fault::Silent { .. } | Fault::Cut { .. } | Fault::Garbage { .. } => {
            "start again when the server can be reached".to_owned()
        }
        Fault::Refused { .. } => "it stays as it is; see what the server says".to_owned(),
        Fault::Lacks { .. } => {
            "use --action flag, and let your mail program remove what is marked".to_owned()
        }
        other => other.hint(account),
    };
    Failure::new(Error::new(account, fault).to_string(), next)
}
