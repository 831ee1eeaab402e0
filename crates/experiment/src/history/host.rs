//! What a busy host does to latencies is no change of the service.
//!
//! Timers that wake threads late move every latency by as much. Where the host was unfit while the
//! releases on one side of a change were measured, a change no larger than that lateness may be its
//! doing, however often it was repeated: nothing of the chance of a change knows of it.

use std::ops::Range;

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
        let levels = self.levels(changes);
        let sides = levels.windows(2).zip(changes);
        sides
            .map(|(sides, change)| {
                let by = (change.after - change.before).abs();
                sides.iter().any(|side| self.explains(side.clone(), by))
            })
            .collect()
    }

    /// The releases of each level: before the first change, between two, and behind the last.
    fn levels(&self, changes: &[Change]) -> Vec<Range<usize>> {
        let begins = [0]
            .into_iter()
            .chain(changes.iter().map(|change| change.at));
        let ends = changes.iter().map(|change| change.at);
        let ends = ends.chain([self.releases.len()]);
        begins.zip(ends).map(|(begin, end)| begin..end).collect()
    }

    /// The newest release, of which nothing is told if the host may have made it what it is.
    pub(super) fn weighed(&self, newest: Newest, changes: &[Change]) -> Newest {
        let last = self.releases.len() - 1;
        let levels = self.levels(changes);
        let by = match newest.basis {
            Basis::Change => changes.last().map(|change| change.after - change.before),
            _ => newest.expected.map(|expected| newest.value - expected),
        };
        let told = !matches!(newest.verdict, Verdict::Same | Verdict::CannotTell);
        let explained = |by: f64| {
            let earlier = match (newest.basis, levels.as_slice()) {
                (Basis::Change, [.., before, _]) => before.clone(),
                (_, [.., own]) => own.start..last,
                _ => 0..last,
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
    fn explains(&self, releases: Range<usize>, by_ns: f64) -> bool {
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

#[cfg(test)]
mod tests {
    use super::super::newest::Place;
    use super::*;

    const MS: f64 = 1e6;

    /// Releases of one run each, by the score of its host and the lateness of its timers.
    fn host(releases: &[(usize, u32, f64)]) -> Host {
        let of = |&(n, score, late_ms): &(usize, u32, f64)| {
            let late_ns = late_ms * MS;
            vec![vec![HostNoise { score, late_ns }]; n]
        };
        Host {
            releases: releases.iter().flat_map(of).collect(),
        }
    }

    fn change(at: usize, before_ms: f64, after_ms: f64) -> Change {
        Change {
            at,
            before: before_ms * MS,
            after: after_ms * MS,
            ratio: after_ms / before_ms,
            p: 0.001,
            is_suspect: false,
        }
    }

    fn newest(basis: Basis, value_ms: f64, expected_ms: Option<f64>) -> Newest {
        Newest {
            release: "v15".to_owned(),
            value: value_ms * MS,
            earlier: 14,
            place: Place::Within,
            basis,
            expected: expected_ms.map(|ms| ms * MS),
            low: None,
            high: None,
            p: None,
            detectable: None,
            is_suspect: false,
            is_hosts: false,
            verdict: Verdict::Worse,
        }
    }

    #[test]
    fn a_regression_is_judged_by_the_hosts_of_its_own_two_levels() {
        let changes = [change(7, 1.5, 1.0), change(13, 1.0, 1.5)];
        let then_fit = host(&[(7, 20, 2.3), (6, 90, 0.1), (2, 90, 0.1)]);
        assert_eq!(then_fit.sides(&changes), [true, false]);
        let told = then_fit.weighed(newest(Basis::Change, 1.5, None), &changes);
        assert_eq!((told.is_hosts, told.verdict), (false, Verdict::Worse));

        let then_unfit = host(&[(7, 90, 0.1), (6, 90, 0.1), (2, 20, 2.3)]);
        assert_eq!(then_unfit.sides(&changes), [false, true]);
        let told = then_unfit.weighed(newest(Basis::Change, 1.5, None), &changes);
        assert_eq!((told.is_hosts, told.verdict), (true, Verdict::CannotTell));
    }
}
