//! `twicetold serve` as an administrator runs it: keys, signals, systemd, and clients.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use common::{Folder, text, twicetold, twicetold_fed};
use serde_json::Value;

const SPAM: &str = "From: a@example.net\nSubject: x\n\nGenuine Helvetian chronographs at a fraction of boutique \
    prices! Automatic movements, sapphire crystal, engraved serial numbers and velvet presentation cases. \
    Choose Calatrava, Submariner or Navitimer from our warehouse catalogue tonight.\n";

/// A server that ends with the test.
struct Running {
    child: Child,
    log: BufReader<ChildStderr>,
    url: String,
}

impl Running {
    fn start(args: &[&str], notify: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twicetold"));
        command.arg("serve").args(args);
        command.args(["--http", "127.0.0.1:0"]);
        if let Some(socket) = notify {
            command.env("NOTIFY_SOCKET", socket);
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut running = Self {
            child,
            log,
            url: String::new(),
        };
        let started = running.line("started");
        running.url = format!("http://{}", started["http"][0].as_str().unwrap());
        running
    }

    /// The next line of the log about this event.
    fn line(&mut self, event: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.log.read_line(&mut line).unwrap() > 0, "no {event}");
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["event"] == event {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A key for a reporter, in a file, and the lines for the configuration.
fn key(folder: &Folder, name: &str) -> (String, String) {
    let run = twicetold(["spam", "key", name]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let file = folder.at(&format!("{name}.key"));
    fs::write(&file, &run.stdout).unwrap();
    let lines = text(&run.stderr);
    (file, lines[lines.find('[').unwrap()..].to_owned())
}

#[test]
fn serve_report_check_reload_and_stop() {
    let folder = Folder::new("serve-way");
    let (mail, config, db) = (
        folder.at("spam.eml"),
        folder.at("serve.toml"),
        folder.at("db"),
    );
    fs::write(&mail, SPAM).unwrap();
    fs::write(&config, "").unwrap();
    let (key_file, lines) = key(&folder, "anna");
    // Paths of sockets must be short: this one is beside the test's own folder.
    let short = twicetold_testbed::Folder::new();
    let notify = short.at("n");
    let manager = UnixDatagram::bind(&notify).unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let told = || {
        let mut buffer = [0; 512];
        let length = manager.recv(&mut buffer).unwrap();
        text(&buffer[..length]).to_owned()
    };
    let mut server = Running::start(
        &["--config", &config, "--db", &db],
        Some(notify.to_str().unwrap()),
    );
    assert!(told().starts_with("READY=1\n"));
    let url = server.url.clone();
    let report = |more: &[&str]| {
        let args = [
            "spam",
            "report",
            "--server",
            &url,
            "--key-file",
            &key_file,
            &mail,
        ];
        twicetold(args.into_iter().chain(more.iter().copied()))
    };
    let run = report(&[]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("refuses: this key is not known here\nhint: give the key"),
        "{}",
        text(&run.stderr)
    );
    // What is wrong is not taken over.
    fs::write(&config, "nonsense").unwrap();
    server.signal("HUP");
    assert_eq!(server.line("reload")["level"], "error");
    fs::write(&config, format!("{lines}\nstanding = \"trusted\"\n")).unwrap();
    server.signal("HUP");
    server.line("reloaded");
    for _ in 0..2 {
        assert!(told().starts_with("RELOADING=1\nMONOTONIC_USEC="));
        assert!(told().starts_with("READY=1\n"));
    }
    let run = report(&["--format", "jsonl"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let receipt: Value = serde_json::from_str(text(&run.stdout)).unwrap();
    assert_eq!(receipt["outcome"], "new");
    let line = server.line("request");
    let line = if line["status"] == 200 {
        line
    } else {
        server.line("request")
    };
    assert_eq!(
        (&line["reporter"], &line["status"]),
        (&"anna".into(), &200.into())
    );
    // Sketches by default, whole messages if asked for; the same answer.
    for send in ["sketch", "message"] {
        let run = twicetold([
            "spam",
            "check",
            "--server",
            &url,
            "--send",
            send,
            "--exit-class",
            "--format",
            "jsonl",
            &mail,
        ]);
        assert_eq!(run.status.code(), Some(10), "{}", text(&run.stderr));
        let row: Value = serde_json::from_str(text(&run.stdout)).unwrap();
        assert_eq!(row["campaign"], receipt["campaign"]);
        assert_eq!(row["path"], mail.as_str());
    }
    // While it runs, nobody else has the folder.
    let run = twicetold(["spam", "check", "--db", &db, "--wait", "0", &mail]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("in use by another process"));
    server.signal("TERM");
    assert!(told().starts_with("STOPPING=1\n"));
    server.line("stopped");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // What was reported is there.
    let run = twicetold(["spam", "check", "--db", &db, &mail]);
    assert!(
        text(&run.stdout).starts_with("spam "),
        "{}",
        text(&run.stdout)
    );
}

#[test]
fn an_export_is_taken_while_the_server_runs() {
    let folder = Folder::new("serve-export");
    let (mail, config, db) = (
        folder.at("spam.eml"),
        folder.at("serve.toml"),
        folder.at("db"),
    );
    fs::write(&mail, SPAM).unwrap();
    let (key_file, lines) = key(&folder, "anna");
    fs::write(&config, format!("{lines}\nstanding = \"trusted\"\n")).unwrap();
    let mut server = Running::start(&["--config", &config, "--db", &db], None);
    let url = server.url.clone();
    let asked = ["--server", &url, "--key-file", &key_file];
    let spam = |verb: &str, more: &[&str]| {
        let args = ["spam", verb].into_iter().chain(asked);
        twicetold(args.chain(more.iter().copied()))
    };
    let run = spam("report", &[&mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    // The folder is the server's: it is asked, by somebody who may.
    let file = folder.at("export.jsonl");
    for run in [
        twicetold(["spam", "export", "--db", &db, "--wait", "0", "-o", &file]),
        twicetold(["spam", "import", "--db", &db, "--wait", "0", &mail]),
    ] {
        assert_eq!(run.status.code(), Some(1));
        let told = text(&run.stderr);
        assert!(told.contains("in use by another process"), "{told}");
        assert!(told.contains("--server"), "{told}");
    }
    let run = spam("export", &["-o", &file]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("may not take an export"),
        "{}",
        text(&run.stderr)
    );
    assert!(
        fs::metadata(&file).is_err(),
        "what is not whole has no name"
    );
    fs::write(
        &config,
        format!("{lines}\nstanding = \"trusted\"\nexport = true\n"),
    )
    .unwrap();
    server.signal("HUP");
    server.line("reloaded");
    let run = spam("export", &["-o", &file]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains(" exported"));
    let other = folder.at("other");
    let run = twicetold(["spam", "import", "--db", &other, &file]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let run = twicetold(["spam", "check", "--db", &other, &mail]);
    assert!(
        text(&run.stdout).starts_with("spam "),
        "{}",
        text(&run.stdout)
    );
}

#[test]
fn keys_can_be_kept_with_the_campaigns() {
    let folder = Folder::new("serve-keys");
    let (mail, db, key_file) = (
        folder.at("spam.eml"),
        folder.at("db"),
        folder.at("bert.key"),
    );
    fs::write(&mail, SPAM).unwrap();
    let run = twicetold(["spam", "key", "--store", "--db", &db, "bert"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    fs::write(&key_file, &run.stdout).unwrap();
    let server = Running::start(&["--db", &db], None);
    let report = |url: &str| {
        twicetold([
            "spam",
            "report",
            "--server",
            url,
            "--key-file",
            &key_file,
            &mail,
        ])
    };
    let run = report(&server.url);
    assert!(
        text(&run.stdout).starts_with("new campaign "),
        "{}",
        text(&run.stderr)
    );
    drop(server);
    let run = twicetold(["spam", "key", "--revoke", "--db", &db, "bert"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let server = Running::start(&["--db", &db], None);
    assert_eq!(report(&server.url).status.code(), Some(1));
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let folder = Folder::new("serve-mistakes");
    let config = folder.at("serve.toml");
    fs::write(&config, "[http]\nlisen = []\n").unwrap();
    let told = |args: &[&str]| {
        let run = twicetold(args.iter().copied());
        (run.status.code(), text(&run.stderr).to_owned())
    };
    let (code, words) = told(&["serve", "--config", &config, "--check-config"]);
    assert_eq!(code, Some(1));
    assert!(
        words.contains("serve.toml, line 2: unknown field `lisen`"),
        "{words}"
    );
    assert!(words.contains("hint: "), "{words}");
    fs::write(&config, "").unwrap();
    assert_eq!(
        told(&["serve", "--config", &config, "--check-config"]).0,
        Some(0)
    );
    assert_eq!(told(&["serve", "--http", "nowhere"]).0, Some(2));
    let (code, words) = told(&["spam", "check", "--server", "ftp://x", "-"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("is no server"), "{words}");
    let (code, _) = told(&["spam", "check", "--server", "http://x", "--db", "y", "-"]);
    assert_eq!(code, Some(2));
    let (code, words) = told(&["spam", "key", "a/b"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("no slashes"), "{words}");
    // A port that is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let (code, words) = told(&["serve", "--db", &folder.at("db"), "--http", &place]);
    assert_eq!(code, Some(1));
    assert!(
        words.contains(&format!("cannot listen on {place}")),
        "{words}"
    );
}

/// Posts bytes as any HTTP client would; the status and the object that comes back.
fn post(url: &str, path: &str, key: Option<&str>, body: &[u8]) -> (u16, Value) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let key = key.map_or_else(String::new, |key| {
        format!("Authorization: Bearer {key}\r\n")
    });
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/x-twicetold-sketch\r\n\
         Content-Length: {}\r\nConnection: close\r\n{key}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body.trim()).unwrap())
}

#[test]
fn sketches_made_elsewhere_are_taken() {
    let folder = Folder::new("serve-sketches");
    let (spam, ham, db) = (folder.at("spam.eml"), folder.at("ham.eml"), folder.at("db"));
    let (config, rows) = (folder.at("serve.toml"), folder.at("rows.arrow"));
    fs::write(&spam, SPAM).unwrap();
    fs::write(
        &ham,
        "From: b@example.org\n\nShall we meet at the harbour on Sunday morning?\n",
    )
    .unwrap();
    let (key_file, lines) = key(&folder, "anna");
    fs::write(&config, format!("{lines}\nstanding = \"trusted\"\n")).unwrap();
    let server = Running::start(&["--config", &config, "--db", &db], None);

    // One sketch in the body of a request, as curl would send it.
    let bare = |args: &[&str], input: &str| {
        let all = ["sketch", "--method", "spam", "--bare"];
        let run = twicetold_fed(all.into_iter().chain(args.iter().copied()), input);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        run.stdout
    };
    let sketch = bare(&[&spam], "");
    assert_eq!(sketch, bare(&["-"], SPAM));
    let secret = fs::read_to_string(&key_file).unwrap();
    let (status, receipt) = post(&server.url, "/v1/report", Some(secret.trim()), &sketch);
    assert_eq!(
        (status, &receipt["outcome"]),
        (200, &"new".into()),
        "{receipt}"
    );
    let (status, answer) = post(&server.url, "/v1/check", None, &sketch);
    assert_eq!(
        (status, &answer["class"]),
        (200, &"spam".into()),
        "{answer}"
    );

    // Many in rows, whatever they are written as: the answers are those to the messages themselves.
    let expected = twicetold([
        "spam",
        "check",
        "--server",
        &server.url,
        "--format",
        "jsonl",
        &ham,
        &spam,
    ]);
    let run = twicetold([
        "sketch", "--method", "spam", "--format", "arrow", "--output", &rows, &ham, &spam,
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let check = [
        "spam",
        "check",
        "--server",
        &server.url,
        "--format",
        "jsonl",
        "--sketches",
    ];
    let of_arrow = twicetold(check.into_iter().chain([rows.as_str()]));
    assert_eq!(
        text(&of_arrow.stdout),
        text(&expected.stdout),
        "{}",
        text(&of_arrow.stderr)
    );
    let run = twicetold(["sketch", "--method", "spam", &ham, &spam]);
    let of_lines = twicetold_fed(check.into_iter().chain(["-"]), text(&run.stdout));
    assert_eq!(
        text(&of_lines.stdout),
        text(&expected.stdout),
        "{}",
        text(&of_lines.stderr)
    );
    assert_eq!(of_lines.status.code(), Some(0));
    let report = [
        "spam",
        "report",
        "--server",
        &server.url,
        "--key-file",
        &key_file,
        "--sketches",
    ];
    let run = twicetold(report.into_iter().chain([rows.as_str()]));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(
        text(&run.stdout).contains("reported before"),
        "{}",
        text(&run.stdout)
    );

    // What is no sketch of the service is told, and the rest is asked about.
    let winnow = twicetold(["sketch", &spam]);
    let good = twicetold(["sketch", "--method", "spam", &spam]);
    let bad = "{\"id\":\"bad\",\"method\":\"spam\",\"sketch\":\"AAAA\"}\n";
    let input = format!("{}{bad}{}", text(&winnow.stdout), text(&good.stdout));
    let run = twicetold_fed(check.into_iter().chain(["-"]), &input);
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(text(&run.stdout).lines().count(), 1);
    let told = text(&run.stderr);
    assert!(
        told.contains("made by winnow") && told.contains("bad: the sketch is damaged"),
        "{told}"
    );
    for wrong in [
        &["sketch", "--method", "spam", "--bare", &spam, &ham][..],
        &[
            "sketch",
            "--method",
            "spam",
            "--set",
            "winnow.window=7",
            &spam,
        ],
        &["sketch", "--authserv", "mx", &spam],
        &[
            "spam",
            "check",
            "--server",
            "http://x",
            "--send",
            "message",
            "--sketches",
            &rows,
        ],
    ] {
        assert_eq!(
            twicetold(wrong.iter().copied()).status.code(),
            Some(2),
            "{wrong:?}"
        );
    }
}
