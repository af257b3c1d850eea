//! The stable hash of short words that are in registers already.
//!
//! This is XXH3 as for any other word; going through memory would make the processor wait for what it has just written.

use super::letters::Letters;

/// The secret of XXH3, as far as short texts are mixed with it: pairs of its eight-byte words, joined.
const FLIP_UP_TO_3: u64 = 0x396c_feb8 ^ 0xbe4b_a423;
const FLIP_UP_TO_8: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
const FLIP_FIRST: u64 = 0x1f67_b3b7_a4a4_4072 ^ 0x78e5_c0cc_4ee6_79cb;
const FLIP_LAST: u64 = 0x2172_ffcc_7dd0_5a82 ^ 0x8e24_43f7_7446_08b8;

/// The XXH3 hash of the letters of a run in lower case, of which there are 1 to 16.
///
/// How long the next word is cannot be foreseen, so of the two ways for short words both are gone and one result is taken:
/// that takes less time than to go the wrong way every other time.
#[inline(always)]
pub(super) fn hash(letters: &Letters) -> u64 {
    let length = letters.length;
    match length {
        9.. => up_to_16(letters.low, letters.high, length),
        _ => hash_of_eight(letters.low, length),
    }
}

/// The same of up to eight letters.
#[inline(always)]
pub(super) fn hash_of_eight(low: u64, length: usize) -> u64 {
    choose(length > 3, up_to_8(low, length), up_to_3(low, length))
}

/// One of two numbers, without a branch.
#[inline(always)]
fn choose(condition: bool, yes: u64, no: u64) -> u64 {
    no ^ (yes ^ no) & u64::from(condition).wrapping_neg()
}

#[inline]
fn up_to_3(low: u64, length: usize) -> u64 {
    let byte = |n: usize| low >> (8 * n) & 0xff;
    let first_and_middle = byte(0) << 16 | byte(length >> 1) << 24;
    let mixed = first_and_middle | byte(length.wrapping_sub(1) & 3) | (length as u64) << 8;
    let mut hash = mixed ^ FLIP_UP_TO_3;
    hash = (hash ^ hash >> 33).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash = (hash ^ hash >> 29).wrapping_mul(0x1656_67B1_9E37_79F9);
    hash ^ hash >> 32
}

#[inline]
fn up_to_8(low: u64, length: usize) -> u64 {
    const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;
    let last_four = low >> (8 * (length.wrapping_sub(4) & 7)) & 0xffff_ffff;
    let mut hash = (low << 32).wrapping_add(last_four) ^ FLIP_UP_TO_8;
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(PRIME);
    hash ^= (hash >> 35).wrapping_add(length as u64);
    hash = hash.wrapping_mul(PRIME);
    hash ^ hash >> 28
}

#[inline]
fn up_to_16(low: u64, high: u64, length: usize) -> u64 {
    let both = u128::from(high) << 64 | u128::from(low);
    let last_eight = (both >> (8 * (length.wrapping_sub(8) & 15))) as u64;
    let (first, last) = (low ^ FLIP_FIRST, last_eight ^ FLIP_LAST);
    let product = u128::from(first) * u128::from(last);
    let mut hash = (length as u64)
        .wrapping_add(first.swap_bytes())
        .wrapping_add(last)
        .wrapping_add(product as u64 ^ (product >> 64) as u64);
    hash = (hash ^ hash >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::{Letters, hash};

    #[test]
    fn the_hash_is_that_of_any_other_word() {
        let letters = b"TheQuickBrownFoxJumpsOverALazyDogzyxwvutsrqponmlkjihgfedcba";
        for length in 1..=16 {
            for from in 0..letters.len() - length {
                let mut text = letters[from..from + length].to_vec();
                let expected = xxh3_64(&text.to_ascii_lowercase());
                text.extend_from_slice(b" and what follows");
                let letters = Letters::at(&text, 0, length).expect("long enough");
                assert_eq!(hash(&letters), expected, "{length} letters from {from}");
            }
        }
    }
}
