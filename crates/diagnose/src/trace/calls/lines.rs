//! The connections to one server, and when which of them were in use.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slowpath_core::stats::median::median;

use super::{Asked, Calls, settled};
use crate::diagnosis::Phase;
use crate::trace::inside::Walked;

/// The connections to one server.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// By the target's end: when each was in use, ascending.
    busy: BTreeMap<u32, Vec<(u64, u64)>>,
    /// When all of them were, ascending, disjoint.
    full: Vec<(u64, u64)>,
    /// How many were in use at a time, at most.
    pub(crate) most: usize,
    /// How many there were at a time, at most: one that was closed and made again is one.
    pub(crate) count: usize,
}

impl Calls {
    /// The connections that the target has to each server that it asks.
    pub(crate) fn lines(&self) -> BTreeMap<SocketAddr, Lines> {
        let mut all: BTreeMap<SocketAddr, Lines> = BTreeMap::new();
        let is_name = |call: &&Asked| self.resolvers.contains(&call.remote);
        for call in self.all.iter().filter(|call| !is_name(call)) {
            let lines = all.entry(call.remote).or_default();
            let own = lines.busy.entry(call.socket).or_default();
            // Several questions may be under way on one (`in_turn`).
            match own.last_mut() {
                Some(last) if call.begin < last.1 => {
                    *last = (last.0.min(call.begin), last.1.max(call.end));
                }
                _ => own.push((call.begin, call.end)),
            }
        }
        for lines in all.values_mut() {
            lines.fill();
        }
        all
    }
}

impl Lines {
    /// Finds when all are in use: those that have been asked on before and will be again. What was
    /// closed, or was not yet made, is not to be had.
    fn fill(&mut self) {
        let mut steps: Vec<(u64, i64, i64)> = Vec::new();
        for own in self.busy.values() {
            let (Some(first), Some(last)) = (own.first(), own.last()) else {
                continue;
            };
            steps.extend([(first.0, 1, 0), (last.1, -1, 0)]);
            steps.extend(
                own.iter()
                    .flat_map(|&(begin, end)| [(begin, 0, 1), (end, 0, -1)]),
            );
        }
        steps.sort_unstable();
        let (mut alive, mut used, mut since) = (0, 0, None);
        let mut at = 0;
        for (when, lives, uses) in steps {
            if when > at {
                let as_count = |n: i64| usize::try_from(n).unwrap_or(0);
                let is_full = alive > 0 && used == alive;
                match since {
                    None if is_full => since = Some(at),
                    Some(begin) if !is_full => {
                        self.full.extend((begin < at).then_some((begin, at)));
                        since = None;
                    }
                    _ => {}
                }
                self.most = self.most.max(as_count(used));
                self.count = self.count.max(as_count(alive));
            }
            (at, alive, used) = (when, alive + lives, used + uses);
        }
        self.full.extend(since.map(|begin| (begin, at)));
    }

    /// When all of them were in use, from `begin` to `end`.
    pub(crate) fn full(&self, begin: u64, end: u64) -> Vec<(u64, u64)> {
        let from = self.full.partition_point(|span| span.1 <= begin);
        let near = self.full[from..].iter().take_while(|span| span.0 < end);
        near.map(|span| (span.0.max(begin), span.1.min(end)))
            .collect()
    }

    /// Since when all of them were in use until an instant, but for breaks so short; `None` if they were not.
    pub(crate) fn full_since(&self, until: u64, breaks_ns: u64) -> Option<u64> {
        let before = self.full.partition_point(|span| span.0 < until);
        let mut since = None;
        let mut next = until;
        for &(begin, end) in self.full[..before].iter().rev() {
            if end.saturating_add(breaks_ns) < next {
                break;
            }
            (since, next) = (Some(begin), begin);
        }
        since
    }

    /// For how much of the time of requests, which have made these calls, others had all of them; of the slow requests,
    /// if there are such: those wait, and all may be in use for no longer than these last.
    pub(crate) fn full_share(&self, requests: &[(&Walked, Vec<&Asked>)]) -> f64 {
        let slow = requests.iter().any(|(walked, _)| walked.slow);
        let within = |begin, end| -> u64 {
            let full = self.full(begin, end).into_iter();
            full.map(|(begin, end)| end - begin).sum()
        };
        let (mut full_ns, mut whole_ns) = (0, 0);
        for (walked, calls) in requests.iter().filter(|(walked, _)| walked.slow == slow) {
            let (begin, end) = walked.joined.part(Phase::Service);
            let own = settled(calls).into_iter();
            let own: u64 = own.map(|part| within(part.begin, part.end)).sum();
            full_ns += within(begin, end).saturating_sub(own);
            whole_ns += end - begin;
        }
        full_ns as f64 / whole_ns.max(1) as f64
    }

    /// When the reply before a call was over on its connection.
    pub(crate) fn given_back(&self, call: &Asked) -> Option<u64> {
        let own = self.busy.get(&call.socket)?;
        let before = own.partition_point(|span| span.0 < call.begin);
        Some(own.get(before.checked_sub(1)?)?.1)
    }

    /// How long one is in use, in the median.
    pub(crate) fn median_ns(&self) -> f64 {
        let spans = self.busy.values().flatten();
        let mut all: Vec<f64> = spans.map(|(begin, end)| (end - begin) as f64).collect();
        median(&mut all).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_in_use_when_none_is_free() {
        let mut lines = Lines {
            busy: [
                (1, vec![(10, 30), (35, 60), (80, 90)]),
                (2, vec![(20, 50), (55, 100)]),
            ]
            .into(),
            ..Lines::default()
        };
        lines.fill();
        assert_eq!(lines.full, [(10, 30), (35, 50), (55, 60), (80, 100)]);
        assert_eq!((lines.most, lines.count), (2, 2));
        assert_eq!(lines.full(40, 58), [(40, 50), (55, 58)]);
        assert_eq!(
            (lines.full_since(60, 5), lines.full_since(60, 4)),
            (Some(10), Some(55))
        );
        assert_eq!(
            (lines.full_since(10, 5), lines.full_since(70, 5)),
            (None, None)
        );
    }

    #[test]
    fn a_connection_that_is_made_anew_is_one() {
        let mut lines = Lines {
            busy: [
                (1, vec![(10, 30), (35, 60)]),
                (2, vec![(70, 80), (85, 95)]),
                (3, vec![(99, 120)]),
            ]
            .into(),
            ..Lines::default()
        };
        lines.fill();
        assert_eq!((lines.most, lines.count), (1, 1));
    }
}
