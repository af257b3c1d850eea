//! The job: sent, watched, and what is said if it fails.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::spark::{Spark, SparkArgs};
use crate::failure::Advice;
use crate::report::escape::{self, visible};
use crate::terminal::talk;

/// The job, in the order of what imports what.
const MODULES: [(&str, &str); 9] = [
    ("door.py", include_str!("spark/door.py")),
    ("components.py", include_str!("spark/components.py")),
    ("reading.py", include_str!("spark/reading.py")),
    ("judging.py", include_str!("spark/judging.py")),
    ("relations.py", include_str!("spark/relations.py")),
    ("inputs.py", include_str!("spark/inputs.py")),
    ("meeting.py", include_str!("spark/meeting.py")),
    ("pairs.py", include_str!("spark/pairs.py")),
    ("job.py", include_str!("spark/job.py")),
];

/// What the executors call the lexicon, the program and the statistics.
pub(super) const LEXICON: &str = "twicetold-lexicon";
const PROGRAM: &str = "twicetold-program";
pub(super) const STATISTICS: &str = "twicetold-statistics";

/// Mail of fewer bytes is small: of a job on it, most of the time goes into compiling and planning.
const SMALL: u64 = 32 << 20;

/// What a job on small mail can do without. Each of these pays for itself on larger mail only.
const FOR_SMALL: [&str; 5] = [
    "spark.sql.adaptive.enabled=false",
    "spark.sql.codegen.wholeStage=false",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
];

/// What a job on other mail needs: whether rows are few enough to be sent to every executor is told by the rows themselves, not by the size of the
/// file in which they were written down, which is packed. Else the driver would have no memory for them.
const FOR_OTHERS: [&str; 2] = [
    "spark.sql.autoBroadcastJoinThreshold=-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold=4m",
];

/// What suits a job that scans mail of so many bytes; `None` if that is not known.
pub(super) fn fitting(mail: Option<u64>) -> &'static [&'static str] {
    match mail {
        Some(bytes) if bytes < SMALL => &FOR_SMALL,
        _ => &FOR_OTHERS,
    }
}

/// How many lines of what Spark says are kept for when it fails.
const REMEMBERED: usize = 400;

/// A folder that is gone with the command.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Result<Self> {
        let path = env::temp_dir().join(format!("twicetold-cluster-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| {
            Advice::new(
                format!("cannot make the folder {}", path.display()),
                "set TMPDIR to a folder with room in it",
            )
        })?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A job that is about to be sent.
pub(super) struct Job<'j> {
    pub(super) spark: &'j Spark,
    pub(super) args: &'j SparkArgs,
    pub(super) scratch: &'j Scratch,
    pub(super) quiet: bool,
    /// How many bytes the files have that are given by path.
    pub(super) files: u64,
    /// Settings of Spark that suit it; those of the user come after them.
    pub(super) fitting: &'static [&'static str],
    /// A lexicon to send along.
    pub(super) lexicon: Option<&'j Path>,
}

