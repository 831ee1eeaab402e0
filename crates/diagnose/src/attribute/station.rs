//! The station that requests of an endpoint wait at, found from when they were sent and done, and
//! laid over what the trace leaves open.

mod kind;
mod visits;

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::stations::{Fit, fit, fit_behind, fit_places_of};
use slowpath_attribution::words;
use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Place, Reason, Slice, State};
use slowpath_core::nanos::{Nanos, Span};

use self::kind::{Work, connections, is_before_the_calls, workers};
pub(super) use self::kind::{at_once, full_pool, is_pooled, keeps_pool};
use self::visits::{sets, visits};
use super::classify::Classifier;
use super::overlay;
use super::released::is_anyones;
use crate::case::{Case, EndpointCase};
use crate::rules::blocks;
use crate::trace::inside::Inside;

/// A station must account for this share of the waiting of slow requests: that of a cause that is
/// named.
const EXPLAINED_LEAST: f64 = 0.3;
/// So many requests of an endpoint that holds the places show what it does.
const HOLDERS_MOST: usize = 200;
/// An endpoint that has this share of the time in which places are held is one of those that hold
/// them.
const HOLDS_LEAST: f64 = 0.2;
/// At least this part of the waiting must be time of which the trace does not say otherwise.
const OPEN_LEAST: f64 = 0.5;

/// Where goroutines were read for this part of the waiting, what they wait for is what requests wait for in the rest as well.
const READ_LEAST: f64 = 0.25;

/// A station with who waits there.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) fit: Fit,
    /// By the position of a request, its place in the fit.
    by_sample: BTreeMap<u32, usize>,
    /// The endpoints whose requests hold the places, the one with most time first.
    pub(crate) held_by: Vec<String>,
    /// What requests of these do while they have a place.
    doing: Doing,
    /// By process and name, how many threads there are that requests are handed to.
    pools: BTreeMap<(String, String), u32>,
    /// Threads that read and answer requests.
    serving: BTreeSet<u32>,
    /// What kind of places it has, once it was laid over paths.
    pub(crate) place: Place,
    /// What kind of places they may be as well.
    pub(crate) or: Option<Place>,
    /// Whether it is not known which program is asked there, so that the pattern in which connections are taken over decides.
    pub(crate) by_pattern: bool,
    /// The other server, if the places are connections to it.
    pub(crate) peer: String,
}

impl Station {
    /// The station that explains most of what the slow requests of an endpoint wait, over sets of
    /// endpoints that may share it.
    pub(super) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Self> {
        // Where no request is slow, only a trace shows what all of them wait for.
        let is_seen = case.inside().is_some() && case.target_hidden().is_none();
        if endpoint.split.slow.is_empty() && !is_seen {
            return None;
        }
        let sets = sets(case.endpoints.len(), usize::from(endpoint.index));
        let fits = sets
            .iter()
            .filter_map(|set| Self::in_set(case, endpoint, set));
        fits.max_by(|a, b| a.fit.compare(&b.fit))
    }

    fn in_set(case: &Case<'_>, endpoint: &EndpointCase, set: &[usize]) -> Option<Self> {
        let (samples, visits) = visits(case, endpoint, set);
        let mut fits: Vec<Fit> = fit(&visits).into_iter().collect();
        if let [one, other] = set {
            let class = if *one == usize::from(endpoint.index) {
                *other
            } else {
                *one
            };
            fits.extend(fit_behind(&visits, class as u16));
            fits.extend(fit_places_of(&visits, class as u16));
        }
        fits.retain(|fit| fit.explained >= EXPLAINED_LEAST);
        let fit = fits.into_iter().max_by(Fit::compare)?;
        let holds = fit
            .held_by
            .iter()
            .filter(|(_, share)| *share >= HOLDS_LEAST);
        let held_by = holds
            .filter_map(|(class, _)| Some(case.endpoints.get(usize::from(*class))?.name.clone()))
            .collect();
        Some(Self {
            by_sample: samples.into_iter().zip(0..).collect(),
            held_by,
            doing: Doing::default(),
            pools: BTreeMap::new(),
            serving: BTreeSet::new(),
            place: if fit.places == 1 {
                Place::One
            } else {
                Place::Permits
            },
            or: None,
            by_pattern: false,
            peer: String::new(),
            fit,
        })
    }

