//! Plans carried out on a real server and undone: cut connections, other clients, servers that can do less.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use support::*;
use twicetold_account::{FlagChange, ServerWishes, Servers, Session, UidSet};
use twicetold_model::{Category, Form, Location, Problem, RawMessage};
use twicetold_source::act::{
    Action, Applied, Case, Failure, Judge, Progress, Recovered, State, Undisturbed, Undone, Watch,
    apply, recover, undo,
};
use twicetold_source::{Checksum, Head, Named, PLAN_VERSION, Plan, Removal};
use twicetold_testbed::{Dovecot, Folder, Proxy, Setup};

/// Dovecot, with the capabilities it is to admit, and so many messages that are in two folders.
struct Place {
    dovecot: Dovecot,
    folder: Folder,
    plan: Plan,
}

const WITHOUT_MOVE: &str = "IMAP4rev1 SASL-IR UIDPLUS LIST-EXTENDED SPECIAL-USE ESEARCH";

impl Place {
    fn new(capabilities: &str, messages: usize) -> Self {
        let more = match capabilities {
            "" => String::new(),
            some => format!("imap_capability = {some}\n"),
        };
        let dovecot = Dovecot::with(&Setup {
            more,
            ..Setup::default()
        });
        fill(&dovecot, "INBOX", 0, messages);
        fill(&dovecot, "Archive", 0, messages);
        let plan = plan(&dovecot);
        let folder = Folder::new();
        Self {
            dovecot,
            folder,
            plan,
        }
    }

    /// Undo gives messages back under other UIDs: a new plan is needed then.
    fn renew(&mut self) {
        self.plan = plan(&self.dovecot);
    }

    fn servers(&self, action: Action, port: u16, store: PathBuf) -> Servers<'_> {
        let wishes = ServerWishes {
            action,
            trash: None,
            to: Some(("test".into(), "Old/Mail & more".into())),
            label: "twicetold".into(),
            store,
        };
        let connect = Box::new(move |name: &str| {
            assert_eq!(name, "test");
            Session::connect(&at_port(port), &password())
                .map_err(|fault| Failure::new(fault.to_string(), "see the test"))
        });
        Servers::new(&self.plan, wishes, connect)
    }

    fn state(&self) -> State {
        State::open(&self.folder.at("state")).unwrap()
    }

    fn apply(&self, action: Action, port: u16, watch: &dyn Watch) -> Applied {
        self.apply_judged(action, port, &Yes, watch)
    }

    fn apply_judged(
        &self,
        action: Action,
        port: u16,
        judge: &dyn Judge,
        watch: &dyn Watch,
    ) -> Applied {
        let state = self.state();
        let (number, mut journal) = state
            .begin(action, &self.plan, Path::new("plan"), watch)
            .unwrap();
        let mut servers = self.servers(action, port, state.store(number));
        let chosen: Vec<usize> = (0..self.plan.removals.len()).collect();
        apply(
            &self.plan,
            &chosen,
            &HashSet::new(),
            &mut servers,
            judge,
            Some(&mut journal),
            watch,
            &Yes,
        )
    }

    fn recover(&self, port: u16) -> Vec<Recovered> {
        let mut servers = self.servers(Action::Trash, port, PathBuf::new());
        recover(&self.state(), &mut servers, &Undisturbed).unwrap()
    }

    /// Undoes the last run.
    fn undo(&self, port: u16) -> Result<Undone, Failure> {
        let state = self.state();
        let mut servers = self.servers(Action::Trash, port, PathBuf::new());
        let runs = state.runs().unwrap();
        let run = runs.last().unwrap();
        undo(&state, run, &mut servers, false, &Undisturbed, &Yes)
    }

    fn undo_well(&self) {
        let undone = self.undo(self.dovecot.imap).unwrap();
        assert!(undone.failed.is_empty(), "{:?}", undone.failed);
    }

    fn content(&self) -> Content {
        content(&self.dovecot)
    }
}

/// Every message may go, and nobody counts them.
struct Yes;

