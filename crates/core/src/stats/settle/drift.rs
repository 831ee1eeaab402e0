//! Does a series that ought to be steady go on moving?

use super::median;
use crate::stats::change::sup_t;
use crate::stats::trend;

/// Chance of a trend by Mann & Kendall below which a drift counts. Windows hang together, which
/// makes the test too ready, so the drift must also exceed the tolerance.
const TREND_P: f64 = 0.005;
/// Windows of a block for the search of a step: long enough that most stalls are within one.
const BLOCK: usize = 5;
/// Chance of a step between blocks by accident below which it counts.
const STEP_P: f64 = 0.01;
/// A step within the last half that is smaller than 10 % does not change what is concluded.
const STEP_LEAST: f64 = 0.095_310_179_804_325; // ln 1.1

/// The gain from window to window.
pub(super) fn slope(logs: &[f64]) -> f64 {
    let points = logs.iter().enumerate().map(|(at, &v)| (at as f64, v));
    trend::slope(points).unwrap_or(0.0)
}

/// Whether logarithms of a figure with that slope go on moving by more than a tolerance.
pub(super) fn moves(logs: &[f64], slope: f64, tolerance: f64) -> bool {
    let gain = slope * (logs.len() as f64 - 1.0);
    (gain.abs() > tolerance && trend::mann_kendall(logs) < TREND_P) || steps(logs)
}

/// A step between blocks: the best split is beyond chance, and the step is large.
fn steps(logs: &[f64]) -> bool {
    let blocks: Vec<f64> = logs.chunks_exact(BLOCK).map(median).collect();
    sup_t::split(&blocks).is_some_and(|best| best.p < STEP_P && best.difference.abs() > STEP_LEAST)
}
