//! What a percentile would be without the time that a cause claims.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Prediction;
use crate::trace::inside::EndpointJoin;
use crate::verdict::{Claim, ms};

/// When at least this share of requests is touched the median is predicted, else the p99.
const TOUCHES_MEDIAN: f64 = 0.5;
/// A mean queue of requests before a server gets shorter when each takes less time, which a
/// prediction from single requests cannot know: the lower end reaches down by this factor.
const LOWER: f64 = 0.5;
/// The upper end allows for the scatter between runs: medians of the same server differ by up to
/// 30 % from run to run on a shared machine.
const UPPER: f64 = 1.3;
/// Below this no prediction is held to account: the scatter of wake-ups on a shared machine.
const SLACK_NS: f64 = MILLISECOND as f64;

/// Predicts the endpoint's median, or its p99 if the claims touch less than half of its requests,
/// with the claimed time taken out of each request. `None` without completed requests.
pub(crate) fn without_claims(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    claims: &[Claim],
) -> Option<Prediction> {
    let claimed = Claimed::of(case, claims);
    let mut touched = 0_usize;
    let mut rest: Vec<u64> = Vec::with_capacity(endpoint.completed.len());
    for &i in &endpoint.completed {
        let taken = claimed.ns(i);
        touched += usize::from(taken > 0);
        rest.push(case.sample(i).latency_ns().saturating_sub(taken));
    }
    let (p, name) = if touched as f64 >= TOUCHES_MEDIAN * rest.len() as f64 {
        (0.5, "p50")
    } else {
        (0.99, "p99")
    };
    let without = Selection::new(rest).type_1(p)? as f64;
    Some(told(endpoint, name, without))
}

/// The same from the requests that were followed through the server, each of which stands for as
/// many as it was drawn from: of the others it is not known what they waited for.
pub(crate) fn without_waits(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    join: &EndpointJoin,
    claims: &[Claim],
) -> Option<Prediction> {
    let claimed = Claimed::of(case, claims);
    let (mut touched, mut all) = (0.0, 0.0);
    let mut rest: Vec<(u64, f64)> = Vec::with_capacity(join.walked.len());
    for walked in &join.walked {
        let weight = join.weight(walked);
        let taken = claimed.ns(walked.joined.sample);
        touched += if taken > 0 { weight } else { 0.0 };
        all += weight;
        let latency = case.sample(walked.joined.sample).latency_ns();
        rest.push((latency.saturating_sub(taken), weight));
    }
    let (p, name) = if touched >= TOUCHES_MEDIAN * all {
        (0.5, "p50")
    } else {
        (0.99, "p99")
    };
    rest.sort_unstable_by_key(|&(ns, _)| ns);
    let mut below = 0.0;
    let mut reached = rest.iter().filter(|&&(_, weight)| {
        below += weight;
        below >= p * all
    });
    let without = reached.next()?.0 as f64;
    Some(told(endpoint, name, without))
}

fn told(endpoint: &EndpointCase, name: &str, without: f64) -> Prediction {
    Prediction {
        metric: format!("{}.{name}", endpoint.name),
        low_ms: ms(without * LOWER),
        high_ms: ms(without * UPPER + SLACK_NS),
    }
}

/// What is claimed of each request.
struct Claimed(Vec<(u32, u64)>);

impl Claimed {
    fn of(case: &Case<'_>, claims: &[Claim]) -> Self {
        let of = |c: &Claim| (c.sample, c.span.overlap_ns(case.sample(c.sample).span()));
        let mut claimed: Vec<(u32, u64)> = claims.iter().map(of).collect();
        claimed.sort_unstable();
        Self(claimed)
    }

    fn ns(&self, sample: u32) -> u64 {
        let from = self.0.partition_point(|&(other, _)| other < sample);
        let own = self.0[from..].iter().take_while(|c| c.0 == sample);
        own.map(|c| c.1).sum()
    }
}
