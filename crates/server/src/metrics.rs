//! What Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper ends of the buckets of times, in microseconds.
const TIMES: [u64; 12] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000,
];

/// What is counted while the server runs.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Answers, by route and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// How long answers took, by route.
    times: Mutex<BTreeMap<&'static str, Times>>,
    /// Checked messages by class: unknown, unsure, spam.
    classes: [AtomicU64; 3],
    /// Connections and requests that were refused because of a limit, by limit.
    refused: Mutex<BTreeMap<&'static str, u64>>,
    /// What the milter did with messages.
    milter: Mutex<BTreeMap<&'static str, u64>>,
    /// Failures of the state.
    pub(crate) state_errors: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    buckets: [u64; TIMES.len()],
    count: u64,
    microseconds: u64,
}

/// What is true at the moment of asking.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Now {
    pub(crate) connections: usize,
    pub(crate) sessions: usize,
    pub(crate) checks_waiting: usize,
    pub(crate) changes_waiting: usize,
    pub(crate) bytes_held: usize,
    pub(crate) log_lines_left_out: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    pub(crate) fn answered(&self, route: &'static str, status: u16, took: Duration) {
        *lock(&self.requests).entry((route, status)).or_default() += 1;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut times = lock(&self.times);
        let times = times.entry(route).or_default();
        if let Some(at) = TIMES.iter().position(|&end| micros <= end) {
            times.buckets[at] += 1;
        }
        times.count += 1;
        times.microseconds = times.microseconds.saturating_add(micros);
    }

    pub(crate) fn checked(&self, class: twicetold_service::Class) {
        if let Some(counter) = self.classes.get(class as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn refused(&self, limit: &'static str) {
        *lock(&self.refused).entry(limit).or_default() += 1;
    }

    pub(crate) fn milter(&self, what: &'static str) {
        *lock(&self.milter).entry(what).or_default() += 1;
    }

    /// The text format of Prometheus, version 0.0.4.
    pub(crate) fn text(&self, now: &Now) -> String {
        let mut out = String::with_capacity(4096);
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(
                out,
                "# HELP twicetold_{name} {help}\n# TYPE twicetold_{name} {kind}"
            );
        };
        head(&mut out, "build_info", "gauge", "The version that runs.");
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(out, "twicetold_build_info{{version=\"{version}\"}} 1");
        head(
            &mut out,
            "requests_total",
            "counter",
            "HTTP requests answered.",
        );
        for ((route, status), count) in lock(&self.requests).iter() {
            let _ = writeln!(
                out,
                "twicetold_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        let name = "request_seconds";
        head(
            &mut out,
            name,
            "histogram",
            "How long requests took, from their head to the answer.",
        );
        for (route, times) in lock(&self.times).iter() {
            let mut sum = 0;
            for (end, count) in TIMES.iter().zip(times.buckets) {
                sum += count;
                let end = *end as f64 / 1e6;
                let _ = writeln!(
                    out,
                    "twicetold_{name}_bucket{{route=\"{route}\",le=\"{end}\"}} {sum}"
                );
            }
            let (count, seconds) = (times.count, times.microseconds as f64 / 1e6);
            let _ = writeln!(
                out,
                "twicetold_{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}\n\
                 twicetold_{name}_sum{{route=\"{route}\"}} {seconds}\n\
                 twicetold_{name}_count{{route=\"{route}\"}} {count}"
            );
        }
        head(
            &mut out,
            "checks_total",
            "counter",
            "Messages checked, over HTTP and by the milter.",
        );
        for (class, count) in ["unknown", "unsure", "spam"].iter().zip(&self.classes) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(out, "twicetold_checks_total{{class=\"{class}\"}} {count}");
        }
        head(
            &mut out,
            "refused_total",
            "counter",
            "Requests and connections refused, by limit.",
        );
        for (limit, count) in lock(&self.refused).iter() {
            let _ = writeln!(out, "twicetold_refused_total{{limit=\"{limit}\"}} {count}");
        }
        head(
            &mut out,
            "milter_messages_total",
            "counter",
            "What the milter did with messages.",
        );
        for (action, count) in lock(&self.milter).iter() {
            let _ = writeln!(
                out,
                "twicetold_milter_messages_total{{action=\"{action}\"}} {count}"
            );
        }
        for (name, kind, help, value) in [
            (
                "state_errors_total",
                "counter",
                "Failures to read or change the campaigns.",
                self.state_errors.load(Ordering::Relaxed),
            ),
            (
                "log_lines_left_out_total",
                "counter",
                "Lines of the log that could not be written fast enough.",
                now.log_lines_left_out,
            ),
            (
                "connections",
                "gauge",
                "Open HTTP connections.",
                now.connections as u64,
            ),
            (
                "milter_sessions",
                "gauge",
                "Open milter sessions.",
                now.sessions as u64,
            ),
            (
                "held_bytes",
                "gauge",
                "Bytes of messages that are held in memory.",
                now.bytes_held as u64,
            ),
        ] {
            head(&mut out, name, kind, help);
            let _ = writeln!(out, "twicetold_{name} {value}");
        }
        head(
            &mut out,
            "queue",
            "gauge",
            "Requests that wait for a thread.",
        );
        let _ = writeln!(
            out,
            "twicetold_queue{{kind=\"check\"}} {}\ntwicetold_queue{{kind=\"change\"}} {}",
            now.checks_waiting, now.changes_waiting
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_help_type_or_a_number() {
        let metrics = Metrics::default();
        metrics.answered("/v1/check", 200, Duration::from_micros(300));
        metrics.answered("/v1/check", 200, Duration::from_secs(60));
        metrics.checked(twicetold_service::Class::Spam);
        metrics.refused("queue");
        metrics.milter("tag");
        let text = metrics.text(&Now::default());
        for line in text.lines().filter(|line| !line.starts_with("# ")) {
            let (name, number) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("twicetold_"), "{line}");
            assert!(number.parse::<f64>().is_ok(), "{line}");
            let family = name.split('{').next().unwrap();
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| family.strip_suffix(end))
                .unwrap_or(family);
            assert!(text.contains(&format!("# TYPE {base} ")), "{line}");
        }
        for line in [
            "twicetold_requests_total{route=\"/v1/check\",status=\"200\"} 2",
            "twicetold_request_seconds_bucket{route=\"/v1/check\",le=\"0.00025\"} 0",
            "twicetold_request_seconds_bucket{route=\"/v1/check\",le=\"0.0005\"} 1",
            "twicetold_request_seconds_bucket{route=\"/v1/check\",le=\"10\"} 1",
            "twicetold_request_seconds_bucket{route=\"/v1/check\",le=\"+Inf\"} 2",
            "twicetold_checks_total{class=\"spam\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
