//! Intervals of a proportion through the inverse incomplete beta function.

use statrs::function::beta::{beta_reg, inv_beta_reg};

/// Half of what a two-sided 95 % interval leaves out.
pub const TAIL: f64 = 0.025;

/// The `probability` point of the beta distribution with parameters `a` and `b`.
///
/// `a <= 0` is a distribution all at 0 and `b <= 0` one all at 1: the limits that the bounds of
/// a proportion of 0 or 1 need. `probability` is in `0..=1`.
pub fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    if a <= 0.0 {
        0.0
    } else if b <= 0.0 {
        1.0
    } else {
        inv_beta_reg(a, b, probability)
    }
}

/// The 95 % interval of a share seen among `n` samples, where `n` need not be whole.
///
/// Clopper & Pearson 1934 in the form of Korn & Graubard 1998, which puts an effective sample
/// size in the place of the number of samples.
pub fn interval(share: f64, n: f64) -> (f64, f64) {
    let hits = n * share;
    let misses = n * (1.0 - share);
    let low = beta_quantile(TAIL, hits, misses + 1.0);
    let high = beta_quantile(1.0 - TAIL, hits + 1.0, misses);
    (low, high)
}

/// The chance of at least `hits` of `n` that each come with `chance`, 0 to 1: the upper tail of the
/// binomial distribution (DLMF 8.17.5). `hits` is at most `n`.
pub fn at_least(hits: u64, n: u64, chance: f64) -> f64 {
    if hits == 0 || chance >= 1.0 {
        1.0
    } else if chance <= 0.0 {
        0.0
    } else {
        beta_reg(hits as f64, (n - hits + 1) as f64, chance)
    }
}

/// The exact 95 % interval of `hits` out of `n` independent trials (Clopper & Pearson 1934);
/// `(0, 1)` when there was no trial.
pub fn clopper_pearson(hits: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    interval(hits as f64 / n as f64, n as f64)
}
