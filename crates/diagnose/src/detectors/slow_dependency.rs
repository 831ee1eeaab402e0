//! Requests wait for the replies of another: a database, a cache, another service.
//!
//! A request waits for a reply while its thread, or the loop that serves it, has asked and does not
//! run. Waiting for a lock whose holder has asked is the lock's.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::median::median;
use slowpath_core::trace::Role;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Segment, Source};
use crate::predict::without_waits;
use crate::trace::calls::Calls;
use crate::trace::inside::{Inside, Walked, summed};
use crate::trace::looked::Looked;
use crate::trace::pieces::{Behalf, Hop, How, LeafKind, Piece};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A reply that all requests wait for is slow from here on: within a data centre a round trip takes
/// less than 1 ms, and a look-up a few, so that what takes less is what asking costs.
const FLOOR_LEAST_NS: f64 = 20.0 * MILLISECOND as f64;
/// Whom requests wait for is told down to this share of the time.
const NAMED_LEAST: f64 = 0.2;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: true,
};

/// A part of a request that was spent waiting for a reply.
struct Waited {
    claim: Claim,
    whom: String,
    slow: bool,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    let inside = looked.inside;
    let calls = Calls::of(case, inside);
    let mut waited = Vec::new();
    let mut whole = 0;
    for walked in &looked.join.walked {
        whole += usize::from(waits_of(inside, &calls, walked, &mut waited));
    }
    let n = looked.join.walked.len();
    if waited.is_empty() {
        let text = format!("none of {n} requests waited for a reply from another server");
        return if calls.is_empty() || 2 * whole >= n {
            looked.cleared(endpoint, text)
        } else {
            hidden(n - whole)
        };
    }
    let claims: Vec<Claim> = waited.iter().map(|w| w.claim).collect();
    if let Some(blind) = looked.too_small(case, endpoint, &claims) {
        return blind;
    }
    let place = looked.place(endpoint, &claims);
    let each = each_ns(&waited, place);
    if place == Place::Floor && each < FLOOR_LEAST_NS {
        if 2 * whole < n {
            return hidden(n - whole);
        }
        return Verdict::Cleared(format!(
            "requests wait {} for replies from others, in the median: as much as asking takes",
            human(each)
        ));
    }
    let told = waited.iter().filter(|w| place != Place::Tail || w.slow);
    let who = summed(told.map(|w| (w.whom.clone(), w.claim.span.len_ns() as f64)));
    let total: f64 = who.iter().map(|(_, ns)| ns).sum();
    let shares = who.iter().map(|(whom, ns)| (whom, ns / total.max(1.0)));
    let named = shares.filter(|(_, share)| *share >= NAMED_LEAST);
    let named: Vec<String> = named.map(|(w, s)| format!("{w} ({})", percent(s))).collect();
    let whom = who.first().map_or("", |(whom, _)| whom.as_str());
    let text = format!(
        "{} of {n} followed requests wait for replies, {} each in the median{}: from {}",
        touched(&claims),
        human(each),
        if place == Place::Tail { " of the slow ones" } else { "" },
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

/// Nothing says which of many requests under way at once a call belongs to.
fn hidden(overlapping: usize) -> Verdict {
    Verdict::Blind {
        missing: format!(
            "which calls belong to which request: {overlapping} requests were under way with others in a \
             runtime that keeps what waits in user space"
        ),
        remedy: "measure with one connection, or send spans (OTLP) to slowpath".to_owned(),
    }
}

/// What a request waited for replies, appended to `out`; whether all that it asked for is known.
fn waits_of(inside: &Inside<'_>, calls: &Calls, walked: &Walked, out: &mut Vec<Waited>) -> bool {
    let own = calls.own(inside, walked);
    let mut put = |begin: u64, end: u64, whom: String| {
        let span = Span::new(Nanos::new(begin.max(1)), Nanos::new(end.max(1)));
        let sample = walked.joined.sample;
        let claim = Claim { sample, span };
        out.push(Waited {
            claim,
            whom,
            slow: walked.slow,
        });
    };
    let pieces = walked.pieces.iter().filter(|p| p.segment == Segment::Service);
    for piece in pieces.filter(|piece| piece.behalf == Behalf::Own) {
        let hops = inside.chains.hops(piece.chain);
        if !is_wait(piece, &hops) {
            continue;
        }
        // In order of their ends: what is under way together is counted once.
        let mut at = piece.begin;
        for call in &own.calls {
            let (begin, end) = (call.begin.max(at), call.end.min(piece.end));
            if begin < end {
                put(begin, end, inside.other_end(call.socket).unwrap_or_default());
                at = end;
            }
        }
        let by_peer = hops.iter().find(|hop| hop.how == How::Sent && is_peer(inside, hop.tid));
        if let Some(peer) = by_peer.filter(|_| at == piece.begin && calls.is_empty()) {
            let name = format!("process {}", inside.process_name(peer.tid));
            put(piece.begin, piece.end, name);
        }
    }
    own.whole
}

/// Whether the request's own thread, or one that it asked, waits for what comes from outside of the
/// process.
fn is_wait(piece: &Piece, hops: &[Hop]) -> bool {
    let own = |hop: &&Hop| matches!(hop.how, How::Serves | How::Asked);
    let of_others = hops.iter().find(|hop| !own(hop));
    let at_rest = matches!(
        piece.leaf.kind,
        LeafKind::Network | LeafKind::Data | LeafKind::Peer | LeafKind::RuntimeIdle
    );
    of_others.map_or(at_rest, |hop| hop.how == How::Sent)
}

fn is_peer(inside: &Inside<'_>, tid: u32) -> bool {
    let process = inside.trace().process_of(tid);
    process.is_some_and(|process| process.role == Role::Peer)
}

/// How long a request waits, in the median; a slow one if that is where it lies.
fn each_ns(waited: &[Waited], place: Place) -> f64 {
    let mut each: BTreeMap<u32, u64> = BTreeMap::new();
    for w in waited.iter().filter(|w| place != Place::Tail || w.slow) {
        *each.entry(w.claim.sample).or_default() += w.claim.span.len_ns();
    }
    let mut each: Vec<f64> = each.into_values().map(|ns| ns as f64).collect();
    median(&mut each).unwrap_or(0.0)
}

fn touched(claims: &[Claim]) -> usize {
    let mut touched: Vec<u32> = claims.iter().map(|claim| claim.sample).collect();
    touched.dedup();
    touched.len()
}
