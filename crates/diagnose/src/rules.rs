//! Causes as rules over the attribution: a name, the slices that it matches, the least size, a
//! sentence and a remedy.
//!
//! A slice has one state, so that no two rules match one slice, and none has to exclude another. Where two causes share a state,
//! what an endpoint's requests show together divides it ([`Scope`]).

mod scope;

use slowpath_attribution::{Holder, Line, Phase, Place as StationPlace, Slice, State};
use slowpath_core::catalogue as name;
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::median::median;

use self::scope::Scope;
use crate::attribute::{EndpointAttribution, Station};
use crate::case::{Case, EndpointCase};
use crate::constant::constant;
use crate::detectors::has_sessions_anew;
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::engines::Engines;
use crate::expiry::Expiry;
use crate::overlap::merged;
use crate::own_sleeps;
use crate::predict::without_waits;
use crate::trace::looked::{WALKED_LEAST, each_ns, touched};
use crate::trace::pool::Pool;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A floor of a few milliseconds is the work of most services: where all requests wait alike, shorter waits are no
/// finding …
const FLOOR_LEAST_NS: u64 = 5 * MILLISECOND;
/// … and a reply that takes less is what asking takes.
const REPLY_FLOOR_NS: u64 = 20 * MILLISECOND;
/// A computation that keeps an event loop for so long without a break blocks it: others would be served in a tenth
/// of that (Tokio and Node.js both ask for well below a millisecond between two returns to the loop).
const BLOCKS_NS: u64 = 10 * MILLISECOND;
/// Slow requests ask for more than fast ones if they wait for so many times as many replies, in the median …
const MORE_TIMES: f64 = 2.0;
/// … and each is no slower if it takes so many times what those of fast ones do, at most, in the median.
const LONGER_MOST: f64 = 1.5;

/// A cause, as a rule.
struct Rule {
    cause: &'static str,
    /// The slices that are waits of this kind.
    matches: fn(&Slice) -> bool,
    /// Waits of slow requests that are shorter in the median are no finding.
    least_ns: u64,
    /// The same of waits that all requests have alike.
    floor_least_ns: u64,
    /// What to do.
    remedy: &'static str,
}

