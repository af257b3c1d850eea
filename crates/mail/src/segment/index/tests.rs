//! The indexes find what trying every entry of the tables finds.

use super::super::fold::{after_phrase, before_phrase, fold, holds_phrase};
use super::super::{markers, phrases};
use super::{Endings, Inside, Openings};

const TABLES: &[&[&str]] = &[
    phrases::GREETINGS,
    phrases::GREETED,
    phrases::THANKS,
    phrases::REGARDS,
    phrases::NOT_NAMES,
    phrases::ADDED,
    phrases::ADDED_SPEAKS_OF,
    phrases::FOOTER_WORDS,
    phrases::DISCLAIMING,
    phrases::DISCLAIMING_TOO,
    phrases::DISCLAIMER_STARTS,
    markers::WROTE,
    markers::SAID,
    markers::LEADS,
    markers::ORIGINAL,
    markers::FORWARDED,
    markers::RULE_OPENINGS,
    markers::RULE_ENDINGS,
    markers::DEVICES,
    // Entries that start with signs.
    &["[external]", "'tis", "-- ", "@all"],
];

/// Every entry of every table: alone, cut, and with something before or behind it.
fn texts() -> Vec<String> {
    let mut texts = vec![String::new(), "x".to_owned(), "ß".to_owned()];
    for entry in TABLES.iter().copied().flatten() {
        texts.push((*entry).to_owned());
        texts.push(format!("{entry}s all of it"));
        texts.push(format!("{entry}, anna"));
        texts.push(format!("on monday she {entry}"));
        texts.push(format!("un{entry}"));
        texts.push(format!("vor {entry}之后"));
        texts.extend(entry.char_indices().map(|(at, _)| entry[..at].to_owned()));
    }
    texts.sort();
    texts.dedup();
    texts
}

#[test]
fn openings_are_those_of_the_table() {
    let texts = texts();
    for table in TABLES {
        let index = Openings::of(&[table]);
        for text in &texts {
            let mut slow: Vec<&str> = table
                .iter()
                .filter(|entry| text.starts_with(**entry))
                .copied()
                .collect();
            slow.sort_by_key(|entry| std::cmp::Reverse(entry.len()));
            slow.dedup();
            let quick: Vec<&str> = index.starting(text).map(|(entry, _)| entry).collect();
            assert_eq!(quick, slow, "{text:?}");
            for (entry, number) in index.starting(text) {
                assert_eq!(table.iter().position(|one| *one == entry), Some(number));
            }
            let whole = table.iter().filter_map(|entry| after_phrase(text, entry));
            let shortest = whole.min_by_key(|rest| rest.len());
            assert_eq!(index.after(text).next(), shortest, "{text:?}");
            assert_eq!(index.holds(text), table.contains(&text.as_str()));
            let number = table.iter().position(|entry| entry == text);
            assert_eq!(index.number(text), number, "{text:?}");
        }
    }
}

#[test]
fn folding_is_saved_only_where_nothing_can_open() {
    for table in TABLES {
        let index = Openings::of(&[table]);
        for text in texts() {
            let raws = [
                text.to_uppercase(),
                text.replace('é', "e\u{301}"),
                format!(" {text}"),
                text.replace(' ', "  "),
                text.replace(' ', "\t"),
                format!("`{text}ö"),
                text,
            ];
            for raw in raws {
                assert!(
                    index.may_open(&raw) || !index.starts(&fold(&raw)),
                    "{raw:?}"
                );
            }
        }
    }
}

#[test]
fn endings_are_those_of_the_table() {
    let texts = texts();
    for table in TABLES {
        let index = Endings::of(table);
        for text in &texts {
            let slow: Vec<&str> = table
                .iter()
                .filter_map(|entry| before_phrase(text, entry))
                .collect();
            assert_eq!(index.before(text).collect::<Vec<_>>(), slow, "{text:?}");
        }
    }
}

#[test]
fn what_is_inside_is_what_the_table_has() {
    // Trying every entry in every text would take half a minute.
    let texts: Vec<String> = texts().into_iter().step_by(13).collect();
    for table in TABLES {
        let index = Inside::of(table);
        for text in &texts {
            let slow = table.iter().filter(|entry| text.contains(**entry)).count();
            assert_eq!(index.count(text), slow, "{text:?}");
            assert_eq!(index.any(text), slow > 0, "{text:?}");
            let whole = table.iter().any(|entry| holds_phrase(text, entry));
            assert_eq!(index.any_whole(text), whole, "{text:?}");
        }
    }
}
