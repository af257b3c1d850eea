use proptest::prelude::*;

use super::words::number;
use super::*;
use crate::winnow::mix;

fn document(text: &str) -> Document {
    Document {
        text: text.into(),
        ..Document::default()
    }
}

/// A lexicon whose primary words are `p` and a number in letters, its secondary ones `s` likewise.
fn lexicon(primary: usize, secondary: usize) -> Lexicon {
    let names = (0..primary).map(|n| (name('p', n), 500));
    let rarer = (0..secondary).map(|n| (name('s', n), (secondary - n) as u32));
    let words = names
        .chain(rarer)
        .map(|(word, df)| (word.into_boxed_str(), df))
        .collect();
    Lexicon::new(1000, Range::MAIL, primary as u32, words)
}

fn name(first: char, n: usize) -> String {
    let mut word = String::from(first);
    let mut left = n;
    for _ in 0..4 {
        word.push((b'a' + (left % 26) as u8) as char);
        left /= 26;
    }
    word
}

/// Numbers that look random and are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % n as u64) as usize
    }
}

fn set(words: impl IntoIterator<Item = String>) -> Vec<u64> {
    let mut numbers: Vec<u64> = words.into_iter().map(|word| number(&word)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn shares_a_copy(a: &[u64], b: &[u64]) -> bool {
    // The first hash is that of the whole lexicon.
    a.iter().skip(1).any(|hash| b[1..].contains(hash))
}

#[test]
fn words_are_the_papers() {
    let check = |text: &str, expected: &[&str]| {
        let mut found = Vec::new();
        each_word(text, |word| found.push(word.to_owned()));
        assert_eq!(found, expected, "{text}");
    };
    check("The Quick-BROWN fox's tail", &["quick", "brown", "tail"]);
    check("four 4our fo4r4 2002 abc1 ab12", &["four", "4our", "abc1"]);
    check("ÜBER straße 東京都庁", &["über", "straße", "東京都庁"]);
    check("a_b under_score", &["under", "score"]);
    check(
        "naïve«quoted»text…café1234 end\u{e9}",
        &["naïve", "quoted", "text", "endé"],
    );
    check(
        "abc\u{fffd}defgh\u{2014}ijklm\u{1f600}",
        &["defgh", "ijklm"],
    );
    check("", &[]);
}

#[test]
fn the_subject_counts() {
    let mut mail = document("some words stand here");
    let without = unique_words(&mail);
    mail.envelope.subject = "Subject: some".into();
    let with = unique_words(&mail);
    assert_eq!((without.len(), with.len()), (4, 5));
}

#[test]
fn too_short_is_no_signature() {
    let imatch = Imatch {
        ratio: 0,
        least_words: 1,
        ..Imatch::new(lexicon(10, 0))
    };
    assert!(
        imatch
            .signature(&set((0..4).map(|n| name('p', n))))
            .is_empty()
    );
    assert!(
        !imatch
            .signature(&set((0..5).map(|n| name('p', n))))
            .is_empty()
    );
}

#[test]
fn secondary_words_fill_up_what_is_missing() {
    let imatch = Imatch {
        copies: 0,
        ratio: 50,
        ..Imatch::new(lexicon(100, 100))
    };
    let words = |primary: usize, secondary: std::ops::Range<usize>, other: usize| {
        let primary = (0..primary).map(|n| name('p', n));
        let rest = secondary
            .map(|n| name('s', n))
            .chain((0..other).map(|n| name('z', n)));
        imatch.signature(&set(primary.chain(rest)))
    };
    // 20 words, 10 needed, 6 primary: the 4 commonest of the secondary words are taken, no more.
    let filled = words(6, 0..6, 8);
    assert_eq!(filled.len(), 1);
    assert_eq!(
        filled,
        words(6, 0..7, 7),
        "a rarer secondary word is not looked at"
    );
    assert_ne!(filled, words(6, 1..7, 8), "the commonest are");
    assert!(words(6, 0..3, 11).is_empty(), "not enough even so");
    assert!(words(4, 0..0, 4).is_empty(), "fewer than five");
    assert_eq!(
        words(10, 0..0, 10),
        words(10, 0..5, 5),
        "none is taken where none is missing"
    );
}

#[test]
fn stability_is_what_theory_says() {
    let trials = 3000;
    for p in [0.33, 0.5] {
        for (n, copies) in [
            (1, 1),
            (1, 2),
            (1, 5),
            (1, 10),
            (2, 1),
            (2, 5),
            (2, 10),
            (3, 5),
            (3, 10),
        ] {
            let mut imatch = Imatch {
                copies,
                removal: Removal::Same { p },
                ..Imatch::new(lexicon(2000, 0))
            };
            let mut draw = Draw(u64::from(copies) << 8 | n as u64);
            let mut stable = 0;
            for trial in 0..trials {
                imatch.seed = trial;
                let mut words: Vec<usize> = (0..2000).collect();
                (0..64).for_each(|at| words.swap(at, at + draw.below(2000 - at)));
                // The first 60 are the message; changes delete some of them and insert some after them.
                let deleted = draw.below(n + 1);
                let text = |at: std::ops::Range<usize>| words[at].iter().map(|&n| name('p', n));
                let before = imatch.signature(&set(text(0..60)));
                let after = imatch.signature(&set(text(deleted..60 + n - deleted)));
                assert_ne!(before[0], after[0], "the whole lexicon sees every change");
                stable += u32::from(shares_a_copy(&before, &after));
            }
            let expected = 1.0 - (1.0 - p.powi(n as i32)).powi(copies as i32);
            let error = (expected * (1.0 - expected) / trials as f64).sqrt();
            let measured = f64::from(stable) / trials as f64;
            assert!(
                (measured - expected).abs() < 4.0 * error,
                "p = {p}, n = {n}, K = {copies}: measured {measured}, expected {expected}"
            );
        }
    }
}

#[test]
fn fitted_removal_bears_substitutions() {
    let found = |removal| {
        let mut imatch = Imatch {
            removal,
            ..Imatch::new(lexicon(4000, 0))
        };
        let mut draw = Draw(5);
        let stable = (0..300).filter(|&trial| {
            imatch.seed = trial;
            let mut words: Vec<usize> = (0..4000).collect();
            (0..110).for_each(|at| words.swap(at, at + draw.below(4000 - at)));
            // A tenth of 100 words is substituted: ten go, ten come.
            let text = |at: std::ops::Range<usize>| set(words[at].iter().map(|&n| name('p', n)));
            shares_a_copy(
                &imatch.signature(&text(0..100)),
                &imatch.signature(&text(10..110)),
            )
        });
        stable.count()
    };
    assert!(found(Removal::Same { p: 0.33 }) < 5);
    assert!(found(Removal::Fitted { p: 0.33, words: 8 }) > 150);
}

#[test]
fn bands_overlap() {
    // One word more moves a message to the next band; half of its copies stay.
    let removal = Removal::Fitted { p: 0.33, words: 8 };
    let imatch = Imatch {
        copies: 40,
        removal,
        ..Imatch::new(lexicon(1000, 0))
    };
    let signature = |n: usize| imatch.signature(&set((0..n).map(|n| name('p', n))));
    let (below, above) = (signature(63), signature(64));
    let same = below.iter().filter(|hash| above.contains(hash)).count();
    assert!(same >= 5, "{same} of {}", below.len());
}

#[test]
fn votes_ask_for_more_than_one_agreement() {
    let sketch = |keys: &[u64]| Sketch {
        keys: keys.to_vec(),
        body: Vec::new(),
    };
    let (a, b) = (sketch(&[1, 2, 3, 4]), sketch(&[4, 5, 6, 7]));
    let mut imatch = Imatch::new(lexicon(5, 0));
    assert_eq!(imatch.compare(&a, &b).resemblance, 0.25);
    imatch.votes = 2;
    assert_eq!(imatch.compare(&a, &b).resemblance, 0.0);
    assert_eq!(imatch.compare(&a, &a).resemblance, 1.0);
    assert_eq!(
        imatch.compare(&sketch(&[1]), &sketch(&[1])).resemblance,
        1.0,
        "one is all there is"
    );
    assert_eq!(imatch.compare(&sketch(&[]), &sketch(&[])).resemblance, 0.0);
}

#[test]
fn nidf_is_normalised() {
    assert_eq!(build::nidf(1, 1000), 1.0);
    assert_eq!(build::nidf(1000, 1000), 0.0);
    assert!((build::nidf(100, 10_000) - 0.5).abs() < 1e-12);
    assert_eq!(build::nidf(1, 1), 0.0);
}

#[test]
fn ranges_and_the_limit_decide_the_parts() {
    let mut builder = LexiconBuilder::default();
    for n in 0..100 {
        // "every" in 100 documents, "half" in 50, "tenth" in 10, "single…" in one each.
        let half = if n % 2 == 0 { "half" } else { "" };
        let tenth = if n % 10 == 0 { "tenth" } else { "" };
        builder.add(&document(&format!(
            "every every {half} {tenth} {}",
            name('q', n)
        )));
    }
    assert_eq!(
        (
            builder.documents(),
            builder.count("every"),
            builder.count("half")
        ),
        (100, 100, 50)
    );
    let lexicon = builder.build(
        Range {
            low: 0.1,
            high: 0.5,
        },
        3,
    );
    let words: Vec<_> = lexicon.words().collect();
    assert_eq!(words[0], ("half", 50, Part::Primary));
    assert_eq!(words[1], ("tenth", 10, Part::Primary));
    assert_eq!(words[2], ("qaaaa", 1, Part::Secondary));
    assert_eq!(
        (words.len(), lexicon.primary(), lexicon.secondary()),
        (5, 2, 3)
    );
    assert_eq!(
        (lexicon.find("every"), lexicon.find("tenth")),
        (None, Some(Part::Primary))
    );
}

#[test]
fn the_order_of_documents_does_not_matter() {
    let texts = [
        "alpha bravo charlie",
        "bravo delta",
        "echoes bravo alpha",
        "foxtrot golf1 hotel",
    ];
    let bytes = |order: &[usize], split: usize| {
        let (mut left, mut right) = (LexiconBuilder::default(), LexiconBuilder::default());
        for (at, &n) in order.iter().enumerate() {
            if at < split { &mut left } else { &mut right }.add(&document(texts[n]));
        }
        left.merge(right);
        left.build(Range::WEB, 100).to_bytes()
    };
    let straight = bytes(&[0, 1, 2, 3], 4);
    assert_eq!(straight, bytes(&[3, 1, 0, 2], 4));
    assert_eq!(
        straight,
        bytes(&[2, 0, 3, 1], 1),
        "nor how the work is divided"
    );
}

#[test]
fn the_shipped_lexicon_can_be_read() {
    let lexicon = Lexicon::shipped();
    assert!(
        lexicon.primary() > 200 && lexicon.secondary() > 5000,
        "{}",
        lexicon.primary()
    );
    assert_eq!(lexicon.find("meeting"), Some(Part::Primary));
    assert_eq!(
        Lexicon::from_bytes(&lexicon.to_bytes()).as_ref(),
        Ok(&*lexicon)
    );
}

#[test]
fn foreign_files_are_told_from_damaged_ones() {
    let good = String::from_utf8(lexicon(3, 2).to_bytes()).unwrap();
    let error = |text: &str| Lexicon::from_bytes(text.as_bytes()).unwrap_err();
    assert_eq!(error(""), LexiconError::Foreign);
    assert_eq!(error("PK\u{3}\u{4}"), LexiconError::Foreign);
    assert_eq!(
        error(&good.replace("lexicon 1", "lexicon 2")),
        LexiconError::Version("2".into())
    );
    assert_eq!(
        error("twicetold lexicon \u{1b}[31m"),
        LexiconError::Version("?[31m".into())
    );
    assert!(matches!(
        error(&good.replace("paaaa", "paaab")),
        LexiconError::Damaged(_)
    ));
    assert!(
        error(&good.replace("documents 1000", "documents 1001"))
            .to_string()
            .contains("checksum")
    );
}

#[test]
fn files_made_by_hand_are_checked() {
    let good = String::from_utf8(lexicon(3, 2).to_bytes()).unwrap();
    let sealed = |text: String| {
        // As if somebody had edited the file and mended its checksum.
        let at = text.find("checksum").unwrap();
        let (header, rest) = text.split_at(at);
        let body = rest.split_once('\n').unwrap().1;
        let sum = file::checksum(header, body);
        Lexicon::from_bytes(format!("{header}checksum {sum:016x}\n{body}").as_bytes())
    };
    assert!(sealed(good.clone()).is_ok());
    for (from, to) in [
        ("500 ", "5000 "),
        ("2 saaaa", "0 saaaa"),
        ("paaaa", "PAAAA"),
        ("paaaa", "p-aaa"),
        ("paaaa", ""),
        ("pbaaa", "paaaa"),
        ("primary 3", "primary 4294967295"),
        ("primary 3", "primary x"),
        ("range 0.2 0.3", "range"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        assert!(
            matches!(sealed(text), Err(LexiconError::Damaged(_))),
            "{from} -> {to}"
        );
    }
}

proptest! {
    #[test]
    fn damaged_bytes_never_stop_it(at in 0_usize..400, to in any::<u8>(), cut in 0_usize..400) {
        let mut bytes = lexicon(20, 20).to_bytes();
        let good = bytes.clone();
        let at = at % bytes.len();
        bytes[at] = to;
        let read = Lexicon::from_bytes(&bytes);
        prop_assert_eq!(read.is_ok(), bytes == good);
        prop_assert!(Lexicon::from_bytes(&good[..cut % good.len()]).is_err());
    }

    #[test]
    fn hashes_stand_for_sets(words in prop::collection::vec(0_usize..60, 0..40)) {
        let imatch = Imatch { least_words: 1, ..Imatch::new(lexicon(60, 0)) };
        let text = |words: &[usize]| {
            let words: Vec<String> = words.iter().map(|&n| name('p', n)).collect();
            imatch.sketch(&document(&words.join(" ")))
        };
        let mut other = words.clone();
        other.reverse();
        other.extend_from_slice(&words);
        prop_assert_eq!(text(&words), text(&other), "order and repetition do not matter");
    }
}
