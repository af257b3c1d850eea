//! `twicetold completions` as users run it.

mod common;

use common::{text, twicetold};

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = twicetold(["completions", shell]);
        assert_eq!(run.status.code(), Some(0), "{shell}");
        let script = text(&run.stdout);
        for word in ["twicetold", "scan", "explain", "max-witnesses"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    let run = twicetold(["completions", "csh"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("bash"));
}
