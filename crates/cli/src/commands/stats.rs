//! Where the time of a scan went: what `scan --stats` says.

use twicetold_detect::Stage;
use twicetold_memory::in_file;

use super::engine::Scanned;
use crate::report::units::{counted, size};
use crate::terminal::talk;

/// Says on stderr how long each stage took and how much was read.
pub(super) fn say(scanned: &Scanned) {
    let all: f64 = scanned
        .stages
        .iter()
        .map(|(_, took)| took.as_secs_f64())
        .sum();
    let messages = scanned.scan.messages.len() as u64;
    let bytes: u64 = scanned.scan.messages.iter().map(|m| m.bytes).sum();
    let read = |messages: u64, bytes: u64| {
        format!(
            "{}, {}",
            counted(messages, "message", "messages"),
            size(bytes)
        )
    };
    talk("stage       seconds  share");
    for &(stage, took) in &scanned.stages {
        let seconds = took.as_secs_f64();
        let share = 100.0 * seconds / all.max(f64::MIN_POSITIVE);
        let again = scanned.scan.reread.iter().find(|(of, _)| *of == stage);
        let what = match (stage, again) {
            (Stage::Reading, _) => format!("   {}", read(messages, bytes)),
            (_, Some((_, again))) if again.messages > 0 => {
                format!("   {} read again", read(again.messages, again.bytes))
            }
            _ => String::new(),
        };
        talk(&format!(
            "{:<10} {seconds:>8.2} {share:>5.0}%{what}",
            name(stage)
        ));
    }
    if scanned.scan.remembered > 0 {
        let known = counted(scanned.scan.remembered, "message", "messages");
        talk(&format!("known from an earlier scan, not read: {known}"));
    }
    if scanned.scan.settled > 0 {
        let settled = counted(scanned.scan.settled, "message", "messages");
        talk(&format!(
            "verdicts of an earlier scan that hold still: {settled}"
        ));
    }
    let again = || scanned.scan.reread.iter().map(|(_, again)| again);
    talk(&format!(
        "read again, to compare texts: {}",
        read(
            again().map(|a| a.messages).sum(),
            again().map(|a| a.bytes).sum()
        )
    ));
    if let Some(peak) = peak_memory() {
        let file = match in_file() {
            0 => String::new(),
            bytes => format!(", and a temporary file of {}", size(bytes)),
        };
        talk(&format!("memory at the most: {}{file}", size(peak)));
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "reading",
        Stage::Relating => "relating",
        Stage::Proving => "comparing",
        Stage::Combining => "combining",
        Stage::Versions => "versions",
        Stage::Copies => "copies",
    }
}

/// The most memory this process has had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
