//! The listener's queue of complete connections was full: new connections were dropped and came
//! through only when a SYN (or the data after a lost ACK) was repeated (Linux
//! `net/ipv4/tcp_ipv4.c`, `tcp_listendrop`; listen(2)).

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{LISTENER_BACKLOG, LISTENER_DROPS, LISTENER_QUEUE};
use slowpath_core::timeline::Subject;

use crate::accepting::is_read_within;
use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::ledger::NAMED_ERRORS;
use crate::overlap::coverage;
use crate::predict::without_claims;
use crate::throttling::throttled_spans;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// A SYN is repeated after 1 s (RFC 6298, `TCP_TIMEOUT_INIT`), then each further second up to
/// `tcp_syn_linear_timeouts` (Linux 6.5), then after twice the time. A dial this long was
/// repeated.
const REPEATED_NS: u64 = 950 * MILLISECOND;
/// If the server dropped the last step of the handshake, the client's first data is repeated after
/// 200 ms (`TCP_RTO_MIN`), 600 ms, 1.4 s and 3 s, and the server's SYN-ACK after 1 s and 3 s.
const REPEATED_DATA_NS: [u64; 5] = [
    200 * MILLISECOND,
    600 * MILLISECOND,
    SECOND,
    1_400 * MILLISECOND,
    3 * SECOND,
];
/// RTO and delayed timers fire within this after their time (a few jiffies and a wake-up).
const REPEATED_WITHIN_NS: u64 = 60 * MILLISECOND;
/// A repeated SYN is answered within this of a whole second: the granularity of the kernel's
/// timer wheel grows with the time (`kernel/time/timer.c`, up to 64 ms at this range), and the
/// way back on a busy machine.
const NEAR_SECOND_NS: u64 = 130 * MILLISECOND;
/// So many of the repeated dials must lie near whole seconds: the others are slow for a
/// reason of their own.
const NEAR_SHARE: f64 = 0.9;
/// The listener must have dropped at least this many times for each victim: each was
/// dropped once or more, but some of it before or after the readings.
const DROPS_EACH: f64 = 0.5;

/// A target that its quota keeps off the CPUs for this share of the time cannot accept either: the
/// full queue is then that cause seen from the network.
const KEPT_OFF: f64 = 0.5;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::HANDSHAKE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let (slow, failed) = victims(case, endpoint);
    if slow.is_empty() && failed.is_empty() {
        return Verdict::Absent("no connection waited for a repeated SYN".to_owned());
    }
    let Some(series) = case.series(&LISTENER_DROPS, &Subject::Target, "") else {
        let hidden = case.target_hidden();
        let gap = case.timeline().gap(&LISTENER_DROPS);
        let (missing, remedy) = hidden.unwrap_or_else(|| {
            let reason = gap.map_or("the listener's drops were not counted", |g| &g.reason);
            (
                reason.to_owned(),
                gap.map_or_else(String::new, |g| g.remedy.clone()),
            )
        });
        return Verdict::Blind { missing, remedy };
    };
    let loads = case.record.manifest.repeats.iter();
    let drops: f64 = loads.filter_map(|r| series.increase(r.load)).sum();
    let slow = credited(case, endpoint, slow, drops);
    let count = slow.len() + failed.len();
    if count == 0 {
        return Verdict::Absent(format!(
            "new connections answered as late as after a repeated segment, but the listener \
             dropped {drops:.0}, which repeated SYNs account for"
        ));
    }
    if drops < DROPS_EACH * count as f64 {
        return Verdict::Absent(format!(
            "{count} connections waited for a repeated segment, but the listener dropped {drops:.0}"
        ));
    }
    let kept_off = coverage(case, &throttled_spans(case));
    if kept_off >= KEPT_OFF {
        return Verdict::Absent(format!(
            "the listener dropped {drops:.0} connections, but its cgroup was kept off the CPUs for \
             {} of the time: the queue was full because of that",
            percent(kept_off)
        ));
    }
    let dials = slow.iter().filter_map(|&i| repeated_dial(case.sample(i)));
    let (all, near) = dials.fold((0, 0), |(all, near), dial| {
        (all + 1, near + usize::from(is_near_second(dial)))
    });
    if (near as f64) < NEAR_SHARE * f64::from(all) {
        return Verdict::Absent(format!(
            "only {near} of {all} slow connections took a whole number of seconds"
        ));
    }
    found(
        case,
        endpoint,
        &slow,
        &failed,
        evidence_of(case, drops, near, count),
    )
}

/// Requests that waited for a repeated segment and came through, and those that did not.
fn victims(case: &Case<'_>, endpoint: &EndpointCase) -> (Vec<u32>, Vec<u32>) {
    let slow = endpoint.completed.iter().filter(|&&i| {
        let sample = case.sample(i);
        repeated_dial(sample).is_some() || repeated_data(sample).is_some()
    });
    let failed = endpoint.failed.iter().filter(|&&i| {
        let sample = case.sample(i);
        sample.outcome() == Outcome::Timeout
            && (sample.phase() == Phase::Connect
                || sample.phase() == Phase::FirstByte && sample.index_on_connection() == 0)
    });
    (slow.copied().collect(), failed.copied().collect())
}

