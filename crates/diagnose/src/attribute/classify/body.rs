//! Requests whose end is on its way: a server that calls its handler when the head is there lets that one wait for the body.

use slowpath_attribution::{Basis, Holder, Phase, Reason, Slice, State};
use slowpath_core::nanos::{Nanos, Span};

use super::{Classifier, overlay};
use crate::trace::index::TrafficKind;
use crate::trace::inside::Walked;

impl Classifier<'_, '_> {
    /// What a request waits for in user space until the last of it has come is its client. A request that is followed has its
    /// connection for itself, so that nothing else comes on it before the server writes.
    pub(super) fn lay_body_over(&self, walked: &Walked, slices: &mut Vec<Slice>) {
        let joined = &walked.joined;
        let (begin, end) = joined.part(Phase::Service);
        let sockets = &self.inside.index.sockets;
        let traffic = sockets.between(joined.socket, begin, end).iter();
        let before_the_answer = traffic.take_while(|t| t.kind != TrafficKind::Wrote);
        let arrives = before_the_answer.filter(|t| t.kind == TrafficKind::Arrived);
        let Some(last) = arrives.last() else {
            return;
        };
        let at = |ns: u64| Nanos::new(ns.max(1));
        overlay(slices, &[Span::new(at(begin), at(last.at))], |slice| {
            let open = matches!(
                slice.state,
                State::Unknown(Reason::OtherEnd | Reason::LoopWaits | Reason::Parked)
            );
            (slice.phase == Phase::Service && open).then_some(Slice {
                state: State::Client,
                holder: Holder::Client,
                activity: State::Client,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}
