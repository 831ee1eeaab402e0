//! A host has no local port left to dial from: each connection that was closed keeps its port for a
//! minute (`TIME_WAIT`), and there are as many as `net.ipv4.ip_local_port_range` holds for one address
//! (`EADDRNOTAVAIL`, connect(2)).

use slowpath_attribution::StateSet;
use std::collections::BTreeSet;

use slowpath_core::nanos::{Nanos, SECOND};
use slowpath_core::sample::Outcome;
use slowpath_core::trace::Depth;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::ledger::{NAMED_EPISODES, NAMED_ERRORS};
use crate::undialled::{Undialled, is_refused};
use crate::verdict::{Amount, Found, Verdict, evidence, percent, plural};

/// For how long Linux keeps the port of a connection that it closed first (`TCP_TIMEWAIT_LEN`).
const KEPT_NS: u64 = 60 * SECOND;

/// Where they run out, all of a range were used, or those of one parity, which `connect(2)` prefers
/// (`__inet_hash_connect`).
const PARITY: usize = 2;
/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::HANDSHAKE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let failed = endpoint.failed.iter().copied();
    let without = |&i: &u32| case.sample(i).outcome() == Outcome::PortsExhausted;
    let without: Vec<u32> = failed.filter(without).collect();
    let share = without.len() as f64 / endpoint.offered.max(1) as f64;
    if share < NAMED_ERRORS {
        return of_the_target(case, endpoint, share);
    }
    let Some(used) = Used::before(case, &without) else {
        return Verdict::Absent("no request found no local port".to_owned());
    };
    if used.ports.len() < NAMED_EPISODES {
        return Verdict::Absent(format!(
            "{} of the requests had no address to dial from, though only {} had been used: it is the \
             address that is missing",
            percent(share),
            plural(used.ports.len() as u64, "local port")
        ));
    }
    let span = |(low, high): (&u16, &u16)| usize::from(*high) - usize::from(*low) + 1;
    let range = used.ports.first().zip(used.ports.last()).map_or(0, span);
    if used.ports.len() < range / PARITY {
        return Verdict::Blind {
            missing: format!(
                "whether ports had run out, or an address was gone: {} of {range} had been used",
                plural(used.ports.len() as u64, "local port")
            ),
            remedy: "look at net.ipv4.ip_local_port_range, and at the host's addresses".to_owned(),
        };
    }
    found(endpoint, &without, &used)
}

/// The local ports of this host that connections had in the minute before the first failure.
struct Used {
    ports: BTreeSet<u16>,
    dials: usize,
    /// From the first of those dials to the failure.
    seconds: f64,
}

impl Used {
    fn before(case: &Case<'_>, without: &[u32]) -> Option<Self> {
        let first = case.sample(*without.first()?);
        let at = first.connect_begin().unwrap_or(first.scheduled());
        let since = Nanos::new(at.get().saturating_sub(KEPT_NS));
        let made = case.record.samples.iter().filter(|s| {
            let made = s.connection_since();
            s.local_port() != 0 && made.is_some_and(|made| (since..=at).contains(&made))
        });
        let (mut ports, mut connections) = (BTreeSet::new(), BTreeSet::new());
        let mut begin = at;
        for sample in made {
            ports.insert(sample.local_port());
            connections.insert((sample.repeat(), sample.connection()));
            begin = begin.min(sample.connection_since().unwrap_or(at));
        }
        Some(Self {
            ports,
            dials: connections.len(),
            seconds: at.since(begin) as f64 / SECOND as f64,
        })
    }

    fn text(&self) -> String {
        let (low, high) = (self.ports.first(), self.ports.last());
        format!(
            "before the first of them {} had been dialled in {:.1} s, from {} between {} and {}",
            plural(self.dials as u64, "connection"),
            self.seconds,
            plural(self.ports.len() as u64, "local port"),
            low.copied().unwrap_or(0),
            high.copied().unwrap_or(0)
        )
    }
}