impl Judge for Yes {
    fn check(&self, cases: &[Case<'_>]) -> Vec<Result<(), Problem>> {
        cases.iter().map(|_| Ok(())).collect()
    }
}

impl Progress for Yes {
    fn advance(&self, _: u64) {}
}

/// Another client, who does something when a point is reached for the first time.
struct Meanwhile<'a>(&'static str, RefCell<Option<Box<dyn FnOnce() + 'a>>>);

impl<'a> Meanwhile<'a> {
    fn at(point: &'static str, deed: impl FnOnce() + 'a) -> Self {
        Self(point, RefCell::new(Some(Box::new(deed))))
    }
}

impl Watch for Meanwhile<'_> {
    fn reached(&self, point: &'static str) {
        if point == self.0
            && let Some(deed) = self.1.borrow_mut().take()
        {
            deed();
        }
    }
}

fn named(folder: &str, uid_validity: u32, uid: u32, bytes: &[u8]) -> Named {
    let location = Location {
        path: format!("account:test/{folder}").into(),
        offset: Some(u64::from(uid)),
    };
    let raw = RawMessage {
        location: location.clone(),
        form: Form::Mail,
        bytes: bytes.into(),
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let id = text
        .lines()
        .find_map(|line| line.strip_prefix("Message-ID: "));
    Named {
        checksum: Checksum::of_message(&raw),
        location,
        form: Form::Mail,
        bytes: bytes.len() as u64,
        message_id: id.map(str::to_owned),
        subject: String::new(),
        thread: None,
        uid_validity: Some(uid_validity),
    }
}

/// The messages of a folder as they are now, by their bytes.
fn listed(session: &mut Session, name: &str) -> BTreeMap<Vec<u8>, Named> {
    let folder = session.folder_named(name);
    let validity = session.examine(&folder).unwrap().uid_validity;
    let uids = session.uids_from(1).unwrap();
    let mut found = BTreeMap::new();
    session
        .read_messages(&uids, 1 << 20, &mut |message| {
            let named = named(name, validity, message.uid, &message.bytes);
            found.insert(message.bytes, named);
        })
        .unwrap();
    found
}

/// Everything in the inbox goes that is in the archive.
fn plan(dovecot: &Dovecot) -> Plan {
    let mut session = session(dovecot);
    let inbox = listed(&mut session, "INBOX");
    let archive = listed(&mut session, "Archive");
    let removals: Vec<Removal> = inbox
        .into_iter()
        .filter_map(|(bytes, message)| {
            Some(Removal {
                message,
                category: Category::Identical,
                witnesses: vec![archive.get(&bytes)?.clone()],
            })
        })
        .collect();
    Plan {
        head: Head {
            twicetold_plan: PLAN_VERSION,
            program: String::new(),
            folder: "/".into(),
            roots: vec!["account:test".into()],
            keep: Vec::new(),
            short: 8,
            scanned: 0,
            removals: removals.len() as u64,
            bytes: 0,
        },
        removals,
        seal: Checksum::of(b"plan"),
    }
}

fn set(text: &str) -> UidSet {
    text.parse().unwrap()
}

/// All messages, wherever they are.
fn all(content: &Content) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = content
        .values()
        .flatten()
        .map(|(bytes, _, _)| bytes.as_slice())
        .collect();
    all.sort_unstable();
    all
}

fn counts(content: &Content) -> String {
    let counts: Vec<String> = content
        .iter()
        .map(|(folder, messages)| format!("{folder} {}", messages.len()))
        .collect();
    counts.join(", ")
}

