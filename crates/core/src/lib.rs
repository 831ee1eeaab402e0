//! The nouns of slowpath, and the arithmetic on them.
//!
//! This crate is pure: it does no I/O, reads no clock, starts no thread and draws no unseeded
//! randomness. Effects live in `load` and `observe`; what crosses from there to the judgement is
//! the [`record::RunRecord`] alone.
#![warn(clippy::disallowed_methods)]

pub mod bench;
pub mod catalogue;
pub mod facts;
pub mod figures;
pub mod gates;
pub mod gc_log;
pub mod health;
pub mod investigation;
pub mod logs;
pub mod model;
pub mod nanos;
pub mod plan;
pub mod profile_pass;
pub mod profiles;
pub mod record;
pub mod sample;
pub mod samples;
pub mod scenario;
pub mod server_timing;
pub mod signal;
pub mod spans;
pub mod spread;
pub mod stats;
pub mod timeline;
pub mod trace;
pub mod unanswered;

pub use nanos::Nanos;
