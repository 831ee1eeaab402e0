//! The row with the worst tail, run after run.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::RunFigures;
use slowpath_core::stats::recurrence::{Says, worst};

use super::tails::is_whole;
use crate::estimate::{of_run, row};

/// A tail is worth the name if it is this many times the median; of rows without one none is the
/// worst.
const TAIL_LEAST: f64 = 2.0;

/// The row with the worst tail (p99 over p50), run after run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstRow {
    /// The row that was worst most often.
    pub subject: String,
    /// In how many runs.
    pub times: u64,
    /// Of how many that have a tail in some row.
    pub runs: u64,
    /// Chance that some row is worst as often if all are alike.
    pub chance: f64,
    /// Chance that the tails of all rows rise and fall together as much from run to run if the
    /// rows are independent (Friedman); `null` if too few are known.
    pub together: Option<f64>,
    /// What this says.
    pub says: Says,
}

/// Which subject has the worst tail in each run.
pub(super) fn worst_row(runs: &[&RunFigures]) -> Option<WorstRow> {
    let mut all: Vec<&String> = Vec::new();
    for row in runs.iter().flat_map(|run| &run.rows) {
        let is_row = row.metric == "p99" && !is_whole(&row.subject);
        if is_row && !all.contains(&&row.subject) {
            all.push(&row.subject);
        }
    }
    let tail = |run: &RunFigures, subject: &str| {
        let of = |metric| row(run, subject, metric).and_then(of_run);
        Some(of("p99")? / of("p50")?).filter(|ratio| ratio.is_finite())
    };
    let figures: Vec<Vec<Option<f64>>> = runs
        .iter()
        .map(|run| all.iter().map(|subject| tail(run, subject)).collect())
        .filter(|tails: &Vec<Option<f64>>| tails.iter().flatten().any(|t| *t >= TAIL_LEAST))
        .collect();
    let found = worst(&figures).filter(|found| found.runs > 0)?;
    Some(WorstRow {
        subject: (*all.get(found.row)?).clone(),
        times: found.times as u64,
        runs: found.runs as u64,
        chance: found.chance,
        together: found.together,
        says: found.says,
    })
}
