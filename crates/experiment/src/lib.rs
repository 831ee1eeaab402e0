//! Experiments: a hypothesis written before anything is measured, a randomised design, and a
//! verdict that only the measured blocks decide.
//!
//! An experiment applies one intervention in some blocks of time ([`Arm::With`]) and not in the
//! others ([`Arm::Without`]), in random order under one unbroken load, and asks whether what was
//! predicted happened. This crate holds the plan and the judgement; applying an intervention,
//! driving load and storing the result are done elsewhere.
//!
//! Deliberately absent: looking at the data before the last block (a verdict with a missing block
//! is [`Verdict::Undecided`]), and any verdict from one block an arm.
#![warn(clippy::disallowed_methods)]

pub mod ab;
mod accounted;
mod again;
mod beside;
pub mod compare;
mod design;
mod estimate;
mod experiment;
mod gate;
pub mod history;
mod judge;
pub mod log;
mod power;
mod resolution;
mod same_keys;
pub mod sweep;
mod wording;

pub use accounted::accounted;
pub use again::pairs_wanted;
pub use beside::{Beside, gained_beside};
pub use design::{Arm, Design, FEWEST_PAIRS, GUARD_NS, WARMUP_NS};
pub use estimate::{Estimate, UnitOf};
pub use experiment::{
    BlockMeasurement, ERRORS, Effect, Experiment, FORMAT, Hypothesis, Intervention, Outcome,
    Summary, Verdict,
};
pub use gate::{Baseline, Words, judge_gates};
pub use judge::{ALPHA, FAILED_PER_BLOCK, REMAINS_MOST, judge};
pub use power::{
    LONGEST_BLOCK_NS, PERIODS_PER_BLOCK, SHORTEST_BLOCK_NS, SLOW_PER_BLOCK, TooRare, block_ns,
    pairs_to_see,
};
pub use same_keys::{KeyCount, SLOW_LEAST, other_keys};
