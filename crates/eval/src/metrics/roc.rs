//! The measures of the TREC spam track.

use serde::{Deserialize, Serialize};

/// What a filter said of one message.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filtered {
    /// Whether it is spam in truth.
    pub spam: bool,
    /// How much the filter thinks it is.
    pub score: f64,
    /// Whether the filter called it spam.
    pub called: bool,
}

/// The measures of a run, in percent as the track gives them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roc {
    /// Legitimate messages.
    pub ham: usize,
    /// Spam messages.
    pub spam: usize,
    /// hm%: legitimate messages that the filter called spam.
    pub hm: f64,
    /// sm%: spam that the filter did not call spam.
    pub sm: f64,
    /// lam%: the logistic average of both.
    pub lam: f64,
    /// (1 − ROCA)%: the area above the curve.
    pub above: f64,
    /// sm% where hm% is at most 0.1.
    pub sm_at_tenth: f64,
    /// The curve: (hm%, sm%) for every threshold, from the highest down.
    pub curve: Vec<(f64, f64)>,
}

impl Roc {
    /// The measures of a run. Messages with equal scores are one point of the curve.
    pub fn of(run: &[Filtered]) -> Self {
        let count = |spam: bool| run.iter().filter(|one| one.spam == spam).count();
        let (ham, spam) = (count(false), count(true));
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let wrong_ham = run.iter().filter(|one| !one.spam && one.called).count();
        let wrong_spam = run.iter().filter(|one| one.spam && !one.called).count();
        let mut sorted: Vec<&Filtered> = run.iter().collect();
        sorted.sort_by(|a, b| b.score.total_cmp(&a.score));
        let (mut alarms, mut caught) = (0, 0);
        let mut curve = vec![(0.0, 100.0)];
        // Twice the pairs of ham and spam that stand in the wrong order; equal scores are half wrong.
        let mut wrong_order = 0_u128;
        for same in sorted.chunk_by(|a, b| a.score == b.score) {
            let spam_here = same.iter().filter(|one| one.spam).count();
            let ham_here = same.len() - spam_here;
            wrong_order += 2 * alarms as u128 * spam_here as u128;
            wrong_order += ham_here as u128 * spam_here as u128;
            alarms += ham_here;
            caught += spam_here;
            curve.push((share(alarms, ham), share(spam - caught, spam)));
        }
        let pairs = 2 * ham as u128 * spam as u128;
        let reachable = curve.iter().filter(|(hm, _)| *hm <= 0.1 + 1e-9);
        Self {
            ham,
            spam,
            hm: share(wrong_ham, ham),
            sm: share(wrong_spam, spam),
            lam: lam(wrong_ham, ham, wrong_spam, spam),
            above: 100.0 * wrong_order as f64 / pairs.max(1) as f64,
            sm_at_tenth: reachable.map(|point| point.1).fold(100.0, f64::min),
            curve,
        }
    }

    /// The least sm% where hm% is at most this.
    pub fn sm_at(&self, hm: f64) -> f64 {
        let reachable = self.curve.iter().filter(|point| point.0 <= hm + 1e-9);
        reachable.map(|point| point.1).fold(100.0, f64::min)
    }

    /// The lowest score with which at most this percentage of legitimate messages is alarmed.
    pub fn threshold(run: &[Filtered], hm: f64) -> f64 {
        let mut ham: Vec<f64> = run
            .iter()
            .filter(|one| !one.spam)
            .map(|one| one.score)
            .collect();
        ham.sort_by(|a, b| b.total_cmp(a));
        let allowed = (ham.len() as f64 * hm / 100.0 + 1e-9) as usize;
        // Above the first score that would be one alarm too many.
        ham.get(allowed).map_or(f64::MIN_POSITIVE, |&score| {
            f64::from_bits(score.max(0.0).to_bits() + 1)
        })
    }
}

/// lam%: the mean of both error rates on the scale of log odds, with half an error added as the track's tools do.
pub fn lam(wrong_ham: usize, ham: usize, wrong_spam: usize, spam: usize) -> f64 {
    let odds = |wrong: usize, all: usize| {
        let rate = (wrong as f64 + 0.5) / (all as f64 + 1.0);
        (rate / (1.0 - rate)).ln()
    };
    let mean = (odds(wrong_ham, ham) + odds(wrong_spam, spam)) / 2.0;
    100.0 / (1.0 + (-mean).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scores: &[(bool, f64)]) -> Vec<Filtered> {
        let called = |score| score >= 0.5;
        scores
            .iter()
            .map(|&(spam, score)| Filtered {
                spam,
                score,
                called: called(score),
            })
            .collect()
    }

    #[test]
    fn a_perfect_and_a_useless_filter() {
        let perfect = Roc::of(&run(&[
            (true, 0.9),
            (true, 0.8),
            (false, 0.1),
            (false, 0.2),
        ]));
        assert_eq!(
            (perfect.above, perfect.hm, perfect.sm, perfect.sm_at_tenth),
            (0.0, 0.0, 0.0, 0.0)
        );
        let blind = Roc::of(&run(&[(true, 0.0), (false, 0.0), (true, 0.0)]));
        assert_eq!(
            (blind.above, blind.sm, blind.sm_at_tenth),
            (50.0, 100.0, 100.0)
        );
        let wrong = Roc::of(&run(&[(true, 0.1), (false, 0.9)]));
        assert_eq!(wrong.above, 100.0);
    }

    #[test]
    fn known_values() {
        // Of four pairs one stands in the wrong order: a quarter above the curve.
        let roc = Roc::of(&run(&[
            (true, 0.9),
            (false, 0.7),
            (true, 0.6),
            (false, 0.1),
        ]));
        assert_eq!(roc.above, 25.0);
        assert_eq!((roc.hm, roc.sm), (50.0, 0.0));
        assert_eq!(
            roc.curve,
            [
                (0.0, 100.0),
                (0.0, 50.0),
                (50.0, 50.0),
                (50.0, 0.0),
                (100.0, 0.0)
            ]
        );
        assert_eq!(roc.sm_at_tenth, 50.0);
        assert_eq!(roc.sm_at(50.0), 0.0);
    }

    #[test]
    fn the_logistic_average() {
        // Equal rates average to themselves: 9.5 of 100 and 99.5 of 1,001 … (n + .5) / (N + 1).
        assert!((lam(0, 0, 0, 0) - 50.0).abs() < 1e-9);
        let rate = 100.0 * 10.5 / 101.0;
        assert!((lam(10, 100, 10, 100) - rate).abs() < 1e-9);
        // One per cent and ninety-nine per cent are even odds.
        assert!((lam(1, 101, 100, 101) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_threshold_lets_no_more_alarms_through() {
        let scores: Vec<(bool, f64)> = (0..1000).map(|n| (false, f64::from(n) / 1000.0)).collect();
        let run = run(&scores);
        for (hm, allowed) in [(0.0, 0), (0.1, 1), (5.0, 50), (100.0, 1000)] {
            let threshold = Roc::threshold(&run, hm);
            assert_eq!(
                run.iter().filter(|one| one.score >= threshold).count(),
                if allowed == 1000 { 999 } else { allowed }
            );
        }
    }
}
