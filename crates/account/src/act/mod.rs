//! Hands for folders on servers: carrying out a plan there, and undoing it.
//!
//! A message on a server is known by its account, folder, UIDVALIDITY and UID; the same four always mean the same bytes. Still all is
//! read again before anything goes, because what is meant may be gone. Then, for the messages of one folder at a time:
//!
//! 1. what the messages that stay get of their flags, and where the others go, is in the journal;
//! 2. the bytes of what goes are kept on this machine, beside the journal;
//! 3. the messages are moved by one command, or copied, marked and expunged by their UIDs; never is there a bare EXPUNGE;
//! 4. where they are now is in the journal.
//!
//! Whatever cuts this short, [`look`] finds out how far it came, by UID where the server tells UIDs and by checksum where it does not.

mod address;
mod connections;
mod look;
mod preparing;
mod removing;
mod returning;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use twicetold_model::{Form, RawMessage};
use twicetold_source::act::{
    Action, BATCH, BATCH_BYTES, Failure, Hands, OnServer, Place, Prepared, Ready, Settled, Step,
    Touched, Watch, Whole,
};
use twicetold_source::{Checksum, Named, Plan, Removal, message_within};

pub use address::{Address, Fetched};
pub use connections::Connect;

use crate::imap::reading::ServerMessage;
use crate::imap::session::MOST_MESSAGE;
use crate::uids::UidSet;
use connections::Connections;

/// What the user wants done on servers, and how.
#[derive(Clone, Debug)]
pub struct ServerWishes {
    /// What to do with messages that may go.
    pub action: Action,
    /// The name of the trash folder; without one, the folder that the server has for that.
    pub trash: Option<String>,
    /// The account and folder to move to.
    pub to: Option<(String, String)>,
    /// The label to give.
    pub label: String,
    /// Where the bytes of what goes are kept until the run is forgotten.
    pub store: PathBuf,
}

/// Hands for folders on servers.
pub struct Servers<'p> {
    plan: Option<&'p Plan>,
    wishes: ServerWishes,
    accounts: Connections<'p>,
    /// The messages of the group at hand.
    held: HashMap<Address, ServerMessage>,
    /// Folders whose messages cannot be read, and why.
    troubles: HashMap<(String, u32), Failure>,
    /// How many files of copies there are.
    stores: usize,
}

/// Where a message was found on a server.
#[derive(Debug)]
pub struct ServerSpot {
    address: Address,
    touched: Touched,
    whole: Whole,
    message_id: Option<String>,
    flags: Vec<String>,
    labels: Vec<String>,
    date: Option<i64>,
}

impl<'p> Servers<'p> {
    /// Hands that can carry out a plan.
    pub fn new(plan: &'p Plan, wishes: ServerWishes, connect: Connect<'p>) -> Self {
        Self {
            plan: Some(plan),
            ..Self::without_plan(wishes, connect)
        }
    }

    /// Hands that can settle and undo.
    pub fn without_plan(wishes: ServerWishes, connect: Connect<'p>) -> Self {
        Self {
            plan: None,
            wishes,
            accounts: Connections::new(connect),
            held: HashMap::new(),
            troubles: HashMap::new(),
            stores: 0,
        }
    }

    /// Reads what the group needs: one question for each folder.
    fn read_group(&mut self, group: &[&Removal]) {
        self.release();
        let mut wanted: BTreeMap<(String, u32), (Address, UidSet)> = BTreeMap::new();
        for removal in group {
            for named in std::iter::once(&removal.message).chain(&removal.witnesses) {
                if let Some(address) = Address::of(named) {
                    let uids = wanted
                        .entry((named.location.path.to_string(), address.uid_validity))
                        .or_insert_with(|| (address.clone(), UidSet::default()));
                    uids.1.insert(address.uid);
                }
            }
        }
        for (key, (address, uids)) in wanted {
            let mut found = Vec::new();
            let read = self.accounts.with(&address.account, &mut |connection| {
                found.clear();
                connection.examine(&address.folder, address.uid_validity)?;
                let session = &mut connection.session;
                session.read_messages(&uids, MOST_MESSAGE, &mut |message| found.push(message))
            });
            match read {
                Ok(()) => self.held.extend(
                    found
                        .into_iter()
                        .map(|message| (address.with_uid(message.uid), message)),
                ),
                Err(failure) => drop(self.troubles.insert(key, failure)),
            }
        }
    }

    fn no_longer_there(named: &Named) -> Failure {
        Failure::new(
            format!("{} is no longer there", named.location),
            "another program moved or removed it; scan again for a new plan",
        )
    }
}

