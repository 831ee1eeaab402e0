//! Data that a kernel holds back for an acknowledgement, where a thread of its own reads what a request's thread waits for.

use slowpath_attribution::{Holder, Phase, Reason, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Span};

use super::peer::acknowledged;
use super::{Classifier, overlay};
use crate::trace::index::TrafficKind;
use crate::trace::inside::Walked;

/// A request is answered so long after the data has come for which it waited: the thread that reads it passes it on. Of 611 requests with
/// an MQTT client 45 were answered within 20 ms after data that was held back while they waited, all of them after 0.5 to 1.4 ms, and of
/// 313 others, which asked for nothing, none (one recorded run).
const ANSWERED_WITHIN_NS: u64 = 5 * MILLISECOND;

impl Classifier<'_, '_> {
    /// Where a request began before data was held back, and is answered as soon as that has come, its wait in between is for the
    /// acknowledgement: the thread that reads the connection does so for all requests, and waits for many things.
    pub(super) fn lay_held_data_over(&self, walked: &Walked, slices: &mut Vec<Slice>) {
        let (begin, end) = walked.joined.part(Phase::Service);
        for (&socket, spans) in &self.held_back {
            let is_its = |span: &&Span| {
                let (from, to) = (span.begin.get(), span.end.get());
                begin <= from && to <= end && end <= to + ANSWERED_WITHIN_NS
            };
            let first = spans.partition_point(|span| span.begin.get() < begin);
            let mut own = spans[first..].iter().take_while(|s| s.end.get() <= end);
            let Some(&span) = own.find(is_its) else {
                continue;
            };
            if !self.is_read_elsewhere(walked, socket, span) {
                continue;
            }
            let peer = self.inside.other_end(socket).unwrap_or_default();
            overlay(slices, &[span], |slice| {
                let is_open = match slice.state {
                    State::Reply => self.is_from(slice, &peer),
                    State::Sleep => slice.holder == Holder::Background,
                    State::Unknown(reason) => {
                        matches!(
                            reason,
                            Reason::OtherEnd | Reason::LoopWaits | Reason::Parked
                        )
                    }
                    _ => false,
                };
                (slice.phase == Phase::Service && is_open).then_some(acknowledged(slice))
            });
        }
    }

    /// Whether what was held back is read by another thread than the one that read the request, and by no event loop: a loop reads the
    /// replies to all its requests, and which of them waits for one is known from its calls.
    fn is_read_elsewhere(&self, walked: &Walked, socket: u32, span: Span) -> bool {
        let index = &self.inside.index;
        let until = span.end.get() + ANSWERED_WITHIN_NS;
        let traffic = index.sockets.between(socket, span.end.get(), until);
        let read = traffic.iter().find(|t| t.kind == TrafficKind::Read);
        read.is_some_and(|t| t.tid != walked.joined.reader && !self.inside.loops.has(t.tid))
    }

    /// Whether a slice is a wait for this server.
    fn is_from(&self, slice: &Slice, peer: &str) -> bool {
        let actor = self.actors.get(slice.actor as usize);
        actor.is_some_and(|actor| actor.peer == peer)
    }
}
