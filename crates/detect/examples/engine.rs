//! How long does the engine take by itself? `engine THREADS PATH…` scans, without a cache and without a report, and prints the seconds of each stage, how many processors were
//! busy in it (where the system tells), and a checksum of everything that was found: two versions that find the same print the same.

use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use foldhash::fast::FixedState;
use twicetold_detect::{Options, Progress, ScannedMessage, Stage, scan};
use twicetold_source::Collection;

/// When each stage began, and how many seconds of processors had been used by then.
#[derive(Default)]
struct Clock(Mutex<Vec<(Option<Stage>, Instant, f64)>>);

/// How many seconds of processors this process has used; nothing where the system does not tell.
fn used() -> f64 {
    let ticks = |text: String| -> Option<f64> {
        let behind = text.rsplit_once(')')?.1;
        let mut fields = behind.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<f64>().ok();
        Some(next()? + next()?)
    };
    let text = std::fs::read_to_string("/proc/self/stat");
    text.ok().and_then(ticks).unwrap_or_default() / 100.0
}

impl Clock {
    fn note(&self, stage: Option<Stage>) {
        if let Ok(mut begun) = self.0.lock() {
            begun.push((stage, Instant::now(), used()));
        }
    }
}

impl Progress for Clock {
    fn begin(&self, stage: Stage, _total: u64) {
        self.note(Some(stage));
    }

    fn advance(&self, _messages: u64, _bytes: u64) {}
}

fn checksum(messages: &[ScannedMessage]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for message in messages {
        hasher.write(format!("{message:?}").as_bytes());
    }
    hasher.finish()
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let threads = arguments.next().and_then(|threads| threads.parse().ok());
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let mut out = std::io::stdout().lock();
    let (Some(threads), false) = (threads, paths.is_empty()) else {
        return writeln!(out, "usage: engine THREADS PATH…");
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(std::io::Error::other)?;
    let clock = Clock::default();
    let found = pool.install(|| {
        let collection = Collection::open(&paths);
        scan(&collection, &Options::default(), &clock)
    });
    clock.note(None);
    let begun = clock.0.into_inner().unwrap_or_default();
    for pair in begun.windows(2) {
        if let [(Some(stage), from, before), (_, to, after)] = pair {
            let seconds = (*to - *from).as_secs_f64();
            let busy = (after - before) / seconds;
            writeln!(out, "{stage:?} {seconds:.2} ({busy:.1})")?;
        }
    }
    let whole = begun.first().zip(begun.last());
    let seconds = whole.map_or(0.0, |((_, from, _), (_, to, _))| {
        (*to - *from).as_secs_f64()
    });
    writeln!(out, "all {seconds:.2}, {:016x}", checksum(&found.messages))
}
