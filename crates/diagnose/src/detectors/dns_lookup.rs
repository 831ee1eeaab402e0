//! Requests wait until names are looked up: a resolver is asked before the server is called.

use slowpath_attribution::StateSet;
use std::collections::BTreeSet;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::NO_STACK;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, sequential_fanout};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::lookups::Lookups;
use crate::trace::calls::names::{Met, Waited};
use crate::trace::inside::summed;
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A name that all requests look up is slow to look up from here on: a cache on the host answers within
/// a fraction of a millisecond, and asking it costs as much.
const FLOOR_LEAST_NS: f64 = 2.0 * MILLISECOND as f64;
/// Requests that wait for this share of their time for what comes over no connection, and from no
/// resolver that was seen, may wait for one that is asked on a Unix socket: the cause is not ruled out then.
const UNSEEN_LEAST: f64 = 0.2;
/// The tracepoints that report datagrams.
const TRACEPOINTS: [&str; 3] = [
    "trace.sock:sock_send_length",
    "trace.sock:sock_recv_length",
    "trace.fib:fib_table_lookup",
];

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::REPLY.and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    if let Some(gap) = case.timeline().gap_named(&TRACEPOINTS) {
        return Verdict::Blind {
            missing: format!("datagrams, with which names are looked up: {}", gap.reason),
            remedy: gap.remedy.clone(),
        };
    }
    let inside = looked.inside;
    let (lookups, calls) = (Lookups::of(inside), inside.calls(case));
    let mut met = Met::default();
    for walked in &looked.join.walked {
        met.take(inside, &lookups, calls, walked);
    }
    if met.waited.is_empty() {
        return nothing(&met, looked, lookups.is_empty());
    }
    let claims: Vec<Claim> = met.waited.iter().map(|w| w.claim).collect();
    if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        return blind;
    }
    let place = looked.place_within(endpoint, &claims, met.known);
    if place == Place::Tail && !met.waited.iter().any(|w| w.slow) {
        let text = "no slow request that was followed waited for names".to_owned();
        return Verdict::Absent(text);
    }
    let each = met.each_ns(place);
    if place == Place::Floor && each < FLOOR_LEAST_NS {
        let text = format!(
            "requests wait {} for names, in the median: as much as asking takes",
            human(each)
        );
        return Verdict::Absent(text);
    }
    found(case, endpoint, looked, (place, each), &met, claims)
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    (place, each): (Place, f64),
    met: &Met,
    claims: Vec<Claim>,
) -> Verdict {
    let counts = |w: &&Waited| place != Place::Tail || w.slow;
    let touched: BTreeSet<u32> = met
        .waited
        .iter()
        .filter(counts)
        .map(|w| w.claim.sample)
        .collect();
    let who = met.waited.iter().filter(counts);
    let who = summed(who.map(|w| (w.remote, w.claim.span.len_ns() as f64)));
    let whom = who
        .first()
        .map_or_else(String::new, |(remote, _)| remote.to_string());
    let own = met
        .lookups
        .iter()
        .filter(|((sample, _), _)| touched.contains(sample));
    let (all, again) = own.fold((0_u32, 0), |(all, again), (_, repeated)| {
        (all + 1, again + u32::from(*repeated))
    });
    let repeated = match again {
        0 => String::new(),
        _ => format!("; to {again} of {all} no answer came at first, and it was asked again"),
    };
    let text = format!(
        "{} of {} followed requests wait for names, {} each in the median{}: {:.1} lookups a request, at \
         {whom}{repeated}",
        touched.len(),
        looked.join.walked.len(),
        human(each),
        if place == Place::Tail {
            " of the slow ones"
        } else {
            ""
        },
        f64::from(all) / touched.len().max(1) as f64
    );
    let stack = met
        .waited
        .iter()
        .map(|w| w.stack)
        .find(|&stack| stack != NO_STACK);
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait {} until {whom} has looked names up; keep connections, or the addresses, for longer \
             than a request, or ask a cache on the host",
            human(each)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            stack: stack.map_or_else(Vec::new, |stack| looked.inside.stack_words(stack)),
            ..Culprit::default()
        },
    })
}

/// Why no request waited for names, if that is known.
fn nothing(met: &Met, looked: &Looked<'_>, is_none_asked: bool) -> Verdict {
    let n = looked.join.walked.len();
    let unseen = met.unseen_ns as f64 / met.whole_ns.max(1) as f64;
    if unseen >= UNSEEN_LEAST {
        return Verdict::Blind {
            missing: format!(
                "which server requests wait for in {} of their time: what they wait for came over no connection and \
                 from no resolver, which may be asked on a Unix socket",
                percent(unseen)
            ),
            remedy: "send spans (OTLP) of the target's lookups to slowpath".to_owned(),
        };
    }
    if is_none_asked {
        let text = "no thread of the target was seen to ask a name server";
        return Verdict::Absent(text.to_owned());
    }
    if !looked.are_most(met.known) {
        return Verdict::Blind {
            missing: format!(
                "which names are looked up for which request: {} of {n} requests were under way with \
                 others in a loop or a runtime that keeps what waits in user space",
                n - met.known[0] - met.known[1]
            ),
            remedy: sequential_fanout::ONE_CONNECTION.to_owned(),
        };
    }
    let text = format!("names are looked up, but none of {n} followed requests waited for that");
    Verdict::Absent(text)
}