    /// Notes what the requests do that have a place, of the endpoints that have them for most of the time.
    pub(super) fn note_holders(
        &mut self,
        case: &Case<'_>,
        inside: &Inside<'_>,
        classifier: &mut Classifier<'_, '_>,
    ) {
        self.pools = classifier.pools();
        self.serving.clone_from(classifier.serving());
        let holders = case
            .endpoints
            .iter()
            .filter(|e| self.held_by.contains(&e.name));
        for holder in holders {
            let walked = inside.of_endpoint(holder).walked.iter();
            let known = walked.filter_map(|walked| {
                let place = self.by_sample.get(&walked.joined.sample)?;
                Some((walked, *place))
            });
            for (walked, place) in known.take(HOLDERS_MOST) {
                let start = self.fit.starts[place];
                let path = classifier.path(walked);
                let has = |slice: &&Slice| {
                    slice.begin >= start && matches!(slice.phase, Phase::Service | Phase::Unread)
                };
                for slice in path.slices.iter().filter(has) {
                    self.doing.add(slice);
                }
            }
        }
    }

    /// What is said of it in words.
    pub(crate) fn words(&self) -> words::Station {
        words::Station {
            places: self.fit.places,
            held_by: self.held_by.clone(),
        }
    }

    /// Whether those that are to hold a thread of a pool wait for one themselves for most of the time: then they hold something else.
    fn keeps_itself_waiting(&self) -> bool {
        let all: u64 = self.doing.0.values().sum();
        2 * self.doing.ns(State::Queued(Place::Executor)) > all
    }

    /// From when to when a request waits for a place.
    fn waits(&self, case: &Case<'_>, path: &Path) -> Option<(u64, u64)> {
        let place = self.by_sample.get(&path.sample)?;
        let start = self.fit.starts[*place];
        let sent = case.sample(path.sample).sent()?.get();
        (start > sent).then_some((sent, start))
    }

    /// Lays it over paths where these leave open what was waited for; `None` if they say otherwise.
    pub(super) fn lay_over(
        mut self,
        (case, endpoint): (&Case<'_>, &EndpointCase),
        paths: &mut [Path],
        actors: &mut Vec<Actor>,
    ) -> Option<Self> {
        let inside = case.inside();
        let slow = paths.iter().filter(|path| is_slow(endpoint, path.sample));
        let waits: Vec<(u64, u64)> = slow.filter_map(|path| self.waits(case, path)).collect();
        let plausible = self.fit.plausible;
        let before =
            inside.is_some_and(|inside| is_before_the_calls(case, inside, &waits, plausible.1));
        let workers = inside.and_then(|inside| workers(inside, plausible, before));
        let is_open = Open {
            replies: before || workers.is_some(),
        };
        let mut seen = Seen::of((case, endpoint), &self, paths, is_open);
        let pool = seen.pool(actors);
        let free = self.free_pool((case, inside), &waits, pool.clone());
        let busy = pool.filter(|_| free.is_none());
        if free.is_some() {
            seen.places.remove(&Place::Executor);
        }
        if seen.all_ns == 0 || (seen.open_ns as f64) < OPEN_LEAST * seen.all_ns as f64 {
            return None;
        }
        if let Some(place) = seen.place() {
            self.place = place;
        } else if let Some(place) = seen.read_place() {
            self.place = place;
        } else if let Some(threads) = busy.and_then(|pool| {
            // Threads that rest while requests wait are as many as the places by chance.
            let work = Work::of(case, inside?, &waits, plausible.0);
            self.fitting_threads(&pool)
                .filter(|_| work.is_at_work(&pool))
        }) {
            (self.place, self.fit.places) = (Place::Executor, threads);
        } else if seen.is_untaken() {
            self.tell_untaken(case, &waits, paths);
        } else if let Some((process, count)) = workers {
            (self.place, self.peer, self.fit.places) = (Place::Workers, process, count);
        } else if let Some(inside) = inside {
            self.tell_kind(case, inside, &waits);
        }
        let (activity, actor) = self.doing.most(actors, &self.peer);
        self.name_holder(inside, &mut actors[actor as usize]);
        let basis = if inside.is_some() {
            Basis::Traced
        } else {
            Basis::Pattern
        };
        let queued = |slice: &Slice| {
            let known = matches!(slice.state, State::Queued(place) if is_kind(place))
                && (free.is_none() || slice.state != State::Queued(Place::Executor))
                && (self.place == Place::EventLoop || !is_beside_the_loop(slice));
            // Of a runtime that was read it is known which task has the place.
            let known = known || slice.basis == Basis::Sampled && !is_anyones(slice);
            (is_open.holds(slice) && !known).then_some(Slice {
                state: State::Queued(self.place),
                holder: Holder::AnotherRequest,
                activity,
                actor,
                basis,
                ..*slice
            })
        };
        for path in paths.iter_mut() {
            if let Some((begin, end)) = self.waits(case, path) {
                let at = |ns: u64| Nanos::new(ns.max(1));
                overlay(&mut path.slices, &[Span::new(at(begin), at(end))], queued);
            }
        }
        if let Some(pool) = free.filter(|pool| !self.has_more_threads(pool)) {
            forget_pool(&pool, paths, actors);
        }
        Some(self)
    }

    /// What its places are where connections are not taken up. A thread for each connection, and so many threads, are the same limit.
    /// Threads that serve one connection each, or take tasks by turns, as many as there are places, take up none while all of them have a
    /// request.
    fn tell_untaken(&mut self, case: &Case<'_>, waits: &[(u64, u64)], paths: &[Path]) {
        let (least, most) = self.fit.plausible;
        let threads = self.serving.len() as u32;
        let are_blocked = |inside: &Inside<'_>| {
            let index = &inside.index;
            let keeps = |tid| !index.parks(tid) || index.task_threads.contains(&tid);
            let one_each = |&tid: &u32| !inside.loops.has(tid) && keeps(tid);
            let work = Work::of(case, inside, waits, least);
            self.serving.iter().all(one_each)
                && work.have_requests(inside.calls(case), &self.serving)
        };
        if threads > 1
            && (least..=most).contains(&threads)
            && case.inside().is_some_and(are_blocked)
        {
            (self.place, self.or) = (Place::Workers, Some(Place::Served));
            self.fit.places = threads;
        } else {
            let not_begun = |path: &Path| path.slices.iter().any(is_not_begun);
            let has_threads = paths.iter().any(not_begun);
            (self.place, self.or) = (Place::Served, has_threads.then_some(Place::Workers));
        }
    }

