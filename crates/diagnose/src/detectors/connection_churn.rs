//! Connections are made again and again although their client would keep them: the server ends them
//! after so many requests, when they rest, or to make room for others (RFC 9112, 9.3 and 9.6).

use slowpath_attribution::StateSet;
use slowpath_core::signal::SERVER_SOCKETS;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::connections::limit;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::handshakes::{again, are_kept, claims, constant_number, cost, taken_along};
use crate::ledger::NAMED_EPISODES;
use crate::predict::without_claims;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent, plural};

/// Where so many requests dial there are no others to hold them against: their handshakes are a
/// floor.
const NEARLY_ALL: f64 = 0.9;
/// Of requests that dial so many are slow, or something else decides which are …
const DIALLED_SLOW: f64 = 0.5;
/// … and so many times as often as those that need not.
const TIMES_KEPT: f64 = 3.0;
/// A handshake that takes less of the time of its request than this is not what makes it slow.
const SHARE_LEAST: f64 = 0.2;
/// A handshake that takes so many times as long as a request makes one slow, however few there are.
const TIMES_USUAL: f64 = 3.0;
/// Failures and restarts account for dials from this share of them on.
const OTHERWISE: f64 = 0.5;
/// The server ends connections that rest if so many of them were found closed.
const FOUND_CLOSED: f64 = 0.5;
/// A server with fewer connections at any time than this share of what its clients would keep makes
/// room.
const ROOM_SHARE: f64 = 0.9;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::HANDSHAKE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if !are_kept(case, endpoint) {
        let text = "each request has a connection of its own, as the scenario asks";
        return Verdict::Absent(text.to_owned());
    }
    let ends = |e: &EndpointCase| !are_kept(case, e);
    if case.endpoints.iter().any(ends) {
        let text =
            "requests of another endpoint end the connections that they use, as the scenario asks";
        return Verdict::Absent(text.to_owned());
    }
    let dialled = again(case, endpoint);
    let claims = claims(case, &dialled);
    let told = format!(
        "{} of {} requests had to dial for a connection that the load had had",
        dialled.len(),
        endpoint.completed.len()
    );
    let Some((each_ns, share)) = cost(case, &claims) else {
        return Verdict::Absent(told);
    };
    let of_all = |e: &EndpointCase| again(case, e).len();
    let all: usize = case.endpoints.iter().map(of_all).sum();
    let taken = taken_along(case);
    if taken as f64 >= OTHERWISE * all as f64 {
        return Verdict::Absent(format!(
            "{told}, as failures and restarts of the server took up to {taken} along"
        ));
    }
    let met = Met::of(endpoint, &dialled);
    if dialled.len() < NAMED_EPISODES && is_long(endpoint, each_ns) {
        return Verdict::Blind {
            missing: format!(
                "more connections that end: {} had to dial, which took {} each",
                plural(dialled.len() as u64, "request"),
                human(each_ns as f64)
            ),
            remedy: "measure longer".to_owned(),
        };
    }
    if !met.are_slow() || share < SHARE_LEAST {
        return Verdict::Absent(format!(
            "{told}: handshakes take {} ({} of such a request), and {}",
            human(each_ns as f64),
            percent(share),
            met.text()
        ));
    }
    found(case, endpoint, &met, claims, (&told, each_ns, share))
}

/// Whether a handshake alone makes a request slow.
fn is_long(endpoint: &EndpointCase, each_ns: u64) -> bool {
    let usual = endpoint.latency_ns(0.5).unwrap_or(u64::MAX);
    each_ns as f64 >= TIMES_USUAL * usual as f64
}

/// How many requests dialled, and how many need not; with how many of each are slow.
struct Met {
    dialled: (usize, usize),
    kept: (usize, usize),
}

impl Met {
    fn of(endpoint: &EndpointCase, dialled: &[u32]) -> Self {
        let slow = |of: &[u32]| {
            let slow = |i: &&u32| endpoint.split.slow.binary_search(i).is_ok();
            of.iter().filter(slow).count()
        };
        let (all, all_slow) = (endpoint.completed.len(), slow(&endpoint.completed));
        let own = slow(dialled);
        Self {
            dialled: (dialled.len(), own),
            kept: (all - dialled.len(), all_slow - own),
        }
    }

