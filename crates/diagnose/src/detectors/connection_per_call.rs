//! A connection is made for each request and given up behind it: by the scenario's own clients, or by
//! the target whenever it asks another server. Handshakes are then in all of them.

use slowpath_attribution::StateSet;
use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::Call;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::handshakes::{are_kept, cost};
use crate::ledger::{NAMED_EPISODES, NAMED_SHARE};
use crate::predict::{without_claims, without_waits};
use crate::trace::calls::Calls;
use crate::trace::index::{Sockets, TrafficKind};
use crate::trace::inside::Walked;
use crate::trace::looked::Looked;
use crate::trace::pieces::{Behalf, LeafKind};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Handshakes that take less of a request than this are not what makes it slow.
const SHARE_LEAST: f64 = 0.2;
/// The target makes a connection for each request from so many of them on: a pool that grows, or
/// replaces what was closed, makes far fewer.
const OPENS_LEAST: f64 = 0.5;

/// Fewer slow requests that make one may have met a pool that grew.
const SLOW_FEWEST: usize = NAMED_EPISODES;
/// A session is set up in so many turns at least: TLS 1.3 and a question are two, and the login of a database or a mail server
/// has more (RFC 5321, section 4.1.4; PostgreSQL, section 55.2.1 of its manual).
const TURNS_LEAST: usize = 3;
/// So much may still be written on a connection after the request that it was made for: a farewell (`QUIT`, a Terminate message)
/// and the close_notify of TLS.
const FAREWELL_MOST: usize = 2;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::REPLY.and(StateSet::UNKNOWN),
    // Whoever measures what new clients meet has asked for it.
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if are_kept(case, endpoint) {
        return of_the_target(case, endpoint, "");
    }
    let claims = of_tls(case, endpoint);
    let Some((each_ns, share)) = cost(case, &claims) else {
        let own = "the client's own dials, which the scenario asks for, take one round trip; ";
        return of_the_target(case, endpoint, own);
    };
    if share < SHARE_LEAST {
        let own = format!(
            "TLS on the client's own connections takes {}, {} of a request; ",
            human(each_ns as f64),
            percent(share)
        );
        return of_the_target(case, endpoint, &own);
    }
    let text = format!(
        "{} of {} requests began TLS anew: {} in the median, {} of the request",
        claims.len(),
        endpoint.completed.len(),
        human(each_ns as f64),
        percent(share)
    );
    let place = Place::Floor;
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "each request has a connection of its own, as the scenario asks, and waits {} for TLS \
             on it; keep connections, unless it is new clients that are to be measured",
            human(each_ns as f64)
        ),
        evidence: vec![evidence(Source::Client, "secured_ns", text)],
        culprit: Culprit::default(),
    })
}

/// What TLS takes of each request. TCP's round trip is the distance, and the wire that floors are
/// held against: who asks for a new connection each time has asked for that.
fn of_tls(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Claim> {
    let of = |&sample: &u32| {
        let own = case.sample(sample);
        let span = Span::new(own.connected()?, own.secured()?);
        own.connect_begin().map(|_| Claim { sample, span })
    };
    endpoint.completed.iter().filter_map(of).collect()
}

/// Whether the target makes a connection to another server for each request, and waits for it.
fn of_the_target(case: &Case<'_>, endpoint: &EndpointCase, own: &str) -> Verdict {
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    let n = looked.join.walked.len();
    let claims = connecting(&looked);
    let waited: BTreeSet<u32> = claims.iter().map(|claim| claim.sample).collect();
    if waited.len() as f64 >= OPENS_LEAST * n as f64 {
        return found(case, endpoint, &looked, claims, waited.len());
    }
    let calls = looked.inside.calls(case);
    let walked = &looked.join.walked;
    let opening = |w: &&Walked| opens(&looked, calls, w);
    let opening: Vec<&Walked> = walked.iter().filter(opening).collect();
    if are_usual(walked, &opening) {
        let opened = opening.len();
        return Verdict::Blind {
            missing: format!(
                "what the connections cost that the target makes anew: {opened} of {n} followed \
                 requests had one of their own to another server, and a thread of {} was seen to wait until \
                 it was made",
                waited.len()
            ),
            remedy: "keep those connections (a pool), and compare; or send spans (OTLP) to slowpath"
                .to_owned(),
        };
    }
    let text = format!(
        "{own}{} of {n} followed requests waited until the target had connected to another server",
        waited.len()
    );
    Verdict::Absent(text)
}

/// Whether most followed requests are of a kind, or most of the slow ones.
fn are_usual(walked: &[Walked], of_kind: &[&Walked]) -> bool {
    let most = |part: usize, of: usize| part as f64 >= OPENS_LEAST * of as f64;
    let slow = walked.iter().filter(|w| w.slow).count();
    let slow_of_kind = of_kind.iter().filter(|w| w.slow).count();
    most(of_kind.len(), walked.len()) || slow_of_kind >= SLOW_FEWEST && most(slow_of_kind, slow)
}

/// The parts of requests in which their thread, or one of the target that it asked, connects.
fn connecting(looked: &Looked<'_>) -> Vec<Claim> {
    let picked = looked.pick(|_, piece, hops| {
        let leaf = &piece.leaf;
        piece.behalf == Behalf::Own
            && leaf.kind == LeafKind::Network
            && leaf.call == Some(Call::Connect)
            && hops.iter().all(|hop| looked.inside.stays_inside(hop))
    });
    let claim = |p: &crate::trace::looked::Picked<'_>| Claim {
        sample: p.walked.joined.sample,
        span: Span::new(Nanos::new(p.piece.begin), Nanos::new(p.piece.end)),
    };
    picked.iter().map(claim).collect()
}

