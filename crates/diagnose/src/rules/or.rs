//! The causes that fit what is seen as well as the one that is named.

use slowpath_attribution::{Basis, Place as StationPlace, Slice, State};
use slowpath_core::catalogue as name;
use slowpath_core::trace::Runtime;

use super::{DESCRIBED, computes, is_lock_of_one, is_mostly, matches};
use crate::attribute::EndpointAttribution;
use crate::case::{Case, EndpointCase};
use crate::constant::constant;
use crate::detectors::have_sessions;
use crate::engines::Engines;
use crate::own_sleeps;
use crate::trace::calls::retried::{fail, grow, pauses};
use crate::trace::pool::Pool;

/// The causes that what a station shows fits as well as the one that is named: the kind of its places is known from nothing
/// but how many there are.
pub(crate) fn or(case: &Case<'_>, endpoint: &EndpointCase, cause: &str) -> Vec<String> {
    let name = |place: StationPlace| match place {
        StationPlace::Connections => Some(name::CONNECTION_POOL_EXHAUSTION),
        StationPlace::Permits => Some(name::CONCURRENCY_LIMIT),
        StationPlace::Served => Some(name::CONNECTION_LIMIT),
        StationPlace::Workers => Some(name::WORKER_POOL_EXHAUSTION),
        _ => None,
    };
    // What takes a log from a pipe is telemetry if it is a collector, which is not seen.
    if cause == name::LOG_FLUSH {
        return vec![name::BLOCKING_TELEMETRY.to_owned()];
    }
    let session = match cause {
        name::SLOW_DEPENDENCY => Some(name::CONNECTION_PER_CALL),
        name::CONNECTION_PER_CALL => Some(name::SLOW_DEPENDENCY),
        _ => None,
    };
    if let Some(other) = session.filter(|_| have_sessions(case, endpoint)) {
        return vec![other.to_owned()];
    }
    // What is asked again after an answer may have failed, or not be there yet.
    let again = match cause {
        name::RETRY_BACKOFF => Some(name::POLL_TICK),
        name::POLL_TICK => Some(name::RETRY_BACKOFF),
        _ => None,
    };
    if let Some(other) = again.filter(|_| is_answered_before(case, endpoint)) {
        return vec![other.to_owned()];
    }
    let attribution = endpoint.attribution(case);
    // Which server the one that is asked asks itself is not always seen.
    if cause == name::UPSTREAM_TIMEOUT && is_of_callee(case, attribution) {
        return vec![name::SLOW_DEPENDENCY.to_owned()];
    }
    if cause == name::FIXED_DELAY {
        return or_of_delay(case, endpoint, attribution);
    }
    // A server that has as many connections as it takes rests, and leaves the others in its queue.
    if cause == name::ACCEPT_QUEUE_OVERFLOW && rests(attribution) {
        return vec![name::CONNECTION_LIMIT.to_owned()];
    }
    // Of queries within the target it is not seen where one ends.
    if cause == name::SLOW_SCAN
        && Engines::of(&attribution.actors, &attribution.paths, &[]).are_within()
    {
        return vec![name::SEQUENTIAL_FANOUT.to_owned()];
    }
    // What there is one of is a lock, a pool of one, or a limit of one.
    if cause == name::LOCK_HELD_OVER_IO
        && attribution.station.is_none()
        && is_mostly(attribution, cause, State::Lock)
        && !is_read(attribution)
    {
        return vec![name::CONCURRENCY_LIMIT.to_owned()];
    }
    // A lock around a cache, and single flight: those that wait are answered when the entry is there.
    if cause == name::LOCK_HELD_OVER_IO && is_mostly(attribution, cause, State::Reply) {
        return vec![name::CACHE_STAMPEDE.to_owned()];
    }
    if let Some(other) = or_of_places(case, attribution, cause) {
        return vec![other.to_owned()];
    }
    let other = attribution
        .station
        .as_ref()
        .and_then(|station| match station.place {
            StationPlace::One => {
                is_lock_of_one(case, endpoint, cause).then_some(name::CONCURRENCY_LIMIT)
            }
            StationPlace::Mailbox => (cause == name::WORKER_POOL_EXHAUSTION)
                .then(|| or_of_mailbox(attribution, station.place)),
            place if name(place) == Some(cause) => name(station.or?),
            _ => None,
        });
    other.map(str::to_owned).into_iter().collect()
}

