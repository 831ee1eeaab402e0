//! What is known of a percentile that falls among requests which were given up.
//!
//! Each of those took at least as long as it was waited for. Sorted with the measured latencies,
//! the value at a rank is then a lower bound of the true latency at that rank, whatever order the
//! true latencies have: replacing some of the numbers by smaller ones moves no order statistic up.

use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::type_1;

use crate::diagnosis::Percentile;
use crate::figures::millis;

/// Lower bounds of a measure, one a request.
pub(crate) struct Bounds {
    /// Ascending; empty when nothing was given up, since nothing needs a bound then.
    sorted_ns: Vec<u64>,
    /// The shortest bound of a request that timed out, if one did.
    timeout_ns: Option<u64>,
}

impl Bounds {
    /// Of the measured `values`, of requests that were `given_up`, and of some `unsent`, of which
    /// nothing is known.
    pub(crate) fn new(
        values: impl Iterator<Item = u64>,
        given_up: &[SampleRef<'_>],
        unsent: usize,
        measure: &impl Fn(SampleRef<'_>) -> Option<u64>,
    ) -> Self {
        if given_up.is_empty() && unsent == 0 {
            return Self {
                sorted_ns: Vec::new(),
                timeout_ns: None,
            };
        }
        let bound = |sample: &SampleRef<'_>| measure(*sample).unwrap_or(0);
        let mut sorted_ns: Vec<u64> = values.chain(given_up.iter().map(bound)).collect();
        sorted_ns.extend(std::iter::repeat_n(0, unsent));
        sorted_ns.sort_unstable();
        let timed_out = given_up.iter().filter(|s| s.outcome() == Outcome::Timeout);
        Self {
            sorted_ns,
            timeout_ns: timed_out.map(bound).min(),
        }
    }

    /// The percentile, with its lower bound if it has no value.
    pub(crate) fn beside(&self, percentile: Percentile, p: f64) -> Percentile {
        let bound = type_1(&self.sorted_ns, p).filter(|&ns| ns > 0);
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
}
