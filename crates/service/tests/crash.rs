//! What was acknowledged is there after a crash, and two processes do not get in each other's way.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Folder, NOW, invented, mail};
use twicetold_service::{Class, Embedded, Engine, StateError};

/// Tells a copy of this test program what to do, and where.
const PLACE: &str = "TWICETOLD_TEST_CHILD_FOLDER";

fn child(test: &str, folder: &Folder) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PLACE, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Does nothing by itself; in a child it reports for ever, on three threads, and says each number once its
/// report is acknowledged.
#[test]
fn child_that_reports() {
    let Some(folder) = std::env::var_os(PLACE) else {
        return;
    };
    let state = Embedded::open(folder.as_ref(), Duration::from_secs(20)).unwrap();
    let engine = Engine::new(Box::new(state));
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let engine = &engine;
            scope.spawn(move || {
                for number in 0..1_000_000_u64 {
                    let number = number * 3 + thread;
                    engine
                        .report(&mail(&invented(number, 40)), "anna", NOW)
                        .unwrap();
                    println!("acknowledged {number}.");
                }
            });
        }
    });
}

#[test]
fn a_killed_process_loses_no_acknowledged_report() {
    let folder = Folder::new("crash");
    let mut acknowledged = Vec::new();
    for round in 0..3_usize {
        let mut child = child("child_that_reports", &folder);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut now = Vec::new();
        let mut killed = false;
        for line in lines {
            let line = line.unwrap();
            // The test harness writes on the same stdout, so a line may begin with its words.
            if let Some((_, number)) = line.rsplit_once("acknowledged ")
                && let Some(number) = number.strip_suffix('.')
            {
                now.push(number.parse::<u64>().unwrap());
            }
            if !killed && now.len() >= 40 + 25 * round {
                // SIGKILL, in the middle of the next reports.
                child.kill().unwrap();
                killed = true;
            }
        }
        child.wait().unwrap();
        assert!(
            now.len() >= 40,
            "only {} reports in round {round}",
            now.len()
        );
        acknowledged.extend(now);
        let state = Embedded::open(folder.path(), Duration::from_secs(20)).unwrap();
        let engine = Engine::new(Box::new(state));
        for &number in &acknowledged {
            let answer = engine.check(&mail(&invented(number, 40)), NOW).unwrap();
            assert_eq!(answer.class, Class::Unsure, "report {number} is lost");
        }
    }
}

/// Does nothing by itself; in a child it holds the folder open until it is killed.
#[test]
fn child_that_holds() {
    let Some(folder) = std::env::var_os(PLACE) else {
        return;
    };
    let _state = Embedded::open(folder.as_ref(), Duration::from_secs(20)).unwrap();
    println!("open.");
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_second_process_is_told_or_waits() {
    let folder = Folder::new("two-processes");
    let mut holder = child("child_that_holds", &folder);
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("open.")));
    let refused = Embedded::open(folder.path(), Duration::from_millis(100));
    assert!(
        matches!(refused, Err(StateError::InUse { .. })),
        "{refused:?}"
    );
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Embedded::open(folder.path(), Duration::from_secs(30)));
        std::thread::sleep(Duration::from_millis(200));
        holder.kill().unwrap();
        holder.wait().unwrap();
        waiting.join().unwrap()
    });
    waiting.unwrap();
}
