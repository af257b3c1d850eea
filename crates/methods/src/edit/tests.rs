use proptest::prelude::*;
use twicetold_model::{Document, Method, Sketch};

use super::*;

/// Random numbers that are the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % limit as u64) as usize
    }

    pub(super) fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }

    pub(super) fn text(&mut self, length: usize) -> Vec<char> {
        (0..length).map(|_| self.letter()).collect()
    }

    /// A copy with so many random edits, cut to the same length.
    pub(super) fn edited(&mut self, text: &[char], edits: usize) -> Vec<char> {
        let mut copy = text.to_vec();
        for _ in 0..edits {
            let at = self.below(copy.len().max(1));
            match self.below(3) {
                _ if copy.is_empty() => copy.push(self.letter()),
                0 => copy[at] = self.letter(),
                1 => copy.insert(at, self.letter()),
                _ => drop(copy.remove(at)),
            }
        }
        while copy.len() < text.len() {
            copy.push(self.letter());
        }
        copy.truncate(text.len());
        copy
    }
}

pub(super) fn document(text: &str) -> Document {
    Document {
        text: text.to_owned(),
        ..Document::default()
    }
}

/// Words of a made-up language.
pub(super) fn prose(dice: &mut Dice, words: usize) -> String {
    let words = (0..words).map(|_| {
        let length = 2 + dice.below(7);
        dice.text(length).into_iter().collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A copy in which so many words of a hundred have two neighbouring letters swapped.
pub(super) fn misspelt(dice: &mut Dice, text: &str, percent: usize) -> String {
    let words = text.split(' ').map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        if letters.len() > 2 && dice.below(100) < percent {
            let at = dice.below(letters.len() - 1);
            letters.swap(at, at + 1);
        }
        letters.into_iter().collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_papers_table_5() {
    let widths = [22, 29, 40, 63, 83, 100, 159, 293, 411, 18392];
    let shortest = [15, 20, 27, 43, 56, 67, 107, 196, 275, 12262];
    let steps = [3, 3, 4, 6, 7, 8, 11, 16, 20, 153];
    for (at, row) in TABLE.iter().enumerate() {
        let windows = row.windows();
        assert_eq!(windows.width, widths[at], "w at n = {}", row.n);
        assert_eq!(windows.shortest, shortest[at], "q1 at n = {}", row.n);
        assert_eq!(
            windows.longest - windows.shortest,
            steps[at],
            "Δq at n = {}",
            row.n
        );
        assert!(
            row.theoretical_depth().abs_diff(row.depth) <= 2,
            "K at n = {}",
            row.n
        );
        assert!(row.growth() <= 1.0 && row.growth() > 0.9);
    }
}

#[test]
fn both_bounds_hold_for_planted_edits() {
    let mut dice = Dice(1);
    let (mut raised, mut tight) = (0, 0);
    for n in [100_usize, 400, 900, 1600] {
        let width = n.isqrt();
        let windows = Windows::of_width(width);
        for edits in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
            let x = dice.text(n);
            let y = dice.edited(&x, edits);
            let apart = distance(&x, &y, n).unwrap();
            let found = windows.distance(&x, &y);
            assert!(
                found <= windows.at_most(n, apart) + 1e-9,
                "{n} {apart} {found}"
            );
            if apart > 0 {
                let least = windows.at_least(n, apart - 1);
                assert!(found >= least - 1e-9, "{n} {apart} {found} {least}");
                raised += usize::from(least > 0.0);
            }
            assert!(found <= windows.farthest() + 1e-9);
            tight += usize::from(windows.at_most(n, apart) < windows.farthest());
        }
        let (x, y) = (dice.text(n), vec!['!'; n]);
        assert_eq!(windows.distance(&x, &y), windows.farthest());
        assert_eq!(windows.distance(&x, &x), 0.0);
    }
    // The bounds must have said something.
    assert!(raised > 10 && tight > 5, "{raised} {tight}");
}

#[test]
fn the_sliding_sum_agrees_with_the_definition() {
    let mut dice = Dice(2);
    let windows = Windows {
        width: 12,
        shortest: 3,
        longest: 5,
    };
    let x: Vec<char> = (0..60).map(|_| ['a', 'b'][dice.below(2)]).collect();
    let y = dice.edited(&x, 6);
    let mut sum = 0;
    for (a, b) in x.windows(12).zip(y.windows(12)) {
        for q in 3..=5 {
            let mut grams: Vec<&[char]> = a.windows(q).chain(b.windows(q)).collect();
            grams.sort_unstable();
            grams.dedup();
            let count =
                |text: &[char], gram: &[char]| text.windows(q).filter(|g| *g == gram).count();
            sum += grams
                .iter()
                .map(|g| count(a, g).abs_diff(count(b, g)))
                .sum::<usize>();
        }
    }
    let expected = sum as f64 / (49.0 * 3.0);
    assert!((windows.distance(&x, &y) - expected).abs() < 1e-9);
}

#[test]
fn hashes_agree_as_often_as_predicted() {
    let mut dice = Dice(3);
    let q = 5;
    let x = dice.text(200);
    for edits in [1, 4, 10, 40] {
        let y = dice.edited(&x, edits);
        let grams = |text: &[char]| Rolling::new(text).grams(q).collect::<Vec<u64>>();
        let (a, b) = (grams(&x), grams(&y));
        let apart = Windows {
            width: 200,
            shortest: q,
            longest: q,
        }
        .distance(&x, &y);
        for r in [20, 100, 400] {
            let tries = 4000;
            let agreed = (0..tries)
                .map(|key| StableHash::new(key, r))
                .filter(|hash| hash.value(hash.product(&a)) == hash.value(hash.product(&b)))
                .count();
            let measured = agreed as f64 / tries as f64;
            let predicted = collision(r as f64 / apart);
            assert!(
                (measured - predicted).abs() < 0.03,
                "{apart} {r}: {measured} {predicted}"
            );
        }
    }
}

#[test]
fn rolling_hashes_know_equal_grams() {
    let text: Vec<char> = "abcabcabcabd".chars().collect();
    let rolling = Rolling::new(&text);
    let grams: Vec<u64> = rolling.grams(3).collect();
    assert_eq!(grams.len(), 10);
    assert_eq!(grams[0], grams[3]);
    assert_ne!(grams[0], grams[1]);
    assert_ne!(grams[0], grams[9]);
    assert_eq!(rolling.grams(20).len(), 0);
    assert_eq!(
        rolling.grams(4).next(),
        Rolling::new(&text[3..7]).grams(4).next()
    );
}

/// The textbook's table.
fn slow_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let best = (corner + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

proptest! {
    #[test]
    fn the_band_agrees_with_the_textbook(a in "[ab]{0,200}", b in "[ab]{0,200}", most in 0..220_usize) {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let exact = slow_distance(&a, &b);
        prop_assert_eq!(distance(&a, &b, most), (exact <= most).then_some(exact));
    }

    #[test]
    fn near_copies_too(seed in any::<u64>(), length in 1..400_usize, edits in 0..30_usize, most in 0..40_usize) {
        let mut dice = Dice(seed);
        let a = dice.text(length);
        let b = dice.edited(&a, edits);
        let exact = slow_distance(&a, &b);
        prop_assert_eq!(distance(&a, &b, most), (exact <= most).then_some(exact));
    }

    #[test]
    fn near_copies_are_never_taken_for_strangers(seed in any::<u64>(), length in 0..400_usize, edits in 0..60_usize) {
        let mut dice = Dice(seed);
        let text = dice.text(length);
        let copy = dice.edited(&text, edits);
        let bytes = |text: &[char]| text.iter().map(|&letter| letter as u8).collect::<Vec<_>>();
        let most = slow_distance(&text, &copy);
        prop_assert!(!distance::are_strangers(&bytes(&text), &bytes(&copy), most));
    }

    #[test]
    fn any_text_can_be_sketched_and_is_like_itself(text in "\\PC{0,400}") {
        for edit in [Edit::practical(), Edit { keeps_text: false, ..Edit::paper() }] {
            if let Some(sketch) = edit.sketch(&document(&text)) {
                prop_assert!(sketch.keys.is_sorted() && !sketch.keys.is_empty());
                prop_assert_eq!(edit.compare(&sketch, &sketch).resemblance, 1.0);
                prop_assert_eq!(edit.read(&sketch).map(|read| read.encode()), Some(sketch.body));
            }
        }
    }

    #[test]
    fn any_bytes_can_be_read(body in prop::collection::vec(any::<u8>(), 0..200), version in any::<bool>()) {
        let edit = Edit::default();
        let mut body = body;
        if let (true, Some(first)) = (version, body.first_mut()) {
            *first = 1;
        }
        let sketch = Sketch { keys: Vec::new(), body };
        let evidence = edit.compare(&sketch, &sketch);
        prop_assert!((0.0..=1.0).contains(&evidence.resemblance));
    }
}

#[test]
fn the_ladder() {
    let lengths = |length, longest| -> Vec<usize> {
        Shape::Paper
            .rungs(length, longest)
            .iter()
            .map(|rung| rung.n)
            .collect()
    };
    assert_eq!(lengths(99, 8316), [] as [usize; 0]);
    assert_eq!(lengths(100, 8316), [100]);
    assert_eq!(lengths(149, 8316), [100]);
    assert_eq!(lengths(1999, 8316), [1000, 750]);
    assert_eq!(lengths(1_000_000, 8316), [8316, 5000]);
    assert_eq!(lengths(1_000_000, 2000), [2000, 1000]);
}

#[test]
fn look_alikes_are_folded() {
    for disguised in [
        "Cheap Viagra online",
        "CHEAP V1AGRA 0NL1NE",
        "ch3@p v i a g r a onl!ne",
        "сhеаp vіаgrа оnline",
        "ch\u{200b}eap vi\u{ad}agra on\u{2060}line",
        "çhéàp vîågrä ønlíne",
        "ｃｈｅａｐ ｖｉａｇｒａ ｏｎｌｉｎｅ",
        "cheap. vιagrα, \"οnline\"",
    ] {
        assert_eq!(
            fold(disguised).iter().collect::<String>(),
            "cheapviagraoniine",
            "{disguised}"
        );
    }
    let digits: std::collections::BTreeSet<Vec<char>> =
        ('0'..='9').map(|c| fold(&c.to_string())).collect();
    assert_eq!(digits.len(), 10, "different numbers stay different");
    assert_eq!(fold("Wow!"), fold("wow"));
    assert_eq!(
        plain("V1agra, ÄÖ!"),
        ['v', '1', 'a', 'g', 'r', 'a', 'ä', 'ö']
    );
    assert_eq!(fold("你好，世界"), ['你', '好', '世', '界']);
}

#[test]
fn misspelt_copies_share_a_key_and_strangers_do_not() {
    let edit = Edit::practical();
    let mut dice = Dice(4);
    let texts: Vec<String> = (0..60).map(|at| prose(&mut dice, 40 + 5 * at)).collect();
    let sketches: Vec<Sketch> = texts
        .iter()
        .map(|text| edit.sketch(&document(text)).unwrap())
        .collect();
    let (mut found, mut strangers) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let copy = edit
            .sketch(&document(&misspelt(&mut dice, text, 15)))
            .unwrap();
        let shared = |other: &Sketch| twicetold_model::shared_keys(&copy.keys, &other.keys) > 0;
        if shared(&sketches[at]) {
            found += 1;
            let alike = edit.compare(&copy, &sketches[at]).resemblance;
            assert!((0.9..=1.0).contains(&alike), "{alike}");
        }
        strangers += (0..at).filter(|other| shared(&sketches[*other])).count();
    }
    assert!(found >= 58, "{found} of 60 found");
    assert!(strangers <= 5, "{strangers} of 1770 pairs of strangers");
}

#[test]
fn the_papers_preset_finds_copies_with_an_edit_or_two() {
    let edit = Edit::paper();
    let mut dice = Dice(5);
    let text = dice.text(1100);
    let known = edit.signature(&text.iter().collect::<String>());
    let mut copy = text.clone();
    copy[900] = '!';
    let mut forest = Forest::default();
    forest.insert(1, &known);
    forest.insert(
        2,
        &edit.signature(&dice.text(1100).into_iter().collect::<String>()),
    );
    let copy = edit.signature(&copy.into_iter().collect::<String>());
    let found = forest.ascend(&copy, 60);
    assert_eq!(found[0].id, 1);
    assert_eq!(found[0].level, TABLE[5].depth);
}

fn signature(n: u32, depth: u16, values: &[u16]) -> Signature {
    Signature {
        hashes: vec![Hashes {
            n,
            depth,
            values: values.to_vec(),
        }],
        ..Signature::default()
    }
}

#[test]
fn the_forest_ascends_all_trees_together() {
    // Two trees of depth three.
    let mut forest = Forest::default();
    forest.insert(1, &signature(100, 3, &[1, 2, 3, 9, 9, 9]));
    forest.insert(2, &signature(100, 3, &[1, 2, 4, 5, 5, 5]));
    forest.insert(3, &signature(100, 3, &[1, 0, 0, 5, 5, 6]));
    forest.insert(4, &signature(100, 3, &[7, 7, 7, 7, 7, 7]));
    forest.insert(5, &signature(150, 3, &[1, 2, 3, 5, 5, 5]));
    let query = signature(100, 3, &[1, 2, 3, 5, 5, 5]);
    let levels = |found: &[Found]| {
        found
            .iter()
            .map(|one| (one.level, one.id))
            .collect::<Vec<_>>()
    };
    let mut all = forest.ascend(&query, 100);
    all.sort_by_key(|one| (usize::MAX - one.level, one.id));
    assert_eq!(levels(&all), [(3, 1), (3, 2), (2, 2), (2, 3), (1, 3)]);
    // Enough after the first level.
    assert_eq!(forest.ascend(&query, 1).len(), 2);
    forest.remove(2, &signature(100, 3, &[1, 2, 4, 5, 5, 5]));
    assert_eq!(
        levels(&forest.ascend(&query, 100)),
        [(3, 1), (2, 3), (1, 3)]
    );
    for (id, n, values) in [
        (1, 100, [1, 2, 3, 9, 9, 9]),
        (3, 100, [1, 0, 0, 5, 5, 6]),
        (4, 100, [7; 6]),
        (5, 150, [1, 2, 3, 5, 5, 5]),
    ] {
        forest.remove(id, &signature(n, 3, &values));
    }
    assert!(forest.is_empty());
}

#[test]
fn filters_by_level() {
    let found = |levels: &[usize]| -> Vec<Found> {
        levels
            .iter()
            .enumerate()
            .map(|(id, level)| Found {
                id: id as u64,
                level: *level,
            })
            .collect()
    };
    let check = |filter: Filter, levels: &[usize], expected: &[usize]| {
        let mut left = found(levels);
        filter.apply(&mut left);
        assert_eq!(
            left.iter().map(|one| one.level).collect::<Vec<_>>(),
            expected,
            "{filter:?} {levels:?}"
        );
    };
    let levels = [9, 9, 5, 4, 4, 2]; // on average 5.5
    check(Filter::All, &levels, &levels);
    check(Filter::Deepest, &levels, &[9, 9]);
    check(Filter::Half, &levels, &[5]);
    check(Filter::AtLeastHalf, &levels, &[9, 9]);
    check(Filter::Half, &[6, 4, 5], &[5]);
    check(Filter::AtLeastHalf, &[6, 4, 5], &[6, 5]);
    check(Filter::Deepest, &[], &[]);
}

#[test]
fn the_order_of_insertion_does_not_matter() {
    let edit = Edit::practical();
    let mut dice = Dice(6);
    let signatures: Vec<Signature> = (0..20)
        .map(|_| edit.signature(&prose(&mut dice, 60)))
        .collect();
    let (mut one, mut other) = (Forest::default(), Forest::default());
    for (id, signature) in signatures.iter().enumerate() {
        one.insert(id as u64, signature);
    }
    for (id, signature) in signatures.iter().enumerate().rev() {
        other.insert(id as u64, signature);
    }
    for signature in &signatures {
        assert_eq!(one.ascend(signature, 48), other.ascend(signature, 48));
    }
}

#[test]
fn short_texts_are_compared_directly() {
    let edit = Edit::default();
    let texts = [
        "Your parcel waits at the depot",
        "Ok, thanks",
        "Win a prize now",
        "Your parcl wiats at the depot!",
    ];
    let mut forest = Forest::default();
    for (id, text) in texts.iter().enumerate() {
        forest.insert(id as u64, &edit.signature(text));
    }
    let near = forest.nearest(&edit.signature(texts[0]), 48, 0.8, |_| None);
    assert_eq!(near.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 3]);
    let sketch = |text: &str| edit.sketch(&document(text)).unwrap();
    assert!(twicetold_model::shared_keys(&sketch(texts[0]).keys, &sketch(texts[3]).keys) > 0);
    assert!(!sketch("a").keys.is_empty());
}

#[test]
fn texts_on_both_sides_of_a_rung_meet() {
    let edit = Edit::practical();
    let mut dice = Dice(7);
    for length in [100, 110, 150, 250, 500, 1000, 2000] {
        let text: String = dice.text(length + 3).into_iter().collect();
        let long = edit.sketch(&document(&text)).unwrap();
        let short = edit.sketch(&document(&text[..length - 3])).unwrap();
        assert!(
            twicetold_model::shared_keys(&long.keys, &short.keys) > 0,
            "{length}"
        );
        assert!(edit.compare(&long, &short).resemblance > 0.9);
        assert!(edit.compare(&short, &long).containment > 0.99);
    }
}

#[test]
fn empty_and_huge_texts_are_safe() {
    for edit in [Edit::paper(), Edit::practical()] {
        assert_eq!(edit.sketch(&document("")), None);
        assert_eq!(edit.sketch(&document(" \n--- …")), None);
        let huge = "lorem ipsum dolor ".repeat(200_000);
        let sketch = edit.sketch(&document(&huge)).unwrap();
        assert_eq!(edit.compare(&sketch, &sketch).resemblance, 1.0);
        // Equal as far as they are read, and yet not equal.
        let longer = edit.sketch(&document(&(huge + "sit amet"))).unwrap();
        assert!(edit.compare(&sketch, &longer).resemblance < 1.0);
    }
}

#[test]
fn sketches_without_text_still_tell_near_from_far() {
    let edit = Edit {
        keeps_text: false,
        ..Edit::practical()
    };
    let mut dice = Dice(8);
    let text = prose(&mut dice, 150);
    let sketch = |text: &str| edit.sketch(&document(text)).unwrap();
    let known = sketch(&text);
    assert_eq!(edit.read(&known).unwrap().text(), [] as [char; 0]);
    let near = edit
        .compare(&known, &sketch(&misspelt(&mut dice, &text, 15)))
        .resemblance;
    let far = edit
        .compare(&known, &sketch(&prose(&mut dice, 150)))
        .resemblance;
    assert!(near > 0.6 && far < 0.4, "{near} {far}");
    assert_eq!(edit.compare(&known, &sketch(&text)).resemblance, 1.0);
}