    /// How many threads a pool has, if that is as many as there may be places: requests that are seen to wait for them, if only for
    /// a part of their time, wait for them.
    fn fitting_threads(&self, pool: &(String, String)) -> Option<u32> {
        let (least, most) = self.fit.plausible;
        let threads = self.pools.get(pool).copied();
        threads.filter(|threads| (least..=most).contains(threads))
    }

    /// Whether there are more threads in a pool than places.
    fn has_more_threads(&self, pool: &(String, String)) -> bool {
        let threads = self.pools.get(pool);
        threads.is_some_and(|&threads| threads > self.fit.plausible.1)
    }

    /// The pool that requests seem to wait for, if it has threads that are free: these are not what they wait for then. It has more
    /// threads than there are places, or all of them mostly rest while those that are to hold them wait for one.
    fn free_pool(
        &mut self,
        (case, inside): (&Case<'_>, Option<&Inside<'_>>),
        waits: &[(u64, u64)],
        pool: Option<(String, String)>,
    ) -> Option<(String, String)> {
        let pool = pool?;
        if self.has_more_threads(&pool) {
            return Some(pool);
        }
        let rests = self.keeps_itself_waiting()
            && Work::of(case, inside?, waits, self.fit.plausible.0).is_at_rest(&pool);
        rests.then(|| {
            self.doing.forget(State::Queued(Place::Executor));
            pool
        })
    }

    /// Whether the server is an Erlang virtual machine, whose processes share nothing.
    fn has_actors(&self, inside: &Inside<'_>) -> bool {
        let mut serving = self.serving.iter();
        serving.any(|&tid| inside.executable(tid) == "beam.smp")
    }

    /// Whose places they are, where that is a program and no thread of it.
    fn name_holder(&self, inside: Option<&Inside<'_>>, actor: &mut Actor) {
        match self.place {
            Place::Workers if !self.peer.is_empty() => {
                actor.process = std::mem::take(&mut actor.peer);
            }
            Place::Workers | Place::Served => {
                let serving = inside.zip(self.serving.first());
                actor.process = serving.map_or_else(String::new, |(inside, tid)| {
                    inside.process_name(*tid).to_owned()
                });
            }
            _ => return,
        }
        actor.thread.clear();
    }

