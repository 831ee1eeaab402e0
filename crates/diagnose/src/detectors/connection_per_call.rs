//! A connection is made for each request and closed after it: by the scenario's own clients, or by
//! the target whenever it asks another server. Handshakes are then in all of them.

use std::collections::BTreeSet;

use slowpath_attribution::StateSet;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::Call;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, rows_of_calls};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::handshakes::{are_kept, cost};
use crate::ledger::NAMED_EPISODES;
use crate::predict::{without_claims, without_waits};
use crate::sessions::{opens, sessions, spared};
use crate::trace::inside::Walked;
use crate::trace::looked::{Looked, each_ns, touched};
use crate::trace::pieces::{Behalf, LeafKind};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Handshakes that take less of a request than this are not what makes it slow.
const SHARE_LEAST: f64 = 0.2;
/// The target makes a connection for each request from so many of them on: a pool that grows, or
/// replaces what was closed, makes far fewer.
const OPENS_LEAST: f64 = 0.5;

/// Fewer slow requests that make one may have met a pool that grew.
const SLOW_FEWEST: usize = NAMED_EPISODES;
/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::REPLY.and(StateSet::UNKNOWN),
    // A run that measures what new clients meet makes new connections on purpose.
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
        "{} of {} requests began TLS again: {} in the median, {} of the request",
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
/// compared with: a client that asks for a new connection each time has asked for that.
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
    let connecting = connecting(&looked);
    let waited = samples(&connecting);
    let sessions = of_sessions(case, endpoint, &looked);
    let walked = &looked.join.walked;
    if are_usual(walked, &samples(&sessions)) {
        let does = "connected to another server and set up a session in several turns that ended with the request";
        let costs = "on setting up a session (greeting, encryption, login)";
        return found((case, endpoint), &looked, sessions, (does, costs));
    }
    if waited.len() as f64 >= OPENS_LEAST * n as f64 {
        let does = "waited until the target had connected";
        return found(
            (case, endpoint),
            &looked,
            connecting,
            (does, "on connecting"),
        );
    }
    let calls = looked.inside.calls(case);
    let opening = walked.iter().filter(|w| opens(looked.inside, calls, w));
    let opening: BTreeSet<u32> = opening.map(|w| w.joined.sample).collect();
    if are_usual(walked, &opening) {
        let opened = opening.len();
        return Verdict::Blind {
            missing: format!(
                "what the connections cost that the target makes anew: {opened} of {n} followed \
                 requests had one of their own to another server, and a thread of {} was seen to wait until \
                 it was made",
                waited.len()
            ),
            remedy:
                "keep those connections (a pool), and compare; or send spans (OTLP) to slowpath"
                    .to_owned(),
        };
    }
    let text = format!(
        "{own}{} of {n} followed requests waited until the target had connected to another server",
        waited.len()
    );
    Verdict::Absent(text)
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

/// Whether most slow requests set up a session each, in several turns, and others mostly do not (or whether most requests do where none is
/// slow): a turn that is slow may be one of the set-up.
pub(crate) fn have_sessions(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let Ok(looked) = Looked::at(case, endpoint) else {
        return false;
    };
    let own = samples(&of_sessions(case, endpoint, &looked));
    let (slow, others): (Vec<&Walked>, Vec<&Walked>) =
        looked.join.walked.iter().partition(|w| w.slow);
    let most = |walked: &[&Walked]| {
        let own = walked.iter().filter(|w| own.contains(&w.joined.sample));
        own.count() as f64 >= OPENS_LEAST * walked.len().max(1) as f64
    };
    if slow.is_empty() {
        most(&others)
    } else {
        most(&slow) && !most(&others)
    }
}

/// What requests would be spared of the sessions that they set up; rows of calls are rows, whatever they are asked on.
fn of_sessions(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Vec<Claim> {
    let all = sessions(looked.inside);
    if all.is_empty() {
        return Vec::new();
    }
    let rows = rows_of_calls(case, endpoint, looked, looked.inside.calls(case));
    let walked = looked.join.walked.iter();
    let own = walked.filter(|walked| !rows.contains_key(&walked.joined.sample));
    own.flat_map(|walked| spared(looked.inside, looked.inside.calls(case), &all, walked))
        .collect()
}

/// The requests that are claimed.
fn samples(claims: &[Claim]) -> BTreeSet<u32> {
    claims.iter().map(|claim| claim.sample).collect()
}

/// Whether so many followed requests are most of them, or of the slow ones.
fn are_usual(walked: &[Walked], samples: &BTreeSet<u32>) -> bool {
    let most = |part: usize, of: usize| part as f64 >= OPENS_LEAST * of as f64;
    let slow = walked.iter().filter(|w| w.slow);
    let slow_own = slow.clone().filter(|w| samples.contains(&w.joined.sample));
    let slow_own = slow_own.count();
    most(samples.len(), walked.len()) || slow_own >= SLOW_FEWEST && most(slow_own, slow.count())
}

/// What requests are seen to spend so; `does` says what they do, and `costs` what it costs them.
fn found(
    (case, endpoint): (&Case<'_>, &EndpointCase),
    looked: &Looked<'_>,
    claims: Vec<Claim>,
    (does, costs): (&str, &str),
) -> Verdict {
    let place = endpoint.place_of(&claims);
    let counts = |claim: &&Claim| {
        place != Place::Tail || endpoint.split.slow.binary_search(&claim.sample).is_ok()
    };
    let each = human(each_ns(claims.iter().filter(counts)));
    let text = format!(
        "{} of {} followed requests {does}, {each} each in the median",
        touched(&claims),
        looked.join.walked.len()
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "the target connects to another server for each of these requests, and spends {each} {costs}; let it keep \
             connections in a pool"
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}
