//! Connections of the target that another server was slow to take: its kernel dropped the first segment (SYN), since the queue of
//! the listener was full (`tcp_conn_request`, net/ipv4/tcp_input.c), and the target's kernel sent it again.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{Basis, Holder, Phase, Slice, State};
use slowpath_core::nanos::{Nanos, SECOND, Span};
use slowpath_core::trace::{NO_STACK, What};

use super::{Classifier, Who};
use crate::attribute::overlay;
use crate::trace::calls::{Asked, Calls};
use crate::trace::index::State as Doing;
use crate::trace::inside::Inside;

/// The first segment is sent again after this time (`TCP_TIMEOUT_INIT`, include/net/tcp.h).
const AGAIN_NS: u64 = SECOND;
/// A connection has been made (`TCP_ESTABLISHED`, include/net/tcp_states.h) …
const ESTABLISHED: u8 = 1;
/// … and given up, or ended (`TCP_CLOSE`): its addresses may be used again.
const CLOSED: u8 = 7;

/// When the target waited until another server took its connection, by the target's end.
pub(super) struct Dials(BTreeMap<u32, Vec<Span>>);

impl Dials {
    /// Finds them among the connections on which something was asked.
    pub(super) fn of(inside: &Inside<'_>, calls: &Calls) -> Self {
        let asked: BTreeSet<u32> = calls.all().iter().map(|call| call.socket).collect();
        let mut steps: BTreeMap<u32, Vec<(u64, Step)>> = BTreeMap::new();
        for event in &inside.trace().events {
            let (socket, step) = match event.what {
                What::Retransmit { socket } => (socket, Step::Repeated),
                What::State {
                    socket,
                    state: ESTABLISHED,
                    ..
                } => (socket, Step::Made),
                What::State {
                    socket,
                    state: CLOSED,
                    ..
                } => (socket, Step::Closed),
                _ => continue,
            };
            let end = inside.index.sockets.end_at(socket);
            if let Some(end) = end.filter(|end| asked.contains(end)) {
                steps.entry(end).or_default().push((event.at.get(), step));
            }
        }
        let of_end = |(end, mut steps): (u32, Vec<(u64, Step)>)| {
            let moved = inside.index.sockets.traffic(end);
            steps.extend(moved.iter().map(|t| (t.at, Step::Moved)));
            steps.sort_unstable_by_key(|step| step.0);
            let spans = waits(&steps);
            (!spans.is_empty()).then_some((end, spans))
        };
        Self(steps.into_iter().filter_map(of_end).collect())
    }
}

/// What happens at an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Something is sent again.
    Repeated,
    /// The connection is made.
    Made,
    /// It is given up, or over.
    Closed,
    /// Data is written, comes, or is read.
    Moved,
}

/// From when a first segment was sent, which was sent again, to when the connection was made. What is sent again soon after data
/// has moved is data.
fn waits(steps: &[(u64, Step)]) -> Vec<Span> {
    let mut spans = Vec::new();
    let (mut dialled, mut moved): (Option<u64>, Option<u64>) = (None, None);
    for &(at, step) in steps {
        match step {
            Step::Repeated if moved.is_none_or(|moved| moved + AGAIN_NS < at) => {
                dialled.get_or_insert(at.saturating_sub(AGAIN_NS));
            }
            Step::Repeated => {}
            Step::Closed => dialled = None,
            Step::Made | Step::Moved => {
                let begun = dialled.take();
                spans.extend(begun.map(|begin| Span::new(Nanos::new(begin), Nanos::new(at))));
                if step == Step::Moved {
                    moved = Some(at);
                }
            }
        }
    }
    spans
}

impl Classifier<'_, '_> {
    /// Lays the waits for a connection over what a request did, for a call on it.
    pub(super) fn lay_dials_over(&mut self, call: &Asked, slices: &mut Vec<Slice>) {
        let Some(spans) = self.dials.0.get(&call.socket) else {
            return;
        };
        let own = spans.iter().rfind(|span| span.begin.get() <= call.begin);
        let (Some(&span), Some(&first)) = (own, slices.first()) else {
            return;
        };
        let peer = self.inside.other_end(call.socket).unwrap_or_default();
        let actor = self.actor(&Who {
            tid: 0,
            stack: NO_STACK,
            peer,
        });
        // On the way from another host it may have been lost.
        let is_here = self.inside.index.sockets.other(call.socket).is_some();
        let seen = Slice {
            state: State::Handshake,
            holder: if is_here {
                Holder::Peer
            } else {
                Holder::Kernel
            },
            activity: if self.computes(call.socket, span) {
                State::OnCpu
            } else {
                State::Handshake
            },
            actor,
            basis: Basis::Traced,
            ..first
        };
        overlay(slices, &[span], |slice| {
            let is_open = slice.phase == Phase::Service
                && matches!(slice.state, State::Unknown(_) | State::Reply);
            is_open.then_some(Slice {
                begin: slice.begin,
                end: slice.end,
                phase: slice.phase,
                ..seen
            })
        });
    }

    /// Whether the program at the other end of a connection computes for most of a time.
    fn computes(&self, socket: u32, span: Span) -> bool {
        let index = &self.inside.index;
        let beyond = index
            .sockets
            .other(socket)
            .map_or(&[][..], |end| index.sockets.traffic(end));
        let Some(pid) = beyond
            .iter()
            .map(|t| index.pid_of(t.tid))
            .find(|&pid| pid != 0)
        else {
            return false;
        };
        let own = index.tids().filter(|&tid| index.pid_of(tid) == pid);
        let slices = own.flat_map(|tid| index.slices(tid, span.begin.get(), span.end.get()));
        let runs = slices.filter(|slice| matches!(slice.state, Doing::Run));
        2 * runs.map(|slice| slice.end - slice.begin).sum::<u64>() > span.len_ns()
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::nanos::MILLISECOND;

    use super::*;

    /// The waits, in milliseconds.
    fn waited(steps: &[(u64, Step)]) -> Vec<(u64, u64)> {
        let steps: Vec<(u64, Step)> = steps
            .iter()
            .map(|&(ms, step)| (ms * MILLISECOND, step))
            .collect();
        let ms = |at: Nanos| at.get() / MILLISECOND;
        let spans = waits(&steps);
        spans
            .iter()
            .map(|span| (ms(span.begin), ms(span.end)))
            .collect()
    }

    #[test]
    fn a_connection_is_waited_for_from_its_first_segment_on() {
        use Step::{Closed, Made, Moved, Repeated};
        let twice = [
            (3_000, Repeated),
            (4_000, Repeated),
            (4_100, Made),
            (4_200, Moved),
        ];
        assert_eq!(waited(&twice), [(2_000, 4_100)]);
        let unseen = [(3_000, Repeated), (4_500, Moved)];
        assert_eq!(waited(&unseen), [(2_000, 4_500)]);
        let data = [
            (1_000, Made),
            (1_100, Moved),
            (1_400, Repeated),
            (1_600, Moved),
        ];
        assert!(waited(&data).is_empty());
        // The same addresses once more, of a connection that was given up before.
        let given_up = [(1_000, Repeated), (2_000, Closed), (8_000, Made)];
        assert!(waited(&given_up).is_empty());
        // The same addresses once more, after a connection that was made.
        let again = [
            (1_000, Made),
            (1_100, Moved),
            (9_000, Repeated),
            (9_500, Made),
        ];
        assert_eq!(waited(&again), [(8_000, 9_500)]);
    }
}
