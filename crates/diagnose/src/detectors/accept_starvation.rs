//! The server accepts new connections late although it could have them: they wait in the listener's
//! queue, which does not overflow, while requests on connections that it has are answered as ever.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::signal::{LISTENER_DROPS, LISTENER_QUEUE, SERVER_SOCKETS};
use slowpath_core::timeline::Subject;

use crate::accepting::{Beside, Places, Queue, claims, had_cpus, typical_ns, unseen};
use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Source};
use crate::ledger::{NAMED_EPISODES, NAMED_SHARE_LOW};
use crate::lives::{restarts, spans};
use crate::overlap::{merged, parts};
use crate::predict::without_claims;
use crate::room::Files;
use crate::throttling::throttled_spans;
use crate::trace::looked::Looked;
use crate::trace::taken_up::{all_were_busy, readers_were_free};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Fewer readings at which the client waited with a new connection are no share.
const READINGS_LEAST: usize = 10;
/// Waking a thread that accepts takes up to this on a busy host.
const WAKING_NS: f64 = 3.0 * MILLISECOND as f64;
/// What keeps old connections waiting as well delays a request that is sent during that time by half of the time on
/// average, and three quarters of them for a quarter of it or more.
const BESIDE_MOST: f64 = 0.25;
/// So many of the threads that took new connections up must have been free at that time.
const FREE_LEAST: f64 = 0.8;
/// What coincides with this share of the waits is their reason.
const OTHERWISE: f64 = 0.5;
/// A queue that drops this share of the new connections overflows.
const OVERFLOWS: f64 = 0.01;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::QUEUED
        .and(StateSet::HANDSHAKE)
        .and(StateSet::NETWORK)
        .and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let whole = claims(case, endpoint, 1.0);
    if whole.len() < NAMED_EPISODES {
        let (n, of) = (whole.len(), endpoint.completed.len());
        return Verdict::Absent(format!(
            "{n} of {of} requests came on a new connection and waited for longer than usual"
        ));
    }
    let Some(queue) = Queue::of(case) else {
        let (missing, remedy) = unseen(case);
        return lead(endpoint, whole, missing, remedy);
    };
    if queue.met < READINGS_LEAST {
        let missing = format!(
            "readings of the listener's queue: {} of {} were made while a new connection waited for \
             its first sign",
            queue.met, queue.readings
        );
        return lead(endpoint, whole, missing, "measure longer".to_owned());
    }
    let share = queue.share(case, endpoint);
    if share < NAMED_SHARE_LOW {
        return Verdict::Absent(format!(
            "of the time until new connections get their first sign, {} is spent in the listener's \
             queue ({} readings)",
            percent(share),
            queue.met
        ));
    }
    let waits = claims(case, endpoint, share);
    let typical_ns = typical_ns(&waits);
    if typical_ns < WAKING_NS {
        return Verdict::Absent(format!(
            "new connections wait {} to be accepted, which waking a thread may take",
            human(typical_ns)
        ));
    }
    if let Some(text) = otherwise(case, &waits) {
        return Verdict::Absent(text);
    }
    let in_queue = format!(
        "of the time until new connections get their first sign, {} is spent in the listener's queue, which \
         drops nothing ({} readings)",
        percent(share),
        queue.met
    );
    let in_queue = evidence(Source::Proc, LISTENER_QUEUE.id, in_queue);
    judged(case, endpoint, in_queue, waits)
}

