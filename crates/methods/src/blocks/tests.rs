use proptest::prelude::*;
use twicetold_index::{Limits, MemoryIndex};
use twicetold_mail::read;
use twicetold_model::Form;

use super::*;

/// The sums as the formulas say them, without a thought for speed.
fn brute(formula: Formula, x: &[u8], y: &[u8]) -> f64 {
    let (m, n) = (x.len(), y.len());
    let longest = m.max(n);
    let occurrence = |list: &[u8], at: usize| list[..at].iter().filter(|b| **b == list[at]).count();
    let (mut all, mut matched, mut shared) = (0, 0, 0);
    for i in 0..m {
        for j in 0..n {
            if x[i] == y[j] {
                all += longest - i.abs_diff(j);
                if occurrence(x, i) == occurrence(y, j) {
                    matched += longest - i.abs_diff(j);
                    shared += 1;
                }
            }
        }
    }
    match formula {
        _ if m == 0 || n == 0 => 0.0,
        Formula::Matched => matched as f64 / (longest * longest) as f64,
        Formula::Paper => all as f64 / (m * n) as f64,
        Formula::Share if m == n => f64::from(shared) / m as f64,
        Formula::Share => 0.0,
    }
}

#[test]
fn the_papers_vectors() {
    let replaced = [0, 1, 2, 3, 4, 5, 6, 7, 8, 99];
    let ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let shifted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    type Case<'a> = (&'a [u8], &'a [u8], f64, f64);
    let cases: [Case<'_>; 7] = [
        // x, y, as printed, our default
        (&[1, 2, 3, 4], &[4, 3, 2, 1], 0.5, 0.5),
        (&[1, 2, 3, 4], &[1, 2, 3, 4], 1.0, 1.0),
        (&[1, 2, 3, 4], &[1, 2, 9, 3, 4], 0.9, 0.72),
        (&ten, &replaced, 0.9, 0.9),
        (&ten, &shifted, 0.81, 0.81),
        (&[1, 2, 3, 4], &[1, 2, 3], 1.0, 0.75),
        (&[1, 1, 1], &[1, 1, 1], 19.0 / 9.0, 1.0),
    ];
    for (x, y, printed, ours) in cases {
        assert_eq!(
            similarity(Formula::Paper, x, y).value(),
            printed,
            "{x:?} {y:?}"
        );
        assert_eq!(
            similarity(Formula::Matched, x, y).value(),
            ours,
            "{x:?} {y:?}"
        );
    }
}

#[test]
fn definition_two_counts_equal_hashes() {
    assert_eq!(
        similarity(Formula::Share, &[1, 2, 3, 4], &[4, 3, 9, 9]).value(),
        0.5
    );
    assert_eq!(
        similarity(Formula::Share, &[1, 2], &[1, 2, 3]).value(),
        0.0,
        "other counts"
    );
}

#[test]
fn thresholds_are_not_rounded() {
    assert_eq!(Share::percent(80).least(5), 4);
    assert_eq!(Share::percent(0).least(5), 0);
    assert_eq!(Share::new(7, 0).least(5), 5);
    assert!(similarity(Formula::Matched, &[1, 2, 3, 4], &[1, 2, 3]).reaches(Share::percent(75)));
    assert!(!similarity(Formula::Matched, &[1, 2, 3, 4], &[1, 2, 3]).reaches(Share::percent(76)));
}

#[test]
fn sentences_end_where_they_end() {
    let cases: [(&str, &[&str]); 10] = [
        ("One. Two? Three!", &["one", "two", "three"]),
        (
            "Wrapped over\ntwo  lines. Done",
            &["wrapped over two lines", "done"],
        ),
        ("> Quoted over\n> two lines.", &["quoted over two lines"]),
        (
            "See e.g. Dr. Smith of the U.S.A. today.",
            &["see smith of the today"],
        ),
        ("(i.e. this) works.", &["this) works"]),
        (
            "It costs 3.50 at www.shop.example/a?b=1 now.",
            &["it costs 3.50 at www.shop.example/a?b=1 now"],
        ),
        ("Really?! Yes...", &["really", "yes"]),
        ("你好。你是谁？再见！", &["你好", "你是谁", "再见"]),
        ("...\n\n!!! ???", &[]),
        ("ÄPFEL. Öl", &["äpfel", "öl"]),
    ];
    for (text, expected) in cases {
        assert_eq!(sentences(text), expected, "{text}");
    }
}

#[test]
fn size_decides_the_kind() {
    let line = "This line is one paragraph. It has two sentences.\n";
    let blocks = Blocks {
        large: line.len() * 10,
        ..Blocks::default()
    };
    let record = |lines: usize| {
        blocks.record(&Document {
            text: line.repeat(lines),
            ..Document::default()
        })
    };
    assert_eq!(
        (record(9).kind, record(9).blocks.len()),
        (Kind::Sentences, 18)
    );
    assert_eq!(
        (record(10).kind, record(10).blocks.len()),
        (Kind::Paragraphs, 10)
    );
    assert_eq!(blocks.similarity(&record(9), &record(10)).value(), 0.0);
    assert_eq!(record(9).keys().len(), 2, "each distinct block once");
}

