//! What passes a run had, and whether the cold one was cold.

use serde::{Deserialize, Serialize};

use super::{EndpointFigures, Finding, FrameAttribution, Unexplained};

/// A pass over the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassFigures {
    /// Its name.
    pub name: String,
    /// What was done before it, step by step; empty if nothing.
    pub reset: Vec<String>,
    /// Whether that emptied a cache; `null` for a pass that is not to be cold.
    pub proof: Option<ResetProof>,
    /// Whether the pass was cold; `null` if it was not to be, or if that is not known.
    pub cold: Option<bool>,
}

/// Whether a reset emptied a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetProof {
    /// One sentence with the figures.
    pub text: String,
    /// For each repeat, whether its pass was cold; `null` where that is not known.
    pub repeats: Vec<Option<bool>>,
    /// The endpoints that have keys, the one with the clearest answer first.
    pub endpoints: Vec<FirstTouchFigures>,
}

/// The first request for each key in a cold pass, against the same request later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstTouchFigures {
    /// The endpoint's name.
    pub endpoint: String,
    /// Keys whose first request was answered in both passes, over all repeats.
    pub keys: u64,
    /// Of these, those that took longer in the cold pass.
    pub slower: u64,
    /// Lower end of the 95 % interval of their share.
    pub share_low: f64,
    /// Upper end.
    pub share_high: f64,
    /// Median of cold / warm service time over first requests; `null` without any.
    pub ratio: Option<f64>,
    /// The same over later requests for the same keys: what makes the whole pass slower.
    pub later_ratio: Option<f64>,
    /// Whether the first requests show a cold cache; `null` if that is not known.
    pub cold: Option<bool>,
}

/// A class of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassFigures {
    /// Its name.
    pub name: String,
    /// Its users.
    pub users: u32,
    /// Requests of the measured windows that have a sample.
    pub requests: u64,
    /// Completed requests a second of measured time.
    pub rate_per_s: f64,
}

/// An endpoint as views name it: with its pass, where a run has passes.
fn labelled(endpoint: &str, pass: Option<&str>) -> String {
    match pass {
        Some(pass) => format!("{endpoint} ({pass})"),
        None => endpoint.to_owned(),
    }
}

impl EndpointFigures {
    /// The endpoint and its pass: `search (cold)`.
    pub fn label(&self) -> String {
        labelled(&self.name, self.pass.as_deref())
    }
}

impl Finding {
    /// The endpoint and its pass: `search (cold)`; `None` when it touches all.
    pub fn label(&self) -> Option<String> {
        Some(labelled(self.endpoint.as_ref()?, self.pass.as_deref()))
    }
}

impl FrameAttribution {
    /// The endpoint and its pass: `search (cold)`.
    pub fn label(&self) -> String {
        labelled(&self.endpoint, self.pass.as_deref())
    }
}

impl Unexplained {
    /// The endpoint and its pass: `search (cold)`.
    pub fn label(&self) -> String {
        labelled(&self.endpoint, self.pass.as_deref())
    }
}
