//! Waits for a connection of a pool whose connections requests hold without asking: a transaction stays open while its request does
//! something else, or waits for one more connection itself.
//!
//! While all connections to a server are held so, none is asked anything. The requests that asked on them last are still under way
//! then. Those that want a connection go on when one of these asks again, as it ends its transaction, and they ask on the connection
//! that it has just given back.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Place, Reason, Slice, State};
use slowpath_core::nanos::{Nanos, Span};

use super::released::{BREAK_NS, NEXT_NS, WAIT_LEAST_NS, is_open, open};
use super::station::keeps_pool;
use super::{Peers, overlay};
use crate::case::Case;
use crate::overlap::merged;
use crate::rules::blocks;
use crate::trace::calls::{Asked, Calls};
use crate::trace::inside::{Inside, Walked};

/// Fewer waits show no habit: half of them fall by chance into times that are half of a run, and eight of eight do so once in 256 runs.
const WAITS_LEAST: usize = 8;
/// Most of their time is one in which all connections are held.
const HELD_LEAST: f64 = 0.5;
/// Most of the connections are seen to be held, and to be given back …
const KNOWN_LEAST: f64 = 0.5;
/// … and of so many at most the request that asked last is over. In one run, silences in which all of five were held had none or one,
/// and all others four or five.
const FREE_MOST: f64 = 0.25;
/// So many of the requests that were sent before a question are examined: those that were under way when it was asked are among the
/// last. As many as are examined for their calls at most, and as many again.
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
    for (&remote, own) in &mut by_remote {
        own.sort_unstable_by_key(|&place| calls.all()[place].begin);
        let asked: Vec<&Asked> = own.iter().map(|&place| &calls.all()[place]).collect();
        if !keeps_pool(inside, &asked) {
            continue;
        }
        let held = all_held((inside, &requests), calls, own);
        // A request that has asked may hold a connection itself, and waits for something else.
        let until: Vec<u64> = walked
            .iter()
            .map(|walked| {
                let own = calls.known(inside, walked).calls.into_iter();
                let own = own.filter(|call| call.remote == remote);
                own.map(|call| call.end).min().unwrap_or(u64::MAX)
            })
            .collect();
        if !is_habit(paths, &until, &held) {
            continue;
        }
        let actor = peers.actor(inside, asked[0].socket, actors);
        for (path, &until) in paths.iter_mut().zip(&until) {
            let count = held.partition_point(|span| span.begin.get() < until);
            overlay(&mut path.slices, &held[..count], |slice| {
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

/// Whether a request waits for what may be a connection. What its loop does in that time, and what wakes the loop up, is of another
/// request.
fn waits(slice: &Slice) -> bool {
    let in_loop = match slice.state {
        State::Sleep => slice.basis == Basis::Traced,
        State::Queued(place) => place == Place::EventLoop && !blocks(slice),
        State::Unknown(reason) => reason == Reason::NoWaker,
        _ => false,
    };
    is_open(slice) || slice.phase == Phase::Service && in_loop
}

/// Whether requests wait so long, and so often, while all connections are held. `until` is from when on each may hold one itself.
fn is_habit(paths: &[Path], until: &[u64], held: &[Span]) -> bool {
    let (mut count, mut held_ns, mut all_ns) = (0, 0, 0);
    let waits = paths
        .iter()
        .zip(until)
        .flat_map(|(path, &until)| open(path).into_iter().filter(move |wait| wait.0 < until));
    for (begin, end) in waits {
        let first = held.partition_point(|span| span.end.get() <= begin);
        let within = held[first..].iter();
        let within = within.take_while(|span| span.begin.get() < end);
        let ns: u64 = within
            .map(|span| span.end.get().min(end) - span.begin.get().max(begin))
            .sum();
        all_ns += end - begin;
        held_ns += ns;
        count += usize::from(ns as f64 >= HELD_LEAST * (end - begin) as f64);
    }
    count >= WAITS_LEAST && held_ns as f64 >= HELD_LEAST * all_ns as f64
}

/// The requests of a run, as far as it matters here.
struct Requests<'c, 'r> {
    case: &'c Case<'r>,
    /// When each was sent and over, in order of sending.
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

    /// When the request was over that a call was made for. Where it may be one of several, those that were under way during the call, it
    /// is the median of their ends.
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
/// positions, in the order in which they begin.
fn all_held(
    (inside, requests): (&Inside<'_>, &Requests<'_, '_>),
    calls: &Calls,
    own: &[usize],
) -> Vec<Span> {
    let all = calls.all();
    let at = |ns: u64| Nanos::new(ns.max(1));
    let busy = own.iter().map(|&place| &all[place]);
    let busy = merged(
        busy.map(|call| Span::new(at(call.begin), at(call.end)))
            .collect(),
    );
    let mut by_socket: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &place in own {
        by_socket.entry(all[place].socket).or_default().push(place);
    }
    let silences = busy.windows(2).filter_map(|pair| {
        let silence = Span::new(pair[0].end, pair[1].begin);
        let block = inside.index.block_at(silence.begin)?;
        let is_whole = silence.end <= block.span.end;
        (is_whole && silence.len_ns() >= WAIT_LEAST_NS).then_some(silence)
    });
    silences
        .filter(|silence| is_held(requests, calls, &by_socket, *silence))
        .collect()
}

/// Whether the connections that are there in a silence, which are those that are asked before and afterwards, are held.
fn is_held(
    requests: &Requests<'_, '_>,
    calls: &Calls,
    by_socket: &BTreeMap<u32, Vec<usize>>,
    silence: Span,
) -> bool {
    let (begin, end) = (silence.begin.get(), silence.end.get());
    let all = calls.all();
    let (mut count, mut held, mut free) = (0, 0, 0);
    let mut given_back = 0;
    for own in by_socket.values() {
        let next = own.partition_point(|&place| all[place].begin < end);
        let (Some(&last), [first, later @ ..]) = (own[..next].last(), &own[next..]) else {
            continue;
        };
        count += 1;
        // What ends the transaction is followed by what the one asks that was given the connection.
        let follows = later
            .first()
            .is_some_and(|&later| all[later].begin <= all[*first].end.saturating_add(NEXT_NS));
        given_back += u32::from(follows);
        let Some(done) = requests.over(calls, last) else {
            continue;
        };
        held += u32::from(done.saturating_add(BREAK_NS) >= end);
        free += u32::from(done <= begin.saturating_add(BREAK_NS));
    }
    let least = KNOWN_LEAST * f64::from(count);
    held > 1
        && f64::from(held) >= least
        && f64::from(given_back) >= least
        && f64::from(free) <= FREE_MOST * f64::from(count)
}
