//! Statistics of slowpath: pure, deterministic, and honest about what a run cannot say.
//!
//! Three rules hold everywhere in this module:
//!
//! * A figure that was not determined is an error value that says what was missing, never a
//!   number with a wide interval.
//! * Requests inside one stall are one observation: intervals are widened by the design effect
//!   of time batches ([`batches`], [`effective`]), and tests count [`episodes`].
//! * Nothing is drawn without a seed, so the same run judged twice gives the same report.
//!
//! Latencies are `u64` nanoseconds; figures of whole runs and shares are `f64`.

pub mod batches;
pub mod beta;
pub mod bootstrap;
pub mod change;
pub mod comb;
pub mod constants;
pub mod dip;
pub mod effective;
pub mod episodes;
pub mod explain;
pub mod family;
pub mod fdr;
pub mod first_touch;
pub mod fisher;
pub mod interpolated;
pub mod kneedle;
pub mod log_ratio;
pub mod lomb_scargle;
pub mod lowland;
pub mod median;
pub mod moderated;
pub mod modes;
pub mod novelty;
pub mod order;
pub mod paired;
pub mod period;
pub mod permutation;
pub mod power;
pub mod quantile;
pub mod ranks;
pub mod recurrence;
pub mod repeats;
pub mod run_groups;
pub mod selection;
pub mod settle;
pub mod shape;
pub mod spread;
pub mod stalls;
pub mod step;
pub mod student;
pub mod tightness;
pub mod trend;
pub mod tukey;
pub mod wall;
pub mod welch;

mod random;
mod trigamma;
