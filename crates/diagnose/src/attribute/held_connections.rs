//! Waits for a connection of a pool whose connections requests hold without asking: a transaction stays open while its request does
//! something else, or waits for one more connection itself.
//!
//! While all connections to a server are held so, none is asked anything. The request that asked on a connection last is still under
//! way then, and those that want one go on when one of these asks again, as it ends its transaction and gives the connection back.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Place, Reason, Slice, State};
use slowpath_core::nanos::{Nanos, Span};

use super::released::{BREAK_NS, WAIT_LEAST_NS, is_open, open};
use super::station::keeps_pool;
use super::{Peers, overlay};
use crate::case::Case;
use crate::overlap::merged;
use crate::trace::calls::{Asked, Calls};
use crate::trace::inside::{Inside, Walked};

/// Fewer waits show no habit.
const WAITS_LEAST: usize = 8;
/// Waits are for a connection if so much of their time is one in which all connections are held.
const HELD_LEAST: f64 = 0.5;
/// For so many of the connections at least it is known that a request holds them …
const KNOWN_LEAST: f64 = 0.5;
/// … and of so many at most the last question is of one that is over: what belongs to which request is not known of all.
const FREE_MOST: f64 = 0.25;
/// So many of the requests that were sent before a question are examined: those that were under way when it was asked are among the last.
const BEFORE_MOST: usize = 512;

/// Lays them over what the trace leaves open.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let calls = inside.calls(case);
    let mut by_remote: BTreeMap<SocketAddr, Vec<usize>> = BTreeMap::new();
    for (place, call) in calls.all().iter().enumerate() {
        by_remote.entry(call.remote).or_default().push(place);
    }
    let (mut peers, requests) = (Peers::default(), Requests::of(case));
    for own in by_remote.values() {
        let asked: Vec<&Asked> = own.iter().map(|&place| &calls.all()[place]).collect();
        if !keeps_pool(inside, &asked) {
            continue;
        }
        let held = all_held(&requests, calls, own);
        if !is_habit(paths, &held) {
            continue;
        }
        let actor = peers.actor(inside, asked[0].socket, actors);
        for (path, walked) in paths.iter_mut().zip(walked) {
            // A request that holds a connection itself waits for something else.
            let holds = |span: &Span| {
                let mut own = calls.known(inside, walked).calls.into_iter();
                own.any(|call| call.remote == asked[0].remote && call.end <= span.begin.get())
            };
            let spans: Vec<Span> = held.iter().copied().filter(|span| !holds(span)).collect();
            overlay(&mut path.slices, &spans, |slice| {
                waits(slice).then_some(Slice {
                    state: State::Queued(Place::Connections),
                    holder: Holder::AnotherRequest,
                    activity: State::Unknown(Reason::LoopWaits),
                    actor,
                    basis: Basis::Traced,
                    ..*slice
                })
            });
        }
    }
}

/// Whether a request waits, for what may be a connection: what its loop does meanwhile, and what wakes it up, is another's.
fn waits(slice: &Slice) -> bool {
    let in_loop = match slice.state {
        State::Sleep => slice.basis == Basis::Traced,
        State::Queued(place) => place == Place::EventLoop,
        State::Unknown(reason) => reason == Reason::NoWaker,
        _ => false,
    };
    is_open(slice) || slice.phase == Phase::Service && in_loop
}

/// Whether requests wait so long, and so often, while all connections are held.
fn is_habit(paths: &[Path], held: &[Span]) -> bool {
    let (mut count, mut held_ns, mut all_ns) = (0, 0, 0);
    for (begin, end) in paths.iter().flat_map(open) {
        let within = held.iter().map(|span| {
            let last = span.end.get().min(end);
            last.saturating_sub(span.begin.get().max(begin))
        });
        let ns: u64 = within.sum();
        all_ns += end - begin;
        held_ns += ns;
        count += usize::from(ns as f64 >= HELD_LEAST * (end - begin) as f64);
    }
    count >= WAITS_LEAST && held_ns as f64 >= HELD_LEAST * all_ns as f64
}

/// The requests of a run, as far as it matters here.
struct Requests<'c, 'r> {
    case: &'c Case<'r>,
    /// When each was sent and over, by the first.
    spans: Vec<(u64, u64)>,
}

impl<'c, 'r> Requests<'c, 'r> {
    fn of(case: &'c Case<'r>) -> Self {
        let samples = case.record.samples.iter();
        let spans = samples.filter_map(|s| Some((s.sent()?.get(), s.done().get())));
        let mut spans: Vec<(u64, u64)> = spans.collect();
        spans.sort_unstable();
        Self { case, spans }
    }

    /// When the request was over that a call was made for. Where that may be one of several, it is when half of those were that were
    /// under way during the call.
    fn over(&self, calls: &Calls, place: usize) -> Option<u64> {
        if let Some(sample) = calls.owner(place) {
            return Some(self.case.sample(sample).done().get());
        }
        let call = &calls.all()[place];
        let until = self.spans.partition_point(|span| span.0 <= call.begin);
        let before = self.spans[..until].iter().rev().take(BEFORE_MOST);
        let mut over: Vec<u64> = before
            .map(|span| span.1)
            .filter(|&done| done >= call.end)
            .collect();
        over.sort_unstable();
        over.get(over.len() / 2).copied()
    }
}

/// When nothing is asked of a server, and requests hold the connections to it: ascending, disjoint. `own` are its calls, by their
/// positions.
fn all_held(requests: &Requests<'_, '_>, calls: &Calls, own: &[usize]) -> Vec<Span> {
    let mut own: Vec<usize> = own.to_vec();
    own.sort_unstable_by_key(|&place| calls.all()[place].begin);
    let at = |ns: u64| Nanos::new(ns.max(1));
    let busy = own.iter().map(|&place| {
        let call = &calls.all()[place];
        Span::new(at(call.begin), at(call.end))
    });
    let busy = merged(busy.collect());
    let silences = busy.windows(2).filter_map(|pair| {
        let silence = Span::new(pair[0].end, pair[1].begin);
        (silence.len_ns() >= WAIT_LEAST_NS).then_some(silence)
    });
    silences
        .filter(|silence| is_held(requests, calls, &own, *silence))
        .collect()
}

/// Whether the connections that are there in a silence, which are those that are asked before and afterwards, are held.
fn is_held(requests: &Requests<'_, '_>, calls: &Calls, own: &[usize], silence: Span) -> bool {
    let (begin, end) = (silence.begin.get(), silence.end.get());
    let all = calls.all();
    let until = own.partition_point(|&place| all[place].begin < end);
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for &place in &own[..until] {
        last.insert(all[place].socket, place);
    }
    let later: BTreeSet<u32> = own[until..]
        .iter()
        .map(|&place| all[place].socket)
        .collect();
    last.retain(|socket, _| later.contains(socket));
    let (mut held, mut free) = (0, 0);
    for &place in last.values() {
        let Some(done) = requests.over(calls, place) else {
            continue;
        };
        held += usize::from(done.saturating_add(BREAK_NS) >= end);
        free += usize::from(done <= begin.saturating_add(BREAK_NS));
    }
    let count = last.len() as f64;
    held > 1 && held as f64 >= KNOWN_LEAST * count && free as f64 <= FREE_MOST * count
}
