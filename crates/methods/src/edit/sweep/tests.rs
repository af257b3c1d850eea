use super::super::tests::{Dice, document, misspelt, prose};
use super::*;

fn sweep() -> Sweep {
    Sweep::new(12, 16, 2, 4, 2000, 0)
}

fn shared(a: &[u64], b: &[u64]) -> usize {
    twicetold_model::shared_keys(a, b)
}

#[test]
fn misspelt_copies_share_a_key_and_strangers_do_not() {
    let sweep = sweep();
    let mut dice = Dice(4);
    let texts: Vec<String> = (0..60).map(|at| prose(&mut dice, 40 + 5 * at)).collect();
    let keys: Vec<Vec<u64>> = texts
        .iter()
        .map(|text| sweep.keys(&document(text)))
        .collect();
    let (mut found, mut strangers) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let copy = sweep.keys(&document(&misspelt(&mut dice, text, 15)));
        found += usize::from(shared(&copy, &keys[at]) > 0);
        strangers += (0..at)
            .filter(|&other| shared(&copy, &keys[other]) > 0)
            .count();
    }
    assert!(found >= 54, "{found} of 60 found");
    assert!(strangers <= 5, "{strangers} of 1770 pairs of strangers");
}

#[test]
fn hashes_agree_as_often_as_predicted() {
    // Hashes of their own tree each, so that a key is one hash.
    let sweep = Sweep::new(255, 1, 2, 4, 250, 9);
    let mut dice = Dice(11);
    let text = dice.text(200);
    let rung = sweep
        .rungs
        .iter()
        .find(|one| one.rung.n == 150)
        .unwrap()
        .rung;
    let of = |text: &[char]| sweep.keys(&document(&text.iter().collect::<String>()));
    let known = of(&text);
    for edits in [1, 4, 12] {
        let (mut agree, mut expected, rounds) = (0.0, 0.0, 40);
        for _ in 0..rounds {
            let copy = dice.edited(&text, edits);
            // Keys of both lengths, 100 and 150; the prediction is for the larger one.
            agree += shared(&known, &of(&copy)) as f64 / known.len() as f64;
            let apart = rung.windows.distance(&text[..150], &copy[..150]);
            expected += super::super::collision(rung.step as f64 / apart.max(1e-9));
        }
        let (agree, expected) = (agree / f64::from(rounds), expected / f64::from(rounds));
        assert!(
            (agree - expected).abs() < 0.06,
            "{edits}: {agree} {expected}"
        );
    }
}

#[test]
fn equal_texts_have_equal_keys_and_only_what_is_read_counts() {
    let sweep = sweep();
    let mut dice = Dice(5);
    let text = prose(&mut dice, 600);
    let keys = sweep.keys(&document(&text));
    assert_eq!(keys.len(), 24);
    assert!(keys.is_sorted());
    // Disguises and what stands behind the two thousandth letter change nothing.
    assert_eq!(sweep.keys(&document(&text.to_uppercase())), keys);
    assert_eq!(sweep.keys(&document(&format!("{text} and more"))), keys);
    assert_eq!(sweep.keys(&document(&format!("another {text}"))).len(), 24);
    assert_ne!(
        Sweep::new(12, 16, 2, 4, 2000, 1).keys(&document(&text)),
        keys
    );
}

#[test]
fn texts_on_both_sides_of_a_length_meet_and_short_ones_have_no_keys() {
    let sweep = sweep();
    let mut dice = Dice(7);
    for length in [150, 250, 500, 1000, 2000] {
        let text: String = dice.text(length + 3).into_iter().collect();
        let (long, short) = (document(&text), document(&text[..length - 3]));
        assert!(
            shared(&sweep.keys(&long), &sweep.keys(&short)) > 0,
            "{length}"
        );
    }
    assert!(sweep.keys(&document("")).is_empty());
    assert!(sweep.keys(&document(&"a".repeat(99))).is_empty());
    assert_eq!(sweep.keys(&document(&"a".repeat(100))).len(), 12);
    let huge = "lorem ipsum dolor ".repeat(200_000);
    assert_eq!(sweep.keys(&document(&huge)).len(), 24);
}

#[test]
fn keys_are_the_same_on_every_machine() {
    let text = "Genuine chronographs, sapphire crystal, velvet presentation cases. ".repeat(3);
    let keys = sweep().keys(&document(&text));
    // Stored campaigns are found by these numbers.
    assert_eq!(
        (keys.len(), keys[0], keys[23]),
        (24, 580_900_955_179_112_322, 17_119_605_743_981_414_005)
    );
}
