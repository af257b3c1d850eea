//! What every place for campaigns promises, the same tests for each.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{DAY, Folder, HAM, NOW, SPAM, changed, engine, invented, mail, servers};
use twicetold_service::{
    CampaignId, Change, Class, Committed, Embedded, Engine, Outcome, Record, Redis, Reporter,
    Standing, State, Tally,
};

/// Opens the place once more, as another process would.
type Open<'a> = &'a dyn Fn() -> Box<dyn State>;

fn all(open: Open<'_>) {
    // Each on what the others left: a place in use is never empty.
    keys_have_several_owners(&*open());
    a_change_must_know_what_it_changes(&*open());
    names_come_in_order(&*open());
    reporters_are_counted(&*open());
    reports_are_seen_by_others(open);
    twenty_at_once_are_twenty(open);
    exports_can_be_imported(open);
}

#[test]
fn memory() {
    let shared: Arc<dyn State> = Arc::new(Embedded::in_memory().unwrap());
    all(&|| Box::new(Shared(Arc::clone(&shared))));
}

#[test]
fn a_folder() {
    let folder = Folder::new("contract-folder");
    let state: Arc<dyn State> = Arc::new(Embedded::open(folder.path(), Duration::ZERO).unwrap());
    all(&|| Box::new(Shared(Arc::clone(&state))));
}

#[test]
fn a_warm_folder() {
    let folder = Folder::new("contract-warm");
    let state = Embedded::open(folder.path(), Duration::ZERO).unwrap();
    let linked = |id: u64, keys: &[u64]| Change {
        added: keys.to_vec(),
        ..pointer(id, 0, 1)
    };
    state
        .commit(&[linked(900, &[4_000_000_000, u64::MAX])])
        .unwrap();
    state.warm(1 << 30).unwrap();
    // While it warms up, and after.
    for id in 901..1000 {
        let key = id << 40 | id;
        state.commit(&[linked(id, &[key])]).unwrap();
        let owners = state.owners(&[key, u64::MAX, key + 1], 9).unwrap();
        assert_eq!(owners[0].ids, [CampaignId(id)]);
        assert_eq!(owners[1].ids, [CampaignId(900)]);
        assert!(owners[2].ids.is_empty());
        let gone = Change {
            removed: vec![key],
            ..removal(id, 1)
        };
        state.commit(&[gone]).unwrap();
    }
    let gone = Change {
        removed: vec![4_000_000_000, u64::MAX],
        ..removal(900, 1)
    };
    state.commit(&[gone]).unwrap();
    let state: Arc<dyn State> = Arc::new(state);
    all(&|| Box::new(Shared(Arc::clone(&state))));
}

#[test]
fn a_redis_server() {
    if servers::is_there() {
        let servers = servers::one("contract-redis");
        all(&|| Box::new(Redis::open(&servers.address, "test:").unwrap()));
    }
}

#[test]
fn a_redis_cluster() {
    if servers::is_there() {
        let servers = servers::cluster("contract-cluster");
        all(&|| Box::new(Redis::open(&servers.address, "test:").unwrap()));
    }
}

/// One state for several engines, where a second process could not open it.
struct Shared(Arc<dyn State>);

impl State for Shared {
    fn owners(
        &self,
        keys: &[u64],
        most: usize,
    ) -> Result<Vec<twicetold_service::Owners>, twicetold_service::StateError> {
        self.0.owners(keys, most)
    }
    fn records(
        &self,
        ids: &[CampaignId],
    ) -> Result<Vec<Option<twicetold_service::Stored>>, twicetold_service::StateError> {
        self.0.records(ids)
    }
    fn names(
        &self,
        after: Option<CampaignId>,
        most: usize,
    ) -> Result<Vec<CampaignId>, twicetold_service::StateError> {
        self.0.names(after, most)
    }
    fn commit(&self, changes: &[Change]) -> Result<Committed, twicetold_service::StateError> {
        self.0.commit(changes)
    }
    fn reporters(
        &self,
        names: &[&str],
    ) -> Result<Vec<Option<Reporter>>, twicetold_service::StateError> {
        self.0.reporters(names)
    }
    fn all_reporters(&self) -> Result<Vec<(String, Reporter)>, twicetold_service::StateError> {
        self.0.all_reporters()
    }
    fn set_reporter(
        &self,
        name: &str,
        reporter: Option<&Reporter>,
    ) -> Result<(), twicetold_service::StateError> {
        self.0.set_reporter(name, reporter)
    }
    fn place(&self) -> &str {
        self.0.place()
    }
}