    fn are_nearly_all(&self) -> bool {
        let all = self.dialled.0 + self.kept.0;
        self.dialled.0 as f64 >= NEARLY_ALL * all as f64
    }

    /// Whether it is dialling that decides which requests are slow, or all dial.
    fn are_slow(&self) -> bool {
        let share = |(all, slow): (usize, usize)| slow as f64 / all.max(1) as f64;
        let dialled = share(self.dialled);
        self.are_nearly_all() || dialled >= DIALLED_SLOW && dialled >= TIMES_KEPT * share(self.kept)
    }

    fn text(&self) -> String {
        format!(
            "{} of {} that dialled are slow, {} of {} others",
            self.dialled.1, self.dialled.0, self.kept.1, self.kept.0
        )
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    met: &Met,
    claims: Vec<Claim>,
    (told, each_ns, share): (&str, u64, f64),
) -> Verdict {
    let place = if met.are_nearly_all() {
        Place::Floor
    } else {
        endpoint.place_of(&claims)
    };
    let (grade, why, advice, seen) = ended_by(case);
    let mut proofs = vec![evidence(
        Source::Client,
        "connected_ns",
        format!(
            "{told}; making one takes {} in the median, {} of such a request; {}",
            human(each_ns as f64),
            percent(share),
            met.text()
        ),
    )];
    proofs.extend(seen);
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade,
        summary: format!(
            "{} of the requests wait for a new connection ({} each) although their client keeps \
             connections: the server {why}; {advice}",
            percent(met.dialled.0 as f64 / endpoint.completed.len().max(1) as f64),
            human(each_ns as f64)
        ),
        evidence: proofs,
        culprit: Culprit::default(),
    })
}

/// How the server ends connections, and what to do about it, as far as that is known.
fn ended_by(case: &Case<'_>) -> (Grade, String, &'static str, Vec<Evidence>) {
    let repeats = || case.record.manifest.repeats.iter();
    let opened: u64 = repeats().map(|r| r.connections_opened).sum();
    let stale: u64 = repeats().map(|r| r.connections_stale).sum();
    if stale as f64 >= FOUND_CLOSED * opened as f64 {
        let text = format!(
            "of {opened} connections {stale} were found closed before a request was sent, warm-up \
             included"
        );
        let mut seen = vec![evidence(
            Source::Client,
            "manifest.repeats.connections_stale",
            text,
        )];
        let most = case.series(&SERVER_SOCKETS, &Subject::Target, "");
        let most = most.and_then(|series| case.measured_max(series));
        let wanted = limit(case);
        if let Some(most) = most.filter(|&most| most < ROOM_SHARE * wanted as f64) {
            let text = format!("the server had {most:.0} connections at most, of {wanted} wanted");
            seen.push(evidence(Source::Proc, SERVER_SOCKETS.id, text));
            let why = "closes those that rest to make room for others".to_owned();
            let advice = "raise its limit (worker_connections, max clients), or use fewer";
            return (Grade::Supported, why, advice, seen);
        }
        let why = "closes them while they rest".to_owned();
        let advice =
            "let it keep idle ones for longer than clients leave them idle, and have room for all";
        return (Grade::Supported, why, advice, seen);
    }
    let Some(each) = constant_number(case) else {
        let why = "ends them, after different numbers of requests".to_owned();
        let advice = "see which timer or limit of it or of a proxy does";
        return (Grade::Suspected, why, advice, Vec::new());
    };
    let requests = plural(each, "request");
    let text = format!("connections that ended had carried {requests}, nearly all of them");
    let seen = vec![evidence(Source::Client, "index_on_connection", text)];
    let advice = if each == 1 {
        "let it keep them (HTTP/1.1, no `Connection: close`)"
    } else {
        "raise that limit (keepalive_requests, maxRequestsPerSocket)"
    };
    (
        Grade::Supported,
        format!("ends each after {requests}"),
        advice,
        seen,
    )
}
