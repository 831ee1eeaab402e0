//! Requests wait for the replies of another: a database, a cache, another service.
//!
//! A request waits for a reply while its thread, or the loop that serves it, has asked and does not
//! run. Waiting for a lock whose holder has asked is the lock's.

use slowpath_attribution::StateSet;
use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, sequential_fanout};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::ledger::NAMED_SHARE;
use crate::predict::without_waits;
use crate::trace::calls::waits::{Awaited, comes_unseen, waits};
use crate::trace::calls::{Calls, during, settled};
use crate::trace::inside::{Inside, Walked, summed};
use crate::trace::looked::{Looked, each_ns, touched};
use crate::trace::pieces::Behalf;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A reply that all requests wait for is slow from here on: within a data centre a round trip takes
/// less than 1 ms, and a look-up a few, so that what takes less is what asking costs.
const FLOOR_LEAST_NS: f64 = 20.0 * MILLISECOND as f64;
/// A server that requests wait for is named down to this share of the time.
const NAMED_LEAST: f64 = 0.2;
/// Requests that wait for this share of their time for what comes over no connection may wait for
/// another server over UDP, or on a Unix socket that was not seen: nothing is ruled out then.
const UNSEEN_LEAST: f64 = 0.2;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::REPLY.and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

/// A part of a request that was spent waiting for a reply.
struct Waited {
    claim: Claim,
    whom: String,
    slow: bool,
}

