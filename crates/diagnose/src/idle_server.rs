//! Whether the server does nothing while requests wait that are released one by one.

use slowpath_attribution::StateSet;
use slowpath_core::signal::{PROCESS_THREADS_CALL, SERVER_SOCKETS_UNREAD, UPSTREAM_SOCKETS};
use slowpath_core::timeline::Subject;

use crate::beat::Beat;
use crate::case::{Case, EndpointCase};
use crate::cell::share_in;
use crate::paced::Pace;
use crate::sleepers::by_label;
use crate::trace::ticked::{Word, word};
use crate::verdict::{Claim, human};

/// From this share of the period on the target may be at work for each.
pub(crate) const CPU_SHARE: f64 = 0.5;
/// From so many unread requests for each that waits on, they wait before the server knows of them. Of a server that
/// takes one at a time all are unread; of one that has read them none, but for what comes during the observation.
const UNREAD: f64 = 0.3;
/// The same of threads that wait for others without a time limit: for the one that is served, maybe. It is all of
/// them where a thread waits for each request, and none where a limit is waited for; idle pools are more or fewer.
const IN_LOCKS: f64 = 0.3;
/// From so many calls for each request that waits on, it may wait for those. Where a limit is the server's own, it
/// calls no other server for a waiting request.
const ASKED: f64 = 0.3;
/// From this share of the waits on that followed requests are seen to wait for a timer, it is what lets them go.
const TIMED: f64 = 0.5;
/// The call in which threads wait for each other.
const LOCK_CALL: &str = "futex:untimed";

/// Why it is no limit, if the server says so: it computes, it has not read what waits, or a trace shows what
/// else is waited for.
pub(crate) fn otherwise(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    period_ns: f64,
    waits: &[Claim],
) -> Option<String> {
    let pace = format!("answers come every {}, but", human(period_ns));
    let cpu_ns = case.target_cpu_per_request_ns();
    if let Some(cpu_ns) = cpu_ns.filter(|cpu_ns| *cpu_ns >= CPU_SHARE * period_ns) {
        return Some(format!(
            "{pace} the target computes for {} of it",
            human(cpu_ns)
        ));
    }
    if let Some((unread, waiting)) =
        unread(case, waits).filter(|(unread, waiting)| *unread >= UNREAD * waiting)
    {
        return Some(format!(
            "{pace} of {waiting:.1} requests that wait the server has not read {unread:.1}"
        ));
    }
    match word(case, endpoint, waits) {
        Word::Other(text) => Some(format!("{pace} {text}")),
        Word::Sleeps(..) | Word::Silence => None,
    }
}

/// How many sockets with unread requests there are on average, and how many requests that wait.
pub(crate) fn unread(case: &Case<'_>, waits: &[Claim]) -> Option<(f64, f64)> {
    let series = case.series(&SERVER_SOCKETS_UNREAD, &Subject::Target, "")?;
    Some((case.measured_mean(series)?, waiting(case, waits)))
}

fn waiting(case: &Case<'_>, waits: &[Claim]) -> f64 {
    let waiting: u64 = waits.iter().map(|claim| claim.span.len_ns()).sum();
    waiting as f64 / case.measured_ns().max(1) as f64
}

/// Whether threads may wait for one another while requests do, and no trace says that it is not for them.
pub(crate) fn in_locks(case: &Case<'_>, endpoint: &EndpointCase, waits: &[Claim]) -> bool {
    if matches!(word(case, endpoint, waits), Word::Sleeps(..)) {
        return false;
    }
    let calls = by_label(case, &PROCESS_THREADS_CALL);
    let locked = calls.get(LOCK_CALL).map_or(&[][..], Vec::as_slice);
    let mean = locked.iter().map(|(_, threads)| threads).sum::<f64>() / locked.len().max(1) as f64;
    mean >= IN_LOCKS * waiting(case, waits)
}

/// That requests wait for a server that the target calls, which releases them at that pace, if a trace shows as much: calls are
/// under way while requests wait, beside those that may be of requests that were released, or of other endpoints.
pub(crate) fn asked_meanwhile(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    pace: &Pace,
) -> Option<String> {
    let inside = case.inside()?;
    let asked = inside.calls(case).mean_under_way(inside.traced_ns());
    let others = case
        .endpoints
        .iter()
        .filter(|of| of.index != endpoint.index);
    let of_others: u64 = others.flat_map(|of| &of.latencies_ns).sum();
    let let_go = endpoint.completed.len() as f64 * pace.passing_ns;
    let beside = (let_go + of_others as f64) / case.measured_ns().max(1) as f64;
    let waiting = waiting(case, &pace.waits);
    (asked - beside >= ASKED * waiting).then(|| {
        format!(
            "answers come every {}, but while {waiting:.1} requests wait on average, {asked:.1} calls of the server \
             are under way: it waits for the server that it calls",
            human(pace.period_ns)
        )
    })
}

/// Whether the target keeps connections to others, or that is not known.
fn keeps_connections(case: &Case<'_>) -> bool {
    let series = case.series(&UPSTREAM_SOCKETS, &Subject::Target, "");
    let most = series.and_then(|series| case.measured_max(series));
    most.is_none_or(|most| most > 0.0)
}

/// What is not known of a pace at which requests pass one by one, and what would show it.
pub(crate) fn untold(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    pace: &Pace,
    is_seen: bool,
) -> Option<(&'static str, &'static str)> {
    if !is_seen {
        return Some((
            "the server has read what waits",
            "run slowpath on the target's host, as its user",
        ));
    }
    // Where requests wait for a timer, they do not wait for a lock, and it is a clock that lets them go.
    let slept = share_in(case, endpoint, StateSet::SLEEP, &pace.waits);
    let is_timed = slept.is_some_and(|share| share >= TIMED);
    if !is_timed && in_locks(case, endpoint, &pace.waits) {
        return Some((
            "the server makes threads wait for a lock",
            "trace it, as root",
        ));
    }
    if case.inside().is_none() && keeps_connections(case) {
        return Some((
            "the server waits for one that it calls, which releases requests at that pace",
            "trace it, as root",
        ));
    }
    match pace.beat {
        Beat::Clock => None,
        Beat::Wanders => Some((
            "anything but the one before says when the next may go (lateness adds up, as that of a clock does not)",
            "look what the server does after an answer before it takes the next request",
        )),
        Beat::Untold if is_timed => None,
        Beat::Untold => Some((
            "they follow a clock",
            "send more, up to the pace, or for longer",
        )),
    }
}
