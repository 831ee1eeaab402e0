//! Waits in user space that the reply to another request's call ends: requests of a loop or of a runtime that parks wait for an
//! entry that another one fetches (single flight: they are answered then), for a lock that it holds while it asks (they go on
//! then), or for a place of a pool. The kernel sees none of that, but that they go on as soon as that reply is read, and at no
//! other time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Place, Reason, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};

use super::station::{at_once, is_pooled};
use super::{Peers, overlay};
use crate::case::Case;
use crate::trace::calls::Asked;
use crate::trace::inside::{Inside, Walked};
use crate::under_way::UnderWay;

/// Shorter waits end with some reply by chance.
pub(super) const WAIT_LEAST_NS: u64 = 10 * MILLISECOND;
/// Between the reading of a reply and what goes on with it, at most: many requests that are released at once go on one after the
/// other, and each takes some tenths of a millisecond.
pub(super) const NEXT_NS: u64 = 3 * MILLISECOND;
/// A thread that serves many does something for others in between, for as long at most; and so long before it has read a reply it
/// is woken up for it.
pub(super) const BREAK_NS: u64 = MILLISECOND;
/// A reply explains a wait if its call was under way for this part of it at least.
const COVERS_LEAST: f64 = 0.5;
/// Fewer waits show no habit.
const WAITS_LEAST: usize = 20;
/// So much of the time of waits has to end so …
const ENDS_LEAST: f64 = 0.5;
/// … and so many times as many waits as end with a reply by chance. With twice as many, replies of a server that is asked a hundred times
/// a second seem to end waits; three times leaves a margin for their scatter.
pub(super) const OVER_CHANCE: f64 = 3.0;
/// How much earlier it is looked whether a reply was read, to see how often one is by chance.
const EARLIER_NS: [u64; 3] = [5 * MILLISECOND, 7 * MILLISECOND, 9 * MILLISECOND];
/// What a request waits beyond the reply for so long may be a reply to a call of its own, which takes some tenths of a millisecond
/// on one host.
const ASKS_LEAST_NS: u64 = 300_000;
/// If so many requests go on at each reply, in the mean, all of them waited for the same: a place of a pool is given to one.
const AT_ONCE_LEAST: f64 = 1.5;

/// A wait of one request.
struct Wait {
    /// The position of its path.
    path: usize,
    span: (u64, u64),
    /// The position of the call that ends it.
    call: Option<usize>,
}

/// Whether waits end with something for more than chance.
#[derive(Default)]
pub(super) struct Habit {
    all_ns: u64,
    ended_ns: u64,
    ended: usize,
    by_chance: f64,
}

impl Habit {
    /// Adds a wait; it is said what ends one like it that ends at an instant.
    pub(super) fn add(&mut self, span: (u64, u64), ended: impl Fn(u64) -> Option<usize>) {
        let ns = span.1 - span.0;
        self.all_ns += ns;
        if ended(span.1).is_some() {
            self.ended_ns += ns;
            self.ended += 1;
        }
        let earlier = EARLIER_NS
            .iter()
            .filter(|&&ns| ended(span.1 - ns).is_some());
        self.by_chance += earlier.count() as f64 / EARLIER_NS.len() as f64;
    }

    /// Whether many do, most of them, and more than would by chance.
    pub(super) fn is_one(&self) -> bool {
        self.is_one_of(WAITS_LEAST, OVER_CHANCE)
    }

    /// The same, where so many are enough, and so many times as many as by chance.
    pub(super) fn is_one_of(&self, least: usize, over_chance: f64) -> bool {
        self.ended >= least
            && self.ended_ns as f64 >= ENDS_LEAST * self.all_ns as f64
            && self.ended as f64 >= over_chance * self.by_chance
    }
}