/// What requests were seen to wait for.
#[derive(Default)]
struct Met {
    waited: Vec<Waited>,
    /// Requests of which that is known: of the others, and of the slow ones.
    known: [usize; 2],
    /// Those of which all is known that they asked for.
    whole: [usize; 2],
    /// How long those of which something is known were in all, and waited for what came over no TCP connection.
    whole_ns: u64,
    unseen_ns: u64,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let calls = looked.inside.calls(case);
    let rows = sequential_fanout::named(case, endpoint, looked, calls);
    let mut met = Met::default();
    for walked in &looked.join.walked {
        let row = rows.get(&walked.joined.sample).copied();
        met.take(looked.inside, calls, walked, row);
    }
    let n = looked.join.walked.len();
    let unknown = met.unknown(looked, calls, met.known);
    if met.waited.is_empty() {
        let text = format!("none of {n} requests waited for one reply from another server");
        return unknown.unwrap_or(Verdict::Absent(text));
    }
    let claims: Vec<Claim> = met.waited.iter().map(|w| w.claim).collect();
    if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        return blind;
    }
    let mut place = looked.place_within(endpoint, &claims, met.known);
    // All of the tail in too few episodes to be named for it, and next to nothing of the others, is of the tail.
    let of_tail = endpoint.share_at_most(Place::Tail, &claims);
    if typical_ns(&met.waited, Place::Floor) < FLOOR_LEAST_NS
        && of_tail.is_some_and(|s| s >= NAMED_SHARE)
    {
        place = Place::Tail;
    }
    if place == Place::Tail && !met.waited.iter().any(|w| w.slow) {
        let text =
            "no slow request that was followed waited for one reply from another server".to_owned();
        return unknown.unwrap_or(Verdict::Absent(text));
    }
    let each = typical_ns(&met.waited, place);
    if place == Place::Floor && each < FLOOR_LEAST_NS {
        let text = format!(
            "requests wait {} for replies from others, in the median: as much as asking takes",
            human(each)
        );
        return unknown.unwrap_or(Verdict::Absent(text));
    }
    // What is seen of the few that can be followed is no bound of what all wait.
    match met.unknown(looked, calls, met.whole) {
        Some(unknown)
            if endpoint
                .share_at_most(place, &claims)
                .is_some_and(|s| s < NAMED_SHARE) =>
        {
            unknown
        }
        _ => found(case, endpoint, looked, place, &met.waited, claims),
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    place: Place,
    waited: &[Waited],
    claims: Vec<Claim>,
) -> Verdict {
    let each = typical_ns(waited, place);
    let told = waited.iter().filter(|w| place != Place::Tail || w.slow);
    let who = summed(told.map(|w| (w.whom.clone(), w.claim.span.len_ns() as f64)));
    let total: f64 = who.iter().map(|(_, ns)| ns).sum();
    let shares = who.iter().map(|(whom, ns)| (whom, ns / total.max(1.0)));
    let named = shares.filter(|(_, share)| *share >= NAMED_LEAST);
    let named: Vec<String> = named
        .map(|(w, s)| format!("{w} ({})", percent(s)))
        .collect();
    let whom = who.first().map_or("", |(whom, _)| whom.as_str());
    let text = format!(
        "{} of {} followed requests wait for replies, {} each in the median{}: from {}",
        touched(&claims),
        looked.join.walked.len(),
        human(each),
        if place == Place::Tail {
            " of the slow ones"
        } else {
            ""
        },
        named.join(", ")
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for replies from {whom}, {} each; see what makes it slow, ask it for less, or \
             keep what it says",
            human(each)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}

impl Met {
    /// What a request waited for replies, but for those of a row that is named as such.
    fn take(
        &mut self,
        inside: &Inside<'_>,
        calls: &Calls,
        walked: &Walked,
        row: Option<SocketAddr>,
    ) {
        let own = calls.own(inside, walked);
        let settled = settled(&own.calls);
        let joined = &walked.joined;
        let before = self.waited.len();
        let mut unseen_ns = 0;
        let mut put = |begin: u64, end: u64, whom: String| {
            self.waited.push(Waited {
                claim: Claim::between(joined.sample, (begin, end)),
                whom,
                slow: walked.slow,
            });
        };
        let pieces = walked.pieces.iter().filter(|p| p.segment == Phase::Service);
        for piece in pieces.filter(|piece| piece.behalf == Behalf::Own) {
            let hops = inside.chains.hops(piece.chain);
            let Some(awaited) = waits(inside, piece, &hops, joined.socket) else {
                continue;
            };
            let mut asked = false;
            for part in during(&settled, piece) {
                asked = true;
                if row != Some(part.remote) {
                    let (begin, end) = (part.begin.max(piece.begin), part.end.min(piece.end));
                    put(
                        begin,
                        end,
                        inside.other_end(part.socket).unwrap_or_default(),
                    );
                }
            }
            match awaited {
                Awaited::Of(peer) if calls.is_empty() => {
                    let name = format!("process {}", inside.process_name(peer));
                    put(piece.begin, piece.end, name);
                }
                _ if !asked && comes_unseen(inside, piece) => unseen_ns += piece.len_ns(),
                _ => {}
            }
        }
        self.whole[usize::from(walked.slow)] += usize::from(own.whole);
        if own.whole || self.waited.len() > before {
            self.known[usize::from(walked.slow)] += 1;
            self.whole_ns += joined.latency_ns();
            self.unseen_ns += unseen_ns;
        }
    }

    /// Why the cause cannot be ruled out, if so, where this is known of so many.
    fn unknown(&self, looked: &Looked<'_>, calls: &Calls, known: [usize; 2]) -> Option<Verdict> {
        let n = looked.join.walked.len();
        if !calls.is_empty() && !looked.are_most(known) {
            return Some(Verdict::Blind {
                missing: format!(
                    "which calls belong to which request: {} of {n} requests were under way with others \
                     in a loop or a runtime that keeps what waits in user space, or asked through a \
                     thread that asks for many",
                    n - known[0] - known[1]
                ),
                remedy: sequential_fanout::ONE_CONNECTION.to_owned(),
            });
        }
        let share = self.unseen_ns as f64 / self.whole_ns.max(1) as f64;
        (share >= UNSEEN_LEAST).then(|| Verdict::Blind {
            missing: format!(
                "which server requests wait for in {} of their time: what they wait for came over no \
                 connection that was seen (UDP, a pipe, a Unix socket of another network namespace)",
                percent(share)
            ),
            remedy: "let the target ask over TCP, or send spans (OTLP) to slowpath".to_owned(),
        })
    }
}

/// How long a request waits, in the median; a slow one if that is where it lies.
fn typical_ns(waited: &[Waited], place: Place) -> f64 {
    let counts = |w: &&Waited| place != Place::Tail || w.slow;
    each_ns(waited.iter().filter(counts).map(|w| &w.claim))
}
