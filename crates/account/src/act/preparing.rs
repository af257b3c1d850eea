//! What happens to the messages of a folder on a server: worked out, without changing anything there.

use std::collections::{BTreeMap, HashMap};

use twicetold_model::Category;
use twicetold_source::act::{
    Action, Carry, Deed, Failure, Kept, OnServer, Prepared, Ready, SERVER_COPIES, ServerChange,
    Step, StoredCopy, is_copy,
};

use super::connections::Connection;
use super::look::has;
use super::{Address, ServerSpot, Servers};
use crate::fault::Fault;
use crate::imap::folders::Opened;
use crate::uids::UidSet;

/// Flags that say something about the very message and nothing about what it says.
const OF_ONE_MESSAGE: [&str; 7] = [
    "$Junk",
    "Junk",
    "$NotJunk",
    "NonJunk",
    "NotJunk",
    "$Phishing",
    "$HasAttachment",
];

/// Keywords that say what the reader did with the message, as `\Answered` does.
const DONE_WITH_IT: [&str; 2] = ["$Forwarded", "$MDNSent"];

/// What was asked of the server for a group.
struct Asked {
    deed: Deed,
    opened: Opened,
    trash: String,
    /// The messages and witnesses that are still there, with their flags.
    flags: HashMap<Address, Vec<String>>,
}

impl Servers<'_> {
    /// Works out what happens to messages of one folder.
    pub(super) fn prepare_folder<'r>(
        &mut self,
        ready: Vec<Ready<'r, ServerSpot>>,
    ) -> Result<Prepared<'r>, Failure> {
        let mut prepared = Prepared::default();
        let Some(first) = ready.first() else {
            return Ok(prepared);
        };
        let home = first.spot.address.clone();
        self.refuse_action(&home)?;
        let asked = self.ask(&home, &ready)?;
        let mut step = OnServer {
            account: home.account.clone(),
            folder: home.folder.clone(),
            uid_validity: home.uid_validity,
            uid_next: asked.opened.uid_next,
            deed: asked.deed.clone(),
            changes: Vec::new(),
        };
        let mut given: HashMap<Address, Vec<String>> = HashMap::new();
        let mut start = 0;
        let name = format!("{SERVER_COPIES}{:06}", self.stores);
        let store = self.wishes.store.join(name);
        for one in ready {
            if let Err(failure) = fits(&one, &asked) {
                prepared.refused.push((one.removal, failure));
                continue;
            }
            let carry = if self.wishes.action.removes() {
                carry(&one, &asked, &mut given)
            } else {
                None
            };
            let spot = one.spot;
            let copy = self.wishes.action.removes().then(|| StoredCopy {
                path: Kept(store.clone()),
                start,
            });
            start += spot.whole.bytes;
            step.changes.push(ServerChange {
                message: spot.touched,
                uid: spot.address.uid,
                whole: spot.whole,
                message_id: spot.message_id,
                flags: spot.flags,
                labels: spot.labels,
                date: spot.date,
                copy,
                carry,
            });
        }
        if !step.changes.is_empty() {
            self.stores += 1;
            prepared.step = Some(Step::Server(Box::new(step)));
        }
        Ok(prepared)
    }

    fn refuse_action(&self, home: &Address) -> Result<(), Failure> {
        match (self.wishes.action, &self.wishes.to) {
            (Action::Hardlink, _) => Err(Failure::new(
                "a message on a server cannot be made a second name of another one",
                "use --action trash for it",
            )),
            (Action::MoveTo, None) => Err(Failure::new(
                format!(
                    "{} lies on a server, and --to names a folder of this machine",
                    home.path()
                ),
                format!("name a folder there: --to account:{}/FOLDER", home.account),
            )),
            (Action::MoveTo, Some((account, _))) if *account != home.account => Err(Failure::new(
                format!(
                    "{} lies in another account than account:{account}",
                    home.path()
                ),
                "move messages within their account, or use --action trash",
            )),
            _ => Ok(()),
        }
    }

    /// Asks the server where messages go, and whether all that the group stands on is still there.
    fn ask(&mut self, home: &Address, ready: &[Ready<'_, ServerSpot>]) -> Result<Asked, Failure> {
        let mut flags = HashMap::new();
        let mut wanted: BTreeMap<(&str, &str, u32), (Address, UidSet)> = BTreeMap::new();
        for spot in ready
            .iter()
            .flat_map(|one| std::iter::once(&one.spot).chain(&one.witnesses))
        {
            let a = &spot.address;
            let entry = wanted
                .entry((&a.account, &a.folder, a.uid_validity))
                .or_insert_with(|| (a.clone(), UidSet::default()));
            entry.1.insert(a.uid);
        }
        for (address, uids) in wanted.into_values() {
            let found = self.accounts.with(&address.account, &mut |connection| {
                connection.examine(&address.folder, address.uid_validity)?;
                connection.session.flags_of(&uids)
            })?;
            flags.extend(
                found
                    .into_iter()
                    .map(|(uid, flags)| (address.with_uid(uid), flags)),
            );
        }
        let wishes = &self.wishes;
        let asked = self.accounts.with(&home.account, &mut |connection| {
            let trash = connection.trash(wishes.trash.as_deref())?.name;
            let deed = match wishes.action {
                Action::Trash => target(connection, &trash)?,
                Action::MoveTo => {
                    let to = wishes.to.as_ref().map(|(_, folder)| folder.as_str());
                    target(connection, to.unwrap_or_default())?
                }
                Action::Delete if connection.session.can_remove() => Deed::Remove,
                Action::Delete => {
                    return Err(Fault::Lacks {
                        extension: "UIDPLUS",
                        purpose: "remove messages without touching others",
                    });
                }
                Action::Label if connection.session.has("X-GM-EXT-1") => {
                    Deed::Label(wishes.label.clone())
                }
                Action::Label => Deed::Flag(wishes.label.clone()),
                Action::Flag | Action::Hardlink => Deed::Flag("\\Deleted".to_owned()),
            };
            if matches!(deed, Deed::Move { .. }) && !connection.session.can_move() {
                return Err(Fault::Lacks {
                    extension: "MOVE and UIDPLUS",
                    purpose: "move messages without touching others",
                });
            }
            let opened = connection.examine(&home.folder, home.uid_validity)?;
            Ok((deed, opened, trash))
        });
        let (deed, opened, trash) = asked?;
        Ok(Asked {
            deed,
            opened,
            trash,
            flags,
        })
    }
}

