//! Segments of a request's own connection are lost on the way, and are sent again when a timer goes
//! off: 200 ms at the least where one is on its way, twice as long each time (RFC 6298, Linux
//! `TCP_RTO_MIN`).

use slowpath_attribution::StateSet;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::ledger::{NAMED_EPISODES, NAMED_SHARE_LOW};
use crate::predict::without_waits;
use crate::trace::looked::{Looked, each_ns, touched};
use crate::trace::repeated::{Repeated, SEGMENT_BYTES, TIMER_LEAST_NS, Wait};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, plural};

/// What records it, and what had left before.
const TRACEPOINTS: [&str; 2] = [
    "trace.tcp:tcp_retransmit_skb",
    "trace.sock:sock_send_length",
];

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::NETWORK
        .and(StateSet::HANDSHAKE)
        .and(StateSet::CLIENT)
        .and(StateSet::UNTRACED),
    may_be_the_work: false,
};

/// A wait of a followed request.
struct Waited {
    sample: u32,
    slow: bool,
    wait: Wait,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let candidates = candidates(case, endpoint);
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return ruled_out(endpoint, &candidates).unwrap_or(*blind),
    };
    if let Some(gap) = case.timeline().gap_named(&TRACEPOINTS) {
        return ruled_out(endpoint, &candidates).unwrap_or_else(|| Verdict::Blind {
            missing: format!("what was sent again: {}", gap.reason),
            remedy: gap.remedy.clone(),
        });
    }
    let waited = waited(case, &looked);
    if waited.is_empty() {
        return nothing(endpoint, &looked, &candidates);
    }
    let claims: Vec<Claim> = waited.iter().map(claim).collect();
    if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        return blind;
    }
    found(case, endpoint, &looked, &waited, claims)
}

/// What followed requests waited for until it was sent again. The first request of a connection that the
/// listener dropped is repeated too: that is its queue's doing.
fn waited(case: &Case<'_>, looked: &Looked<'_>) -> Vec<Waited> {
    let listener_drops = case.listener_drops();
    let again = Repeated::of(looked.inside);
    let mut all = Vec::new();
    for walked in &looked.join.walked {
        let position = walked.joined.sample;
        let sample = case.sample(position);
        if listener_drops && sample.connect_begin().is_some() {
            continue;
        }
        let waits = again.waits(looked.inside, &walked.joined, sample);
        all.extend(waits.into_iter().map(|wait| Waited {
            sample: position,
            slow: walked.slow,
            wait,
        }));
    }
    all
}

fn claim(w: &Waited) -> Claim {
    Claim {
        sample: w.sample,
        span: w.wait.span(),
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    waited: &[Waited],
    claims: Vec<Claim>,
) -> Verdict {
    let place = looked.place(endpoint, &claims);
    let counts = |w: &&Waited| place != Place::Tail || w.slow;
    let counted: Vec<&Waited> = waited.iter().filter(counts).collect();
    let requests = counted.iter().filter(|w| w.wait.by_client).count() as u64;
    let answers = counted.len() as u64 - requests;
    let own: Vec<Claim> = counted.into_iter().map(claim).collect();
    let (touched, each) = (touched(&own) as u64, human(each_ns(own.iter())));
    let text = format!(
        "of {} followed requests {touched} waited until something was sent again on their own connection, \
         {each} each in the median: {requests} times the request, {answers} times the answer",
        looked.join.walked.len()
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "segments between client and server are lost, and {} waited {each} until they were sent again; \
             look at the path: a full queue, a policer, a bad link, a firewall",
            plural(touched, "followed request")
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}

/// Slow requests that may have waited for a timer of TCP, ascending.
fn candidates(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<u32> {
    let may = |&&position: &&u32| {
        let sample = case.sample(position);
        let begin = sample.sent().unwrap_or(sample.ready());
        let is_long = sample.done().since(begin) >= TIMER_LEAST_NS;
        let largest = sample.received_bytes().max(u64::from(sample.sent_bytes()));
        is_long || largest > SEGMENT_BYTES
    };
    endpoint.split.slow.iter().filter(may).copied().collect()
}

/// That too few of the slow requests can have waited for a timer of TCP, if so: that takes no trace.
fn ruled_out(endpoint: &EndpointCase, candidates: &[u32]) -> Option<Verdict> {
    let slow = endpoint.split.slow.len();
    ((candidates.len() as f64) < NAMED_SHARE_LOW * slow as f64 || slow == 0).then(|| {
        Verdict::Absent(format!(
            "{} of {slow} slow requests took 200 ms or longer, or more than a segment: others wait for no \
             timer of TCP",
            candidates.len()
        ))
    })
}

/// Nothing that a followed request waited for was seen to be sent again.
fn nothing(endpoint: &EndpointCase, looked: &Looked<'_>, candidates: &[u32]) -> Verdict {
    if let Some(cleared) = ruled_out(endpoint, candidates) {
        return cleared;
    }
    let walked = looked.join.walked.iter();
    let seen = walked.filter(|w| candidates.binary_search(&w.joined.sample).is_ok());
    let (seen, all) = (seen.count(), candidates.len());
    if seen < NAMED_EPISODES.min(all.div_ceil(2)) {
        return Verdict::Blind {
            missing: format!(
                "whether segments were sent again: {seen} of {all} slow requests that may have waited for \
                 that were followed"
            ),
            remedy: "measure longer".to_owned(),
        };
    }
    Verdict::Absent(format!(
        "none of {} followed requests waited for something that was sent again",
        looked.join.walked.len()
    ))
}
