//! Connections that the target wanted to make and found no local port for.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slowpath_core::nanos::Nanos;
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::{Trace, What};

use crate::case::{Case, EndpointCase};

/// A server that cannot dial answers its clients with these.
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
    /// How many, by the address that they were for.
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

    /// How often requests of an endpoint met a dial that found no port while the target was traced.
    pub(crate) fn met(&self, case: &Case<'_>, endpoint: &EndpointCase) -> Met {
        let failed = endpoint.failed.iter().map(|&i| case.sample(i));
        let others = endpoint.completed.iter().map(|&i| case.sample(i));
        Met {
            refused: self.under_way(case, failed.filter(|&sample| is_refused(sample))),
            others: self.under_way(case, others),
        }
    }

    /// Of requests that were over while the target was traced: how many there are, and how many of these were under
    /// way when a dial found no port.
    fn under_way<'s>(
        &self,
        case: &Case<'_>,
        of: impl Iterator<Item = SampleRef<'s>>,
    ) -> (u64, u64) {
        let stretches = &case.record.trace.stretches;
        let is_traced = |at: Nanos| {
            let after = stretches.partition_point(|s| s.span.end <= at);
            let own = stretches.get(after).filter(|s| s.span.begin <= at);
            own.is_some_and(|s| s.depth.has_wakers())
        };
        let (mut all, mut met) = (0, 0);
        for sample in of.filter(|sample| is_traced(sample.done())) {
            all += 1;
            let first = self.at.partition_point(|&at| at < sample.scheduled());
            met += u64::from(self.at.get(first).is_some_and(|&at| at <= sample.done()));
        }
        (all, met)
    }
}

/// Requests that were over while the target was traced, and those of them that were under way when a dial found no
/// port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// Of those that were answered with a server error.
    pub(crate) refused: (u64, u64),
    /// Of those that were answered well, which meet others' dials by chance.
    pub(crate) others: (u64, u64),
}

impl Met {
    /// The share of the errors that dials without a port explain: beyond what is under way then anyway.
    pub(crate) fn explained(&self) -> f64 {
        let share = |(all, met): (u64, u64)| met as f64 / all.max(1) as f64;
        let chance = share(self.others);
        if chance >= 1.0 {
            return 0.0;
        }
        ((share(self.refused) - chance) / (1.0 - chance)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_anyway_explains_nothing() {
        let explained = |refused, others| Met { refused, others }.explained();
        assert!((explained((100, 40), (1_000, 0)) - 0.4).abs() < 1e-9);
        assert!((explained((100, 70), (1_000, 500)) - 0.4).abs() < 1e-9);
        assert!((explained((100, 100), (1_000, 500)) - 1.0).abs() < 1e-9);
        assert!(explained((100, 50), (1_000, 500)).abs() < 1e-9);
        assert!(explained((100, 100), (1_000, 1_000)).abs() < 1e-9);
    }
}
