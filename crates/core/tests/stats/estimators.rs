//! Estimators that others recommend and reports do not use, to hold ours against.

use statrs::function::beta::beta_reg;

/// Type 8 of Hyndman & Fan 1996, which is unbiased in the median whatever the distribution: what
/// they recommend.
pub(super) fn type_8(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() {
        return None;
    }
    let n = sorted.len() as f64;
    Some(between(sorted, (n + 1.0 / 3.0) * p + 1.0 / 3.0 - 1.0))
}

/// The estimate of Harrell & Davis 1982: the mean of all order statistics, each weighted by how
/// likely it is to be the quantile. For fewer than a thousand figures it scatters less than one
/// or two order statistics do; `p` is strictly between 0 and 1.
pub(super) fn harrell_davis(sorted: &[f64], p: f64) -> Option<f64> {
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

/// The median of the means of all pairs of differences, each with itself too (Hodges & Lehmann
/// 1963): a centre that one bad pair cannot move. For differences of logarithms its `exp` is
/// a ratio. `None` if there is none.
pub(super) fn hodges_lehmann(differences: &[f64]) -> Option<f64> {
    let mut means: Vec<f64> = Vec::new();
    for (i, first) in differences.iter().enumerate() {
        means.extend(differences[i..].iter().map(|d| f64::midpoint(*first, *d)));
    }
    means.sort_unstable_by(f64::total_cmp);
    let upper = *means.get(means.len() / 2)?;
    Some(f64::midpoint(means[(means.len() - 1) / 2], upper))
}
