//! False discovery rates: p-values of a family of tests, adjusted for there being many.
//!
//! A difference is claimed when its adjusted p is at most the share of false claims that is
//! accepted ([`CLAIMED_UP_TO`]). The family is fixed before the runs.

/// Share of false ones among the claims that is accepted.
pub const CLAIMED_UP_TO: f64 = 0.05;

/// Benjamini & Hochberg 1995: valid for tests that are independent or rise and fall together, as
/// percentiles of the same runs do. In the order of `ps`.
pub fn benjamini_hochberg(ps: &[f64]) -> Vec<f64> {
    step_up(ps, 1.0)
}

/// Benjamini & Yekutieli 2001: valid however the tests depend on each other, and `ln n` times
/// stricter for it. In the order of `ps`.
pub fn benjamini_yekutieli(ps: &[f64]) -> Vec<f64> {
    let harmonic = (1..=ps.len()).map(|rank| 1.0 / rank as f64).sum();
    step_up(ps, harmonic)
}

/// `min over j >= i of p_(j) n factor / j`, at most 1.
fn step_up(ps: &[f64], factor: f64) -> Vec<f64> {
    let n = ps.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|&a, &b| ps[a].total_cmp(&ps[b]));
    let mut adjusted = vec![1.0; n];
    let mut least = 1.0_f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        least = least.min(ps[at] * n as f64 * factor / (rank + 1) as f64);
        adjusted[at] = least;
    }
    adjusted
}
