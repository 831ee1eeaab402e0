//! Threads that compute, or could: for whom, and what keeps them from it.

use slowpath_attribution::{CpuUser, Holder, State};
use slowpath_core::trace::NO_STACK;

use super::{Classifier, Seen};
use crate::trace::index::Runner;
use crate::trace::pieces::{Leaf, Piece};

/// Within so long before and after an instant a thread that runs is found twice, at the slowest two periods of the clock that
/// samples (49 Hz).
const NEAR_NS: u64 = 41_000_000;

impl Classifier<'_, '_> {
    /// Whether a thread that runs collects garbage for most of a time, by where it was found; where it was not found in that
    /// time, by where it was before and after, as long as it read and wrote nothing.
    pub(super) fn collects(&self, tid: u32, (begin, end): (u64, u64)) -> bool {
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
        let collects = of.filter(|(_, stack)| self.inside.stacks.facts(*stack).collects);
        2 * collects.count() > samples.len()
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
