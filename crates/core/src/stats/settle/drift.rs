//! Does a series that ought to be steady go on moving?

use statrs::distribution::{ContinuousCDF, Normal};

use super::{median, median_of};

/// Chance of a trend by Mann & Kendall below which a drift counts. Windows hang together, which
/// makes the test too ready, so the drift must also exceed the tolerance.
const TREND_P: f64 = 0.005;
/// Windows of a block for the search of a step: long enough that most stalls are within one.
const BLOCK: usize = 5;
/// A step within the last half that is smaller than 10 % does not change what is concluded.
const STEP_LEAST: f64 = 0.095_310_179_804_325; // ln 1.1
/// Fewest blocks on each side of a step.
const SIDE_FEWEST: usize = 2;

/// Critical values of the largest t over all splits (Worsley 1979), 1 %, normal noise, at least
/// two values a side: from 20,000 simulated series for each number of values.
const SUP_T: [(usize, f64); 7] = [
    (5, 7.42),
    (6, 6.13),
    (7, 5.59),
    (8, 5.26),
    (9, 4.92),
    (10, 4.64),
    (12, 4.53),
];

/// The gain from window to window: the median of all pairwise slopes (Theil 1950, Sen 1968).
pub(super) fn slope(logs: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(logs.len() * logs.len() / 2);
    for (i, a) in logs.iter().enumerate() {
        let later = logs.iter().enumerate().skip(i + 1);
        slopes.extend(later.map(|(j, b)| (b - a) / (j - i) as f64));
    }
    median_of(&mut slopes)
}

/// Whether logarithms of a figure with that slope go on moving by more than a tolerance.
pub(super) fn moves(logs: &[f64], slope: f64, tolerance: f64) -> bool {
    let gain = slope * (logs.len() as f64 - 1.0);
    (gain.abs() > tolerance && trend_p(logs) < TREND_P) || steps(logs)
}

/// Chance of a rank correlation with time at least as strong (Mann 1945, Kendall 1975).
fn trend_p(logs: &[f64]) -> f64 {
    let n = logs.len() as f64;
    let mut score = 0.0;
    for (i, a) in logs.iter().enumerate() {
        for b in &logs[i + 1..] {
            score += f64::from(u8::from(b > a)) - f64::from(u8::from(b < a));
        }
    }
    let sd = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    // One less for continuity.
    let z = (f64::abs(score) - 1.0).max(0.0) / sd;
    let normal = Normal::new(0.0, 1.0).expect("the standard normal exists");
    2.0 * normal.sf(z)
}

/// A step between blocks: the largest t over all splits is beyond chance, and the step is large.
fn steps(logs: &[f64]) -> bool {
    let blocks: Vec<f64> = logs.chunks_exact(BLOCK).map(median).collect();
    let n = blocks.len();
    let Some(&(_, critical)) = SUP_T.iter().rev().find(|(count, _)| *count <= n) else {
        return false;
    };
    (SIDE_FEWEST..=n - SIDE_FEWEST).any(|k| {
        let (left, right) = blocks.split_at(k);
        let (a, b) = (mean(left), mean(right));
        let squares = |side: &[f64], m: f64| side.iter().map(|v| (v - m).powi(2)).sum::<f64>();
        let variance = (squares(left, a) + squares(right, b)) / (n as f64 - 2.0);
        let error = (variance * (1.0 / k as f64 + 1.0 / (n - k) as f64)).sqrt();
        let step = (a - b).abs();
        step > STEP_LEAST && step > critical * error
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
