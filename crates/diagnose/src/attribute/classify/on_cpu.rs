//! Threads that compute, or could: for which request, and what keeps them from it.

use slowpath_attribution::{CpuUser, Holder, State};
use slowpath_core::trace::NO_STACK;

use super::{Classifier, Seen};
use crate::diagnosis::Phase;
use crate::trace::index::{Runner, Slice as Did, State as Doing};
use crate::trace::inside::Walked;
use crate::trace::pieces::{Hop, How, Leaf, Piece};
use crate::trace::stacks::Facts;

/// Within so long before and after an instant a thread that runs is found twice, at the slowest two periods of the clock that
/// samples (49 Hz).
const NEAR_NS: u64 = 41_000_000;

impl Classifier<'_, '_> {
    /// Whether each thread of a chain works for the one before it, which has asked it or started it: the worker of a front server, a
    /// thread of a pool. A worker that has read nothing since the request came is still at work for another one.
    pub(super) fn is_asked(&self, walked: &Walked, piece: &Piece, hops: &[Hop]) -> bool {
        let came = walked.joined.part(Phase::Service).0;
        let has_read = |tid: u32| {
            let mut marks = self.inside.index.marks(tid, came, piece.begin + 1).iter();
            marks.any(|mark| !mark.wrote)
        };
        hops.iter().skip(1).all(|hop| {
            let works = match hop.how {
                How::Sent => has_read(hop.tid),
                how => matches!(how, How::Serves | How::Asked | How::Ended),
            };
            works && self.inside.is_targets(hop.tid)
        })
    }

    /// What the last thread of a chain runs for.
    pub(super) fn runs(&self, piece: &Piece, holder: Holder) -> Seen {
        let leaf = &piece.leaf;
        let of = |state, holder| Seen::of(state, holder, leaf.tid, leaf.stack);
        let is_found = |has| self.is_found(leaf.tid, (piece.begin, piece.end), has);
        if is_found(|facts| facts.collects) {
            of(State::Paused, Holder::Background)
        } else if is_found(|facts| facts.spins) {
            self.spin_lock(piece)
        } else {
            of(State::OnCpu, holder)
        }
    }

    /// A thread runs round and round until a lock is free: its holder is at work, or waits for a CPU, as a rule. If threads
    /// of the target were so all the time that do not spin themselves, it is one of them.
    fn spin_lock(&self, piece: &Piece) -> Seen {
        let leaf = &piece.leaf;
        let span = (piece.begin, piece.end);
        let index = &self.inside.index;
        let is_at_work = |part: &Did<'_>| matches!(part.state, Doing::Run | Doing::Ready(_));
        let holder = index.tids().find(|&tid| {
            let parts = index.slices(tid, span.0, span.1);
            tid != leaf.tid
                && self.inside.is_targets(tid)
                && !parts.is_empty()
                && parts.iter().all(is_at_work)
                && !self.is_found(tid, span, |facts| facts.spins)
        });
        let by = holder.map_or(Holder::Unknown, |tid| {
            if self.serving.contains(&tid) {
                Holder::AnotherRequest
            } else {
                Holder::Background
            }
        });
        let activity = if holder.is_some() {
            State::OnCpu
        } else {
            State::Lock
        };
        Seen {
            activity,
            ..Seen::of(State::Lock, by, holder.unwrap_or(leaf.tid), leaf.stack)
        }
    }

    /// Whether a thread that runs was found in a function that has something for most of a time; where it was not found in that
    /// time, by where it was before and after, as long as it read and wrote nothing.
    fn is_found(&self, tid: u32, (begin, end): (u64, u64), has: fn(&Facts) -> bool) -> bool {
        let index = &self.inside.index;
        let mut samples = index.samples(tid, begin, end);
        if samples.is_empty() {
            let before = index.last_mark(tid, begin).map_or(0, |mark| mark.at);
            let since = before.max(index.at_work_since(tid, begin));
            let next = index.marks(tid, end, u64::MAX).first();
            let until = next.map_or(u64::MAX, |mark| mark.at);
            let (near_begin, near_end) =
                (begin.saturating_sub(NEAR_NS), end.saturating_add(NEAR_NS));
            samples = index.samples(tid, since.max(near_begin), until.min(near_end));
        }
        let of = samples.iter();
        let having = of.filter(|(_, stack)| has(&self.inside.stacks.facts(*stack)));
        2 * having.count() > samples.len()
    }

    /// Whether a thread that waits for a CPU was found collecting garbage last, and is so again.
    pub(super) fn is_in_collection(&self, tid: u32, piece: &Piece) -> bool {
        let collects = |&(_, stack): &(u64, u32)| self.inside.stacks.facts(stack).collects;
        let near = |begin: u64, end: u64| self.inside.index.samples(tid, begin, end);
        let before = near(piece.begin.saturating_sub(NEAR_NS), piece.begin);
        let after = near(piece.end, piece.end.saturating_add(NEAR_NS));
        before.last().is_some_and(collects) && after.first().is_some_and(collects)
    }

    pub(super) fn ready(&self, leaf: &Leaf, runner: Runner) -> Seen {
        let mut seen = Seen::of(State::OnCpu, Holder::Kernel, leaf.tid, NO_STACK);
        let user = match runner {
            Runner::Thread(tid) if self.inside.is_targets(tid) => CpuUser::Own,
            Runner::Thread(tid) => {
                self.inside.process_name(tid).clone_into(&mut seen.who.peer);
                CpuUser::Neighbour
            }
            Runner::Idle => CpuUser::Idle,
            Runner::Unknown => CpuUser::Unknown,
        };
        seen.state = State::Runnable(user);
        seen.activity = seen.state;
        seen
    }
}