#[test]
fn a_cut_at_any_byte_of_an_apply_loses_and_doubles_nothing() {
    for capabilities in ["", WITHOUT_MOVE] {
        let mut place = Place::new(capabilities, 5);
        let before = place.content();
        let port = place.dovecot.imap;
        let mut resumed = 0;
        for cut in (0..).step_by(397) {
            let proxy = Proxy::start(port, move |number| (number == 0).then_some(cut));
            let at = format!("{capabilities:?}, cut at {cut}");
            let applied = place.apply(Action::Trash, proxy.port, &Undisturbed);
            let now = place.content();
            assert_eq!(all(&now), all(&before), "{at}: {applied:?}");
            assert!(applied.stopped.is_none(), "{at}: {applied:?}");
            assert_eq!(
                now.get("Trash").map_or(0, Vec::len),
                applied.done.len(),
                "{at}: {applied:?}"
            );
            assert_eq!(applied.done.len() + applied.refused.len(), 5, "{at}");
            if proxy.connections() > 1 {
                resumed += 1;
                assert_eq!(applied.done.len(), 5, "{at}: {applied:?}");
            }
            if !applied.done.is_empty() {
                place.undo_well();
            }
            assert_eq!(place.content(), before, "{at}");
            if proxy.connections() == 1 && applied.refused.is_empty() {
                break;
            }
            place.renew();
        }
        assert!(resumed > 5, "only {resumed} cuts were in the middle");
    }
}

#[test]
fn a_cut_at_any_byte_of_an_undo_loses_and_doubles_nothing() {
    for (capabilities, action) in [
        ("", Action::Trash),
        (WITHOUT_MOVE, Action::MoveTo),
        ("", Action::Delete),
    ] {
        let mut place = Place::new(capabilities, 4);
        let before = place.content();
        let port = place.dovecot.imap;
        let mut resumed = 0;
        for cut in (600..).step_by(131) {
            let at = format!("{capabilities:?} {action:?}, cut at {cut}");
            let applied = place.apply(action, port, &Undisturbed);
            assert_eq!(applied.done.len(), 4, "{at}: {applied:?}");
            let proxy = Proxy::start(port, move |number| (number == 0).then_some(cut));
            let undone = place.undo(proxy.port);
            let whole = undone.as_ref().is_ok_and(|undone| undone.back.len() == 4);
            if !whole {
                // Cut before the login was over: it can be started again.
                assert!(place.recover(port).len() <= 1, "{at}");
                place.undo_well();
            } else if proxy.connections() > 1 {
                resumed += 1;
            }
            assert_eq!(place.content(), before, "{at}: {undone:?}");
            if proxy.connections() == 1 && whole {
                break;
            }
            place.renew();
        }
        assert!(
            resumed > 2,
            "{action:?}: only {resumed} cuts were in the middle"
        );
    }
}

#[test]
fn a_server_that_stays_away_is_asked_later_how_far_it_came() {
    for capabilities in ["", WITHOUT_MOVE] {
        let mut place = Place::new(capabilities, 4);
        let before = place.content();
        let port = place.dovecot.imap;
        let mut unknown = 0;
        let away = Arc::new(AtomicBool::new(true));
        for cut in (5_000..).step_by(173) {
            let at = format!("{capabilities:?}, away after {cut}");
            let gone = Arc::clone(&away);
            let limit = move |number| match number {
                0 => Some(cut),
                _ => gone.load(Ordering::SeqCst).then_some(0),
            };
            away.store(true, Ordering::SeqCst);
            let proxy = Proxy::start(port, limit);
            let applied = place.apply(Action::Trash, proxy.port, &Undisturbed);
            let uncut = proxy.connections() == 1;
            if applied.stopped.is_some() {
                unknown += 1;
                // Without the server nothing can be told, and nothing is undone by guessing.
                let looked = place.recover(proxy.port);
                assert_eq!(looked[0].unknown, 4, "{at}: {looked:?}");
                assert!(place.undo(proxy.port).is_err(), "{at}");
            }
            away.store(false, Ordering::SeqCst);
            let recovered = place.recover(proxy.port);
            if applied.stopped.is_some() {
                let [one] = recovered.as_slice() else {
                    panic!("{at}: {recovered:?}");
                };
                assert_eq!((one.out + one.back, one.unknown), (4, 0), "{at}: {one:?}");
                let trash = place.content().get("Trash").map_or(0, Vec::len) as u64;
                assert_eq!(one.out, trash, "{at}");
            }
            let now = place.content();
            assert_eq!(all(&now), all(&before), "{at}: {applied:?}");
            if now != before {
                place.undo_well();
            }
            assert_eq!(place.content(), before, "{at}");
            if uncut {
                break;
            }
            place.renew();
        }
        assert!(unknown > 0, "no cut was in the middle");
    }
}

