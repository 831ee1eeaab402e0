//! Sweeps as a whole: windows from records, refinement, and the analysis of simulated servers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(
    clippy::float_cmp,
    reason = "levels and counts are reported as they were given"
)]

#[path = "sweep/analysis.rs"]
mod analysis;
#[path = "sweep/claims.rs"]
mod claims;
#[path = "sweep/simulated.rs"]
mod simulated;
#[path = "sweep/window.rs"]
mod window;