/// Whether it is accepting that is late, and nothing else.
fn judged(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    in_queue: Evidence,
    waits: Vec<Claim>,
) -> Verdict {
    let places = match Places::of(case) {
        Places::Free(how) => evidence(Source::Proc, SERVER_SOCKETS.id, how.to_owned()),
        Places::Taken(most) => {
            return Verdict::Absent(format!(
                "new connections wait in the listener's queue, but only while the server has {most:.0} \
                 others, more than which it never has: it lacks places"
            ));
        }
        Places::Unknown => {
            let missing = "how many connections the server has while others wait in its queue";
            let remedy = "measure longer".to_owned();
            return lead(endpoint, waits, missing.to_owned(), remedy);
        }
    };
    let looked = Looked::at(case, endpoint).ok();
    if let Some(busy) = looked.as_ref().map(|looked| all_were_busy(looked, &waits))
        && busy >= OTHERWISE
    {
        return Verdict::Absent(format!(
            "all worker threads are busy for {} of the time that new connections wait",
            percent(busy)
        ));
    }
    let typical_ns = typical_ns(&waits);
    let within = merged(waits.iter().map(|claim| claim.span).collect());
    if let Some(beside) = Beside::of(case, &within) {
        let longer_ns = beside.longer_ns as f64;
        if longer_ns > BESIDE_MOST * typical_ns {
            return Verdict::Absent(format!(
                "requests on connections that the server had wait as well while new ones do: a quarter \
                 of {} took {} longer or more",
                beside.requests,
                human(longer_ns)
            ));
        }
        let text = format!(
            "{} requests were sent on connections that the server had while new ones waited: three \
             quarters of them took at most {} longer than at other times",
            beside.requests,
            human(longer_ns)
        );
        let proof = evidence(Source::Client, "index_on_connection", text);
        return found(case, endpoint, waits, [in_queue, places, proof]);
    }
    let free = looked.and_then(|looked| readers_were_free(&looked, &waits));
    if let Some(free) = free.filter(|&free| free >= FREE_LEAST && had_cpus(case, &waits)) {
        let text = format!(
            "{} of the threads that read the requests then were not there yet while the connections \
             waited, or waited for work",
            percent(free)
        );
        let proof = evidence(Source::Trace, "trace", text);
        return found(case, endpoint, waits, [in_queue, places, proof]);
    }
    lead(
        endpoint,
        waits,
        "whether accepting alone is late, or all that the server does: too few requests were sent \
         in that time on connections that it had"
            .to_owned(),
        "let an endpoint keep its connections beside the new ones; or trace as root, if the server \
         gives each connection to another thread"
            .to_owned(),
    )
}

fn lead(endpoint: &EndpointCase, claims: Vec<Claim>, missing: String, remedy: String) -> Verdict {
    Verdict::Lead {
        place: endpoint.place_of(&claims),
        claims,
        missing,
        remedy,
    }
}

/// Why the server could not accept, if other evidence shows it.
fn otherwise(case: &Case<'_>, waits: &[Claim]) -> Option<String> {
    let drops = case.series(&LISTENER_DROPS, &Subject::Target, "");
    let drops = drops.and_then(|series| case.measured_increase(series));
    if let Some(drops) = drops.filter(|&drops| drops > OVERFLOWS * waits.len() as f64) {
        return Some(format!(
            "the listener's queue overflows: it dropped {drops:.0} new connections"
        ));
    }
    let whole: u64 = waits.iter().map(|claim| claim.span.len_ns()).sum();
    let most = |spans: &[Span]| {
        let within = waits.iter().flat_map(|claim| parts(spans, claim.span));
        let ns: u64 = within.map(Span::len_ns).sum();
        ns as f64 >= OTHERWISE * whole as f64
    };
    if most(&throttled_spans(case)) {
        return Some("its cgroup was kept off the CPUs while new connections waited".to_owned());
    }
    if most(&spans(&restarts(case))) {
        return Some("a process of the server ended while new connections waited".to_owned());
    }
    let files = Files::of(case)?;
    let exhausted = |at: Nanos| files.exhausted(at);
    let without = waits
        .iter()
        .filter(|claim| exhausted(claim.span.end))
        .count();
    (without as f64 >= OTHERWISE * waits.len() as f64)
        .then(|| "the server had no descriptors left for new connections".to_owned())
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    waits: Vec<Claim>,
    evidence: [Evidence; 3],
) -> Verdict {
    let (each, place) = (typical_ns(&waits), endpoint.place_of(&waits));
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &waits),
        grade: Grade::Supported,
        summary: format!(
            "new connections wait until the server accepts them, for {} as a rule, while it has places \
             for them; accept in a thread that does nothing else, and all that wait at a time",
            human(each)
        ),
        evidence: evidence.into(),
        amount: Amount::Claims(waits),
        culprit: Culprit::default(),
    })
}
