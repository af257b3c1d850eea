use proptest::prelude::*;
use twicetold_mail::read;
use twicetold_model::{Form, shared_keys};

use super::*;
use crate::winnow::mix;

fn of(text: &str) -> u64 {
    SimHash::default()
        .of_document(&read(Form::Text, text.as_bytes()))
        .unwrap()
}

/// The pairs of the paper's Tables I to IV, with the k it gives where it gives one.
const PAIRS: [(&str, &str); 6] = [
    (
        "International Monetary Fund congratulate you as our Ten(10) Star Prize Winner in our 2011 End of Year IAP held in London.This makes you a cash prize of £750,000.00 GBP",
        "IMF congratulate you as our Ten(10) Star Prize Winner in our 2011 End of Year IAP held in London.This makes you a cash prize of £750,000.00 GBP",
    ),
    (
        "Great Opportunity -- IT Professionals only IIPM LOOKING FOR INDIAN PROFILES",
        "Great Opportunity -- IT Professionals only IIPM LOOKING FOR INDIAN PROFILES",
    ),
    (
        "Your e-mail has won you, (£750,000.00.Pounds) from COCA COLA NATIONAL LOTTERY On our 2011 charity bonanza",
        "Your e-mail has won you, ($750,000.00.Dollors) from COCA COLA NATIONAL LOTTERY On our 2011 charity bonanza",
    ),
    (
        "We are Pleased to inform you that you have won a prize money of GBP750,000.00",
        "We are Pleased to inform you that you have won a prize money of INR750,000.00",
    ),
    (
        "Your e-mail address attached to Winning number 20-12jan-2010-02MSW, serial number S/N-00168, drew the lucky numbers 887-13-866-37-10-83",
        "Your e-mail address attached to Winningnumber20-12DEC-2010-02MSW, serial number S/N-00168, drew the lucky numbers 887-13-865-37-10-83",
    ),
    (
        "Great Opportunity --- IT Professionals only IIPM seeing FOR INDIAN PROFILES !",
        "Great Opportunity -- IT Professionals only IIPM LOOKING FOR INDIAN PROFILES *",
    ),
];

#[test]
fn the_papers_pairs_are_nearer_than_strangers() {
    let distances: Vec<u32> = PAIRS.iter().map(|(a, b)| distance(of(a), of(b))).collect();
    assert_eq!(distances[1], 0, "Table II, k = 0");
    for (n, &near) in distances.iter().enumerate() {
        for (m, (_, other)) in PAIRS.iter().enumerate() {
            let related = n == m || (n, m) == (1, 5) || (n, m) == (5, 1);
            let far = distance(of(PAIRS[n].0), of(other));
            assert!(
                related || near < far,
                "pair {n}: {near}, with text {m}: {far}"
            );
        }
    }
}

#[test]
fn the_sign_of_the_sum_is_the_bit() {
    assert_eq!(fingerprint([0b011, 0b001, 0b101].into_iter()), 0b001);
    assert_eq!(
        fingerprint([0b01, 0b10].into_iter()),
        0,
        "a sum of nothing is 0"
    );
    assert_eq!(fingerprint(std::iter::empty()), 0);
    assert_eq!(weighted([(0b01, 3), (0b10, 2)].into_iter()), 0b01);
    assert_eq!(
        weighted([(1, i64::MAX), (1, i64::MAX), (0, i64::MIN)].into_iter()),
        0b1
    );
}

#[test]
fn features_are_runs_of_words() {
    let words = [1, 2, 3, 2, 3];
    assert_eq!(Features::Words.of(words.into_iter()), words);
    let pairs = Features::Pairs.of(words.into_iter());
    assert_eq!((pairs.len(), pairs[1]), (4, pairs[3]));
    assert_eq!(Features::Triples.of(words.into_iter()).len(), 3);
    assert_eq!(
        Features::Triples.of([1, 2].into_iter()).len(),
        1,
        "a short text is one feature"
    );
    assert_eq!(Features::Triples.of(std::iter::empty()).len(), 0);
}

