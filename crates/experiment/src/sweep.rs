//! Sweeps: one workload at many levels of load, and what its course over the levels says.
//!
//! A [`Grid`] names the levels, a [`Plan`] puts the windows in random order and chooses further
//! levels where the answer changes most. Each measured [`Window`] is a run of its own; those of a
//! level make a [`Level`], and all levels together an [`Analysis`]: the knee, the universal
//! scalability law, thresholds beyond which requests fail, and runs that fall into modes.
//!
//! Deliberately absent: averages over a ramp, fits through windows in which the client was the
//! limit, and percentiles without what was served of what was offered beside them.

mod analysis;
mod clusters;
mod cost;
mod fairness;
mod grid;
mod knee;
mod level;
mod little;
mod needed;
mod plan;
mod refine;
mod threshold;
mod usl;
mod window;

pub use analysis::{Analysis, Scalability, SplitLevel, analyse};
pub use clusters::{RunMode, modes_of_runs};
pub use cost::{Cost, cost};
pub use fairness::{Fairness, fairness};
pub use grid::{Dimension, Grid, GridError};
pub use knee::{Knee, knee};
pub use level::{Level, Range, levels};
pub use little::{Little, SLACK};
pub use needed::{Comparison, runs_needed};
pub use plan::{Cell, Plan};
pub use refine::{Refinement, Why, refine};
pub use threshold::{Hit, Threshold, ThresholdKind, threshold};
pub use usl::{Residual, Usl, fit, fit_robust};
pub use window::{Cpu, ErrorRate, Figure, FirstRequest, Told, Window};

use serde::{Deserialize, Serialize};

/// The value of [`Sweep::schema`].
pub const SCHEMA: &str = "slowpath.sweep/1";

/// A sweep: `sweep.json`. Written again after every window, so an interrupted one is complete up
/// to there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of slowpath that wrote it.
    pub version: String,
    /// Its ULID.
    pub id: String,
    /// The scenario's name.
    pub name: String,
    /// The target's URL.
    pub target: String,
    /// CPUs of the host.
    pub cpus: u32,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// What was planned.
    pub plan: Plan,
    /// Levels that were added where the answer changed most, in the order of their choice.
    pub refinements: Vec<Refinement>,
    /// Every window, in the order of measuring.
    pub windows: Vec<Window>,
    /// Windows that could not be measured, and why.
    pub troubles: Vec<String>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// What the windows say together.
    pub analysis: Analysis,
}
