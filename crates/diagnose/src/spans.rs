//! What the spans of requests show: how much they cover, where their time goes, what lies between.

mod repeated;
mod states;
mod tally;
mod tree;

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::EndpointSpans;
use crate::figures::{round, share};
use crate::verdict::ms;

use repeated::Repeated;
use tally::Tally;
use tree::Tree;

/// Spans may begin this much before their request was sent, beside what their clock's error is:
/// the instant that we note is after the system call that sends.
const EARLY_NS: u64 = MILLISECOND / 5;

/// What the spans of an endpoint's requests show; `None` if there is none.
pub(crate) fn figures(case: &Case<'_>, endpoint: &EndpointCase) -> Option<EndpointSpans> {
    let spans = &case.record.spans;
    if spans.spans.is_empty() {
        return None;
    }
    let errors = case.record.manifest.repeats.iter();
    let errors = errors
        .filter_map(|r| r.telemetry.as_ref())
        .map(|t| t.clock_error_ns);
    let early_from_ns = errors.max().unwrap_or(0) + EARLY_NS;
    let (mut tally, mut repeated) = (Tally::default(), Repeated::default());
    let mut early = Vec::new();
    for &position in &endpoint.completed {
        let sample = case.sample(position);
        let is_slow = endpoint.split.slow.binary_search(&position).is_ok();
        let own = spans.of_request(sample.repeat(), sample.serial());
        let Some(window) = window(sample).filter(|_| !own.is_empty()) else {
            continue;
        };
        let tree = Tree::of(own);
        let first = own.iter().map(|span| span.begin).min();
        let ahead_ns = first.map_or(0, |first| window.begin.since(first));
        if ahead_ns > early_from_ns {
            early.push(ahead_ns);
        }
        tally.add(&tree, window, sample.latency_ns(), is_slow);
        repeated.add(&tree, window);
    }
    early.sort_unstable();
    let mut gaps = tally.gaps(spans);
    states::tell(case, endpoint, &mut gaps);
    Some(EndpointSpans {
        requests: endpoint.completed.len() as u64,
        with_spans: tally.requests(),
        slow: tally.slow(),
        coverage: share(tally.coverage()),
        cut: tally.cut(),
        unseen: share(tally.unseen()),
        early: early.len() as u64,
        early_ms: type_1(&early, 0.5).map(|ns| ms(ns as f64)),
        own: tally.own(spans),
        gaps: gaps.into_iter().map(|(_, gap)| gap).collect(),
        repeated: repeated.told(spans, &tally),
    })
}

/// When a request was the target's: from its first byte to its end.
fn window(sample: SampleRef<'_>) -> Option<Span> {
    Some(Span::new(sample.sent()?, sample.done()))
}

/// Milliseconds as reports hold them.
fn mean_ms(sum_ns: u64, of: u64) -> f64 {
    round(sum_ns as f64 / of.max(1) as f64 / 1e6, 1e6)
}
