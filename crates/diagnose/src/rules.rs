//! Causes as rules over the attribution: a name, the slices that it matches, the least size, a
//! sentence and a remedy.
//!
//! A slice has one state, so that no two rules match one slice, and none has to exclude another. Where two causes share a state,
//! what an endpoint's requests show together divides it ([`Scope`]).

mod or;
mod scope;

use slowpath_attribution::{Holder, Line, Phase, Place as StationPlace, Slice, State};
use slowpath_core::catalogue as name;
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::median::median;

pub(crate) use self::or::or;
use self::or::or_words;
use self::scope::Scope;
use crate::attribute::{EndpointAttribution, Station};
use crate::callees::is_reply;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::expiry::Expiry;
use crate::overlap::merged;
use crate::own_sleeps;
use crate::predict::without_waits;
use crate::trace::looked::{WALKED_LEAST, each_ns, touched};
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
            State::Queued(StationPlace::Executor | StationPlace::Mailbox) => {
                s.holder == Holder::AnotherRequest
            }
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
        cause: name::LOG_FLUSH,
        // Which writes are those of a log is known of where they stand.
        matches: |s| match s.state {
            State::SendBlocked => s.phase == Phase::Service,
            State::Lock => s.holder != Holder::Unknown && waits(s.activity),
            State::Queued(StationPlace::One) => {
                s.holder != Holder::Unknown && s.activity == State::SendBlocked
            }
            _ => false,
        },
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "write to a file, log less, or give the log a queue that drops and never blocks",
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
        matches: blocks,
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
        cause: name::RETRY_BACKOFF,
        // Which sleeps are those of something that tries again is known of where they stand.
        matches: own_sleeps::is_asleep,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "see why the first attempt fails, and let the first pause be as short as what failed takes to recover",
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
        cause: name::BATCH_WINDOW,
        // Which replies wait for a commit of several is known of what the other server does.
        matches: is_reply,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "let it commit at once (PostgreSQL: commit_delay; MySQL: binlog_group_commit_sync_delay; MariaDB: binlog_commit_wait_usec)",
    },
    Rule {
        cause: name::UPSTREAM_TIMEOUT,
        // Which replies wait for a timeout of that server is known of what it does.
        matches: is_reply,
        least_ns: MILLISECOND,
        floor_least_ns: FLOOR_LEAST_NS,
        remedy: "it waits there with a timeout for another server: see which one does not answer it, and shorten the timeout",
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
        matches: is_reply,
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

/// Whether an event loop is blocked while a request waits for it: it waits itself, or computes for long without a break.
pub(crate) fn blocks(slice: &Slice) -> bool {
    slice.state == State::Queued(StationPlace::EventLoop)
        && (waits(slice.activity) || slice.len_ns() >= BLOCKS_NS && slice.activity == State::OnCpu)
}

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
                || is_mostly(State::Queued(StationPlace::Mailbox))
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

/// Whether the kind of place that a cause names is known from nothing but how many there are, or what keeps requests from
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
        State::Lock
        | State::Queued(StationPlace::One | StationPlace::Mailbox | StationPlace::Permits) => {
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
            scope.remedy(),
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
        let (least, most) = station.fit.plausible;
        let places = station.fit.places;
        let text = if (least..=most).contains(&places) {
            format!(
                "{places} places fit the recorded arrivals and departures: {} requests waited for one, which leaves {} of \
                 the scatter of service times",
                station.fit.queued,
                percent(station.fit.error_ratio)
            )
        } else {
            format!(
                "requests wait for each other in the recorded arrivals and departures, and no more than {places} calls are ever \
                 under way, as many as there are connections: {} requests waited",
                station.fit.queued
            )
        };
        all.push(evidence(Source::Client, "sent_ns", text));
    }
    all
}
