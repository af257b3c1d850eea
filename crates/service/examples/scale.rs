//! How long does a check take as the store grows? `scale FOLDER CAMPAIGNS...`
//!
//! Fills a store in FOLDER (which must be empty or hold what an earlier run of this left) with
//! invented campaigns of 60 to 260 words, up to each number in turn, and then times checks: variants of stored messages, and messages nobody
//! has reported. Sketching is timed apart.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use twicetold_model::Form;
use twicetold_service::{
    Campaign, CampaignId, Change, Committed, Embedded, Engine, Exemplar, Record, Report, Sketches,
    State, Trust,
};

/// As in the example `load` of the server, which serves what this leaves: older campaigns it would forget meanwhile.
const NOW: i64 = 1_800_000_000;
const TIMED: u64 = 4_000;

/// A message of invented words; some of them are common to all, as in real mail.
fn message(number: u64, changed: u64) -> Sketches {
    let mut seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let words = 60 + next(200);
    let mut text = String::with_capacity(2000);
    for word in 0..words {
        let rare = next(3) == 0;
        let number = if rare { next(2_000_000) } else { next(3_000) };
        let number = if changed > 0 && word % changed == 0 {
            number + 77
        } else {
            number
        };
        text += &spelt(number + if rare { 10_000 } else { 0 });
        text.push(if next(12) == 0 { '\n' } else { ' ' });
    }
    Sketches::of(Form::Text, text.as_bytes(), &Trust::default())
}

fn spelt(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ro", "su", "ta",
        "ve",
    ];
    let mut word = String::new();
    while number > 0 || word.len() < 4 {
        word += SYLLABLES[(number % 16) as usize];
        number /= 16;
    }
    word
}

fn campaign(number: u64) -> Campaign {
    let sketches = message(number, 0);
    let mut kept = sketches.clone();
    kept.pairs.truncate(96);
    let mut report = Report::default();
    report.messages.push(sketches.identity);
    Campaign {
        id: CampaignId(sketches.identity),
        first_seen: NOW,
        last_seen: NOW,
        messages: 1,
        bulk: 0,
        reports: [("anna".to_owned(), report)].into(),
        further_reporters: 0,
        keeps: Default::default(),
        exemplars: vec![Exemplar(kept)],
        merged: Vec::new(),
    }
}

fn fill(state: &dyn State, from: u64, to: u64) -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = (from..to).collect();
    for some in numbers.chunks(50_000) {
        let mut changes: Vec<Change> = some
            .par_iter()
            .map(|&number| {
                let campaign = campaign(number);
                Change {
                    id: campaign.id,
                    expected: 0,
                    added: campaign.keys().into_iter().collect(),
                    removed: Vec::new(),
                    record: Some(Record::Campaign(Arc::new(campaign))),
                    tallies: Vec::new(),
                }
            })
            .collect();
        changes.sort_by_key(|change| change.id);
        if state.commit(&changes)? == Committed::Conflict {
            return Err("the folder holds something else".into());
        }
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    (at(50), at(99))
}

/// The memory of the process, in MB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: scale FOLDER CAMPAIGNS...")?);
    let out = &mut std::io::stdout().lock();
    let began = Instant::now();
    let known: Vec<Sketches> = (0..1000).map(|number| message(number, 0)).collect();
    writeln!(
        out,
        "sketching: {:?} a message",
        began.elapsed() / known.len() as u32
    )?;
    let mut stored = 0;
    for size in arguments {
        let size: u64 = size.parse()?;
        let began = Instant::now();
        let state = Embedded::open(&folder, Duration::ZERO)?;
        // What an earlier run left counts.
        stored = stored.max(state.names(None, usize::MAX)?.len() as u64);
        fill(&state, stored, size)?;
        let filled = began.elapsed();
        // As a server does.
        let began = Instant::now();
        state.warm(1 << 30)?;
        while !state.is_warm() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let warmed = began.elapsed();
        let engine = Engine::new(Box::new(state));
        let mut results = Vec::new();
        for (what, changed, offset) in [("variants", 9, 0), ("strangers", 0, 1 << 40)] {
            let mut times = Vec::new();
            let mut named = 0;
            // Once to warm up, once to measure.
            for round in 0..2 {
                times.clear();
                for n in 0..TIMED {
                    let number = n * (size / TIMED).max(1) % size + offset + round;
                    let sketches = message(number, changed);
                    let began = Instant::now();
                    let answer = engine.check(&sketches, NOW)?;
                    times.push(began.elapsed());
                    named += usize::from(answer.campaign.is_some());
                }
            }
            let (half, most) = median(times);
            let share = named as f64 / (2 * TIMED) as f64;
            results.push(format!(
                "{what}: median {half:?}, 99 % {most:?}, {share:.3} named"
            ));
        }
        let bytes = std::fs::metadata(folder.join("spam.redb"))?.len();
        writeln!(
            out,
            "{size} campaigns: {} ({} MB on disk, {:.0} s to add {}, {:.1} s to warm up, {} MB in memory)",
            results.join("; "),
            bytes / 1_000_000,
            filled.as_secs_f64(),
            size.saturating_sub(stored),
            warmed.as_secs_f64(),
            resident()
        )?;
        stored = size;
    }
    Ok(())
}
