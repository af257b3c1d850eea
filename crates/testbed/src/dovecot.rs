//! A real Dovecot, for one test.

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Certificates, Folder};

/// The password of every user.
pub const PASSWORD: &str = "correct horse \"battery\" ümlaut";

/// Who can log in.
pub const USERS: [&str; 3] = ["anna", "bert", "clara"];

/// How a Dovecot is to be.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Show a certificate that has expired.
    pub expired: bool,
    /// More lines for the configuration.
    pub more: String,
}

/// A Dovecot with IMAP and POP3, plain and TLS, and three users.
#[derive(Debug)]
pub struct Dovecot {
    /// IMAP, plain and STARTTLS.
    pub imap: u16,
    /// IMAP over TLS.
    pub imaps: u16,
    /// POP3, plain and STLS.
    pub pop3: u16,
    /// POP3 over TLS.
    pub pop3s: u16,
    /// What it shows, and who signed that.
    pub certificates: Certificates,
    child: Child,
    owner: (u32, u32),
    folder: Folder,
}

impl Dovecot {
    /// Starts one and waits until it answers.
    pub fn start() -> Self {
        Self::with(&Setup::default())
    }

    /// Starts one that is set up in a certain way.
    pub fn with(setup: &Setup) -> Self {
        let program = [
            "/usr/sbin/dovecot",
            "/usr/local/sbin/dovecot",
            "/usr/bin/dovecot",
        ]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect(
            "Dovecot is needed: apt-get install dovecot-imapd dovecot-pop3d (scripts/test does it)",
        );
        // Between choosing a port and its use somebody else may take it: then once more.
        for attempt in 1.. {
            match Self::try_start(program, setup) {
                Ok(dovecot) => return dovecot,
                Err(log) => assert!(attempt < 4, "Dovecot does not start: {log}"),
            }
        }
        unreachable!()
    }

    fn try_start(program: &str, setup: &Setup) -> Result<Self, String> {
        let folder = Folder::new();
        let path = folder.path().to_owned();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let certificates = Certificates::make(&path.join("tls"));
        let me = fs::metadata(&path).unwrap();
        let is_root = me.uid() == 0;
        // Dovecot serves nobody with root's rights.
        let owner = if is_root {
            (65_534, 65_534)
        } else {
            (me.uid(), me.gid())
        };
        let home = path.join("home");
        fs::create_dir_all(&home).unwrap();
        chown(&home, Some(owner.0), Some(owner.1)).unwrap();
        let ports = free_ports();
        let config = config(&path, &certificates, ports, owner, is_root, setup);
        fs::write(path.join("dovecot.conf"), config).unwrap();
        let users = USERS.map(|user| format!("{user}:{{PLAIN}}{PASSWORD}\n"));
        fs::write(path.join("users"), users.concat()).unwrap();
        // The shell ends Dovecot, with all its processes, when its standard input ends: whatever
        // becomes of the test. Test runners signal a whole process group, so it has its own.
        let script = "setsid \"$0\" -F -c \"$1\" >/dev/null 2>&1 & pid=$!; read -r _; kill -KILL -- -$pid || kill -KILL $pid; wait $pid; rm -rf \"$2\"";
        let child = Command::new("sh")
            .args(["-c", script, program])
            .arg(path.join("dovecot.conf"))
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let [imap, imaps, pop3, pop3s] = ports;
        let dovecot = Self {
            imap,
            imaps,
            pop3,
            pop3s,
            certificates,
            child,
            owner,
            folder,
        };
        let began = Instant::now();
        while !ports
            .iter()
            .all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok())
        {
            if began.elapsed() > Duration::from_secs(20) || dovecot.log().contains("Fatal:") {
                return Err(dovecot.log());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(dovecot)
    }

    /// What it wrote into its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.at("dovecot.log")).unwrap_or_default()
    }

    /// A place for whatever else the test needs.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.at(name)
    }

    /// The Maildir of a folder of a user.
    pub fn maildir(&self, user: &str, folder: &str) -> PathBuf {
        let root = self.folder.at("home").join(user).join("Maildir");
        if folder == "INBOX" {
            root
        } else {
            // Folders lie inside each other, under their names in modified UTF-7.
            root.join(folder)
        }
    }

    /// Puts messages straight into a folder, under names that it orders by. The folder's name is
    /// plain ASCII.
    pub fn deliver<'a>(
        &self,
        user: &str,
        folder: &str,
        messages: impl IntoIterator<Item = (&'a str, Vec<u8>)>,
    ) {
        let maildir = self.maildir(user, folder);
        for part in ["tmp", "new", "cur"] {
            fs::create_dir_all(maildir.join(part)).unwrap();
        }
        for (name, bytes) in messages {
            let tmp = maildir.join("tmp").join(name.replace(':', "_"));
            fs::write(&tmp, bytes).unwrap();
            chown(&tmp, Some(self.owner.0), Some(self.owner.1)).unwrap();
            fs::rename(&tmp, maildir.join("cur").join(name)).unwrap();
        }
        let mut path = maildir.as_path();
        while path != self.folder.at("home") {
            chown(path, Some(self.owner.0), Some(self.owner.1)).unwrap();
            path = path.parent().unwrap();
        }
        for part in ["tmp", "new", "cur"] {
            chown(maildir.join(part), Some(self.owner.0), Some(self.owner.1)).unwrap();
        }
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn free_ports() -> [u16; 4] {
    // All are held until all are known, so that they differ.
    let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn config(
    path: &Path,
    certificates: &Certificates,
    [imap, imaps, pop3, pop3s]: [u16; 4],
    (uid, gid): (u32, u32),
    is_root: bool,
    setup: &Setup,
) -> String {
    let at = path.display();
    let certificate = if setup.expired {
        certificates.expired()
    } else {
        certificates.server()
    };
    let mut config = format!(
        "base_dir = {at}/run
state_dir = {at}/state
log_path = {at}/dovecot.log
protocols = imap pop3
listen = 127.0.0.1
ssl = yes
ssl_cert = <{cert}
ssl_key = <{key}
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:~/Maildir:LAYOUT=fs
mail_max_userip_connections = 100
auth_failure_delay = 0
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
first_valid_uid = 1
first_valid_gid = 1
passdb {{
  driver = passwd-file
  args = scheme=PLAIN username_format=%u {at}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={at}/home/%u allow_all_users=yes
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Trash {{
    special_use = \\Trash
  }}
  mailbox Everything {{
    special_use = \\All
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
    ssl = yes
  }}
}}
service pop3-login {{
  inet_listener pop3 {{
    port = {pop3}
  }}
  inet_listener pop3s {{
    port = {pop3s}
    ssl = yes
  }}
}}
",
        cert = certificate.display(),
        key = certificates.key().display(),
    );
    if !is_root {
        let (user, group) = (own_name("-un"), own_name("-gn"));
        write!(
            config,
            "default_internal_user = {user}\ndefault_internal_group = {group}\ndefault_login_user = {user}\n"
        )
        .unwrap();
        for service in ["anvil", "imap-login", "pop3-login", "stats"] {
            write!(config, "service {service} {{\n  chroot =\n}}\n").unwrap();
        }
    }
    config.push_str(&setup.more.replace("{at}", &at.to_string()));
    config
}

/// The name of the user (`-un`) or the group (`-gn`) that runs the test.
fn own_name(which: &str) -> String {
    let run = Command::new("id").arg(which).output().unwrap();
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}
