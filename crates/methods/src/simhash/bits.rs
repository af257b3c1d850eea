//! From feature hashes to 64 bits, and from 64 bits to keys.

use std::ops::Range;

use crate::winnow::mix;

/// How many bits a fingerprint has.
pub(super) const BITS: u32 = 64;

/// The fingerprint of features that count 1 for each time they are given; 0 for none at all.
///
/// A bit is 1 if more than half of the hashes have it. The 64 sums are kept as binary numbers whose
/// digits lie in separate words, so that one addition serves all 64 at once.
pub fn fingerprint(features: impl Iterator<Item = u64>) -> u64 {
    // digits[j] holds, for each of the 64 sums, its binary digit of value 2^j.
    let mut digits = [0_u64; 64];
    let mut count = 0_u64;
    for hash in features {
        count += 1;
        let mut carry = hash;
        for digit in &mut digits {
            let over = *digit & carry;
            *digit ^= carry;
            carry = over;
            if carry == 0 {
                break;
            }
        }
    }
    more_than(&digits, count / 2)
}

/// For each of the 64 sums, whether it is greater than `limit`.
fn more_than(digits: &[u64; 64], limit: u64) -> u64 {
    let (mut greater, mut equal) = (0, u64::MAX);
    for (value, &digit) in digits.iter().enumerate().rev() {
        if limit >> value & 1 == 1 {
            equal &= digit;
        } else {
            greater |= equal & digit;
            equal &= !digit;
        }
    }
    greater
}

/// The fingerprint of features with weights of their own, such as an inverse document frequency.
/// Saturates instead of overflowing; a sum of 0 gives the bit 0.
pub fn weighted(features: impl Iterator<Item = (u64, i64)>) -> u64 {
    let mut sums = [0_i64; BITS as usize];
    for (hash, weight) in features {
        for (bit, sum) in sums.iter_mut().enumerate() {
            let signed = if hash >> bit & 1 == 1 {
                weight
            } else {
                weight.saturating_neg()
            };
            *sum = sum.saturating_add(signed);
        }
    }
    sums.iter()
        .enumerate()
        .fold(0, |bits, (at, &sum)| bits | u64::from(sum > 0) << at)
}

/// In how many bits two fingerprints differ.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// The bits of block number `block` if the 64 are cut into `blocks` nearly equal ones.
pub(super) fn block_bits(block: u32, blocks: u32) -> Range<u32> {
    let blocks = blocks.clamp(1, BITS);
    BITS * block / blocks..BITS * (block + 1) / blocks
}

/// The value of those bits.
pub(super) fn block_value(fingerprint: u64, bits: &Range<u32>) -> u64 {
    let length = bits.end - bits.start;
    let mask = if length >= BITS {
        u64::MAX
    } else {
        (1 << length) - 1
    };
    fingerprint >> bits.start & mask
}

/// One key for each of `blocks` blocks: the value of the block mixed with its number, sorted.
///
/// Fingerprints that differ in fewer than `blocks` bits share at least one of them. With more than 64
/// blocks there is nothing left to cut: there are never more than 64 keys, and every pair within 63
/// bits still shares one.
pub fn block_keys(fingerprint: u64, blocks: u32) -> Vec<u64> {
    let blocks = blocks.clamp(1, BITS);
    let mut keys: Vec<u64> = (0..blocks)
        .map(|block| {
            let value = block_value(fingerprint, &block_bits(block, blocks));
            // Mixing the number first keeps the keys of different blocks apart.
            mix(mix(u64::from(block << 8 | blocks)).wrapping_add(value))
        })
        .collect();
    keys.sort_unstable();
    keys
}
