//! Little's law as a lie detector: where did the users' time go?

use serde::{Deserialize, Serialize};
use slowpath_core::nanos::Span;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::Samples;

/// Time of users that may be unaccounted for before the law counts as violated: 5 %, the ends of
/// windows and the client's own work between two requests.
pub const SLACK: f64 = 0.05;

/// What the users of a closed loop did with their time. By Little's law (1961) the number of
/// users is throughput times mean latency (and think time), if all users wait for an answer
/// that comes in the end. Where failed requests take their time, it is not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Little {
    /// Users over completed requests a second, without the think time, in milliseconds: what the
    /// mean latency would be if all of them waited for answers all the time; `null` if none was
    /// completed.
    pub expected_ms: Option<f64>,
    /// The mean latency of completed requests, in milliseconds.
    pub mean_ms: Option<f64>,
    /// Share of the users' time in requests that were completed.
    pub completed: f64,
    /// Share in requests that failed, dialling included.
    pub failed: f64,
    /// Share in requests that the end of the load overtook.
    pub unfinished: f64,
    /// Of this, the share in requests that had taken longer than any that was completed: the others
    /// were merely under way.
    pub hung: f64,
    /// Share between requests: thinking, or the client's own work.
    pub between: f64,
    /// Whether users think between requests.
    pub thinks: bool,
}

impl Little {
    /// Adds up the time of requests inside the window, whenever they began.
    pub(super) fn of(samples: &Samples, window: Span, users: u32, think_ns: f64) -> Option<Self> {
        let whole = window.len_ns() as f64 * f64::from(users);
        if whole <= 0.0 {
            return None;
        }
        let ok = samples.iter().filter(|s| s.outcome() == Outcome::Ok);
        let longest_ns = ok.map(|s| s.span().len_ns()).max().unwrap_or_default();
        let (mut shares, mut hung) = ([0.0; 3], 0.0);
        let (mut count, mut latency_ns) = (0_u64, 0.0);
        for sample in samples {
            let place = match sample.outcome() {
                Outcome::Ok => 0,
                Outcome::Unfinished => 2,
                _ => 1,
            };
            let share = sample.span().overlap_ns(window) as f64 / whole;
            shares[place] += share;
            if sample.outcome() == Outcome::Unfinished && sample.span().len_ns() > longest_ns {
                hung += share;
            }
            let inside = window.begin <= sample.done() && sample.done() < window.end;
            if sample.outcome() == Outcome::Ok && inside {
                count += 1;
                latency_ns += sample.latency_ns() as f64;
            }
        }
        let [completed, failed, unfinished] = shares;
        let between = (1.0 - completed - failed - unfinished).max(0.0);
        let each_ms = |sum_ns: f64| (count > 0).then(|| sum_ns / count as f64 / 1e6);
        Some(Self {
            expected_ms: each_ms(whole).map(|ms| ms - think_ns / 1e6),
            mean_ms: each_ms(latency_ns),
            completed,
            failed,
            unfinished,
            hung,
            between,
            thinks: think_ns > 0.0,
        })
    }

    /// Share of the users' time in requests that never came to an answer.
    pub fn lost(&self) -> f64 {
        self.failed + self.hung
    }

    /// Whether users spent their time otherwise than waiting for answers that came (or thinking).
    pub fn is_violated(&self) -> bool {
        let idle = if self.thinks { 0.0 } else { self.between };
        self.lost() + idle > SLACK
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;
    use slowpath_core::sample::Sample;

    use super::*;

    fn sample(begin: u64, end: u64, outcome: Outcome) -> Sample {
        Sample {
            done: Nanos::new(end),
            outcome,
            ..Sample::due(Nanos::new(begin))
        }
    }

    #[test]
    fn users_who_wait_for_answers_obey_the_law() {
        // Two users, one second, requests of 100 ms back to back; both ends lie outside.
        let ms = 1_000_000;
        let window = Span::new(Nanos::new(1000 * ms), Nanos::new(2000 * ms));
        let samples: Samples = (0..22)
            .map(|i| 950 + (i / 2) * 100)
            .map(|at| sample(at * ms, (at + 100) * ms, Outcome::Ok))
            .collect();
        let found = Little::of(&samples, window, 2, 0.0).unwrap();
        assert!((found.completed - 1.0).abs() < 1e-9, "{found:?}");
        assert!(!found.is_violated());
        assert!((found.mean_ms.unwrap() - 100.0).abs() < 1e-9);
        assert!((found.expected_ms.unwrap() - 100.0).abs() < 1e-9);
        let half = Little::of(&samples, window, 4, 0.0).unwrap();
        assert!((half.between - 0.5).abs() < 1e-9 && half.is_violated());
        let thinking = Little::of(&samples, window, 4, 100.0 * ms as f64).unwrap();
        assert!(!thinking.is_violated());
        assert!((thinking.expected_ms.unwrap() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_under_way_at_the_end_is_not_lost_but_what_hangs_is() {
        let window = Span::new(Nanos::new(1000), Nanos::new(3000));
        let user = |end: u64| {
            Samples::from_iter([
                sample(1000, 2100, Outcome::Ok),
                sample(2100, end, Outcome::Unfinished),
            ])
        };
        let under_way = Little::of(&user(3000), window, 1, 0.0).unwrap();
        assert!((under_way.unfinished - 0.45).abs() < 1e-9 && under_way.lost() == 0.0);
        assert!(!under_way.is_violated(), "{under_way:?}");
        let hangs = Samples::from_iter([
            sample(1000, 1100, Outcome::Ok),
            sample(1100, 3000, Outcome::Unfinished),
        ]);
        let hangs = Little::of(&hangs, window, 1, 0.0).unwrap();
        assert!((hangs.lost() - 0.95).abs() < 1e-9 && hangs.is_violated());
    }

    #[test]
    fn a_storm_of_reconnects_violates_it() {
        // A tenth of the time is spent on answers, the rest on resets.
        let window = Span::new(Nanos::new(1000), Nanos::new(11_000));
        let answered = sample(1000, 2000, Outcome::Ok);
        let resets = (0..90).map(|i| sample(2000 + i * 100, 2100 + i * 100, Outcome::Reset));
        let all: Samples = std::iter::once(answered).chain(resets).collect();
        let found = Little::of(&all, window, 1, 0.0).unwrap();
        assert!((found.failed - 0.9).abs() < 1e-9 && found.is_violated());
        assert!(found.expected_ms.unwrap() > 9.0 * found.mean_ms.unwrap());
        assert_eq!(Little::of(&all, window, 0, 0.0), None);
    }
}
