//! Requests against intervals of time in which something was the matter.

use slowpath_core::nanos::Span;

use crate::case::{Case, EndpointCase};
use crate::verdict::Claim;

/// One of several calls takes this share of the time of all of them, where one reply is slow.
const ONE_CALL_LEAST: f64 = 0.75;

/// The parts of `spans` (ascending, disjoint) that lie in `within`.
pub(crate) fn parts(spans: &[Span], within: Span) -> impl Iterator<Item = Span> + '_ {
    let from = spans.partition_point(|s| s.end <= within.begin);
    spans[from..]
        .iter()
        .map_while(move |s| (s.begin < within.end).then_some(*s))
        .filter_map(move |s| s.intersect(within))
}

/// The share of requests that overlap one of the spans; 0 without requests.
pub(crate) fn touched(case: &Case<'_>, requests: &[u32], spans: &[Span]) -> f64 {
    if requests.is_empty() {
        return 0.0;
    }
    let hit = |i: &&u32| parts(spans, case.sample(**i).span()).next().is_some();
    requests.iter().filter(hit).count() as f64 / requests.len() as f64
}

/// The share of the measured time that the spans cover.
pub(crate) fn coverage(case: &Case<'_>, spans: &[Span]) -> f64 {
    let inside = case.windows.iter().flat_map(|&window| parts(spans, window));
    let total: u64 = inside.map(Span::len_ns).sum();
    total as f64 / case.measured_ns().max(1) as f64
}

/// The share of the requests' time that lies in the spans; 0 without requests.
pub(crate) fn share_of(case: &Case<'_>, requests: &[u32], spans: &[Span]) -> f64 {
    let (mut inside, mut total) = (0_u64, 0_u64);
    for span in requests.iter().map(|&i| case.sample(i).span()) {
        total += span.len_ns();
        inside += parts(spans, span).map(Span::len_ns).sum::<u64>();
    }
    inside as f64 / total.max(1) as f64
}

/// A claim for each part of a completed or slow request that lies in one of the spans.
pub(crate) fn claims_of(case: &Case<'_>, endpoint: &EndpointCase, spans: &[Span]) -> Vec<Claim> {
    let mut requests: Vec<u32> = endpoint.completed.clone();
    requests.extend(&endpoint.split.slow);
    requests.sort_unstable();
    requests.dedup();
    let of =
        |&i: &u32| parts(spans, case.sample(i).span()).map(move |span| Claim { sample: i, span });
    requests.iter().flat_map(of).collect()
}

/// Adjoining or overlapping spans made one.
pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if last.end >= span.begin => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

/// Whether a request waits for one slow reply. Where it waits for several, what makes it ask so often is as good an
/// explanation, which slow replies do not rule out.
pub(crate) fn is_one_call(claims: &[Claim]) -> bool {
    // A call in which the other server's thread does one thing after the other is claimed in pieces.
    let calls = merged(claims.iter().map(|claim| claim.span).collect());
    let lengths = || calls.iter().map(|span| span.len_ns());
    let longest = lengths().max().unwrap_or(0) as f64;
    longest >= ONE_CALL_LEAST * lengths().sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    fn span(a: u64, b: u64) -> Span {
        Span::new(Nanos::new(a), Nanos::new(b))
    }

    #[test]
    fn parts_are_cut_to_the_request() {
        let spans = [span(10, 20), span(30, 40), span(50, 60)];
        let found: Vec<Span> = parts(&spans, span(15, 35)).collect();
        assert_eq!(found, [span(15, 20), span(30, 35)]);
        assert_eq!(parts(&spans, span(20, 30)).count(), 0);
    }

    #[test]
    fn neighbours_merge() {
        let all = vec![span(30, 40), span(10, 20), span(20, 25)];
        assert_eq!(merged(all), [span(10, 25), span(30, 40)]);
    }
}
