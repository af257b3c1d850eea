//! By what a message is recognised again.

use std::fmt;
use std::str::FromStr;

use memchr::memchr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use twicetold_model::{Form, RawMessage};

/// A BLAKE3 checksum, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Checksum([u8; 32]);

/// Header lines in which mail programs keep what a reader did with a message, not what its sender wrote.
/// They change when the message is looked at.
const KEPT_BY_PROGRAMS: [&[u8]; 10] = [
    b"Status",
    b"X-Status",
    b"X-Keywords",
    b"X-Gmail-Labels",
    b"X-Mozilla-Status",
    b"X-Mozilla-Status2",
    b"X-Mozilla-Keys",
    b"X-UID",
    b"X-IMAP",
    b"X-IMAPbase",
];

impl Checksum {
    /// The checksum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }

    /// The checksum of a message: of all its bytes but the header lines in which mail programs keep flags and labels
    /// (`Status`, `X-Status`, `X-Keywords`, `X-Gmail-Labels` and the like), so that reading a mail does not
    /// make it another one.
    pub fn of_message(message: &RawMessage<'_>) -> Self {
        Self::of_content(message.form, &message.bytes)
    }

    /// The same, of its parts.
    pub(crate) fn of_content(form: Form, bytes: &[u8]) -> Self {
        if form != Form::Mail {
            return Self::of(bytes);
        }
        let mut hasher = blake3::Hasher::new();
        let mut rest = bytes;
        let mut left_out = false;
        while let Some(end) = memchr(b'\n', rest) {
            let line = &rest[..=end];
            if line.trim_ascii().is_empty() {
                break;
            }
            if !line.starts_with(b" ") && !line.starts_with(b"\t") {
                left_out = is_kept_by_programs(line);
            }
            if !left_out {
                hasher.update(line);
            }
            rest = &rest[end + 1..];
        }
        hasher.update(rest);
        hasher.finalize().into()
    }
}

fn is_kept_by_programs(line: &[u8]) -> bool {
    memchr(b':', line).is_some_and(|colon| {
        KEPT_BY_PROGRAMS
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&line[..colon]))
    })
}

impl From<blake3::Hash> for Checksum {
    fn from(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Checksum {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a checksum has 64 hexadecimal digits";
        // Upper case would be another way to write the same plan.
        if text.len() != 64 || text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(wrong);
        }
        blake3::Hash::from_hex(text)
            .map(Self::from)
            .map_err(|_| wrong)
    }
}

impl Serialize for Checksum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_mail_programs_do_not_count() {
        let of = |text: &str| Checksum::of_content(Form::Mail, text.as_bytes());
        let plain = of("Subject: a\nFrom: b\n\nStatus: x\n");
        assert_eq!(
            of("Status: RO\nSubject: a\nX-Keywords: a\n b\nFrom: b\n\nStatus: x\n"),
            plain
        );
        assert_ne!(of("Subject: a\nFrom: b\n\nStatus: y\n"), plain);
        assert_ne!(
            of("Subject: a\nStatus-Quo: x\nFrom: b\n\nStatus: x\n"),
            plain
        );
        assert_ne!(of("Subject: a\n b\nFrom: b\n\nStatus: x\n"), plain);
        assert_ne!(
            Checksum::of_content(Form::Text, b"Status: a\n"),
            Checksum::of_content(Form::Text, b"Status: b\n")
        );
    }

    #[test]
    fn written_and_read() {
        let sum = Checksum::of(b"a");
        assert_eq!(sum.to_string().parse(), Ok(sum));
        assert!("ab".parse::<Checksum>().is_err());
        assert!(sum.to_string().to_uppercase().parse::<Checksum>().is_err());
    }
}
