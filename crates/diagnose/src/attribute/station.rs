//! The station that requests of an endpoint wait at, found from when they were sent and done, and
//! laid over what the trace leaves open.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_attribution::stations::{Fit, Visit, fit};
use slowpath_attribution::words;
use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Place, Reason, Slice, State};
use slowpath_core::sample::NONE;

use super::overlay;
use crate::case::{Case, EndpointCase};
use crate::trace::calls::Asked;
use crate::trace::index::TrafficKind;
use crate::trace::inside::Inside;

/// So many requests are enough to tell the number of places, and are judged in a moment.
const VISITS_MOST: usize = 4_000;
/// Requests before the first slow one that are looked at: they may still be there when it comes.
const VISITS_BEFORE: usize = 1_000;
/// With more endpoints than that, not every set of them is tried, but each alone, with one other, and
/// all.
const ENDPOINTS_ALL_SETS: usize = 4;
/// Programs that clients keep a bounded pool of connections to, by their drivers' defaults. Clients of HTTP bound none
/// (Go, Java, Node.js, Rust), so that as many connections as places are the trace of a limit before them.
const POOLED: &[&str] = &[
    "postgres",
    "mysqld",
    "mariadbd",
    "mongod",
    "redis-server",
    "valkey-server",
    "memcached",
    "oracle",
    "sqlservr",
    "clickhouse-server",
    "pgbouncer",
];
/// Programs that forward requests, and bound the connections to each server behind them.
const PROXIES: &[&str] = &[
    "haproxy", "nginx", "envoy", "httpd", "apache2", "traefik", "caddy", "varnishd",
];
/// A station must account for this share of the waiting of slow requests: that of a cause that is
/// named.
const EXPLAINED_LEAST: f64 = 0.3;
/// An endpoint that has this share of the time in which places are held is one of those that hold
/// them.
const HOLDS_LEAST: f64 = 0.2;
/// At least this part of the waiting must be time of which the trace does not say otherwise.
const OPEN_LEAST: f64 = 0.5;

/// A station with who waits there.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) fit: Fit,
    /// Positions of the requests that the fit is of, in its order.
    samples: Vec<u32>,
    /// The endpoints whose requests hold the places, the one with most time first.
    pub(crate) held_by: Vec<String>,
    /// What kind of places it has, once it was laid over paths.
    pub(crate) place: Place,
    /// The other server, if the places are connections to it.
    pub(crate) peer: String,
}

impl Station {
    /// The station that explains most of what the slow requests of an endpoint wait, over sets of
    /// endpoints that may share it.
    pub(super) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Self> {
        if endpoint.split.slow.is_empty() {
            return None;
        }
        let sets = sets(case.endpoints.len(), usize::from(endpoint.index));
        let fits = sets
            .iter()
            .filter_map(|set| Self::in_set(case, endpoint, set));
        fits.max_by(|a, b| {
            let worth = |s: &Self| s.fit.explained - s.fit.error_ratio;
            worth(a).total_cmp(&worth(b))
        })
    }

    fn in_set(case: &Case<'_>, endpoint: &EndpointCase, set: &[usize]) -> Option<Self> {
        let (samples, visits) = visits(case, endpoint, set);
        let fit = fit(&visits).filter(|fit| fit.explained >= EXPLAINED_LEAST)?;
        let holds = fit
            .held_by
            .iter()
            .filter(|(_, share)| *share >= HOLDS_LEAST);
        let held_by = holds
            .filter_map(|(class, _)| Some(case.endpoints.get(usize::from(*class))?.name.clone()))
            .collect();
        Some(Self {
            samples,
            held_by,
            place: if fit.places == 1 {
                Place::One
            } else {
                Place::Permits
            },
            peer: String::new(),
            fit,
        })
    }

    /// What is said of it in words.
    pub(crate) fn words(&self) -> words::Station {
        words::Station {
            places: self.fit.places,
            held_by: self.held_by.clone(),
        }
    }

