//! Which tables are ours to read.

use std::collections::HashMap;
use std::fmt;

use crate::cell::{Member, TEXTS};
use crate::handed::Wanted;

/// The version of the columns. It changes when a column changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// The entry of a schema's metadata that says what the rows are.
const ROWS: &str = "twicetold.rows";
/// The entry that says by which version of the columns they were written.
const VERSION: &str = "twicetold.schema";
/// What `judge` writes.
const VERDICTS: &str = "verdicts";

/// A table that is not read at all, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What it is, with its name.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refused {}

/// What our own tables say about themselves.
pub(crate) fn metadata(rows: &str) -> HashMap<String, String> {
    HashMap::from([
        (ROWS.to_owned(), rows.to_owned()),
        (VERSION.to_owned(), SCHEMA.to_string()),
    ])
}

/// Whether the table `name` with these columns can be read here; `entry` looks up its metadata.
pub(crate) fn check<'m>(
    name: &str,
    columns: &[&str],
    wanted: Wanted,
    entry: impl Fn(&str) -> Option<&'m str>,
) -> Result<(), Refused> {
    let refused = |what: String, hint: &str| {
        Err(Refused {
            what,
            hint: hint.to_owned(),
        })
    };
    if let Some(version) = entry(VERSION) {
        match version.parse::<u32>() {
            Ok(number) if number <= SCHEMA => {}
            Ok(number) => {
                return refused(
                    format!(
                        "{name} has rows of schema {number}; this program reads rows up to schema {SCHEMA}"
                    ),
                    "read it with the version of twicetold that wrote it, or a newer one",
                );
            }
            Err(_) => {
                return refused(
                    format!(
                        "{name} says that its rows have the schema {version:?}; this program reads schema {SCHEMA}"
                    ),
                    "leave the entry twicetold.schema out of its metadata, if the columns are those of docs/scale.md",
                );
            }
        }
    }
    if entry(ROWS) == Some(VERDICTS) {
        let version = entry(VERSION).unwrap_or_default();
        return refused(
            format!(
                "{name} has verdicts (schema {version}); messages or texts (schema {SCHEMA}) are read here"
            ),
            "name what judge has read, not what it has written",
        );
    }
    if let Some(twice) = (Member::ALL.iter().map(|member| member.name()))
        .find(|name| columns.iter().filter(|column| *column == name).count() > 1)
    {
        return refused(
            format!("{name} has several columns with the name {twice}"),
            "leave all but one of them out",
        );
    }
    let said = |name: &&str| columns.contains(name);
    if wanted != Wanted::Messages {
        if !said(&Member::Sketch.name()) {
            return refused(
                format!("{name} has no column sketch"),
                "make the rows with twicetold sketch",
            );
        }
        return Ok(());
    }
    if !said(&Member::Message.name()) && !TEXTS.iter().map(|text| text.name()).any(|t| said(&t)) {
        let listed = columns.iter().take(20).copied().collect::<Vec<_>>();
        let more = if columns.len() > 20 { ", …" } else { "" };
        return refused(
            format!(
                "{name} has no column message, text, body or content; it has {}{more}",
                match listed.is_empty() {
                    true => "none".to_owned(),
                    false => listed.join(", "),
                }
            ),
            "give the column with the messages the name message (bytes), or that with the texts the name text",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(columns: &[&str], metadata: &[(&str, &str)]) -> Result<(), String> {
        let entry = |key: &str| {
            let found = metadata.iter().find(|(name, _)| *name == key);
            found.map(|(_, value)| *value)
        };
        check("x.arrow", columns, Wanted::Messages, entry).map_err(|refused| refused.what)
    }

    #[test]
    fn a_table_of_another_version_or_of_something_else_is_refused() {
        assert_eq!(told(&["id", "text"], &[]), Ok(()));
        assert_eq!(told(&["message"], &[(VERSION, "1")]), Ok(()));
        let newer = told(&["message"], &[(VERSION, "2")]).unwrap_err();
        assert!(
            newer.contains("schema 2") && newer.contains("schema 1"),
            "{newer}"
        );
        let odd = told(&["message"], &[(VERSION, "two")]).unwrap_err();
        assert!(odd.contains("\"two\"") && odd.contains("schema 1"), "{odd}");
        let verdicts = told(&["message"], &[(ROWS, "verdicts"), (VERSION, "1")]).unwrap_err();
        assert!(verdicts.contains("verdicts"), "{verdicts}");
        let foreign = told(&["a", "b"], &[]).unwrap_err();
        assert!(foreign.contains("it has a, b"), "{foreign}");
        assert!(told(&[], &[]).unwrap_err().contains("none"));
        let twice = told(&["id", "text", "id"], &[]).unwrap_err();
        assert!(twice.contains("several columns with the name id"));
    }
}
