//! The figures of an endpoint repeat by repeat.

use std::collections::BTreeMap;

use slowpath_core::sample::Outcome;
use slowpath_core::stats::quantile::{rank, stands_for_repeat};
use slowpath_core::stats::selection::Selection;
use slowpath_core::unanswered::{Overtaken, Patience};

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
    let medians: Vec<u64> = medians.flatten().collect();
    for (part, hung) in parts.iter_mut().zip(hung(case, endpoint, &medians)) {
        part.failed += hung;
    }
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
    (figures, medians.into_iter().map(|ns| ns as f64).collect())
}

/// Of each repeat, how many requests went without an answer for so long that they count as failed.
fn hung(case: &Case<'_>, endpoint: &EndpointCase, medians_ns: &[u64]) -> Vec<u64> {
    let facts = case.record.manifest.repeats.iter();
    let unsent = facts.map(|facts| {
        let tally = facts.endpoints.get(usize::from(endpoint.index));
        tally.map_or(0, |tally| tally.unsent)
    });
    let mut overtaken: Vec<Overtaken> = case
        .windows
        .iter()
        .zip(unsent)
        .map(|(&window, unsent)| Overtaken::new(window, unsent))
        .collect();
    // The requests that ended show when the last was sent, which matters only if some were not.
    let ended = [&endpoint.completed, &endpoint.failed];
    let ended = ended.into_iter().filter(|_| endpoint.unsent > 0).flatten();
    for &i in ended.chain(&endpoint.unfinished) {
        let sample = case.sample(i);
        if let Some(of_repeat) = overtaken.get_mut(usize::from(sample.repeat())) {
            of_repeat.add(&sample);
        }
    }
    if overtaken.iter().all(Overtaken::is_empty) {
        return Vec::new();
    }
    let median_ns = Selection::new(medians_ns.to_vec()).type_1(0.5);
    let longest_ns = endpoint.latencies_ns.iter().copied().max();
    let timeout_ns = case.record.manifest.plan.scenario.load.timeout_ns;
    let patience = Patience::new(timeout_ns, median_ns.zip(longest_ns));
    overtaken.iter().map(|of| patience.failed(of)).collect()
}

/// The requests of one repeat.
struct Part {
    latencies_ns: Selection,
    /// Also those that count as failed because they went without an answer for too long.
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
        RepeatFigures {
            repeat,
            offered,
            completed,
            rate_per_s: round(over(completed, window_ns as f64 / 1e9), 1e3),
            errors: share(over(self.failed, offered as f64)),
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
