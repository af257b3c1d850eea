//! Texts with equal sketches, taken together.
//!
//! A hundred thousand copies are one entry of every index. When pairs are written out and there are too many of them, the first copy stands for
//! all: whoever has a thousand copies of a text does not want half a million lines.

use std::ops::Range;

use rayon::prelude::*;

use super::shelf::Shelf;

/// Two texts and how alike they are.
pub(super) type Scored = (u32, u32, f64);

/// The texts that have a sketch, by equal sketches; ordered by the first text of each.
#[derive(Debug)]
pub(super) struct Copies {
    /// The texts, those of one class together, ascending.
    texts: Vec<u32>,
    /// Where each class ends.
    ends: Vec<u32>,
    /// The first text of the second collection, if there are two.
    sides: Option<u32>,
}

impl Copies {
    pub(super) fn of(shelf: &Shelf, sides: Option<u32>) -> Self {
        let mut known: Vec<(u128, u32)> = (0..shelf.len() as u32)
            .into_par_iter()
            .filter(|&text| shelf.has(text))
            .map(|text| (shelf.identity(text), text))
            .collect();
        known.par_sort_unstable();
        let mut classes: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for class in known.chunk_by(|a, b| a.0 == b.0) {
            classes.push(start..start + class.len());
            start += class.len();
        }
        classes.sort_unstable_by_key(|class| known[class.start].1);
        let mut copies = Self {
            texts: Vec::with_capacity(known.len()),
            ends: Vec::with_capacity(classes.len()),
            sides,
        };
        for class in classes {
            copies
                .texts
                .extend(known[class].iter().map(|&(_, text)| text));
            copies.ends.push(copies.texts.len() as u32);
        }
        copies
    }

    /// How many different sketches there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The texts of a class.
    pub(super) fn members(&self, class: u32) -> &[u32] {
        let at = class as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start as usize..self.ends[at] as usize]
    }

    /// The text that stands for a class.
    pub(super) fn first(&self, class: u32) -> u32 {
        self.members(class)[0]
    }

    /// The members of a class that are in the first and in the second collection.
    fn parts(&self, class: u32) -> (&[u32], &[u32]) {
        let members = self.members(class);
        let first = self.sides.map_or(members.len(), |sides| {
            members.partition_point(|&n| n < sides)
        });
        members.split_at(first)
    }

    /// Whether two classes have texts that may be paired.
    pub(super) fn may_pair(&self, a: u32, b: u32) -> bool {
        self.sides.is_none() || {
            let ((a_first, a_second), (b_first, b_second)) = (self.parts(a), self.parts(b));
            !a_first.is_empty() && !b_second.is_empty()
                || !b_first.is_empty() && !a_second.is_empty()
        }
    }

    /// Writes out pairs of classes as pairs of texts, and the pairs inside each class. Besides, says how many texts
    /// were left out of pairs because they have more than `most` copies.
    pub(super) fn spell_out(&self, pairs: &[Scored], most: Option<usize>) -> (Vec<Scored>, usize) {
        let most = most.unwrap_or(usize::MAX);
        let mut out = Vec::with_capacity(pairs.len());
        let mut cut = 0;
        for class in (0..self.len() as u32).filter(|&class| self.members(class).len() > 1) {
            let members = self.members(class);
            if self.sides.is_some() {
                let (first, second) = self.parts(class);
                cut += star(first, second, most, |a, b| out.push((a, b, 1.0)));
                continue;
            }
            let all = members.len() - 1 <= most;
            cut += if all { 0 } else { members.len() };
            for (i, &a) in members
                .iter()
                .enumerate()
                .take(if all { members.len() } else { 1 })
            {
                out.extend(members[i + 1..].iter().map(|&b| (a, b, 1.0)));
            }
        }
        for &(a, b, score) in pairs {
            let ((a_first, a_second), (b_first, b_second)) = (self.parts(a), self.parts(b));
            let mut visit = |a: u32, b: u32| out.push((a, b, score));
            cut += match self.sides {
                Some(_) => {
                    few(a_first, b_second, most, &mut visit)
                        + few(b_first, a_second, most, &mut visit)
                }
                None => few(a_first, b_first, most, |a, b| visit(a.min(b), a.max(b))),
            };
        }
        (out, cut)
    }
}

