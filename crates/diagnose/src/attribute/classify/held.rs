//! Workers that serve a connection, while requests on others wait for them.

use slowpath_attribution::{Holder, Place, Reason, Slice, State};
use slowpath_core::trace::{Call, NO_STACK};

use super::{Classifier, Seen};
use crate::diagnosis::Phase;
use crate::trace::index::State as Doing;
use crate::trace::inside::Walked;
use crate::trace::pieces::{Leaf, LeafKind, Piece};

/// On one host a request arrives within microseconds. What takes longer waits to be accepted, or is on a
/// network.
const NOT_ACCEPTED_LEAST_NS: u64 = 2_000_000;

impl Classifier<'_, '_> {
    /// A request that was sent and is not seen to arrive: its connection waits to be accepted. What the
    /// thread does in that time that reads it later shows what for.
    pub(super) fn not_accepted(&mut self, walked: &Walked, piece: &Piece, slices: &mut Vec<Slice>) {
        let network = Seen::of(State::Unknown(Reason::Network), Holder::Kernel, 0, NO_STACK);
        if piece.len_ns() < NOT_ACCEPTED_LEAST_NS {
            return self.push(slices, piece, (piece.begin, piece.end), &network);
        }
        let tid = walked.joined.reader;
        let inside = self.inside;
        let is_loop = inside.loops.has(tid) || inside.index.parks(tid);
        let own = Some(walked.joined.socket);
        for part in inside.index.slices(tid, piece.begin, piece.end) {
            let seen = match part.state {
                _ if is_loop => network.clone(),
                // It waits for this very request, which was lost on the way.
                Doing::Blocked(_) if inside.awaited_at(tid, part.begin) == own => network.clone(),
                Doing::Blocked(off) => match inside.stacks.call_in(off) {
                    Some(Call::Read | Call::Poll) => held_idle(tid, off.stack),
                    Some(Call::Accept | Call::Futex | Call::FileLock) | None => network.clone(),
                    Some(_) => busy(tid, off.stack, State::Sleep),
                },
                Doing::Run | Doing::Ready(_) => busy(tid, NO_STACK, State::OnCpu),
                // The worker that reads it has not begun.
                Doing::Gone | Doing::Unknown => Seen {
                    holder: Holder::Unknown,
                    ..busy(tid, NO_STACK, State::Unknown(Reason::NotSeen))
                },
            };
            self.push(slices, piece, (part.begin, part.end), &seen);
        }
    }

    /// Whether a thread that serves one connection at a time has answered its last request and waits for the next one on that
    /// connection, until a timer ends the wait.
    pub(super) fn waits_for_next(&self, leaf: &Leaf, at: u64) -> bool {
        let waits = matches!(
            leaf.kind,
            LeafKind::Sleep | LeafKind::Data | LeafKind::Network
        ) && matches!(leaf.call, Some(Call::Poll | Call::Read));
        let inside = self.inside;
        if !waits || inside.loops.has(leaf.tid) || inside.index.parks(leaf.tid) {
            return false;
        }
        let last = inside.index.last_mark(leaf.tid, at);
        last.is_some_and(|mark| {
            let end = inside.index.sockets.end(mark.socket);
            mark.wrote && end.is_some_and(|end| inside.is_clients(end))
        })
    }

    /// A thread waits for what comes on clients' connections, and not for this request: a loop does
    /// that while something else goes on for the request; a thread that serves one connection at a
    /// time is held by one that has no request under way.
    pub(super) fn loop_waits(&self, walked: &Walked, piece: &Piece) -> Seen {
        let leaf = &piece.leaf;
        let is_loop = self.inside.loops.has(leaf.tid) || self.inside.index.parks(leaf.tid);
        let serves = leaf.tid == walked.joined.reader;
        let read = matches!(leaf.call, Some(Call::Read | Call::Poll));
        if piece.segment == Phase::Unread && serves && read && !is_loop {
            return held_idle(leaf.tid, leaf.stack);
        }
        Seen::of(
            State::Unknown(Reason::LoopWaits),
            Holder::Unknown,
            leaf.tid,
            leaf.stack,
        )
    }
}

/// A worker that waits on a kept connection which has no request under way.
pub(super) fn held_idle(tid: u32, stack: u32) -> Seen {
    Seen {
        activity: State::Client,
        ..Seen::of(State::Queued(Place::HeldIdle), Holder::Client, tid, stack)
    }
}

/// A worker that has another request.
fn busy(tid: u32, stack: u32, activity: State) -> Seen {
    Seen {
        activity,
        ..Seen::of(
            State::Queued(Place::Workers),
            Holder::AnotherRequest,
            tid,
            stack,
        )
    }
}