    /// Lays it over paths where these leave open what was waited for; `None` if they say otherwise.
    pub(super) fn lay_over(
        mut self,
        case: &Case<'_>,
        paths: &mut [Path],
        actors: &mut Vec<Actor>,
    ) -> Option<Self> {
        let starts: BTreeMap<u32, u64> = self
            .samples
            .iter()
            .copied()
            .zip(self.fit.starts.iter().copied())
            .collect();
        let waits = |path: &Path| -> Option<(u64, u64)> {
            let start = *starts.get(&path.sample)?;
            let sent = case.sample(path.sample).sent()?.get();
            (start > sent).then_some((sent, start))
        };
        let before = case.inside().is_some_and(|inside| {
            let waits: Vec<(u64, u64)> = paths
                .iter()
                .filter(|path| path.slow)
                .filter_map(&waits)
                .collect();
            is_before_the_calls(case, inside, &waits, self.fit.plausible.1)
        });
        let places_of = case
            .inside()
            .and_then(|inside| workers(inside, self.fit.plausible, before));
        let ours = before || places_of.is_some();
        let is_open = |state: State| is_open(state) || ours && state == State::Reply;
        let (mut open_ns, mut all_ns) = (0, 0);
        let (mut places, mut held) = (BTreeMap::<Place, u64>::new(), Doing::default());
        for path in paths.iter() {
            let wait = waits(path);
            for slice in path
                .slices
                .iter()
                .filter(|slice| slice.phase != Phase::Queued)
            {
                let within = wait.map_or(0, |(begin, end)| {
                    slice.end.min(end).saturating_sub(slice.begin.max(begin))
                });
                if path.slow {
                    all_ns += within;
                    if is_open(slice.state) {
                        open_ns += within;
                    }
                    if let State::Queued(place) = slice.state {
                        *places.entry(place).or_default() += within;
                    }
                }
                let begun = starts.get(&path.sample).copied().unwrap_or(slice.begin);
                if slice.begin >= begun && matches!(slice.phase, Phase::Service | Phase::Unread) {
                    held.add(slice);
                }
            }
        }
        if all_ns == 0 || (open_ns as f64) < OPEN_LEAST * all_ns as f64 {
            return None;
        }
        let seen = places.into_iter().max_by_key(|(_, ns)| *ns);
        let is_kind = |place: Place| !matches!(place, Place::Permits | Place::One);
        match seen.filter(|(place, ns)| is_kind(*place) && 2 * ns >= open_ns) {
            Some((place, _)) => self.place = place,
            None => {
                if let Some((process, count)) = places_of {
                    (self.place, self.peer, self.fit.places) = (Place::Workers, process, count);
                } else if let Some((remote, count)) = case
                    .inside()
                    .and_then(|inside| connections(case, inside, self.fit.plausible))
                {
                    (self.place, self.peer, self.fit.places) = (Place::Connections, remote, count);
                }
            }
        }
        let (activity, actor) = held.most(actors, &self.peer);
        if self.place == Place::Workers {
            let own = &mut actors[actor as usize];
            own.process = std::mem::take(&mut own.peer);
            own.thread.clear();
        }
        let (place, traced) = (self.place, case.inside().is_some());
        for path in paths.iter_mut() {
            let Some((begin, end)) = waits(path) else {
                continue;
            };
            let at = |ns: u64| slowpath_core::nanos::Nanos::new(ns.max(1));
            let span = slowpath_core::nanos::Span::new(at(begin), at(end));
            overlay(&mut path.slices, &[span], |slice| {
                let open = is_open(slice.state) && slice.phase != Phase::Queued;
                let known = matches!(slice.state, State::Queued(place) if is_kind(place));
                (open && !known).then_some(Slice {
                    state: State::Queued(place),
                    holder: Holder::AnotherRequest,
                    activity,
                    actor,
                    basis: if traced {
                        Basis::Traced
                    } else {
                        Basis::Pattern
                    },
                    ..*slice
                })
            });
        }
        Some(self)
    }
}

