//! A scan of fetched mail, told as if it had been read on the server: there a plan is carried out, and there users look for their messages.

use twicetold_account::Address;
use twicetold_detect::Scan;
use twicetold_model::Location;
use twicetold_source::{Named, Plan, path_of};

use crate::accounts::AccountMail;

/// What a place in fetched mail is on the server.
enum Meant {
    /// This message.
    There(Address),
    /// Nothing: it is not part of an account, and stays what it is.
    Here,
    /// Part of an account's mail that is not, or no longer, known to be on the server.
    Nowhere,
}

fn meant(accounts: &[AccountMail], location: &Location) -> Meant {
    for account in accounts {
        if let Some(address) = account.fetched.address(&path_of(location)) {
            return Meant::There(address);
        }
    }
    match accounts.iter().any(|a| a.fetched.holds(location)) {
        true => Meant::Nowhere,
        false => Meant::Here,
    }
}

/// Names the messages of a plan as they are named on the server; tells how many had to be left out because they, or what holds them,
/// are not there.
pub(crate) fn move_plan(plan: &mut Plan, accounts: &[AccountMail]) -> u64 {
    let renamed = |named: &mut Named| match meant(accounts, &named.location) {
        Meant::There(address) => {
            named.location = address.location();
            named.uid_validity = Some(address.uid_validity);
            true
        }
        Meant::Here => true,
        Meant::Nowhere => false,
    };
    let before = plan.removals.len();
    plan.removals.retain_mut(|removal| {
        renamed(&mut removal.message) && removal.witnesses.iter_mut().all(renamed)
    });
    plan.removals
        .sort_by(|a, b| a.message.location.cmp(&b.message.location));
    plan.head.removals = plan.removals.len() as u64;
    plan.head.bytes = plan.removals.iter().map(|r| r.message.bytes).sum();
    (before - plan.removals.len()) as u64
}

/// Names the messages of a scan as they are named on the server.
pub(crate) fn move_scan(scan: &mut Scan, accounts: &[AccountMail]) {
    for message in &mut scan.messages {
        if let Meant::There(address) = meant(accounts, &message.location) {
            message.location = address.location();
        }
    }
    for trouble in &mut scan.troubles {
        let path = path_of(&Location {
            path: trouble.path.as_str().into(),
            offset: None,
        });
        if let Some(folder) = accounts.iter().find_map(|a| a.fetched.folder(&path)) {
            trouble.path = folder;
        }
    }
}
