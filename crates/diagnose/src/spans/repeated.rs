//! Spans of one name that follow each other in one span, as a loop makes them.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::spans::AppSpans;

use super::tally::Tally;
use super::tree::Tree;
use crate::diagnosis::RepeatedSpans;
use crate::figures::{round, share};

/// Two may be two different questions; from three on it is a loop.
const FEWEST: usize = 3;
/// Spans follow each other when next to nothing of their time is side by side: the union of their
/// intervals is at least this share of their sum.
const SEQUENTIAL: f64 = 0.95;
/// A loop is reported if it takes this share of the time: less would not be felt if it went away.
const TOLD_FROM: f64 = 0.1;
/// … and if this share of the requests with spans contains it: it belongs to the endpoint.
const REQUESTS_FROM: f64 = 0.5;

/// Loops, by the name of the spans and of the one that they are in.
#[derive(Debug, Default)]
pub(super) struct Repeated(BTreeMap<(u32, Option<u32>), Sum>);

#[derive(Debug, Default)]
struct Sum {
    requests: u64,
    spans: u64,
    time_ns: u64,
}

impl Repeated {
    /// Adds a request.
    pub(super) fn add(&mut self, tree: &Tree<'_>, window: Span) {
        let mut found: BTreeMap<(u32, Option<u32>), (u64, u64)> = BTreeMap::new();
        let parents = (0..tree.spans().len()).map(Some);
        for parent in std::iter::once(None).chain(parents) {
            let children = tree.inside(parent);
            if children.len() < FEWEST {
                continue;
            }
            let mut by_name: BTreeMap<u32, Vec<(Nanos, Nanos)>> = BTreeMap::new();
            for &child in children {
                let span = tree.span(child);
                let (begin, end) = (span.begin.max(window.begin), span.end.min(window.end));
                if begin < end {
                    by_name.entry(span.name).or_default().push((begin, end));
                }
            }
            for (name, intervals) in by_name {
                if let Some(time_ns) = sequential_ns(&intervals) {
                    let key = (name, parent.map(|place| tree.span(place).name));
                    let sum = found.entry(key).or_default();
                    sum.0 += intervals.len() as u64;
                    sum.1 += time_ns;
                }
            }
        }
        for (key, (spans, time_ns)) in found {
            let sum = self.0.entry(key).or_default();
            sum.requests += 1;
            sum.spans += spans;
            // Loops in spans that are side by side would have more time than there is.
            sum.time_ns += time_ns.min(window.len_ns());
        }
    }

    /// The loops that matter, the longest first.
    pub(super) fn told(&self, spans: &AppSpans, tally: &Tally) -> Vec<RepeatedSpans> {
        let text = |name: u32| spans.names.get(name as usize).cloned().unwrap_or_default();
        let told = self.0.iter().map(|(&(name, inside), sum)| RepeatedSpans {
            name: text(name),
            inside: inside.map(text).unwrap_or_default(),
            per_request: round(sum.spans as f64 / sum.requests.max(1) as f64, 1e3),
            requests: sum.requests,
            share: share(sum.time_ns as f64 / tally.service_ns().max(1) as f64),
        });
        let fewest = tally.requests() as f64 * REQUESTS_FROM;
        let mut told: Vec<RepeatedSpans> = told
            .filter(|loops| loops.share >= TOLD_FROM && loops.requests as f64 >= fewest)
            .collect();
        told.sort_by(|a, b| b.share.total_cmp(&a.share));
        told
    }
}

/// The time that intervals take together, if they are enough and follow each other. They come
/// with the last end first.
fn sequential_ns(intervals: &[(Nanos, Nanos)]) -> Option<u64> {
    if intervals.len() < FEWEST {
        return None;
    }
    let sum_ns: u64 = intervals.iter().map(|(begin, end)| end.since(*begin)).sum();
    let mut union_ns = 0;
    let mut until = None;
    for &(begin, end) in intervals {
        let end = until.map_or(end, |until| end.min(until));
        union_ns += end.since(begin);
        until = Some(until.map_or(begin, |until| begin.min(until)));
    }
    (union_ns as f64 >= SEQUENTIAL * sum_ns as f64).then_some(union_ns)
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::span;
    use super::*;

    fn found(spans: &[slowpath_core::spans::AppSpan]) -> Vec<(u32, u64, u64)> {
        let mut repeated = Repeated::default();
        let window = Span::new(Nanos::new(1), Nanos::new(100));
        repeated.add(&Tree::of(spans), window);
        let sums = repeated.0.iter();
        sums.map(|(key, sum)| (key.0, sum.spans, sum.time_ns))
            .collect()
    }

    #[test]
    fn a_loop_is_three_of_a_name_behind_each_other() {
        let call = |id: u64, begin: u64, end: u64| slowpath_core::spans::AppSpan {
            name: 7,
            ..span(id, 1, begin, end)
        };
        let parent = span(1, 0, 1, 100);
        let behind = [parent, call(2, 5, 15), call(3, 20, 30), call(4, 30, 40)];
        assert_eq!(found(&behind), [(7, 3, 30)]);
        let beside = [parent, call(2, 5, 15), call(3, 6, 16), call(4, 7, 17)];
        assert!(found(&beside).is_empty());
        assert!(found(&behind[..3]).is_empty(), "two are no loop");
        let empty = [parent, call(2, 5, 5), call(3, 9, 6), call(4, 7, 7)];
        assert!(found(&empty).is_empty());
    }
}
