//! Processes of the target end under load and others take their place: requests are lost, or wait until the new one serves.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::ledger::NAMED_ERRORS;
use crate::lives::{Restart, restarts, spans};
use crate::new_workers;
use crate::overlap::{claims_of, coverage, parts, touched};
use crate::predict::without_claims;
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent, plural};
use slowpath_attribution::StateSet;
use slowpath_core::nanos::{SECOND, Span};
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::quantile::type_1;

/// A chance below this is not taken for one.
const CHANCE_MAX: f64 = 0.001;
/// Where each restart has failures and none is elsewhere, so few as two may be enough.
const CHANCE_ALL: f64 = 0.05;
/// Failures this close to each other are one event.
const APART_NS: u64 = SECOND;
/// The odds that slow requests meet restarts are so many times those of others, and of any instant.
const LIFT: f64 = 4.0;
/// Where restarts cover more of the time than this, nearly all slow requests have to meet one.
const COVERED_MUCH: f64 = 0.25;
const MET_LEAST: f64 = 0.85;
/// Restarts that cover more of it coincide with everything.
const COVERED_MOST: f64 = 0.5;
/// The server's own errors of a proxy that has no upstream server (RFC 9110, 15.6.3 to 15.6.5).
const NOBODY_BEHIND: std::ops::RangeInclusive<u16> = 502..=504;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::QUEUED
        .and(StateSet::HANDSHAKE)
        .and(StateSet::NETWORK)
        .and(StateSet::ON_CPU)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let broken: Vec<u32> = endpoint
        .failed
        .iter()
        .copied()
        .filter(|&i| is_broken(case.sample(i)))
        .collect();
    if let Some((missing, remedy)) = case.target_hidden() {
        if broken.is_empty() && endpoint.split.slow.is_empty() {
            return Verdict::Absent("no request failed or was slow".to_owned());
        }
        return Verdict::Blind { missing, remedy };
    }
    let restarts = restarts(case);
    let spans = spans(&restarts);
    let covered = coverage(case, &spans);
    let lost: Vec<u32> = broken
        .iter()
        .copied()
        .filter(|&i| meets(case.sample(i), &spans))
        .collect();
    let is_clear = !restarts.is_empty() && covered <= COVERED_MOST;
    if is_clear && lost.len() as f64 >= NAMED_ERRORS * endpoint.offered as f64 {
        return errors(case, endpoint, (&broken, &lost), &restarts, &spans);
    }
    if let Some(found) = new_workers::found(case, endpoint) {
        return found;
    }
    if restarts.is_empty() {
        return Verdict::Absent("no process of the target ended under load".to_owned());
    }
    if covered > COVERED_MOST {
        return Verdict::Absent(format!(
            "processes of the target came and went in {} of the time, so that anything would coincide",
            percent(covered)
        ));
    }
    tail(case, endpoint, &restarts, &spans)
}

/// Whether it failed as requests do whose server goes away.
fn is_broken(sample: SampleRef<'_>) -> bool {
    match sample.outcome() {
        Outcome::Reset
        | Outcome::Closed
        | Outcome::Truncated
        | Outcome::BrokenPipe
        | Outcome::Refused
        | Outcome::Timeout => true,
        Outcome::Status => NOBODY_BEHIND.contains(&sample.status()),
        _ => false,
    }
}

fn meets(sample: SampleRef<'_>, spans: &[Span]) -> bool {
    let failed = Span::new(sample.ready(), sample.done().plus(1));
    parts(spans, failed).next().is_some()
}

fn errors(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    (broken, lost): (&[u32], &[u32]),
    restarts: &[Restart],
    spans: &[Span],
) -> Verdict {
    let with = spans
        .iter()
        .filter(|span| lost.iter().any(|&i| meets(case.sample(i), &[**span])));
    let with = with.count();
    let elsewhere = events(case, broken, spans);
    let chance = chance(with, with + elsewhere, coverage(case, spans));
    let all = with == spans.len() && elsewhere == 0;
    let traced = traced(case, lost);
    let sure = chance < CHANCE_MAX || (all && with > 1 && chance < CHANCE_ALL);
    if !sure && traced.is_none() {
        return Verdict::Blind {
            missing: format!(
                "more restarts: failures coincide with {with} of {}, which may be chance (p {chance:.0e})",
                spans.len()
            ),
            remedy: "measure longer, or as root so that the end of connections is traced"
                .to_owned(),
        };
    }
    let failed = lost.len() as u64;
    let mut proofs = told(case, restarts);
    proofs.push(evidence(
        Source::Client,
        "outcome",
        format!(
            "{failed} of {} broken requests fall into {with} of {}, {} elsewhere (p {chance:.0e})",
            broken.len(),
            plural(spans.len() as u64, "restart"),
            plural(elsewhere as u64, "event")
        ),
    ));
    proofs.extend(traced);
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed,
            of: endpoint.failed.len() as u64,
        },
        grade: Grade::Supported,
        summary: format!(
            "{} of the requests failed as a process of the server ended under them, {}; let it finish \
             what it has and close its connections in good order, and find out why it ends",
            percent(failed as f64 / endpoint.offered.max(1) as f64),
            how_often(case, restarts)
        ),
        evidence: proofs,
        culprit: culprit(restarts),
        prediction: None,
    })
}

