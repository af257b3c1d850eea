//! Where somebody listens or can be reached: `HOST:PORT` or `unix:/PATH`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Place {
    /// A name or address and a port; port 0 lets the system choose.
    Tcp(String, u16),
    /// A unix socket.
    Unix(PathBuf),
}

impl Place {
    /// Where HTTP is served unless somebody says otherwise.
    pub fn default_http() -> Self {
        Self::Tcp("127.0.0.1".to_owned(), 8520)
    }
}

impl FromStr for Place {
    type Err = String;

    /// Also understands what mail servers write: `inet:PORT@HOST` and `inet:HOST:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text:?} is no place to listen: write HOST:PORT, [IPV6]:PORT or unix:/PATH")
        };
        if let Some(path) = text
            .strip_prefix("unix:")
            .or_else(|| text.strip_prefix("local:"))
        {
            return if path.is_empty() {
                Err(wrong())
            } else {
                Ok(Self::Unix(PathBuf::from(path)))
            };
        }
        let inet = text
            .strip_prefix("inet:")
            .or_else(|| text.strip_prefix("inet6:"))
            .unwrap_or(text);
        let (host, port) = match inet.split_once('@') {
            Some((port, host)) => (host, port),
            None => inet.rsplit_once(':').ok_or_else(wrong)?,
        };
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let port = port.parse().map_err(|_| wrong())?;
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(wrong());
        }
        Ok(Self::Tcp(host.to_owned(), port))
    }
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_understood_or_refused() {
        for (text, shown) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("[::1]:80", "[::1]:80"),
            ("localhost:0", "localhost:0"),
            ("inet:8891@localhost", "localhost:8891"),
            ("inet:localhost:8891", "localhost:8891"),
            ("inet6:8891@[::1]", "[::1]:8891"),
            ("unix:/run/x.sock", "unix:/run/x.sock"),
            ("local:/run/x.sock", "unix:/run/x.sock"),
        ] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), shown);
        }
        for text in ["", "x", ":80", "host:", "host:99999", "unix:", "a b:1"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
