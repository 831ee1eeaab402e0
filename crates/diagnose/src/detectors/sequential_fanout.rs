//! A request asks another server many times, each time only when the reply before is there.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::rows::{CALLS_LEAST, Row, is_fanout, longest_row};
use crate::trace::calls::{Asked, Calls, Own};
use crate::trace::inside::{Walked, summed};
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// It belongs to the endpoint if so many of its requests (of the slow ones in a tail) do it.
const REQUESTS_LEAST: f64 = 0.5;
/// Calls that all requests make are slow together from here on: what takes less is not felt.
const FLOOR_LEAST_NS: f64 = 5.0 * MILLISECOND as f64;

/// What would show which call belongs to which request.
pub(super) const ONE_CONNECTION: &str =
    "measure with one connection, or send spans (OTLP) to slowpath";

/// What would distinguish calls from the making of connections.
const KEEP: &str =
    "let the target keep its connections to that server, or send spans (OTLP) to slowpath";

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::REPLY.and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let calls = looked.inside.calls(case);
    if calls.is_empty() {
        return Verdict::Absent("the target was not seen to ask any other server".to_owned());
    }
    judged(case, endpoint, looked, calls).0
}

/// Which servers which requests call sequentially, if that is named: those calls are no slow reply's.
pub(crate) fn named(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    calls: &Calls,
) -> BTreeMap<u32, SocketAddr> {
    let (verdict, rows) = judged(case, endpoint, looked, calls);
    let is_named = matches!(verdict, Verdict::Found(_));
    let rows = rows.iter().filter(|_| is_named);
    rows.filter_map(|row| Some((row.sample, row.calls.first()?.remote)))
        .collect()
}

/// What is said, and the rows of requests that consist of one.
fn judged(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    calls: &Calls,
) -> (Verdict, Vec<Row>) {
    let met = Met::of(looked, calls);
    let n = looked.join.walked.len();
    let claims: Vec<Claim> = met.rows.iter().flat_map(|row| row.claims(None)).collect();
    let place = looked.place_within(endpoint, &claims, met.known);
    let counts = |row: &&Row| place != Place::Tail || row.slow;
    let rows: Vec<&Row> = met.rows.iter().filter(counts).collect();
    let is_usual = met.is_usual(looked, place);
    if !is_usual && !looked.are_most(met.whole) {
        return (met.hidden(n), Vec::new());
    }
    let verdict = if !is_usual {
        Verdict::Absent(format!(
            "{} of {n} requests ask one server {CALLS_LEAST} times or more, one after the other, for most \
             of their time (at most {} times in a row)",
            rows.len(),
            met.most
        ))
    } else if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        blind
    } else if 2 * rows.iter().filter(|row| row.shared).count() > rows.len() {
        Verdict::Lead {
            place,
            claims,
            missing:
                "which calls belong to which request: others ask on the same connections at that time".into(),
            remedy: ONE_CONNECTION.to_owned(),
        }
    } else {
        found(case, endpoint, looked, (place, claims), &rows)
    };
    (verdict, met.rows)
}

/// What requests were seen to ask.
#[derive(Default)]
struct Met {
    /// Of those that consist of a row of calls.
    rows: Vec<Row>,
    /// Requests of which all calls are known: of the others, and of the slow ones.
    whole: [usize; 2],
    /// With those of which a row is known.
    known: [usize; 2],
    /// Requests of whose calls some make the connection first.
    connect: usize,
    /// The longest row.
    most: usize,
}

impl Met {
    fn of(looked: &Looked<'_>, calls: &Calls) -> Self {
        let mut met = Self::default();
        for walked in &looked.join.walked {
            let own = calls.own(looked.inside, walked);
            met.take(looked, calls, walked, &own);
        }
        met
    }

