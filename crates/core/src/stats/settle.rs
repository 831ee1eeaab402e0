//! Did a run settle, and how: from the first request on, is there a ramp?
//!
//! A figure of every short window of the load (completed requests, or the median latency) is
//! compared with the last half of the run. What lies outside for a stretch, on one side, is a
//! ramp; what goes on moving within the last half has not settled. Made to be silent: noise that
//! hangs together from window to window must not look like a ramp, so the tolerance is taken from
//! the run's own scatter and is never less than 5 %.

use serde::{Deserialize, Serialize};

mod drift;
mod windows;

pub use windows::{medians, throughput};

/// Fewest windows that are judged: half of them are the reference, and with a scatter estimated
/// from fewer than fifteen values correlated noise passed for a ramp in 7 % of simulated runs.
pub const FEWEST_WINDOWS: usize = 30;
/// Most windows a load is cut into: a ramp of a hundredth of the run is seen, and windows stay
/// long enough to hold many requests.
pub const MOST_WINDOWS: usize = 100;
/// A ramp that ends within this share of the load is fast …
const FAST_SHARE: f64 = 0.10;
/// … and one that ends within this share is slow; the rest is the reference itself.
const SLOW_SHARE: f64 = 0.50;
/// Differences below 5 % are not worth a word: what benchmarks of servers scatter by anyhow.
const TOLERANCE_LEAST: f64 = 0.048_790_164_169_432; // ln 1.05
/// How many standard deviations of the reference a value must be away. Four are passed once in
/// 16,000 by chance (normal), and a stretch asks for several in a row.
const TOLERANCE_SDS: f64 = 4.0;
/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;
/// Windows of the running median: removes single stalls of up to two windows.
const SMOOTHING: usize = 5;
/// Windows in a row that make a stretch …
const STRETCH: usize = 5;
/// … and at the very start, where a fast ramp is short.
const STRETCH_AT_START: usize = 2;
/// A ramp lies on one side of the steady level for at least so much of its way: what begins at the
/// level and leaves it for a while in between is a disturbance, and no start.
const ON_ONE_SIDE: f64 = 0.75;
/// A change that is over within this many windows is a step: the smoothing alone takes as many.
const STEP_WINDOWS: usize = 3;

/// How a run settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ramp {
    /// Steady from the start.
    None,
    /// Settled within the first tenth.
    Fast,
    /// Settled within the first half.
    Slow,
    /// Still moving in its last half.
    NotSettled,
}

/// The course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Course {
    /// How it settled.
    pub ramp: Ramp,
    /// Windows that were judged.
    pub windows: usize,
    /// The window from which on it was steady; 0 if it was from the start.
    pub settled_at: usize,
    /// The first window that had come nine tenths of the way from the start to the steady level;
    /// 0 without a ramp.
    pub ninety_at: usize,
    /// The level at the start as a multiple of the steady level; 1 without a ramp.
    pub start_ratio: f64,
    /// Whether the change happened at once, rather than gradually.
    pub is_step: bool,
}

/// Judges the course of a figure that is not negative, one value for each of at least
/// [`FEWEST_WINDOWS`] equal windows, from the start of the load; `None` for fewer, or if the
/// last half is all zero.
pub fn settle(values: &[f64]) -> Option<Course> {
    if values.len() < FEWEST_WINDOWS {
        return None;
    }
    let logs = logarithms(values)?;
    let half = logs.len() / 2;
    let smooth = running_median(&logs);
    let reference = median(&logs[half..]);
    let slope = drift::slope(&logs[half..]);
    let tolerance = tolerance(&logs[half..], slope);
    let outside: Vec<i8> = smooth
        .iter()
        .map(|&v| side(v - reference, tolerance))
        .collect();
    let settled_at = ramp_end(&outside);
    let count = logs.len() as f64;
    let ramp = if settled_at as f64 > SLOW_SHARE * count
        || drift::moves(&logs[half..], slope, tolerance)
    {
        Ramp::NotSettled
    } else if settled_at as f64 > FAST_SHARE * count {
        Ramp::Slow
    } else if settled_at > 0 {
        Ramp::Fast
    } else {
        Ramp::None
    };
    let mut course = Course {
        ramp,
        windows: logs.len(),
        settled_at,
        ninety_at: 0,
        start_ratio: 1.0,
        is_step: false,
    };
    if matches!(ramp, Ramp::Fast | Ramp::Slow) {
        shape(&mut course, &smooth[..settled_at], reference);
    }
    Some(course)
}

