//! From a run record to a diagnosis: pure, deterministic, and always with what is not explained.
//!
//! [`judge`] is the way in. It cuts the record into a [`case::Case`], asks every detector in
//! [`detectors::REGISTRY`] and settles their claims in the [`ledger`].
#![warn(clippy::disallowed_methods)]

mod accepting;
mod acquit;
mod asks;
mod bounds;
mod by_pass;
mod by_repeat;
pub mod case;
mod classes;
mod collections;
mod computing;
mod connections;
mod constant;
pub mod detectors;
pub mod diagnosis;
mod errno;
mod expiry;
mod failures;
mod figures;
mod fillings;
mod firsts;
pub mod frame;
mod gate_figures;
mod handshakes;
mod hazard;
pub mod health;
mod host_cpu;
mod imported;
pub mod instrument;
mod judge;
pub mod ledger;
mod lives;
mod logs;
mod modes;
mod over_repeats;
mod overlap;
mod passes;
mod precision;
mod predict;
mod profiles;
mod queueing;
mod recurring;
mod reuse;
mod room;
mod run_figures;
mod scatter;
mod served;
mod server_timing;
mod serving;
mod settling;
mod shape;
mod sleepers;
pub mod slow;
mod spans;
mod stalled;
mod streams;
mod summary;
mod supply;
mod telemetry;
mod throttling;
mod ticks;
mod touches;
pub mod trace;
mod trial;
mod validity;
pub mod verdict;

pub use asks::{Asks, asks};
pub use by_pass::of_pass;
pub use gate_figures::gate_figures;
pub use judge::{judge, judge_by};
pub use logs::{attach_logs, wanted_logs};
pub use run_figures::run_figures;
pub use serving::Serving;
