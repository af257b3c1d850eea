//! How far an experiment is.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use twicetold_eval::Watch;

/// A progress line on stderr.
pub(super) struct Steps(ProgressBar);

impl Steps {
    /// Silent if the user asked for silence or stderr is not a terminal.
    pub(super) fn new(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self(ProgressBar::new(0))
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Watch for Steps {
    fn begin(&self, what: &str, steps: u64) {
        if self.0.is_hidden() {
            return;
        }
        let template = match steps {
            0 => "{spinner} {msg} {human_pos}",
            _ => "{spinner} {msg:24} {bar:24} {percent:>3} %, {eta} left",
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.set_style(style.progress_chars("=> "));
        self.0.set_message(what.to_owned());
        self.0.set_length(steps);
        self.0.reset();
        self.0.enable_steady_tick(Duration::from_millis(120));
    }

    fn step(&self, steps: u64) {
        self.0.inc(steps);
    }
}
