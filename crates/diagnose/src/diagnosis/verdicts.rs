//! What was found, cleared, could not be looked for, and is left unexplained.

use serde::{Deserialize, Serialize};

/// A cause, named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its name in the catalogue.
    pub cause: String,
    /// Causes that the same evidence fits as well: what is slow is one of these or the one above. At most two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
    /// The endpoint it touches; `null` when it touches all.
    pub endpoint: Option<String>,
    /// The pass it was found in; `null` in a run without passes, and when it touches all.
    #[serde(default)]
    pub pass: Option<String>,
    /// What it explains.
    #[serde(rename = "where")]
    pub place: Place,
    /// The share of that which it explains, from 0 to 1.
    pub share: f64,
    /// Lower end of its 95 % interval.
    pub share_low: f64,
    /// Upper end.
    pub share_high: f64,
    /// How sure.
    pub grade: Grade,
    /// One sentence.
    pub summary: String,
    /// What it rests on; at least one.
    pub evidence: Vec<Evidence>,
    /// Who or what.
    pub culprit: Culprit,
    /// What a fix would do.
    pub prediction: Option<Prediction>,
    /// The next step.
    pub next: String,
    /// When it happened, as seconds from the start of the first measured window; at most
    /// [`EPISODES_MAX`] intervals.
    pub episodes_s: Vec<[f64; 2]>,
}

/// How many episodes a finding lists: enough to mark a picture, few enough to read.
pub const EPISODES_MAX: usize = 200;

/// What a cause explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The slow requests, against the fast ones.
    Tail,
    /// Every request, against the wire.
    Floor,
    /// Failed requests.
    Errors,
    /// Less done than was asked.
    Throughput,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// It coincides with the slowness beyond chance.
    Suspected,
    /// The mechanism's own counters or trace agree too.
    Supported,
    /// An experiment moved it as predicted.
    Confirmed,
    /// An experiment that would have moved it did not.
    Refuted,
}

/// A statistic and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Where it comes from.
    pub source: Source,
    /// The signal's id or the column of `samples.parquet` that it can be checked in.
    pub pointer: String,
    /// What was read.
    pub text: String,
}

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Kernel tracing.
    Trace,
    /// /proc, cgroup files, socket diagnostics.
    Proc,
    /// The load generator's own record.
    Client,
    /// The application's own telemetry.
    App,
    /// An experiment.
    Experiment,
}

/// Which process, thread or host causes a finding, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// A thread's name.
    pub thread: Option<String>,
    /// Its stack, leaf first.
    pub stack: Vec<String>,
    /// A constant of time that recurs, in milliseconds.
    pub constant_ms: Option<f64>,
    /// The period at which it happens, in milliseconds.
    pub period_ms: Option<f64>,
}

/// What a metric would be if the cause were gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// `ENDPOINT.pNN`.
    pub metric: String,
    /// Lower end, in milliseconds.
    pub low_ms: f64,
    /// Upper end, in milliseconds.
    pub high_ms: f64,
}

/// A cause that was looked for and is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cleared {
    /// Its name in the catalogue.
    pub cause: String,
    /// Why it is ruled out, with the figure.
    pub text: String,
}

/// A cause that could not be looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blind {
    /// Its name in the catalogue.
    pub cause: String,
    /// What is missing.
    pub missing: String,
    /// What would give it; empty if nothing would.
    pub remedy: String,
}

/// What no cause explains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unexplained {
    /// The endpoint.
    pub endpoint: String,
    /// The pass; `null` in a run without passes.
    #[serde(default)]
    pub pass: Option<String>,
    /// Whether it is the slow requests' (tail) or every request's (floor).
    #[serde(rename = "where")]
    pub place: Place,
    /// The share of its excess, from 0 to 1.
    pub share: f64,
    /// The excess itself, in seconds over all slow requests.
    pub excess_s: f64,
    /// How many requests are slow, and of how many.
    pub slow: u64,
    /// Requests that the slow ones were taken from.
    pub of: u64,
    /// Where the fast class lies, in milliseconds.
    pub fast_ms: f64,
    /// Whether that is worth looking into: what is not explained of a tail adds enough to a request that it is felt, or as
    /// much as requests take anyway.
    #[serde(default)]
    pub material: bool,
    /// The parts of the unexplained share, largest first.
    pub split: Vec<Part>,
}

/// A part of what is not explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Why it is not explained.
    pub why: String,
    /// Its share of the excess.
    pub share: f64,
}
