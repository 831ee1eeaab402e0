//! Outlier classes after Tukey, on the logarithm of latencies.
//!
//! On a linear scale a clean exponential distribution has 4.8 % "outliers"; on a logarithmic one
//! a clean log-normal has 0.7 %. Classes are labels: a request is never dropped for its class.

use serde::{Deserialize, Serialize};

use super::interpolated::type_7;

/// Quartile distances to the inner fences.
const MILD: f64 = 1.5;

/// Quartile distances to the outer fences.
const SEVERE: f64 = 3.0;

/// The four fences, in the unit of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fences {
    /// Below lies [`Class::LowSevere`].
    pub low_severe: f64,
    /// Below, down to `low_severe`, lies [`Class::LowMild`].
    pub low_mild: f64,
    /// Above, up to `high_severe`, lies [`Class::HighMild`].
    pub high_mild: f64,
    /// Above lies [`Class::HighSevere`].
    pub high_severe: f64,
}

/// Where a sample lies relative to the fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// More than three quartile distances below the first quartile.
    LowSevere,
    /// More than one and a half.
    LowMild,
    /// Inside the fences.
    Inside,
    /// More than one and a half quartile distances above the third quartile.
    HighMild,
    /// More than three.
    HighSevere,
}

impl Fences {
    /// Fences of ascending values as they are; `None` if there are none.
    pub fn linear(sorted: &[f64]) -> Option<Self> {
        let first = type_7(sorted, 0.25)?;
        let third = type_7(sorted, 0.75)?;
        let distance = third - first;
        Some(Self {
            low_severe: first - SEVERE * distance,
            low_mild: first - MILD * distance,
            high_mild: third + MILD * distance,
            high_severe: third + SEVERE * distance,
        })
    }

    /// Fences of ascending latencies, set on their logarithms; `None` if there are none.
    /// A latency of 0 counts as 1 ns.
    pub fn logarithmic(sorted_ns: &[u64]) -> Option<Self> {
        let logs: Vec<f64> = sorted_ns
            .iter()
            .map(|&ns| (ns.max(1) as f64).ln())
            .collect();
        let fences = Self::linear(&logs)?;
        Some(Self {
            low_severe: fences.low_severe.exp(),
            low_mild: fences.low_mild.exp(),
            high_mild: fences.high_mild.exp(),
            high_severe: fences.high_severe.exp(),
        })
    }

    /// The class of a value; one on a fence is on its inner side.
    pub fn classify(&self, value: f64) -> Class {
        if value < self.low_severe {
            Class::LowSevere
        } else if value < self.low_mild {
            Class::LowMild
        } else if value > self.high_severe {
            Class::HighSevere
        } else if value > self.high_mild {
            Class::HighMild
        } else {
            Class::Inside
        }
    }
}
