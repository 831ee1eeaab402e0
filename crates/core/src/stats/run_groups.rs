//! Do the runs themselves fall into two groups? Some servers are fast or slow from their start on:
//! where memory came to lie, which worker got which connections, what was compiled first.

use serde::{Deserialize, Serialize};

/// Fewest runs with groups: of five, two and three may lie apart by accident at any distance that
/// is met in practice.
pub const RUNS_FEWEST: usize = 6;
/// Fewest runs of a group, and the least share of all: one run, or a few of many, are outliers.
const GROUP_FEWEST: usize = 2;
const GROUP_LEAST: f64 = 0.25;
/// Groups that differ by less than 5 % do not matter.
const LEAST: f64 = 0.048_790_164_169_432; // ln 1.05
/// What of the scatter is left when all of it lies between the groups, relative to the gap.
const ROUNDING: f64 = 1e-9;

/// The gap, in pooled standard deviations of the groups, that the widest gap of so many values
/// exceeds in 1 % of series of exponential or of uniform values, whichever is more (200,000 series of
/// each, `cargo run --release -p slowpath-core --example critical_values`). Normal, lognormal and
/// t(3) values pass them less often.
const CRITICAL: [(usize, f64); 9] = [
    (6, 10.56),
    (7, 8.90),
    (8, 7.81),
    (9, 5.66),
    (10, 5.15),
    (12, 4.42),
    (15, 3.32),
    (20, 2.52),
    (30, 1.70),
];

/// Two groups of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunGroups {
    /// Geometric mean of the lower group.
    pub low: f64,
    /// Geometric mean of the upper group.
    pub high: f64,
    /// For each run, in the order given, whether it is of the upper group.
    pub is_high: Vec<bool>,
    /// The gap between the groups, in their pooled standard deviation.
    pub gap: f64,
    /// How often neighbouring runs are of different groups. Once is a change at that run, and no
    /// mode of runs.
    pub switches: usize,
}

impl RunGroups {
    /// Whether the groups come one after the other: something changed between them.
    pub fn is_change(&self) -> bool {
        self.switches == 1
    }
}

/// The two groups that positive figures of at least [`RUNS_FEWEST`] runs, in order of time, fall
/// into; `None` if they do not beyond a chance of 1 %, or if a figure is not positive.
pub fn run_groups(figures: &[f64]) -> Option<RunGroups> {
    if figures.len() < RUNS_FEWEST || figures.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let mut logs: Vec<f64> = figures.iter().map(|v| v.ln()).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let (at, gap) = widest_gap(&logs)?;
    let mean = |side: &[f64]| (side.iter().sum::<f64>() / side.len() as f64).exp();
    let (low, high) = (mean(&logs[..at]), mean(&logs[at..]));
    let &(_, critical) = CRITICAL.iter().rev().find(|row| row.0 <= figures.len())?;
    if gap < critical || (high / low).ln() < LEAST {
        return None;
    }
    let is_high: Vec<bool> = figures.iter().map(|v| v.ln() >= logs[at]).collect();
    let switches = is_high.windows(2).filter(|pair| pair[0] != pair[1]).count();
    Some(RunGroups {
        low,
        high,
        is_high,
        gap,
        switches,
    })
}

/// The place in ascending values, and the size in pooled standard deviations of the two sides, of
/// the widest gap that leaves a group on either side; `None` of fewer than two groups or of equal
/// values.
pub fn widest_gap(ascending: &[f64]) -> Option<(usize, f64)> {
    let n = ascending.len();
    let least = GROUP_FEWEST.max((GROUP_LEAST * n as f64).ceil() as usize);
    let squares = |side: &[f64]| {
        let mean = side.iter().sum::<f64>() / side.len() as f64;
        side.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    (least..=n.checked_sub(least)?)
        .filter_map(|at| {
            let gap = ascending[at] - ascending[at - 1];
            let within = squares(&ascending[..at]) + squares(&ascending[at..]);
            let sd = (within / (n as f64 - 2.0)).sqrt();
            (gap > 0.0).then(|| (at, gap / sd.max(gap * ROUNDING)))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
