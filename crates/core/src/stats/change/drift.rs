//! Slow movements: a line against levels.

use super::{Course, Limits, RELEASES_FEWEST, autocorrelation, squares, sup_t};
use crate::stats::median::median;
use crate::stats::trend::{Trend, trend};

/// A history that ends in a slow movement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drift {
    /// Index of its first value.
    from: usize,
    /// How many changes of level come before it, the one it begins at included.
    pub(super) after_changes: usize,
    /// Where the line begins.
    pub(super) begins_at: f64,
    line: Trend,
    /// Values that it is about.
    n: usize,
    /// Correlation of neighbours around the line.
    correlation: f64,
}

impl Drift {
    /// The course of a history that ends so.
    pub(super) fn course(&self) -> Course {
        if self.wanders() {
            return Course::Wandering {
                correlation: self.correlation,
            };
        }
        Course::Drifting {
            from: self.from,
            ratio: self.line.gain.exp(),
            p: self.line.p,
        }
    }

    fn wanders(&self) -> bool {
        autocorrelation::wanders(self.n, self.correlation)
    }
}

/// The slow movement in which a series of logarithms ends, if a line from its beginning, or from
/// one of the changes at `places`, describes what follows better than levels do, by the information
/// criterion of Schwarz (1978): a line has two parameters, each change a level and a place.
///
/// A drift that began after a step is seen in the whole by no test: the step is in its way.
pub(super) fn drift(logs: &[f64], places: &[usize], limits: &Limits) -> Option<Drift> {
    let mut best: Option<(f64, Drift)> = None;
    for after_changes in 0..=places.len() {
        let from = after_changes.checked_sub(1).map_or(0, |last| places[last]);
        if logs.len() - from < RELEASES_FEWEST {
            break;
        }
        let Some((left, found)) = beyond_levels(logs, places, after_changes, from, limits) else {
            continue;
        };
        // Correlated noise after a step has no line: the step is what is known.
        if after_changes > 0 && found.wanders() {
            continue;
        }
        let before = levels(&logs[..from], &places[..after_changes.saturating_sub(1)]);
        let cost = cost(logs.len(), before + left, 2 * after_changes + 2);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, found));
        }
    }
    best.map(|(_, found)| found)
}

/// The line from `from` on and the squares that it leaves, if there is a trend that is beyond
/// chance and large, and levels describe it worse.
fn beyond_levels(
    logs: &[f64],
    places: &[usize],
    after_changes: usize,
    from: usize,
    limits: &Limits,
) -> Option<(f64, Drift)> {
    let own = &logs[from..];
    let line = trend(own).filter(|t| t.p < limits.chance && t.gain.abs() >= limits.least)?;
    let tilted: Vec<f64> = own
        .iter()
        .enumerate()
        .map(|(at, v)| v - line.slope * at as f64)
        .collect();
    let mut inner: Vec<usize> = places[after_changes..].iter().map(|at| at - from).collect();
    if inner.is_empty() {
        // Where no split was beyond chance, the best one still is another description.
        inner.extend(sup_t::split(own).map(|split| split.at));
    }
    let left = squares(&tilted);
    let stepped = cost(own.len(), levels(own, &inner), 1 + 2 * inner.len());
    let found = Drift {
        from,
        after_changes,
        begins_at: median(&mut tilted.clone())?,
        line,
        n: own.len(),
        correlation: autocorrelation::own(&tilted),
    };
    (cost(own.len(), left, 2) < stepped).then_some((left, found))
}

/// Squares that levels between `places` leave.
fn levels(logs: &[f64], places: &[usize]) -> f64 {
    let mut left = 0.0;
    let mut from = 0;
    for &to in places.iter().chain([&logs.len()]) {
        if to > from {
            left += squares(&logs[from..to]);
        }
        from = to;
    }
    left
}

/// Schwarz's criterion, less what is the same for all.
fn cost(n: usize, squares: f64, parameters: usize) -> f64 {
    let n = n as f64;
    n * squares.max(f64::MIN_POSITIVE).ln() + parameters as f64 * n.ln()
}