impl Job<'_> {
    /// Sends the job with these settings and waits for its end. Says whether everything could be read and judged.
    pub(super) fn run(&self, mut settings: Value) -> Result<bool> {
        let folder = self.scratch.path();
        let more = json!({
            "version": concat!("twicetold ", env!("CARGO_PKG_VERSION")),
            "binary_name": PROGRAM,
            "executor_binary": self.args.executor_binary,
            "statistics_name": STATISTICS,
            "scratch": folder,
            "quiet": self.quiet,
            "partitions": self.args.partitions,
            "bytes": self.files,
        });
        if let (Value::Object(settings), Value::Object(more)) = (&mut settings, more) {
            settings.extend(more);
        }
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))
                .map(|()| path)
        };
        let mut modules = Vec::new();
        for (name, text) in MODULES {
            modules.push(write(name, text)?);
        }
        let settings = write("settings.json", &settings.to_string())?;
        let mut command = self.command(&modules, &settings)?;
        let mut running = command.spawn().with_context(|| {
            Advice::new(
                format!("cannot start {}", self.spark.submit.display()),
                "check --spark-home",
            )
        })?;
        // Spark sends what the job says to stdout, whatever the job meant.
        let talking = running.stderr.take().map(|stderr| {
            thread::spawn(move || {
                let mut said = Said::default();
                said.listen(stderr);
                said
            })
        });
        let mut said = Said::default();
        if let Some(stdout) = running.stdout.take() {
            said.listen(stdout);
        }
        let mut first = talking
            .and_then(|talking| talking.join().ok())
            .unwrap_or_default();
        first.0.append(&mut said.0);
        let ended = running.wait().context("the Spark job was lost")?;
        match ended.success() {
            true => Ok(self.all_read()),
            false => Err(failure(first.0.make_contiguous()).into_error()),
        }
    }

    /// Whether the job says that it could read and judge everything.
    fn all_read(&self) -> bool {
        let told = fs::read(self.scratch.path().join("outcome.json")).unwrap_or_default();
        let told: Value = serde_json::from_slice(&told).unwrap_or_default();
        told.get("unread").and_then(Value::as_u64) == Some(0)
    }

    /// A file that is sent to the executors, under the name by which they know it.
    fn send(&self, file: &Path, name: &str) -> Result<PathBuf> {
        let sent = self.scratch.path().join(name);
        fs::copy(file, &sent).with_context(|| {
            Advice::new(
                format!("cannot copy {} to {}", file.display(), sent.display()),
                "set TMPDIR to a folder with room in it",
            )
        })?;
        Ok(sent)
    }

    fn command(&self, modules: &[PathBuf], settings: &Path) -> Result<Command> {
        let mut command = Command::new(&self.spark.submit);
        let joined = |paths: &[PathBuf]| {
            let paths: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
            paths.join(",")
        };
        let (job, rest) = match modules.split_last() {
            Some((job, rest)) => (job, rest),
            None => (&self.spark.submit, &[][..]),
        };
        command.args(["--master", &self.args.master, "--name", "twicetold cluster"]);
        command.args(["--py-files", &joined(rest)]);
        let mut files = Vec::new();
        if self.args.executor_binary.is_none() {
            let own = env::current_exe().context("cannot find this program, to send it")?;
            files.push(self.send(&own, PROGRAM)?);
        }
        if let Some(lexicon) = self.lexicon {
            files.push(self.send(lexicon, LEXICON)?);
        }
        if !files.is_empty() {
            command.args(["--files", &joined(&files)]);
        }
        for conf in ["spark.log.level=ERROR", "spark.ui.enabled=false"] {
            command.args(["--conf", conf]);
        }
        command.args(self.fitting.iter().flat_map(|conf| ["--conf", conf]));
        for conf in &self.args.conf {
            command.args(["--conf", conf]);
        }
        command.arg(job).arg(settings);
        command
            .env("PYSPARK_PYTHON", &self.spark.python)
            .env("PYSPARK_DRIVER_PYTHON", &self.spark.python)
            .env("SPARK_HOME", &self.spark.home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.args.master.starts_with("local") && env::var_os("SPARK_LOCAL_IP").is_none() {
            // Executors on this machine look for the driver under a name that may lead elsewhere.
            command.env("SPARK_LOCAL_IP", OsString::from("127.0.0.1"));
        }
        Ok(command)
    }
}

/// What Spark said last.
#[derive(Default)]
struct Said(VecDeque<String>);

impl Said {
    /// Hears it to its end. What the job has to say goes on to the user.
    fn listen(&mut self, from: impl Read) {
        for line in BufReader::new(from).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line).into_owned();
            match line.strip_prefix("twicetold: ") {
                Some(told) => talk(&visible(told, escape::MESSAGE)),
                None => self.0.push_back(line),
            }
            if self.0.len() > REMEMBERED {
                self.0.pop_front();
            }
        }
    }
}

/// What to tell about a job that failed, by what Spark said.
fn failure(said: &[String]) -> Advice {
    let last = |what: &str| said.iter().rev().find_map(|line| line.split_once(what));
    if let Some((_, trouble)) = last("door.Trouble: ").or_else(|| last("door.Full: ")) {
        let (what, hint) = trouble.split_once("; ").unwrap_or((trouble, ""));
        let hint = match hint {
            "" => "look at that host; the verdicts were not written",
            hint => hint,
        };
        return Advice::new(what, hint);
    }
    if said
        .iter()
        .any(|line| line.contains("No space left on device"))
    {
        let host = last("executor ").map_or("an executor", |(_, rest)| rest);
        return Advice::new(
            format!("no space is left on a disk that Spark uses ({host})"),
            "make room, or name a larger disk with --conf spark.local.dir=DIR; nothing was written",
        );
    }
    // Where in Spark it happened tells a user nothing, and would push out what did happen.
    let frame = |line: &str| line.starts_with("at ") || line.starts_with("... ");
    let lines = said.iter().rev().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !frame(line)
    });
    let mut lines: Vec<String> = lines.take(8).cloned().collect();
    lines.reverse();
    Advice::new(
        "the Spark job failed",
        "what Spark said last is above; the whole of it is in the logs of the master and the executors",
    )
    .listing(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_on_a_host_is_told_with_the_next_step() {
        let said = [
            "org.apache.spark.SparkException: Job aborted".to_owned(),
            "door.Trouble: host a has no program at /x; install twicetold there".to_owned(),
            "\tat org.apache.spark".to_owned(),
        ];
        let advice = failure(&said);
        assert_eq!(advice.to_string(), "host a has no program at /x");
        assert_eq!(advice.hint(), "install twicetold there");
        let full = ["java.io.IOException: No space left on device".to_owned()];
        assert!(failure(&full).hint().contains("spark.local.dir"));
        assert!(failure(&[]).to_string().contains("failed"));
        let mut deep = vec![": java.lang.OutOfMemoryError: Java heap space".to_owned()];
        deep.resize(40, "\tat java.base/java.lang.Thread.run".to_owned());
        let shown = format!("{:?}", failure(&deep));
        assert!(
            shown.contains("Java heap space") && !shown.contains("Thread.run"),
            "{shown}"
        );
    }
}
