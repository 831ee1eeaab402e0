//! Which servers a target calls whether or not it has a request: long polls, exports of what was measured, checks
//! of health. A request that is under way at the time has not asked for that.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;

use super::Asked;
use crate::case::Case;
use crate::trace::index::Block;

/// Who is asked for this share of the time without a request, of the share with one, is asked in the
/// background: by chance it would be all of it, and calls that requests make end with them. The half
/// leaves room for what is asked both ways.
const AS_MUCH: f64 = 0.5;
/// In less time than this without a request nothing would be met that is asked now and then.
const IDLE_LEAST_NS: u64 = 100 * MILLISECOND;

/// Those who are asked in the background.
pub(super) fn of(case: &Case<'_>, blocks: &[Block], all: &[Asked]) -> BTreeSet<SocketAddr> {
    if all.is_empty() {
        return BTreeSet::new();
    }
    let samples = case.record.samples.iter();
    let spans = samples.filter_map(|s| Some((s.sent()?.get(), s.done().get())));
    let traced = blocks
        .iter()
        .map(|b| (b.span.begin.get(), b.span.end.get()));
    told(&Busy::of(spans.collect()), traced, all)
}

fn told(
    busy: &Busy,
    traced: impl Iterator<Item = (u64, u64)>,
    all: &[Asked],
) -> BTreeSet<SocketAddr> {
    let (mut with_ns, mut without_ns) = (0, 0);
    for (begin, end) in traced {
        let with = busy.within(begin, end);
        with_ns += with;
        without_ns += end.saturating_sub(begin) - with;
    }
    let mut sums: BTreeMap<SocketAddr, (u64, u64)> = BTreeMap::new();
    for call in all {
        let with = busy.within(call.begin, call.end);
        let sum = sums.entry(call.remote).or_default();
        sum.0 += with;
        sum.1 += call.end - call.begin - with;
    }
    if without_ns < IDLE_LEAST_NS {
        return BTreeSet::new();
    }
    sums.retain(|_, (with, without)| {
        let (with, without) = (*with as f64, *without as f64);
        without * with_ns as f64 >= AS_MUCH * with * without_ns as f64
    });
    sums.into_keys().collect()
}

/// When requests were under way: from, until, and for how long before.
struct Busy(Vec<(u64, u64, u64)>);

impl Busy {
    fn of(mut spans: Vec<(u64, u64)>) -> Self {
        spans.sort_unstable();
        let mut merged: Vec<(u64, u64, u64)> = Vec::new();
        for (begin, end) in spans {
            match merged.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                last => {
                    let before = last.map_or(0, |last| last.2 + last.1 - last.0);
                    merged.push((begin, end, before));
                }
            }
        }
        Self(merged)
    }

    /// For how long, up to an instant.
    fn until(&self, at: u64) -> u64 {
        let behind = self.0.partition_point(|span| span.0 <= at);
        let last = behind.checked_sub(1).map(|place| self.0[place]);
        last.map_or(0, |(begin, end, before)| before + at.min(end) - begin)
    }

    fn within(&self, begin: u64, end: u64) -> u64 {
        self.until(end).saturating_sub(self.until(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    fn call(port: u16, begin: u64, end: u64) -> Asked {
        Asked {
            socket: 0,
            remote: SocketAddr::from(([10, 0, 0, 1], port)),
            tid: 1,
            begin,
            end,
        }
    }

    #[test]
    fn who_is_asked_as_much_without_a_request_is_asked_in_the_background() {
        // A request of 20 ms every 100 ms asks 5432; 2379 is polled, whatever happens.
        let begins = (1..=100).map(|n| n * 100 * MS);
        let spans = begins.clone().map(|begin| (begin, begin + 20 * MS));
        let busy = Busy::of(spans.collect());
        let mut all: Vec<Asked> = begins
            .map(|begin| call(5_432, begin + MS, begin + 18 * MS))
            .collect();
        all.extend((1..=1_000).map(|n| call(2_379, n * 10 * MS, n * 10 * MS + 9 * MS)));
        let traced = || std::iter::once((100 * MS, 10_100 * MS));
        let ports = |all: &[Asked]| {
            let told = told(&busy, traced(), all).into_iter();
            told.map(|remote| remote.port()).collect::<Vec<_>>()
        };
        assert_eq!(ports(&all), [2_379]);
        // Without time that has no request nothing can be decided.
        let always = Busy::of(vec![(0, 20_000 * MS)]);
        assert!(told(&always, traced(), &all).is_empty());
    }

    #[test]
    fn overlapping_requests_count_once() {
        let busy = Busy::of(vec![(10, 30), (20, 40), (60, 70)]);
        assert_eq!(busy.within(0, 100), 40);
        assert_eq!(busy.within(35, 65), 10);
        assert_eq!(busy.within(45, 50), 0);
    }
}
