use super::*;

fn brute(numbers: &[u64], window: usize) -> Vec<usize> {
    let window = window.clamp(1, numbers.len().max(1));
    let mut kept: Vec<usize> = numbers
        .windows(window)
        .enumerate()
        .filter_map(|(start, w)| (0..w.len()).rev().min_by_key(|&i| w[i]).map(|i| start + i))
        .collect();
    kept.dedup();
    kept
}

#[test]
fn the_papers_windows() {
    let numbers = [5, 19, 33, 55, 5, 15, 61, 83, 33, 43, 89];
    assert_eq!(Winnow { window: 3 }.select(&numbers), [0, 1, 4, 5, 8]);
    assert_eq!(Winnow { window: 4 }.select(&numbers), [0, 4, 5, 8]);
}

#[test]
fn agrees_with_the_definition() {
    let mut state = 7_u64;
    for length in 0..60 {
        let numbers: Vec<u64> = (0..length)
            .map(|_| {
                state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
                state % 17
            })
            .collect();
        for window in 1..9 {
            assert_eq!(
                Winnow { window }.select(&numbers),
                brute(&numbers, window),
                "{numbers:?} {window}"
            );
        }
    }
}

#[test]
fn a_text_shorter_than_the_window_has_one_fingerprint() {
    let winnow = Winnow { window: 10 };
    assert_eq!(winnow.fingerprints([1, 2, 3].into_iter()).len(), 1);
    assert_eq!(winnow.fingerprints([1].into_iter()).len(), 1);
    assert_eq!(winnow.fingerprints(std::iter::empty()).len(), 0);
}

#[test]
fn order_of_the_words_matters() {
    assert_ne!(pair(1, 2), pair(2, 1));
    assert_ne!(pair(0, 0), pair(0, 1));
}

#[test]
fn a_shared_run_shares_a_fingerprint() {
    let winnow = Winnow { window: 3 };
    let shared = [11, 12, 13, 14];
    let a = winnow.fingerprints([1, 2, 3].into_iter().chain(shared).chain([4, 5, 6]));
    let b = winnow.fingerprints([7, 8].into_iter().chain(shared).chain([9]));
    assert!(a.iter().any(|f| b.contains(f)));
}

/// Numbers that look random, many of them equal, and are the same in every run.
fn some_numbers(seed: u64, count: usize, below: u64) -> Vec<u32> {
    (0..count as u64)
        .map(|n| (mix(mix(seed) ^ n) % below) as u32)
        .collect()
}

#[test]
fn the_short_way_keeps_what_the_long_one_keeps() {
    for seed in 0..400 {
        let numbers = some_numbers(seed, seed as usize % 23, seed % 7 + 1);
        for window in 1..6 {
            let winnow = Winnow { window };
            let mut kept = Vec::new();
            winnow.select_with(&numbers, |at| kept.push(numbers[at]));
            let mut appended = vec![7];
            winnow.append(&numbers, &mut appended);
            assert_eq!(appended[1..], kept, "{window} of {numbers:?}");
            assert_eq!(
                winnow.count(&numbers),
                kept.len(),
                "{window} of {numbers:?}"
            );
        }
    }
}

#[test]
fn half_pairs_are_halves_of_all_pairs() {
    for text in [
        "",
        "the",
        "budget",
        "the budget",
        "the budget of the hall",
        "1. a budget, 2 halls; not one more",
        "Dear all,\n\nthe hall is booked. We meet at noon!\n\nKind regards\nAnna\n",
    ] {
        let document = twicetold_mail::read(twicetold_model::Form::Text, text.as_bytes());
        let halves: Vec<u32> = all_pairs(&document)
            .iter()
            .map(|pair| (pair >> 32) as u32)
            .collect();
        let mut found = HalfPairs::with_room_for(document.words.len());
        for word in &document.words {
            found.add(word.hash, counts(word));
        }
        let between = found.between(0..found.words());
        if found.words() > 1 {
            assert_eq!(found.all(between), halves, "{text}");
        }
        assert_eq!(found.finish(), halves, "{text}");
    }
}
