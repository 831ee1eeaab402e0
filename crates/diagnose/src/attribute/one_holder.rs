//! Waits for a thread that serves another request, where no station fits the recorded requests: the other request may be one of a client
//! that is not slowpath.
//!
//! Requests that wait for a lock at the same time wait for one thread, its holder, however long their queue is: one that is woken up by
//! another waiter waits through that one. Requests that wait for one of several places wait for the threads that have them, and these
//! differ.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{Actor, Basis, Holder, Path, Place, Slice, State};
use slowpath_core::nanos::SECOND;

use super::station::full_pool;
use crate::case::Case;
use crate::trace::calls::Calls;
use crate::trace::inside::{Inside, Walked};
use crate::under_way::UnderWay;

/// So many requests must wait beside others. Of two places each is the first to be given back as often as the other, so that six pairs
/// of waiters name the same thread by chance in one case of 64.
const WAITS_LEAST: usize = 12;
/// For so long a thread may have a request: what is longer was not traced without a break.
const HELD_MOST_NS: u64 = 2 * SECOND;
/// For this share of the time that several wait they wait for one thread: what a thread does between taking the lock and being seen
/// with it is the rest.
const ONE_LEAST: f64 = 0.9;

/// A time in which a request waits, and the thread at the end of its chain that serves another one.
#[derive(Clone, Copy)]
struct Wait {
    begin: u64,
    end: u64,
    has: u32,
    sample: u32,
}

/// Changes such waits to waits for a lock, if there is one holder at a time; or to waits for a connection, if requests use up a pool.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let serving = inside.serving().all();
    let mut waits = Vec::new();
    for (path, walked) in paths.iter().zip(walked) {
        for piece in &walked.pieces {
            let at = path
                .slices
                .partition_point(|slice| slice.end <= piece.begin);
            if !path.slices.get(at).is_some_and(is_held) {
                continue;
            }
            let hops = inside.chains.hops(piece.chain);
            let mut others = hops.iter().skip(1);
            let has_one =
                |tid: u32| serving.contains(&tid) && has_a_request(inside, tid, piece.begin);
            if let Some(last) = others.rfind(|hop| has_one(hop.tid)) {
                waits.push(Wait {
                    begin: piece.begin,
                    end: piece.end,
                    has: last.tid,
                    sample: path.sample,
                });
            }
        }
    }
    if !are_most(paths) {
        return;
    }
    let slices = paths.iter_mut().flat_map(|path| &mut path.slices);
    if is_one(&waits) {
        for slice in slices.filter(|slice| is_held(slice)) {
            slice.state = State::Lock;
        }
    } else if let Some(pool) = full_pool(inside, inside.calls(case))
        .filter(|pool| serving.len() as u32 > pool.connections)
        .filter(|pool| are_in_use(inside.calls(case), pool.connections, &waits))
    {
        let mut actor_with = BTreeMap::new();
        for slice in slices.filter(|slice| is_held(slice)) {
            slice.state = State::Queued(Place::Connections);
            slice.actor = *actor_with.entry(slice.actor).or_insert_with(|| {
                let own = actors.get(slice.actor as usize).cloned();
                actors.push(Actor {
                    peer: pool.peer.clone(),
                    ..own.unwrap_or_default()
                });
                actors.len() as u32 - 1
            });
        }
    }
}

/// Whether as many calls are under way as there are connections while requests wait, in the median.
fn are_in_use(calls: &Calls, connections: u32, waits: &[Wait]) -> bool {
    let calls = calls.all().iter();
    let under_way = UnderWay::new(calls.map(|call| (call.begin, call.end)));
    let median = under_way.during(waits.iter().map(|wait| (wait.begin, wait.end)));
    median.is_some_and(|median| median >= connections as usize)
}

/// Whether slow requests wait so for most of the time that they wait: where several wait for one thread that has none, some of them
/// are woken up by others of them.
fn are_most(paths: &[Path]) -> bool {
    let (mut held_ns, mut all_ns) = (0, 0);
    let slow = paths.iter().filter(|path| path.slow);
    for slice in slow.flat_map(|path| &path.slices) {
        let runs = matches!(
            slice.state,
            State::OnCpu | State::Runnable(_) | State::Client
        );
        all_ns += if runs { 0 } else { slice.len_ns() };
        held_ns += if is_held(slice) { slice.len_ns() } else { 0 };
    }
    3 * held_ns >= 2 * all_ns && held_ns > 0
}

/// Whether a request waits for what a thread has that serves another one, and no more is known of it.
fn is_held(slice: &Slice) -> bool {
    slice.state == State::Queued(Place::Permits)
        && slice.holder == Holder::AnotherRequest
        && slice.basis == Basis::Traced
}

/// Whether a thread has read a request of a client and has not answered it: one that only moves what others work on holds nothing.
fn has_a_request(inside: &Inside<'_>, tid: u32, at: u64) -> bool {
    let marks = inside.index.marks(tid, at.saturating_sub(HELD_MOST_NS), at);
    let sockets = &inside.index.sockets;
    let is_clients = |socket| {
        sockets
            .end(socket)
            .is_some_and(|end| inside.is_clients(end))
    };
    let last = marks.iter().rfind(|mark| is_clients(mark.socket));
    last.is_some_and(|mark| !mark.wrote)
}

/// Whether those that wait at the same time wait for the same thread.
fn is_one(waits: &[Wait]) -> bool {
    let mut times: Vec<u64> = waits
        .iter()
        .flat_map(|wait| [wait.begin, wait.end])
        .collect();
    times.sort_unstable();
    times.dedup();
    let mut waits = waits.to_vec();
    waits.sort_unstable_by_key(|wait| wait.begin);
    let (mut several_ns, mut one_ns) = (0, 0);
    let mut met = BTreeSet::new();
    let (mut open, mut next): (Vec<Wait>, usize) = (Vec::new(), 0);
    for pair in times.windows(2) {
        open.retain(|wait| wait.end > pair[0]);
        while waits.get(next).is_some_and(|wait| wait.begin <= pair[0]) {
            open.push(waits[next]);
            next += 1;
        }
        if open.len() < 2 {
            continue;
        }
        let ns = pair[1] - pair[0];
        several_ns += ns;
        if open.iter().all(|wait| wait.has == open[0].has) {
            one_ns += ns;
        }
        met.extend(open.iter().map(|wait| wait.sample));
    }
    met.len() >= WAITS_LEAST && one_ns as f64 >= ONE_LEAST * several_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Ten times two requests that come one after the other and wait until the first holder, and until `other`, are done.
    fn waits(other: impl Fn(u32) -> u32) -> Vec<Wait> {
        let both = |turn: u32| {
            let begin = u64::from(turn) * 100 * MS;
            let wait = |after: u64, has: u32, sample: u32| Wait {
                begin: begin + after * MS,
                end: begin + 50 * MS,
                has,
                sample,
            };
            [wait(0, turn, 2 * turn), wait(10, other(turn), 2 * turn + 1)]
        };
        (1..=10).flat_map(both).collect()
    }

    #[test]
    fn those_that_wait_for_one_thread_wait_for_a_lock() {
        assert!(is_one(&waits(|turn| turn)));
        assert!(
            !is_one(&waits(|turn| turn + 100)),
            "two have what they wait for"
        );
        assert!(!is_one(&waits(|turn| turn)[..6]), "too few");
    }
}