fn found(endpoint: &EndpointCase, without: &[u32], used: &Used) -> Verdict {
    let failed = without.len() as u64;
    let text = format!(
        "{} found no local port (EADDRNOTAVAIL); {}",
        plural(failed, "dial"),
        used.text()
    );
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed,
            of: endpoint.failed.len() as u64,
        },
        grade: Grade::Supported,
        summary: format!(
            "{} of the requests failed on the client's side: slowpath's host has no local port left to \
             dial from, as closed connections keep theirs for a minute; keep connections, or widen \
             net.ipv4.ip_local_port_range there",
            percent(failed as f64 / endpoint.offered.max(1) as f64)
        ),
        evidence: vec![evidence(Source::Client, "outcome", text)],
        culprit: Culprit::default(),
        prediction: None,
    })
}

/// Whether the target has no ports left for the servers that it calls.
fn of_the_target(case: &Case<'_>, endpoint: &EndpointCase, share: f64) -> Verdict {
    let own = format!("{} of the requests found no local port", percent(share));
    let failed = endpoint.failed.iter().map(|&i| case.sample(i));
    let refused = failed.filter(|&sample| is_refused(sample)).count();
    if (refused as f64) < NAMED_ERRORS * endpoint.offered.max(1) as f64 {
        return Verdict::Absent(own);
    }
    if let Some(verdict) = seen(case, endpoint, refused) {
        return verdict;
    }
    // Without tracepoints no call is seen.
    let is_traced = case.record.trace.depth().is_some_and(Depth::has_wakers);
    let asks = case.inside().map(|inside| !inside.calls(case).is_empty());
    if is_traced && asks == Some(false) {
        return Verdict::Absent(format!(
            "{own}, and the target was not seen to call a server"
        ));
    }
    Verdict::Blind {
        missing: format!(
            "why the target answered {} with a server error: whether it found no local port itself was \
             not seen",
            plural(refused as u64, "request")
        ),
        remedy:
            "look for EADDRNOTAVAIL (\"cannot assign requested address\") in the target's log, and \
                 count its connections in TIME_WAIT (ss -tan state time-wait)"
                .to_owned(),
    }
}

/// The dials of the target that found no port while it was traced, against the requests that it answered with
/// an error in the same time.
fn seen(case: &Case<'_>, endpoint: &EndpointCase, refused: usize) -> Option<Verdict> {
    let undialled = Undialled::of(&case.record.trace);
    let met = undialled.met(case, endpoint);
    let (answered, dials) = met.refused;
    if answered < NAMED_EPISODES as u64 {
        return None;
    }
    // Others may fail beside them for another reason: as many are claimed as dials explain.
    let failed = (refused as f64 * met.explained()).round();
    let is_felt =
        dials >= NAMED_EPISODES as u64 && failed >= NAMED_ERRORS * endpoint.offered.max(1) as f64;
    let most = undialled.to.iter().max_by_key(|(_, n)| **n);
    let Some((most, _)) = most.filter(|_| is_felt) else {
        return Some(Verdict::Absent(format!(
            "of {} that the target answered with an error while it was traced {dials} met a dial that found no \
             local port, {} of {} that it answered well",
            plural(answered, "request"),
            met.others.1,
            met.others.0
        )));
    };
    let text = format!(
        "while the target was traced it found no local port in {}, most of them for {most}; {dials} of {} that it \
         answered with an error were under way then, and {} of {} that it answered well",
        plural(undialled.at.len() as u64, "dial"),
        plural(answered, "request"),
        met.others.1,
        met.others.0
    );
    Some(Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed: failed as u64,
            of: endpoint.failed.len() as u64,
        },
        grade: Grade::Supported,
        summary: format!(
            "the target's host has no local port left to dial {most} from, and it answers {} of the requests \
             with an error; let it keep its connections, or widen net.ipv4.ip_local_port_range there",
            percent(failed / endpoint.offered.max(1) as f64)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
        prediction: None,
    }))
}
