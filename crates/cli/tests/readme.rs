//! What the README and the other pages say is so: commands, output, links.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::text;

const README: &str = include_str!("../../../README.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a script that do something.
fn steps(script: &str) -> Vec<&str> {
    script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = *steps(&ci).last().unwrap();
    assert!(
        README.contains(&format!("```sh\n{command}\n```")),
        "the README does not give the command {command:?}, which .ci/run ends with"
    );
}

#[test]
fn the_proof_it_shows_is_what_explain_writes() {
    let block = README
        .split("```console\n$ twicetold ")
        .nth(1)
        .and_then(|rest| rest.split("\n```").next())
        .unwrap();
    let (command, shown) = block.split_once('\n').unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .arg("--quiet")
        .args(command.split(' ').map(|arg| arg.trim_matches('\'')))
        .current_dir(root())
        .output()
        .unwrap();
    assert_eq!(
        text(&run.stdout).trim_end(),
        shown.trim_end(),
        "`twicetold {command}` (left) and what the README shows (right)"
    );
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages: Vec<PathBuf> = ["", "docs", "corpus", "sample"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let mut links = 0;
    for page in pages {
        let content = fs::read_to_string(&page).unwrap();
        let targets = content
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|target| !target.starts_with("http"));
        for target in targets {
            let (file, section) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name(file)
            };
            assert!(file.exists(), "{}: {target} leads nowhere", page.display());
            if !section.is_empty() {
                let there = fs::read_to_string(&file).unwrap();
                assert!(
                    there
                        .lines()
                        .any(|line| anchor(line).as_deref() == Some(section)),
                    "{}: {target} names no section",
                    page.display()
                );
            }
            links += 1;
        }
    }
    assert!(links > 10, "only {links} links were found");
}

/// The name under which a heading can be linked.
fn anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let kept = title.to_lowercase();
    Some(
        kept.chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect(),
    )
}
