//! Paired comparison: B against A, run side by side.
//!
//! What disturbs a host disturbs both runs of a pair, and falls out of their ratio. The p-value
//! is that of Student's paired t on logarithms (Student 1908), which reaches significance with
//! the few pairs that people can afford, where ranks cannot: five pairs have no rank p below
//! 0.0625.

use super::log_ratio::{LogRatio, NotComparable, logs, moments};

/// Half a success and half a failure are added to counts, so that none of them has an infinite
/// logit (Haldane 1956).
const HALDANE: f64 = 0.5;

/// The difference of logarithms of each pair, B less A; the figures must be positive.
pub fn differences(a: &[f64], b: &[f64]) -> Result<Vec<f64>, NotComparable> {
    if a.len() != b.len() {
        return Err(NotComparable::NotPaired {
            a: a.len(),
            b: b.len(),
        });
    }
    let (a, b) = (logs(a)?, logs(b)?);
    Ok(a.iter().zip(&b).map(|(a, b)| b - a).collect())
}

/// The ratio of B to A by pairs: `a[i]` and `b[i]` ran side by side.
pub fn paired(a: &[f64], b: &[f64]) -> Result<LogRatio, NotComparable> {
    of_differences(&differences(a, b)?)
}

/// The ratio of pairs whose differences of logarithms are known: `d` as [`differences`] gives
/// it, or differences of logits, whose ratio is one of odds.
pub fn of_differences(d: &[f64]) -> Result<LogRatio, NotComparable> {
    let (mean, variance) = moments(d)?;
    let n = d.len() as f64;
    Ok(LogRatio::new(
        mean,
        (variance / n).sqrt(),
        n - 1.0,
        least_p(d.len()),
    ))
}

/// The logarithm of the odds of a share, finite for shares of 0 and 1 too: what is compared
/// between runs in the place of an error rate's logarithm.
pub fn logit(hits: u64, n: u64) -> f64 {
    let misses = n.saturating_sub(hits);
    ((hits as f64 + HALDANE) / (misses as f64 + HALDANE)).ln()
}

/// How many pairs differ in the direction of their mean; all of them if the mean is 0.
pub fn agreeing(d: &[f64]) -> usize {
    let sum: f64 = d.iter().sum();
    d.iter().filter(|&&d| d * sum > 0.0 || sum == 0.0).count()
}

/// The smallest two-sided p that signs of `pairs` differences can give, `2^(1-n)`: the signed
/// rank and the sign-flip test reach no smaller one.
pub fn least_p(pairs: usize) -> f64 {
    0.5_f64.powf(pairs as f64 - 1.0).min(1.0)
}