/// Every pair of two classes if they are not more than `most`, else the pair of their first texts. Returns how many
/// texts got none.
fn few(a: &[u32], b: &[u32], most: usize, mut visit: impl FnMut(u32, u32)) -> usize {
    let all = a.len().saturating_mul(b.len()) <= most;
    let (m, n) = if all { (a.len(), b.len()) } else { (1, 1) };
    for &x in a.iter().take(m) {
        b.iter().take(n).for_each(|&y| visit(x, y));
    }
    if all { 0 } else { a.len() + b.len() - 2 }
}

/// Every pair of the copies in two collections if they are not more than `most`, else each with the first of the other
/// collection. Returns how many texts got one only.
fn star(a: &[u32], b: &[u32], most: usize, mut visit: impl FnMut(u32, u32)) -> usize {
    if a.len().saturating_mul(b.len()) <= most {
        return few(a, b, most, visit);
    }
    for (i, &x) in a.iter().enumerate() {
        let end = if i == 0 { b.len() } else { 1 };
        b[..end].iter().for_each(|&y| visit(x, y));
    }
    a.len() + b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(bodies: &[u8]) -> Shelf {
        let mut shelf = Shelf::default();
        for &body in bodies {
            let sketch = (body != 0).then(|| twicetold_model::Sketch {
                keys: Vec::new(),
                body: vec![body],
            });
            shelf.push(sketch, true, true);
        }
        shelf
    }

    #[test]
    fn equal_sketches_are_one_class_in_the_order_of_the_first() {
        let copies = Copies::of(&shelf(&[2, 1, 0, 2, 1, 3]), None);
        let classes: Vec<&[u32]> = (0..copies.len() as u32)
            .map(|n| copies.members(n))
            .collect();
        assert_eq!(classes, [&[0, 3][..], &[1, 4], &[5]]);
        let (pairs, cut) = copies.spell_out(&[(0, 1, 0.5)], None);
        let pairs: Vec<_> = pairs.iter().map(|&(a, b, _)| (a, b)).collect();
        assert_eq!(pairs, [(0, 3), (1, 4), (0, 1), (0, 4), (1, 3), (3, 4)]);
        assert_eq!(cut, 0);
    }

    #[test]
    fn many_copies_make_a_star() {
        let copies = Copies::of(&shelf(&[1; 1000]), None);
        let (pairs, cut) = copies.spell_out(&[], Some(3));
        assert_eq!(pairs.len(), 999);
        assert!(pairs.iter().all(|&(a, _, _)| a == 0));
        assert_eq!(cut, 1000);
        // Two hundred copies of each of five near texts: only the first ones meet.
        let copies = Copies::of(&shelf(&[1, 2, 3, 4, 5].repeat(200)), None);
        let (pairs, cut) = copies.spell_out(&[(0, 1, 0.5), (0, 2, 0.5)], Some(3));
        assert_eq!(pairs.len(), 5 * 199 + 2);
        assert_eq!(cut, 1000 + 2 * 398);
    }

    #[test]
    fn between_two_collections_only_their_texts_meet() {
        let copies = Copies::of(&shelf(&[1, 1, 2, 1, 2, 2]), Some(3));
        let (pairs, _) = copies.spell_out(&[(0, 1, 0.5)], None);
        let pairs: Vec<_> = pairs.iter().map(|&(a, b, _)| (a, b)).collect();
        assert_eq!(
            pairs,
            [
                (0, 3),
                (1, 3),
                (2, 4),
                (2, 5),
                (0, 4),
                (0, 5),
                (1, 4),
                (1, 5),
                (2, 3)
            ]
        );
        assert!(copies.may_pair(0, 1));
    }
}
