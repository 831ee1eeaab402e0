//! One change of level at most: the largest t over all splits, and its chance.

use super::critical::{self, LEVELS};
use crate::stats::student::two_sided_p;

/// Fewest values on either side of a split: a side of one value has no scatter of its own.
pub const SIDE_FEWEST: usize = 2;
/// Fewest values that can be split in more than one place.
pub const SPLIT_FEWEST: usize = 2 * SIDE_FEWEST + 1;
/// What of the scatter is left when all of it lies between the sides, relative to the whole: sums
/// of squares are not exact to more.
const ROUNDING: f64 = 1e-14;

/// A place where a series falls into two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Mean after it less mean before it.
    pub difference: f64,
    /// Size of the difference in standard errors.
    pub t: f64,
    /// Chance of a `t` as large in the best of all places, if nothing changes.
    pub p: f64,
}

/// The best split of a series into two levels (Worsley 1979), with at least [`SIDE_FEWEST`] values
/// a side: `T = max_k |mean_L - mean_R| / (s_k sqrt(1/k + 1/(n-k)))`, `s_k` pooled with `n - 2`
/// degrees of freedom. `None` for fewer than [`SPLIT_FEWEST`] values.
///
/// The chance counts that the place was chosen; see [`chance`].
pub fn split(values: &[f64]) -> Option<Split> {
    let (at, difference, t) = largest_t(values)?;
    let p = chance(values.len(), t);
    Some(Split {
        at,
        difference,
        t,
        p,
    })
}

/// The place, the difference and the size of the largest t; `None` for fewer than
/// [`SPLIT_FEWEST`] values. One pass.
pub fn largest_t(values: &[f64]) -> Option<(usize, f64, f64)> {
    if values.len() < SPLIT_FEWEST {
        return None;
    }
    let sums = Sums::of(values);
    let mut left = 0.0;
    let mut best = (0, 0.0, -1.0);
    for (before, value) in values
        .iter()
        .enumerate()
        .take(values.len() - SIDE_FEWEST + 1)
    {
        if before >= SIDE_FEWEST {
            let (difference, t) = sums.t(before, left);
            if t > best.2 {
                best = (before, difference, t);
            }
        }
        left += value - sums.mean;
    }
    Some(best)
}

/// The split of a series before the value at `at`, which was found as the best place; both sides
/// must have a value and there must be three at least.
pub(super) fn split_at(values: &[f64], at: usize) -> Split {
    let sums = Sums::of(values);
    let left = values[..at].iter().map(|v| v - sums.mean).sum();
    let (difference, t) = sums.t(at, left);
    Split {
        at,
        difference,
        t,
        p: chance(values.len(), t),
    }
}

/// Chance of a largest t of at least `t` in a series of `n` independent normal values of one
/// level, within 5 % of itself down to 0.001.
///
/// Read from simulated quantiles, between their lengths and levels by what a single t of that size
/// is worth: the number of independent places, `p / P(|t_{n-2}| > c)`, moves slowly with both.
/// Beyond them the bound of Bonferroni over all `n - 3` places holds.
pub fn chance(n: usize, t: f64) -> f64 {
    let alone = two_sided_p(t, n as f64 - 2.0);
    let places = n.saturating_sub(2 * SIDE_FEWEST - 1).max(1) as f64;
    let bound = (alone * places).min(1.0);
    let Some(tails) = critical::tails(n) else {
        return bound;
    };
    // The chance of a single t at each level, and that of the largest, both as logarithms.
    let mut points = [(0.0, 0.0); LEVELS.len() + 1];
    for ((point, level), tail) in points[1..].iter_mut().zip(LEVELS).zip(tails) {
        *point = (tail, level.ln());
    }
    let x = alone.max(f64::MIN_POSITIVE).ln();
    let last = points.len() - 2;
    let from = points[1..=last].iter().take_while(|p| p.0 > x).count();
    let ((x0, y0), (x1, y1)) = (points[from], points[from + 1]);
    (y0 + (x - x0) * (y1 - y0) / (x1 - x0)).exp().min(bound)
}

/// What all splits of a series have in common.
struct Sums {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self { n, mean, squares }
    }

    /// The difference and its t of a split with `before` values whose deviations sum to `left`.
    fn t(&self, before: usize, left: f64) -> (f64, f64) {
        let k = before as f64;
        let weight = 1.0 / k + 1.0 / (self.n - k);
        let difference = -left * weight;
        if self.squares <= 0.0 {
            return (0.0, 0.0);
        }
        let within = self.squares - difference.powi(2) / weight;
        let variance = within.max(self.squares * ROUNDING) / (self.n - 2.0);
        (difference, difference.abs() / (variance * weight).sqrt())
    }
}
