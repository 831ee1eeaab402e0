//! Waits in user space that the reply to another request's call ends: requests of a loop or of a runtime that parks wait for an
//! entry that another one fetches (single flight), or for a lock that it holds while it asks. The kernel sees none of that, but
//! that they go on as soon as that reply is read, and at no other time.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Basis, Holder, Path, Phase, Reason, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};

use super::{Peers, overlay};
use crate::case::Case;
use crate::trace::calls::Asked;
use crate::trace::inside::{Inside, Walked};

/// Shorter waits end with some reply by chance.
const WAIT_LEAST_NS: u64 = 10 * MILLISECOND;
/// Between the reading of a reply and what goes on with it, at most: many requests that are released at once go on one after the
/// other, and each takes some tenths of a millisecond.
const NEXT_NS: u64 = 3 * MILLISECOND;
/// A thread that serves many does something for others in between, for as long at most; and so long before it has read a reply it
/// is woken up for it.
const BREAK_NS: u64 = MILLISECOND;
/// A reply explains a wait if its call was under way for this part of it at least.
const COVERS_LEAST: f64 = 0.5;
/// Fewer waits show no habit.
const WAITS_LEAST: usize = 20;
/// So much of the time of waits has to end so …
const ENDS_LEAST: f64 = 0.5;
/// … and so many times as many waits as end with a reply by chance. With twice as many, replies of a server that is asked a hundred times
/// a second seem to end waits; three times leaves a margin for their scatter.
const OVER_CHANCE: f64 = 3.0;
/// How much earlier it is looked whether a reply was read, to see how often one is by chance.
const EARLIER_NS: [u64; 3] = [5 * MILLISECOND, 7 * MILLISECOND, 9 * MILLISECOND];
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

/// Lays them over what the trace leaves open.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let calls = inside.calls(case);
    let all = calls.all();
    let mut waits: Vec<Wait> = Vec::new();
    let mut by_chance = 0.0;
    for (place, (path, walked)) in paths.iter().zip(walked).enumerate() {
        let own = calls.known(inside, walked).calls;
        let is_own = |call: &Asked| own.iter().any(|own| (own.socket, own.begin) == (call.socket, call.begin));
        for span in open(path) {
            let ended = |at: u64| ended_by(all, (span.0, at), is_own);
            by_chance += EARLIER_NS
                .iter()
                .filter(|&&earlier| ended(span.1 - earlier).is_some())
                .count() as f64
                / EARLIER_NS.len() as f64;
            waits.push(Wait {
                path: place,
                span,
                call: ended(span.1),
            });
        }
    }
    let ns = |wait: &Wait| wait.span.1 - wait.span.0;
    let all_ns: u64 = waits.iter().map(ns).sum();
    waits.retain(|wait| wait.call.is_some());
    let ended_ns: u64 = waits.iter().map(ns).sum();
    let n = waits.len();
    if n < WAITS_LEAST
        || (ended_ns as f64) < ENDS_LEAST * all_ns as f64
        || (n as f64) < OVER_CHANCE * by_chance
    {
        return;
    }
    let mut released: BTreeMap<usize, usize> = BTreeMap::new();
    for call in waits.iter().filter_map(|wait| wait.call) {
        *released.entry(call).or_default() += 1;
    }
    let state = if n as f64 >= AT_ONCE_LEAST * released.len() as f64 {
        State::Lock
    } else {
        State::Queued(slowpath_attribution::Place::Permits)
    };
    let mut peers = Peers::default();
    for wait in &waits {
        let Some(call) = wait.call else { continue };
        let actor = peers.actor(inside, all[call].socket, actors);
        let span = Span::new(Nanos::new(wait.span.0), Nanos::new(wait.span.1));
        overlay(&mut paths[wait.path].slices, &[span], |slice| {
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

/// Whether a slice is a wait in user space of which nothing is known.
fn is_open(slice: &Slice) -> bool {
    slice.phase == Phase::Service
        && matches!(
            slice.state,
            State::Unknown(Reason::Parked | Reason::LoopWaits)
        )
}

/// The waits of a request of which nothing is known.
fn open(path: &Path) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for slice in path.slices.iter().filter(|slice| is_open(slice)) {
        match all.last_mut() {
            Some(last) if slice.begin - last.1 <= BREAK_NS => last.1 = slice.end,
            _ => all.push((slice.begin, slice.end)),
        }
    }
    all.retain(|span| span.1 - span.0 >= WAIT_LEAST_NS);
    all
}

/// The call whose reply ended a wait, by calls in order of their ends: it was read just before, and had been asked for during most of
/// the wait.
fn ended_by(all: &[Asked], (begin, end): (u64, u64), is_own: impl Fn(&Asked) -> bool) -> Option<usize> {
    let first = all.partition_point(|call| call.end + NEXT_NS < end);
    let until = all.partition_point(|call| call.end <= end + BREAK_NS);
    let covers = |call: &Asked| {
        let covered = call.end.min(end).saturating_sub(call.begin.max(begin));
        covered as f64 >= COVERS_LEAST * (end - begin) as f64
    };
    (first..until.max(first)).rev().find(|&place| covers(&all[place]) && !is_own(&all[place]))
}
