//! What became of connections: how many were made and for what, which never worked, whether the
//! first request on each is slower than the rest.

use std::collections::BTreeMap;

use slowpath_core::sample::{NONE, Outcome, Phase, Stage};
use slowpath_core::samples::{SampleRef, Samples};
use slowpath_core::scenario::{ConnectionUse, Model};
use slowpath_core::stats::selection::Selection;

use crate::case::Case;
use crate::diagnosis::{Connections, DialFailure};
use crate::errno;
use crate::failures::{peak_per_s, selected};
use crate::figures::{millis, round};
use crate::verdict::{human, plural};

/// First requests on connections are slow when their median is this many times that of later
/// ones: a handshake and a cold window cost about one round trip more …
const FIRST_SLOWER: f64 = 2.0;
/// … and this much longer, which is more than noise …
const FIRST_SLOWER_LEAST_MS: f64 = 1.0;
/// … on at least so many connections, below which a median says little.
const FIRST_LEAST: u64 = 20;

/// Requests that fail take their connection along, so that a few dials for every 1000 requests are
/// no news beside the errors; from one in ten on, dialling is part of what the server has to do.
const STORM_PER_1000: f64 = 100.0;

/// … and it is a storm when all connections that the load may have are dialled again each second or
/// faster; slower than that are idle timers, which close unused connections.
const STORM_POOLS_PER_S: f64 = 1.0;

/// Connections that end in good order are worth a line from one dial in a hundred requests on:
/// limits of requests on a connection are usually 100 or more where they were chosen deliberately.
const CHURN_PER_1000: f64 = 10.0;

/// Reconnecting is a storm when at least this share of the dials replaces connections that were
/// taken away: a request failed on them, or they were found closed. Else the server says with each
/// response that it closes.
const STORM_SHARE: f64 = 0.5;

/// Where requests fail now and then, some are the first on their connection and leave one that
/// never worked; from this share on it is the connections that fail.
const NEVER_WORKED_SHARE: f64 = 0.1;

/// Kinds of dial failures named in the sentence; the rest are in the list.
const KINDS_NAMED: usize = 3;

/// The connections of all endpoints and repeats.
pub(crate) fn connections(case: &Case<'_>) -> Connections {
    let manifest = &case.record.manifest;
    let repeats = &manifest.repeats;
    let samples = &case.record.samples;
    let carried = Carried::of(samples);
    let Requests {
        measured,
        dialled,
        first_ns,
        first_warmup_ns,
        later_ns,
    } = Requests::of(samples);
    let dials = || dialled.iter().map(|&i| case.sample(i));
    let served = Served::of(case);
    let in_ms = |of: &mut dyn Iterator<Item = u64>| selected(of.collect(), millis);
    let per_connection: Selection = carried.requests().collect();
    let connections_used = per_connection.len() as u64;
    let mut found = Connections {
        opened: repeats.iter().map(|r| r.connections_opened).sum(),
        stale: repeats.iter().map(|r| r.connections_stale).sum(),
        never_worked: carried.never_worked(),
        dials: dialled.len() as u64,
        dial_failures: dial_failures(dials()),
        per_1000_requests: round(dialled.len() as f64 * 1e3 / (measured as f64).max(1.0), 1e3),
        peak_dials_per_s: peak_per_s(
            case,
            dials().filter_map(|s| Some((s.repeat(), s.connect_begin()?))),
        ),
        limit: limit(case),
        users: served.as_ref().map(|served| served.users),
        users_never_served: served.as_ref().map(|served| served.never),
        requests_per_connection: selected(per_connection, |value| value),
        first_request_ms: selected(Selection::new(first_ns), millis),
        first_request_warmup_ms: selected(Selection::new(first_warmup_ns), millis),
        later_ms: selected(Selection::new(later_ns), millis),
        connect_ms: in_ms(&mut dials().filter_map(SampleRef::connect_ns)),
        handshake_ms: in_ms(&mut dials().filter_map(SampleRef::handshake_ns)),
        tls_full: repeats.iter().map(|r| r.tls_full).sum(),
        tls_resumed: repeats.iter().map(|r| r.tls_resumed).sum(),
        notable: Vec::new(),
    };
    found.notable = notable(case, &found, connections_used);
    found
}

/// Requests by what they were on their connection.
#[derive(Default)]
struct Requests {
    /// How many were measured.
    measured: usize,
    /// The measured ones for which a connection was made: positions in the record's samples.
    dialled: Vec<u32>,
    /// Service times of the first on each connection that went well.
    first_ns: Vec<u64>,
    /// The same before the measured windows.
    first_warmup_ns: Vec<u64>,
    /// The same for all requests that were measured after the first.
    later_ns: Vec<u64>,
}

