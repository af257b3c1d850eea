//! What every method promises, tested once for all of them.
//!
//! A new method is one more line in [`methods`].

use std::collections::HashSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use twicetold_index::MemoryIndex;
use twicetold_methods::{blocks, edit, imatch, layout, simhash, winnow};
use twicetold_model::{Document, Evidence, Form, Method, Sketch};

/// Every method with its defaults, and the variants that work differently inside.
fn methods() -> Vec<Box<dyn Method>> {
    vec![
        Box::new(winnow::Winnow::default()),
        Box::new(imatch::Imatch::default()),
        Box::new(imatch::Imatch {
            removal: imatch::Removal::FITTED,
            ..imatch::Imatch::default()
        }),
        Box::new(blocks::Blocks::default()),
        Box::new(blocks::Blocks {
            formula: blocks::Formula::Paper,
            ..blocks::Blocks::default()
        }),
        Box::new(blocks::Blocks {
            formula: blocks::Formula::Share,
            ..blocks::Blocks::default()
        }),
        Box::new(simhash::SimHash::default()),
        Box::new(simhash::SimHash {
            features: simhash::Features::Triples,
            weights: simhash::Weights::Presence,
            stop_words: false,
            distance: 5,
        }),
        Box::new(layout::Cosdes::default()),
        Box::new(edit::Edit::practical()),
        Box::new(edit::Edit::paper()),
        Box::new(edit::Edit {
            keeps_text: false,
            ..edit::Edit::practical()
        }),
    ]
}

/// Messages of many sorts: every method has something to say about some of them.
fn samples() -> Vec<Document> {
    let letter = "Dear all,\n\nthe meeting about the power market moves to Thursday next week, because the \
        Houston office will be closed. Please find the file with the current offer below, and look at the \
        number of available services. Should you think that the price is very good, send me your change \
        before Friday!\n\nThanks,\nAnna\n";
    let mut texts: Vec<String> = vec![
        letter.into(),
        letter.replace("Thursday", "Friday"),
        letter.replace("Anna", "Bernd").replace("Dear all,", "Hi,"),
        "Ok, thanks".into(),
        "会议改到星期四。请看附件！谢谢？".into(),
        "Встреча переносится на четверг. Пожалуйста, подтвердите. Спасибо!".into(),
        "\u{0}\u{1}\u{fffd}\u{200b}\u{feff}".into(),
        "same same same same. ".repeat(40),
        letter.repeat(60),
    ];
    texts.push(letter.lines().rev().collect::<Vec<_>>().join("\n"));
    let mut documents: Vec<Document> = texts
        .iter()
        .map(|text| twicetold_mail::read(Form::Text, text.as_bytes()))
        .collect();
    documents.push(html("<p>First offer</p>", 12));
    documents.push(html("<p>Second offer</p>", 14));
    documents
}

/// An HTML mail with so many table rows.
fn html(start: &str, rows: usize) -> Document {
    let rows: String = (0..rows)
        .map(|n| format!("<tr><td>Item {n}</td><td><a href='http://shop.example/{n}'>buy it today</a></td></tr>"))
        .collect();
    let mail = format!(
        "Subject: Offer\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
         <html><body>{start}<table>{rows}</table><div><b>Thank you</b></div></body></html>\r\n"
    );
    let mut document = twicetold_mail::read(Form::Mail, mail.as_bytes());
    let layout = twicetold_mail::html::tags::layout_of(Form::Mail, mail.as_bytes());
    document.layout = layout.map(Box::new);
    document
}

fn check_scores(name: &str, evidence: Evidence) {
    for score in [evidence.containment, evidence.resemblance] {
        assert!((0.0..=1.0).contains(&score), "{name}: {evidence:?}");
    }
}

#[test]
fn names_are_words_users_can_type() {
    for method in methods() {
        assert!(
            method.name().chars().all(|c| c.is_ascii_lowercase()),
            "{}",
            method.name()
        );
    }
}

#[test]
fn every_method_has_something_to_say() {
    for method in methods() {
        let sketched = samples()
            .iter()
            .filter(|document| method.sketch(document).is_some())
            .count();
        assert!(sketched > 0, "{}", method.name());
    }
}

#[test]
fn the_same_in_every_thread_and_every_instance() {
    let samples = samples();
    let sketches = || {
        let all = methods();
        let of = |method: &dyn Method| samples.iter().map(|d| method.sketch(d)).collect::<Vec<_>>();
        all.iter()
            .map(|method| of(method.as_ref()))
            .collect::<Vec<_>>()
    };
    let here = sketches();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(sketches)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), here);
        }
    });
}

