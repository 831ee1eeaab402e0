//! Comparisons and histories of runs that are made up, so that the truth is known.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "figures/comparing.rs"]
mod comparing;
#[path = "figures/histories.rs"]
mod histories;
#[path = "figures/made.rs"]
mod made;
#[path = "figures/newest.rs"]
mod newest;
#[path = "figures/recurrences.rs"]
mod recurrences;
#[path = "figures/steps.rs"]
mod steps;
