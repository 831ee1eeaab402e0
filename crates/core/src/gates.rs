//! What became of gates: a noun of reports. What a gate says is [`crate::scenario::Gate`].

use serde::{Deserialize, Serialize};

/// What is said of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GateAnswer {
    /// The whole interval of what was measured agrees with it.
    Holds,
    /// The whole interval contradicts it.
    Fails,
    /// The measurement says neither.
    CannotTell,
}

impl GateAnswer {
    /// The words used in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// A gate, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateOutcome {
    /// The gate as written.
    pub that: String,
    /// The line on which it stands, from 1.
    pub line: usize,
    /// Whether it holds.
    pub answer: GateAnswer,
    /// What was measured: nanoseconds, requests a second, a share, bytes, a number, or a ratio;
    /// of a comparison of measures, the left side over the right. `null` if it was not determined.
    pub value: Option<f64>,
    /// Lower end of its interval; `null` for what has none.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// One sentence with the figures, and what they rest on.
    pub text: String,
    /// What it would take to decide; empty if it is decided.
    #[serde(default)]
    pub takes: String,
}

/// The value of [`GateReport::schema`].
pub const GATES_SCHEMA: &str = "slowpath.gates/1";

/// What `slowpath gate --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateReport {
    /// Always [`GATES_SCHEMA`].
    pub schema: String,
    /// The run's id.
    pub run: String,
    /// What was measured: the scenario or the benchmark.
    pub name: String,
    /// The id of what it was compared with; `null` without a baseline.
    pub baseline: Option<String>,
    /// The gates, in the order in which they are written.
    pub gates: Vec<GateOutcome>,
}