fn tail(case: &Case<'_>, endpoint: &EndpointCase, restarts: &[Restart], spans: &[Span]) -> Verdict {
    let slow = &endpoint.split.slow;
    let met = touched(case, slow, spans);
    let others: Vec<u32> = endpoint
        .completed
        .iter()
        .copied()
        .filter(|i| slow.binary_search(i).is_err())
        .collect();
    let usual = touched(case, &others, spans);
    let covered = coverage(case, spans);
    let (few, chance) = (
        covered > COVERED_MUCH && met < MET_LEAST,
        usual.max(covered),
    );
    if few || met * (1.0 - chance) < LIFT * chance * (1.0 - met) {
        return Verdict::Absent(format!(
            "processes of the target ended under load ({}), and {} of the slow requests met that, {} \
             of the others",
            plural(restarts.len() as u64, "time"),
            percent(met),
            percent(usual)
        ));
    }
    let claims = claims_of(case, endpoint, spans);
    let mut proofs = told(case, restarts);
    proofs.push(evidence(
        Source::Client,
        "sent_ns",
        format!(
            "{} of the slow requests were under way then, and {} of the others",
            percent(met),
            percent(usual)
        ),
    ));
    Verdict::Found(Found {
        place: Place::Tail,
        prediction: without_claims(case, endpoint, Place::Tail, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for a new process of the server to take the place of one that ended, {}; \
             start the new one before the old one ends, or let them live longer",
            how_often(case, restarts)
        ),
        evidence: proofs,
        culprit: culprit(restarts),
    })
}

/// How many events the failures outside of the spans make.
fn events(case: &Case<'_>, broken: &[u32], spans: &[Span]) -> usize {
    let outside = broken
        .iter()
        .map(|&i| case.sample(i))
        .filter(|s| !meets(*s, spans));
    let mut at: Vec<u64> = outside.map(|sample| sample.done().get()).collect();
    at.sort_unstable();
    let later = at
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > APART_NS)
        .count();
    later + usize::from(!at.is_empty())
}

/// That at least so many of the events fall into what covers that share of the time.
fn chance(with: usize, events: usize, covered: f64) -> f64 {
    slowpath_core::stats::beta::at_least(with as u64, events as u64, covered)
}

fn told(case: &Case<'_>, restarts: &[Restart]) -> Vec<Evidence> {
    let at: Vec<String> = restarts
        .iter()
        .take(5)
        .map(|r| {
            let by = r
                .successor
                .map_or_else(String::new, |pid| format!(" and {pid} began"));
            format!(
                "{} ended{by} around {:.1} s",
                r.pid,
                case.seconds(r.span.end)
            )
        })
        .collect();
    let more = restarts.len().saturating_sub(at.len());
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    let text = format!("processes of the target: {}{more}", at.join(", "));
    vec![evidence(Source::Proc, "process.age_ns", text)]
}

/// What the kernel did with the connections, if their process ended.
fn traced(case: &Case<'_>, lost: &[u32]) -> Option<Evidence> {
    let facts = crate::failures::kernel_facts(case, lost)?;
    let ended = facts.ends.iter().filter(|end| end.process_ended);
    let count: u64 = ended.clone().map(|end| end.count).sum();
    let text: Vec<&str> = ended.map(|end| end.text.as_str()).collect();
    (2 * count >= facts.n && count > 0).then(|| {
        let text = format!(
            "{count} of {} that were traced: {}",
            facts.n,
            text.join("; ")
        );
        evidence(Source::Trace, "trace", text)
    })
}

fn how_often(case: &Case<'_>, restarts: &[Restart]) -> String {
    let (seconds, times) = (
        case.measured_ns() as f64 / 1e9,
        plural(restarts.len() as u64, "time"),
    );
    let mut lived: Vec<u64> = restarts.iter().map(|r| r.lived_ns).collect();
    lived.sort_unstable();
    let lived = type_1(&lived, 0.5).unwrap_or(0);
    format!(
        "{times} in {seconds:.0} s, after it had lived for {}",
        human(lived as f64)
    )
}

fn culprit(restarts: &[Restart]) -> Culprit {
    let begins: Vec<u64> = restarts.iter().map(|r| r.span.begin.get()).collect();
    let mut gaps: Vec<u64> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    Culprit {
        period_ms: type_1(&gaps, 0.5).map(|gap| gap as f64 / 1e6),
        ..Culprit::default()
    }
}