#[test]
fn a_server_that_does_not_tell_where_messages_went_is_searched() {
    for capabilities in ["", WITHOUT_MOVE] {
        let place = Place::new(capabilities, 3);
        // The same message lies in the trash already, and stays there.
        fill(&place.dovecot, "Trash", 1, 1);
        let before = place.content();
        let proxy = Proxy::hiding(place.dovecot.imap, "COPYUID");
        let applied = place.apply(Action::Trash, proxy.port, &Undisturbed);
        assert_eq!(applied.done.len(), 3, "{applied:?}");
        assert_eq!(counts(&place.content()), "Archive 3, Trash 4");
        let undone = place.undo(proxy.port).unwrap();
        assert_eq!(undone.back.len(), 3, "{undone:?}");
        assert_eq!(place.content(), before, "{undone:?}");
    }
}

#[test]
fn every_action_is_undone() {
    for (action, after) in [
        (Action::Trash, "Archive 3, Trash 3"),
        (Action::MoveTo, "Archive 3, Old/Mail & more 3"),
        (Action::Delete, "Archive 3"),
        (Action::Flag, "Archive 3, INBOX 3"),
        (Action::Label, "Archive 3, INBOX 3"),
    ] {
        let place = Place::new("", 3);
        let mut other = session(&place.dovecot);
        let folder = other.folder_named("INBOX");
        other.select(&folder).unwrap();
        other
            .store_flags(&set("2"), FlagChange::Add, &["\\Flagged", "Work", "$Junk"])
            .unwrap();
        let before = place.content();
        let applied = place.apply(action, place.dovecot.imap, &Undisturbed);
        assert_eq!(applied.done.len(), 3, "{action:?}: {applied:?}");
        assert!(applied.told.is_empty(), "{:?}", applied.told);
        let now = place.content();
        assert_eq!(counts(&now), after, "{action:?}");
        assert_ne!(now, before, "{action:?}");
        if action.removes() {
            let archived: Vec<&Vec<String>> = now["Archive"].iter().map(|(_, f, _)| f).collect();
            let starred = |flags: &&&Vec<String>| flags.contains(&"\\Flagged".to_owned());
            let flags = archived.iter().find(starred).unwrap();
            assert_eq!(flags.as_slice(), ["Work", "\\Flagged"]);
        } else {
            let mark = match action {
                Action::Flag => "\\Deleted",
                _ => "twicetold",
            };
            let marked = |(_, flags, _): &&(_, Vec<String>, _)| flags.contains(&mark.to_owned());
            assert_eq!(now["INBOX"].iter().filter(marked).count(), 3);
        }
        place.undo_well();
        assert_eq!(place.content(), before, "{action:?}");
    }
}

#[test]
fn a_hard_link_on_a_server_is_refused() {
    let place = Place::new("", 1);
    let before = place.content();
    let applied = place.apply(Action::Hardlink, place.dovecot.imap, &Undisturbed);
    let why = &applied.refused[0].1;
    assert!(why.what.contains("second name"), "{why}");
    assert_eq!(place.content(), before);
}

#[test]
fn a_server_that_can_neither_move_nor_remove_is_left_alone() {
    let place = Place::new("IMAP4rev1 SASL-IR", 2);
    let before = place.content();
    for action in [Action::Trash, Action::Delete] {
        let applied = place.apply(action, place.dovecot.imap, &Undisturbed);
        assert_eq!(applied.refused.len(), 2, "{applied:?}");
        let why = &applied.refused[0].1;
        assert!(why.next.contains("--action flag"), "{why}");
        assert_eq!(place.content(), before);
    }
    let applied = place.apply(Action::Flag, place.dovecot.imap, &Undisturbed);
    assert_eq!(applied.done.len(), 2, "{applied:?}");
    place.undo_well();
    assert_eq!(place.content(), before);
}

