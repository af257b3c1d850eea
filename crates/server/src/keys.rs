//! Keys of reporters: who may say so?
//!
//! A key is the reporter's name and 32 random bytes, both in base64url, with a dot between:
//! `YW5uYQ.q83v…`. Only its checksum is kept, in the configuration file or in the state. The key is
//! random, so a plain checksum is as good as a slow one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::settings::is_reporter_name;

/// What checksums of keys begin with.
const KIND: &str = "blake3:";
/// Nobody's key is longer.
const LONGEST: usize = 400;

/// A checksum of a key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyHash(blake3::Hash);

impl KeyHash {
    /// Whether this is the key. Takes the same time whatever differs.
    pub fn fits(&self, key: &str) -> bool {
        blake3::hash(key.as_bytes()) == self.0
    }
}

impl TryFrom<String> for KeyHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.strip_prefix(KIND)
            .and_then(|hex| blake3::Hash::from_hex(hex).ok())
            .map(Self)
            .ok_or_else(|| {
                format!("{text:?} is no checksum of a key: make a key with twicetold spam key NAME")
            })
    }
}

impl std::fmt::Display for KeyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{KIND}{}", self.0.to_hex())
    }
}

/// Makes a key for a reporter: the key, which only the reporter is to have, and its checksum.
///
/// Fails only if the system has no random numbers.
pub fn make_key(reporter: &str) -> Result<(String, KeyHash), std::io::Error> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let key = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(reporter),
        URL_SAFE_NO_PAD.encode(random)
    );
    let hash = KeyHash(blake3::hash(key.as_bytes()));
    Ok((key, hash))
}

/// In whose name a key speaks, if it is genuine.
pub fn claimed_reporter(key: &str) -> Option<String> {
    if key.len() > LONGEST {
        return None;
    }
    let (name, secret) = key.split_once('.')?;
    if URL_SAFE_NO_PAD.decode(secret).ok()?.len() != 32 {
        return None;
    }
    let name = String::from_utf8(URL_SAFE_NO_PAD.decode(name).ok()?).ok()?;
    is_reporter_name(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_its_checksum_and_no_other() {
        let (key, hash) = make_key("Anna Müller").unwrap();
        assert_eq!(claimed_reporter(&key).as_deref(), Some("Anna Müller"));
        assert!(hash.fits(&key));
        let (other, _) = make_key("Anna Müller").unwrap();
        assert!(!hash.fits(&other));
        let again = KeyHash::try_from(hash.to_string()).unwrap();
        assert_eq!(again, hash);
    }

    #[test]
    fn whatever_is_no_key_names_nobody() {
        let long = "a".repeat(5000);
        for wrong in ["", ".", "a.b", "YW5uYQ.AAAA", "ä.ö", &long] {
            assert_eq!(claimed_reporter(wrong), None, "{wrong}");
        }
        let (key, _) = make_key("a\nb").unwrap();
        assert_eq!(claimed_reporter(&key), None);
    }
}
