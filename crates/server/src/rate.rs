//! How often may somebody ask?

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// More than this many are not remembered: then those who waited are forgotten, and all begin anew.
const MOST: usize = 16_384;

/// A bucket for each asker: it fills with the permitted rate and holds ten seconds' worth.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Lets somebody ask once more, or says how long to wait.
    pub(crate) fn ask(&self, who: &str, per_minute: u32, now: Instant) -> Result<(), Duration> {
        if per_minute == 0 {
            return Ok(());
        }
        let rate = f64::from(per_minute) / 60.0;
        let room = (rate * 10.0).max(1.0);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(who) {
            // A bucket that is full again says nothing.
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at).as_secs() < 10);
            if buckets.len() >= MOST {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(who.to_owned()).or_insert(Bucket {
            left: room,
            at: now,
        });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + since * rate).min(room);
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.left) / rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_and_bursts_end() {
        let rates = Rates::default();
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        // Sixty a minute: ten at once, then one a second.
        for _ in 0..10 {
            assert!(rates.ask("anna", 60, at(0.0)).is_ok());
        }
        let wait = rates.ask("anna", 60, at(0.0)).unwrap_err();
        assert!((wait.as_secs_f64() - 1.0).abs() < 0.01);
        assert!(rates.ask("berta", 60, at(0.0)).is_ok());
        assert!(rates.ask("anna", 0, at(0.0)).is_ok());
        assert!(rates.ask("anna", 60, at(1.01)).is_ok());
        assert!(rates.ask("anna", 60, at(1.02)).is_err());
        // One a minute is one now.
        assert!(rates.ask("clara", 1, at(0.0)).is_ok());
        assert!(rates.ask("clara", 1, at(30.0)).is_err());
        assert!(rates.ask("clara", 1, at(61.0)).is_ok());
    }

    #[test]
    fn many_askers_take_little_memory() {
        let rates = Rates::default();
        let now = Instant::now();
        for one in 0..3 * MOST {
            assert!(rates.ask(&one.to_string(), 60, now).is_ok());
        }
        assert!(rates.buckets.lock().unwrap().len() <= MOST);
    }
}
