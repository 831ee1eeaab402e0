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
    /// The period with which the level rises and falls, if it has one.
    #[serde(default)]
    pub swing: Option<SwingFigures>,
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
    /// What became of the dues in the other repeats, of those in which any was.
    #[serde(default)]
    pub kept: Vec<KeptFigures>,
    /// Whether they keep to the clock on the wall; `null` if that is not known.
    #[serde(default)]
    pub wall: Option<WallFigures>,
}

/// What became of a prediction in another repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptFigures {
    /// The repeat, from 0.
    pub repeat: u32,
    /// Stalls that were due in it.
    pub due: u32,
    /// Of those, how many came within three standard deviations, or half a second.
    pub hit: u32,
    /// The chance of as many hits at any other instants.
    pub p: f64,
    /// Whether the prediction held: seven of ten came, and more than by chance.
    pub holds: bool,
}

/// Stalls that keep to the clock on the wall, as the jobs of a scheduler do: a timer of the target
/// would begin again with each process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WallFigures {
    /// The round period, in seconds.
    pub every_s: f64,
    /// How long after its full multiples since midnight (UTC), in seconds.
    pub after_s: f64,
    /// Repeats whose stalls agree in that.
    pub repeats: u32,
    /// The chance that instants of the same number agree as well.
    pub p: f64,
}

/// A level that rises and falls with a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwingFigures {
    /// The period, in seconds.
    pub period_s: f64,
    /// The share of the level's variance that a sine of this period explains.
    pub power: f64,
    /// The chance of as much at any period, by shuffled stretches of ten seconds.
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
    /// The median after it, in milliseconds.
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

/// One mode of a latency distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// Where its density is highest, in milliseconds.
    pub at_ms: f64,
    /// Its share of the requests.
    pub weight: f64,
    /// Lower end of the 95 % interval of the share; `null` if nothing is known of its scatter.
    #[serde(default)]
    pub share_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub share_high: Option<f64>,
    /// Requests for each independent one of which the interval is made: above 10 the mode comes
    /// in bursts.
    #[serde(default)]
    pub deff: Option<f64>,
    /// Whether it is a satellite of the others: real, and of less than a twentieth of the
    /// requests.
    #[serde(default)]
    pub is_satellite: bool,
}

/// How an endpoint settled after the start of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Settling {
    /// Steady from the start.
    None,
    /// Settled within the first tenth.
    FastRamp,
    /// Settled within the first half.
    SlowRamp,
    /// It never got going: steady, and less than half of what was asked was served.
    NoRamp,
    /// Never steady.
    NotSettled,
}