    /// What its places are, where no slice says so, from what there are as many of.
    fn tell_kind(&mut self, case: &Case<'_>, inside: &Inside<'_>, waits: &[(u64, u64)]) {
        self.tell_kind_by_count(case, inside, waits);
        if self.place == Place::One && self.has_actors(inside) {
            self.place = Place::Mailbox;
        }
    }

    fn tell_kind_by_count(&mut self, case: &Case<'_>, inside: &Inside<'_>, waits: &[(u64, u64)]) {
        let (least, most) = self.fit.plausible;
        let work = Work::of(case, inside, waits, least);
        let fits = |threads: u32| (least..=most).contains(&threads);
        let only = work.only_server(&self.serving).map(|place| (place, 1));
        let only = only.filter(|_| fits(1));
        let threads = only.or_else(|| work.blocking(&self.serving, fits));
        if let Some((place, count)) = threads {
            (self.place, self.fit.places) = (place, count);
            return;
        }
        let kept = full_pool(inside, inside.calls(case)).filter(|pool| pool.is_kept);
        if let Some(pool) = kept.filter(|_| self.place == Place::One) {
            (self.or, self.place) = (Some(Place::Permits), Place::Connections);
            (self.peer, self.fit.places) = (pool.peer, pool.connections);
            return;
        }
        let Some(pool) = connections(case, inside, self.fit.plausible) else {
            return;
        };
        if pool.is_usual && pool.connections > 1 {
            (self.or, self.place) = (Some(self.place), Place::Connections);
            (self.peer, self.fit.places) = (pool.remote, pool.connections);
        } else if pool.connections > 1 {
            self.or = Some(Place::Connections);
            self.by_pattern = pool.is_unknown;
        }
    }
}

/// Whether the loop of a request that it has read does something else for a moment: the request waits for its place until that is free.
fn is_beside_the_loop(slice: &Slice) -> bool {
    slice.state == State::Queued(Place::EventLoop)
        && slice.phase == Phase::Service
        && !blocks(slice)
}

/// Whether the thread that takes a connection up has not begun.
fn is_not_begun(slice: &Slice) -> bool {
    slice.state == State::Unknown(Reason::NotTaken)
}

/// Leaves open what requests wait for that seem to wait for a thread of a pool which rests, unless that one computes.
fn forget_pool((process, thread): &(String, String), paths: &mut [Path], actors: &[Actor]) {
    for slice in paths.iter_mut().flat_map(|path| &mut path.slices) {
        let actor = &actors[slice.actor as usize];
        let computes = matches!(slice.activity, State::OnCpu | State::Runnable(_));
        let is_its = actor.process == *process && actor.thread == *thread;
        if is_its && !computes && slice.state == State::Queued(Place::Executor) {
            slice.state = State::Unknown(Reason::LoopWaits);
            slice.activity = slice.state;
            slice.holder = Holder::Unknown;
            slice.basis = Basis::Unknown;
        }
    }
}

/// Whether a request is one of those that are to be explained: where none is slow beside the others, all are.
fn is_slow(endpoint: &EndpointCase, sample: u32) -> bool {
    let slow = &endpoint.split.slow;
    slow.is_empty() || slow.binary_search(&sample).is_ok()
}

/// Whether what kind of place it is is known from more than how many there are.
const fn is_kind(place: Place) -> bool {
    !matches!(place, Place::Permits | Place::One | Place::Mailbox)
}

/// Which slices leave open whether a request waits for a place.
#[derive(Clone, Copy)]
struct Open {
    /// Replies do as well: what is waited for may be a place to ask from.
    replies: bool,
}

impl Open {
    fn holds(self, slice: &Slice) -> bool {
        let open = match slice.state {
            State::Queued(_) => true,
            State::Reply => self.replies,
            // A thread that sleeps for its own request waits for no place, and a lock whose holder is known is one.
            State::Sleep => slice.holder != Holder::ThisRequest,
            State::Lock => slice.holder == Holder::Unknown,
            State::Unknown(reason) => !matches!(
                reason,
                Reason::Kernel | Reason::Network | Reason::NotSeen | Reason::TooFew
            ),
            _ => false,
        };
        open && slice.phase != Phase::Queued
    }
}