fn pointer(id: u64, expected: u64, to: u64) -> Change {
    Change {
        id: CampaignId(id),
        expected,
        record: Some(Record::Merged(CampaignId(to))),
        added: Vec::new(),
        removed: Vec::new(),
        tallies: Vec::new(),
    }
}

fn removal(id: u64, expected: u64) -> Change {
    Change {
        record: None,
        ..pointer(id, expected, 0)
    }
}

fn keys_have_several_owners(state: &dyn State) {
    let keys = [0, 7, u64::MAX];
    for id in [u64::MAX, 3, 1 << 60, 5] {
        let change = Change {
            added: keys.to_vec(),
            ..pointer(id, 0, 1)
        };
        assert_eq!(state.commit(&[change]).unwrap(), Committed::Done);
    }
    let sorted = [3, 5, 1 << 60, u64::MAX].map(CampaignId);
    for owners in state.owners(&keys, 10).unwrap() {
        assert_eq!(
            (owners.ids.as_slice(), owners.more),
            (sorted.as_slice(), false)
        );
    }
    let few = &state.owners(&[7], 2).unwrap()[0];
    assert_eq!((few.ids.as_slice(), few.more), (&sorted[..2], true));
    assert!(state.owners(&[8], 2).unwrap()[0].ids.is_empty());
    let change = Change {
        removed: vec![7],
        ..pointer(5, 1, 1)
    };
    assert_eq!(state.commit(&[change]).unwrap(), Committed::Done);
    assert_eq!(state.owners(&[7], 10).unwrap()[0].ids.len(), 3);
    for (id, version) in [(u64::MAX, 1), (3, 1), (1 << 60, 1), (5, 2)] {
        let change = Change {
            removed: keys.to_vec(),
            ..removal(id, version)
        };
        assert_eq!(state.commit(&[change]).unwrap(), Committed::Done);
    }
    assert!(
        state
            .owners(&keys, 9)
            .unwrap()
            .iter()
            .all(|owners| owners.ids.is_empty())
    );
}

fn a_change_must_know_what_it_changes(state: &dyn State) {
    assert_eq!(state.commit(&[pointer(40, 0, 1)]).unwrap(), Committed::Done);
    assert_eq!(
        state.commit(&[pointer(40, 0, 2)]).unwrap(),
        Committed::Conflict
    );
    assert_eq!(
        state.commit(&[pointer(40, 7, 2)]).unwrap(),
        Committed::Conflict
    );
    assert_eq!(
        state.commit(&[removal(41, 1)]).unwrap(),
        Committed::Conflict
    );
    assert_eq!(state.commit(&[pointer(40, 1, 3)]).unwrap(), Committed::Done);
    let found = state.records(&[CampaignId(41), CampaignId(40)]).unwrap();
    assert_eq!(found[0], None);
    let found = found[1].clone().unwrap();
    assert_eq!(
        (found.version, found.record),
        (2, Record::Merged(CampaignId(3)))
    );
    assert_eq!(state.commit(&[removal(40, 2)]).unwrap(), Committed::Done);
    assert_eq!(state.records(&[CampaignId(40)]).unwrap(), [None]);
    assert_eq!(state.commit(&[]).unwrap(), Committed::Done);
}

fn names_come_in_order(state: &dyn State) {
    let ids: Vec<u64> = (0..40_u64)
        .map(|n| n.wrapping_mul(0x0669_0000_0000_0001) | 1)
        .collect();
    for &id in &ids {
        assert_eq!(state.commit(&[pointer(id, 0, 1)]).unwrap(), Committed::Done);
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let some = state.names(after, 7).unwrap();
        after = some.last().copied();
        found.extend(some.iter().map(|id| id.0));
        if some.len() < 7 {
            break;
        }
    }
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(found, sorted);
    for &id in &sorted {
        assert_eq!(state.commit(&[removal(id, 1)]).unwrap(), Committed::Done);
    }
    assert!(state.names(None, 10).unwrap().is_empty());
}

