//! Did Twicetold write this?
//!
//! A report quotes the mail it is about. Left beside that mail and read as a text, it would say everything that the messages in it say, and they could
//! go for its sake. So reports, plans and tables are told by how they begin, and are nobody's messages.

use std::borrow::Cow;

/// How tables for spreadsheets begin: reports of `scan`, rows of `pairs`, the reviewer's table.
const TABLES: [&str; 3] = [
    "schema,path,offset,message_id,verdict,",
    "schema,a,b,method,",
    "table,path,offset,message_id,date,from,subject,bytes,verdict,",
];

/// What stands in the first line of JSON that begins with the number of a schema or of a table.
const FIELDS: [&str; 2] = ["\"verdict\":\"", "\"method\":\""];

/// How much of a file is looked at.
const BEGINNING: usize = 4096;

/// Whether a file that begins so is a report, a plan or a table of Twicetold.
pub(crate) fn is_own(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(BEGINNING)]);
    let head = uncoloured(head.trim_start_matches('\u{feff}'));
    let head = head.as_ref();
    TABLES.iter().any(|table| head.starts_with(table))
        || is_json(head)
        || is_page(head)
        || is_summary(head)
        || is_explanation(head)
}

/// A text without what sets colours on a terminal.
fn uncoloured(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    Cow::Owned(std::iter::once(first).chain(rest).collect())
}

/// Rows, explanations and plans as JSON.
fn is_json(head: &str) -> bool {
    let numbered = |name: &str| {
        head.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    let line = head.lines().next().unwrap_or_default();
    numbered("{\"twicetold_plan\":")
        || (numbered("{\"schema\":") || numbered("{\"table\":"))
            && FIELDS.iter().any(|field| line.contains(field))
}

/// A report as a page.
fn is_page(head: &str) -> bool {
    head.starts_with("<!DOCTYPE html>") && head.contains("<title>Twicetold report</title>")
}

/// The summary of a scan: "12 messages read, 3.4 kB.", then what may go.
fn is_summary(head: &str) -> bool {
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let tells = |line: &str| {
        line == "Nothing to remove: no message only repeats what others say."
            || line.contains(" nothing new (") && line.ends_with(" could go.")
    };
    first.starts_with(|digit: char| digit.is_ascii_digit())
        && (first.contains(" message read, ") || first.contains(" messages read, "))
        && lines.take(4).any(tells)
}

/// The explanation of a verdict: where the message stands, what is known of it, and whether it may go.
fn is_explanation(head: &str) -> bool {
    const KNOWN: [&str; 5] = ["From", "Date", "Subject", "Message-ID", "Size"];
    let mut lines = head.lines().skip(1).peekable();
    let is_known = |line: &&str| {
        let label = line
            .strip_prefix("  ")
            .and_then(|rest| rest.split(' ').next());
        label.is_some_and(|label| KNOWN.contains(&label))
    };
    let known = std::iter::from_fn(|| lines.next_if(is_known)).count();
    let verdict = lines.find(|line| !line.is_empty());
    known > 0
        && verdict.is_some_and(|line| line.starts_with("May go (") || line.starts_with("Keep ("))
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn reports_and_plans_are_known() {
        for own in [
            "schema,path,offset,message_id,verdict,category,keep\r\n1,./a.eml,,,unique,,true\r\n",
            "schema,a,b,method,score\n",
            "table,path,offset,message_id,date,from,subject,bytes,verdict,choice\r\n",
            "{\"schema\":1,\"path\":\"a.eml\",\"offset\":null,\"verdict\":\"unique\"}\n",
            "{\"schema\":1,\"id\":\"a.eml\",\"form\":\"mail\",\"method\":\"winnow\",\"keys\":[]}\n",
            "{\"table\":1,\"path\":\"a.eml\",\"verdict\":\"unique\"}\n",
            "{\"twicetold_plan\":1,\"program\":\"0.1.0\"}\n",
            "<!DOCTYPE html><html><head><title>Twicetold report</title>",
            "1 message read, 336 bytes.\n\nNothing to remove: no message only repeats what others say.\n",
            "2,142 messages read, 3.4 MB.\n1 file without messages passed over.\n\n12 say nothing new (0.6 %). 3 kB of 3.4 MB could go.\n",
            "./a.eml\n  From        a@b.example\n  Size        3.0 kB\n\nMay go (identical): it is\n",
            "./a.eml\n  Size        3.0 kB\n\nKeep (unique): it says\n",
            "\u{1b}[1m2 messages\u{1b}[0m read, 3 kB.\n\n\u{1b}[32mNothing to remove: no message only repeats what others say.\u{1b}[0m\n",
        ] {
            assert!(is_own(own.as_bytes()), "{own}");
        }
    }

    #[test]
    fn what_people_write_is_not_taken_for_one() {
        for other in [
            "",
            "schema,path\n1,a\n",
            "{\"schema\":1,\"text\":\"The method is: look\"}\n",
            "{\"text\":\"{\\\"twicetold_plan\\\":1}\"}\n",
            "{\"schema\":\"mail\",\"verdict\":\"guilty\",\"text\":\"x\"}\n",
            "12 messages read, and none answered.\nI say nothing new.\n",
            "Keep (unique) things.\n",
            "Anna\n  From here on\n\nMay we go (all of us)?\n",
            "<!DOCTYPE html><html><head><title>Report</title>",
        ] {
            assert!(!is_own(other.as_bytes()), "{other}");
        }
    }
}
