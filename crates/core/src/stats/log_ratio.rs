//! The ratio of two figures with what is known of it: what all comparisons give.
//!
//! Latencies and rates differ by factors, so their logarithms are compared: the ratio of B to A
//! is `exp` of a mean difference, its interval is symmetric on the logarithmic scale, and
//! exchanging A and B inverts it and changes no verdict. [`super::paired`], [`super::welch`] and
//! [`super::moderated`] make them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::student;

/// Two settings are taken for equal when their ratio is within this factor of 1: a difference
/// that no user of a service notices, and little more than the best hosts show between a build
/// and itself.
pub const EQUIVALENT_WITHIN: f64 = 1.05;

/// Confidence of the interval that has to lie within [`EQUIVALENT_WITHIN`]. Two one-sided tests
/// at 5 % (Schuirmann 1987) are the same as a 90 % interval inside the margin.
pub const EQUIVALENCE_CONFIDENCE: f64 = 0.90;

/// Logarithms that scatter by less than this differ by rounding only: those of nanoseconds are
/// known to some 4e-15.
const SCATTER_LEAST: f64 = 1e-12;

/// Why figures cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Error, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum NotComparable {
    /// Too few runs or pairs to know their scatter.
    #[error("needs {needs}, have {have}")]
    TooFew {
        /// How many would do.
        needs: usize,
        /// How many there are.
        have: usize,
    },
    /// The two sides of a paired comparison are not of one length.
    #[error("{a} runs of A cannot be paired with {b} of B")]
    NotPaired {
        /// Runs of A.
        a: usize,
        /// Runs of B.
        b: usize,
    },
    /// A figure has no logarithm.
    #[error("{value} has no ratio to anything: figures must be above 0 and finite")]
    NotPositive {
        /// The figure.
        value: f64,
    },
}

/// The ratio of B to A with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogRatio {
    /// The ratio of the geometric means.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Chance of a ratio at least as far from 1, were there no difference (two-sided).
    pub p: f64,
    /// The logarithm of the ratio.
    pub mean_log: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom with which that is known.
    pub df: f64,
}

/// What is said of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The whole interval agrees with it.
    Confirmed,
    /// The whole interval contradicts it.
    Refuted,
    /// The interval says neither.
    Undetermined,
}

impl LogRatio {
    /// The ratio of a mean difference of logarithms. `least_p` is the p of figures that do not
    /// scatter at all, which t cannot give: what a permutation of them would.
    pub(super) fn new(mean_log: f64, standard_error: f64, df: f64, least_p: f64) -> Self {
        let p = if standard_error > 0.0 {
            student::two_sided_p(mean_log / standard_error, df)
        } else if mean_log.abs() < SCATTER_LEAST {
            1.0
        } else {
            least_p
        };
        let mut found = Self {
            ratio: mean_log.exp(),
            low: 0.0,
            high: 0.0,
            p,
            mean_log,
            standard_error,
            df,
        };
        (found.low, found.high) = found.interval(0.95);
        found
    }

    /// The same with the sides exchanged.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            mean_log: -self.mean_log,
            ..self
        }
    }

    /// Student's t: the distance from no difference in standard errors; infinite if the figures
    /// do not scatter, and 0 if they do not differ either.
    pub fn t(&self) -> f64 {
        if self.mean_log.abs() < SCATTER_LEAST {
            0.0
        } else {
            self.mean_log / self.standard_error
        }
    }

    /// The interval of the ratio with a `confidence` in `0..1`.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let half = if self.standard_error > 0.0 {
            student::upper_point((1.0 - confidence) / 2.0, self.df) * self.standard_error
        } else {
            0.0
        };
        ((self.mean_log - half).exp(), (self.mean_log + half).exp())
    }

    /// Whether the difference is known to be of no consequence: the interval with confidence
    /// [`EQUIVALENCE_CONFIDENCE`] lies within a factor of `margin` (usually
    /// [`EQUIVALENT_WITHIN`]) of 1. That a difference was not found is not enough, nor are few
    /// figures that differ and do not scatter: a coarse clock makes such.
    pub fn is_equivalent(&self, margin: f64) -> bool {
        if self.standard_error <= 0.0
            && self.mean_log.abs() >= SCATTER_LEAST
            && self.p > 1.0 - EQUIVALENCE_CONFIDENCE
        {
            return false;
        }
        let (low, high) = self.interval(EQUIVALENCE_CONFIDENCE);
        1.0 / margin <= low && high <= margin
    }

    /// Whether the ratio lies in a band, ends included, by its 95 % interval: inside it is
    /// confirmed, beside it refuted.
    pub fn within(&self, low: f64, high: f64) -> Answer {
        if low <= self.low && self.high <= high {
            Answer::Confirmed
        } else if self.high < low || high < self.low {
            Answer::Refuted
        } else {
            Answer::Undetermined
        }
    }

    /// The chance of a ratio this large or larger, were the true one not above `bound`
    /// (one-sided): small means that it is above. With a `bound` of 1 and an order that was
    /// expected, "B is not faster than A", this tests for its inversion.
    pub fn p_above(&self, bound: f64) -> f64 {
        self.one_sided(self.mean_log - bound.ln())
    }

    /// The chance of a ratio this small or smaller, were the true one not below `bound`.
    pub fn p_below(&self, bound: f64) -> f64 {
        self.one_sided(bound.ln() - self.mean_log)
    }

    fn one_sided(&self, beyond: f64) -> f64 {
        if self.standard_error > 0.0 {
            student::tail_above(beyond / self.standard_error, self.df)
        } else if beyond > 0.0 {
            // Without scatter there is a permutation's p for a difference, half of it each way.
            self.p / 2.0
        } else {
            1.0
        }
    }
}

/// The logarithms of figures, or the first one that has none.
pub(super) fn logs(figures: &[f64]) -> Result<Vec<f64>, NotComparable> {
    let log = |&value: &f64| {
        if value > 0.0 && value.is_finite() {
            Ok(value.ln())
        } else {
            Err(NotComparable::NotPositive { value })
        }
    };
    figures.iter().map(log).collect()
}

/// Mean and variance (divided by `n - 1`) of at least two values.
pub(super) fn moments(values: &[f64]) -> Result<(f64, f64), NotComparable> {
    if values.len() < 2 {
        return Err(NotComparable::TooFew {
            needs: 2,
            have: values.len(),
        });
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (n - 1.0);
    let is_rounding = variance.sqrt() < SCATTER_LEAST;
    Ok((mean, if is_rounding { 0.0 } else { variance }))
}
