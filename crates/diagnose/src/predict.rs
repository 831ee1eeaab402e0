//! What a percentile would be without the time that a cause claims.

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::stats::beta;
use slowpath_core::stats::quantile::{Undetermined, quantiles};
use slowpath_core::stats::selection::{Order, Selection};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Place, Prediction};
use crate::figures::latencies;
use crate::overlap::{merged, parts};
use crate::scatter::Scatter;
use crate::trace::inside::{EndpointJoin, Walked};
use crate::trace::pieces::{LeafKind, Piece};
use crate::verdict::{Claim, ms};

/// A mean queue of requests before a server gets shorter when each takes less time, which a
/// prediction from single requests cannot know: the lower end reaches down by this factor.
const LOWER: f64 = 0.5;
/// The upper end allows for the scatter between runs: medians of the same server differ by up to
/// 30 % from run to run on a shared machine.
const UPPER: f64 = 1.3;
/// Below this no prediction is held to account: the scatter of wake-ups on a shared machine.
const SLACK_NS: f64 = MILLISECOND as f64;

/// Predicts what lies where the cause is: the median of a floor, and of a tail the p99, or the
/// highest percentile below it that the run has and that the cause reaches; with the claimed time
/// taken out of each request. `None` if the run has no such figure, or the cause is none of
/// latencies.
pub(crate) fn without_claims(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    place: Place,
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
    let touched = touched as f64 / rest.len().max(1) as f64;
    let (p, name) = figure(case, endpoint, place, touched)?;
    let without = Selection::new(rest).type_1(p)? as f64;
    Some(told(endpoint, name, without))
}

/// The same from the requests that were followed through the server, each of which represents as
/// many as it was drawn from: of the others it is not known what they waited for. A request that waited
/// for a connection while those on all connections waited for the cause waited for it too.
pub(crate) fn without_waits(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    place: Place,
    join: &EndpointJoin,
    claims: &[Claim],
) -> Option<Prediction> {
    let scatter = Scatter::new(case)?;
    let claimed = Claimed::of(case, claims);
    let kept = merged(claims.iter().map(|claim| claim.span).collect());
    let walked = join.walked.iter().map(|walked| {
        let sample = case.sample(walked.joined.sample);
        let queue = Span::new(sample.scheduled(), sample.ready());
        let queued: u64 = parts(&kept, queue).map(Span::len_ns).sum();
        let taken = claimed.ns(walked.joined.sample) + queued;
        Rest {
            batch: scatter.batch(sample),
            left_ns: sample.latency_ns().saturating_sub(taken),
            touched: taken > 0,
            slow: walked.slow,
            known: is_known(walked),
            weight: join.weight(walked) as usize,
        }
    });
    let mut requests: Vec<Rest> = walked.collect();
    for slow in [true, false] {
        fill_in(&mut requests, slow);
    }
    let each = |r: &Rest| std::iter::repeat_n((r.batch, r.left_ns), r.weight);
    let rest: Vec<(u32, u64)> = requests.iter().flat_map(each).collect();
    let touched = requests.iter().filter(|r| r.touched);
    let touched: usize = touched.map(|r| r.weight).sum();
    let touched = touched as f64 / rest.len().max(1) as f64;
    let (p, name) = figure(case, endpoint, place, touched)?;
    let (low, high) = in_another_run(&rest, scatter.batches.count(), p)?;
    Some(Prediction {
        metric: format!("{}.{name}", endpoint.name),
        low_ms: ms(low as f64 * LOWER),
        high_ms: ms(high as f64 * UPPER + SLACK_NS),
    })
}

/// What is left of a request without a cause.
#[derive(Clone, Copy)]
struct Rest {
    batch: u32,
    left_ns: u64,
    touched: bool,
    slow: bool,
    /// Whether it is known what most of its time was spent on.
    known: bool,
    /// For how many requests it stands.
    weight: usize,
}

fn is_known(walked: &Walked) -> bool {
    let unknown = |p: &&Piece| matches!(p.leaf.kind, LeafKind::Unknown(_));
    let blank: u64 = walked
        .pieces
        .iter()
        .filter(unknown)
        .map(Piece::len_ns)
        .sum();
    2 * blank <= walked.joined.latency_ns()
}

