//! What a busy host does to latencies is no change of the service.
//!
//! Timers that wake threads late move every latency by as much. Where the host was unfit while the
//! releases on one side of a change were measured, a change no larger than that lateness may be its
//! doing, however often it was repeated: nothing of the chance of a change knows of it.

use slowpath_core::figures::{HostNoise, Unit};
use slowpath_core::stats::change::Change;
use slowpath_core::stats::median::median;

use super::newest::{Basis, Newest};
use super::releases::OfRelease;
use crate::compare::Verdict;

/// Below this score a host is in the figures as much as the service: the bar of its health's grade.
const UNFIT_BELOW: f64 = 60.0;

/// The host while the known releases of a track were measured.
pub(super) struct Host {
    /// Of each known release the scores and latenesses of its runs; none where the track is of
    /// something else than time.
    releases: Vec<Vec<HostNoise>>,
}

impl Host {
    pub(super) fn of(unit: Unit, known: &[(usize, f64)], releases: &[OfRelease<'_>]) -> Self {
        let of = |&(at, _): &(usize, f64)| match unit {
            Unit::Ns => releases[at]
                .runs
                .iter()
                .filter_map(|run| run.host)
                .collect(),
            _ => Vec::new(),
        };
        Self {
            releases: known.iter().map(of).collect(),
        }
    }

    /// Of each change, whether the host of one of its sides may have made it.
    pub(super) fn sides(&self, changes: &[Change]) -> Vec<bool> {
        let begins = changes.iter().map(|change| change.at);
        let bounds: Vec<usize> = [0]
            .into_iter()
            .chain(begins)
            .chain([self.releases.len()])
            .collect();
        let sides = bounds.windows(3).zip(changes);
        sides
            .map(|(bounds, change)| {
                let by = (change.after - change.before).abs();
                self.explains(bounds[0]..bounds[1], by) || self.explains(bounds[1]..bounds[2], by)
            })
            .collect()
    }

    /// The newest release, of which nothing is told if the host may have made it what it is.
    pub(super) fn weighed(&self, newest: Newest, changes: &[Change]) -> Newest {
        let last = self.releases.len() - 1;
        let began = changes.last().map_or(0, |change| change.at);
        let by = match newest.basis {
            Basis::Change => changes.last().map(|change| change.after - change.before),
            _ => newest.expected.map(|expected| newest.value - expected),
        };
        let told = !matches!(newest.verdict, Verdict::Same | Verdict::CannotTell);
        let explained = |by: f64| {
            let earlier = match newest.basis {
                Basis::Change => 0..began,
                _ => began..last,
            };
            self.explains(earlier, by.abs()) || self.explains(last..last + 1, by.abs())
        };
        if !told || !by.is_some_and(explained) {
            return newest;
        }
        Newest {
            is_hosts: true,
            is_suspect: true,
            verdict: Verdict::CannotTell,
            ..newest
        }
    }

    /// Whether the host of some releases may have moved a latency by so many nanoseconds.
    fn explains(&self, releases: std::ops::Range<usize>, by_ns: f64) -> bool {
        let noise: Vec<&HostNoise> = self.releases[releases].iter().flatten().collect();
        let of = |what: fn(&HostNoise) -> f64| {
            let mut values: Vec<f64> = noise.iter().map(|noise| what(noise)).collect();
            median(&mut values)
        };
        let score = of(|noise| f64::from(noise.score));
        let late = of(|noise| noise.late_ns);
        score.is_some_and(|score| score < UNFIT_BELOW) && late.is_some_and(|late| late >= by_ns)
    }
}
