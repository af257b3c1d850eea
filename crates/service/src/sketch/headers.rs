//! Is this bulk mail that says truthfully from whom it comes?

/// Whose word about a message is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The name that the own mail server gives itself in `Authentication-Results`. Without it nothing
    /// counts as authenticated, because anybody can write such a header.
    pub authentication_server: Option<String>,
}

/// Whether a mailing list is named and the trusted server says that SPF or DKIM passed.
pub(super) fn is_authenticated_bulk(message: &[u8], trust: &Trust) -> bool {
    let Some(server) = &trust.authentication_server else {
        return false;
    };
    let (mut listed, mut passed) = (false, false);
    for header in headers(message) {
        let Some((name, value)) = header.split_once(':') else {
            continue;
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "list-id" | "list-unsubscribe" => listed |= !value.trim().is_empty(),
            "authentication-results" => passed |= passes(value, server),
            _ => {}
        }
    }
    listed && passed
}

/// Whether a value of `Authentication-Results` (RFC 8601) is this server's and has a pass in it.
fn passes(value: &str, server: &str) -> bool {
    let mut parts = value.split(';');
    let by = parts.next().unwrap_or_default();
    let by = by.split_whitespace().next().unwrap_or_default();
    by.eq_ignore_ascii_case(server)
        && parts.any(|part| {
            let result = part.split_whitespace().next().unwrap_or_default();
            let result = result.to_ascii_lowercase();
            matches!(result.as_str(), "dkim=pass" | "spf=pass")
        })
}

/// The headers of a message, unfolded.
fn headers(message: &[u8]) -> Vec<String> {
    const LONGEST: usize = 1 << 18;
    let mut out: Vec<String> = Vec::new();
    let mut rest = message.get(..LONGEST).unwrap_or(message);
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        match out.last_mut() {
            Some(last) if line.starts_with([' ', '\t']) => last.push_str(line),
            _ => out.push(line.to_owned()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Trust, is_authenticated_bulk};

    #[test]
    fn only_the_trusted_server_is_believed() {
        let trust = Trust {
            authentication_server: Some("mx.example.org".to_owned()),
        };
        let list = "List-Id: <news.example.net>\r\n";
        let cases = [
            (
                "Authentication-Results: mx.example.org;\r\n dkim=pass header.d=example.net",
                true,
            ),
            ("Authentication-Results: MX.example.org 1; spf=pass", true),
            (
                "Authentication-Results: mx.example.org; dkim=fail; spf=none",
                false,
            ),
            ("Authentication-Results: other.example; dkim=pass", false),
            ("X: y", false),
        ];
        for (header, expected) in cases {
            let mail = format!("{header}\r\n{list}\r\nList-Id: in the body\r\n");
            assert_eq!(
                is_authenticated_bulk(mail.as_bytes(), &trust),
                expected,
                "{header}"
            );
            assert!(!is_authenticated_bulk(mail.as_bytes(), &Trust::default()));
            let alone = format!("{header}\r\n\r\nList-Id: in the body\r\n");
            assert!(!is_authenticated_bulk(alone.as_bytes(), &trust), "{header}");
        }
    }
}
