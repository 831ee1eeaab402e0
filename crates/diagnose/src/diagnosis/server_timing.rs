//! What the target says of its requests in `Server-Timing`.

use serde::{Deserialize, Serialize};

/// What the target says of one endpoint's requests. Metrics may lie within each other, so their
/// shares do not add up. A metric that a request does not have took no time in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointTimings {
    /// Completed requests in the measured windows.
    pub requests: u64,
    /// Of these, those whose header is kept.
    pub with_header: u64,
    /// Of those, the slow ones.
    pub slow: u64,
    /// Of so many requests the header of one is kept, drawn by their numbers.
    pub one_in: u32,
    /// Durations left out in the run, since their metrics are too many, or have too long a name.
    pub left_out: u64,
    /// The metrics; the one with the largest share of what slow requests take longer first.
    pub metrics: Vec<TimingFigures>,
}

/// What the target says of one of its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimingFigures {
    /// What the target calls it.
    pub name: String,
    /// Requests that have it.
    pub requests: u64,
    /// Its time in a slow request, in the mean, in milliseconds; `null` if none is slow.
    pub slow_ms: Option<f64>,
    /// Its time in another request, likewise.
    pub fast_ms: Option<f64>,
    /// Its share of the latency of slow requests, from 0 to 1; `null` if none is slow.
    pub slow_share: Option<f64>,
    /// Its share of the latency of the others.
    pub fast_share: Option<f64>,
    /// Its share of what slow requests take longer than the others, from 0 to 1; `null` if either
    /// are missing.
    pub excess_share: Option<f64>,
    /// Requests of which it is said to have taken longer than they lasted: counted as all of them.
    pub beyond: u64,
}
