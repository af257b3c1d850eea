//! Pairs: nothing at or above a threshold is missed, nothing below it reported, whatever the order, the threads and the form.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use twicetold_detect::{Check, Looking, Pairs, Quiet, Sought, Verify, groups, pairs};
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::blocks::{Blocks, Record};
use twicetold_methods::catalogue::Chosen;
use twicetold_methods::simhash::{SimHash, distance};
use twicetold_model::{Form, Share, Sketch, shared_keys};
use twicetold_source::Collection;

/// Words that the shipped lexicon has, so that imatch has something to say.
const WORDS: [&str; 24] = [
    "houston",
    "thursday",
    "company",
    "below",
    "power",
    "think",
    "after",
    "available",
    "still",
    "click",
    "between",
    "services",
    "received",
    "meeting",
    "number",
    "forward",
    "change",
    "where",
    "going",
    "because",
    "before",
    "market",
    "phone",
    "address",
];

type Named = BTreeSet<(usize, usize)>;

fn looking(name: &str, settings: &[(&str, &str)], threshold: Option<f64>) -> Looking {
    let mut method = Chosen::new(name).unwrap();
    for (parameter, value) in settings {
        method.set(parameter, value).unwrap();
    }
    let threshold = threshold.unwrap_or(method.threshold());
    Looking {
        methods: vec![Sought { method, threshold }],
        most: None,
        verify: None,
    }
}

/// The texts as JSON lines, each with its number as id, in the order given.
fn write_lines(path: &Path, texts: &[String], order: &[usize]) {
    let lines: Vec<String> = order
        .iter()
        .map(|&n| serde_json::json!({"id": n, "text": texts[n]}).to_string())
        .collect();
    fs::write(path, lines.join("\n")).unwrap();
}

fn find(paths: &[PathBuf], looking: &Looking, threads: usize) -> Pairs {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
        .install(|| pairs(&Collection::open(paths), None, looking, &Quiet))
}

fn named(found: &Pairs) -> Named {
    let number = |text| found.id(text).unwrap().parse::<usize>().unwrap();
    let named: Vec<_> = found
        .pairs
        .iter()
        .map(|pair| {
            let (a, b) = (number(pair.a), number(pair.b));
            (a.min(b), a.max(b))
        })
        .collect();
    let set: Named = named.iter().copied().collect();
    assert_eq!(set.len(), named.len(), "a pair was reported twice");
    set
}

fn sketches(looking: &Looking, texts: &[String]) -> Vec<Option<Sketch>> {
    let wants = Wants {
        words: true,
        ..Wants::default()
    };
    texts
        .iter()
        .map(|text| {
            let line = serde_json::json!({ "text": text }).to_string();
            let document = read_wanted(Form::Json, line.as_bytes(), wants);
            looking.methods[0].method.method().sketch(&document)
        })
        .collect()
}

/// All pairs that `alike` lets through, by looking at all pairs.
fn brute_force(sketches: &[Option<Sketch>], alike: impl Fn(&Sketch, &Sketch) -> bool) -> Named {
    let mut found = Named::new();
    for (a, x) in sketches.iter().enumerate() {
        for (b, y) in sketches.iter().enumerate().skip(a + 1) {
            if let (Some(x), Some(y)) = (x, y)
                && alike(x, y)
            {
                found.insert((a, b));
            }
        }
    }
    found
}

/// Some texts, and changed copies of them, in an order of their own.
fn collection() -> impl Strategy<Value = (Vec<String>, Vec<usize>)> {
    let sentence = prop::collection::vec(0..WORDS.len(), 1..7);
    let text = prop::collection::vec(sentence, 0..9);
    let copies = prop::collection::vec((0..100_usize, 0..100_usize, 0..100_usize), 0..14);
    (prop::collection::vec(text, 1..14), copies)
        .prop_map(|(mut texts, copies)| {
            for (from, at, to) in copies {
                let mut copy = texts[from % texts.len()].clone();
                let place = at % copy.len().max(1);
                match (copy.get_mut(place), to % 4) {
                    (Some(sentence), 0) => sentence.push(to % WORDS.len()),
                    (Some(sentence), 1) => sentence[0] = to % WORDS.len(),
                    (Some(_), 2) => {
                        copy.remove(place);
                    }
                    _ => {}
                }
                texts.push(copy);
            }
            let prose = |text: Vec<Vec<usize>>| -> String {
                text.iter()
                    .map(|sentence| {
                        let words: Vec<&str> = sentence.iter().map(|&n| WORDS[n]).collect();
                        format!("{}. ", words.join(" "))
                    })
                    .collect()
            };
            texts.into_iter().map(prose).collect::<Vec<String>>()
        })
        .prop_flat_map(|texts| {
            let order: Vec<usize> = (0..texts.len()).collect();
            (Just(texts), Just(order).prop_shuffle())
        })
}