/// Whether a connection is made for one request, which is served in a time: the first that is said on it is said then, and no
/// further request is asked for on it. A pool that grows keeps what it has made.
fn is_opened_for(sockets: &Sockets, socket: u32, (begin, end): (u64, u64)) -> bool {
    let traffic = sockets.traffic(socket);
    if !traffic.first().is_some_and(|t| (begin..=end).contains(&t.at)) {
        return false;
    }
    let after = &traffic[traffic.partition_point(|t| t.at <= end)..];
    let written = after.iter().filter(|t| t.kind == TrafficKind::Wrote);
    written.take(FAREWELL_MOST + 1).count() <= FAREWELL_MOST
}

/// Whether a request was asked for on a connection of its own.
fn opens(looked: &Looked<'_>, calls: &Calls, walked: &Walked) -> bool {
    let service = walked.joined.part(Phase::Service);
    let own = calls.own(looked.inside, walked);
    own.calls
        .iter()
        .any(|call| is_opened_for(&looked.inside.index.sockets, call.socket, service))
}

/// Whether so much of what slow requests wait for replies is on connections that each of them has opened, in turns before what these are
/// for, that it could be named: greeting, encryption and login of such a session would be spared if the connection were kept, and where they end is not seen.
pub(crate) fn has_sessions_anew(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let Ok(looked) = Looked::at(case, endpoint) else {
        return false;
    };
    let calls = looked.inside.calls(case);
    let slow: Vec<&Walked> = looked.join.walked.iter().filter(|w| w.slow).collect();
    if slow.len() < SLOW_FEWEST {
        return false;
    }
    let (mut all_ns, mut anew_ns) = (0, 0);
    for walked in slow {
        let service = walked.joined.part(Phase::Service);
        let own = calls.known(looked.inside, walked);
        let mut lengths: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for call in &own.calls {
            let ns = call.end.saturating_sub(call.begin);
            all_ns += ns;
            lengths.entry(call.socket).or_default().push(ns);
        }
        lengths.retain(|&socket, turns| {
            turns.len() >= TURNS_LEAST
                && is_opened_for(&looked.inside.index.sockets, socket, service)
        });
        for turns in lengths.values() {
            // The one that takes longest is what the connection is for.
            let longest = turns.iter().max().copied().unwrap_or(0);
            anew_ns += turns.iter().sum::<u64>() - longest;
        }
    }
    all_ns > 0 && anew_ns as f64 >= NAMED_SHARE * all_ns as f64
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    claims: Vec<Claim>,
    waited: usize,
) -> Verdict {
    let place = endpoint.place_of(&claims);
    let whole: u64 = claims.iter().map(|claim| claim.span.len_ns()).sum();
    let each_ns = whole as f64 / waited.max(1) as f64;
    let text = format!(
        "{waited} of {} followed requests waited until the target had connected, {} each",
        looked.join.walked.len(),
        human(each_ns)
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "the target connects to another server for each request, and waits {} for it; let it keep \
             connections in a pool",
            human(each_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}