static RULES: &[Rule] = &[
    Rule {
        cause: name::WORKER_POOL_EXHAUSTION,
        // Workers that compute are short of CPUs as well: their detector knows that.
        matches: |s| match s.state {
            State::Queued(StationPlace::Executor) => s.holder == Holder::AnotherRequest,
            State::Queued(StationPlace::Workers) => {
                s.holder == Holder::AnotherRequest && !computes(s.activity)
            }
            _ => false,
        },
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "enlarge the pool, or shorten what holds its threads",
    },
    Rule {
        cause: name::CONNECTION_POOL_EXHAUSTION,
        matches: |s| s.state == State::Queued(StationPlace::Connections),
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "enlarge the pool, or give connections back sooner",
    },
    Rule {
        cause: name::CONCURRENCY_LIMIT,
        matches: |s| s.state == State::Queued(StationPlace::Permits),
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "raise the limit, or shorten what holds a permit",
    },
    Rule {
        cause: name::CONNECTION_LIMIT,
        matches: |s| s.state == State::Queued(StationPlace::Served),
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "raise the number of connections that it serves at a time, or shorten what holds them",
    },
    Rule {
        cause: name::ACCEPT_QUEUE_OVERFLOW,
        matches: |s| s.state == State::Handshake && s.holder == Holder::Peer,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "keep connections to it, and see why it takes none: what its thread that accepts is busy with, or how many it takes",
    },
    Rule {
        cause: name::WORKERS_HELD_IDLE,
        matches: |s| s.state == State::Queued(StationPlace::HeldIdle),
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "shorten the keep-alive timeout, use more workers than kept connections, or an event-driven front",
    },
    Rule {
        cause: name::LOCK_HELD_OVER_IO,
        matches: |s| match s.state {
            State::Queued(StationPlace::One) => !computes(s.activity),
            State::Lock => s.holder != Holder::Unknown && waits(s.activity),
            _ => is_of_a_fill(s),
        },
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "release the lock before waiting, or take work out of the queue of one",
    },
    Rule {
        cause: name::LOCK_CONTENTION,
        matches: |s| match s.state {
            State::Queued(StationPlace::One) => computes(s.activity),
            State::Lock => s.holder != Holder::Unknown && computes(s.activity),
            _ => false,
        },
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "shorten the critical section, or divide the lock",
    },
    Rule {
        cause: name::INTERPRETER_LOCK,
        matches: |s| s.state == State::Interpreter,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "use more processes, or native code that releases the lock",
    },
    Rule {
        cause: name::EVENT_LOOP_BLOCKING,
        matches: |s| {
            s.state == State::Queued(StationPlace::EventLoop)
                && (waits(s.activity) || s.len_ns() >= BLOCKS_NS && s.activity == State::OnCpu)
        },
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "move blocking calls off the event loop",
    },
    Rule {
        cause: name::RATE_LIMIT,
        // Which sleeps are those of a limiter is known of where they stand.
        matches: own_sleeps::is_asleep,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "raise the limit, let bursts through at once, or ask for less",
    },
    Rule {
        cause: name::POLL_TICK,
        matches: own_sleeps::is_asleep,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "wait until it is reported that one may go on, or look more often",
    },
    Rule {
        cause: name::FIXED_DELAY,
        matches: own_sleeps::is_asleep,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "wait for what is needed, and not for a time",
    },
    Rule {
        cause: name::SLOW_SCAN,
        // Which of these are queries is known of an endpoint's requests together.
        matches: |s| {
            s.phase == Phase::Service
                && match s.state {
                    State::Reply => s.holder == Holder::Peer,
                    State::OnCpu => s.holder == Holder::ThisRequest,
                    _ => false,
                }
        },
        least_ns: MILLISECOND,
        floor_least_ns: REPLY_FLOOR_NS,
        remedy: "look at the plan of the query, add an index, or ask for fewer rows",
    },
    Rule {
        cause: name::SLOW_DEPENDENCY,
        // A reply that never comes is not slow.
        matches: |s| {
            s.state == State::Reply && s.phase == Phase::Service && s.holder == Holder::Peer
        },
        least_ns: MILLISECOND,
        floor_least_ns: REPLY_FLOOR_NS,
        remedy: "find out why it is slow, call it less often, or cache its replies",
    },
    Rule {
        cause: name::DNS_LOOKUP,
        matches: |s| s.state == State::Reply && s.holder == Holder::Resolver,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "keep connections, or the addresses, for longer than a request, or ask a cache on the host",
    },
    Rule {
        cause: name::STOP_THE_WORLD_PAUSE,
        matches: |s| s.state == State::Paused,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "keep fewer objects alive, collect outside of requests, or give the heap more room",
    },
    Rule {
        cause: name::DELAYED_ACK,
        matches: |s| s.state == State::DelayedAck,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "set TCP_NODELAY at the end that sends in pieces, or write each message at once",
    },
    Rule {
        cause: name::PACKET_LOSS,
        matches: |s| s.state == State::Retransmit,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "look at the path: a full queue, a policer, a bad link, a firewall",
    },
    Rule {
        cause: name::SLOW_CLIENT,
        matches: |s| s.state == State::Client && s.phase != Phase::Response,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "buffer requests and responses in front of the workers",
    },
];

/// Whether a request waits for what another one has asked for: it holds a lock until the reply is there, or fills an entry for all.
fn is_of_a_fill(slice: &Slice) -> bool {
    slice.state == State::Reply && slice.holder == Holder::AnotherRequest
}

const fn computes(activity: State) -> bool {
    matches!(activity, State::OnCpu | State::Runnable(_))
}

