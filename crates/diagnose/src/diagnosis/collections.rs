//! What pauses of garbage collection have of slow requests.

use serde::{Deserialize, Serialize};

/// The pauses in the log of the target's runtime, compared with the slow requests of an
/// endpoint. A lead: a request that lay in a pause need not have waited for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointPauses {
    /// Whose log.
    pub log: String,
    /// Pauses in the measured windows.
    pub pauses: u64,
    /// How long they took: the median, in milliseconds; `null` without any.
    pub median_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
    /// By how much the pauses may lie elsewhere, in milliseconds: the clock of the log begins with
    /// its process.
    pub clock_error_ms: f64,
    /// Slow requests.
    pub slow: u64,
    /// Of these, those in whose time a pause lies.
    pub met: u64,
    /// The share of what slow requests take longer than the fast class that lies in pauses, from 0
    /// to 1; `null` if none is slow.
    pub excess_share: Option<f64>,
    /// The same where the pauses are shifted against the requests: what chance would give.
    pub chance_share: Option<f64>,
    /// Whether the log is longer than what was looked through.
    pub log_cut: bool,
}
