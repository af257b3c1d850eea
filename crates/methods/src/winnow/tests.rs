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
