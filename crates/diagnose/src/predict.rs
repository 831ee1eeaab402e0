//! What a percentile would be without the time that a cause claims.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Prediction;
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
    let mut claimed: Vec<(u32, u64)> = claims
        .iter()
        .map(|c| (c.sample, c.span.overlap_ns(case.sample(c.sample).span())))
        .collect();
    claimed.sort_unstable();
    let taken = |i: u32| {
        let from = claimed.partition_point(|&(sample, _)| sample < i);
        claimed[from..]
            .iter()
            .take_while(|&&(sample, _)| sample == i)
            .map(|&(_, ns)| ns)
            .sum::<u64>()
    };
    let mut touched = 0_usize;
    let mut rest: Vec<u64> = Vec::with_capacity(endpoint.completed.len());
    for &i in &endpoint.completed {
        let taken = taken(i);
        touched += usize::from(taken > 0);
        rest.push(case.sample(i).latency_ns().saturating_sub(taken));
    }
    let (p, name) = if touched as f64 >= TOUCHES_MEDIAN * rest.len() as f64 {
        (0.5, "p50")
    } else {
        (0.99, "p99")
    };
    let without = Selection::new(rest).type_1(p)? as f64;
    Some(Prediction {
        metric: format!("{}.{name}", endpoint.name),
        low_ms: ms(without * LOWER),
        high_ms: ms(without * UPPER + SLACK_NS),
    })
}
