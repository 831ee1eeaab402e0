//! The shape of an endpoint's latencies, and their course over a run.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::spread::Steadiness;

/// The shape of an endpoint's latencies and what recurs in it. What is `null` or empty was looked
/// for and is not there, or there was too little to look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShapeFigures {
    /// The smaller and the larger count of modes by two detectors; `null` below 200 requests.
    pub mode_counts: Option<[u32; 2]>,
    /// The chance of so many modes in a sample of one (Hartigan & Hartigan 1985).
    pub dip_p: Option<f64>,
    /// Requests beyond the fences of Tukey (1977), which are set on logarithms.
    pub outliers: Option<Outliers>,
    /// Latencies at `offset + n step`.
    pub comb: Option<CombFigures>,
    /// What slower modes add to the fastest, where it can be made of known timers.
    pub constants: Vec<ConstantFigures>,
    /// The period at which slow requests come, if they keep to one.
    pub stalls: Option<StallFigures>,
    /// Where the level changed for good within a repeat; one entry a repeat that has such a step.
    pub steps: Vec<StepFigures>,
    /// What places the steps of the repeats alike; `null` if nothing is known to, which takes
    /// three repeats whose rates differ.
    pub steps_follow: Option<Axis>,
}

/// What a step may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The time since the load began.
    Time,
    /// The number of requests since then.
    Requests,
}

/// Requests beyond the fences: `1.5` and `3` quartile distances beyond the quartiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outliers {
    /// Below the outer lower fence.
    pub low_severe: u64,
    /// Below the inner lower fence alone.
    pub low_mild: u64,
    /// Above the inner upper fence alone.
    pub high_mild: u64,
    /// Above the outer upper fence.
    pub high_severe: u64,
}

/// A comb of latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CombFigures {
    /// The step, in milliseconds.
    pub step_ms: f64,
    /// Its standard error, in milliseconds.
    pub step_error_ms: f64,
    /// The lowest tooth, in milliseconds.
    pub offset_ms: f64,
    /// The share of all requests on each tooth, by the number of its steps above the lowest.
    pub teeth: Vec<[f64; 2]>,
    /// The chance that modes at random places stand as well on a comb.
    pub p: f64,
    /// What the step may be, the least fortuitous first.
    pub made_of: Vec<String>,
}

/// What a slower mode adds to the fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConstantFigures {
    /// Where the mode lies, in milliseconds.
    pub mode_ms: f64,
    /// What it adds, in milliseconds.
    pub added_ms: f64,
    /// What that may be made of, the least fortuitous first.
    pub made_of: Vec<String>,
}

/// Stalls that keep to a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StallFigures {
    /// The period, in milliseconds.
    pub period_ms: f64,
    /// The standard deviation of stalls around it, in milliseconds.
    pub jitter_ms: f64,
    /// When one is due, in seconds from the start of the first measured window; the others are
    /// whole periods from there.
    pub first_s: f64,
    /// Stalls that were seen.
    pub stalls: u32,
    /// Dues at which there was none.
    pub missed: u32,
    /// The chance of keeping to any period so well.
    pub p: f64,
}

/// A change of level for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepFigures {
    /// In which repeat, from 0.
    pub repeat: u32,
    /// Seconds after the load began, warm-up included.
    pub after_s: f64,
    /// Requests of all endpoints that had been due by then, warm-up included.
    pub after_requests: u64,
    /// The median before, in milliseconds.
    pub before_ms: f64,
    /// The median behind it, in milliseconds.
    pub behind_ms: f64,
    /// The chance of such a step where nothing changes.
    pub p: f64,
}

/// A figure over the repeats of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverRepeats {
    /// Which: `p50`, `p90`, `p95`, `p98`, `p99` or `p99.9`.
    pub metric: String,
    /// Repeats that have it.
    pub repeats: u32,
    /// Their median, in milliseconds.
    pub median_ms: f64,
    /// The smallest, in milliseconds.
    pub least_ms: f64,
    /// The largest, in milliseconds.
    pub most_ms: f64,
    /// The confidence with which the median of all such repeats lies between these two.
    pub confidence: f64,
    /// Lower end of the 95 % interval by t on logarithms, in milliseconds.
    pub low_ms: Option<f64>,
    /// Its upper end.
    pub high_ms: Option<f64>,
    /// (largest - smallest) / median.
    pub spread: f64,
    /// What that says, by the spread that five repeats would have shown.
    pub steadiness: Steadiness,
}
