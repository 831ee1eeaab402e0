//! A process of the server has as many descriptors open as it may: it can accept no connection and open
//! nothing (accept(2), open(2), `EMFILE`).

use slowpath_attribution::StateSet;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{LISTENER_QUEUE, PROCESS_FDS};
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::ledger::NAMED_ERRORS;
use crate::room::{Files, is_turned_away, unread_files};
use crate::verdict::{Amount, Found, Verdict, evidence, percent};

/// The process had none left at so many of the failures: the others are of the time before it was
/// read.
const AT_FAILURES: f64 = 0.8;
/// A server's own errors: 500 to 599 (RFC 9110, 15.6).
const OWN_ERRORS: std::ops::RangeInclusive<u16> = 500..=599;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::HANDSHAKE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let failed = endpoint.failed.iter().map(|&i| case.sample(i));
    let failed: Vec<SampleRef<'_>> = failed.filter(|s| is_symptom(*s)).collect();
    let share = failed.len() as f64 / endpoint.offered.max(1) as f64;
    if share < NAMED_ERRORS {
        return Verdict::Absent(format!(
            "{} of the requests stayed without an answer on a new connection, or got a 5xx",
            percent(share)
        ));
    }
    let Some(files) = Files::of(case) else {
        let (missing, remedy) = unread_files(case);
        return Verdict::Blind { missing, remedy };
    };
    let exhausted = failed.iter().filter(|s| files.exhausted(s.done()));
    let exhausted = exhausted.count();
    if (exhausted as f64) < AT_FAILURES * failed.len() as f64 {
        let at = failed.last().and_then(|sample| files.at(sample.done()));
        let (used, limit) = at.unwrap_or_default();
        return Verdict::Absent(format!(
            "a process used {used:.0} of {limit:.0} descriptors when requests failed, and all at {} of \
             the failures",
            percent(exhausted as f64 / failed.len() as f64)
        ));
    }
    found(case, endpoint, &files, &failed, exhausted)
}

/// What a server without descriptors does: it does not accept, or a handler cannot open what it needs.
fn is_symptom(sample: SampleRef<'_>) -> bool {
    is_turned_away(sample)
        || (sample.outcome() == Outcome::Status && OWN_ERRORS.contains(&sample.status()))
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    files: &Files<'_>,
    failed: &[SampleRef<'_>],
    exhausted: usize,
) -> Verdict {
    let last = failed.iter().map(|s| s.done()).max();
    let (used, limit) = last.and_then(|at| files.at(at)).unwrap_or_default();
    let answered = failed
        .iter()
        .filter(|s| s.outcome() == Outcome::Status)
        .count();
    let mut proofs = vec![
        evidence(
            Source::Proc,
            PROCESS_FDS.id,
            format!(
                "a process of the target had {used:.0} descriptors open and may have {limit:.0}, at \
                 {exhausted} of {} failures",
                failed.len()
            ),
        ),
        evidence(
            Source::Client,
            "outcome",
            format!(
                "{} requests stayed without a byte on a new connection, {answered} got a 5xx",
                failed.len() - answered
            ),
        ),
    ];
    let queue = case.series(&LISTENER_QUEUE, &Subject::Target, "");
    if let Some(queue) = queue
        .and_then(|series| case.measured_max(series))
        .filter(|&q| q > 0.0)
    {
        let text = format!("up to {queue:.0} connections waited to be accepted");
        proofs.push(evidence(Source::Proc, LISTENER_QUEUE.id, text));
    }
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed: failed.len() as u64,
            of: endpoint.failed.len() as u64,
        },
        grade: Grade::Supported,
        summary: format!(
            "{} of the requests failed because the server had all of its {limit:.0} descriptors in use; \
             close what is not needed, or raise the limit (ulimit -n, LimitNOFILE=)",
            percent(failed.len() as f64 / endpoint.offered.max(1) as f64)
        ),
        evidence: proofs,
        culprit: Culprit::default(),
        prediction: None,
    })
}
