//! What several runs say together: their median, its real confidence, and how far they differ.

use serde::{Deserialize, Serialize};
use statrs::function::erf::erf;

/// Above this spread of three to five runs something disturbs them: it is the coefficient of
/// variation of 8.6 % (five runs) to 11.8 % (three runs).
pub const UNSTEADY_ABOVE: f64 = 0.20;

/// Above this spread no conclusion is drawn.
pub const INCONCLUSIVE_ABOVE: f64 = 0.30;

/// Fewest runs whose spread is judged: the smallest range rule that users apply is of three.
pub const FEWEST_RUNS: usize = 3;

/// The number of runs the limits were made for; the range of more runs is wider by nature and is
/// scaled back to this many.
const REFERENCE_RUNS: usize = 5;

/// How steady the runs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// Fewer than [`FEWEST_RUNS`]: not judged.
    Unknown,
    /// Within [`UNSTEADY_ABOVE`].
    Steady,
    /// Something interferes; whether host or service is for other evidence to say.
    Unsteady,
    /// Too noisy to conclude anything.
    Inconclusive,
}

/// A figure over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Median of the runs.
    pub median: f64,
    /// Lowest run.
    pub low: f64,
    /// Highest run.
    pub high: f64,
    /// Confidence with which the true median lies between `low` and `high`: `1 - 2^(1-n)`,
    /// whatever the distribution (75 % for three runs, 93.75 % for five).
    pub confidence: f64,
    /// `(high - low) / median`, as it is; 0 if all runs are 0.
    pub spread: f64,
    /// The spread that five such runs would have shown, if there were more than five.
    pub comparable: f64,
    /// The judgement of `comparable`.
    pub steadiness: Steadiness,
}

/// The spread of a positive figure over runs, in any order; `None` without runs.
pub fn spread(figures: &[f64]) -> Option<Spread> {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    let runs = sorted.len();
    let median = f64::midpoint(sorted[(runs - 1) / 2], sorted[runs / 2]);
    let spread = if high > low {
        (high - low) / median
    } else {
        0.0
    };
    let comparable = if runs > REFERENCE_RUNS {
        spread * mean_range(REFERENCE_RUNS) / mean_range(runs)
    } else {
        spread
    };
    Some(Spread {
        runs,
        median,
        low,
        high,
        confidence: confidence(runs),
        spread,
        comparable,
        steadiness: judge(runs, comparable),
    })
}

/// Confidence of the range of `runs` runs as an interval of their median.
pub fn confidence(runs: usize) -> f64 {
    1.0 - 0.5_f64.powf(runs as f64 - 1.0)
}

fn judge(runs: usize, comparable: f64) -> Steadiness {
    if runs < FEWEST_RUNS {
        Steadiness::Unknown
    } else if comparable > INCONCLUSIVE_ABOVE {
        Steadiness::Inconclusive
    } else if comparable > UNSTEADY_ABOVE {
        Steadiness::Unsteady
    } else {
        Steadiness::Steady
    }
}

/// The mean range of `runs` standard normal values, the `d2` of control charts (Tippett 1925):
/// the integral of `1 - F^n - (1-F)^n`. The trapezoidal rule is exact to rounding here, since the
/// integrand is smooth and vanishes at both ends.
pub fn mean_range(runs: usize) -> f64 {
    const STEP: f64 = 1.0 / 64.0;
    // Beyond nine standard deviations the integrand is below 1e-17 for any number of runs here.
    const STEPS_EACH_SIDE: i32 = 9 * 64;
    let exponent = runs as f64;
    let sum: f64 = (-STEPS_EACH_SIDE..=STEPS_EACH_SIDE)
        .map(|step| {
            let below = 0.5 * (1.0 + erf(f64::from(step) * STEP / std::f64::consts::SQRT_2));
            1.0 - below.powf(exponent) - (1.0 - below).powf(exponent)
        })
        .sum();
    sum * STEP
}
