//! Where the time of requests goes among spans, slow requests against the others.

use std::collections::BTreeMap;

use slowpath_core::nanos::Span;
use slowpath_core::spans::AppSpans;

use super::mean_ms;
use super::tree::{Part, Tree};
use crate::diagnosis::{SpanFigures, SpanGap};
use crate::figures::{round, share};

/// Names, and gaps, that are reported at most: those that explain something are few.
const MOST_TOLD: usize = 20;

/// The requests that are not slow, and the slow ones.
type ByClass<T> = [T; 2];
const FAST: usize = 0;
const SLOW: usize = 1;

/// A stretch between spans: names of the one that goes on, of the one before and the one after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GapKey {
    pub(super) inside: u32,
    pub(super) after: Option<u32>,
    pub(super) before: Option<u32>,
}

/// Sums over requests.
#[derive(Debug, Default)]
pub(super) struct Tally {
    requests: ByClass<u64>,
    latency_ns: ByClass<u64>,
    service_ns: u64,
    covered_ns: u64,
    /// Requests with more spans than are read, and the time in which these may lie.
    cut: u64,
    unseen_ns: u64,
    own: BTreeMap<u32, Own>,
    gaps: BTreeMap<GapKey, ByClass<u64>>,
}

#[derive(Debug, Default)]
struct Own {
    time_ns: ByClass<u64>,
    spans: u64,
}

impl Tally {
    /// Adds a request.
    pub(super) fn add(&mut self, tree: &Tree<'_>, window: Span, latency_ns: u64, is_slow: bool) {
        let class = usize::from(is_slow);
        self.requests[class] += 1;
        self.latency_ns[class] += latency_ns;
        self.service_ns += window.len_ns();
        self.cut += u64::from(tree.is_cut());
        for span in tree.spans() {
            self.own.entry(span.name).or_default().spans += 1;
        }
        for part in tree.parts(window) {
            let Some(of) = part.of else { continue };
            let length_ns = part.end.since(part.begin);
            self.covered_ns += length_ns;
            if part.unseen {
                self.unseen_ns += length_ns;
                continue;
            }
            let inside = tree.span(of).name;
            self.own.entry(inside).or_default().time_ns[class] += length_ns;
            if let Some(key) = key_of(tree, &part) {
                self.gaps.entry(key).or_default()[class] += length_ns;
            }
        }
    }

    /// Requests with spans.
    pub(super) fn requests(&self) -> u64 {
        self.requests.iter().sum()
    }

    /// Slow requests with spans.
    pub(super) fn slow(&self) -> u64 {
        self.requests[SLOW]
    }

    /// Time from sent to done of all requests with spans.
    pub(super) fn service_ns(&self) -> u64 {
        self.service_ns
    }

    /// The share of it that lies in spans.
    pub(super) fn coverage(&self) -> f64 {
        self.covered_ns as f64 / self.service_ns.max(1) as f64
    }

    /// Requests with more spans than are read.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }

    /// The share of the time in which there may be spans that are not read.
    pub(super) fn unseen(&self) -> f64 {
        self.unseen_ns as f64 / self.service_ns.max(1) as f64
    }

    /// The own time of spans.
    pub(super) fn own(&self, spans: &AppSpans) -> Vec<SpanFigures> {
        let told = self.own.iter().map(|(&name, own)| {
            let [fast_ms, slow_ms] = self.means_ms(own.time_ns);
            let per_request = own.spans as f64 / self.requests().max(1) as f64;
            SpanFigures {
                name: text(spans, name),
                per_request: round(per_request, 1e3),
                fast_ms,
                slow_ms,
                share: self.share(own.time_ns),
            }
        });
        largest(told.collect(), |span| span.share)
    }

    /// The gaps between spans, and what they are known by.
    pub(super) fn gaps(&self, spans: &AppSpans) -> Vec<(GapKey, SpanGap)> {
        let name = |name: Option<u32>| name.map_or_else(String::new, |name| text(spans, name));
        let told = self.gaps.iter().map(|(key, &time_ns)| {
            let [fast_ms, slow_ms] = self.means_ms(time_ns);
            let gap = SpanGap {
                inside: text(spans, key.inside),
                after: name(key.after),
                before: name(key.before),
                fast_ms,
                slow_ms,
                share: self.share(time_ns),
                states: Vec::new(),
            };
            (*key, gap)
        });
        largest(told.collect(), |(_, gap)| gap.share)
    }

    fn means_ms(&self, time_ns: ByClass<u64>) -> ByClass<Option<f64>> {
        [FAST, SLOW].map(|class| {
            let requests = self.requests[class];
            (requests > 0).then(|| mean_ms(time_ns[class], requests))
        })
    }

    /// The share of what slow requests take longer than the others; of the latency if none is
    /// slow, or all are.
    fn share(&self, time_ns: ByClass<u64>) -> f64 {
        let mean = |sum: ByClass<u64>, class: usize| {
            sum[class] as f64 / self.requests[class].max(1) as f64
        };
        let of = |sum: ByClass<u64>| match self.requests {
            [0, _] => mean(sum, SLOW),
            [_, 0] => mean(sum, FAST),
            _ => mean(sum, SLOW) - mean(sum, FAST),
        };
        let whole = of(self.latency_ns);
        if whole <= 0.0 {
            return 0.0;
        }
        share(of(time_ns) / whole)
    }
}

/// By what a stretch between spans is known; `None` if it is none.
pub(super) fn key_of(tree: &Tree<'_>, part: &Part) -> Option<GapKey> {
    let (after, before) = part.between.filter(|_| !part.unseen)?;
    let name = |place: Option<usize>| place.map(|place| tree.span(place).name);
    Some(GapKey {
        inside: name(part.of)?,
        after: name(after),
        before: name(before),
    })
}

fn text(spans: &AppSpans, name: u32) -> String {
    spans.names.get(name as usize).cloned().unwrap_or_default()
}

/// Those with the largest shares; what has none is left out.
fn largest<T>(mut all: Vec<T>, share: impl Fn(&T) -> f64) -> Vec<T> {
    all.retain(|one| share(one) != 0.0);
    all.sort_by(|a, b| share(b).total_cmp(&share(a)));
    all.truncate(MOST_TOLD);
    all
}
