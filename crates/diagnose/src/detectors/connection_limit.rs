//! The server serves so many connections and no more: others are closed, refused, or wait until one
//! is given up.

use slowpath_attribution::StateSet;
use slowpath_core::signal::{LISTENER_DROPS, LISTENER_QUEUE, SERVER_SOCKETS};
use slowpath_core::stats::quantile::type_1;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::hazard::Step;
use crate::ledger::{NAMED_EPISODES, NAMED_ERRORS};
use crate::lives::{restarts, spans};
use crate::overlap::parts;
use crate::room::{Files, Room, is_turned_away, unread_files};
use crate::verdict::{Amount, Found, Verdict, evidence, percent, plural};

/// A chance below this is not taken for one.
const CHANCE_MAX: f64 = 0.001;
/// The number of connections makes the half of the run that was not fitted so many times likelier.
const LIKELIER: f64 = 20.0;
/// So many of the connections that were turned away came when as many were served.
const BEYOND_SHARE: f64 = 0.8;
/// Below the limit connections are turned away this much less often.
const BELOW: f64 = 0.25;
/// The number is constant to within this share of it, or by two: connections come and go while
/// others are turned away.
const CONSTANT: (f64, u64) = (0.1, 2);
/// Descriptors or restarts account for failures if they coincide with this share of them.
const OTHERWISE: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::HANDSHAKE
        .and(StateSet::QUEUED)
        .and(StateSet::NETWORK)
        .and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let away = endpoint.failed.iter().copied();
    let away: Vec<u32> = away.filter(|&i| is_turned_away(case.sample(i))).collect();
    let share = away.len() as f64 / endpoint.offered.max(1) as f64;
    if share < NAMED_ERRORS {
        return Verdict::Absent(format!(
            "{} of the requests stayed without an answer on a new connection",
            percent(share)
        ));
    }
    if let Some(text) = otherwise(case, &away) {
        return Verdict::Absent(text);
    }
    let room = Room::of(case);
    if room.events() < NAMED_EPISODES {
        let events = plural(room.events() as u64, "instant");
        return Verdict::Blind {
            missing: format!("more failures: connections were turned away at {events} only"),
            remedy: "measure longer".to_owned(),
        };
    }
    match room.step() {
        Some(step) if is_limit(&room, &step) => limited(case, endpoint, &away, &room, &step),
        _ => Verdict::Absent(
            "connections were turned away whether many or few others were served".to_owned(),
        ),
    }
}

/// Why connections were turned away, if the server's side shows another reason.
fn otherwise(case: &Case<'_>, away: &[u32]) -> Option<String> {
    let most = |count: usize| count as f64 >= OTHERWISE * away.len() as f64;
    let done = || away.iter().map(|&i| case.sample(i));
    let files = Files::of(case);
    let exhausted = |files: &Files<'_>| done().filter(|s| files.exhausted(s.done())).count();
    if files.as_ref().is_some_and(|files| most(exhausted(files))) {
        return Some("the server had no descriptors left".to_owned());
    }
    let spans = spans(&restarts(case));
    let restarted = done().filter(|s| parts(&spans, s.span()).next().is_some());
    if most(restarted.count()) {
        return Some("a process of the server ended then".to_owned());
    }
    let drops = case.series(&LISTENER_DROPS, &Subject::Target, "");
    let drops = drops.and_then(|series| case.measured_increase(series))?;
    most(drops as usize)
        .then(|| format!("the listener's queue was full, and it dropped {drops:.0} connections"))
}

fn is_limit(room: &Room, step: &Step) -> bool {
    let all = (step.failed_from + step.failed_below) as f64;
    let hazard = |failed: u64, of: u64| failed as f64 / of.max(1) as f64;
    let values = room.when_away();
    let at = |p| type_1(&values, p).unwrap_or(0);
    let (low, high) = (at(0.1), at(0.9));
    let spread = ((high as f64 * CONSTANT.0) as u64).max(CONSTANT.1);
    step.p < CHANCE_MAX
        && step.gain > LIKELIER.ln()
        && step.failed_from as f64 >= BEYOND_SHARE * all
        && hazard(step.failed_below, step.all_below)
            <= BELOW * hazard(step.failed_from, step.all_from)
        && high - low <= spread
}

fn limited(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    away: &[u32],
    room: &Room,
    step: &Step,
) -> Verdict {
    let limit = type_1(&room.when_away(), 0.5).unwrap_or(step.from);
    if Files::of(case).is_some() {
        return found(case, endpoint, away, limit, step);
    }
    // A connection takes a descriptor: what is left of them is a limit too. Nor does it show in how
    // connections end, since libuv closes those that it has no descriptor for with one that it kept
    // (`uv__emfile_trick`), and others leave them unaccepted.
    let (why, remedy) = unread_files(case);
    Verdict::Blind {
        missing: format!(
            "whether the server had descriptors left: it serves {limit} connections at once and no more, and {why}"
        ),
        remedy,
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    away: &[u32],
    limit: u64,
    step: &Step,
) -> Verdict {
    let mut proofs = vec![evidence(
        Source::Client,
        "outcome",
        format!(
            "of connections made while {} or more others were served {} of {} got no answer, of \
             those made while fewer were {} of {} (threshold of one half of the run, connections of \
             the other; p {:.0e})",
            step.from,
            step.failed_from,
            step.all_from,
            step.failed_below,
            step.all_below,
            step.p.max(1e-99)
        ),
    )];
    let seen = from_the_server(case, limit);
    let grade = if seen.is_empty() {
        Grade::Suspected
    } else {
        Grade::Supported
    };
    proofs.extend(seen);
    let failed = away.len() as u64;
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed,
            of: endpoint.failed.len() as u64,
        },
        grade,
        summary: format!(
            "{} of the requests were on connections that the server had no room for: it serves {limit} at \
             once; raise its limit (worker_connections, MaxRequestWorkers, threads), or use fewer",
            percent(failed as f64 / endpoint.offered.max(1) as f64)
        ),
        evidence: proofs,
        culprit: Culprit::default(),
        prediction: None,
    })
}

/// What the server's own sockets show: no more than the limit, or others that are never accepted.
fn from_the_server(case: &Case<'_>, limit: u64) -> Vec<Evidence> {
    let most = |signal| {
        let series = case.series(signal, &Subject::Target, "")?;
        case.measured_max(series)
    };
    let mut seen = Vec::new();
    if let Some(queue) = most(&LISTENER_QUEUE).filter(|&queue| queue >= 1.0) {
        let text = format!("up to {queue:.0} complete connections waited, and were not accepted");
        seen.push(evidence(Source::Proc, LISTENER_QUEUE.id, text));
    }
    let near = |sockets: &f64| *sockets <= limit as f64 * (1.0 + CONSTANT.0) + CONSTANT.1 as f64;
    if let Some(sockets) = most(&SERVER_SOCKETS).filter(near) {
        let text = format!("the server had {sockets:.0} connections at most");
        seen.push(evidence(Source::Proc, SERVER_SOCKETS.id, text));
    }
    seen
}