/// Without those whose first data seems repeated, unless the listener dropped more than the SYNs
/// that were: a handler may take as long on every connection.
fn credited(case: &Case<'_>, endpoint: &EndpointCase, slow: Vec<u32>, drops: f64) -> Vec<u32> {
    let mut slow = slow;
    let all = case.endpoints.iter().flat_map(|e| &e.completed);
    let completed = || all.clone().map(|&i| case.sample(i));
    let dials = completed().filter(|s| repeated_dial(*s).is_some()).count();
    let only_data = |s: SampleRef<'_>| repeated_dial(s).is_none() && repeated_data(s).is_some();
    let data = completed().filter(|s| only_data(*s)).count();
    let is_known = drops - (dials as f64) >= DROPS_EACH * data as f64;
    let of_data: Vec<u32> = slow
        .iter()
        .copied()
        .filter(|&i| only_data(case.sample(i)))
        .collect();
    if !is_known || is_read_within(case, endpoint, &of_data, REPEATED_DATA_NS[0]) {
        slow.retain(|&i| !only_data(case.sample(i)));
    }
    slow
}

fn repeated_dial(sample: SampleRef<'_>) -> Option<u64> {
    sample.connect_ns().filter(|&ns| ns >= REPEATED_NS)
}

/// A connection that seemed complete, but whose first data had to be repeated.
fn repeated_data(sample: SampleRef<'_>) -> Option<u64> {
    let fresh = sample.index_on_connection() == 0 && sample.connect_begin().is_some();
    let near = |ns: &u64| {
        REPEATED_DATA_NS
            .iter()
            .any(|r| (*r..r + REPEATED_WITHIN_NS).contains(ns))
    };
    sample.first_byte_ns().filter(|ns| fresh && near(ns))
}

fn is_near_second(dial_ns: u64) -> bool {
    let past = dial_ns % SECOND;
    past <= NEAR_SECOND_NS || SECOND - past <= SECOND - REPEATED_NS
}

fn evidence_of(case: &Case<'_>, drops: f64, near: usize, count: usize) -> Vec<Evidence> {
    let mut proofs = vec![
        evidence(
            Source::Proc,
            LISTENER_DROPS.id,
            format!("the target's listening socket dropped {drops:.0} connection attempts"),
        ),
        evidence(
            Source::Client,
            "connected_ns",
            format!(
                "{count} requests waited for a repeated segment, {near} of them for a SYN: whole seconds"
            ),
        ),
    ];
    let gauge = |signal| {
        case.series(signal, &Subject::Target, "")
            .and_then(|s| case.measured_max(s))
    };
    if let (Some(queue), Some(backlog)) = (gauge(&LISTENER_QUEUE), gauge(&LISTENER_BACKLOG)) {
        let text = format!("up to {queue:.0} connections waited where {backlog:.0} may");
        proofs.push(evidence(Source::Proc, LISTENER_QUEUE.id, text));
    }
    proofs
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    slow: &[u32],
    failed: &[u32],
    proofs: Vec<Evidence>,
) -> Verdict {
    let mut claims: Vec<Claim> = Vec::new();
    for &i in slow.iter().chain(failed) {
        let sample = case.sample(i);
        let (Some(begin), connected) = (sample.connect_begin(), sample.connected()) else {
            continue;
        };
        let dial = Span::new(begin, connected.unwrap_or(sample.done()));
        let wait = match (connected, repeated_data(sample)) {
            (Some(_), Some(_)) => Span::new(begin, sample.first_byte().unwrap_or(sample.done())),
            _ => dial,
        };
        claims.push(Claim {
            sample: i,
            span: wait,
        });
    }
    let as_errors =
        failed.len() as f64 >= NAMED_ERRORS * endpoint.offered as f64 && failed.len() > slow.len();
    let (place, amount) = if as_errors {
        let of = endpoint.failed.len() as u64;
        (
            Place::Errors,
            Amount::Failures {
                failed: failed.len() as u64,
                of,
            },
        )
    } else {
        (Place::Tail, Amount::Claims(claims.clone()))
    };
    let share = (slow.len() + failed.len()) as f64 / endpoint.offered.max(1) as f64;
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount,
        grade: Grade::Supported,
        summary: format!(
            "{} of the requests opened a connection while the listener's queue was full; the \
             kernel dropped it, and it came through only when the client repeated itself, a \
             second or more later; accept faster or raise the backlog (listen(2), somaxconn)",
            percent(share)
        ),
        evidence: proofs,
        culprit: Culprit {
            constant_ms: Some(1000.0),
            ..Culprit::default()
        },
    })
}
