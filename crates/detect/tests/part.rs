//! A collection judged part by part gets the verdicts of a scan: outlines and statistics tell all that counts.

#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use twicetold_detect::{
    InWhole, NotStatistics, Options, Outline, Quiet, Reach, Scan, ScannedMessage, Statistics,
    Whole, outline, scan, scan_part,
};
use twicetold_model::{Form, Location, RawMessage, Standing};
use twicetold_source::Collection;
use twicetold_testbed::busy_mailbox;

fn sample() -> Collection {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample");
    Collection::open(&[root.join("mailbox"), root.join("list.mbox")])
}

/// The file of statistics that an engine makes of outlines.
fn statistics(outlines: &[Outline], bytes: u64) -> Vec<u8> {
    let slots = Statistics::slots(bytes);
    let mut seen = HashSet::new();
    let (mut once, mut more) = (HashSet::new(), vec![0_u8; (slots / 8) as usize]);
    for outline in outlines {
        if outline
            .counted
            .as_ref()
            .is_some_and(|name| !seen.insert(name))
        {
            continue;
        }
        // The first 16 bytes say as what it counts.
        for half in outline.words[16..].as_chunks::<4>().0 {
            let slot = u64::from(u32::from_le_bytes(*half)) & (slots - 1);
            if !once.insert(slot) {
                more[(slot / 8) as usize] |= 1 << (slot % 8);
            }
        }
    }
    [b"twicetold statistics 1\n".as_slice(), &more].concat()
}

/// What an engine with many machines finds out, in miniature: who stands for whom, in which order, and who can decide about whom.
struct Engine<'o> {
    outlines: &'o [Outline],
    /// The outlines in the order of the walk, one for all copies of it.
    order: Vec<usize>,
    /// For each outline the place of the one that stands for it.
    rank: Vec<usize>,
    /// For each place of the walk whether the message stays in any case, and whether something may cover it.
    new: Vec<bool>,
    open: Vec<bool>,
    threads: Vec<u64>,
}

/// Who asks whom, what is common, and what leads to whom, for each place of the walk.
#[derive(Default)]
struct Relations {
    asked: Vec<BTreeSet<usize>>,
    near: Vec<Vec<u64>>,
    common: Vec<Vec<u64>>,
    leading: Vec<Vec<u64>>,
}

impl<'o> Engine<'o> {
    fn new(outlines: &'o [Outline], statistics: &Statistics, threads: Vec<u64>) -> Self {
        let by_policy = |&n: &usize| (outlines[n].policy.clone(), outlines[n].location.clone());
        let mut copies: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (n, outline) in outlines.iter().enumerate() {
            let name = outline.copy.clone();
            let name = name.unwrap_or_else(|| outline.location.to_string());
            copies.entry(name).or_default().push(n);
        }
        let head = |same: &Vec<usize>| same.iter().copied().min_by_key(by_policy).unwrap();
        let mut order: Vec<usize> = copies.values().map(head).collect();
        order.sort_by_key(|n| (outlines[*n].content.clone(), by_policy(n)));
        let mut rank = vec![0; outlines.len()];
        for same in copies.values() {
            let of_head = order.iter().position(|&n| n == head(same)).unwrap();
            same.iter().for_each(|&n| rank[n] = of_head);
        }
        let is_new = |&n: &usize| statistics.is_new(&outlines[n].news).unwrap();
        let new: Vec<bool> = order.iter().map(is_new).collect();
        let is_open = |(&n, new): (&usize, &bool)| !new && !outlines[n].empty;
        let open = order.iter().zip(&new).map(is_open).collect();
        Self {
            outlines,
            order,
            rank,
            new,
            open,
            threads,
        }
    }