impl Requests {
    fn of(samples: &Samples) -> Self {
        let mut found = Self::default();
        for (position, sample) in (0..).zip(samples) {
            let is_measured = sample.stage() == Stage::Measured;
            found.measured += usize::from(is_measured);
            if is_measured && sample.connect_begin().is_some() {
                found.dialled.push(position);
            }
            if sample.outcome() == Outcome::Ok {
                let service_ns = sample.service_ns();
                match (sample.index_on_connection(), is_measured) {
                    (0, true) => found.first_ns.extend(service_ns),
                    (0, false) => found.first_warmup_ns.extend(service_ns),
                    (_, true) => found.later_ns.extend(service_ns),
                    (_, false) => {}
                }
            }
        }
        found
    }
}

/// What each connection carried, by repeat; serial numbers of connections are dense.
#[derive(Default)]
struct Carried {
    by_repeat: BTreeMap<u16, Vec<(u32, bool)>>,
}

impl Carried {
    fn of(samples: &Samples) -> Self {
        let mut all = Self::default();
        let (mut repeat, mut connections) = (0, Vec::new());
        for sample in samples.iter().filter(|s| s.connection() != NONE) {
            if sample.repeat() != repeat {
                all.by_repeat.insert(repeat, connections);
                repeat = sample.repeat();
                connections = all.by_repeat.remove(&repeat).unwrap_or_default();
            }
            let place = sample.connection() as usize;
            if connections.len() <= place {
                connections.resize(place + 1, (0, false));
            }
            let (requests, worked) = &mut connections[place];
            *requests += 1;
            *worked |= is_whole(sample);
        }
        all.by_repeat.insert(repeat, connections);
        all
    }

    fn used(&self) -> impl Iterator<Item = &(u32, bool)> {
        let all = self.by_repeat.values().flatten();
        all.filter(|(requests, _)| *requests > 0)
    }

    fn requests(&self) -> impl Iterator<Item = u64> {
        self.used().map(|&(requests, _)| u64::from(requests))
    }

    fn never_worked(&self) -> u64 {
        self.used().filter(|(_, worked)| !worked).count() as u64
    }
}

/// Whether its response came whole, or would have: what the end of the run cut off is no sign of
/// a connection that does not work.
fn is_whole(sample: SampleRef<'_>) -> bool {
    sample.phase() == Phase::Check || sample.outcome() == Outcome::Unfinished
}

/// Users of a closed loop.
struct Served {
    users: u64,
    never: u64,
}

impl Served {
    /// Over all repeats; `None` for an open loop.
    fn of(case: &Case<'_>) -> Option<Self> {
        let Model::Closed { users, .. } = case.record.manifest.plan.scenario.load.model else {
            return None;
        };
        // Users are numbered densely: `None` asked for nothing.
        let mut asked: BTreeMap<u16, Vec<Option<bool>>> = BTreeMap::new();
        let samples = case.record.samples.iter();
        for sample in samples.filter(|s| s.stage() == Stage::Measured && s.user() < users) {
            let of_repeat = asked.entry(sample.repeat()).or_default();
            of_repeat.resize(users as usize, None);
            let served = &mut of_repeat[sample.user() as usize];
            *served = Some(served.unwrap_or(false) || is_whole(sample));
        }
        let never = asked.values().flatten().filter(|one| **one == Some(false));
        Some(Self {
            users: u64::from(users),
            never: never.count() as u64,
        })
    }
}

fn dial_failures<'a>(dials: impl Iterator<Item = SampleRef<'a>>) -> Vec<DialFailure> {
    let mut counts: BTreeMap<(Outcome, Phase, u16), u64> = BTreeMap::new();
    let is_dial = |s: &SampleRef<'_>| matches!(s.phase(), Phase::Connect | Phase::Handshake);
    for sample in dials.filter(|s| s.outcome().is_error()).filter(is_dial) {
        let kind = (sample.outcome(), sample.phase(), sample.errno());
        *counts.entry(kind).or_default() += 1;
    }
    let mut all: Vec<DialFailure> = counts
        .into_iter()
        .map(|((outcome, phase, number), count)| DialFailure {
            class: outcome.name().to_owned(),
            phase: phase.name().to_owned(),
            errno: (number != 0).then(|| errno::name(number)),
            count,
        })
        .collect();
    all.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    all
}

