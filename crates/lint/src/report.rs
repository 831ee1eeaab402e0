//! What a scenario was found to imply.

use serde::{Deserialize, Serialize};

use crate::simulate::Simulation;

/// The name and version of the JSON form.
pub const SCHEMA: &str = "slowpath.lint/1";

/// The judgement of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lint {
    /// [`SCHEMA`] of its writer.
    pub schema: String,
    /// The scenario's name.
    pub scenario: String,
    /// What the figures rest on.
    pub assumptions: Vec<String>,
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
    /// One row an endpoint, in the scenario's order.
    pub endpoints: Vec<EndpointRow>,
    /// What was predicted, where that was asked for.
    pub simulation: Option<Simulation>,
}

impl Lint {
    /// Whether something was found that makes the scenario impossible to carry out.
    pub fn is_impossible(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The scenario cannot be carried out as written.
    Error,
    /// It can, and its figures will mislead.
    Warning,
    /// Worth knowing when the figures are read.
    Note,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the check.
    pub check: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub place: Place,
    /// What was found, with its numbers.
    pub text: String,
    /// What to do about it.
    pub remedy: String,
    /// The share of the endpoint's (or of all) requests that it touches, where that can be said.
    pub share: Option<f64>,
}

/// What a finding is about; what does not apply is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The endpoint.
    pub endpoint: Option<String>,
    /// The pool.
    pub pool: Option<String>,
    /// The timer.
    pub timer: Option<String>,
    /// The line of the scenario file, from 1.
    pub line: Option<usize>,
}

/// What the workload asks of one endpoint in one measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointRow {
    /// Its name.
    pub endpoint: String,
    /// Requests expected.
    pub requests: f64,
    /// Requests a second while all users are there.
    pub rate_per_s: f64,
    /// Requests under way at any instant, by Little's law.
    pub in_flight: f64,
    /// Distinct keys; `None` where every request is its own.
    pub keys: Option<f64>,
    /// Keys touched for the first time in the window.
    pub first_touches: Option<Figure>,
    /// The percentiles that so many requests can carry.
    pub supported: Supported,
    /// If all users asked at the same instant: an upper bound that closed loops do not reach.
    pub at_once: Option<Collisions>,
    /// Among those that are under way at the same time.
    pub under_way: Option<Collisions>,
}

/// An expected figure and its standard deviation from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The expectation.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
}

/// Requests that ask for the same key at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collisions {
    /// How many requests are together; a mean where it varies.
    pub requests: f64,
    /// The share of them whose key another one asks for too.
    pub share: Figure,
    /// Keys that two or more of them ask for.
    pub shared_keys: Figure,
    /// Computations beyond one a key, if each of them computes.
    pub redundant: Figure,
    /// The same, counting the keys alone that need the backend.
    pub redundant_expensive: Option<Figure>,
}

/// What a number of requests can say about a tail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Supported {
    /// The highest percentile with ten requests above it in one window; `None`: not even p50.
    pub steady: Option<String>,
    /// The highest reported percentile whose interval has an upper end, over all repeats.
    pub determined: Option<String>,
    /// The lowest reported percentile that is the maximum of its window.
    pub is_maximum: Option<String>,
}