fn reporters_are_counted(state: &dyn State) {
    let odd = "Zoë: {tag} \u{1F600} x";
    let trusted = Reporter {
        standing: Standing::Trusted,
        key: Some("ab12".to_owned()),
        ..Reporter::default()
    };
    state.set_reporter(odd, Some(&trusted)).unwrap();
    let tally = Tally {
        reports: 2,
        confirmed: 1,
        disputed: 3,
    };
    let change = Change {
        tallies: vec![
            (odd.to_owned(), tally),
            ("new".to_owned(), Tally::default()),
        ],
        ..pointer(50, 0, 1)
    };
    assert_eq!(
        state.commit(std::slice::from_ref(&change)).unwrap(),
        Committed::Done
    );
    // The same change again does not know what it changes, and counts nothing.
    assert_eq!(state.commit(&[change]).unwrap(), Committed::Conflict);
    let counted = Reporter {
        reports: 2,
        confirmed: 1,
        disputed: 3,
        ..trusted
    };
    let found = state.reporters(&["nobody", odd, "new"]).unwrap();
    assert_eq!(
        found,
        [None, Some(counted.clone()), Some(Reporter::default())]
    );
    let named: Vec<(String, Reporter)> = state.all_reporters().unwrap();
    assert_eq!(
        named,
        [
            (odd.to_owned(), counted),
            ("new".to_owned(), Reporter::default())
        ]
        .into_iter()
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
    state.set_reporter(odd, None).unwrap();
    state.set_reporter("new", None).unwrap();
    assert!(state.all_reporters().unwrap().is_empty());
    assert_eq!(state.commit(&[removal(50, 1)]).unwrap(), Committed::Done);
}

fn reports_are_seen_by_others(open: Open<'_>) {
    let (one, other) = (Engine::new(open()), Engine::new(open()));
    one.introduce("anna").unwrap();
    let spam = mail(SPAM[0]);
    assert_eq!(other.check(&spam, NOW).unwrap().class, Class::Unknown);
    let id = one.report(&spam, "anna", NOW).unwrap().campaign.unwrap().id;
    let began = Instant::now();
    let answer = other.check(&mail(&changed(SPAM[0], 15, 3)), NOW).unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(
        (answer.class, answer.campaign.unwrap().id),
        (Class::Spam, id)
    );
    for ham in HAM {
        assert_eq!(other.check(&mail(ham), NOW).unwrap().class, Class::Unknown);
    }
    let receipt = other.revoke(&spam, "anna", NOW + 5).unwrap();
    assert_eq!(receipt.outcome, Outcome::Withdrawn);
    assert_eq!(one.check(&spam, NOW).unwrap().class, Class::Unknown);
    // Old campaigns go, and take their keys with them.
    one.report(&mail(SPAM[1]), "anna", NOW).unwrap();
    one.report(&mail(SPAM[2]), "anna", NOW + 90 * DAY).unwrap();
    let tidied = other.tidy(NOW + 100 * DAY, 30, None).unwrap();
    assert_eq!(
        (tidied.looked_at, tidied.forgotten, tidied.next),
        (2, 1, None)
    );
    assert_eq!(
        one.check(&mail(SPAM[1]), NOW).unwrap().class,
        Class::Unknown
    );
    assert_eq!(one.check(&mail(SPAM[2]), NOW).unwrap().class, Class::Spam);
}

fn twenty_at_once_are_twenty(open: Open<'_>) {
    let engines: Vec<Engine> = (0..4).map(|_| Engine::new(open())).collect();
    engines[0].report(&mail(SPAM[3]), "first", NOW).unwrap();
    std::thread::scope(|scope| {
        for (number, engine) in engines.iter().enumerate() {
            scope.spawn(move || {
                for variant in 0..5_u64 {
                    let seed = 5 * number as u64 + variant;
                    let variant = mail(&changed(SPAM[3], 5, 100 + seed));
                    engine
                        .report(&variant, &format!("reporter {seed}"), NOW)
                        .unwrap();
                }
            });
        }
    });
    let answer = engines[0].check(&mail(SPAM[3]), NOW).unwrap();
    let campaign = answer.campaign.unwrap();
    assert_eq!((campaign.reporters, campaign.messages), (21, 21));
    assert_eq!(answer.class, Class::Unsure, "they are all strangers");
}

fn exports_can_be_imported(open: Open<'_>) {
    let one = Engine::new(open());
    for seed in 0..20 {
        one.report(&mail(&invented(seed, 60)), "anna", NOW).unwrap();
    }
    let mut lines = Vec::new();
    one.export(&mut lines).unwrap();
    let other = engine();
    let count = other.import(&mut lines.as_slice()).unwrap();
    assert!(count >= 22);
    assert_eq!(other.import(&mut lines.as_slice()).unwrap(), count);
    let mut again = Vec::new();
    other.export(&mut again).unwrap();
    assert_eq!(
        String::from_utf8(again).unwrap(),
        String::from_utf8(lines).unwrap()
    );
    let answer = other.check(&mail(&invented(7, 60)), NOW).unwrap();
    assert_eq!(
        answer.class,
        one.check(&mail(&invented(7, 60)), NOW).unwrap().class
    );
    assert_ne!(answer.class, Class::Unknown);
}
