//! `twicetold cluster` on a real Spark with executors in processes of their own.
//!
//! `scripts/spark` installs it; where there is none, the tests that need it say that they are skipped.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::spark::{QUICK, SAMPLE, python, written};
use common::{Folder, text, twicetold};
use twicetold_testbed::busy_mailbox;

/// What the job imports.
const NEEDED: &str = "pyspark, pyarrow, pandas";

/// The processes below this one that are executors.
fn executors(ancestor: u32) -> Vec<u32> {
    let mut parents: HashMap<u32, u32> = HashMap::new();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name of the program stands in brackets and may hold anything.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        if let Some(parent) = rest.split_whitespace().nth(1).and_then(|p| p.parse().ok()) {
            parents.insert(pid, parent);
        }
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).contains("CoarseGrainedExecutorBackend") {
            found.push(pid);
        }
    }
    let below = |pid: &u32| {
        let up = std::iter::successors(Some(*pid), |pid| parents.get(pid).copied());
        up.take(100).any(|pid| pid == ancestor)
    };
    found.retain(below);
    found
}

#[test]
fn mail_is_judged_as_by_scan_though_an_executor_is_killed() {
    let Some(python) = python(NEEDED) else {
        return;
    };
    let folder = Folder::new("cluster-sample");
    let (output, statistics) = (folder.at("verdicts"), folder.at("statistics"));
    let busy = folder.at("busy.mbox");
    let mbox = busy_mailbox().into_iter();
    let mbox: String = mbox.map(|mail| format!("From -\n{mail}\n")).collect();
    fs::write(&busy, mbox).unwrap();
    let paths = || SAMPLE.into_iter().chain([busy.as_str()]);
    let scan = ["scan", "--no-cache", "--with-trash", "--format", "jsonl"];
    let expected = twicetold(scan.into_iter().chain(paths()));
    assert_eq!(
        expected.status.code(),
        Some(0),
        "{}",
        text(&expected.stderr)
    );
    let mut job = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(["cluster", "scan", "--with-trash", "--partitions", "2"])
        .args(["--master", "local-cluster[2,1,1024]", "--output", &output])
        .args(["--statistics", &statistics])
        .args(QUICK.iter().flat_map(|conf| ["--conf", conf]))
        .args(paths())
        .arg("--python")
        .arg(python)
        .env("TMPDIR", folder.at(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut said, mut killed) = (String::new(), false);
    for line in BufReader::new(job.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("messages read") && cfg!(target_os = "linux") {
            let pid = executors(job.id())[0];
            let kill = Command::new("kill").args(["-9", &pid.to_string()]).status();
            killed = kill.unwrap().success();
        }
        said.push_str(&line);
        said.push('\n');
    }
    assert!(job.wait().unwrap().success(), "{said}");
    assert!(killed || !cfg!(target_os = "linux"), "{said}");
    assert_eq!(written(&output), text(&expected.stdout), "{said}");
    // What was counted on the way is what a scan counts.
    let counted = ["--statistics", &statistics];
    let counted = twicetold(scan.into_iter().chain(counted).chain(paths()));
    assert_eq!(text(&counted.stdout), text(&expected.stdout));
}

#[test]
fn a_host_without_the_program_is_named() {
    let Some(python) = python(NEEDED) else {
        return;
    };
    let folder = Folder::new("cluster-without");
    let output = folder.at("verdicts");
    let run = twicetold(
        [
            "cluster", "scan", "--output", &output, "--master", "local[1]",
        ]
        .into_iter()
        .chain(["--python", python.to_str().unwrap()])
        .chain(["--executor-binary", "/no/such/twicetold"])
        .chain(SAMPLE),
    );
    assert_eq!(run.status.code(), Some(1));
    let said = text(&run.stderr);
    assert!(
        said.contains("has no program at /no/such/twicetold"),
        "{said}"
    );
    assert!(said.contains("hint: install twicetold"), "{said}");
    assert!(!Path::new(&output).exists());
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    let folder = Folder::new("cluster-refused");
    let there = folder.at("there");
    fs::create_dir(&there).unwrap();
    let run = twicetold(["cluster", "scan", "--output", &there, SAMPLE[0]]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("already"),
        "{}",
        text(&run.stderr)
    );
    let new = folder.at("new");
    let run = twicetold(["cluster", "scan", "--output", &new, &folder.at("nothing")]);
    assert_eq!(run.status.code(), Some(1));
    let little = ["--largest", "1", "--output", &new, SAMPLE[0]];
    let run = twicetold(["cluster", "scan"].into_iter().chain(little));
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("--largest"));
    let snake = ["--python", "/no/such/python", "--output", &new, SAMPLE[0]];
    let run = twicetold(["cluster", "scan"].into_iter().chain(snake));
    assert_eq!(run.status.code(), Some(1));
    let said = text(&run.stderr);
    assert!(
        said.contains("/no/such/python") && said.contains("scripts/spark"),
        "{said}"
    );
    assert!(!Path::new(&new).exists());
}

