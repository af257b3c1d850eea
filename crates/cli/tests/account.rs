//! `twicetold account` as users run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::process::{Command, Output, Stdio};

use common::{Folder, text};
use twicetold_testbed::{Dovecot, PASSWORD};

fn run(home: &Folder, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(args)
        .env("XDG_CONFIG_HOME", home.at("config"))
        .env("XDG_DATA_HOME", home.at("data"))
        .env("XDG_CACHE_HOME", home.at("cache"))
        .env("MAIL_PASSWORD", PASSWORD)
        .env_remove("TWICETOLD_CONFIG")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn told(run: &Output, code: i32) -> String {
    let all = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{all}");
    all
}

const ADD: [&str; 9] = [
    "account",
    "add",
    "work",
    "--host",
    "imap.example.org",
    "--user",
    "anna",
    "--password",
    "env:MAIL_PASSWORD",
];

#[test]
fn an_account_is_added_listed_and_removed() {
    let home = Folder::new("account-life");
    assert!(told(&run(&home, &["account", "list"]), 0).contains("No accounts in "));
    let said = told(&run(&home, &ADD), 0);
    assert!(said.contains("Next: twicetold account test work"), "{said}");
    let file = fs::read_to_string(home.at("config/twicetold/accounts.toml")).unwrap();
    assert!(
        file.starts_with("[accounts.work]\nprotocol = \"imap\"\nhost = \"imap.example.org\"\n"),
        "{file}"
    );
    let listed = run(&home, &["account", "list"]);
    let line = format!(
        "work\timap\tanna@imap.example.org:993\ttls implicit\tpassword from env:MAIL_PASSWORD\t{}\n",
        home.at("data/twicetold/work")
    );
    assert_eq!(text(&listed.stdout), line);
    assert!(told(&run(&home, &ADD), 1).contains("there is an account work already"));
    told(&run(&home, &["account", "remove", "work"]), 0);
    let said = told(&run(&home, &["account", "remove", "work"]), 1);
    assert!(
        said.contains("error: ")
            && said.contains("there is no account work")
            && said.contains("hint: "),
        "{said}"
    );
}

#[test]
fn a_password_on_the_command_line_is_refused_and_not_repeated() {
    let home = Folder::new("account-secret");
    let mut args = ADD;
    args[8] = "hunter2";
    let said = told(&run(&home, &args), 2);
    assert!(
        said.contains("--password takes no password") && !said.contains("hunter2"),
        "{said}"
    );
    fs::create_dir_all(home.at("config/twicetold")).unwrap();
    fs::write(
        home.at("config/twicetold/accounts.toml"),
        "[accounts.work]\nhost = 'h'\nuser = 'u'\npassword = 'hunter2'\n",
    )
    .unwrap();
    let said = told(&run(&home, &["account", "list"]), 1);
    assert!(
        said.contains("accounts.toml, line 4: accounts.work.password must say where"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_test_shows_security_login_and_folders() {
    let dovecot = Dovecot::start();
    dovecot.deliver(
        "anna",
        "INBOX",
        [("1.M1.h:2,", b"Subject: hi\n\nhi\n".to_vec())],
    );
    let home = Folder::new("account-test");
    let (port, ca) = (dovecot.imaps.to_string(), dovecot.certificates.authority());
    let ca = ca.to_str().unwrap();
    let mut args = ADD.to_vec();
    args[4] = "localhost";
    args.extend(["--port", &port, "--ca", ca]);
    told(&run(&home, &args), 0);
    let said = told(&run(&home, &["account", "test", "work"]), 0);
    for part in [
        "works",
        "TLS 1.3, certificate checked",
        "anna with PLAIN",
        "UIDPLUS",
        "1  INBOX",
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    // Without the authority, nobody vouches for it.
    args[2] = "plain";
    args.truncate(11);
    told(&run(&home, &args), 0);
    let said = told(&run(&home, &["account", "test", "plain"]), 1);
    assert!(
        said.starts_with("error: account plain: the certificate of localhost:"),
        "{said}"
    );
    assert!(said.contains("\nhint: "), "{said}");
}

/// A real keyring needs a session that somebody has unlocked; what is asked of its tool is checked here.
#[cfg(not(target_os = "macos"))]
#[test]
fn the_keyring_is_asked_through_its_own_tool() {
    use std::os::unix::fs::PermissionsExt;
    let dovecot = Dovecot::start();
    let home = Folder::new("account-keyring");
    let tool = home.at("secret-tool");
    let store = home.at("stored");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n'store --label=twicetold: mail account work service twicetold account work') echo yes > '{store}';;\n'lookup service twicetold account work') test -f '{store}' && printf '%s' \"$MAIL_PASSWORD\";;\n*) exit 9;;\nesac\n"
    );
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", home.at(""), std::env::var("PATH").unwrap());
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_twicetold"))
            .args(args)
            .env("XDG_CONFIG_HOME", home.at("config"))
            .env("MAIL_PASSWORD", PASSWORD)
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let port = dovecot.imaps.to_string();
    let ca = dovecot.certificates.authority();
    let mut args = ADD.to_vec();
    (args[4], args[8]) = ("localhost", "keyring");
    args.extend(["--port", &port, "--ca", ca.to_str().unwrap()]);
    told(&run(&args), 0);
    told(&run(&["account", "test", "work"]), 0);
    fs::remove_file(&store).unwrap();
    let said = told(&run(&["account", "test", "work"]), 1);
    assert!(
        said.contains("the keyring gave no secret") && said.contains("secret-tool store"),
        "{said}"
    );
}

#[test]
fn a_prompt_without_a_terminal_is_explained() {
    let home = Folder::new("account-prompt");
    let mut args = ADD;
    args[8] = "prompt";
    told(&run(&home, &args), 0);
    let said = told(&run_detached(&home, &["account", "test", "work"]), 1);
    assert!(said.contains("the password cannot be asked for"), "{said}");
}

/// Without a terminal, even if the tests have one.
fn run_detached(home: &Folder, args: &[&str]) -> Output {
    Command::new("setsid")
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_twicetold"))
        .args(args)
        .env("XDG_CONFIG_HOME", home.at("config"))
        .env("XDG_DATA_HOME", home.at("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