/// Where a ramp began, how long it took, and whether it was a step.
fn shape(course: &mut Course, ramp: &[f64], reference: f64) {
    let start = ramp[0];
    course.start_ratio = (start - reference).exp();
    let way = |v: f64| (v - start) / (reference - start);
    let first = |share: f64| {
        ramp.iter()
            .position(|&v| way(v) >= share)
            .unwrap_or(ramp.len())
    };
    course.ninety_at = first(0.9);
    course.is_step = course.ninety_at - first(0.1) < STEP_WINDOWS;
}

/// Natural logarithms; zeros become half of the smallest positive value.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let positive = || values.iter().copied().filter(|&v| v > 0.0);
    let last_half = &values[values.len() / 2..];
    if last_half.iter().all(|&v| v <= 0.0) {
        return None;
    }
    let floor = positive().fold(f64::INFINITY, f64::min) / 2.0;
    Some(values.iter().map(|&v| v.max(floor).ln()).collect())
}

/// From the scatter of the reference around its own straight line: a drift is no scatter.
fn tolerance(reference_half: &[f64], slope: f64) -> f64 {
    let values = reference_half.iter().enumerate();
    let level: Vec<f64> = values.map(|(at, v)| v - slope * at as f64).collect();
    let middle = median(&level);
    let mut deviations: Vec<f64> = level.iter().map(|v| (v - middle).abs()).collect();
    let sd = MAD_TO_SD * median_of(&mut deviations);
    TOLERANCE_LEAST.max(TOLERANCE_SDS * sd)
}

fn side(difference: f64, tolerance: f64) -> i8 {
    if difference > tolerance {
        1
    } else if difference < -tolerance {
        -1
    } else {
        0
    }
}

/// The window after the last stretch outside on one side up to which the course is a ramp; 0 if
/// there is none.
fn ramp_end(outside: &[i8]) -> usize {
    let mut settled = 0;
    let mut begin = 0;
    for end in 1..=outside.len() {
        if end < outside.len() && outside[end] == outside[begin] {
            continue;
        }
        let needed = if begin == 0 {
            STRETCH_AT_START
        } else {
            STRETCH
        };
        let is_stretch = outside[begin] != 0 && end - begin >= needed;
        if is_stretch && is_ramp(&outside[..end]) {
            settled = end;
        }
        begin = end;
    }
    settled
}

/// Whether a course that ends outside began outside as well, and stayed on one side.
fn is_ramp(outside: &[i8]) -> bool {
    let begin = &outside[..outside.len().min(STRETCH_AT_START)];
    let Some(&side) = begin.iter().find(|&&side| side != 0) else {
        return false;
    };
    let same = outside.iter().filter(|&&other| other == side).count();
    same as f64 >= ON_ONE_SIDE * outside.len() as f64
}

/// The running median of [`SMOOTHING`] values, of fewer at the ends.
fn running_median(values: &[f64]) -> Vec<f64> {
    let reach = SMOOTHING / 2;
    (0..values.len())
        .map(|at| {
            let from = at.saturating_sub(reach);
            let to = (at + reach + 1).min(values.len());
            median(&values[from..to])
        })
        .collect()
}

/// The median; 0 of nothing.
fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

fn median_of(values: &mut [f64]) -> f64 {
    super::median::median(values).unwrap_or(0.0)
}
