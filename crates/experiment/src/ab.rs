//! Two settings of a system, measured in pairs of blocks, and what may be said of their
//! difference.
//!
//! Blocks of A and B follow each other in an order that no drift favours ([`Plan::order`]); what
//! disturbs the host disturbs both of a pair and falls out of their ratio. The tests are fixed
//! before the first pair: every endpoint by every metric. Nothing is judged before the last pair.
//!
//! A difference is claimed when three things hold: its p, adjusted for the family (Benjamini &
//! Hochberg 1995), is at most 5 %; it is at least 5 %, and twice what A against itself has shown
//! on this host; and nearly all pairs agree on its direction. That there is none is claimed only
//! when the interval says so. Everything else is undetermined, with what it would take.

mod analysis;
mod block;
mod figures;
mod noise;
mod plan;

pub use analysis::{Analysis, Test, Verdict, analyse};
pub use block::{Block, BlockFigure, Threshold, thresholds};
pub use noise::{MetricNoise, NoiseBook, NoiseEntry};
pub use plan::{
    Arm, Compared, EFFECT, METRICS, Metric, PAIRS_MOST, PILOT_PAIRS, Plan, Sees, sees_words,
};

use serde::{Deserialize, Serialize};

/// The value of [`Ab::schema`].
pub const SCHEMA: &str = "slowpath.ab/1";

/// A comparison: `ab.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ab {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of slowpath that wrote it.
    pub version: String,
    /// Its ULID.
    pub id: String,
    /// The scenario's name.
    pub name: String,
    /// The machine's name.
    pub host: String,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// What was fixed before the first pair.
    pub plan: Plan,
    /// From when on a request counts as slow, endpoint by endpoint: fixed by the block before the
    /// first pair, which takes no part in any test.
    pub thresholds: Vec<Threshold>,
    /// What was measured, in order.
    pub blocks: Vec<Block>,
    /// Blocks that could not be measured, and why.
    pub troubles: Vec<String>,
    /// Whether it was interrupted before its last pair: then nothing is claimed.
    pub interrupted: bool,
    /// What follows.
    pub analysis: Analysis,
}
