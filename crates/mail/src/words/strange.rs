//! Where a text needs more than a look at its letters.

/// How many bytes are looked at together.
const BLOCK: usize = 32;

/// Finds the next place that is beyond ASCII or that may be part of an address; most lines have none.
pub(super) struct Strange<'t> {
    bytes: &'t [u8],
    /// The last place found, or the end; nothing stands between `from` and it.
    found: usize,
    from: usize,
}

impl<'t> Strange<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            found: 0,
            from: 1,
        }
    }

    /// The first strange place at `from` or later.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if !(self.from..=self.found).contains(&from) {
            self.found = find(self.bytes, from);
        }
        self.from = from;
        (self.found < self.bytes.len()).then_some(self.found)
    }
}

/// The first strange place from a place on; the end if there is none.
fn find(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if is_strange_block(block) {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let behind = rest.iter().skip(1).chain([&0]);
    let step = rest
        .iter()
        .zip(behind)
        .position(|(one, next)| is_strange(*one, *next));
    step.map_or(bytes.len(), |n| at + n)
}

/// Whether there is a strange place among the bytes of a block, the last of which is only looked at as a neighbour.
#[inline]
fn is_strange_block(block: &[u8; BLOCK + 1]) -> bool {
    // No early end, so that the compiler can look at many bytes at once.
    let mut strange = false;
    for n in 0..BLOCK {
        strange |= is_strange(block[n], block[n + 1]);
    }
    strange
}

/// A byte beyond ASCII, an `@`, and what "://" and "www." hold.
#[inline]
fn is_strange(one: u8, next: u8) -> bool {
    !one.is_ascii()
        | (one == b'@')
        | ((one == b':') & (next == b'/'))
        | ((one | 0x20 == b'w') & (next == b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strange_place_is_found_wherever_it_stands() {
        for strange in ["@", "ä", "://", "www.", "W."] {
            for before in 0..70 {
                for behind in [0, 1, 40] {
                    let text = format!("{}{strange}{}", "a:".repeat(before), ". ".repeat(behind));
                    let slow = (0..text.len()).find(|n| {
                        let bytes = text.as_bytes();
                        is_strange(bytes[*n], bytes.get(n + 1).copied().unwrap_or(0))
                    });
                    let mut finder = Strange::new(&text);
                    assert_eq!(finder.next(0), slow, "{text:?}");
                    assert_eq!(finder.next(before), slow, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn looking_back_looks_again() {
        let mut finder = Strange::new("a@b c@d");
        assert_eq!(finder.next(2), Some(5));
        assert_eq!(finder.next(6), None);
        assert_eq!(finder.next(0), Some(1));
    }
}
