//! A real Postfix, for one test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Folder;

/// Nothing takes that long on any machine.
const LONG: Duration = Duration::from_secs(60);
/// Where mail lies belongs to this user.
const NOBODY: u32 = 65_534;

/// A Postfix that takes mail for anybody at `example.org` and delivers it into one Maildir.
#[derive(Debug)]
pub struct Postfix {
    /// SMTP, on the loopback interface.
    pub smtp: u16,
    child: Child,
    folder: Folder,
}

impl Postfix {
    /// Starts one that asks the milter at this place, written as Postfix wants it, and waits until it
    /// answers. Postfix runs only for root: `None` for anybody else.
    pub fn start(milter: &str) -> Option<Self> {
        let program = "/usr/sbin/postfix";
        assert!(
            Path::new(program).exists(),
            "Postfix is needed: apt-get install postfix (scripts/test does it)"
        );
        // Between choosing a port and its use somebody else may take it: then once more.
        for attempt in 1.. {
            let folder = Folder::new();
            if fs::metadata(folder.path()).unwrap().uid() != 0 {
                return None;
            }
            match Self::try_start(program, milter, folder) {
                Ok(postfix) => return Some(postfix),
                Err(log) => assert!(attempt < 4, "Postfix does not start: {log}"),
            }
        }
        unreachable!()
    }

    fn try_start(program: &str, milter: &str, folder: Folder) -> Result<Self, String> {
        let path = folder.path().to_owned();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        for part in ["etc", "queue", "data", "mail"] {
            fs::create_dir(path.join(part)).unwrap();
        }
        chown(path.join("mail"), Some(NOBODY), Some(NOBODY)).unwrap();
        let owned = Command::new("chown")
            .arg("postfix")
            .arg(path.join("data"))
            .status()
            .unwrap();
        assert!(owned.success());
        let smtp = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        fs::write(path.join("etc/main.cf"), main_cf(&path, milter)).unwrap();
        fs::write(path.join("etc/master.cf"), master_cf(smtp)).unwrap();
        // The shell ends Postfix when its standard input ends: whatever becomes of the test. Its processes
        // end with their master.
        let script = "setsid \"$0\" -c \"$1/etc\" start-fg >\"$1/start.log\" 2>&1 & pid=$!; read -r _; \
            kill -TERM $(cat \"$1/queue/pid/master.pid\") 2>/dev/null; kill -TERM -- -$pid 2>/dev/null; \
            wait $pid; rm -rf \"$1\"";
        let child = Command::new("sh")
            .args(["-c", script, program])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let postfix = Self {
            smtp,
            child,
            folder,
        };
        let began = Instant::now();
        while !postfix.greets() {
            if began.elapsed() > LONG || postfix.log().contains("fatal:") {
                return Err(postfix.log());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(postfix)
    }

    fn greets(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.smtp)).is_ok_and(|stream| {
            let _ = stream.set_read_timeout(Some(LONG));
            let mut line = String::new();
            let read = BufReader::new(stream).read_line(&mut line);
            read.is_ok() && line.starts_with("220 ")
        })
    }

    /// What it wrote into its logs.
    pub fn log(&self) -> String {
        ["start.log", "mail.log"]
            .map(|name| fs::read_to_string(self.folder.at(name)).unwrap_or_default())
            .concat()
    }

    /// A place for whatever else the test needs.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.at(name)
    }

    /// Sends messages over SMTP, one after the other in one session; returns the last answer to each.
    pub fn send<'m>(&self, messages: impl IntoIterator<Item = &'m str>) -> Vec<String> {
        let stream = TcpStream::connect(("127.0.0.1", self.smtp)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let mut hear = || loop {
            let mut line = String::new();
            assert!(answers.read_line(&mut line).unwrap() > 0, "Postfix hung up");
            if line.as_bytes().get(3) != Some(&b'-') {
                return line.trim_end().to_owned();
            }
        };
        let say = |text: &str| {
            (&stream)
                .write_all(format!("{text}\r\n").as_bytes())
                .unwrap()
        };
        assert!(hear().starts_with("220"));
        say("EHLO client.example.net");
        assert!(hear().starts_with("250"));
        let mut last = Vec::new();
        for message in messages {
            for command in [
                "MAIL FROM:<sender@example.net>",
                "RCPT TO:<inbox@example.org>",
            ] {
                say(command);
                let answer = hear();
                assert!(answer.starts_with("250"), "{command}: {answer}");
            }
            say("DATA");
            assert!(hear().starts_with("354"));
            for line in message.lines() {
                let dot = if line.starts_with('.') { "." } else { "" };
                say(&format!("{dot}{line}"));
            }
            say(".");
            last.push(hear());
        }
        say("QUIT");
        last
    }

    /// The messages that were delivered, when there are so many.
    pub fn delivered(&self, count: usize) -> Vec<String> {
        let new = self.folder.at("mail/inbox/new");
        self.wait_for(&new, count)
    }

    /// How many messages it holds back, when there are so many.
    pub fn held(&self, count: usize) -> usize {
        self.wait_for(&self.folder.at("queue/hold"), count).len()
    }

    fn wait_for(&self, folder: &Path, count: usize) -> Vec<String> {
        let began = Instant::now();
        loop {
            let files: Vec<PathBuf> = fs::read_dir(folder)
                .map(|files| files.map(|file| file.unwrap().path()).collect())
                .unwrap_or_default();
            if files.len() >= count {
                return files
                    .iter()
                    .map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned())
                    .collect();
            }
            assert!(began.elapsed() < LONG, "{}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn main_cf(path: &Path, milter: &str) -> String {
    let at = path.display();
    format!(
        "compatibility_level = 3.6
queue_directory = {at}/queue
data_directory = {at}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = {at}/mail.log
maillog_file_prefixes = {at}
myhostname = mx.example.org
mydestination =
mynetworks = 127.0.0.0/8
inet_protocols = ipv4
alias_maps =
alias_database =
local_recipient_maps =
virtual_mailbox_domains = example.org
virtual_mailbox_base = {at}/mail
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:{NOBODY}
virtual_gid_maps = static:{NOBODY}
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_milters = {milter}
milter_default_action = accept
smtpd_peername_lookup = no
disable_dns_lookups = yes
"
    )
}

fn master_cf(smtp: u16) -> String {
    let mut text = format!("127.0.0.1:{smtp} inet n - n - - smtpd\n");
    for (name, kind, wake, limit, program) in [
        ("cleanup", "unix", "-", "0", "cleanup"),
        ("qmgr", "unix", "300", "1", "qmgr"),
        ("rewrite", "unix", "-", "-", "trivial-rewrite"),
        ("bounce", "unix", "-", "0", "bounce"),
        ("defer", "unix", "-", "0", "bounce"),
        ("trace", "unix", "-", "0", "bounce"),
        ("proxymap", "unix", "-", "-", "proxymap"),
        ("anvil", "unix", "-", "1", "anvil"),
        ("virtual", "unix", "-", "-", "virtual"),
        ("error", "unix", "-", "-", "error"),
        ("retry", "unix", "-", "-", "error"),
        ("postlog", "unix-dgram", "-", "1", "postlogd"),
    ] {
        let public = if matches!(name, "cleanup" | "qmgr" | "postlog") {
            "n"
        } else {
            "-"
        };
        // Mail is delivered in the name of its owner.
        let unprivileged = if name == "virtual" { "n" } else { "-" };
        text += &format!("{name} {kind} {public} {unprivileged} n {wake} {limit} {program}\n");
    }
    text
}