/// The engine finds exactly what brute force finds, from two orders and with one thread and three.
fn check(
    texts: &[String],
    order: &[usize],
    looking: &Looking,
    alike: impl Fn(&Sketch, &Sketch) -> bool,
) {
    let expected = brute_force(&sketches(looking, texts), alike);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    write_lines(&path, texts, order);
    assert_eq!(
        named(&find(std::slice::from_ref(&path), looking, 3)),
        expected
    );
    let plain: Vec<usize> = (0..texts.len()).collect();
    write_lines(&path, texts, &plain);
    assert_eq!(named(&find(&[path], looking, 1)), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn winnow_finds_all_above_its_threshold(
        (texts, order) in collection(),
        percent in 1..=100_u64,
        containment: bool,
        window in 1..5_usize,
    ) {
        let measure = if containment { "containment" } else { "resemblance" };
        let window = window.to_string();
        let settings = [("measure", measure), ("window", window.as_str())];
        let looking = looking("winnow", &settings, Some(percent as f64 / 100.0));
        let share = Share::new(percent, 100);
        check(&texts, &order, &looking, |a, b| {
            let (m, n) = (a.keys.len() as u128, b.keys.len() as u128);
            let shared = shared_keys(&a.keys, &b.keys) as u128;
            shared > 0 && if containment {
                share.is_reached_by(shared, m.min(n))
            } else {
                share.is_reached_by(shared * (m + n), 2 * m * n)
            }
        });
    }

    #[test]
    fn imatch_finds_all_with_an_equal_hash(
        (texts, order) in collection(),
        copies in 0..12_u32,
        fitted in prop::sample::select(vec!["0", "3"]),
    ) {
        let copies = copies.to_string();
        let settings = [("copies", copies.as_str()), ("fitted", fitted), ("least-words", "2")];
        let looking = looking("imatch", &settings, None);
        check(&texts, &order, &looking, |a, b| shared_keys(&a.keys, &b.keys) > 0);
    }

    #[test]
    fn blocks_finds_all_above_its_threshold(
        (texts, order) in collection(),
        percent in 1..=100_u64,
        formula in prop::sample::select(vec!["matched", "paper", "share"]),
        large in prop::sample::select(vec!["20480", "60"]),
    ) {
        let settings = [("formula", formula), ("large", large)];
        let looking = looking("blocks", &settings, Some(percent as f64 / 100.0));
        let Chosen::Blocks(blocks) = &looking.methods[0].method else { unreachable!() };
        let blocks: Blocks = *blocks;
        check(&texts, &order, &looking, |a, b| {
            let record = |sketch: &Sketch| Record::from_bytes(&sketch.body).unwrap();
            let similarity = blocks.similarity(&record(a), &record(b));
            similarity.matched > 0 && similarity.reaches(Share::new(percent, 100))
        });
    }

    #[test]
    fn simhash_finds_all_within_its_distance(
        (texts, order) in collection(),
        k in 0..20_u32,
        features in prop::sample::select(vec!["words", "pairs"]),
    ) {
        let distance_set = k.to_string();
        let settings = [("distance", distance_set.as_str()), ("features", features)];
        let looking = looking("simhash", &settings, None);
        check(&texts, &order, &looking, |a, b| {
            let bits = |sketch: &Sketch| SimHash::of_sketch(sketch).unwrap();
            distance(bits(a), bits(b)) <= k
        });
    }
}

const STORY: &str = "The harbour was closed on Monday because of the storm. Nobody had expected it. \
    Three ships waited outside until the wind went down, and the captains sent word to their owners. \
    On Tuesday the pilots went out again and brought them in, one after the other, before noon.";

#[test]
fn edit_finds_misspelt_copies_and_nothing_else() {
    let other = "The minutes of the meeting are attached. Please read them before Friday and send your remarks \
        to the office, so that they can be put on the list for the next meeting of the board in spring.";
    let typos = STORY
        .replace("harbour", "harbuor")
        .replace("ships", "sh1ps");
    let texts = [
        STORY.to_owned(),
        other.to_owned(),
        typos,
        "Short note".into(),
        "Short n0te".into(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    write_lines(&path, &texts, &[3, 1, 0, 4, 2]);
    let found = find(&[path], &looking("edit", &[], None), 2);
    // `n0te` is `note` once look-alikes are folded.
    assert_eq!(named(&found), Named::from([(0, 2), (3, 4)]));
}

#[test]
fn layout_finds_mails_of_one_template() {
    let page = |word: &str, host: &str, extra: &str| {
        format!(
            "Content-Type: text/html\n\n<html><body><table><tr><td><h1>{word}</h1></td></tr><tr><td><p>{word}</p><a href='http://www.{host}/x'>{word}</a>{extra}</td></tr></table><div><b>{word}</b><i>{word}</i></div></body></html>"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.eml"), page("one", "shop.example", "")).unwrap();
    fs::write(folder.path().join("2.eml"), page("two", "shop.example", "")).unwrap();
    fs::write(folder.path().join("3.eml"), "Subject: x\n\nplain text\n").unwrap();
    let found = find(&[folder.path().into()], &looking("layout", &[], None), 2);
    assert_eq!(found.sketched, [2]);
    assert_eq!(found.pairs.len(), 1);
    assert_eq!(found.pairs[0].score, 1.0);
    assert!(found.name(found.pairs[0].b).ends_with("2.eml"));
}

#[test]
fn a_hundred_thousand_copies_are_not_compared_with_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    let texts = vec![STORY.to_owned(); 100_000];
    write_lines(&path, &texts, &(0..texts.len()).collect::<Vec<_>>());
    for method in ["winnow", "simhash", "imatch", "blocks"] {
        let mut looking = looking(method, &[], None);
        looking.most = Some(10);
        let found = find(std::slice::from_ref(&path), &looking, 2);
        // All others with the first.
        assert_eq!(found.pairs.len(), 99_999, "{method}");
        assert_eq!(found.cut, 100_000);
        let groups = groups(&found, |_| true);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].texts.len(), 100_000);
    }
}

#[test]
fn one_template_with_many_numbers_stays_linear() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    let texts: Vec<String> = (0..20_000)
        .map(|n| format!("{STORY} Order {n} was sent by ship {}.", n * 7))
        .collect();
    write_lines(&path, &texts, &(0..texts.len()).collect::<Vec<_>>());
    let mut looking = looking("winnow", &[], None);
    looking.most = Some(5);
    let found = find(&[path], &looking, 2);
    assert!(
        found.pairs.len() <= 6 * texts.len(),
        "{}",
        found.pairs.len()
    );
    assert!(found.cut > 10_000, "{}", found.cut);
    assert_eq!(groups(&found, |_| true).len(), 1);
}

#[test]
fn two_collections_are_compared_with_each_other_only() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let other = STORY.replace("Monday", "Friday");
    let texts = [
        STORY.to_owned(),
        STORY.to_owned(),
        other,
        "Something else entirely, in few words".into(),
    ];
    write_lines(&at("a.jsonl"), &texts, &[0, 1, 3]);
    write_lines(&at("b.jsonl"), &texts, &[2, 3]);
    let looking = looking("winnow", &[], None);
    let (a, b) = (
        Collection::open(&[at("a.jsonl")]),
        Collection::open(&[at("b.jsonl")]),
    );
    let found = pairs(&a, Some(&b), &looking, &Quiet);
    assert_eq!(found.first(), 3);
    assert_eq!(named_across(&found), [(0, 2), (1, 2), (3, 3)]);
    // A text is no partner of itself, even if it is in both.
    let found = pairs(&a, Some(&a), &looking, &Quiet);
    assert_eq!(named_across(&found), [(0, 1), (1, 0)]);
}

