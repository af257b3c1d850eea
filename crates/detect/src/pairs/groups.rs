//! Pairs put together: everybody who is connected through pairs is one group.

use super::{Pair, Pairs};

/// Texts that are connected through pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The texts, in order.
    pub texts: Vec<u32>,
    /// The methods that saw one of its pairs, in order.
    pub methods: Vec<u32>,
}

/// The groups of two texts or more, in the order of their first texts, made of the pairs for which `counts` says yes.
pub fn groups(pairs: &Pairs, counts: impl Fn(&Pair) -> bool) -> Vec<Group> {
    let mut above: Vec<u32> = (0..pairs.len() as u32).collect();
    for pair in pairs.pairs.iter().filter(|pair| counts(pair)) {
        let (a, b) = (root(&mut above, pair.a), root(&mut above, pair.b));
        // The smallest number is the root, so that order and threads change nothing.
        above[a.max(b) as usize] = a.min(b);
    }
    let mut place: Vec<u32> = vec![u32::MAX; pairs.len()];
    let mut groups: Vec<Group> = Vec::new();
    let mut size: Vec<u32> = vec![0; pairs.len()];
    for text in 0..pairs.len() as u32 {
        size[root(&mut above, text) as usize] += 1;
    }
    for text in 0..pairs.len() as u32 {
        let root = root(&mut above, text) as usize;
        if size[root] < 2 {
            continue;
        }
        if place[root] == u32::MAX {
            place[root] = groups.len() as u32;
            groups.push(Group {
                texts: Vec::new(),
                methods: Vec::new(),
            });
        }
        groups[place[root] as usize].texts.push(text);
    }
    for pair in pairs.pairs.iter().filter(|pair| counts(pair)) {
        let root = root(&mut above, pair.a) as usize;
        let methods = &mut groups[place[root] as usize].methods;
        if let Err(at) = methods.binary_search(&pair.method) {
            methods.insert(at, pair.method);
        }
    }
    groups
}

/// The text that stands for the group of a text so far. Shortens the way there for whoever comes next.
fn root(above: &mut [u32], mut text: u32) -> u32 {
    while above[text as usize] != text {
        let next = above[text as usize];
        above[text as usize] = above[next as usize];
        text = next;
    }
    text
}