/// The most connections at once in one repeat.
/// Connections that the load may have at a time.
pub(crate) fn limit(case: &Case<'_>) -> u64 {
    let load = &case.record.manifest.plan.scenario.load;
    match (&load.model, load.connection) {
        (Model::Closed { users, .. }, ConnectionUse::PerUser) => u64::from(*users),
        _ => u64::from(load.connections),
    }
}

fn notable(case: &Case<'_>, found: &Connections, carried: u64) -> Vec<String> {
    let mut notable = Vec::new();
    notable.extend(churn(case, found));
    if found.never_worked as f64 > NEVER_WORKED_SHARE * carried as f64 {
        notable.push(format!(
            "{} of {carried} connections that carried requests never carried a whole response",
            found.never_worked
        ));
    }
    if let (Some(users), Some(never @ 1..)) = (found.users, found.users_never_served) {
        let all = users * case.windows.len() as u64;
        let users = plural(all, "user");
        notable.push(format!("{never} of {users} never got a whole response"));
    }
    let failed: u64 = found.dial_failures.iter().map(|one| one.count).sum();
    if failed > 0 {
        let kinds = found.dial_failures.iter().take(KINDS_NAMED);
        let kinds: Vec<String> = kinds.map(dial_failure).collect();
        notable.push(format!(
            "{failed} of {} gave no connection: {}",
            plural(found.dials, "dial"),
            kinds.join(", ")
        ));
    }
    notable.extend(slow_first(found));
    notable
}

fn dial_failure(failure: &DialFailure) -> String {
    let errno = failure.errno.as_ref();
    let errno = errno.map(|errno| format!(" ({errno})")).unwrap_or_default();
    format!(
        "{} {} in {}{errno}",
        failure.count, failure.class, failure.phase
    )
}

/// Every connection was replaced more than once over: more than the load asked for.
fn churn(case: &Case<'_>, found: &Connections) -> Option<String> {
    let load = &case.record.manifest.plan.scenario.load;
    let repeats = case.windows.len() as u64;
    if load.connection == ConnectionUse::PerRequest || found.dials <= found.limit * repeats {
        return None;
    }
    if found.per_1000_requests < CHURN_PER_1000 {
        return None;
    }
    let failed: usize = case.endpoints.iter().map(|e| e.failed.len()).sum();
    let dials = format!(
        "{} dials in the measured window for at most {} at once ({} for every 1000 requests, up to \
         {} in a second)",
        found.dials,
        plural(found.limit, "connection"),
        found.per_1000_requests.round(),
        found.peak_dials_per_s
    );
    let were_stale = match found.stale {
        1 => "1 was found closed".to_owned(),
        stale => format!("{stale} were found closed"),
    };
    let stale = found.stale;
    let taken = failed as f64 + stale as f64;
    let seconds = case.measured_ns() as f64 / 1e9;
    let stormy = found.per_1000_requests >= STORM_PER_1000
        && found.dials as f64 >= STORM_POOLS_PER_S * found.limit as f64 * seconds;
    if stormy && taken >= STORM_SHARE * found.dials as f64 {
        return Some(format!(
            "reconnect storm: {dials}; {} failed and took their connection along, and of the \
             connections {were_stale} before a request was sent, warm-up included",
            plural(failed as u64, "request")
        ));
    }
    // Failures are reported with the errors; this is about connections that end without one.
    let each = found.requests_per_connection.map_or(0.0, |each| each.p50);
    ((failed as f64) < STORM_SHARE * found.dials as f64).then(|| {
        format!(
            "connections do not last: {dials}; half of them carried no more than {each} request{}, \
             {were_stale} before a request was sent, warm-up included",
            if (each - 1.0).abs() < f64::EPSILON {
                ""
            } else {
                "s"
            }
        )
    })
}

fn slow_first(found: &Connections) -> Option<String> {
    let (first, later) = (found.first_request_ms?, found.later_ms?);
    let slower = first.p50 >= FIRST_SLOWER * later.p50
        && first.p50 - later.p50 >= FIRST_SLOWER_LEAST_MS
        && first.n >= FIRST_LEAST
        && later.n >= FIRST_LEAST;
    let show = |ms: f64| human(ms * 1e6);
    slower.then(|| {
        format!(
            "the first request on a connection takes {} (p99 {}, n {}), later ones {} (p99 {}, n {}), \
             without the time to connect",
            show(first.p50),
            show(first.p99),
            first.n,
            show(later.p50),
            show(later.p99),
            later.n
        )
    })
}
