//! Every format a released program wrote is read, from files kept here.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use redb::{Database, TableDefinition};
use support::{Folder, NOW, SPAM, mail};
use twicetold_service::{Class, Embedded, Engine, Standing, StateError};

#[test]
fn format_1_is_read() {
    let folder = Folder::new("format-1");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/state-1.redb");
    std::fs::copy(kept, folder.path().join("spam.redb")).unwrap();
    let state = Embedded::open(folder.path(), Duration::ZERO).unwrap();
    let engine = Engine::new(Box::new(state));
    // Two mails reported by the owner, the second one by somebody else too; a third one by somebody
    // else, which a third person keeps; the fourth is new.
    let classes = SPAM.map(|spam| engine.check(&mail(spam), NOW).unwrap().class);
    assert_eq!(
        classes,
        [Class::Spam, Class::Spam, Class::Unsure, Class::Unknown]
    );
    let second = engine.check(&mail(SPAM[1]), NOW).unwrap().campaign.unwrap();
    assert_eq!(
        (second.id.to_string().as_str(), second.reporters),
        ("cd08056d8aa592ab", 2)
    );
    let third = engine.check(&mail(SPAM[2]), NOW).unwrap().campaign.unwrap();
    assert_eq!((third.reporters, third.keeps), (1, 1));
    let berta = engine.reporter("berta").unwrap();
    assert_eq!(
        (berta.standing, berta.reports, berta.confirmed),
        (Standing::Unknown, 2, 1)
    );
    // It can be written as well.
    engine.report(&mail(SPAM[3]), "local", NOW).unwrap();
    assert_eq!(
        engine.check(&mail(SPAM[3]), NOW).unwrap().class,
        Class::Spam
    );
}

#[test]
fn a_format_of_the_future_is_refused() {
    let folder = Folder::new("format-future");
    {
        let database = Database::create(folder.path().join("spam.redb")).unwrap();
        let transaction = database.begin_write().unwrap();
        let meta: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
        transaction
            .open_table(meta)
            .unwrap()
            .insert("format", "99")
            .unwrap();
        transaction.commit().unwrap();
    }
    let refused = Embedded::open(folder.path(), Duration::ZERO);
    assert!(
        matches!(&refused, Err(StateError::Format { found, .. }) if found == "99"),
        "{refused:?}"
    );
}

#[test]
fn a_file_that_is_something_else_is_refused() {
    let folder = Folder::new("format-foreign");
    std::fs::write(
        folder.path().join("spam.redb"),
        "a letter, not a database".repeat(500),
    )
    .unwrap();
    let refused = Embedded::open(folder.path(), Duration::ZERO);
    assert!(
        matches!(refused, Err(StateError::Failed { .. })),
        "{refused:?}"
    );
}

#[test]
fn room_can_be_given_back() {
    let folder = Folder::new("compact");
    let state = Embedded::open(folder.path(), Duration::ZERO).unwrap();
    state.compact().unwrap();
    Embedded::open(folder.path(), Duration::ZERO).unwrap();
}
