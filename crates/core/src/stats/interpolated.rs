//! Quantiles between samples, for figures of whole runs and for reading other tools' figures.
//!
//! A latency is estimated by a sample that was measured ([`super::quantile`]): interpolation
//! between two modes gives a time that no request took. A dozen figures of runs are another
//! matter.

use statrs::function::beta::beta_reg;

/// Type 7 of Hyndman & Fan 1996: what R, NumPy, k6 and spreadsheets print as a percentile.
/// `None` if there is no value; `sorted` ascends and `p` is in `0..=1`.
pub fn type_7(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(between(sorted, last as f64 * p))
}

/// Type 8 of Hyndman & Fan 1996, which is unbiased in the median whatever the distribution: what
/// they recommend.
pub fn type_8(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() {
        return None;
    }
    let n = sorted.len() as f64;
    Some(between(sorted, (n + 1.0 / 3.0) * p + 1.0 / 3.0 - 1.0))
}

/// The estimate of Harrell & Davis 1982: the mean of all order statistics, each weighted by how
/// likely it is to be the quantile. For fewer than a thousand figures it scatters less than one
/// or two order statistics do; `p` is strictly between 0 and 1.
pub fn harrell_davis(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() {
        return None;
    }
    let n = sorted.len() as f64;
    let (a, b) = ((n + 1.0) * p, (n + 1.0) * (1.0 - p));
    let mut below = 0.0;
    let mut sum = 0.0;
    for (i, value) in sorted.iter().enumerate() {
        let up_to = beta_reg(a, b, (i as f64 + 1.0) / n);
        sum += (up_to - below) * value;
        below = up_to;
    }
    Some(sum)
}

/// The value at a position from 0, which may lie between two or beyond the ends.
fn between(sorted: &[f64], position: f64) -> f64 {
    let position = position.clamp(0.0, sorted.len() as f64 - 1.0);
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}