    fn outline(&self, place: usize) -> &'o Outline {
        &self.outlines[self.order[place]]
    }

    /// Who has which of these keys, in the order of the walk.
    fn holders(&self, keys: impl Fn(usize) -> Vec<u64>) -> HashMap<u64, Vec<usize>> {
        let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
        for place in 0..self.order.len() {
            let keys: BTreeSet<u64> = keys(place).into_iter().collect();
            for key in keys {
                holders.entry(key).or_default().push(place);
            }
        }
        holders
    }

    fn relations(&self) -> Relations {
        let mut found = Relations {
            asked: vec![BTreeSet::new(); self.order.len()],
            near: (0..self.order.len()).map(|_| Vec::new()).collect(),
            common: vec![Vec::new(); self.order.len()],
            leading: vec![Vec::new(); self.order.len()],
        };
        let thread = |place: usize| vec![self.threads[self.order[place]]];
        let kinds: [(Keys<'_>, Keys<'_>); 3] = [
            (&|place| self.outline(place).holds.clone(), &|place| {
                self.outline(place).asks.clone()
            }),
            (&|place| self.outline(place).things.clone(), &|place| {
                self.outline(place).things.clone()
            }),
            (&thread, &|place| match self.outline(place).short {
                true => thread(place),
                false => Vec::new(),
            }),
        ];
        for (holds, asks) in kinds {
            self.ask_by(&mut found, holds, asks);
        }
        self.ask_by_fingerprints(&mut found);
        found
    }

    fn ask_by(&self, found: &mut Relations, holds: Keys<'_>, asks: Keys<'_>) {
        let reach = Reach::USUAL;
        let all = self.holders(holds);
        let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
        for (&key, holders) in &all {
            let many = holders.len() > reach.few as usize;
            for (nth, &b) in holders.iter().enumerate() {
                let first = holders.len() <= reach.many as usize && nth < reach.first as usize;
                let stays = self.new[b] && nth < reach.shown as usize;
                if !many || first || stays {
                    seen.entry(key).or_default().push(b);
                    found.leading[b].extend(many.then_some(key));
                }
            }
        }
        for a in (0..self.order.len()).filter(|&a| self.open[a]) {
            for key in asks(a) {
                let is_common = all[&key].len() > reach.few as usize;
                found.common[a].extend(is_common.then_some(key));
                found.asked[a].extend(seen.get(&key).into_iter().flatten());
            }
        }
    }

    fn ask_by_fingerprints(&self, found: &mut Relations) {
        let reach = Reach::USUAL;
        let (few, first, beside) = (
            reach.few as usize,
            reach.first as usize,
            reach.beside as usize,
        );
        let holders = self.holders(|place| self.outline(place).fingerprints.clone());
        let needed = |a: usize| {
            let outline = self.outline(a);
            let common = |key: &&u64| holders[*key].len() > few;
            let common = outline.fingerprints.iter().filter(common).count() as u32;
            let all = outline.fingerprint_count;
            let telling = all.saturating_sub(common);
            match telling < all - telling {
                true => (all.div_ceil(6), true),
                false => (telling.div_ceil(3), false),
            }
        };
        let needed: Vec<(u32, bool)> = (0..self.order.len()).map(needed).collect();
        for a in 0..self.order.len() {
            let outline = self.outline(a);
            if outline.empty || (outline.short && !self.open[a]) {
                continue;
            }
            let (least, by_all) = needed[a];
            let mut shared: BTreeMap<usize, u32> = BTreeMap::new();
            for list in outline.fingerprints.iter().map(|key| &holders[key]) {
                let few_have = list.len() <= few;
                let list = list.iter().filter(|&&b| few_have || needed[b].1);
                let list: Vec<usize> = list.copied().collect();
                let at = list.binary_search(&a);
                for (nth, &b) in list.iter().enumerate() {
                    let near = nth < first || at.is_ok_and(|at| nth.abs_diff(at) <= beside);
                    if b != a && (few_have || (by_all && near)) {
                        *shared.entry(b).or_default() += 1;
                    }
                }
            }
            let mut near: Vec<(u32, usize)> = shared.into_iter().map(|(b, n)| (n, b)).collect();
            near.retain(|&(n, _)| n >= least);
            near.sort_by_key(|&(n, b)| (Reverse(n), b));
            found.asked[a].extend(near.iter().map(|&(_, b)| b));
            found.near[a] = near.into_iter().map(|(_, b)| b as u64).collect();
        }
    }

    /// For each part the places that are judged there, and those that are asked only.
    fn parts(&self, relations: &Relations) -> Vec<(BTreeSet<usize>, BTreeSet<usize>)> {
        let mut part: Vec<usize> = (0..self.order.len()).collect();
        fn root(part: &mut [usize], mut of: usize) -> usize {
            while part[of] != of {
                part[of] = part[part[of]];
                of = part[of];
            }
            of
        }
        let asks = || relations.asked.iter().enumerate();
        for (a, asked) in asks() {
            for &b in asked.iter().filter(|&&b| self.open[b]) {
                let (a, b) = (root(&mut part, a), root(&mut part, b));
                part[a.max(b)] = a.min(b);
            }
        }
        let mut parts: BTreeMap<usize, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (a, asked) in asks() {
            let own = root(&mut part, a);
            let (judged, only_asked) = parts.entry(own).or_default();
            judged.insert(a);
            let strangers = asked.iter().copied().filter(|&b| !self.open[b]);
            only_asked.extend(strangers.filter(|&b| root(&mut part, b) != own));
        }
        parts.into_values().collect()
    }
}

type Keys<'k> = &'k dyn Fn(usize) -> Vec<u64>;

