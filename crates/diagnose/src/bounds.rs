//! What is known of a percentile that falls among requests which were given up.
//!
//! Each of those took at least as long as it was waited for. Sorted with the measured latencies,
//! the value at a rank is then a lower bound of the true latency at that rank, whatever order the
//! true latencies have: replacing some of the numbers by smaller ones moves no order statistic up.

use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::rank;
use slowpath_core::stats::selection::Order;

use crate::diagnosis::Percentile;
use crate::figures::millis;

/// Lower bounds of a measure, one a request without a value.
pub(crate) struct Bounds {
    /// Ascending; empty when nothing was given up, since nothing needs a bound then.
    sorted_ns: Vec<u64>,
    /// The shortest bound of a request that timed out, if one did.
    timeout_ns: Option<u64>,
}

impl Bounds {
    /// Of requests that were `given_up`, and of some `unsent`, of which nothing is known.
    pub(crate) fn new(
        given_up: &[SampleRef<'_>],
        unsent: usize,
        measure: &impl Fn(SampleRef<'_>) -> Option<u64>,
    ) -> Self {
        let bound = |sample: &SampleRef<'_>| measure(*sample).unwrap_or(0);
        let mut sorted_ns: Vec<u64> = given_up.iter().map(bound).collect();
        sorted_ns.extend(std::iter::repeat_n(0, unsent));
        sorted_ns.sort_unstable();
        let timed_out = given_up.iter().filter(|s| s.outcome() == Outcome::Timeout);
        Self {
            sorted_ns,
            timeout_ns: timed_out.map(bound).min(),
        }
    }

    /// The percentile, with its lower bound among the `measured` values if it has no value.
    pub(crate) fn beside(
        &self,
        measured: &mut impl Order,
        percentile: Percentile,
        p: f64,
    ) -> Percentile {
        let bound = self.bound(measured, p).filter(|&ns| ns > 0);
        match bound {
            Some(ns) if percentile.value.is_none() => {
                let by = if self.timeout_ns.is_some_and(|timeout| timeout <= ns) {
                    "timeout"
                } else {
                    "end of run"
                };
                Percentile {
                    above: Some(millis(ns as f64)),
                    censored_by: Some(by.to_owned()),
                    ..percentile
                }
            }
            _ => percentile,
        }
    }

    fn bound(&self, measured: &mut impl Order, p: f64) -> Option<u64> {
        if self.sorted_ns.is_empty() {
            return None;
        }
        let n = (measured.count() + self.sorted_ns.len()) as u64;
        measured.nth_with(&self.sorted_ns, rank(n, p) as usize - 1)
    }
}