#[test]
fn what_another_client_did_since_the_scan_is_seen() {
    let mut place = Place::new("", 6);
    let mut other = session(&place.dovecot);
    let (inbox, archive) = (other.folder_named("INBOX"), other.folder_named("Archive"));
    // Witness 1 is gone, witness 2 is marked as deleted, message 3 is in another folder, message 4 was read.
    other.select(&archive).unwrap();
    other.remove_messages(&set("1")).unwrap();
    other
        .store_flags(&set("2"), FlagChange::Add, &["\\Deleted"])
        .unwrap();
    other.select(&inbox).unwrap();
    let away = other.folder_named("Away");
    other.create_folder(&away).unwrap();
    other.move_messages(&set("3"), &away).unwrap();
    other
        .store_flags(&set("5"), FlagChange::Add, &["\\Seen", "\\Answered"])
        .unwrap();
    let before = place.content();
    place
        .plan
        .removals
        .sort_by_key(|r| r.message.location.offset);
    let applied = place.apply(Action::Trash, place.dovecot.imap, &Undisturbed);
    let why: Vec<(u64, &str)> = applied
        .refused
        .iter()
        .map(|(location, failure)| (location.offset.unwrap(), failure.what.as_str()))
        .collect();
    let expected = [
        (1, "account:test/Archive@1 is no longer there"),
        (3, "account:test/INBOX@3 is no longer there"),
        (2, "is marked as deleted"),
    ];
    assert_eq!(why.len(), 3, "{why:?}");
    for ((number, what), (expected_number, part)) in why.iter().zip(expected) {
        assert!(*number == expected_number && what.contains(part), "{why:?}");
    }
    assert_eq!(applied.done.len(), 3);
    let now = place.content();
    assert_eq!(all(&now), all(&before));
    assert_eq!(counts(&now), "Archive 5, Away 1, INBOX 2, Trash 3");
    let read = mail(4);
    let (_, flags, _) = now["Archive"].iter().find(|(b, _, _)| *b == read).unwrap();
    assert_eq!(flags.as_slice(), ["\\Answered", "\\Seen"]);
    place.undo_well();
    assert_eq!(place.content(), before);
}

