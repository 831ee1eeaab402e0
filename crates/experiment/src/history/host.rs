//! What a busy host does to latencies is no change of the service.
//!
//! Timers that wake threads late move every latency by as much. Where the host was unfit while the
//! releases on one side of a change were measured, a change no larger than what its timers were
//! later by may be its doing, however often it was repeated: nothing of the chance of a change knows
//! of it.

use std::ops::Range;

use slowpath_core::figures::{HostNoise, POOR_BELOW, Unit};
use slowpath_core::stats::change::Change;
use slowpath_core::stats::median::median;

use super::newest::{Basis, Newest};
use super::releases::OfRelease;
use crate::compare::Verdict;

/// The host while the known releases of a track were measured.
pub(super) struct Host {
    /// Of each known release the scores and latenesses of its runs; none where the track is of
    /// something else than time.
    releases: Vec<Vec<HostNoise>>,
}

/// Medians over hosts.
#[derive(Clone, Copy)]
pub(crate) struct Typical {
    pub(crate) score: f64,
    pub(crate) late_ns: f64,
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

    /// Of each change, whether the host of its two sides may have made it.
    pub(super) fn sides(&self, changes: &[Change]) -> Vec<bool> {
        let levels = self.levels(changes);
        let sides = levels.windows(2).zip(changes);
        sides
            .map(|(sides, change)| {
                let by_ns = change.after - change.before;
                self.explain(sides[0].clone(), sides[1].clone(), by_ns)
            })
            .collect()
    }

    /// The releases of each level: before the first change, between two, and after the last.
    fn levels(&self, changes: &[Change]) -> Vec<Range<usize>> {
        let begins = [0]
            .into_iter()
            .chain(changes.iter().map(|change| change.at));
        let ends = changes.iter().map(|change| change.at);
        let ends = ends.chain([self.releases.len()]);
        begins.zip(ends).map(|(begin, end)| begin..end).collect()
    }

    /// The newest release, of which nothing is reported if the host may have made it what it is.
    pub(super) fn weighed(&self, newest: Newest, changes: &[Change]) -> Newest {
        let last = self.releases.len() - 1;
        let levels = self.levels(changes);
        let earlier = match (newest.basis, levels.as_slice()) {
            (Basis::Change, [.., before, _]) => before.clone(),
            (_, levels) => levels.last().map_or(0, |own| own.start)..last,
        };
        let by = match newest.basis {
            Basis::Change => changes.last().map(|change| change.after - change.before),
            _ => newest.expected.map(|expected| newest.value - expected),
        };
        let told = !matches!(newest.verdict, Verdict::Same | Verdict::CannotTell);
        if !told || !by.is_some_and(|by_ns| self.explain(earlier, last..last + 1, by_ns)) {
            return newest;
        }
        Newest {
            is_hosts: true,
            is_suspect: true,
            verdict: Verdict::CannotTell,
            ..newest
        }
    }

    /// Whether the hosts of two stretches of releases may have moved a latency by so many nanoseconds.
    fn explain(&self, before: Range<usize>, after: Range<usize>, by_ns: f64) -> bool {
        let of = |releases: Range<usize>| self.releases[releases].concat();
        may_have_moved(&of(before), &of(after), by_ns)
    }
}

/// Whether hosts may have moved a latency by so many nanoseconds from some runs to others: one side was
/// unfit, and timers were later by as much on the slower side. A host that is as unfit before as after
/// moves nothing, however late its timers are. What is not known of one side leaves all that the other
/// was late by.
pub(crate) fn may_have_moved(before: &[HostNoise], after: &[HostNoise], by_ns: f64) -> bool {
    let (before, after) = (Typical::of(before), Typical::of(after));
    let both = [before, after].into_iter().flatten();
    let moved_ns = match (before, after) {
        (Some(before), Some(after)) => (after.late_ns - before.late_ns) * by_ns.signum(),
        (known, None) | (None, known) => known.map_or(0.0, |host| host.late_ns),
    };
    both.into_iter().any(Typical::is_unfit) && moved_ns >= by_ns.abs()
}

impl Typical {
    /// What hosts were in the middle, if any is known.
    pub(crate) fn of(noise: &[HostNoise]) -> Option<Self> {
        let of = |what: fn(&HostNoise) -> f64| {
            let mut values: Vec<f64> = noise.iter().map(what).collect();
            median(&mut values)
        };
        Some(Self {
            score: of(|noise| f64::from(noise.score))?,
            late_ns: of(|noise| noise.late_ns)?,
        })
    }

    /// Whether figures are the host's as much as the service's.
    pub(crate) fn is_unfit(self) -> bool {
        self.score < POOR_BELOW.into()
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

    #[test]
    fn a_host_that_is_always_unfit_hides_no_change() {
        let changes = [change(7, 1.0, 1.5)];
        let newest = || newest(Basis::Level, 3.0, Some(1.5));
        let always = host(&[(7, 20, 2.3), (8, 20, 2.4)]);
        assert_eq!(always.sides(&changes), [false]);
        assert!(!always.weighed(newest(), &changes).is_hosts);
        // Worse than it was, by more than the service seems to be.
        let worse = host(&[(7, 40, 1.0), (7, 20, 2.3), (1, 10, 6.0)]);
        assert_eq!(worse.sides(&changes), [true]);
        assert!(worse.weighed(newest(), &changes).is_hosts);
        // A host that became fit makes nothing slower.
        let better = host(&[(7, 20, 2.3), (8, 90, 0.1)]);
        assert_eq!(better.sides(&changes), [false]);
        // The host was not measured before.
        let mut unheard = host(&[(7, 90, 0.1), (8, 20, 2.3)]);
        unheard.releases[..7].fill(Vec::new());
        assert_eq!(unheard.sides(&changes), [true]);
    }
}
