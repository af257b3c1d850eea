//! A state that is warm answers as it would from the file, only sooner.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use support::{DAY, Dice, NOW, SPAM, changed, html, mail};
use twicetold_service::{
    Answer, CampaignId, Change, Committed, Embedded, Engine, Receipt, Record, Sketches, State,
};

/// Texts of few words, so that many have pairs in common: some a handful, some nearly all.
fn text(number: u64) -> String {
    const WORDS: [&str; 40] = [
        "harbour", "lantern", "velvet", "copper", "orchard", "meadow", "granite", "saffron",
        "thunder", "marble", "canvas", "ribbon", "willow", "anchor", "feather", "mirror", "cedar",
        "candle", "bronze", "pepper", "garden", "silver", "window", "timber", "basket", "cotton",
        "hammer", "island", "jacket", "kettle", "ladder", "magnet", "needle", "oyster", "pillow",
        "quarry", "rocket", "saddle", "tunnel", "violin",
    ];
    let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::new();
    for _ in 0..40 {
        text += WORDS[dice.next(WORDS.len())];
        text.push(' ');
        if dice.next(3) == 0 {
            text += &format!("w{}x{} ", number % 900, dice.next(1000));
        }
    }
    if number.is_multiple_of(3) {
        text += "granite willow saffron lantern copper";
    }
    text
}

fn message(number: u64) -> Sketches {
    if number % 4 == 1 {
        let links = format!(
            "<a href='http://shop{}.example/x{number}'>here</a>",
            number % 5
        );
        return html(&format!(
            "<html><body><table><tr><td><b>Today</b></td></tr><tr><td>{}</td></tr></table><p>{links}</p></body></html>",
            text(number)
        ));
    }
    mail(&text(number))
}

fn asked() -> Vec<Sketches> {
    let mut asked: Vec<Sketches> = (0..700).step_by(7).map(message).collect();
    asked.extend(
        (0..600)
            .step_by(11)
            .map(|n| mail(&changed(&text(n), 10, n))),
    );
    asked
        .extend((0..40).map(|n| mail(&changed(&format!("{} {}", text(n), text(n + 5000)), 20, n))));
    asked.extend(SPAM.iter().map(|text| mail(text)));
    // One of which not every pair can be looked for.
    let long: String = (10_000..10_060).map(text).collect();
    asked.push(mail(&format!("{} {long}", text(3))));
    asked
}

fn answers(engine: &Engine) -> Vec<Answer> {
    asked()
        .iter()
        .map(|message| engine.check(message, NOW).unwrap())
        .collect()
}

/// Reports, takes back, reports again, forgets.
fn history(engine: &Engine, part: u64) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    let numbers: Vec<u64> = (part * 200..part * 200 + 200).collect();
    for (at, some) in numbers.chunks(40).enumerate() {
        let when = NOW - DAY * 10 * (at as i64 + 1);
        let messages: Vec<Sketches> = some.iter().map(|&n| message(n)).collect();
        receipts.extend(engine.report_all(&messages, "anna", when).unwrap());
        let changed: Vec<Sketches> = some[..5]
            .iter()
            .map(|&n| mail(&changed(&text(n), 15, n)))
            .collect();
        receipts.extend(engine.report_all(&changed, "bert", when).unwrap());
        receipts.extend(engine.revoke_all(&messages[10..14], "anna", when).unwrap());
    }
    receipts
}

fn wait_until_warm(state: &dyn State) {
    let began = Instant::now();
    while !state.is_warm() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn is_the_same(bytes: u64) {
    let open = || Engine::new(Box::new(Embedded::in_memory().unwrap()));
    let (cold, warm) = (open(), open());
    for engine in [&cold, &warm] {
        engine.introduce("anna").unwrap();
    }
    assert!(warm.state().is_warm(), "nobody has asked for more");
    assert_eq!(history(&cold, 0), history(&warm, 0));
    warm.state().warm(bytes).unwrap();
    // While it is being read, and when all is there.
    assert_eq!(history(&cold, 1), history(&warm, 1));
    wait_until_warm(warm.state());
    let known = answers(&cold);
    assert_eq!(known, answers(&warm));
    let named = known.iter().filter(|one| one.campaign.is_some()).count();
    assert!(
        named > 100 && named + 20 < known.len(),
        "{named} of {}",
        known.len()
    );
    assert_eq!(history(&cold, 2), history(&warm, 2));
    assert_eq!(answers(&cold), answers(&warm));
    for engine in [&cold, &warm] {
        let mut after = None;
        loop {
            let tidied = engine.tidy(NOW, 35, after).unwrap();
            after = tidied.next;
            if after.is_none() {
                break;
            }
        }
    }
    let left = answers(&cold);
    assert_eq!(left, answers(&warm));
    assert_ne!(left, known);
    assert_eq!(history(&cold, 0), history(&warm, 0));
    assert_eq!(answers(&cold), answers(&warm));
}

#[test]
fn in_memory_it_is_as_in_the_file() {
    is_the_same(1 << 30);
}

#[test]
fn behind_a_filter_it_is_as_in_the_file() {
    is_the_same(1000);
}

#[test]
fn more_at_once_than_there_is_room_for_is_found() {
    let state = Embedded::in_memory().unwrap();
    state.warm(1 << 30).unwrap();
    wait_until_warm(&state);
    let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // The first does not fit, the second may be added to either.
    for (round, count) in [(0, 90_000), (1, 500)] {
        let keys: Vec<u64> = (0..count).map(|n| key(round << 32 | n)).collect();
        let id = CampaignId(7 + round);
        let change = Change {
            id,
            expected: 0,
            record: Some(Record::Merged(CampaignId(1))),
            added: keys.clone(),
            removed: Vec::new(),
            tallies: Vec::new(),
        };
        assert_eq!(state.commit(&[change]).unwrap(), Committed::Done);
        for owners in state.owners(&keys, 5).unwrap() {
            assert_eq!(owners.ids, [id]);
        }
    }
}

#[test]
fn what_a_glance_can_tell_is_known_of_every_campaign() {
    let engine = Engine::new(Box::new(Embedded::in_memory().unwrap()));
    history(&engine, 0);
    engine.state().warm(1 << 30).unwrap();
    wait_until_warm(engine.state());
    history(&engine, 1);
    let names = engine.state().names(None, usize::MAX).unwrap();
    let glances = engine.state().glances(&names);
    let merged = names
        .iter()
        .zip(&glances)
        .filter(|(_, glance)| glance.is_none());
    for (name, _) in merged {
        let lead = engine.campaign(*name).unwrap().map(|found| found.id);
        assert_ne!(
            lead,
            Some(*name),
            "only of those that became others nothing is known"
        );
    }
    assert!(glances.iter().flatten().count() > 200);
}