#[test]
fn equal_texts_score_one() {
    for method in methods() {
        for document in samples() {
            let (a, b) = (method.sketch(&document), method.sketch(&document.clone()));
            assert_eq!(a, b, "{}", method.name());
            if let (Some(a), Some(b)) = (a, b) {
                let evidence = method.compare(&a, &b);
                assert_eq!(
                    evidence.resemblance,
                    1.0,
                    "{}: {:.60}",
                    method.name(),
                    document.text
                );
                assert_eq!(
                    evidence.containment,
                    1.0,
                    "{}: {:.60}",
                    method.name(),
                    document.text
                );
            }
        }
    }
}

#[test]
fn scores_stay_between_none_and_all() {
    for method in methods() {
        let sketches: Vec<Sketch> = samples().iter().filter_map(|d| method.sketch(d)).collect();
        for a in &sketches {
            for b in &sketches {
                let (there, back) = (method.compare(a, b), method.compare(b, a));
                check_scores(method.name(), there);
                assert_eq!(
                    there.resemblance,
                    back.resemblance,
                    "{}: the same from both sides",
                    method.name()
                );
            }
        }
    }
}

#[test]
fn keys_are_sorted_and_each_stands_once() {
    for method in methods() {
        for sketch in samples()
            .iter()
            .filter_map(|document| method.sketch(document))
        {
            assert!(sketch.keys.is_sorted_by(|a, b| a < b), "{}", method.name());
        }
    }
}

#[test]
fn nothing_said_is_nothing_sketched() {
    for method in methods() {
        assert_eq!(
            method.sketch(&Document::default()),
            None,
            "{}",
            method.name()
        );
        let blank = twicetold_mail::read(Form::Text, b" \n\t\n \n");
        assert_eq!(method.sketch(&blank), None, "{}", method.name());
    }
}

#[test]
fn huge_messages_are_safe_and_fast() {
    let words = [
        "market ",
        "energy. ",
        "a",
        "7 ",
        "會議。",
        "> ",
        "\n",
        "www.example.org/x?y=1 ",
        "é",
    ];
    let varied: String = (0..900_000_usize)
        .map(|n| words[(n * n / 7 + n) % words.len()])
        .collect();
    for text in [
        "x".repeat(5 << 20),
        "spam. ".repeat(900_000),
        ".".repeat(5 << 20),
        varied,
    ] {
        let document = twicetold_mail::read(Form::Text, text.as_bytes());
        for method in methods() {
            let start = Instant::now();
            if let Some(sketch) = method.sketch(&document) {
                check_scores(method.name(), method.compare(&sketch, &sketch));
            }
            // Far above what it takes, far below what anything quadratic would take.
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{}",
                method.name()
            );
        }
    }
}

#[test]
fn a_sketch_survives_the_disk() {
    for method in methods() {
        for sketch in samples()
            .iter()
            .filter_map(|document| method.sketch(document))
        {
            let read = Sketch::from_bytes(&sketch.to_bytes()).unwrap();
            assert_eq!(read, sketch, "{}", method.name());
            assert_eq!(
                method.compare(&read, &sketch).resemblance,
                1.0,
                "{}",
                method.name()
            );
        }
    }
}

#[test]
fn removal_leaves_no_trace() {
    for method in methods() {
        let sketches: Vec<Sketch> = samples().iter().filter_map(|d| method.sketch(d)).collect();
        let keys: HashSet<u64> = sketches
            .iter()
            .flat_map(|s| s.keys.iter().copied())
            .collect();
        let (mut index, mut never) = (MemoryIndex::new(), MemoryIndex::new());
        for (id, sketch) in (0..).zip(&sketches) {
            index.insert(id, sketch.keys.iter().copied());
            if id % 2 == 0 {
                never.insert(id, sketch.keys.iter().copied());
            }
        }
        for (id, sketch) in (0..).zip(&sketches).filter(|(id, _)| id % 2 == 1) {
            index.remove(id, sketch.keys.iter().copied());
        }
        for key in keys {
            assert_eq!(index.holders(key), never.holders(key), "{}", method.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_safe(a in ".{0,300}", b in "[a-e .\n>]{0,300}") {
        let read = |text: &str| twicetold_mail::read(Form::Text, text.as_bytes());
        for method in methods() {
            let (a, b) = (method.sketch(&read(&a)), method.sketch(&read(&b)));
            if let (Some(a), Some(b)) = (a, b) {
                check_scores(method.name(), method.compare(&a, &b));
                prop_assert_eq!(method.compare(&b, &b).resemblance, 1.0, "{}", method.name());
            }
        }
    }

    #[test]
    fn foreign_sketches_are_safe(
        mut keys in prop::collection::vec(any::<u64>(), 0..5),
        body in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        keys.sort_unstable();
        keys.dedup();
        let foreign = Sketch { keys, body };
        let own = twicetold_mail::read(Form::Text, b"Some words of a message. And some more of them follow.");
        for method in methods() {
            check_scores(method.name(), method.compare(&foreign, &foreign));
            if let Some(own) = method.sketch(&own) {
                check_scores(method.name(), method.compare(&own, &foreign));
                check_scores(method.name(), method.compare(&foreign, &own));
            }
        }
    }
}
