//! How much do several connections help, if the server is far away?
//!
//! `cargo run --release -p twicetold-account --example connections [MESSAGES]` fetches the same messages from a Dovecot of its own through a proxy
//! that answers after 40 ms and lets no connection bring more than 2 MB a second, with 1 to 16 connections.

#![cfg_attr(not(unix), allow(unused))]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[cfg(unix)]
fn main() {
    use std::time::{Duration, Instant};

    use twicetold_account::{
        Credentials, FetchOptions, Login, Profile, Protocol, Secret, Source, Tls, fetch,
    };
    use twicetold_testbed::{Dovecot, Folder, PASSWORD, Proxy};

    let count: usize = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(2_000);
    let dovecot = Dovecot::start();
    let names: Vec<String> = (0..count).map(|n| format!("{n}.M{n}.here:2,")).collect();
    let messages = names.iter().enumerate().map(|(number, name)| {
        let body = "All work and no play makes Jack a dull boy.\r\n".repeat(20 + number % 450);
        let mail = format!("Subject: number {number}\r\n\r\n{body}");
        (name.as_str(), mail.into_bytes())
    });
    dovecot.deliver("anna", "INBOX", messages);
    let proxy = Proxy::far(dovecot.imap, Duration::from_millis(20), 2_000_000);
    for jobs in [1, 2, 4, 8, 16] {
        let profile = Profile {
            name: "far".into(),
            protocol: Protocol::Imap,
            host: "localhost".into(),
            port: proxy.port,
            user: "anna".into(),
            tls: Tls::None,
            login: Login::Password(Source::Prompt),
            authorities: None,
            mail: None,
            folders: Vec::new(),
            exclude: Vec::new(),
            jobs,
            timeout: Duration::from_secs(60),
        };
        let password = Credentials::Password(Secret::new(PASSWORD.into()));
        let folder = Folder::new();
        let began = Instant::now();
        let root = folder.at("mail");
        let report = fetch(&profile, &password, &root, &FetchOptions::default(), &()).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{jobs:>2} connections: {:.1} s, {:.0} messages/s, {:.1} MB/s",
            seconds,
            report.new_messages() as f64 / seconds,
            report.new_bytes() as f64 / seconds / 1e6
        );
    }
}

#[cfg(not(unix))]
fn main() {}