#[test]
fn presence_counts_a_word_once() {
    let text = "spam spam spam spam spam spam spam spam spam eggs bacon sausage";
    let document = read(Form::Text, text.as_bytes());
    let once = read(Form::Text, b"spam eggs bacon sausage");
    let presence = SimHash {
        weights: Weights::Presence,
        ..SimHash::default()
    };
    assert_eq!(presence.of_document(&document), presence.of_document(&once));
    assert_ne!(
        SimHash::default().of_document(&document),
        SimHash::default().of_document(&once)
    );
}

#[test]
fn no_word_no_sketch() {
    assert_eq!(SimHash::default().sketch(&Document::default()), None);
}

#[test]
fn a_foreign_sketch_scores_nothing() {
    let sketch = SimHash::default()
        .sketch(&read(Form::Text, b"one two three"))
        .unwrap();
    assert_eq!(
        SimHash::default()
            .compare(&sketch, &Sketch::default())
            .resemblance,
        0.0
    );
}

#[test]
fn equal_fingerprints_of_many_owners() {
    let mut index = HammingIndex::default();
    for id in (0..1000).rev() {
        assert!(index.insert(id, 42));
        assert!(!index.insert(id, 42), "adding twice is adding once");
    }
    assert_eq!(index.len(), 1);
    let found = index.within(43, 1);
    assert_eq!(found.len(), 1000);
    assert!(found.is_sorted());
    assert!(!index.remove(1000, 42));
    assert!((0..1000).all(|id| index.remove(id, 42)));
    assert_eq!(index, HammingIndex::default(), "no trace is left");
}

/// Fingerprints around a few centres, so that near pairs exist at every distance.
fn clustered() -> impl Strategy<Value = Vec<u64>> {
    let near = (0_u64..4, prop::collection::vec(0_u32..64, 0..10));
    let one = near.prop_map(|(centre, flips)| {
        flips
            .into_iter()
            .fold(mix(centre.wrapping_add(99)), |bits, flip| bits ^ 1 << flip)
    });
    prop::collection::vec(one, 1..300)
}

proptest! {
    #[test]
    fn the_index_finds_what_a_walk_finds(
        fingerprints in clustered(),
        blocks in 1_u32..12,
        removed in prop::collection::vec(any::<bool>(), 300),
    ) {
        let mut index = HammingIndex::with_blocks(blocks);
        for (id, &fingerprint) in (0..).zip(&fingerprints) {
            index.insert(id, fingerprint);
        }
        for (id, &fingerprint) in (0..).zip(&fingerprints) {
            if removed[id as usize] {
                prop_assert!(index.remove(id, fingerprint));
            }
        }
        for k in 0..=8 {
            let query = fingerprints[0];
            let mut walk: Vec<Found> = (0..)
                .zip(&fingerprints)
                .filter(|(id, _)| !removed[*id as usize])
                .map(|(id, &held)| Found { distance: distance(held, query), id })
                .filter(|found| found.distance <= k)
                .collect();
            walk.sort_unstable();
            prop_assert_eq!(index.within(query, k), walk, "k = {}", k);
        }
    }

    #[test]
    fn near_fingerprints_share_a_key(a in any::<u64>(), flips in prop::collection::vec(0_u32..64, 0..=8)) {
        let b = flips.iter().fold(a, |bits, flip| bits ^ 1 << flip);
        let k = flips.len() as u32;
        prop_assert!(shared_keys(&block_keys(a, k + 1), &block_keys(b, k + 1)) > 0);
    }

    #[test]
    fn both_ways_of_adding_agree(hashes in prop::collection::vec(any::<u64>(), 0..200)) {
        let plain = fingerprint(hashes.iter().copied());
        prop_assert_eq!(plain, weighted(hashes.iter().map(|&hash| (hash, 1))));
    }
}
