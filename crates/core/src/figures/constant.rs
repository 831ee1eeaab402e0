//! Constants that latencies show beside their modes.

use serde::{Deserialize, Serialize};

/// A constant in the latencies of one subject over a whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConstantFigure {
    /// The endpoint or the benchmark, as in [`super::Row::subject`].
    pub subject: String,
    /// What it is a constant of.
    pub kind: ConstantKind,
    /// Its value, in nanoseconds.
    pub at_ns: f64,
    /// Half the width of its 95 % interval, in nanoseconds.
    pub half_width_ns: f64,
    /// Chance that it is there by accident; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The least and the largest that could have been found in this run, in nanoseconds.
    pub between_ns: [f64; 2],
    /// What it may be made of (timers that the scenario declares, and known ones), the least
    /// fortuitous first; empty where nothing fits beyond chance.
    #[serde(default)]
    pub made_of: Vec<String>,
}

/// What a constant is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConstantKind {
    /// What a slower mode adds to the fastest.
    Added,
    /// The step between latencies that stand on a comb, an offset and multiples of it.
    Step,
    /// The period at which slow requests come.
    Period,
}
