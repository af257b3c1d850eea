//! What the tests of accounts share.

// Every test file uses its own part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use twicetold_account::{
    Credentials, FetchOptions, FetchReport, Login, Profile, Protocol, Secret, Session, Source, Tls,
    fetch,
};
use twicetold_testbed::{Dovecot, PASSWORD};

/// An account of a user of the Dovecot, over TLS.
pub(crate) fn profile(dovecot: &Dovecot, protocol: Protocol, tls: Tls) -> Profile {
    let port = match (protocol, tls) {
        (Protocol::Imap, Tls::Implicit) => dovecot.imaps,
        (Protocol::Imap, _) => dovecot.imap,
        (Protocol::Pop3, Tls::Implicit) => dovecot.pop3s,
        (Protocol::Pop3, _) => dovecot.pop3,
    };
    Profile {
        protocol,
        tls,
        port,
        authorities: Some(dovecot.certificates.authority()),
        ..at_port(port)
    }
}

/// An account of a server on this machine, without TLS.
pub(crate) fn at_port(port: u16) -> Profile {
    Profile {
        name: "test".into(),
        protocol: Protocol::Imap,
        host: "localhost".into(),
        port,
        user: "anna".into(),
        tls: Tls::None,
        login: Login::Password(Source::Prompt),
        authorities: None,
        mail: None,
        folders: Vec::new(),
        exclude: Vec::new(),
        jobs: 3,
        timeout: Duration::from_secs(20),
    }
}

pub(crate) fn imap(dovecot: &Dovecot) -> Profile {
    profile(dovecot, Protocol::Imap, Tls::None)
}

pub(crate) fn password() -> Credentials {
    Credentials::Password(Secret::new(PASSWORD.into()))
}

pub(crate) fn session(dovecot: &Dovecot) -> Session {
    Session::connect(&imap(dovecot), &password()).unwrap()
}

/// Fetches, and expects it to begin; what ended it early is in the report.
pub(crate) fn fetched(profile: &Profile, root: &Path, options: &FetchOptions) -> FetchReport {
    fetch(profile, &password(), root, options, &()).unwrap()
}

/// Fetches, and expects all to go well.
pub(crate) fn fetched_well(profile: &Profile, root: &Path) -> FetchReport {
    let report = fetched(profile, root, &FetchOptions::default());
    assert!(report.failure.is_none(), "{:?}", report.failure);
    assert_eq!(report.problems, Vec::<String>::new());
    report
}

/// A message that nobody confuses with another, with the line ends of a server.
pub(crate) fn mail(number: usize) -> Vec<u8> {
    let body = "All work and no play makes Jack a dull boy.\r\n".repeat(1 + number % 40);
    format!(
        "From: anna@example.org\r\nTo: bert@example.org\r\nSubject: number {number}\r\nMessage-ID: <{number}@example.org>\r\n\r\n{body}.\r\n..two dots\r\nnumber {number}\r\n"
    )
    .into_bytes()
}

/// Fills a folder with mails numbered from `first`.
pub(crate) fn fill(dovecot: &Dovecot, folder: &str, first: usize, count: usize) {
    let names: Vec<String> = (first..first + count)
        .map(|number| {
            format!(
                "{}.M{number:06}.here:2,{}",
                1_600_000_000 + number,
                if number % 3 == 0 { "S" } else { "" }
            )
        })
        .collect();
    let messages = names
        .iter()
        .zip(first..)
        .map(|(name, number)| (name.as_str(), mail(number)));
    dovecot.deliver("anna", folder, messages);
}

/// The messages of a Maildir: name and bytes.
pub(crate) fn messages(maildir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["cur", "new"] {
        let Ok(entries) = fs::read_dir(maildir.join(part)) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

/// What is in the folders of an account: bytes, flags and dates, sorted. Empty folders are left out.
pub(crate) type Content = BTreeMap<String, Vec<(Vec<u8>, Vec<String>, Option<i64>)>>;

/// What is in the folders of the account now.
pub(crate) fn content(dovecot: &Dovecot) -> Content {
    let mut session = session(dovecot);
    let mut content = Content::new();
    for folder in session.folders().unwrap().0 {
        if !folder.holds_messages {
            continue;
        }
        session.examine(&folder).unwrap();
        let all = session.uids_from(1).unwrap();
        let mut messages = Vec::new();
        session
            .read_messages(&all, 1 << 20, &mut |message| {
                let mut flags = message.flags;
                flags.retain(|flag| flag != "\\Recent");
                flags.sort();
                messages.push((message.bytes, flags, message.date));
            })
            .unwrap();
        messages.sort();
        if !messages.is_empty() {
            content.insert(folder.name, messages);
        }
    }
    content
}

/// The bytes of the messages of a Maildir, sorted; copies show as equal neighbours.
pub(crate) fn contents(maildir: &Path) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = messages(maildir).into_values().collect();
    contents.sort();
    contents
}

/// The mails of these numbers, sorted as `contents` sorts.
pub(crate) fn mails(numbers: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    let mut mails: Vec<Vec<u8>> = numbers.into_iter().map(mail).collect();
    mails.sort();
    mails
}

/// The name of the file with this subject number.
pub(crate) fn file_of(maildir: &Path, number: usize) -> Option<String> {
    let wanted = mail(number);
    messages(maildir)
        .into_iter()
        .find(|(_, bytes)| *bytes == wanted)
        .map(|(name, _)| name)
}

pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}