/// Whether requests wait before they ask another server, and not in that server's own queue: while they wait, no
/// more calls are under way than there are places.
fn is_before_the_calls(
    case: &Case<'_>,
    inside: &Inside<'_>,
    waits: &[(u64, u64)],
    places: u32,
) -> bool {
    let calls = inside.calls(case).all();
    let longest = calls
        .iter()
        .map(|call| call.end - call.begin)
        .max()
        .unwrap_or(0);
    let under_way = |at: u64| {
        let first = calls.partition_point(|call| call.end <= at);
        let later = calls[first..]
            .iter()
            .take_while(|call| call.end <= at.saturating_add(longest));
        later.filter(|call| call.begin <= at).count()
    };
    let mut counts: Vec<usize> = waits
        .iter()
        .map(|(begin, end)| under_way(begin + (end - begin) / 2))
        .collect();
    counts.sort_unstable();
    counts
        .get(counts.len() / 2)
        .is_some_and(|&median| median <= places as usize)
}

/// What requests that have a place do.
#[derive(Debug, Default)]
struct Doing(BTreeMap<(State, u32), u64>);

impl Doing {
    fn add(&mut self, slice: &Slice) {
        *self.0.entry((slice.state, slice.actor)).or_default() += slice.len_ns();
    }

    /// What they do for most of the time, and the actor for it.
    fn most(&self, actors: &mut Vec<Actor>, peer: &str) -> (State, u32) {
        let mut states: BTreeMap<State, u64> = BTreeMap::new();
        for ((state, _), ns) in &self.0 {
            *states.entry(*state).or_default() += ns;
        }
        let state = states
            .into_iter()
            .max_by_key(|(_, ns)| *ns)
            .map(|(state, _)| state);
        let state = state.unwrap_or(State::Unknown(Reason::NotTraced));
        let of = self.0.iter().filter(|((own, _), _)| *own == state);
        let who = of.max_by_key(|(_, ns)| **ns).map(|((_, actor), _)| *actor);
        let mut actor = who
            .and_then(|at| actors.get(at as usize))
            .cloned()
            .unwrap_or_default();
        if !peer.is_empty() {
            peer.clone_into(&mut actor.peer);
        }
        actors.push(actor);
        (state, (actors.len() - 1) as u32)
    }
}

/// Whether a request that is in this state may be waiting for a place.
const fn is_open(state: State) -> bool {
    matches!(
        state,
        State::Queued(_)
            | State::Sleep
            | State::Lock
            | State::Unknown(
                Reason::Parked
                    | Reason::LoopWaits
                    | Reason::Holder
                    | Reason::NoWaker
                    | Reason::NotTraced
                    | Reason::OtherEnd
            )
    )
}

/// The sets of endpoints that may share a station with one.
fn sets(endpoints: usize, own: usize) -> Vec<Vec<usize>> {
    if endpoints <= ENDPOINTS_ALL_SETS {
        let all = (1_usize..1 << endpoints).filter(|bits| bits & (1 << own) != 0);
        return all
            .map(|bits| (0..endpoints).filter(|e| bits & (1 << e) != 0).collect())
            .collect();
    }
    let mut sets: Vec<Vec<usize>> = (0..endpoints)
        .map(|other| BTreeSet::from([own, other]).into_iter().collect())
        .collect();
    sets.push((0..endpoints).collect());
    sets
}