/// What paths say of the time in which requests wait for a place.
#[derive(Debug, Default)]
struct Seen {
    /// All of it, of slow requests, and that which leaves it open.
    all_ns: u64,
    open_ns: u64,
    /// That in which the connection is a new one, and nothing is read from it.
    untaken_ns: u64,
    /// Kinds of places that are known already.
    places: BTreeMap<Place, u64>,
    /// The same, of a runtime that was read.
    read: BTreeMap<Place, u64>,
    /// Time in which requests wait for a thread that they are handed to, by actor.
    pools: BTreeMap<u32, u64>,
}

impl Seen {
    fn of(
        (case, endpoint): (&Case<'_>, &EndpointCase),
        station: &Station,
        paths: &[Path],
        is_open: Open,
    ) -> Self {
        let mut seen = Self::default();
        for path in paths.iter().filter(|path| is_slow(endpoint, path.sample)) {
            let Some((begin, end)) = station.waits(case, path) else {
                continue;
            };
            let server = |slice: &&Slice| slice.phase != Phase::Queued;
            let is_new = case.sample(path.sample).index_on_connection() == 0;
            for slice in path.slices.iter().filter(server) {
                let within = slice.end.min(end).saturating_sub(slice.begin.max(begin));
                seen.all_ns = seen.all_ns.saturating_add(within);
                let open = if is_open.holds(slice) { within } else { 0 };
                seen.open_ns = seen.open_ns.saturating_add(open);
                if is_new && slice.phase == Phase::Unread {
                    seen.untaken_ns = seen.untaken_ns.saturating_add(open);
                }
                if let State::Queued(place) = slice.state {
                    let own = seen.places.entry(place).or_default();
                    *own = own.saturating_add(within);
                    if slice.basis == Basis::Sampled {
                        let own = seen.read.entry(place).or_default();
                        *own = own.saturating_add(within);
                    }
                }
                if slice.state == State::Queued(Place::Executor) {
                    let own = seen.pools.entry(slice.actor).or_default();
                    *own = own.saturating_add(within);
                }
            }
        }
        seen
    }

    /// Whether most of the waiting is for the server to take new connections up: it serves so many, and no more.
    const fn is_untaken(&self) -> bool {
        2 * self.untaken_ns > self.open_ns
    }

    /// The process and name of the threads that requests wait for most which they are handed to.
    fn pool(&self, actors: &[Actor]) -> Option<(String, String)> {
        let most = self.pools.iter().max_by_key(|(_, ns)| **ns);
        let actor = actors.get(*most?.0 as usize)?;
        Some((actor.process.clone(), actor.thread.clone()))
    }

    /// The kind that a runtime was read to keep, if that was seen for as much of the waiting as says so: looks miss what lies between
    /// them.
    fn read_place(&self) -> Option<Place> {
        let most = self.read.iter().max_by_key(|(_, ns)| **ns);
        let enough = (self.open_ns as f64 * READ_LEAST) as u64;
        most.filter(|(_, ns)| **ns > enough)
            .map(|(place, _)| *place)
    }

    /// The kind that most of the waiting is known to be for, if it is.
    fn place(&self) -> Option<Place> {
        let most = self.places.iter().max_by_key(|(_, ns)| **ns);
        most.filter(|(place, ns)| is_kind(**place) && **ns >= self.open_ns / 2)
            .map(|(place, _)| *place)
    }
}

/// What requests that have a place do.
#[derive(Debug, Default)]
pub(super) struct Doing(BTreeMap<(State, u32), u64>);

impl Doing {
    pub(super) fn add(&mut self, slice: &Slice) {
        let own = self.0.entry((slice.state, slice.actor)).or_default();
        *own = own.saturating_add(slice.len_ns());
    }

    /// For how long they do something.
    fn ns(&self, state: State) -> u64 {
        let own = self.0.iter().filter(|((of, _), _)| *of == state);
        own.map(|(_, ns)| ns).sum()
    }

    /// Leaves out what was found to be something else.
    fn forget(&mut self, state: State) {
        self.0.retain(|(of, _), _| *of != state);
    }

    /// What they do for most of the time, and the actor for it.
    pub(super) fn most(&self, actors: &mut Vec<Actor>, peer: &str) -> (State, u32) {
        let mut states: BTreeMap<State, u64> = BTreeMap::new();
        for ((state, _), ns) in &self.0 {
            let own = states.entry(*state).or_default();
            *own = own.saturating_add(*ns);
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