#[test]
fn a_block_has_different_keys_in_different_kinds() {
    let keys = |kind| {
        Record {
            kind,
            blocks: vec![[5; 20]],
        }
        .keys()
    };
    assert_ne!(keys(Kind::Paragraphs), keys(Kind::Sentences));
}

#[test]
fn a_moved_sentence_scores_less_than_one_in_place() {
    let sketch = |text: &str| {
        Blocks::default()
            .sketch(&read(Form::Text, text.as_bytes()))
            .unwrap()
    };
    let whole = sketch("One here. Two here. Three here. Four here.");
    let moved = sketch("Two here. Three here. Four here. One here.");
    let part = sketch("One here. Two here. Three here.");
    let evidence = Blocks::default().compare(&whole, &moved);
    assert_eq!((evidence.containment, evidence.resemblance), (1.0, 0.625));
    let evidence = Blocks::default().compare(&part, &whole);
    assert_eq!((evidence.containment, evidence.resemblance), (1.0, 0.75));
}

#[test]
fn damaged_records_are_refused() {
    let good = Record {
        kind: Kind::Sentences,
        blocks: vec![[1; 20], [2; 20]],
    };
    let bytes = good.to_bytes();
    assert_eq!(Record::from_bytes(&bytes), Some(good));
    for cut in 0..bytes.len() {
        assert_eq!(Record::from_bytes(&bytes[..cut]), None);
    }
    assert_eq!(
        Record::from_bytes(&[[9].as_slice(), &bytes[1..]].concat()),
        None
    );
}

#[test]
fn a_block_repeated_a_hundred_thousand_times_takes_no_time() {
    let many = vec![7_u8; 100_000];
    assert_eq!(similarity(Formula::Matched, &many, &many).value(), 1.0);
    assert!(similarity(Formula::Paper, &many, &many).value() > 1.0);
}

/// Lists over few values, so that blocks repeat and lists resemble each other.
fn lists() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let base = prop::collection::vec(0_u8..12, 1..14);
    let edits = prop::collection::vec(
        prop::collection::vec((0_usize..14, 0_u8..12, 0_u8..3), 0..4),
        1..30,
    );
    (base, edits).prop_map(|(base, edits)| {
        let mut lists: Vec<Vec<u8>> = edits.iter().map(|edits| edited(&base, edits)).collect();
        lists.push(base);
        lists
    })
}

fn edited(base: &[u8], edits: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut list = base.to_vec();
    for &(at, value, kind) in edits {
        let at = at.min(list.len() - 1);
        match kind {
            0 => list[at] = value,
            1 => list.insert(at, value),
            _ if list.len() > 1 => drop(list.remove(at)),
            _ => {}
        }
    }
    list
}

fn record(list: &[u8]) -> Record {
    Record {
        kind: Kind::Sentences,
        blocks: list.iter().map(|&b| [b; 20]).collect(),
    }
}

proptest! {
    #[test]
    fn the_sums_are_the_formulas(x in prop::collection::vec(0_u8..6, 0..20), y in prop::collection::vec(0_u8..6, 0..20)) {
        for formula in [Formula::Matched, Formula::Paper, Formula::Share] {
            let fast = similarity(formula, &x, &y).value();
            prop_assert!((fast - brute(formula, &x, &y)).abs() < 1e-12, "{:?}", formula);
            let back = similarity(formula, &y, &x).value();
            prop_assert_eq!(fast, back, "the same from both sides");
        }
        prop_assert!(similarity(Formula::Matched, &x, &y).value() <= 1.0);
    }

    #[test]
    fn the_index_finds_every_pair_above_the_threshold(
        lists in lists(),
        percent in 1_u32..=100,
        formula in prop::sample::select(vec![Formula::Matched, Formula::Paper, Formula::Share]),
    ) {
        let blocks = Blocks { formula, ..Blocks::default() };
        let t = Share::percent(percent);
        let records: Vec<Record> = lists.iter().map(|list| record(list)).collect();
        let keys: Vec<Vec<u64>> = records.iter().map(Record::keys).collect();
        let mut index = MemoryIndex::new();
        for (id, keys) in (0..).zip(&keys) {
            index.insert(id, keys.iter().copied());
        }
        for (a, x) in records.iter().enumerate() {
            let (count, distinct) = (x.blocks.len(), keys[a].len());
            let found = index.sharing(
                &keys[a],
                blocks.enough(count, distinct, t),
                Limits::NONE,
                |id| keys[id as usize].as_slice(),
            );
            for (b, y) in records.iter().enumerate() {
                if blocks.similarity(x, y).reaches(t) {
                    prop_assert!(blocks.counts_fit(count, y.blocks.len(), t));
                    let shared = found.iter().find(|c| c.message as usize == b).map(|c| c.shared as usize);
                    prop_assert!(shared.is_some(), "{:?} {:?}", lists[a], lists[b]);
                    prop_assert!(shared >= Some(blocks.least_shared(count, distinct, t)));
                }
            }
        }
    }
}