/// The cause that fits as well where it is not known what kind of places those are.
fn or_of_places(
    case: &Case<'_>,
    attribution: &EndpointAttribution,
    cause: &str,
) -> Option<&'static str> {
    let (fits, other) = match cause {
        // That connections are held is known of the requests that asked on them last, and not of the pool.
        name::CONNECTION_POOL_EXHAUSTION => (are_held(attribution), name::CONCURRENCY_LIMIT),
        name::WORKER_POOL_EXHAUSTION => (
            is_one_that_may_be_a_loop(case, attribution),
            name::EVENT_LOOP_BLOCKING,
        ),
        name::EVENT_LOOP_BLOCKING => (are_workers_of_a_runtime(case), name::WORKER_POOL_EXHAUSTION),
        _ => return None,
    };
    fits.then_some(other)
}

/// The cause that fits as well if a process that takes one message at a time gives a lock.
fn or_of_mailbox(attribution: &EndpointAttribution, place: StationPlace) -> &'static str {
    let (mut all_ns, mut computes_ns) = (0, 0);
    let slices = attribution.paths.iter().flat_map(|path| &path.slices);
    for slice in slices.filter(|slice| slice.state == State::Queued(place)) {
        let ns = slice.len_ns();
        all_ns += ns;
        computes_ns += if computes(slice.activity) { ns } else { 0 };
    }
    if 2 * computes_ns > all_ns {
        name::LOCK_CONTENTION
    } else {
        name::LOCK_HELD_OVER_IO
    }
}

/// Whether a runtime was read that says what is a lock.
fn is_read(attribution: &EndpointAttribution) -> bool {
    let mut slices = attribution.paths.iter().flat_map(|path| &path.slices);
    slices.any(|slice| slice.state == State::Lock && slice.basis == Basis::Sampled)
}

/// Whether it is a server that is asked which waits for a timeout.
fn is_of_callee(case: &Case<'_>, attribution: &EndpointAttribution) -> bool {
    let callees = case.inside().map(|inside| inside.callees(case));
    let (mut all_ns, mut callee_ns) = (0, 0);
    let paths = attribution.paths.iter();
    let slices = paths.flat_map(|path| path.slices.iter().map(|slice| (path.sample, slice)));
    for (sample, slice) in slices {
        let callee = callees.and_then(|callees| callees.cause(sample, slice));
        let ns = slice.len_ns();
        all_ns += if slice.state == State::Reply { ns } else { 0 };
        callee_ns += if callee == Some(name::UPSTREAM_TIMEOUT) {
            ns
        } else {
            0
        };
    }
    2 * callee_ns > all_ns
}

/// Whether requests ask again after an answer, and do not wait longer each time.
fn is_answered_before(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let pauses = pauses(case, endpoint);
    pauses.is_some_and(|pauses| !fail(&pauses.asked) && !grow(&pauses.asked))
}