#[test]
fn help_teaches() {
    let run = twicetold(["cluster", "scan", "--help"]);
    assert_eq!(run.status.code(), Some(0));
    for word in ["--master", "--executor-binary", "docs/scale.md", "--keep"] {
        assert!(text(&run.stdout).contains(word), "{word}");
    }
}

/// A program that behaves as this script says, and is the real one otherwise.
fn program(folder: &Folder, script: &str) -> String {
    let path = folder.at("program");
    let real = env!("CARGO_BIN_EXE_twicetold");
    fs::write(
        &path,
        format!("#!/bin/sh\n{script}\nexec '{real}' \"$@\"\n"),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/cluster/spark");

/// Runs a script with the modules of the job; whether it ended well, and what it said.
fn script(python: &Path, script: &str, arguments: &[&str]) -> (bool, String) {
    let run = Command::new(python)
        .args(["-B", "-c", script, MODULES])
        .args(arguments)
        .env("PYSPARK_PYTHON", python)
        .env("SPARK_LOCAL_IP", "127.0.0.1")
        .output()
        .unwrap();
    let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
    (run.status.success(), said)
}

/// What a program does before it does what it is asked: it ends if it is asked for this, and given this word.
fn ended_by(asked: &str, word: &str, folder: &Folder) -> String {
    format!(
        "case \"$*\" in *{asked}*) cat >'{0}'; grep -q {word} '{0}' && kill -9 $$; exec <'{0}';; esac",
        folder.at("fed")
    )
}

/// What an executor makes of these files, line by line; no Spark is started for that.
fn read(program: &str, files: &[String]) -> Option<(bool, String)> {
    const READ: &str = "\
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa
import inputs, json, reading
settings = {'executor_binary': sys.argv[2], 'version': sys.argv[3], 'outlining': []}
pack = ''.join(json.dumps({'path': name, 'file': name, 'kind': 'named'}) + '\\n' for name in sys.argv[4:])
tasks = pa.RecordBatch.from_arrays([pa.array([0]), pa.array([pack])], ['side', 'lines'])
for batch in inputs.portions(settings, reading.Outlines(settings))(iter([tasks])):
    for row in batch.to_pylist():
        print(row['path'], row['content'] is not None, row['problems'])
";
    let version = concat!("twicetold ", env!("CARGO_PKG_VERSION"));
    let files = files.iter().map(String::as_str);
    let arguments: Vec<&str> = [program, version].into_iter().chain(files).collect();
    Some(script(&python(NEEDED)?, READ, &arguments))
}

#[test]
fn a_message_that_ends_the_program_is_left_out_and_named() {
    let folder = Folder::new("cluster-poison");
    let files = ["good.eml", "poison.eml", "missing.eml"].map(|name| folder.at(name));
    for file in &files[..2] {
        fs::write(file, "Subject: Hello\n\nThe harbour is closed on Monday.\n").unwrap();
    }
    let ended = program(&folder, &ended_by("entries", "poison.eml", &folder));
    let Some((success, said)) = read(&ended, &files) else {
        return;
    };
    assert!(success, "{said}");
    assert!(said.contains("good.eml True []"), "{said}");
    let line = |name: &str| said.lines().find(|line| line.contains(name)).unwrap();
    assert!(line("poison.eml").contains("signal 9"), "{said}");
    assert!(line("missing.eml").contains("every host"), "{said}");
}

#[test]
fn a_full_disk_is_told_with_its_host() {
    const FULL: &str = "\
import resource, sys
sys.path.insert(0, sys.argv[1])
import door
settings = {'executor_binary': sys.argv[2], 'version': sys.argv[3]}
arguments = ['sketch', '--for', 'scan', '--with-message', '--format', 'arrow', '--quiet'] + sys.argv[4:]
print('rows:', sum(batch.num_rows for batch in door.whole(settings, arguments, None)))
# A file of more than a few bytes is refused, as it is on a disk that is full.
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    list(door.whole(settings, arguments, None))
except door.Full as trouble:
    print('told:', trouble)
";
    let Some(python) = python(NEEDED) else { return };
    let version = concat!("twicetold ", env!("CARGO_PKG_VERSION"));
    let program = env!("CARGO_BIN_EXE_twicetold");
    let arguments: Vec<&str> = [program, version].into_iter().chain(SAMPLE).collect();
    let (success, said) = script(&python, FULL, &arguments);
    assert!(success && said.contains("rows: 50"), "{said}");
    let told = said.lines().find(|line| line.starts_with("told: host "));
    assert!(told.is_some_and(|told| told.contains("TMPDIR")), "{said}");
}

#[test]
fn another_version_is_refused() {
    let folder = Folder::new("cluster-version");
    let other = program(
        &folder,
        "[ \"$1\" = --version ] && echo 'twicetold 0.0.1' && exit",
    );
    let Some((success, said)) = read(&other, &[folder.at("a.eml")]) else {
        return;
    };
    assert!(!success);
    assert!(said.contains("has twicetold 0.0.1"), "{said}");
    assert!(
        said.contains("install the same version everywhere"),
        "{said}"
    );
}

/// What becomes of parts: the group, the path, whether it is there to be asked only, and the message.
fn judge(program: &str, statistics: &str) -> Option<(bool, String)> {
    const JUDGE: &str = "\
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa
import judging
settings = {'executor_binary': sys.argv[2], 'version': sys.argv[3], 'largest': '1M', 'deciding': []}
judging.statistics = lambda settings, arguments: lambda: arguments + ['--statistics', sys.argv[4]]
mail = lambda text: ('Subject: x\\n\\n' + text).encode()
rows = [(1, 'a', 0, 'The harbour is closed on Monday because of the storm.'),
        (1, 'b', 0, 'The harbour is closed on Monday because of the storm.'),
        (2, 'c', 0, 'This message has something to say about the harbour, at some length, and then there is POISON in it.'),
        (2, 'd', 1, 'This is only asked.'),
        (3, 'e', 0, 'The museum opens at nine, and the guide speaks French.')]
columns = {'group': [r[0] for r in rows], 'path': [r[1] for r in rows], 'offset': pa.array([None] * 5, pa.int64()),
           'form': ['mail'] * 5, 'message': [mail(r[3]) for r in rows], 'whole_rank': range(5),
           'whole_thread': range(5), 'whole_context': [r[2] for r in rows]}
table = pa.table(columns)
def judged():
    batches = judging.judge(settings, 1)(iter(table.to_batches(max_chunksize=2)))
    return [line for batch in batches for line in batch.column(0).to_pylist()]
lines = judged()
# Parts that are too large for memory wait in a file, and come out of it as they went in.
judging.TOGETHER, judging.AT_ONCE = 100, 1
assert judged() == lines, judged()
print(*lines, sep='\\n')
";
    let version = concat!("twicetold ", env!("CARGO_PKG_VERSION"));
    Some(script(
        &python(NEEDED)?,
        JUDGE,
        &[program, version, statistics],
    ))
}

#[test]
fn a_part_that_ends_the_program_stays_and_the_others_are_judged() {
    let folder = Folder::new("cluster-parts");
    let statistics = folder.at("statistics");
    fs::write(
        &statistics,
        [b"twicetold statistics 1\n".as_slice(), &[0xFF; 64]].concat(),
    )
    .unwrap();
    // Arrow fills buffers up to 64 bytes with what stands behind, so the word stands further than that from the part before.
    let ended = program(&folder, &ended_by("judge", "POISON", &folder));
    let Some((success, said)) = judge(&ended, &statistics) else {
        return;
    };
    assert!(success, "{said}");
    let line = |path: &str| {
        let begins = format!("{{\"schema\":1,\"path\":\"{path}\",");
        said.lines()
            .find(|line| line.starts_with(&begins))
            .unwrap_or_default()
    };
    assert!(line("a").contains("\"unique\""), "{said}");
    assert!(line("b").contains("\"redundant\""), "{said}");
    assert!(
        line("c").contains("\"unreadable\"") && line("c").contains("signal 9"),
        "{said}"
    );
    assert!(line("d").is_empty(), "{said}");
    assert!(line("e").ends_with("\"problems\":[]}"), "{said}");
}

#[test]
fn parts_are_found_on_executors_in_a_few_rounds() {
    const FIND: &str = "\
import math, sys
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
import components
spark = SparkSession.builder.master('local[2]')
for conf in sys.argv[3:]:
    spark = spark.config(*conf.split('=', 1))
spark = spark.getOrCreate()
spark.sparkContext.setLogLevel('ERROR')
spark.sparkContext.setCheckpointDir(sys.argv[2])
# A chain whose numbers jump about, a star, a ring, and two that stand alone.
chain = [(i * 37 % 101, (i + 1) * 37 % 101) for i in range(100)]
star = [(500, n) for n in range(501, 540)]
ring = [(600 + n, 600 + (n + 1) % 7) for n in range(7)]
edges = spark.createDataFrame(chain + star + ring + [(801, 800)], 'a long, b long')
rounds = []
found = sorted(map(tuple, components.on_executors(edges, lambda rows: rows.checkpoint(), rounds).collect()))
expected = [(n, 0) for n in range(101)] + [(n, 500) for n in range(500, 540)]
expected += [(n, 600) for n in range(600, 607)] + [(800, 800), (801, 800)]
assert found == expected, found
assert sorted(map(tuple, components.in_one_task(edges).collect())) == expected
assert len(rounds) <= 2 + math.log2(101), rounds
print('rounds:', len(rounds))
spark.stop()
";
    let Some(python) = python(NEEDED) else { return };
    let folder = Folder::new("cluster-components");
    let checkpoints = folder.at("checkpoints");
    let more = ["spark.sql.shuffle.partitions=2", "spark.ui.enabled=false"];
    let arguments: Vec<&str> = [checkpoints.as_str()]
        .into_iter()
        .chain(QUICK)
        .chain(more)
        .collect();
    let (success, said) = script(&python, FIND, &arguments);
    assert!(success && said.contains("rounds: "), "{said}");
}