fn named_across(found: &Pairs) -> Vec<(usize, usize)> {
    let number = |text| found.id(text).unwrap().parse().unwrap();
    let pairs = found.pairs.iter();
    pairs.map(|pair| (number(pair.a), number(pair.b))).collect()
}

#[test]
fn every_check_tells_copies_from_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    // Equal to imatch, which takes neither short words nor numbers: a template.
    let stranger = "storm storm captains captains harbour ships pilots owners Monday Tuesday wind noon \
        expected waited brought closed because outside until went";
    let texts = [
        STORY.to_owned(),
        format!("{STORY} Yes."),
        stranger.to_owned(),
    ];
    write_lines(&path, &texts, &[0, 1, 2]);
    for check in [Check::Cosine, Check::Containment, Check::Edit] {
        let mut looking = looking("winnow", &[], Some(0.01));
        looking.methods.push(Sought {
            method: Chosen::new("simhash").unwrap(),
            threshold: 0.0,
        });
        let verify = Verify {
            check,
            threshold: check.threshold(),
        };
        looking.verify = Some(verify);
        let found = find(std::slice::from_ref(&path), &looking, 2);
        let verified: BTreeSet<(u32, u32, bool)> = found
            .pairs
            .iter()
            .map(|pair| (pair.a, pair.b, verify.holds(pair.checked)))
            .collect();
        let expected = BTreeSet::from([(0, 1, true), (0, 2, false), (1, 2, false)]);
        assert_eq!(verified, expected, "{check:?}");
        // Both methods saw the copy, and each says so.
        assert_eq!(
            found
                .pairs
                .iter()
                .filter(|pair| (pair.a, pair.b) == (0, 1))
                .count(),
            2
        );
        assert_eq!(
            groups(&found, |pair| verify.holds(pair.checked))[0].texts,
            [0, 1]
        );
    }
}
