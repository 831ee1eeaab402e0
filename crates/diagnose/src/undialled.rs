//! Connections that the target wanted to make and found no local port for.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slowpath_core::nanos::Nanos;
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::{Trace, What};

use crate::case::{Case, EndpointCase};

/// A server that cannot dial tells its clients with these.
const SERVER_ERRORS: std::ops::RangeInclusive<u16> = 500..=599;
/// The state of an end that has none (`include/net/tcp_states.h`): one without a port that comes to it from
/// `TCP_SYN_SENT` found none (`tcp_v4_connect`).
const TCP_CLOSE: u8 = 7;

/// Whether the target answered a request with a server error.
pub(crate) fn is_refused(sample: SampleRef<'_>) -> bool {
    SERVER_ERRORS.contains(&sample.status())
}

/// The dials of the target that found no port while it was traced.
pub(crate) struct Undialled {
    /// How many, by whom they were for.
    pub(crate) to: BTreeMap<IpAddr, usize>,
    /// When, in order.
    pub(crate) at: Vec<Nanos>,
}

impl Undialled {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut undialled = Self {
            to: BTreeMap::new(),
            at: Vec::new(),
        };
        for event in &trace.events {
            if let What::State {
                socket,
                state: TCP_CLOSE,
                ..
            } = event.what
                && let Some(ends) = trace.sockets.get(socket as usize)
                && ends.local.port() == 0
            {
                *undialled.to.entry(ends.remote.ip()).or_default() += 1;
                undialled.at.push(event.at);
            }
        }
        undialled.at.sort_unstable();
        undialled
    }

    /// Of the requests that were answered with an error while the target was traced: how many there are, and how
    /// many were under way when a dial found no port.
    pub(crate) fn met(&self, case: &Case<'_>, endpoint: &EndpointCase) -> (usize, usize) {
        let stretches = &case.record.trace.stretches;
        let is_traced = |at: Nanos| {
            let mut spans = stretches.iter().filter(|s| s.depth.has_wakers());
            spans.any(|s| (s.span.begin..s.span.end).contains(&at))
        };
        let failed = endpoint.failed.iter().map(|&i| case.sample(i));
        let refused = failed.filter(|&sample| is_refused(sample) && is_traced(sample.done()));
        let (mut answered, mut dials) = (0, 0);
        for sample in refused {
            answered += 1;
            let first = self.at.partition_point(|&at| at < sample.scheduled());
            dials += usize::from(self.at.get(first).is_some_and(|&at| at <= sample.done()));
        }
        (answered, dials)
    }
}