/// Cuts a collection into the parts that an engine would make of it and judges each by itself; every message as it is told there,
/// and how many parts have several messages.
fn judged_in_parts(collection: &Collection, expected: &Scan) -> (Vec<String>, usize) {
    let options = Options::default();
    let read = |m: &ScannedMessage| collection.read(&m.location).unwrap();
    let messages: Vec<RawMessage<'_>> = expected.messages.iter().map(read).collect();
    let outlines: Vec<Outline> = messages.iter().map(|raw| outline(raw, &options)).collect();
    let file = statistics(&outlines, collection.total_bytes());
    let statistics = Statistics::from_bytes(&file).unwrap();
    let mut names: HashMap<&str, u64> = HashMap::new();
    let threads = expected.messages.iter().zip(0..).map(|(message, n)| {
        let name = message.thread.as_deref();
        name.map_or(n, |name| *names.entry(name).or_insert(n))
    });
    let engine = Engine::new(&outlines, &statistics, threads.collect());
    let relations = engine.relations();
    let mut told_there = BTreeMap::new();
    let mut several = 0;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); engine.order.len()];
    for n in 0..messages.len() {
        members[engine.rank[n]].push(n);
    }
    for (judged, asked) in engine.parts(&relations) {
        let own = judged.iter().flat_map(|&place| members[place].clone());
        let all: Vec<usize> = own
            .clone()
            .chain(asked.iter().map(|&place| engine.order[place]))
            .collect();
        several += usize::from(all.len() > 1);
        let known = all.iter().map(|&n| {
            let place = engine.rank[n];
            let known = InWhole {
                rank: place as u64,
                thread: engine.threads[n],
                thread_name: expected.messages[n].thread.as_deref().map(str::to_owned),
                near: relations.near[place].clone(),
                common: relations.common[place].clone(),
                leading: relations.leading[place].clone(),
            };
            (messages[n].location.clone(), known)
        });
        let whole = Whole::new(&statistics, known);
        let part = Collection::of_messages(all.iter().map(|&n| messages[n].clone()).collect());
        let part = scan_part(&part, &options, &whole, &Quiet);
        let told = part.messages.iter().map(|m| &m.location).zip(told(&part));
        let told: HashMap<&Location, String> = told.collect();
        told_there.extend(own.map(|n| (n, told[&messages[n].location].clone())));
    }
    (told_there.into_values().collect(), several)
}

fn told(scan: &Scan) -> Vec<String> {
    let told = scan.messages.iter().map(|message| {
        let witnesses = message.verdict.witnesses.iter();
        let names: Vec<String> = witnesses
            .map(|w| scan.messages[w.message as usize].location.to_string())
            .collect();
        format!(
            "{} {:?} {names:?} {:?} {:?}",
            message.location, message.verdict.standing, message.residue, message.thread
        )
    });
    told.collect()
}

#[test]
fn parts_are_judged_as_they_are_in_the_whole() {
    let collection = sample();
    let expected = scan(&collection, &Options::default(), &Quiet);
    let (in_parts, several) = judged_in_parts(&collection, &expected);
    assert!(several > 10, "{several}");
    assert_eq!(in_parts, told(&expected));
}

/// Any mail can be asked: `TWICETOLD_PARTS=FOLDER cargo test --release -p twicetold-detect --test part`.
#[test]
fn what_many_have_leads_a_part_to_those_it_leads_to_in_the_whole() {
    let given = std::env::var_os("TWICETOLD_PARTS").map(PathBuf::from);
    let collection = given.map_or_else(busy, |folder| Collection::open(&[folder]));
    let expected = scan(&collection, &Options::default(), &Quiet);
    let (in_parts, several) = judged_in_parts(&collection, &expected);
    assert!(several > 1, "{several}");
    let told = told(&expected);
    let differ = || in_parts.iter().zip(&told).filter(|(a, b)| a != b);
    let count = differ().count();
    assert_eq!(count, 0, "of {}: {:#?}", told.len(), differ().next());
    let standings = |wanted: fn(Standing) -> bool| {
        let all = expected.messages.iter();
        all.filter(|m| wanted(m.verdict.standing)).count()
    };
    assert!(standings(|s| matches!(s, Standing::Redundant(_))) > 50);
    assert!(standings(|s| s == Standing::Version) > 50);
}

fn busy() -> Collection {
    let mails = busy_mailbox().into_iter().enumerate();
    let messages = mails.map(|(n, bytes)| RawMessage {
        location: Location {
            path: format!("{n:04}.eml").into(),
            offset: None,
        },
        form: Form::Mail,
        bytes: bytes.into_bytes().into(),
    });
    Collection::of_messages(messages.collect())
}

#[test]
fn what_holds_no_statistics_is_refused() {
    let head = b"twicetold statistics 1\n".as_slice();
    let with = |bytes: usize| [head, &vec![0; bytes]].concat();
    assert!(Statistics::from_bytes(&with(64)).is_ok());
    for wrong in [Vec::new(), head.to_vec(), with(63), with(96), vec![0; 64]] {
        let read = Statistics::from_bytes(&wrong);
        assert!(matches!(read, Err(NotStatistics)), "{}", wrong.len());
    }
}