const fn waits(activity: State) -> bool {
    matches!(
        activity,
        State::Reply
            | State::Sleep
            | State::Disk(_)
            | State::Lock
            | State::SendBlocked
            | State::Client
    )
}

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
    if cause == name::SLOW_DEPENDENCY && has_sessions_anew(case, endpoint) {
        return vec![name::CONNECTION_PER_CALL.to_owned()];
    }
    let attribution = endpoint.attribution(case);
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
    // A lock around a cache, and single flight: those that wait are answered when the entry is there.
    if cause == name::LOCK_HELD_OVER_IO && is_mostly(attribution, cause, State::Reply) {
        return vec![name::CACHE_STAMPEDE.to_owned()];
    }
    if cause == name::WORKER_POOL_EXHAUSTION && is_one_that_may_be_a_loop(case, attribution) {
        return vec![name::EVENT_LOOP_BLOCKING.to_owned()];
    }
    let other = attribution
        .station
        .as_ref()
        .and_then(|station| match station.place {
            StationPlace::One => {
                is_lock_of_one(case, endpoint, cause).then_some(name::CONCURRENCY_LIMIT)
            }
            place if name(place) == Some(cause) => name(station.or?),
            _ => None,
        });
    other.map(str::to_owned).into_iter().collect()
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
    let causes = [
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

/// What a finding says of a cause that fits as well.
fn or_words(cause: &str, other: &str) -> String {
    match other {
        name::CONCURRENCY_LIMIT if DESCRIBED.contains(&cause) => {
            format!("; or it is {other}, of one place")
        }
        name::CONCURRENCY_LIMIT => format!("; or it is {other}, of as many places"),
        name::WORKER_POOL_EXHAUSTION => {
            format!("; or it is {other}: each connection has a thread of its own")
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
        name::CONNECTION_PER_CALL => format!(
            "; or it is {other}: each of these requests makes a connection of its own and asks several times on it, as for a login; \
             keep it"
        ),
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
        name::CACHE_STAMPEDE => format!(
            "; or it is {other}: those that wait are answered with what the one before them has fetched"
        ),
        _ => format!("; or it is {other}: as many connections are in use as places"),
    }
}

/// Whether a cause is that of a lock, and its rule matches time in which requests wait for the only place of a station.
fn is_lock_of_one(case: &Case<'_>, endpoint: &EndpointCase, cause: &str) -> bool {
    let attribution = endpoint.attribution(case);
    let is_one = |station: &Station| station.place == StationPlace::One;
    let one = State::Queued(StationPlace::One);
    attribution.station.as_ref().is_some_and(is_one) && is_lock(attribution, cause, one)
}

/// Whether a rule settles what a lead of its cause left open: whether requests wait for a lock or for work that they handed
/// on (a station of one place is no work, nor is what another request holds at another server), and whether the threads that
/// they were handed to had others: so they had where as many places fit as there are workers, and there are several.
pub(crate) fn settles(case: &Case<'_>, endpoint: &EndpointCase, cause: &str) -> bool {
    let attribution = endpoint.attribution(case);
    let is_mostly = |state| is_mostly(attribution, cause, state);
    let are_workers =
        |station: &Station| station.place == StationPlace::Workers && station.fit.places > 1;
    // That the thread of the request itself sleeps is what was not seen.
    matches!(cause, name::FIXED_DELAY | name::POLL_TICK)
        || is_lock_of_one(case, endpoint, cause)
        || is_lock(attribution, cause, State::Lock)
        || cause == name::LOCK_HELD_OVER_IO && is_mostly(State::Reply)
        || cause == name::WORKER_POOL_EXHAUSTION
            && (is_mostly(State::Queued(StationPlace::Executor))
                || attribution.station.as_ref().is_some_and(are_workers)
                    && is_mostly(State::Queued(StationPlace::Workers)))
}

/// Whether a cause is that of a lock, and most of the time that its rule matches is in this state, with another request as
/// the holder.
fn is_lock(attribution: &EndpointAttribution, cause: &str, state: State) -> bool {
    DESCRIBED.contains(&cause) && is_mostly(attribution, cause, state)
}

/// Whether most of the time that the rule of a cause matches is in this state, with another request as the holder.
fn is_mostly(attribution: &EndpointAttribution, cause: &str, state: State) -> bool {
    let slices = attribution.paths.iter().flat_map(|path| &path.slices);
    let (mut all_ns, mut of_state_ns) = (0, 0);
    for slice in slices.filter(|slice| matches(cause, slice)) {
        all_ns += slice.len_ns();
        if slice.state == state && slice.holder == Holder::AnotherRequest {
            of_state_ns += slice.len_ns();
        }
    }
    2 * of_state_ns > all_ns
}

/// Whether the kind of place that a cause stands for is known from nothing but how many there are, or what keeps requests from
/// nothing but when they end: then it rules out no other cause of such a wait. A delay is a sleep, whatever it is for.
pub(crate) fn is_one_of_several(case: &Case<'_>, endpoint: &EndpointCase, cause: &str) -> bool {
    matches!(
        cause,
        name::CONCURRENCY_LIMIT | name::CONNECTION_POOL_EXHAUSTION | name::POLL_TICK
    ) || cause != name::FIXED_DELAY && !or(case, endpoint, cause).is_empty()
}

/// Whether a slice is what the rule of a cause matches.
pub(crate) fn matches(cause: &str, slice: &Slice) -> bool {
    RULES
        .iter()
        .any(|rule| rule.cause == cause && (rule.matches)(slice))
}

/// Whether a slice is what a cause is about, whatever made the holder wait: a request that waits for a lock over which a log is
/// written waits for a lock that is held over I/O, also where the log is named.
pub(crate) fn describes(cause: &str, slice: &Slice) -> bool {
    let is_held = match slice.state {
        State::Lock | State::Queued(StationPlace::One | StationPlace::Permits) => {
            slice.holder != Holder::Unknown
        }
        _ => false,
    };
    match cause {
        name::LOCK_HELD_OVER_IO => is_held && waits(slice.activity) || is_of_a_fill(slice),
        name::LOCK_CONTENTION => is_held && computes(slice.activity),
        _ => false,
    }
}

/// Whether a request waits for what another thread does, for which it is not seen whether that has a lock: it may.
pub(crate) fn may_be_held(cause: &str, slice: &Slice) -> bool {
    let by_another = slice.holder == Holder::Background;
    match cause {
        name::LOCK_CONTENTION => by_another && slice.state == State::OnCpu,
        name::LOCK_HELD_OVER_IO => by_another && slice.state == State::Sleep,
        _ => false,
    }
}

/// Causes that [`describes`] knows.
pub(crate) const DESCRIBED: [&str; 2] = [name::LOCK_HELD_OVER_IO, name::LOCK_CONTENTION];

/// What the rule of a cause finds in the attribution of an endpoint; `None` without a rule, or if too
/// few requests match it.
pub(crate) fn found(case: &Case<'_>, endpoint: &EndpointCase, cause: &str) -> Option<Verdict> {
    let rule = RULES.iter().find(|rule| rule.cause == cause)?;
    let inside = case.inside()?;
    let attribution = endpoint.attribution(case);
    if !attribution.traced || attribution.paths.len() < WALKED_LEAST {
        return None;
    }
    let scope = Scope::of((case, inside), endpoint, rule);
    let claims = scope.claims();
    if claims.is_empty() {
        return None;
    }
    // What is fetched again whenever it has become too old is the entry of a cache: its name says more than the lock around it.
    if cause == name::LOCK_HELD_OVER_IO
        && is_mostly(attribution, cause, State::Reply)
        && Expiry::is_seen(case, endpoint)
    {
        return None;
    }
    let followed = attribution.paths.iter().map(|path| path.sample);
    let place = endpoint.place_among(&claims, &endpoint.known(followed));
    if cause == name::SLOW_DEPENDENCY && place == Place::Tail && asks_more(attribution) {
        return None;
    }
    let counts = |claim: &&Claim| {
        place != Place::Tail || endpoint.split.slow.binary_search(&claim.sample).is_ok()
    };
    let each = each_ns(claims.iter().filter(counts));
    let least = if place == Place::Floor {
        rule.floor_least_ns
    } else {
        rule.least_ns
    };
    if each < least as f64 {
        return None;
    }
    let line = scope.largest(case, endpoint, place)?;
    let claims_text = format!(
        "{} of {} followed requests wait so, {} each in the median{}",
        touched(&claims),
        attribution.paths.len(),
        human(each),
        if place == Place::Tail {
            " of the slow ones"
        } else {
            ""
        },
    );
    Some(Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, inside.of_endpoint(endpoint), &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests spend {} {}; {}{}",
            human(each),
            attribution.phrase(&line),
            rule.remedy,
            match &or(case, endpoint, cause)[..] {
                [other, ..] => or_words(cause, other),
                [] => String::new(),
            }
        ),
        evidence: evidences(attribution, &line, &claims_text),
        culprit: Culprit {
            thread: (!line.actor.thread.is_empty()).then(|| line.actor.thread.clone()),
            stack: line.actor.stack.clone(),
            ..Culprit::default()
        },
    }))
}

