//! A collection handed over as a part of itself gets the verdicts of a scan: outlines and statistics tell all that counts.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use twicetold_detect::{
    InWhole, NotStatistics, Options, Outline, Quiet, Scan, Statistics, Whole, outline, scan,
    scan_part,
};
use twicetold_model::{Location, RawMessage};
use twicetold_source::Collection;

/// As many messages of the walk are asked at a time.
const BATCH: usize = 512;

fn sample() -> Collection {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample");
    Collection::open(&[root.join("mailbox"), root.join("list.mbox")])
}

fn messages(collection: &Collection) -> Vec<RawMessage<'static>> {
    let scanned = scan(collection, &Options::default(), &Quiet);
    let read = |location: &Location| collection.read(location).unwrap();
    scanned.messages.iter().map(|m| read(&m.location)).collect()
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

/// The order of the walk: of copies the first by the rules, then who says most.
fn batches(outlines: &[Outline]) -> HashMap<Location, u32> {
    let mut first: BTreeMap<String, &Outline> = BTreeMap::new();
    let by_policy = |o: &Outline| (o.policy.clone(), o.location.clone());
    for outline in outlines {
        let alone = outline.location.to_string();
        let name = outline.copy.clone().unwrap_or(alone);
        let known = first.entry(name).or_insert(outline);
        if by_policy(outline) < by_policy(known) {
            *known = outline;
        }
    }
    let mut order: Vec<&Outline> = first.into_values().collect();
    order.sort_by_key(|o| (o.content.clone(), by_policy(o)));
    let ranked = order.iter().enumerate();
    ranked
        .map(|(rank, o)| (o.location.clone(), (rank / BATCH) as u32))
        .collect()
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
fn a_part_that_is_the_whole_is_judged_as_by_scan() {
    let collection = sample();
    let options = Options::default();
    let expected = scan(&collection, &options, &Quiet);
    let messages = messages(&collection);
    let outlines: Vec<Outline> = messages.iter().map(|raw| outline(raw, &options)).collect();
    let file = statistics(&outlines, collection.total_bytes());
    let statistics = Statistics::from_bytes(&file).unwrap();
    let batches = batches(&outlines);
    let known = expected.messages.iter().enumerate().map(|(n, message)| {
        let same = |other: &twicetold_detect::ScannedMessage| other.thread == message.thread;
        let thread = match &message.thread {
            Some(_) => expected.messages.iter().position(same).unwrap(),
            None => n,
        };
        let known = InWhole {
            batch: batches.get(&message.location).copied().unwrap_or(0),
            thread: thread as u64,
            thread_name: message.thread.clone(),
        };
        (message.location.clone(), known)
    });
    let whole = Whole::new(&statistics, known);
    let part = scan_part(&Collection::of_messages(messages), &options, &whole, &Quiet);
    assert_eq!(told(&part), told(&expected));
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
