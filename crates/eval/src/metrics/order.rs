//! How far two orders are apart.

use std::collections::HashMap;
use std::hash::Hash;

/// The generalised Kendall distance of two lists without repetitions (Fagin and others): one for each pair that stands in
/// the other order in the second list, and `penalty` for each pair of which each list has only one.
///
/// The rules for a pair (i, j): in both lists, 1 if the order differs; i in both and j in one only, 1 if that list puts j
/// before i, for j comes after everything in the list that lacks it; each in one list only, `penalty`; both in the same list
/// only, 0, the optimistic choice of the paper.
pub fn kendall<T: Eq + Hash>(a: &[T], b: &[T], penalty: f64) -> f64 {
    let in_a: HashMap<&T, usize> = a.iter().zip(0..).collect();
    let in_b: HashMap<&T, usize> = b.iter().zip(0..).collect();
    let mut all: Vec<&T> = a.iter().collect();
    all.extend(b.iter().filter(|one| !in_a.contains_key(one)));
    let mut sum = 0.0;
    for (n, i) in all.iter().enumerate() {
        for j in &all[n + 1..] {
            let (i1, i2) = (in_a.get(i), in_b.get(i));
            let (j1, j2) = (in_a.get(j), in_b.get(j));
            sum += match (i1, i2, j1, j2) {
                (Some(i1), Some(i2), Some(j1), Some(j2)) => {
                    f64::from(u8::from((i1 < j1) != (i2 < j2)))
                }
                // One list lacks j, which so comes last there; the other one should agree.
                (Some(i1), Some(_), Some(j1), None) => f64::from(u8::from(j1 < i1)),
                (Some(_), Some(i2), None, Some(j2)) => f64::from(u8::from(j2 < i2)),
                (Some(i1), None, Some(j1), Some(_)) => f64::from(u8::from(i1 < j1)),
                (None, Some(i2), Some(_), Some(j2)) => f64::from(u8::from(i2 < j2)),
                (Some(_), None, None, Some(_)) | (None, Some(_), Some(_), None) => penalty,
                _ => 0.0,
            };
        }
    }
    sum
}

/// A list with repetitions made one without: the second 4 becomes (4, 1), the third (4, 2).
pub fn numbered<T: Eq + Hash + Clone>(list: &[T]) -> Vec<(T, usize)> {
    let mut seen: HashMap<&T, usize> = HashMap::new();
    list.iter()
        .map(|one| {
            let count = seen.entry(one).or_insert(0);
            *count += 1;
            (one.clone(), *count - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        assert_eq!(kendall(&[1, 2, 3], &[1, 2, 3], 1.0), 0.0);
        assert_eq!(kendall(&[1, 2, 3], &[3, 2, 1], 1.0), 3.0);
        assert_eq!(kendall(&[1, 2, 3], &[2, 1, 3], 1.0), 1.0);
        // Nothing in common: each of the four mixed pairs costs the penalty, pairs within a list nothing.
        assert_eq!(kendall(&[1, 2], &[3, 4], 1.0), 4.0);
        assert_eq!(kendall(&[1, 2], &[3, 4], 0.5), 2.0);
        // 3 is missing in the second list, so it comes last there, as it does in the first: no penalty.
        assert_eq!(kendall(&[1, 2, 3], &[1, 2], 1.0), 0.0);
        // There it stands first: it is before both.
        assert_eq!(kendall(&[3, 1, 2], &[1, 2], 1.0), 2.0);
        assert_eq!(kendall::<u8>(&[], &[], 1.0), 0.0);
    }

    #[test]
    fn it_does_not_matter_which_list_comes_first() {
        let (a, b) = ([5, 1, 2, 9, 4], [1, 2, 3, 4, 5, 7]);
        assert_eq!(kendall(&a, &b, 1.0), kendall(&b, &a, 1.0));
    }

    #[test]
    fn repetitions_are_numbered() {
        assert_eq!(numbered(&[4, 4, 5, 4]), [(4, 0), (4, 1), (5, 0), (4, 2)]);
    }
}