impl Hands for Servers<'_> {
    type Spot = ServerSpot;

    fn groups(&self, chosen: &[usize]) -> Vec<Vec<usize>> {
        let Some(plan) = self.plan else {
            return Vec::new();
        };
        let mut folders: BTreeMap<(&str, Option<u32>), Vec<usize>> = BTreeMap::new();
        for &number in chosen {
            if let Some(removal) = plan.removals.get(number) {
                let message = &removal.message;
                let folder = (&*message.location.path, message.uid_validity);
                folders.entry(folder).or_default().push(number);
            }
        }
        let mut groups = Vec::new();
        for numbers in folders.into_values() {
            let (mut group, mut bytes) = (Vec::new(), 0);
            for number in numbers {
                let removal = &plan.removals[number];
                let witnesses: u64 = removal.witnesses.iter().map(|w| w.bytes).sum();
                bytes += removal.message.bytes + witnesses;
                group.push(number);
                if group.len() >= BATCH || bytes >= BATCH_BYTES {
                    groups.push(std::mem::take(&mut group));
                    bytes = 0;
                }
            }
            groups.push(group);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    fn lock_file(&self, _group: &[&Removal]) -> Option<(PathBuf, String)> {
        None
    }

    fn hold(&mut self, group: &[&Removal], _only_looking: bool) -> Result<(), Failure> {
        self.read_group(group);
        Ok(())
    }

    fn release(&mut self) {
        self.held.clear();
        self.troubles.clear();
    }

    fn read(&mut self, named: &Named) -> Result<(RawMessage<'static>, ServerSpot), Failure> {
        let address = Address::of(named).ok_or_else(|| Self::no_longer_there(named))?;
        let key = (named.location.path.to_string(), address.uid_validity);
        if let Some(failure) = self.troubles.get(&key) {
            return Err(failure.clone());
        }
        let found = self
            .held
            .get(&address)
            .ok_or_else(|| Self::no_longer_there(named))?;
        let raw = RawMessage {
            location: named.location.clone(),
            form: Form::Mail,
            bytes: Cow::Owned(found.bytes[message_within(&found.bytes)].to_vec()),
        };
        let spot = ServerSpot {
            address,
            touched: Touched {
                location: named.location.clone(),
                bytes: named.bytes,
                checksum: named.checksum,
                carried: false,
            },
            whole: Whole {
                bytes: found.bytes.len() as u64,
                checksum: Checksum::of(&found.bytes),
            },
            message_id: named.message_id.clone(),
            flags: found.flags.clone(),
            labels: found.labels.clone(),
            date: found.date,
        };
        Ok((raw, spot))
    }

    fn prepare<'r>(&mut self, ready: Vec<Ready<'r, ServerSpot>>) -> Result<Prepared<'r>, Failure> {
        self.prepare_folder(ready)
    }

    fn owes(&self) -> Option<Option<(PathBuf, String)>> {
        None
    }

    fn remainder(&mut self) -> Option<Result<Step, Failure>> {
        None
    }

    fn finish(&mut self) -> Vec<String> {
        self.accounts.log_out();
        Vec::new()
    }

    fn carry_out(&mut self, step: &Step, watch: &dyn Watch) -> Settled {
        match step {
            Step::Server(step) => self.remove(step, watch),
            _ => elsewhere(),
        }
    }

    fn settle(&mut self, step: &Step, places: &[Place]) -> Settled {
        match step {
            Step::Server(step) => self.look(step, places),
            _ => elsewhere(),
        }
    }

    fn lock_file_of(&self, _step: &Step) -> Option<(PathBuf, String)> {
        None
    }

    fn take_back(
        &mut self,
        step: &Step,
        out: &[usize],
        places: &[Place],
        watch: &dyn Watch,
    ) -> Settled {
        match step {
            Step::Server(step) => self.bring_back(step, out, places, watch),
            _ => elsewhere(),
        }
    }

    fn unlock(&mut self, _path: &Path, _token: &str) {}
}

impl Servers<'_> {
    /// Finds out how far a step came, and brings every message of it to all or nothing.
    fn look(&mut self, step: &OnServer, places: &[Place]) -> Settled {
        let looked = self.accounts.with(&step.account, &mut |connection| {
            look::look(connection, step, places)
        });
        looked.unwrap_or_else(|failure| Settled {
            unknown: Some(Failure::new(
                format!(
                    "it is not known how far the messages of {} in account {} got: {}",
                    step.folder, step.account, failure.what
                ),
                "start again when the server can be reached; it is looked first where each of them is",
            )),
            ..Settled::default()
        })
    }
}

fn elsewhere() -> Settled {
    Settled {
        unknown: Some(Failure::new(
            "it does not lie on a server",
            "start again with a program that reaches files",
        )),
        ..Settled::default()
    }
}