/// Requests of whose time most is not known are taken to be like others of their kind, slow or
/// not, cyclically (a hot deck, Andridge and Little 2010): left as they are, one episode that was not
/// recorded would be all that a prediction shows.
fn fill_in(requests: &mut [Rest], slow: bool) {
    let kind = requests.iter().filter(|r| r.slow == slow);
    let (known, unknown): (Vec<Rest>, Vec<Rest>) = kind.partition(|r| r.known);
    let donors = known.len() * usize::from(!unknown.is_empty());
    if donors == 0 {
        return;
    }
    let blank = requests.iter_mut().filter(|r| r.slow == slow && !r.known);
    for (k, request) in blank.enumerate() {
        let donor = known[k * donors / unknown.len() % donors];
        (request.left_ns, request.touched) = (donor.left_ns, donor.touched);
    }
}

/// Where the quantile of another run like this one lies: both scatter, so that the interval is that
/// of half the sample. Where too little is left beyond the quantile it reaches up to the longest.
fn in_another_run(values: &[(u32, u64)], batches: u32, p: f64) -> Option<(u64, u64)> {
    let worth = match quantiles(values, batches, &[], &[p]).pop()? {
        Ok(estimate) => estimate.n_eff,
        Err(Undetermined::TooFew { have, .. }) => have as f64,
        Err(_) => return None,
    };
    let n = values.len() as f64;
    let (low, high) = beta::interval(p, (worth / 2.0).max(1.0));
    let mut sorted: Selection = values.iter().map(|value| value.1).collect();
    let low = sorted.nth(((n * low).floor() as usize).saturating_sub(1))?;
    let high = sorted.nth(((n * high).ceil() as usize).clamp(1, values.len()) - 1)?;
    Some((low, high))
}

/// The percentile that is predicted, and its name, if the cause touches that share of requests.
fn figure(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    place: Place,
    touched: f64,
) -> Option<(f64, &'static str)> {
    let now = latencies(case, endpoint);
    match place {
        Place::Floor => now.p50.value.map(|_| (0.5, "p50")),
        Place::Tail if now.p99.value.is_some() => Some((0.99, "p99")),
        Place::Tail => {
            let lower = [
                (0.98, "p98", now.p98),
                (0.95, "p95", now.p95),
                (0.9, "p90", now.p90),
            ];
            let mut lower = lower.into_iter();
            let moved = lower.find(|(p, _, of)| of.value.is_some() && touched > 1.0 - p);
            moved.map(|(p, name, _)| (p, name))
        }
        Place::Errors | Place::Throughput => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_scatters_as_much_as_this_one() {
        // 2000 requests in 20 batches: one in 25 is slow, spread evenly, or all in two batches.
        let values = |slow: fn(u32) -> bool| -> Vec<(u32, u64)> {
            let value = |i: u32| (i / 100, if slow(i) { 1_000 + u64::from(i) } else { 10 });
            (0..2_000).map(value).collect()
        };
        let even = in_another_run(&values(|i| i % 25 == 0), 20, 0.99).unwrap();
        assert!(even.0 > 10 && even.1 < 2_975, "{even:?}");
        let bursts = in_another_run(&values(|i| i % 1_000 < 40), 20, 0.99).unwrap();
        assert_eq!(bursts, (10, 2_039), "two bursts may be none or many");
        let median = in_another_run(&values(|i| i % 25 == 0), 20, 0.5).unwrap();
        assert_eq!(median, (10, 10));
        assert_eq!(in_another_run(&[], 20, 0.99), None);
    }

    #[test]
    fn what_is_not_known_of_a_request_is_as_with_others_of_its_kind() {
        let rest = |left_ns, slow, known| Rest {
            batch: 0,
            left_ns,
            touched: known && slow,
            slow,
            known,
            weight: 1,
        };
        let mut requests = [
            rest(5, true, true),
            rest(900, true, false),
            rest(7, true, true),
            rest(3, false, true),
            rest(800, true, false),
            rest(400, false, false),
        ];
        for slow in [true, false] {
            fill_in(&mut requests, slow);
        }
        assert_eq!(requests.map(|r| r.left_ns), [5, 5, 7, 3, 7, 3]);
        assert_eq!(requests.iter().filter(|r| r.touched).count(), 4);
        let mut alone = [rest(900, true, false)];
        fill_in(&mut alone, true);
        assert_eq!(alone[0].left_ns, 900);
    }
}
