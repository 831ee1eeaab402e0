//! A request asks another server many times, each time only when the reply before is there.

use std::net::SocketAddr;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::{Asked, Calls};
use crate::trace::inside::summed;
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Two may be two different questions; from three on it is a loop.
const CALLS_LEAST: usize = 3;
/// The calls take at least this share of the request, or it is slow by something else.
const SHARE_LEAST: f64 = 0.5;
/// Where one of the calls takes more than this share of all of them, that one is slow, and not their
/// number.
const LONGEST_MOST: f64 = 0.5;
/// A pause between two calls that is longer than the longest of them, and than this, is no loop that
/// asks on at once: who tries again waits before.
const PAUSE_LEAST_NS: u64 = MILLISECOND;
/// It belongs to the endpoint if so many of its requests (of the slow ones in a tail) do it.
const REQUESTS_LEAST: f64 = 0.5;
/// Calls that all requests make are slow together from here on: what takes less is not felt.
const FLOOR_LEAST_NS: f64 = 5.0 * MILLISECOND as f64;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: false,
};

/// The calls of one request that follow each other.
struct Row {
    sample: u32,
    slow: bool,
    calls: Vec<Asked>,
}

impl Row {
    fn sum_ns(&self) -> u64 {
        self.calls.iter().map(|call| call.end - call.begin).sum()
    }

    fn longest(&self) -> Option<&Asked> {
        self.calls.iter().max_by_key(|call| call.end - call.begin)
    }

    fn claims(&self, without: Option<&Asked>) -> Vec<Claim> {
        let kept = self.calls.iter().filter(|call| without != Some(call));
        let span = |call: &Asked| Span::new(Nanos::new(call.begin), Nanos::new(call.end));
        let claim = |call: &Asked| Claim {
            sample: self.sample,
            span: span(call),
        };
        kept.map(claim).collect()
    }
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    let calls = Calls::of(case, looked.inside);
    if calls.is_empty() {
        return Verdict::Cleared("the target was not seen to ask any other server".to_owned());
    }
    let (mut rows, mut known) = (Vec::new(), [0_usize; 2]);
    let mut most = 0;
    for walked in &looked.join.walked {
        let own = calls.own(looked.inside, walked);
        if !own.whole {
            continue;
        }
        known[usize::from(walked.slow)] += 1;
        let Some(calls) = longest_row(&own.calls) else {
            continue;
        };
        most = most.max(calls.len());
        let row = Row {
            sample: walked.joined.sample,
            slow: walked.slow,
            calls,
        };
        if is_fanout(&row, walked.joined.latency_ns()) {
            rows.push(row);
        }
    }
    let n = looked.join.walked.len();
    if 2 * (known[0] + known[1]) < n {
        return Verdict::Blind {
            missing: format!(
                "which calls belong to which request: {} of {n} were under way with others in one loop",
                n - known[0] - known[1]
            ),
            remedy: "measure with one connection, or send spans (OTLP) to slowpath".to_owned(),
        };
    }
    let claims: Vec<Claim> = rows.iter().flat_map(|row| row.claims(None)).collect();
    let place = looked.place(endpoint, &claims);
    let of = match place {
        Place::Tail => known[1],
        _ => known[0] + known[1],
    };
    rows.retain(|row| place != Place::Tail || row.slow);
    if rows.is_empty() || (rows.len() as f64) < REQUESTS_LEAST * of as f64 {
        return Verdict::Cleared(format!(
            "{} of {n} requests ask one server {CALLS_LEAST} times or more, one after the other, for most \
             of their time (at most {most} times in a row)",
            rows.len()
        ));
    }
    if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        return blind;
    }
    found(case, endpoint, &looked, (place, claims), &rows)
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    (place, claims): (Place, Vec<Claim>),
    rows: &[Row],
) -> Verdict {
    let middle = |of: &dyn Fn(&Row) -> f64| {
        let mut all: Vec<f64> = rows.iter().map(of).collect();
        median(&mut all).unwrap_or(0.0)
    };
    let count = middle(&|row| row.calls.len() as f64);
    let each_ns = middle(&|row| row.sum_ns() as f64 / row.calls.len() as f64);
    let sum_ns = middle(&|row| row.sum_ns() as f64);
    if place == Place::Floor && sum_ns < FLOOR_LEAST_NS {
        return Verdict::Cleared(format!(
            "requests ask {count:.0} times one after the other, but all of it takes {}",
            human(sum_ns)
        ));
    }
    let sockets = rows.iter().flat_map(|row| &row.calls).map(|call| (call.socket, 1.0));
    let first = summed(sockets).first().map_or(0, |(socket, _)| *socket);
    let whom = looked.inside.other_end(first).unwrap_or_default();
    let fewer: Vec<Claim> = rows.iter().flat_map(|row| row.claims(row.longest())).collect();
    let text = format!(
        "{} requests ask {whom} {count:.0} times in the median, each time when the reply before is there: \
         {} a call, {} in all, {} of the request",
        rows.len(),
        human(each_ns),
        human(sum_ns),
        percent(middle(&|row| {
            let latency_ns = case.sample(row.sample).latency_ns();
            row.sum_ns() as f64 / latency_ns.max(1) as f64
        }))
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &fewer),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests ask {whom} {count:.0} times, one after the other, {} each; ask for all at once, or at \
             the same time",
            human(each_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}

/// Whether so many calls, rather than one slow call, are what a request of that length consists of.
fn is_fanout(row: &Row, latency_ns: u64) -> bool {
    let (sum, longest) = (row.sum_ns() as f64, row.longest());
    let longest = longest.map_or(0, |call| call.end - call.begin) as f64;
    row.calls.len() >= CALLS_LEAST
        && sum >= SHARE_LEAST * latency_ns as f64
        && longest <= LONGEST_MOST * sum
}

/// Of calls in order of their ends, the row to one server that takes longest, each of which begins when
/// the one before is over.
fn longest_row(calls: &[&Asked]) -> Option<Vec<Asked>> {
    let mut rows: Vec<(SocketAddr, Vec<Asked>)> = Vec::new();
    for call in calls {
        let place = rows.iter().rposition(|(remote, _)| *remote == call.remote);
        let last = place.and_then(|place| rows[place].1.last().map(|last| (place, *last)));
        match last {
            Some((place, last)) if follows(&last, call) => rows[place].1.push(**call),
            // Beside it: no row.
            Some((_, last)) if call.begin < last.end => {}
            _ => rows.push((call.remote, vec![**call])),
        }
    }
    let sum = |row: &[Asked]| row.iter().map(|call| call.end - call.begin).sum::<u64>();
    rows.into_iter().map(|(_, row)| row).max_by_key(|row| sum(row))
}

/// Whether a call is asked as soon as the one before is over.
fn follows(last: &Asked, call: &Asked) -> bool {
    let longest = (last.end - last.begin).max(call.end - call.begin);
    call.begin >= last.end && call.begin - last.end <= longest.max(PAUSE_LEAST_NS)
}