/// The causes of which a timer is the wait as well: a limiter reckons how long each request waits, and a thread that sleeps for the
/// requests of others may collect them.
fn or_of_delay(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> Vec<String> {
    let inside = case.inside();
    let may_collect =
        inside.is_some_and(|inside| own_sleeps::may_be_of_others(inside, endpoint, attribution));
    let differ = constant(case, endpoint).is_none() && own_sleeps::differ(attribution);
    let has_timeout = own_sleeps::have_a_timeout(attribution);
    let causes = [
        (has_timeout, name::UPSTREAM_TIMEOUT),
        (may_collect, name::BATCH_WINDOW),
        (differ, name::RATE_LIMIT),
    ];
    let own = causes.into_iter().filter(|(is_one, _)| *is_one);
    own.map(|(_, cause)| cause.to_owned()).collect()
}

/// Whether a server that does not take the target's connections computes for less than half of that time; `false` if there is none.
fn rests(attribution: &EndpointAttribution) -> bool {
    let slices = attribution.paths.iter().flat_map(|path| &path.slices);
    let waits = slices.filter(|slice| matches(name::ACCEPT_QUEUE_OVERFLOW, slice));
    let (mut all_ns, mut computes_ns) = (0, 0);
    for slice in waits {
        all_ns += slice.len_ns();
        computes_ns += if computes(slice.activity) {
            slice.len_ns()
        } else {
            0
        };
    }
    all_ns > 2 * computes_ns
}

/// Whether requests wait for the only thread that serves, and it is not seen whether that has several connections at once.
fn is_one_that_may_be_a_loop(case: &Case<'_>, attribution: &EndpointAttribution) -> bool {
    let slices = attribution.paths.iter().flat_map(|path| &path.slices);
    let waits = slices.filter(|slice| slice.state == State::Queued(StationPlace::Workers));
    let waits_ns: u64 = waits.map(Slice::len_ns).sum();
    waits_ns > 0
        && case.inside().is_some_and(|inside| {
            let pool = Pool::of(inside);
            pool.len() == 1 && pool.may_be_loops(inside)
        })
}

/// Whether most waits for connections are known from who asked on them last alone.
fn are_held(attribution: &EndpointAttribution) -> bool {
    let slices = attribution.paths.iter().flat_map(|path| &path.slices);
    let connections = State::Queued(StationPlace::Connections);
    let (mut all_ns, mut held_ns) = (0, 0);
    for slice in slices.filter(|slice| slice.state == connections) {
        all_ns += slice.len_ns();
        if matches!(slice.activity, State::Unknown(_)) {
            held_ns += slice.len_ns();
        }
    }
    attribution.station.is_none() && 2 * held_ns > all_ns
}

/// Whether several threads of tokio serve: while all of them are blocked, a pool of so many is used up.
fn are_workers_of_a_runtime(case: &Case<'_>) -> bool {
    case.inside().is_some_and(|inside| {
        let serving = inside.serving().all().into_iter();
        let is_worker = |tid: &u32| {
            let process = inside.trace().process_of(*tid);
            process.is_some_and(|process| process.runtime == Runtime::Tokio)
        };
        serving.filter(is_worker).count() > 1
    })
}

/// What a finding says of a cause that fits as well.
pub(super) fn or_words(cause: &str, other: &str) -> String {
    match other {
        name::CONCURRENCY_LIMIT if DESCRIBED.contains(&cause) => {
            format!("; or it is {other}, of one place")
        }
        name::CONCURRENCY_LIMIT => format!("; or it is {other}, of as many places"),
        name::WORKER_POOL_EXHAUSTION if cause == name::EVENT_LOOP_BLOCKING => {
            format!("; or it is {other}, if all threads of the runtime are blocked at a time")
        }
        name::WORKER_POOL_EXHAUSTION => {
            format!("; or it is {other}: each connection has a thread of its own")
        }
        name::LOCK_HELD_OVER_IO | name::LOCK_CONTENTION => {
            format!("; or it is {other}, if that process gives a lock")
        }
        name::EVENT_LOOP_BLOCKING => {
            format!("; or it is {other}: the thread may have several connections at once")
        }
        name::CONNECTION_LIMIT if cause == name::ACCEPT_QUEUE_OVERFLOW => {
            format!("; or it is {other} of that server, which does not compute in that time")
        }
        name::SEQUENTIAL_FANOUT => {
            format!("; or it is {other}: many short queries look like a long one there")
        }
        name::SLOW_DEPENDENCY if cause == name::UPSTREAM_TIMEOUT => {
            format!("; or it is {other}: which server it asks itself is not seen")
        }
        name::CONNECTION_PER_CALL => {
            format!(
                "; or it is {other}: each of these requests sets up a session of its own, and which turn is the login is not seen"
            )
        }
        name::SLOW_DEPENDENCY => {
            format!("; or it is {other}, if each turn of such a session is slow")
        }
        name::UPSTREAM_TIMEOUT => {
            format!("; or it is {other}: the thread waits for another one, for a time at most")
        }
        name::BATCH_WINDOW => {
            format!(
                "; or it is {other}: the thread that sleeps may collect what requests hand to it"
            )
        }
        name::RATE_LIMIT => {
            format!(
                "; or it is {other}: how long requests sleep differs, as where a limiter reckons it"
            )
        }
        name::RETRY_BACKOFF | name::POLL_TICK => {
            format!("; or it is {other}: what the first answer says is not read")
        }
        name::BLOCKING_TELEMETRY => {
            format!("; or it is {other}, if what reads the log is a collector")
        }
        name::CACHE_STAMPEDE => format!(
            "; or it is {other}: those that wait are answered with what the one before them has fetched"
        ),
        name::CONNECTION_LIMIT if cause == name::WORKER_POOL_EXHAUSTION => {
            format!("; or it is {other}: as many threads serve connections as places")
        }
        _ => format!("; or it is {other}: as many connections are in use as places"),
    }
}
