//! Which requests are slow: the fast class, the slow set and the cut between them.

use slowpath_core::record::RunRecord;
use slowpath_core::sample::Outcome;
use slowpath_core::spread::{Spread, sort};
use slowpath_core::stats::modes::{Mode, modes};
use slowpath_core::stats::quantile::type_1;

/// A slow mode starts where latency is at least this many times that of the mode below: closer
/// modes are variants of one path (keep-alive or not, this CPU or that), not "slow".
const APART: f64 = 1.5;
/// Either side of a cut between modes holds at least this share: less is a
/// handful of stragglers, not a kind of request.
const SIDE_SHARE: f64 = 0.005;
/// … and at least this many requests: fewer give no interval of a share.
const SIDE_REQUESTS: usize = 30;
/// Fewer are slow beside the others where they take so much more that a user feels each of them: two for each of the six episodes
/// that a cause must have to be named.
const FELT_REQUESTS: usize = 12;
/// Without modes, slow is what takes three times the median: what a user calls slow, and the whole
/// of each burst, of which the slowest hundredth would show a few.
const TAIL_TIMES_MEDIAN: u64 = 3;
/// Where too few take that long, it is twice the median, and so much more: in a queue for one of k places a request waits for
/// another one like it.
const QUEUE_TIMES_MEDIAN: u64 = 2;
/// Where too few take that long as well, it is so many times the median, and so much more that it is felt: one that comes to two
/// places in use waits for half of the time that one takes …
const PLACES_TIMES_MEDIAN: f64 = 1.5;
/// … if so many do, since single ones are stragglers …
const PLACES_SHARE: f64 = 0.05;
/// … and a quarter of the requests take less than the median by no more than this part of it: where times scatter, half as much
/// again is no other kind of request.
const ALIKE_WITHIN: f64 = 0.1;
/// So much more is felt: several of the slices that the kernel gives threads by turns (`base_slice_ns`, 3 ms and less), and a tenth
/// of what a user perceives as instant (100 ms).
pub(crate) const FELT_NS: u64 = 10_000_000;

/// The requests of an endpoint, split into fast and slow.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// Latencies of the completed requests, ascending.
    pub sorted_ns: Vec<u64>,
    /// The modes; empty when there are too few requests to find any.
    pub modes: Vec<Mode>,
    /// Median of the fast class; `None` without requests.
    pub fast_ns: Option<u64>,
    /// Latency from which on a request is slow; `None` if none is.
    pub cut_ns: Option<u64>,
    /// Whether the cut is a valley between two modes.
    pub bimodal: bool,
    /// The slow requests, timed-out ones included: positions in the record's samples.
    pub slow: Vec<u32>,
}

/// Splits the completed requests of one endpoint, which have these latencies, and the failed.
pub fn split(
    record: &RunRecord,
    (completed, latencies_ns): (&[u32], &[u64]),
    failed: &[u32],
    spread: &dyn Spread,
) -> Split {
    let mut sorted_ns = latencies_ns.to_vec();
    sort(spread, &mut sorted_ns);
    let modes = modes(&sorted_ns).unwrap_or_default();
    let valley = valley(&sorted_ns, &modes);
    let cut_ns = valley.or_else(|| tail_cut(&sorted_ns));
    let fast = cut_ns.map_or(sorted_ns.len(), |cut| {
        sorted_ns.partition_point(|&l| l < cut)
    });
    let fast_ns = type_1(&sorted_ns[..fast], 0.5);
    let timed_out = failed
        .iter()
        .filter(|&&i| record.samples.at(i as usize).outcome() == Outcome::Timeout);
    let mut slow: Vec<u32> = match cut_ns {
        Some(cut) => completed
            .iter()
            .zip(latencies_ns)
            .filter(|&(_, &latency)| latency >= cut)
            .map(|(&i, _)| i)
            .collect(),
        None => Vec::new(),
    };
    slow.extend(timed_out);
    slow.sort_unstable();
    Split {
        sorted_ns,
        modes,
        fast_ns,
        cut_ns,
        bimodal: valley.is_some(),
        slow,
    }
}

/// The valley between the two neighbouring modes that are furthest apart, if they are far enough
/// apart and each side is well filled.
fn valley(sorted_ns: &[u64], modes: &[Mode]) -> Option<u64> {
    let fewest = ((sorted_ns.len() as f64 * SIDE_SHARE) as usize).max(SIDE_REQUESTS);
    modes
        .iter()
        .zip(modes.iter().skip(1))
        .filter(|(low, high)| high.at >= APART * low.at)
        .filter(|(_, high)| {
            let below = sorted_ns.partition_point(|&l| l < high.low);
            below >= fewest && sorted_ns.len() - below >= fewest
        })
        .max_by(|a, b| (a.1.at / a.0.at).total_cmp(&(b.1.at / b.0.at)))
        .map(|(_, high)| high.low)
}

fn tail_cut(sorted_ns: &[u64]) -> Option<u64> {
    let median = type_1(sorted_ns, 0.5)?;
    let felt = median.saturating_add(FELT_NS);
    let cut = median.saturating_mul(TAIL_TIMES_MEDIAN);
    let queue = median.saturating_mul(QUEUE_TIMES_MEDIAN).max(felt);
    let places = ((median as f64 * PLACES_TIMES_MEDIAN) as u64).max(felt);
    let many = ((sorted_ns.len() as f64 * PLACES_SHARE) as usize).max(SIDE_REQUESTS);
    let slow = sorted_ns.len() - sorted_ns.partition_point(|&ns| ns < cut);
    (slow >= SIDE_REQUESTS)
        .then_some(cut)
        .or_else(|| slow_from(sorted_ns, cut.max(felt), FELT_REQUESTS))
        .or_else(|| {
            let alike = (median as f64 * (1.0 - ALIKE_WITHIN)) as u64;
            let is_constant = type_1(sorted_ns, 0.25).is_some_and(|lower| lower >= alike);
            slow_from(sorted_ns, places, many).filter(|_| is_constant)
        })
        .or_else(|| slow_from(sorted_ns, queue, FELT_REQUESTS))
}

/// The cut, if at least so many requests take longer.
fn slow_from(sorted_ns: &[u64], cut: u64, least: usize) -> Option<u64> {
    let slow = sorted_ns.len() - sorted_ns.partition_point(|&ns| ns < cut);
    let fewest = ((sorted_ns.len() as f64 * SIDE_SHARE) as usize).max(least);
    (slow >= fewest).then_some(cut)
}
