//! Sketches as bytes.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::{SPAM, html, mail};
use twicetold_model::Form;
use twicetold_service::{Sketches, Trust, compare};

#[test]
fn sketches_survive_as_bytes() {
    let page = html(
        "<html><body><p>Some words here</p><a href='http://www.example.org/x'>and more</a></body></html>",
    );
    assert!(page.layout.is_some());
    for sketches in [mail(SPAM[0]), page, mail(""), Sketches::default()] {
        let bytes = sketches.to_bytes();
        assert_eq!(Sketches::from_bytes(&bytes).unwrap(), sketches);
        for cut in 0..bytes.len() {
            assert_eq!(Sketches::from_bytes(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(Sketches::from_bytes(&[bytes, vec![0]].concat()), None);
    }
}

#[test]
fn the_bytes_are_the_same_on_every_machine() {
    let known = include_bytes!("formats/sketch-2.bin");
    let sketches = mail(SPAM[0]);
    assert_eq!(sketches.edit.len(), 24);
    assert_eq!(
        sketches.to_bytes(),
        known,
        "sketches of a version must never change: stored ones would be lost"
    );
}

#[test]
fn version_1_is_read() {
    let known = include_bytes!("formats/sketch-1.bin");
    let sketches = mail("Genuine chronographs, sapphire crystal, velvet presentation cases");
    // It is too short for edit keys, and everything else is as it was.
    assert_eq!(Sketches::from_bytes(known), Some(sketches));
    for version in [0, Sketches::VERSION + 1] {
        let mut other = known.to_vec();
        other[0] = version;
        assert_eq!(Sketches::from_bytes(&other), None, "{version}");
    }
}

#[test]
fn a_sketch_does_not_hold_the_text() {
    let bytes = mail(SPAM[2]).to_bytes();
    for word in SPAM[2].split_whitespace().filter(|word| word.len() > 3) {
        let word = word.as_bytes();
        assert!(!bytes.windows(word.len()).any(|window| window == word));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_can_be_sketched_and_compared(a in proptest::collection::vec(any::<u8>(), 0..2000), text in ".{0,400}") {
        let one = Sketches::of(Form::Mail, &a, &Trust::default());
        let two = Sketches::of(Form::Text, text.as_bytes(), &Trust::default());
        for (x, y) in [(&one, &two), (&two, &one), (&one, &one)] {
            let found = compare(x, y);
            for number in [found.text, found.layout, found.certainty()] {
                prop_assert!((0.0..=1.0).contains(&number), "{number}");
            }
        }
        prop_assert_eq!(Sketches::from_bytes(&one.to_bytes()), Some(one));
    }

    #[test]
    fn any_bytes_can_be_read_as_a_sketch(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Sketches::from_bytes(&bytes);
        for version in 1..=Sketches::VERSION {
            let _ = Sketches::from_bytes(&[&[version], bytes.as_slice()].concat());
        }
    }
}