/// Whether slow requests wait for more replies than fast ones, and for none of them longer: no server is slow then.
fn asks_more(attribution: &EndpointAttribution) -> bool {
    let of = |slow: bool| {
        let (mut counts, mut lengths) = (Vec::new(), Vec::new());
        for path in attribution.paths.iter().filter(|path| path.slow == slow) {
            let replies = path.slices.iter().filter(|s| s.state == State::Reply);
            let spans = replies.map(|s| Span::new(Nanos::new(s.begin), Nanos::new(s.end)));
            let waits = merged(spans.collect());
            counts.push(waits.len() as f64);
            lengths.extend(waits.iter().map(|wait| wait.len_ns() as f64));
        }
        median(&mut counts).zip(median(&mut lengths))
    };
    match (of(true), of(false)) {
        (Some((many, slow_ns)), Some((few, fast_ns))) => {
            many >= MORE_TIMES * few.max(1.0) && slow_ns <= LONGER_MOST * fast_ns
        }
        _ => false,
    }
}

/// What a rule rests on: the trace, and the station that fits if it is one.
fn evidences(attribution: &EndpointAttribution, line: &Line, text: &str) -> Vec<Evidence> {
    let mut all = vec![evidence(Source::Trace, "trace", text.to_owned())];
    let station = attribution.station.as_ref();
    if let Some(station) = station.filter(|s| line.state == Some(State::Queued(s.place))) {
        let text = format!(
            "{} places fit the recorded arrivals and departures: {} requests waited for one, which leaves {} of \
             the scatter of service times",
            station.fit.places,
            station.fit.queued,
            percent(station.fit.error_ratio)
        );
        all.push(evidence(Source::Client, "sent_ns", text));
    }
    all
}
