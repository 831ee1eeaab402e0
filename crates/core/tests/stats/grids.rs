//! Samples without chance: distributions laid out at the quantiles `(i + 1/2) / n`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

/// Nanoseconds in a millisecond, the unit in which latencies are written here.
pub(super) const MS: f64 = 1e6;

fn laid_out(n: u32, quantile: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n)
        .map(|i| quantile((f64::from(i) + 0.5) / f64::from(n)))
        .collect()
}

/// The quantile of the standard normal distribution.
pub(super) fn standard_normal(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Log-normal in milliseconds, given its median and the deviation of the logarithm.
pub(super) fn lognormal(n: u32, median: f64, sigma: f64) -> Vec<f64> {
    laid_out(n, |p| median * (sigma * standard_normal(p)).exp())
}

/// Normal in milliseconds.
pub(super) fn normal(n: u32, mean: f64, sd: f64) -> Vec<f64> {
    laid_out(n, |p| mean + sd * standard_normal(p))
}

/// Exponential in milliseconds, moved up by `offset`.
pub(super) fn exponential(n: u32, mean: f64, offset: f64) -> Vec<f64> {
    laid_out(n, |p| offset - mean * (-p).ln_1p())
}

/// Pareto in milliseconds.
pub(super) fn pareto(n: u32, scale: f64, shape: f64) -> Vec<f64> {
    laid_out(n, |p| scale * (1.0 - p).powf(-1.0 / shape))
}

/// All parts together, ascending, in nanoseconds.
pub(super) fn mixture(parts: &[Vec<f64>]) -> Vec<u64> {
    let mut all: Vec<u64> = parts
        .iter()
        .flatten()
        .map(|ms| (ms * MS).round() as u64)
        .collect();
    all.sort_unstable();
    all
}

/// A seeded stream of standard normal and uniform numbers, for simulations.
pub(super) struct Noise(ChaCha8Rng);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform, strictly between 0 and 1.
    pub(super) fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / 2f64.powi(32)
    }

    pub(super) fn normal(&mut self) -> f64 {
        standard_normal(self.uniform())
    }
}
