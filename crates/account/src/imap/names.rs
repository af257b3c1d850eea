//! Names of folders: modified UTF-7 on the wire, plain text for people.

use base64::Engine;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};

const SHIFTED: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::IMAP_MUTF7,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The name as people read it. A name that is not proper modified UTF-7 is taken as it is.
pub(crate) fn decode(wire: &str) -> String {
    proper(wire).unwrap_or_else(|| wire.to_owned())
}

fn proper(wire: &str) -> Option<String> {
    let mut name = String::with_capacity(wire.len());
    let mut rest = wire;
    while let Some((plain, shifted)) = rest.split_once('&') {
        name.push_str(plain);
        let (inside, after) = shifted.split_once('-')?;
        rest = after;
        if inside.is_empty() {
            name.push('&');
            continue;
        }
        let bytes = SHIFTED.decode(inside).ok()?;
        if bytes.len() % 2 != 0 {
            return None;
        }
        let units = bytes
            .chunks_exact(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        for c in char::decode_utf16(units) {
            name.push(c.ok()?);
        }
    }
    name.push_str(rest);
    // What does not come back as it was would make the folder unreachable.
    (encode(&name) == wire).then_some(name)
}

/// The name as the server wants it.
pub(crate) fn encode(name: &str) -> String {
    let mut wire = String::with_capacity(name.len());
    let mut shifted: Vec<u8> = Vec::new();
    let flush = |shifted: &mut Vec<u8>, wire: &mut String| {
        if !shifted.is_empty() {
            wire.push('&');
            SHIFTED.encode_string(&*shifted, wire);
            wire.push('-');
            shifted.clear();
        }
    };
    for c in name.chars() {
        if matches!(c, ' '..='~') {
            flush(&mut shifted, &mut wire);
            wire.push(c);
            if c == '&' {
                wire.push('-');
            }
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shifted.extend_from_slice(&unit.to_be_bytes());
            }
        }
    }
    flush(&mut shifted, &mut wire);
    wire
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_the_standard() {
        let cases = [
            ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
            ("Entwürfe", "Entw&APw-rfe"),
            ("A & B", "A &- B"),
            ("😀", "&2D3eAA-"),
            ("", ""),
        ];
        for (name, wire) in cases {
            assert_eq!(encode(name), wire);
            assert_eq!(decode(wire), name);
        }
    }

    #[test]
    fn improper_names_stay_reachable() {
        for wire in ["&", "a&b", "&2D0-", "Entwürfe", "&APw", "&AGE-"] {
            assert_eq!(decode(wire), wire, "{wire}");
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "\\PC{0,20}", bytes in "[ -~&]{0,20}") {
            prop_assert_eq!(decode(&encode(&name)), name);
            decode(&bytes);
        }
    }
}
