//! What the target says in `Server-Timing`: which of its parts has the time of slow requests.
//!
//! It is the target's word, and a part that takes long may wait for another one: nothing is named
//! a cause by it.

use slowpath_core::server_timing::TimingFacts;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{EndpointTimings, TimingFigures};
use crate::figures::{round, share};

/// What one metric says, of slow requests and of the others.
#[derive(Clone, Debug, Default)]
struct Tally {
    requests: u64,
    /// Of the slow requests and of the others.
    sum_ns: [u64; 2],
    beyond: u64,
}

/// What the target says of an endpoint's requests; `None` if it says nothing of them.
pub(crate) fn figures(case: &Case<'_>, endpoint: &EndpointCase) -> Option<EndpointTimings> {
    let timings = &case.record.timings;
    if timings.values.is_empty() {
        return None;
    }
    let mut tallies = vec![Tally::default(); timings.metrics.len()];
    // Of the slow requests and of the others.
    let (mut requests, mut latency_ns) = ([0_u64; 2], [0_u64; 2]);
    for &position in &endpoint.completed {
        let sample = case.sample(position);
        let own = timings.of_request(sample.repeat(), sample.serial());
        if own.is_empty() {
            continue;
        }
        let class = usize::from(endpoint.split.slow.binary_search(&position).is_err());
        requests[class] += 1;
        latency_ns[class] += sample.latency_ns();
        for of_metric in own.chunk_by(|a, b| a.metric == b.metric) {
            let Some(tally) = tallies.get_mut(usize::from(of_metric[0].metric)) else {
                continue;
            };
            let sum_ns = of_metric.iter().map(|value| value.duration_ns);
            let sum_ns = sum_ns.fold(0, u64::saturating_add);
            tally.requests += 1;
            tally.beyond += u64::from(sum_ns > sample.latency_ns());
            tally.sum_ns[class] += sum_ns.min(sample.latency_ns());
        }
    }
    let all = requests[0] + requests[1];
    let told = timings.metrics.iter().zip(&tallies);
    let told = told.filter(|(_, tally)| tally.requests > 0);
    let mut metrics: Vec<TimingFigures> = told
        .map(|(name, tally)| tally.told(name, requests, latency_ns))
        .collect();
    metrics.sort_by(|a, b| {
        b.weight()
            .total_cmp(&a.weight())
            .then_with(|| a.name.cmp(&b.name))
    });
    let facts = case.record.manifest.repeats.iter();
    let facts: Vec<TimingFacts> = facts.filter_map(|repeat| repeat.server_timing).collect();
    (all > 0).then(|| EndpointTimings {
        requests: endpoint.completed.len() as u64,
        with_header: all,
        slow: requests[0],
        one_in: facts.iter().map(|facts| facts.one_in).max().unwrap_or(1),
        left_out: facts.iter().map(|facts| facts.left_out).sum(),
        metrics,
    })
}

impl Tally {
    fn told(&self, name: &str, requests: [u64; 2], latency_ns: [u64; 2]) -> TimingFigures {
        let mean_ns = |sums: [u64; 2], class: usize| {
            (requests[class] > 0).then(|| sums[class] as f64 / requests[class] as f64)
        };
        let shown_ms = |class| mean_ns(self.sum_ns, class).map(|ns| round(ns / 1e6, 1e6));
        let of_latency = |class: usize| {
            let all = latency_ns[class];
            (all > 0).then(|| share(self.sum_ns[class] as f64 / all as f64))
        };
        let longer_ns = |sums| Some(mean_ns(sums, 0)? - mean_ns(sums, 1)?);
        let excess = longer_ns(self.sum_ns).zip(longer_ns(latency_ns));
        let excess = excess.filter(|(_, all)| *all > 0.0);
        TimingFigures {
            name: name.to_owned(),
            requests: self.requests,
            slow_ms: shown_ms(0),
            fast_ms: shown_ms(1),
            slow_share: of_latency(0),
            fast_share: of_latency(1),
            excess_share: excess.map(|(own, all)| share((own / all).clamp(0.0, 1.0))),
            beyond: self.beyond,
        }
    }
}

impl TimingFigures {
    /// What metrics are ordered by: the share of what slow requests take longer, or of what there is.
    fn weight(&self) -> f64 {
        let shares = [self.excess_share, self.slow_share, self.fast_share];
        shares.into_iter().flatten().next().unwrap_or(0.0)
    }
}
