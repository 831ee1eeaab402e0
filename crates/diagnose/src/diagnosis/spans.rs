//! What the target's own telemetry shows of requests.

use serde::{Deserialize, Serialize};

/// What the spans of one endpoint's requests show. Each instant of a request belongs to one span:
/// the innermost; of those side by side the one that ends last, since the others are not waited
/// for. Milliseconds are means a request, over the requests that have spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointSpans {
    /// Completed requests in the measured windows.
    pub requests: u64,
    /// Of these, those that have spans.
    pub with_spans: u64,
    /// Of the slow requests, those that have spans.
    pub slow: u64,
    /// The share of the time from first byte sent to last byte read that lies in spans, from 0 to
    /// 1; the rest is on the way, or waits unread.
    pub coverage: f64,
    /// Requests with more spans than are read: the first 256 of each.
    #[serde(default)]
    pub cut: u64,
    /// The share of the time from first byte sent to last byte read in which there may be spans that
    /// are not read, from 0 to 1: nothing is said of it.
    #[serde(default)]
    pub unseen: f64,
    /// Requests whose spans begin before they were sent: the target's clock is off, or coarse:
    /// some SDKs take whole milliseconds.
    pub early: u64,
    /// By how much, in milliseconds: the median of these; `null` if there is none.
    pub early_ms: Option<f64>,
    /// The time that spans take for themselves, without the spans inside of them; the largest
    /// share first.
    pub own: Vec<SpanFigures>,
    /// The time between spans; the largest share first.
    pub gaps: Vec<SpanGap>,
    /// Spans that follow each other many times in one request: a loop over what could be asked
    /// for at once.
    pub repeated: Vec<RepeatedSpans>,
}

/// The own time of all spans of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanFigures {
    /// The name.
    pub name: String,
    /// How many of them a request has, in the mean.
    pub per_request: f64,
    /// Their own time in requests that are not slow; `null` if none of those has spans.
    pub fast_ms: Option<f64>,
    /// Their own time in slow requests; `null` if none of those has spans.
    pub slow_ms: Option<f64>,
    /// Their share of what slow requests take longer than the others; of the whole latency where
    /// no request is slow.
    pub share: f64,
}

/// Time in which a span goes on and none of the spans inside of it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanGap {
    /// The span that goes on.
    pub inside: String,
    /// The span before the gap; empty if it is at the begin.
    pub after: String,
    /// The span after the gap; empty if it is at the end.
    pub before: String,
    /// Its time in requests that are not slow; `null` if none of those has spans.
    pub fast_ms: Option<f64>,
    /// Its time in slow requests; `null` if none of those has spans.
    pub slow_ms: Option<f64>,
    /// As [`SpanFigures::share`].
    pub share: f64,
    /// What the target's threads did in it, as far as that was traced; the largest share first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<GapState>,
}

/// What the thread that a request waited for did in a gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapState {
    /// In words, with the thread's name.
    pub what: String,
    /// The stack that it most often had, innermost function first; empty if none was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Its share of the gap's traced time, from 0 to 1.
    pub share: f64,
    /// Requests that it was seen in.
    #[serde(default)]
    pub requests: u64,
}

/// Spans of one name that follow each other in one span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatedSpans {
    /// Their name.
    pub name: String,
    /// The span that they are in; empty if in none.
    pub inside: String,
    /// How many there are in a request that has them, in the mean.
    pub per_request: f64,
    /// Requests that have them.
    pub requests: u64,
    /// The share of the time of all requests with spans that they take together.
    pub share: f64,
}
