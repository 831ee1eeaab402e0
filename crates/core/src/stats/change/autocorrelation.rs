//! Values that hang together: does a change stand out from a series that wanders by itself?

use super::sup_t::{Split, largest_t, split};
use crate::stats::median::median;
use crate::stats::random::Draw;

/// Correlation of neighbours above which independence is not believed: that of twelve independent
/// values exceeds it once in ten series.
const WANDERS_ABOVE: f64 = 0.3;
/// Fewest values whose correlation is estimated: of fewer, its scatter is ±0.3.
const CORRELATED_FEWEST: usize = 12;
/// Simulated series: a chance of 0.01 is then known to a third of itself.
const SIMULATED: usize = 999;
/// No stationary series is closer to a random walk than we can distinguish.
const CORRELATION_MOST: f64 = 0.95;
/// Two levels are fitted before the correlation is taken.
const LEVELS: f64 = 2.0;
/// Values that are drawn and thrown away until a simulated series has forgotten its begin.
const FORGET: usize = 30;

/// Whether a correlation of `n` neighbours around their level or line is not believed to be none.
pub(super) fn wanders(n: usize, correlation: f64) -> bool {
    n >= CORRELATED_FEWEST && correlation > WANDERS_ABOVE
}

/// Correlation of the neighbours in a series around its mean; 0 if it does not scatter.
pub(super) fn own(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviations: Vec<f64> = values.iter().map(|v| v - mean).collect();
    correlation(&deviations)
}

fn correlation(deviations: &[f64]) -> f64 {
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

/// Correlation of neighbours around the two levels of a split, or what differences to neighbours
/// and to their neighbours say if that is less: further changes of level look like correlation in
/// the one, and hardly in the other, `(med |x_(i+2) - x_i| / med |x_(i+1) - x_i|)^2 - 1` (Chakar et
/// al. 2017).
pub(super) fn around(values: &[f64], at: usize) -> f64 {
    let apart = |lag: usize| {
        let mut sizes: Vec<f64> = (lag..values.len())
            .map(|i| (values[i] - values[i - lag]).abs())
            .collect();
        median(&mut sizes).unwrap_or(0.0)
    };
    let by_differences = (apart(2) / apart(1).max(f64::MIN_POSITIVE)).powi(2) - 1.0;
    let mut deviations = Vec::with_capacity(values.len());
    for side in [&values[..at], &values[at..]] {
        let mean = side.iter().sum::<f64>() / side.len() as f64;
        deviations.extend(side.iter().map(|v| v - mean));
    }
    correlation(&deviations).min(by_differences)
}

/// Chance of a largest t of at least `t` in a stationary series of `n` normal values of one level
/// whose neighbours show that correlation around two levels (first-order autoregression).
///
/// The correlation is first freed of its bias, `-(1 + 3 rho)/n` for each level (Kendall 1954).
pub(super) fn chance(n: usize, t: f64, correlation: f64) -> f64 {
    let share = LEVELS / n as f64;
    let freed = (correlation + share) / (1.0 - 3.0 * share).max(share);
    let rho = freed.clamp(0.0, CORRELATION_MOST);
    let fresh = (1.0 - rho * rho).sqrt();
    // Always the same stream: a history judged twice gives the same answer.
    let mut draw = Draw::new(n as u64);
    let mut values = vec![0.0; n];
    let mut larger = 0;
    for _ in 0..SIMULATED {
        let mut last = 0.0;
        for _ in 0..FORGET {
            last = rho * last + fresh * draw.normal();
        }
        for value in &mut values {
            last = rho * last + fresh * draw.normal();
            *value = last;
        }
        larger += usize::from(largest_t(&values).is_some_and(|best| best.2 >= t));
    }
    (larger + 1) as f64 / (SIMULATED + 1) as f64
}

/// The best split of a series whose neighbours may be alike beyond it, with its chance in a series
/// that wanders as much. `None` if they are so much alike that joining them is the better answer,
/// unless `is_last`.
pub(in crate::stats) fn guarded(values: &[f64], is_last: bool) -> Option<Split> {
    let mut best = split(values)?;
    let correlation = around(values, best.at);
    if wanders(values.len(), correlation) && !is_last {
        return None;
    }
    if correlation > 0.0 {
        best.p = best.p.max(chance(values.len(), best.t, correlation));
    }
    Some(best)
}