    fn take(&mut self, looked: &Looked<'_>, calls: &Calls, walked: &Walked, own: &Own<'_>) {
        let joined = &walked.joined;
        let is_whole = own.whole;
        let own = &own.calls[..];
        let row = |calls: &[&Asked]| {
            let row = longest_row(calls)?;
            Some((is_fanout(&row, joined.latency_ns()), row))
        };
        // A connection that is made has its own questions: a greeting, keys, a login. One that is
        // asked a single time had none.
        let (begin, _) = joined.part(Phase::Service);
        let is_old = |call: &&Asked| {
            let traffic = looked.inside.index.sockets.traffic(call.socket);
            let is_alone = || {
                own.iter()
                    .filter(|other| other.socket == call.socket)
                    .count()
                    == 1
            };
            traffic.first().is_some_and(|first| first.at < begin) || is_alone()
        };
        let old: Vec<&Asked> = own.iter().copied().filter(is_old).collect();
        let kept = row(&old);
        let is_row = |row: &Option<(bool, Vec<Asked>)>| row.as_ref().is_some_and(|row| row.0);
        if !is_row(&kept) && old.len() < own.len() && is_row(&row(own)) {
            self.connect += 1;
            return;
        }
        // A row is one, whatever was asked beside it.
        if !is_whole && !is_row(&kept) {
            return;
        }
        self.whole[usize::from(walked.slow)] += usize::from(is_whole);
        self.known[usize::from(walked.slow)] += 1;
        let Some((is_fanout, kept)) = kept else {
            return;
        };
        self.most = self.most.max(kept.len());
        if is_fanout {
            self.rows.push(Row {
                sample: joined.sample,
                slow: walked.slow,
                whole: is_whole,
                shared: calls.are_shared(&kept),
                calls: kept,
            });
        }
    }

    /// Whether most requests have a row, or of a tail most slow ones: of all of them at least, or of those of which all calls
    /// are known, if these are most.
    fn is_usual(&self, looked: &Looked<'_>, place: Place) -> bool {
        let is_of = |slow: bool| place != Place::Tail || slow;
        let rows = || self.rows.iter().filter(|row| is_of(row.slow));
        let of_whole = rows().filter(|row| row.whole).count();
        let all = looked.join.walked.iter().filter(|w| is_of(w.slow)).count();
        let whole = self.whole[1]
            + if place == Place::Tail {
                0
            } else {
                self.whole[0]
            };
        let is_most =
            |part: usize, of: usize| part > 0 && part as f64 >= REQUESTS_LEAST * of as f64;
        is_most(rows().count(), all) || looked.are_most(self.whole) && is_most(of_whole, whole)
    }

    /// Too little is known of `n` requests.
    fn hidden(&self, n: usize) -> Verdict {
        let unknown = n - self.whole[0] - self.whole[1];
        let connect = self.connect;
        let (missing, remedy) = if 2 * connect >= unknown {
            let what = "which calls are questions, and which make a connection";
            let text =
                format!("{what}: {connect} of {n} requests ask on connections that they make");
            (text, KEEP)
        } else {
            let text = format!(
                "which calls belong to which request: {unknown} of {n} were under way with others in one \
                 loop or runtime, or asked through a thread that asks for many"
            );
            (text, ONE_CONNECTION)
        };
        let remedy = remedy.to_owned();
        Verdict::Blind { missing, remedy }
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    (place, claims): (Place, Vec<Claim>),
    rows: &[&Row],
) -> Verdict {
    let middle = |of: &dyn Fn(&Row) -> f64| {
        let mut all: Vec<f64> = rows.iter().map(|row| of(row)).collect();
        median(&mut all).unwrap_or(0.0)
    };
    let count = middle(&|row| row.calls.len() as f64);
    let each_ns = middle(&|row| row.sum_ns() as f64 / row.calls.len() as f64);
    let sum_ns = middle(&|row| row.sum_ns() as f64);
    if place == Place::Floor && sum_ns < FLOOR_LEAST_NS {
        let all = human(sum_ns);
        return Verdict::Absent(format!(
            "requests ask {count:.0} times one after the other, but all of it takes {all}"
        ));
    }
    let calls = || rows.iter().flat_map(|row| &row.calls);
    let whom = summed(calls().map(|call| (call.remote, 1.0)));
    let whom = whom
        .first()
        .and_then(|(most, _)| calls().find(|c| c.remote == *most));
    let whom = whom
        .and_then(|call| looked.inside.other_end(call.socket))
        .unwrap_or_default();
    let fewer = rows.iter().flat_map(|row| row.claims(row.longest()));
    let fewer: Vec<Claim> = fewer.collect();
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
