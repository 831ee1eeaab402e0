//! The figures of an endpoint repeat by repeat.

use std::collections::BTreeMap;

use slowpath_core::sample::Outcome;
use slowpath_core::stats::quantile::{rank, stands_for_repeat};
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::RepeatFigures;
use crate::figures::{millis, round, share};

/// The percentiles of a repeat.
const NAMED: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p98", 0.98),
    ("p99", 0.99),
    ("p99.9", 0.999),
];

/// One entry a repeat, in order, and the median latency of each that has one, in nanoseconds.
pub(crate) fn by_repeat(
    case: &Case<'_>,
    endpoint: &EndpointCase,
) -> (Vec<RepeatFigures>, Vec<f64>) {
    let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); case.windows.len()];
    for (repeat, own) in endpoint.stretches(case.record) {
        if let Some(of_repeat) = latencies.get_mut(usize::from(repeat)) {
            of_repeat.extend_from_slice(&endpoint.latencies_ns[own]);
        }
    }
    let mut parts: Vec<Part> = latencies.into_iter().map(Part::new).collect();
    let medians = parts.iter_mut().map(|part| part.latencies_ns.type_1(0.5));
    let medians = medians.flatten().map(|ns| ns as f64).collect();
    for &i in &endpoint.failed {
        let sample = case.sample(i);
        if let Some(part) = parts.get_mut(usize::from(sample.repeat())) {
            part.failed += 1;
            part.censored += u64::from(sample.outcome() == Outcome::Timeout);
        }
    }
    for &i in &endpoint.unfinished {
        if let Some(part) = parts.get_mut(usize::from(case.sample(i).repeat())) {
            part.censored += 1;
        }
    }
    let repeats = case.record.manifest.repeats.iter();
    let windows = case.windows.iter().zip(repeats);
    let figures = (0..)
        .zip(parts.into_iter().zip(windows))
        .map(|(repeat, (part, (window, facts)))| {
            let tally = facts.endpoints.get(usize::from(endpoint.index));
            let tally = tally.copied().unwrap_or_default();
            part.figures(repeat, tally.offered, tally.unsent, window.len_ns())
        })
        .collect();
    (figures, medians)
}

/// The requests of one repeat.
struct Part {
    latencies_ns: Selection,
    failed: u64,
    /// Those that count as slower than all that were answered.
    censored: u64,
}

impl Part {
    fn new(latencies_ns: Vec<u64>) -> Self {
        Self {
            latencies_ns: Selection::new(latencies_ns),
            failed: 0,
            censored: 0,
        }
    }

    fn figures(mut self, repeat: u32, offered: u64, unsent: u64, window_ns: u64) -> RepeatFigures {
        let completed = self.latencies_ns.len() as u64;
        let over = |part: u64, of: f64| {
            if of > 0.0 { part as f64 / of } else { 0.0 }
        };
        // Of a target that hangs nothing fails: nothing ends.
        let failed = if completed == 0 { offered } else { self.failed };
        RepeatFigures {
            repeat,
            offered,
            completed,
            rate_per_s: round(over(completed, window_ns as f64 / 1e9), 1e3),
            errors: share(over(failed, offered as f64)),
            latency_ms: self.percentiles(unsent),
            settling: None,
            settled_after_s: None,
        }
    }

    fn percentiles(&mut self, unsent: u64) -> BTreeMap<String, f64> {
        let n = self.latencies_ns.len() as u64 + self.censored + unsent;
        let value = |(name, p): (&str, f64)| {
            stands_for_repeat(n, p).then_some(())?;
            let latency_ns = self.latencies_ns.at(rank(n, p) as usize - 1)?;
            Some((name.to_owned(), millis(latency_ns as f64)))
        };
        NAMED.into_iter().filter_map(value).collect()
    }
}
