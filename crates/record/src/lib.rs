//! Placeholder.

pub mod scenario;