/// Lays them over what the trace leaves open.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let calls = inside.calls(case);
    let all = calls.all();
    let spans: Vec<(u64, u64)> = all.iter().map(|call| (call.begin, call.end)).collect();
    let mut waits: Vec<Wait> = Vec::new();
    let mut habit = Habit::default();
    for (place, (path, walked)) in paths.iter().zip(walked).enumerate() {
        let own = calls.known(inside, walked);
        let is_own = |call: usize| calls.may_be_of(&own, walked, call);
        for span in open(path) {
            let ended = |at: u64| enders(&spans, (span.0, at)).find(|&call| !is_own(call));
            habit.add(span, ended);
            waits.push(Wait {
                path: place,
                span,
                call: ended(span.1),
            });
        }
    }
    waits.retain(|wait| wait.call.is_some());
    let n = waits.len();
    if !habit.is_one() {
        return;
    }
    let mut released: BTreeMap<usize, usize> = BTreeMap::new();
    for call in waits.iter().filter_map(|wait| wait.call) {
        *released.entry(call).or_default() += 1;
    }
    let is_answered = |wait: &&Wait| {
        let read = wait.call.map_or(0, |call| all[call].end);
        wait.span.1 <= read + ASKS_LEAST_NS && is_last(&paths[wait.path], wait.span.1)
    };
    let answered = waits.iter().filter(is_answered).count();
    let state = if let Some(place) = pool(inside, all, &waits) {
        State::Queued(place)
    } else if (n as f64) < AT_ONCE_LEAST * released.len() as f64 {
        one_by_one(all, &waits)
    } else if 2 * answered > n {
        State::Reply
    } else {
        State::Lock
    };
    let mut peers = Peers::default();
    for wait in &waits {
        let Some(call) = wait.call else { continue };
        let actor = peers.actor(inside, all[call].socket, actors);
        let span = Span::new(Nanos::new(wait.span.0), Nanos::new(wait.span.1));
        overlay(&mut paths[wait.path].slices, &[span], |slice| {
            let state = if is_anyones(slice) {
                State::Lock
            } else {
                state
            };
            is_open(slice).then_some(Slice {
                state,
                holder: Holder::AnotherRequest,
                activity: State::Reply,
                actor,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}

/// What is given to one request at a time: a lock, if no two calls to the server are under way at once; else one of several places,
/// of which it is not known what they are.
fn one_by_one(all: &[Asked], waits: &[Wait]) -> State {
    if at_once(&to_most(all, waits)) <= 1 {
        State::Lock
    } else {
        State::Queued(Place::Permits)
    }
}

/// The calls to the server whose replies end most waits.
fn to_most<'a>(all: &'a [Asked], waits: &[Wait]) -> Vec<&'a Asked> {
    let mut ends: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    for call in waits.iter().filter_map(|wait| wait.call) {
        *ends.entry(all[call].remote).or_default() += 1;
    }
    let remote = ends
        .into_iter()
        .max_by_key(|(_, n)| *n)
        .map(|(remote, _)| remote);
    let is_its = |call: &&Asked| Some(call.remote) == remote;
    all.iter().filter(is_its).collect()
}

/// The places that requests wait for, if all of several are taken while they do: as many calls are under way as there ever are.
fn pool(inside: &Inside<'_>, all: &[Asked], waits: &[Wait]) -> Option<Place> {
    let own = to_most(all, waits);
    let under_way = UnderWay::new(own.iter().map(|call| (call.begin, call.end)));
    let places = under_way.during(waits.iter().map(|wait| wait.span))? as u32;
    let is_pool = places > 1 && places >= at_once(&own);
    is_pool.then(|| {
        let threads: BTreeSet<u32> = own.iter().map(|call| call.tid).collect();
        // Threads that take tasks by turns, as many as there are calls at most, and each of them waits for its own.
        let are_threads =
            threads.len() as u32 <= places && threads.is_subset(&inside.index.task_threads);
        if are_threads {
            Place::Executor
        } else if is_pooled(inside, own[0]) {
            Place::Connections
        } else {
            Place::Permits
        }
    })
}

/// Whether a slice is a wait in user space of which nothing is known, or for a lock whose holder is not known.
pub(super) fn is_open(slice: &Slice) -> bool {
    let is_unknown = matches!(
        slice.state,
        State::Unknown(Reason::Parked | Reason::LoopWaits)
    );
    slice.phase == Phase::Service && (is_unknown || is_anyones(slice))
}

/// Whether a goroutine was found waiting for a lock, and none that may have it.
pub(super) fn is_anyones(slice: &Slice) -> bool {
    let is_read = slice.basis == Basis::Sampled;
    is_read && slice.state == State::Lock && slice.holder == Holder::Unknown
}

/// Whether the loop of a request is busy with something else.
pub(super) fn is_behind_others(slice: &Slice) -> bool {
    slice.phase == Phase::Service && slice.state == State::Queued(Place::EventLoop)
}

/// The waits of a request of which nothing is known.
pub(super) fn open(path: &Path) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    let mut between_ns = 0;
    for slice in &path.slices {
        // While its loop is busy with another one the request goes on waiting, however long that is.
        if is_behind_others(slice) {
            continue;
        }
        if !is_open(slice) {
            between_ns += slice.len_ns();
            continue;
        }
        match all.last_mut() {
            Some(last) if between_ns <= BREAK_NS => last.1 = slice.end,
            _ => all.push((slice.begin, slice.end)),
        }
        between_ns = 0;
    }
    all.retain(|span| span.1 - span.0 >= WAIT_LEAST_NS);
    all
}

/// Whether a request asks no other server after an instant.
fn is_last(path: &Path, at: u64) -> bool {
    let mut later = path.slices.iter().filter(|slice| slice.begin >= at);
    !later.any(|slice| slice.state == State::Reply)
}

/// What may have ended a wait, of spans in order of their ends, the last one first: it ended just before, and had been under way for
/// most of the wait.
pub(super) fn enders(all: &[(u64, u64)], (begin, end): (u64, u64)) -> impl Iterator<Item = usize> {
    let first = all.partition_point(|other| other.1 + NEXT_NS < end);
    let until = all.partition_point(|other| other.1 <= end + BREAK_NS);
    let covers = move |other: (u64, u64)| {
        let covered = other.1.min(end).saturating_sub(other.0.max(begin));
        covered as f64 >= COVERS_LEAST * (end - begin) as f64
    };
    (first..until.max(first))
        .rev()
        .filter(move |&place| covers(all[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    fn slice(begin: u64, end: u64, state: State) -> Slice {
        Slice {
            begin,
            end,
            phase: Phase::Service,
            state,
            holder: Holder::Unknown,
            activity: state,
            actor: 0,
            basis: Basis::Traced,
        }
    }

    #[test]
    fn a_wait_ends_with_the_call_that_was_under_way_for_most_of_it() {
        let all = [(90 * MS, 99 * MS), (10 * MS, 100 * MS)];
        let ended_by = |begin: u64, end: u64| enders(&all, (begin, end)).next();
        assert_eq!(ended_by(20 * MS, 101 * MS), Some(1));
        // The thread is woken up for the reply before it has read it.
        assert_eq!(ended_by(20 * MS, 100 * MS - MS / 5), Some(1));
        assert_eq!(ended_by(20 * MS, 110 * MS), None, "too late");
    }

    #[test]
    fn what_a_thread_does_for_others_in_between_does_not_end_a_wait() {
        let waits = State::Unknown(Reason::Parked);
        let slices = vec![
            slice(0, MS, State::OnCpu),
            slice(MS, 20 * MS, waits),
            slice(20 * MS, 20 * MS + MS / 2, State::OnCpu),
            slice(20 * MS + MS / 2, 40 * MS, waits),
            slice(40 * MS, 43 * MS, State::OnCpu),
            slice(43 * MS, 45 * MS, waits),
        ];
        let path = Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices,
        };
        assert_eq!(open(&path), [(MS, 40 * MS)]);
        assert!(is_last(&path, 40 * MS));
    }

    #[test]
    fn a_loop_that_is_busy_with_others_does_not_end_a_wait() {
        let waits = State::Unknown(Reason::LoopWaits);
        let path = |between: State| Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices: vec![
                slice(0, 20 * MS, waits),
                slice(20 * MS, 25 * MS, between),
                slice(25 * MS, 40 * MS, waits),
            ],
        };
        assert_eq!(open(&path(State::Queued(Place::EventLoop))), [(0, 40 * MS)]);
        let apart = [(0, 20 * MS), (25 * MS, 40 * MS)];
        assert_eq!(open(&path(State::OnCpu)), apart);
    }

    #[test]
    fn waits_that_would_end_so_at_any_time_are_no_habit() {
        let ends = (1..=WAITS_LEAST as u64).map(|n| n * 100 * MS);
        let (mut habit, mut chance) = (Habit::default(), Habit::default());
        for end in ends {
            let span = (end - 20 * MS, end);
            habit.add(span, |at| (at == end).then_some(0));
            chance.add(span, |_| Some(0));
        }
        assert!(habit.is_one() && !chance.is_one());
    }
}
