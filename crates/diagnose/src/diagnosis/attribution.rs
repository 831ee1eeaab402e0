//! Where the time of slow requests went.

use serde::{Deserialize, Serialize};
use slowpath_attribution::{Basis, Holder, Phase};

use super::Place;

/// Where the excess of an endpoint's slow requests went, or the time of all its requests: lines that
/// add to 1, whether or not a cause is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameAttribution {
    /// The endpoint.
    pub endpoint: String,
    /// The pass; `null` in a run without passes.
    #[serde(default)]
    pub pass: Option<String>,
    /// Slow requests against fast ones (tail), or every request (floor).
    #[serde(rename = "where")]
    pub place: Place,
    /// Requests that it is about.
    pub requests: u64,
    /// Their excess, in seconds.
    pub excess_s: f64,
    /// Largest first; the shares add to 1.
    pub lines: Vec<AttributionLine>,
}

/// A part of the excess.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttributionLine {
    /// Its share of the excess, from 0 to 1.
    pub share: f64,
    /// What requests waited for: `on-cpu`, `runnable`, `lock`, `interpreter`, `queued`, `reply`, `sleep`,
    /// `disk`, `memory`, `send-blocked`, `paused`, `retransmit`, `delayed-ack`, `handshake`,
    /// `client-late`, `unknown`, or `other` for parts too small to be listed.
    pub state: String,
    /// Where most of it lies in the request.
    pub phase: Phase,
    /// Who had what was waited for.
    pub holder: Holder,
    /// What the holder was doing, as a state.
    pub activity: String,
    /// How it is known.
    pub basis: Basis,
    /// In plain words.
    pub text: String,
    /// Who it was, as far as it is known.
    pub culprit: LineCulprit,
}

/// Who it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCulprit {
    /// The executable of the process; `null` if it is not known.
    pub process: Option<String>,
    /// The thread, or the threads of a pool with `N` for digits.
    pub thread: Option<String>,
    /// The other end of the connection that it waits at.
    pub peer: Option<String>,
    /// Innermost function first.
    pub stack: Vec<String>,
}
