//! Rank tests: what can be said of an order without any assumption on its scale.
//!
//! They need many runs: three against three cannot give a p below 0.1, nor five pairs one below
//! 0.0625. Ties get their mean rank, and the distribution is that of the ranks as they are.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::factorial::ln_binomial;

/// Up to this many values a side all orders are counted; beyond, the normal approximation with
/// its correction for continuity and ties is within 0.005 of them.
pub const COUNTED_UP_TO: usize = 20;

/// The outcome of a rank test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankTest {
    /// The statistic, that of the side on which it is smaller.
    pub statistic: f64,
    /// Chance of one at least as extreme, on both sides.
    pub p: f64,
    /// Whether all orders were counted.
    pub exact: bool,
}

/// Whether values of B tend to exceed those of A (Wilcoxon 1945, Mann & Whitney 1947), with U as
/// the statistic; `None` if a side is empty.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranks = doubled_ranks(&pooled);
    let sum: usize = ranks[..a.len()].iter().sum();
    let least = a.len() * (a.len() + 1);
    let (of_a, all) = ((sum - least) as f64 / 2.0, (a.len() * b.len()) as f64);
    let exact = a.len() <= COUNTED_UP_TO && b.len() <= COUNTED_UP_TO;
    let p = if exact {
        two_sided(&sums_of_choices(&ranks, a.len()), sum)
    } else {
        let n = pooled.len() as f64;
        let variance = all / 12.0 * ((n + 1.0) - tie_term(&ranks) / (n * (n - 1.0)));
        normal_p(of_a - all / 2.0, variance)
    };
    Some(RankTest {
        statistic: of_a.min(all - of_a),
        p,
        exact,
    })
}

/// Whether differences of pairs tend to one side (Wilcoxon 1945), with the smaller sum of signed
/// ranks as the statistic; `None` without a difference that is not 0, which are left out.
pub fn signed_rank(differences: &[f64]) -> Option<RankTest> {
    let d: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if d.is_empty() {
        return None;
    }
    let sizes: Vec<f64> = d.iter().map(|d| d.abs()).collect();
    let ranks = doubled_ranks(&sizes);
    let positive: usize = (0..d.len()).filter(|&i| d[i] > 0.0).map(|i| ranks[i]).sum();
    let total: usize = ranks.iter().sum();
    let exact = d.len() <= COUNTED_UP_TO;
    let p = if exact {
        two_sided(&sums_of_signs(&ranks), positive)
    } else {
        let variance: f64 = ranks.iter().map(|&r| (r as f64 / 2.0).powi(2)).sum::<f64>() / 4.0;
        normal_p((positive as f64 - total as f64 / 2.0) / 2.0, variance)
    };
    Some(RankTest {
        statistic: positive.min(total - positive) as f64 / 2.0,
        p,
        exact,
    })
}

/// The smallest two-sided p of `a` against `b` values: two over the number of ways to choose.
pub fn least_p(a: usize, b: usize) -> f64 {
    (2.0 * (-ln_binomial((a + b) as u64, a as u64)).exp()).min(1.0)
}

/// The rank of each value, from 1; equal values share their mean rank.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let doubled = doubled_ranks(values);
    doubled.into_iter().map(|rank| rank as f64 / 2.0).collect()
}

/// Twice the rank of each value, from 2: whole numbers though ties share their mean rank.
fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut begin = 0;
    for tied in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let end = begin + tied.len();
        for &at in tied {
            ranks[at] = begin + end + 1;
        }
        begin = end;
    }
    ranks
}

/// The number of ways in which `chosen` of the ranks have each sum.
fn sums_of_choices(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; total + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            for sum in rank..=total {
                more[0][sum] += fewer[count - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(chosen)
}

/// The number of ways in which any of the ranks have each sum.
fn sums_of_signs(ranks: &[usize]) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    let mut ways = vec![0.0; total + 1];
    ways[0] = 1.0;
    for &rank in ranks {
        for sum in (rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

/// Twice the smaller tail, `sum` included.
fn two_sided(ways: &[f64], sum: usize) -> f64 {
    let all: f64 = ways.iter().sum();
    let below: f64 = ways[..=sum].iter().sum();
    let above: f64 = ways[sum..].iter().sum();
    (2.0 * below.min(above) / all).min(1.0)
}

/// The two-sided p of a statistic `off` its mean, half a step nearer for continuity.
fn normal_p(off: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (off.abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * Normal::standard().sf(z)
}

/// The sum of `t^3 - t` over groups of `t` ties.
fn tie_term(ranks: &[usize]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let cubes = sorted.chunk_by(|a, b| a == b).map(|tied| {
        let t = tied.len() as f64;
        t.powi(3) - t
    });
    cubes.sum()
}
