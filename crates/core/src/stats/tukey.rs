//! Outlier classes after Tukey, on the logarithm of latencies.
//!
//! On a linear scale a clean exponential distribution has 4.8 % "outliers"; on a logarithmic one
//! a clean log-normal has 0.7 %. Classes are labels: a request is never dropped for its class.

use serde::{Deserialize, Serialize};

use super::interpolated::type_7;
use super::modes::thinned;

/// Quartile distances to the inner fences.
const MILD: f64 = 1.5;

/// Quartile distances to the outer fences.
const SEVERE: f64 = 3.0;

/// Of a larger run this many quantiles give the quartiles as well, and without all its logarithms.
const MOST_SAMPLES: usize = 100_000;

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        let logs: Vec<f64> = thinned(sorted_ns, MOST_SAMPLES)
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

/// How many latencies of a run are in each class; the classes share out the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// In [`Class::LowSevere`].
    pub low_severe: u64,
    /// In [`Class::LowMild`].
    pub low_mild: u64,
    /// In [`Class::Inside`].
    pub inside: u64,
    /// In [`Class::HighMild`]; a clean log-normal run has 0.35 % here and as many in `low_mild`.
    pub high_mild: u64,
    /// In [`Class::HighSevere`]; a clean log-normal run has one in 850 000.
    pub high_severe: u64,
}

impl Classes {
    /// The classes of ascending latencies, by fences on their logarithms; `None` if there are
    /// none.
    pub fn of(sorted_ns: &[u64]) -> Option<Self> {
        let fences = Fences::logarithmic(sorted_ns)?;
        let first = |is_before: &dyn Fn(f64) -> bool| {
            sorted_ns.partition_point(|&ns| is_before(ns as f64)) as u64
        };
        let low_severe = first(&|ns| ns < fences.low_severe);
        let low = first(&|ns| ns < fences.low_mild);
        let not_high = first(&|ns| ns <= fences.high_mild);
        let not_severe = first(&|ns| ns <= fences.high_severe);
        Some(Self {
            low_severe,
            low_mild: low - low_severe,
            inside: not_high - low,
            high_mild: not_severe - not_high,
            high_severe: sorted_ns.len() as u64 - not_severe,
        })
    }
}
