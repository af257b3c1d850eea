//! A Dovecot is gone with the test that started it, even if that was killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use twicetold_testbed::{Dovecot, Folder};

/// Where the test below tells its port and its folder; set by the other one alone.
const TELL: &str = "TWICETOLD_TESTBED_TELL";

#[test]
fn holds_a_dovecot() {
    let Some(tell) = std::env::var_os(TELL) else {
        return;
    };
    let dovecot = Dovecot::start();
    let told = format!("{} {}", dovecot.imap, dovecot.at("").display());
    fs::write(format!("{}.part", tell.to_str().unwrap()), told).unwrap();
    fs::rename(format!("{}.part", tell.to_str().unwrap()), &tell).unwrap();
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_killed_test_leaves_no_dovecot_and_no_folder() {
    let folder = Folder::new();
    let tell = folder.at("told");
    let mut test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holds_a_dovecot"])
        .env(TELL, &tell)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    wait_until(|| tell.exists());
    let told = fs::read_to_string(&tell).unwrap();
    let (port, place) = told.split_once(' ').unwrap();
    let port: u16 = port.parse().unwrap();
    let answers = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(answers() && Path::new(place).exists());
    // As a test runner does: the test and all its group, without warning.
    let killed = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", test.id())])
        .status()
        .unwrap();
    assert!(killed.success());
    test.wait().unwrap();
    wait_until(|| !answers() && !Path::new(place).exists());
}

fn wait_until(done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(
            began.elapsed() < Duration::from_secs(40),
            "it takes too long"
        );
        thread::sleep(Duration::from_millis(20));
    }
}
