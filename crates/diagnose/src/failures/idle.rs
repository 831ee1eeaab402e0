//! Whether failures follow long idle gaps only: a server that closes idle connections meets a
//! request that is already on its way.

use slowpath_core::stats::quantile::type_1;

use super::alike;
use crate::diagnosis::{IdleBin, IdleGaps};
use crate::figures::millis;

/// A chance below this is not taken for one; several kinds of failures in several endpoints are
/// tested in each run.
const CHANCE_MAX: f64 = 0.001;

/// Failures follow long gaps only if at least this share of the completed re-uses had shorter
/// ones: the shortest gaps of all may be rare for reasons of the load.
const SHORTER_LEAST: f64 = 0.5;

/// … and only if the shortest of theirs is longer than the median of completed re-uses by this
/// factor: users who all think for the same time differ by their luck alone.
const LONGER: f64 = 1.1;

/// Classes of gaps shorter than any that a failure followed.
const SHORTER_BINS: u64 = 4;

/// The picture, if no failure followed a gap of a length that many completed requests followed;
/// those of failures ascend.
///
/// If the gap did not matter, every order of the `F` failures and the `N` completed gaps would be
/// alike, so that the shortest `N - L` of all are completed ones with probability
/// `(L + 1) / (N + 1) * ... * (L + F) / (N + F)`. It is the distribution of the least rank of the
/// failures, which is the statistic, so having chosen the bound after seeing them costs
/// nothing.
pub(super) fn gaps(
    failed_ns: &[u64],
    completed_ns: impl Iterator<Item = u64> + Clone,
) -> Option<IdleGaps> {
    let (&low, &high) = (failed_ns.first()?, failed_ns.last()?);
    let (shorter, completed) = alike(completed_ns.clone(), |ns| ns < low);
    let longer = completed - shorter;
    let p_value = chance(longer, completed, failed_ns.len());
    let few = (shorter as f64) < SHORTER_LEAST * completed as f64;
    if p_value >= CHANCE_MAX || few {
        return None;
    }
    let mut completed_ns: Vec<u64> = completed_ns.collect();
    completed_ns.sort_unstable();
    let median = type_1(&completed_ns, 0.5).unwrap_or(0);
    if (low as f64) < LONGER * median as f64 {
        return None;
    }
    Some(IdleGaps {
        low_ms: millis(low as f64),
        high_ms: millis(high as f64),
        failed: failed_ns.len() as u64,
        shorter_completed: shorter as u64,
        longer_completed: longer as u64,
        p_value,
        bins: bins(failed_ns, &completed_ns, low, high),
    })
}

/// That none of so many failures is among the shortest gaps, when so many of the completed are
/// longer.
fn chance(longer: usize, completed: usize, failed: usize) -> f64 {
    let each = (1..=failed).map(|k| (longer + k) as f64 / (completed + k) as f64);
    each.product()
}

/// Even classes up to the shortest gap of a failure, the gaps of failures, and what is longer.
fn bins(failed_ns: &[u64], completed_ns: &[u64], low: u64, high: u64) -> Vec<IdleBin> {
    let longest = completed_ns.last().copied().unwrap_or(0).max(high);
    let mut edges: Vec<u64> = (0..=SHORTER_BINS).map(|k| low * k / SHORTER_BINS).collect();
    edges.extend([high + 1, longest + 1]);
    edges.dedup();
    let within = |sorted: &[u64], from: u64, to: u64| {
        let below = |edge| sorted.partition_point(|&ns| ns < edge);
        (below(to) - below(from)) as u64
    };
    let pairs = edges.windows(2).map(|pair| (pair[0], pair[1]));
    pairs
        .map(|(from, to)| IdleBin {
            from_ms: millis(from as f64),
            // The last nanosecond of a class that ends with a gap that was seen.
            to_ms: millis(if to > low { to - 1 } else { to } as f64),
            failed: within(failed_ns, from, to),
            completed: within(completed_ns, from, to),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_after_long_gaps_only_are_seen() {
        let failed: Vec<u64> = (0..18).map(|k| 4_990_000_000 + k * 1_000_000).collect();
        let completed: Vec<u64> = (0..1000).map(|k| k * 4_900_000).collect();
        let gaps = gaps(&failed, completed.into_iter()).unwrap();
        assert_eq!((gaps.low_ms, gaps.high_ms), (4990.0, 5007.0));
        assert_eq!(
            (gaps.failed, gaps.shorter_completed, gaps.longer_completed),
            (18, 1000, 0)
        );
        let counts: Vec<(u64, u64)> = gaps.bins.iter().map(|b| (b.failed, b.completed)).collect();
        assert_eq!(counts.iter().map(|c| c.0).sum::<u64>(), 18);
        assert_eq!(counts.iter().map(|c| c.1).sum::<u64>(), 1000);
        assert_eq!(counts[4], (18, 0));
    }

    #[test]
    fn chances_are_those_of_a_shuffled_pack() {
        // Two failures among four gaps, both longer than the two completed: 1 of 6 orders.
        assert!((chance(0, 2, 2) - 1.0 / 6.0).abs() < 1e-12);
        // As many failures as there are re-uses: ten in a row of twenty are no 1e-10.
        let ten = chance(1, 10, 10);
        let exact = 11.0 / 184_756.0;
        assert!((ten - exact).abs() < 1e-9, "{ten} {exact}");
    }

    #[test]
    fn failures_after_any_gap_are_not() {
        let completed = 0..1000;
        let failed: Vec<u64> = (0..20).map(|k| k * 50).collect();
        assert_eq!(gaps(&failed, completed.clone()), None);
        // Of many failures none follows the very shortest gaps, which few had.
        let many: Vec<u64> = (0..900).map(|k| 100 + k).collect();
        assert_eq!(gaps(&many, completed.clone()), None);
        // Every user thinks for a second.
        let alike = 1_000_000..1_001_000;
        assert_eq!(gaps(&[1_000_990; 20], alike), None);
        // One failure after the longest of all is chance enough.
        assert_eq!(gaps(&[990], completed.clone()), None);
        // Nothing to compare with, nothing known.
        assert_eq!(gaps(&[5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 0..0), None);
        assert_eq!(gaps(&[], completed), None);
    }
}