#[test]
fn a_folder_that_was_numbered_anew_is_left_alone() {
    let place = Place::new("", 2);
    let mut other = session(&place.dovecot);
    let archive = other.folder_named("Archive");
    other.select(&archive).unwrap();
    let elsewhere = other.folder_named("Elsewhere");
    other.create_folder(&elsewhere).unwrap();
    other.copy_messages(&set("1:2"), &elsewhere).unwrap();
    // Made anew by hand, as a server does that lost its index.
    let list = place
        .dovecot
        .maildir("anna", "Archive")
        .join("dovecot-uidlist");
    std::fs::remove_file(list).unwrap();
    for entry in std::fs::read_dir(place.dovecot.maildir("anna", "Archive")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("dovecot.index") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let before = place.content();
    let applied = place.apply(Action::Trash, place.dovecot.imap, &Undisturbed);
    assert_eq!(applied.refused.len(), 2, "{applied:?}");
    let why = &applied.refused[0].1.what;
    assert!(
        why.contains("numbered the messages of Archive anew"),
        "{why}"
    );
    assert_eq!(place.content(), before);
}

#[test]
fn what_another_client_does_meanwhile_costs_nothing() {
    for capabilities in ["", WITHOUT_MOVE] {
        let place = Place::new(capabilities, 5);
        let before = place.content();
        let watch = Meanwhile::at("copies kept beside the journal", || {
            let mut other = session(&place.dovecot);
            let inbox = other.folder_named("INBOX");
            let away = other.folder_named("Away");
            other.create_folder(&away).unwrap();
            other.select(&inbox).unwrap();
            other.move_messages(&set("1"), &away).unwrap();
            other
                .store_flags(&set("2"), FlagChange::Add, &["\\Flagged"])
                .unwrap();
            other
                .append(&inbox, &[], None, mail(9).len() as u64, &mut &mail(9)[..])
                .unwrap();
        });
        let applied = place.apply(Action::Trash, place.dovecot.imap, &watch);
        assert_eq!(applied.done.len(), 4, "{applied:?}");
        let (location, why) = &applied.refused[0];
        assert_eq!(location.to_string(), "account:test/INBOX@1");
        assert!(why.what.contains("meanwhile"), "{why}");
        let now = place.content();
        assert_eq!(counts(&now), "Archive 5, Away 1, INBOX 1, Trash 4");
        place.undo_well();
        let mut expected = before;
        let moved = mail(0);
        let inbox = expected.get_mut("INBOX").unwrap();
        let at = inbox.iter().position(|(b, _, _)| *b == moved).unwrap();
        let away = inbox.remove(at);
        let mut now = place.content();
        // What came meanwhile stays.
        now.get_mut("INBOX")
            .unwrap()
            .retain(|(b, _, _)| *b != mail(9));
        expected.insert("Away".into(), vec![away]);
        assert_eq!(now, expected);
    }
}

#[test]
fn what_is_lost_from_the_trash_comes_back_from_the_journal() {
    let place = Place::new("", 3);
    let before = place.content();
    let applied = place.apply(Action::Trash, place.dovecot.imap, &Undisturbed);
    assert_eq!(applied.done.len(), 3);
    let mut other = session(&place.dovecot);
    let trash = other.folder_named("Trash");
    other.select(&trash).unwrap();
    other.remove_messages(&set("2")).unwrap();
    other
        .store_flags(&set("1"), FlagChange::Add, &["\\Flagged"])
        .unwrap();
    let undone = place.undo(place.dovecot.imap).unwrap();
    assert!(undone.failed.is_empty(), "{undone:?}");
    assert!(
        undone
            .told
            .iter()
            .any(|line| line.contains("from the copy beside the journal")),
        "{undone:?}"
    );
    assert_eq!(place.content(), before);
    // Without the copy it is told, and the others come back.
    let mut place = place;
    place.renew();
    let applied = place.apply(Action::Trash, place.dovecot.imap, &Undisturbed);
    assert_eq!(applied.done.len(), 3);
    other.select(&trash).unwrap();
    let all = other.uids_from(1).unwrap();
    let first = all.iter().next().unwrap();
    other.remove_messages(&UidSet::range(first, first)).unwrap();
    std::fs::remove_dir_all(place.folder.at("state").join("store")).unwrap();
    let undone = place.undo(place.dovecot.imap).unwrap();
    assert_eq!(
        (undone.back.len(), undone.failed.len()),
        (2, 1),
        "{undone:?}"
    );
    assert!(undone.failed[0].1.what.contains("no longer in Trash"));
}

/// Somebody who takes a witness away while the proof is checked.
struct Thief<'a>(&'a Dovecot);

impl Judge for Thief<'_> {
    fn check(&self, cases: &[Case<'_>]) -> Vec<Result<(), Problem>> {
        let mut other = session(self.0);
        let archive = other.folder_named("Archive");
        other.select(&archive).unwrap();
        other.remove_messages(&set("2")).unwrap();
        Yes.check(cases)
    }
}

#[test]
fn a_witness_that_goes_while_the_proof_is_checked_is_missed() {
    let place = Place::new("", 3);
    let judge = Thief(&place.dovecot);
    let applied = place.apply_judged(Action::Trash, place.dovecot.imap, &judge, &Undisturbed);
    assert_eq!(applied.done.len(), 2, "{applied:?}");
    let (location, why) = &applied.refused[0];
    assert_eq!(location.to_string(), "account:test/INBOX@2");
    assert!(why.what.contains("was just moved or removed"), "{why}");
    assert_eq!(counts(&place.content()), "Archive 2, INBOX 1, Trash 2");
}

#[test]
fn thousands_of_messages() {
    let place = Place::new("", 2_000);
    let applied = place.apply(Action::Trash, place.dovecot.imap, &Undisturbed);
    assert_eq!(applied.done.len(), 2_000, "{:?}", applied.refused);
    let maildir = |folder: &str| messages(&place.dovecot.maildir("anna", folder)).len();
    assert_eq!(
        (maildir("INBOX"), maildir("Trash"), maildir("Archive")),
        (0, 2_000, 2_000)
    );
    place.undo_well();
    assert_eq!((maildir("INBOX"), maildir("Trash")), (2_000, 0));
}
