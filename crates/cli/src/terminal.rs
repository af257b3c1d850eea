//! What concerns the terminal: colour, progress, and talk that is not data.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use twicetold_detect::{Progress, Stage};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If stdout is a terminal and NO_COLOR is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Gives words colour, or leaves them as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// No colour at all.
    pub(crate) const PLAIN: Self = Self { on: false };

    /// The colour that the user, stdout and the environment allow.
    pub(crate) fn for_stdout(color: Color) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
            }
        };
        Self { on }
    }

    /// Headings and numbers that matter.
    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What is there for those who look closer.
    pub(crate) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// What may go.
    pub(crate) fn go(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// What stays.
    pub(crate) fn stay(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// What needs a look.
    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Says a line on stderr. If nobody can hear it, the work goes on.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The stages of a scan in their order.
#[cfg(test)]
const STAGES: [Stage; 6] = [
    Stage::Reading,
    Stage::Relating,
    Stage::Proving,
    Stage::Combining,
    Stage::Versions,
    Stage::Copies,
];

/// Progress on stderr: what is being done, how far it is, how fast, how long still.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    messages: Arc<AtomicU64>,
    reading: AtomicBool,
    /// When each stage began.
    began: Mutex<Vec<(Stage, Instant)>>,
}

impl Bar {
    /// Progress for people; silent if they asked for silence or stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        Self {
            bar,
            messages: Arc::default(),
            reading: AtomicBool::new(true),
            began: Mutex::default(),
        }
    }

    /// The stages so far with how long each took, the last one until now.
    pub(crate) fn stages(&self) -> Vec<(Stage, Duration)> {
        let began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = began.iter().skip(1).map(|&(_, at)| at);
        began
            .iter()
            .zip(ends.chain([Instant::now()]))
            .map(|(&(stage, from), to)| (stage, to.duration_since(from)))
            .collect()
    }

    /// Takes the progress line away, so that the report starts on a clean one.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, stage: Stage, total: u64) -> ProgressStyle {
        let what = match stage {
            Stage::Reading => "Reading  ",
            Stage::Relating => "Relating ",
            Stage::Proving => "Comparing",
            Stage::Combining => "Combining",
            Stage::Versions => "Versions ",
            Stage::Copies => "Copies   ",
        };
        let how_far = match (stage, total) {
            (Stage::Reading, 0) => "{decimal_bytes}, {messages} messages, {decimal_bytes_per_sec}",
            (Stage::Reading, _) => {
                "{bar:20} {decimal_bytes} of {decimal_total_bytes}, {messages} messages, {decimal_bytes_per_sec}, {eta} left"
            }
            (Stage::Relating, _) => "{human_len} messages",
            (_, 0) => "{human_pos} messages",
            (_, _) => "{bar:20} {human_pos} of {human_len} messages, {rate}/s, {eta} left",
        };
        let messages = Arc::clone(&self.messages);
        ProgressStyle::with_template(&format!("{{spinner}} {what} {how_far}"))
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ")
            .with_key(
                "messages",
                move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{}", HumanCount(messages.load(Ordering::Relaxed)));
                },
            )
    }
}

impl Progress for Bar {
    fn begin(&self, stage: Stage, total: u64) {
        self.reading
            .store(stage == Stage::Reading, Ordering::Relaxed);
        self.messages.store(0, Ordering::Relaxed);
        self.began
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((stage, Instant::now()));
        if self.bar.is_hidden() {
            return;
        }
        // The style comes first: whatever follows draws.
        self.bar.set_style(self.style(stage, total));
        self.bar.set_length(total);
        self.bar.reset();
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    fn advance(&self, messages: u64, bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        self.messages.fetch_add(messages, Ordering::Relaxed);
        let reading = self.reading.load(Ordering::Relaxed);
        self.bar.inc(if reading { bytes } else { messages });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_left_out_unless_wanted() {
        assert_eq!(Paint::PLAIN.strong("a"), "a");
        assert_eq!(Paint::for_stdout(Color::Never).warn("a"), "a");
        assert_eq!(
            Paint::for_stdout(Color::Always).strong("a"),
            "\u{1b}[1ma\u{1b}[0m"
        );
        assert_eq!(Paint::for_stdout(Color::Always).strong(""), "");
    }

    #[test]
    fn every_stage_has_a_style_that_is_understood() {
        let bar = Bar::new(true);
        for stage in STAGES {
            for total in [0, 10] {
                bar.style(stage, total);
                bar.begin(stage, total);
                bar.advance(1, 5);
            }
        }
        bar.finish();
    }
}
