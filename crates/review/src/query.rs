//! What stands behind the question mark of an address, and in the body of a form.

use std::fmt::Write as _;

/// Names and values in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Takes an encoded query apart. What cannot be decoded is taken as it stands.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Self(pairs.collect())
    }

    /// The first value of a name that is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(n, v)| n == name && !v.is_empty());
        values.next().map(|(_, value)| value.as_str())
    }

    /// A value that is a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// The query with one value replaced, or taken out if `value` is `None`.
    #[must_use]
    pub(crate) fn with(&self, name: &str, value: Option<&str>) -> Self {
        let mut pairs: Vec<_> = self.0.iter().filter(|(n, _)| n != name).cloned().collect();
        pairs.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        Self(pairs)
    }

    /// Only these names, without empty values.
    #[must_use]
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let wanted =
            |pair: &&(String, String)| names.contains(&pair.0.as_str()) && !pair.1.is_empty();
        Self(self.0.iter().filter(wanted).cloned().collect())
    }

    /// The names and values.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// An address with this query.
    pub(crate) fn to(&self, path: &str) -> String {
        let mut address = path.to_owned();
        for (n, (name, value)) in self.0.iter().enumerate() {
            address.push(if n == 0 { '?' } else { '&' });
            encode(name, &mut address);
            address.push('=');
            encode(value, &mut address);
        }
        address
    }
}

fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |n: usize| bytes.get(n).and_then(|b| char::from(*b).to_digit(16));
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        let query = Query::default()
            .with("q", Some("a b&c=d%+ü\"<>"))
            .with("year", Some("2024"));
        let address = query.to("messages");
        assert!(!address.contains(['"', '<', ' ', '>']), "{address}");
        let (_, text) = address.split_once('?').unwrap();
        assert_eq!(Query::parse(text), query);
    }

    #[test]
    fn broken_encodings_are_taken_as_they_stand() {
        let query = Query::parse("a=%zz&b=%f&c&=&d=%ff&e=1+2");
        assert_eq!(query.get("a"), Some("%zz"));
        assert_eq!(query.get("b"), Some("%f"));
        assert_eq!(query.get("c"), None);
        assert_eq!(query.get("d"), Some("\u{fffd}"));
        assert_eq!(query.get("e"), Some("1 2"));
    }
}
