//! From a run record to verdicts.
#![warn(clippy::disallowed_methods)]

pub mod diagnosis;