/// The folder to which messages go, as it is now.
fn target(connection: &mut Connection, name: &str) -> Result<Deed, Fault> {
    let counts = match connection.known(name)? {
        Some(folder) => Some(connection.session.count(&folder)?),
        None => None,
    };
    Ok(Deed::Move {
        to: name.to_owned(),
        made: counts.is_none(),
        uid_validity: counts.and_then(|counts| counts.uid_validity),
        uid_next: counts.and_then(|counts| counts.uid_next),
    })
}

/// Whether all that a removal stands on is still there, a moment before it is carried out.
fn fits(one: &Ready<'_, ServerSpot>, asked: &Asked) -> Result<(), Failure> {
    let again = "scan again for a new plan";
    let address = &one.spot.address;
    if !asked.flags.contains_key(address) {
        return Err(Failure::new(
            "another program has just moved or removed it",
            again,
        ));
    }
    for witness in &one.witnesses {
        let location = &witness.touched.location;
        match asked.flags.get(&witness.address) {
            None => {
                return Err(Failure::new(
                    format!(
                        "{location} holds what it says, and was just moved or removed by another program"
                    ),
                    again,
                ));
            }
            Some(flags) if has(flags, "\\Deleted") => {
                return Err(Failure::new(
                    format!("{location} holds what it says, and is marked as deleted"),
                    "take the mark away in your mail program, or scan again for a new plan",
                ));
            }
            Some(flags) if has(flags, "\\Draft") => {
                return Err(Failure::new(
                    format!("{location} holds what it says, and is a draft"),
                    "scan again for a new plan",
                ));
            }
            Some(_) => {}
        }
        if witness.address.account == address.account && witness.address.folder == asked.trash {
            return Err(Failure::new(
                format!("what it says stands in {location}, which lies in the trash"),
                "scan without the trash folder",
            ));
        }
    }
    match &asked.deed {
        Deed::Move { to, .. } if *to == address.folder => Err(Failure::new(
            format!("it lies in {to} already"),
            "nothing to do",
        )),
        Deed::Flag(flag) if has(&one.spot.flags, flag) => {
            Err(Failure::new("it is marked already", "nothing to do"))
        }
        Deed::Label(label) if one.spot.labels.contains(label) => {
            Err(Failure::new("it has the label already", "nothing to do"))
        }
        _ => Ok(()),
    }
}

/// What the first of the messages that stay gets, if it lies in the same account.
fn carry(
    one: &Ready<'_, ServerSpot>,
    asked: &Asked,
    given: &mut HashMap<Address, Vec<String>>,
) -> Option<Carry> {
    let survivor = one.witnesses.first()?;
    if survivor.address.account != one.spot.address.account {
        return None;
    }
    let now = asked.flags.get(&survivor.address)?;
    let given = given.entry(survivor.address.clone()).or_default();
    let flags: Vec<String> = carried(&one.spot.flags, one.removal.category)
        .filter(|flag| !has(now, flag) && !has(given, flag))
        .map(str::to_owned)
        .collect();
    if flags.is_empty() {
        return None;
    }
    given.extend(flags.iter().cloned());
    Some(Carry {
        folder: survivor.address.folder.clone(),
        uid_validity: survivor.address.uid_validity,
        uid: survivor.address.uid,
        flags,
    })
}

/// What of a message's flags goes over to the one that stays; see `docs/apply.md`.
fn carried(flags: &[String], category: Category) -> impl Iterator<Item = &str> {
    let copy = is_copy(category);
    let any = |names: &[&str], flag: &str| names.iter().any(|n| n.eq_ignore_ascii_case(flag));
    flags.iter().map(String::as_str).filter(move |flag| {
        let done = any(&["\\Seen", "\\Answered"], flag) || any(&DONE_WITH_IT, flag);
        let about = flag.eq_ignore_ascii_case("\\Flagged")
            || !flag.starts_with('\\') && !any(&OF_ONE_MESSAGE, flag) && !any(&DONE_WITH_IT, flag);
        about || copy && done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_takes_all_and_a_longer_message_only_what_marks_content() {
        let flags = [
            "\\Seen",
            "\\Deleted",
            "\\flagged",
            "$Forwarded",
            "Work",
            "$Junk",
            "\\Recent",
        ]
        .map(str::to_owned);
        let of = |category| carried(&flags, category).collect::<Vec<_>>();
        assert_eq!(
            of(Category::Identical),
            ["\\Seen", "\\flagged", "$Forwarded", "Work"]
        );
        assert_eq!(of(Category::Quoted), ["\\flagged", "Work"]);
    }
}
