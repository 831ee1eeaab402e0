//! Several changes: split, split what is left, and look at each again.

use super::sup_t::{SIDE_FEWEST, SPLIT_FEWEST, Split, split, split_at};
use super::{LONG_FROM, Limits, autocorrelation, long};
use crate::stats::student::two_sided_p;

/// Chance that what is left of a change without its most distant value must stay below: it only
/// asks whether the other values agree, since the change itself was tested.
const REST_CHANCE: f64 = 0.05;

/// A change that survived, with the range of the two levels it lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Index of the first value of the new level.
    pub(super) at: usize,
    /// Difference of the levels and its chance.
    pub(super) split: Split,
    /// Whether a single value carries it.
    pub(super) is_suspect: bool,
}

/// Values of a window of a long series, half of which it shares with the next: a test of thirty
/// finds a level that two or three of them are on.
const WINDOW: usize = 30;

/// What was found in a series of logarithms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Changes, ascending.
    pub(super) points: Vec<Point>,
    /// The largest correlation of neighbours that explained a split away.
    pub(super) wanders: Option<f64>,
}

/// Changes of level by recursion: the best split of the whole, then of either side, while they are
/// beyond chance and large enough; then each is tested again on its neighbours alone.
///
/// In a long series changes up and down hide each other in the whole: it is also searched as one
/// that weighs all changes together, and window by window.
pub(super) fn search(logs: &[f64], limits: &Limits) -> Found {
    let mut found = Found::default();
    let mut places = Vec::new();
    recurse(logs, 0, limits, &mut places, &mut found.wanders);
    if logs.len() >= LONG_FROM {
        places.extend(long::segments(logs));
        let begins: Vec<usize> = (0..logs.len() - WINDOW / 2).step_by(WINDOW / 2).collect();
        // As many windows, as many chances of an accident.
        let chance = limits.chance / begins.len() as f64;
        let limits = Limits { chance, ..*limits };
        for begin in begins {
            let end = (begin + WINDOW).min(logs.len());
            recurse(
                &logs[begin..end],
                begin,
                &limits,
                &mut places,
                &mut found.wanders,
            );
        }
    }
    places.sort_unstable();
    places.dedup();
    found.points = merge(logs, places, limits);
    found
}

fn recurse(
    logs: &[f64],
    offset: usize,
    limits: &Limits,
    places: &mut Vec<usize>,
    wanders: &mut Option<f64>,
) {
    let Some(best) = split(logs) else { return };
    if best.p > limits.chance || best.difference.abs() < limits.least {
        return;
    }
    let correlation = autocorrelation::around(logs, best.at);
    let is_correlated = autocorrelation::wanders(logs.len(), correlation);
    if is_correlated && autocorrelation::chance(logs.len(), best.t, correlation) > limits.chance {
        *wanders = Some(wanders.map_or(correlation, |other| other.max(correlation)));
        return;
    }
    places.push(offset + best.at);
    let (left, right) = logs.split_at(best.at);
    recurse(left, offset, limits, places, wanders);
    recurse(right, offset + best.at, limits, places, wanders);
}

/// Tests each place on the two levels it lies between, and drops the weakest until all hold.
fn merge(logs: &[f64], mut places: Vec<usize>, limits: &Limits) -> Vec<Point> {
    loop {
        settle(logs, &mut places);
        let points: Vec<Point> = (0..places.len())
            .map(|index| point(logs, &places, index, limits))
            .collect();
        let holds = |point: &Point| {
            point.split.p <= limits.chance && point.split.difference.abs() >= limits.least
        };
        let failing = points.iter().enumerate().filter(|(_, point)| !holds(point));
        let weakest = failing.max_by(|(_, a), (_, b)| a.split.p.total_cmp(&b.split.p));
        match weakest {
            None => return points,
            Some((index, _)) => places.remove(index),
        };
    }
}

/// Moves each place once to the best one between its neighbours: what was split first was placed
/// while the other changes still disturbed.
fn settle(logs: &[f64], places: &mut Vec<usize>) {
    for index in 0..places.len() {
        let (from, to) = around(places, index, logs.len());
        if let Some(best) = split(&logs[from..to]) {
            places[index] = from + best.at;
        }
    }
    places.dedup();
}

/// The range of values from the place before to the place after.
fn around(places: &[usize], index: usize, n: usize) -> (usize, usize) {
    let from = index.checked_sub(1).map_or(0, |before| places[before]);
    let to = places.get(index + 1).copied().unwrap_or(n);
    (from, to)
}

fn point(logs: &[f64], places: &[usize], index: usize, limits: &Limits) -> Point {
    let at = places[index];
    let (from, to) = around(places, index, logs.len());
    let split = split_at(&logs[from..to], at - from);
    let is_suspect = is_carried_by_one(&logs[from..at], &logs[at..to], limits);
    Point {
        at,
        split,
        is_suspect,
    }
}

/// Whether the change is gone, by size or by chance, once the value of a side that is furthest from
/// the other side is left out.
fn is_carried_by_one(left: &[f64], right: &[f64], limits: &Limits) -> bool {
    [(left, right), (right, left)]
        .into_iter()
        .any(|(side, other)| {
            let level = other.iter().sum::<f64>() / other.len() as f64;
            let furthest = |a: &(usize, &f64), b: &(usize, &f64)| {
                (a.1 - level).abs().total_cmp(&(b.1 - level).abs())
            };
            let Some((drop, _)) = side.iter().enumerate().max_by(furthest) else {
                return true;
            };
            let mut rest = side.to_vec();
            rest.remove(drop);
            let at = rest.len();
            if at == 0 || at + other.len() < SPLIT_FEWEST - SIDE_FEWEST {
                return true;
            }
            rest.extend_from_slice(other);
            let split = split_at(&rest, at);
            let alone = two_sided_p(split.t, rest.len() as f64 - 2.0);
            alone > REST_CHANCE || split.difference.abs() < limits.least
        })
}
