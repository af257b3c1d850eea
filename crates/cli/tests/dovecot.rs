//! The scripts for Dovecot, with a real Dovecot: into Junk reports, out of Junk revokes, into the bin says nothing.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, text, twicetold};
use serde_json::Value;
use twicetold_testbed::{Dovecot, PASSWORD, Setup};

const SPAM: &str = "From: a@example.net\nSubject: x\n\nGenuine Helvetian chronographs at a fraction of boutique \
    prices! Automatic movements, sapphire crystal, engraved serial numbers and velvet presentation cases. \
    Choose Calatrava, Submariner or Navitimer from our warehouse catalogue tonight.\n";

/// Ends a process with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Imap(BufReader<TcpStream>);

impl Imap {
    fn log_in(port: u16, user: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut imap = Self(BufReader::new(stream));
        let mut greeting = String::new();
        imap.0.read_line(&mut greeting).unwrap();
        imap.say(&format!(
            "LOGIN {user} {{{}+}}\r\n{PASSWORD}",
            PASSWORD.len()
        ));
        imap
    }

    fn say(&mut self, command: &str) {
        self.0
            .get_mut()
            .write_all(format!("a {command}\r\n").as_bytes())
            .unwrap();
        loop {
            let mut line = String::new();
            assert!(
                self.0.read_line(&mut line).unwrap() > 0,
                "{command}: hung up"
            );
            if let Some(answer) = line.strip_prefix("a ") {
                assert!(answer.starts_with("OK"), "{command}: {answer}");
                return;
            }
        }
    }

    /// Moves the one message of a folder.
    fn move_from(&mut self, from: &str, to: &str) {
        self.say(&format!("SELECT {from}"));
        self.say(&format!("MOVE 1 {to}"));
    }
}

#[test]
fn into_junk_reports_and_out_of_it_revokes() {
    let folder = Folder::new("dovecot");
    let (db, config) = (folder.at("db"), folder.at("serve.toml"));
    let run = twicetold(["spam", "key", "dovecot"]);
    let (key, lines) = (run.stdout, text(&run.stderr).to_owned());
    let lines = &lines[lines.find('[').unwrap()..];
    fs::write(
        &config,
        format!("{lines}\nmembers = true\nmembers-standing = \"trusted\"\n"),
    )
    .unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args([
            "serve",
            "--config",
            &config,
            "--db",
            &db,
            "--http",
            "127.0.0.1:0",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let _server = Ends(server);
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    let started: Value = serde_json::from_str(&line).unwrap();
    let url = format!("http://{}", started["http"][0].as_str().unwrap());
    // Nobody reads the rest, and the server must not wait for that.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));

    // What ships, in a place of its own. Dovecot runs it in the name of its users, who may not be able to
    // read where this was built.
    let here = twicetold_testbed::Folder::new();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/dovecot");
    for name in [
        "report.sieve",
        "revoke.sieve",
        "twicetold-report",
        "twicetold-revoke",
    ] {
        fs::copy(contrib.join(name), here.at(name)).unwrap();
    }
    fs::copy(env!("CARGO_BIN_EXE_twicetold"), here.at("twicetold")).unwrap();
    fs::write(here.at("dovecot.key"), key).unwrap();
    let at = here.path().display().to_string();
    let shipped = fs::read_to_string(contrib.join("twicetold.env")).unwrap();
    let settings: String = shipped
        .replace("/usr/bin", &at)
        .replace("http://127.0.0.1:8520", &url)
        .replace("/etc/dovecot/twicetold", &at);
    fs::write(here.at("twicetold.env"), settings).unwrap();
    let more = fs::read_to_string(contrib.join("90-twicetold.conf")).unwrap();
    let more = more.replace("/etc/dovecot/twicetold", &at);
    let dovecot = Dovecot::with(&Setup {
        more,
        ..Setup::default()
    });
    dovecot.deliver("anna", "INBOX", [("1.spam:2,", SPAM.as_bytes().to_vec())]);

    let mail = folder.at("spam.eml");
    fs::write(&mail, SPAM).unwrap();
    let check = || {
        let run = twicetold([
            "spam", "check", "--server", &url, "--format", "jsonl", &mail,
        ]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        serde_json::from_str::<Value>(text(&run.stdout)).unwrap()
    };
    let until = |class: &str| {
        let began = Instant::now();
        loop {
            let found = check();
            if found["class"] == class {
                return found;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{found} {}",
                dovecot.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut imap = Imap::log_in(dovecot.imap, "anna");
    imap.say("CREATE Junk");
    imap.say("CREATE Trash");
    imap.say("CREATE Other");
    until("unknown");
    imap.move_from("INBOX", "Other");
    until("unknown");
    imap.move_from("Other", "Junk");
    assert_eq!(until("spam")["reporters"], 1);
    imap.move_from("Junk", "INBOX");
    until("unknown");
    // Once more; then the folder is emptied into the bin: that says nothing.
    imap.move_from("INBOX", "Junk");
    until("spam");
    imap.move_from("Junk", "Trash");
    // What is moved after it is heard of after it: this is not too early.
    dovecot.deliver(
        "anna",
        "Junk",
        [("2.ham:2,", b"Subject: y\n\nSee you at noon.\n".to_vec())],
    );
    imap.move_from("Junk", "INBOX");
    assert_eq!(until("spam")["keeps"], 0);
}