/// The requests of a set of endpoints in order of sending, around the slow ones of one of them.
fn visits(case: &Case<'_>, endpoint: &EndpointCase, set: &[usize]) -> (Vec<u32>, Vec<Visit>) {
    let mut all: Vec<(u64, u32, Visit)> = Vec::new();
    let first_slow = endpoint.split.slow.first().copied().unwrap_or(0);
    for &place in set {
        let own = &case.endpoints[place];
        // Positions are in order of time: those from a little before the first slow one are enough.
        let around = |of: &[u32]| {
            let first = of
                .partition_point(|&position| position < first_slow)
                .saturating_sub(VISITS_BEFORE);
            of[first..]
                .iter()
                .take(VISITS_MOST)
                .copied()
                .collect::<Vec<u32>>()
        };
        for position in around(&own.completed)
            .into_iter()
            .chain(around(&own.failed))
        {
            let sample = case.sample(position);
            let Some(sent) = sample.sent().filter(|_| sample.connection() != NONE) else {
                continue;
            };
            let slow =
                own.index == endpoint.index && endpoint.split.slow.binary_search(&position).is_ok();
            let visit = Visit {
                arrival: sent.get(),
                done: sample.done().get(),
                class: own.index,
                line: u32::from(sample.repeat()),
                slow,
            };
            all.push((visit.arrival, position, visit));
        }
    }
    all.sort_unstable_by_key(|&(at, position, visit)| (at, visit.done, visit.class, position));
    all.truncate(VISITS_MOST);
    all.iter()
        .map(|&(_, position, visit)| (position, visit))
        .unzip()
}

/// The program that serves the target over sockets, a process of its own or a dependency on this host, if as many of
/// its threads do as the station has places: they are what requests wait for. A dependency that is asked by no more at once
/// than there are places has as many threads at work for that reason, and is not what they wait for.
fn workers(inside: &Inside<'_>, (least, most): (u32, u32), before: bool) -> Option<(String, u32)> {
    let sockets = &inside.index.sockets;
    let mut serving: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for socket in 0..sockets.len() {
        let clients = sockets
            .end(socket)
            .is_some_and(|end| inside.is_clients(end));
        let internal = inside.is_internal(socket);
        if clients || !inside.serves(socket) || before && !internal {
            continue;
        }
        let wrote = sockets
            .traffic(socket)
            .iter()
            .filter(|t| t.kind == TrafficKind::Wrote);
        for traffic in wrote {
            serving
                .entry(inside.process_name(traffic.tid))
                .or_default()
                .insert(traffic.tid);
        }
    }
    let mut counts = serving
        .into_iter()
        .map(|(process, tids)| (process.to_owned(), tids.len() as u32));
    counts.find(|(_, count)| (least..=most).contains(count) && *count > 1)
}

/// The other server that the target asks over as many connections as the station may have places, with their number: as
/// many as it has, or as are in use at once where it makes them anew.
fn connections(
    case: &Case<'_>,
    inside: &Inside<'_>,
    (least, most): (u32, u32),
) -> Option<(String, u32)> {
    let calls = inside.calls(case).all();
    let mut by_remote: BTreeMap<SocketAddr, Vec<&Asked>> = BTreeMap::new();
    for call in calls {
        by_remote.entry(call.remote).or_default().push(call);
    }
    let by = inside.process_name(calls.first()?.tid);
    // A connection that is closed and one that takes its place are both there for a moment.
    let fits = |count: u32| (least..=most + 1).contains(&count);
    let of = by_remote.into_iter().filter_map(|(remote, own)| {
        let peer = inside.program_at(remote);
        if !peer.is_some_and(|peer| POOLED.contains(&peer)) && !PROXIES.contains(&by) {
            return None;
        }
        let sockets: BTreeSet<u32> = own.iter().map(|call| call.socket).collect();
        let count = Some(sockets.len() as u32)
            .filter(|&n| fits(n))
            .or_else(|| Some(at_once(&own)).filter(|&n| fits(n)))?;
        Some((own.len(), inside.other_end(own[0].socket)?, count.min(most)))
    });
    of.max_by_key(|(asked, ..)| *asked)
        .map(|(_, end, count)| (end, count))
}

/// How many of the calls are under way at once, at most.
fn at_once(calls: &[&Asked]) -> u32 {
    let begins = calls.iter().map(|call| (call.begin, 1));
    let mut steps: Vec<(u64, i32)> = begins
        .chain(calls.iter().map(|call| (call.end, -1)))
        .collect();
    steps.sort_unstable();
    let under_way = steps.iter().scan(0, |now, (_, step)| {
        *now += step;
        Some(*now)
    });
    under_way.max().unwrap_or(0).max(0) as u32
}
