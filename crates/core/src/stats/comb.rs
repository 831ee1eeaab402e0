//! Whether latencies stand like the teeth of a comb: an offset and multiples of one step.
//!
//! What waits for a timer, or retries a fixed number of times, adds `n q` to a latency. Folded on
//! the step `q` all values then have one phase, which a circular statistic shows for values just
//! as it shows a period for events ([`super::period`]). A large sample makes any phase
//! significant, and a heavy first tooth lends its phase to all, so a comb also has to have
//! three teeth, each at its place, and they must not stand there by chance.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::modes::thinned;

/// Fewest teeth: two are two modes.
pub const FEWEST_TEETH: usize = 3;

/// A tooth holds at least this share of the values.
pub const SMALLEST_TOOTH: f64 = 0.02;

/// At least this share of the places between the outermost teeth has one: 0, 1, 3 and 7 steps, a
/// doubling back-off, do.
const SMALLEST_OCCUPANCY: f64 = 0.5;

/// Smallest mean resultant length over all values; normal teeth of q/6 have it.
pub const SMALLEST_R: f64 = 0.6;

/// Mean cosine of the phase of each tooth by itself. Values without a phase have 0; that of a
/// small tooth of width q/6 scatters down to this.
const SMALLEST_TOOTH_R: f64 = 0.4;

/// The step of all steps tried is reported that is the largest whose resultant is within this of
/// the best: its half and third fold as well.
const FRACTION_SLACK: f64 = 0.1;

/// The span fits between this ...
pub const FEWEST_STEPS: f64 = 2.0;

/// ... and this many steps; smaller steps are in every sample's noise.
pub const MOST_STEPS: f64 = 40.0;

/// Steps of the scan per resolvable step.
const SCAN: f64 = 10.0;

/// Chance of a resultant this large anywhere in the scan: `n R^2` is at least the logarithm of
/// this many times the steps tried.
const RARE: f64 = 20.0;

/// Largest chance that modes at random places stand as well on a comb as simple.
pub const LARGEST_P: f64 = 0.03;

/// Share left out at either end of the span, less than a tooth, so that a straggler does not set
/// it.
const TRIM: f64 = 0.01;

/// Values examined; teeth of 2 % then have forty.
const MOST_VALUES: usize = 2000;

/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// The standard error of a median as a multiple of that of a mean: the root of pi / 2.
const MEDIAN_ERROR: f64 = 1.253_314_137_315_5;

/// One tooth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tooth {
    /// Steps above the offset.
    pub steps: u32,
    /// Median of its values, in nanoseconds.
    pub at_ns: f64,
    /// Share of all values.
    pub share: f64,
}

/// Latencies at `offset + n step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comb {
    /// The step, by regression of the medians of teeth on their number, in nanoseconds.
    pub step_ns: f64,
    /// Standard error of the step, in nanoseconds.
    pub step_error_ns: f64,
    /// Where the regression puts the lowest tooth, in nanoseconds.
    pub offset_ns: f64,
    /// Mean resultant length of all values folded on the step, in `0..=1`.
    pub r: f64,
    /// Chance that as many modes at random places would stand as well on a comb of no more
    /// steps.
    pub p: f64,
    /// The teeth, the lowest first; `steps` of the lowest is 0.
    pub teeth: Vec<Tooth>,
}

/// How well values fold on one step: the mean resultant length and the common offset in
/// `0..step`; `None` without values. All in one unit.
pub fn fold(values: &[f64], step: f64) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let (mut cos, mut sin) = (0.0, 0.0);
    for &value in values {
        let (s, c) = (TAU * (value / step).fract()).sin_cos();
        cos += c;
        sin += s;
    }
    let offset = (sin.atan2(cos) / TAU).rem_euclid(1.0) * step;
    Some((f64::hypot(cos, sin) / values.len() as f64, offset))
}

/// The comb that ascending latencies stand on, if they do.
///
/// Looks at steps from a fortieth to a half of the span between the first and last percentile.
pub fn comb(sorted: &[u64]) -> Option<Comb> {
    let values: Vec<f64> = thinned(sorted, MOST_VALUES)
        .iter()
        .map(|&value| value as f64)
        .collect();
    let cut = (values.len() as f64 * TRIM) as usize;
    let (first, last) = (values.get(cut)?, values.get(values.len() - 1 - cut)?);
    let span = last - first;
    if span <= 0.0 {
        return None;
    }
    let (lowest, highest) = ((FEWEST_STEPS * SCAN) as usize, (MOST_STEPS * SCAN) as usize);
    let step_of = |index: usize| span * SCAN / index as f64;
    let r = scan(&values, span * SCAN, lowest, highest);
    let best = r.iter().copied().fold(0.0, f64::max);
    let significant = ((RARE * r.len() as f64).ln() / values.len() as f64).sqrt();
    let enough = SMALLEST_R.max(significant).max(best - FRACTION_SLACK);
    (0..r.len())
        .filter(|&i| r[i] >= enough && is_peak(&r, i))
        .find_map(|i| at_step(&values, step_of(lowest + i), enough))
}

/// Mean resultant length of the values folded on `longest / index`, for each index. From one to
/// the next each value turns by the same angle, so there is one sine a value and not one a step.
fn scan(values: &[f64], longest: f64, lowest: usize, highest: usize) -> Vec<f64> {
    let (mut cos, mut sin) = (
        vec![0.0; highest - lowest + 1],
        vec![0.0; highest - lowest + 1],
    );
    for &value in values {
        let turn = TAU * (value - values[0]) / longest;
        let (step_sin, step_cos) = turn.sin_cos();
        let (mut s, mut c) = (turn * lowest as f64).sin_cos();
        for (cos, sin) in cos.iter_mut().zip(&mut sin) {
            *cos += c;
            *sin += s;
            (c, s) = (c * step_cos - s * step_sin, s * step_cos + c * step_sin);
        }
    }
    let n = values.len() as f64;
    let lengths = cos.iter().zip(&sin).map(|(c, s)| f64::hypot(*c, *s) / n);
    lengths.collect()
}

fn is_peak(r: &[f64], i: usize) -> bool {
    (i == 0 || r[i] >= r[i - 1]) && (i + 1 == r.len() || r[i] > r[i + 1])
}

/// The comb of about this step, if it is one.
fn at_step(values: &[f64], near: f64, enough: f64) -> Option<Comb> {
    let (_, offset) = fold(values, near)?;
    // Folded on a step that is a little wrong, far teeth lean; the second look is at the mended.
    let (step, offset, _) = regression(values, near, offset)?;
    let (step, offset, error) = regression(values, step, offset)?;
    let teeth = teeth(values, step, offset)?;
    let lowest = teeth[0].0;
    let mut found = Comb {
        step_ns: step,
        step_error_ns: error,
        offset_ns: offset + lowest as f64 * step,
        r: fold(values, step)?.0,
        p: 1.0,
        teeth: teeth
            .into_iter()
            .map(|(index, at_ns, share)| Tooth {
                steps: (index - lowest) as u32,
                at_ns,
                share,
            })
            .collect(),
    };
    found.p = by_chance(&found, values.len());
    (found.r >= enough && found.p <= LARGEST_P).then_some(found)
}

/// Number of the tooth next to a value.
fn tooth_of(value: f64, step: f64, offset: f64) -> i64 {
    ((value - offset) / step).round() as i64
}

/// The values next to one place.
struct Members<'a> {
    index: i64,
    count: f64,
    median: f64,
    /// Ascending.
    values: &'a [f64],
}

/// Who is next to which place, where it is more than a few.
fn members(values: &[f64], step: f64, offset: f64) -> Vec<Members<'_>> {
    let index = |value: f64| tooth_of(value, step, offset);
    let fewest = values.len() as f64 * SMALLEST_TOOTH;
    values
        .chunk_by(|a, b| index(*a) == index(*b))
        .filter(|values| values.len() as f64 >= fewest)
        .map(|values| Members {
            index: index(values[0]),
            count: values.len() as f64,
            median: f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]),
            values,
        })
        .collect()
}

/// Step, offset and standard error of the step by least squares of the medians of teeth, weighted
/// by their members, on their number. The tail of a tooth lies nearer to the next one: means
/// would draw the teeth together.
fn regression(values: &[f64], step: f64, offset: f64) -> Option<(f64, f64, f64)> {
    let teeth = members(values, step, offset);
    let n: f64 = teeth.iter().map(|tooth| tooth.count).sum();
    let mean_of = |of: &dyn Fn(&Members<'_>) -> f64| {
        let weighted = teeth.iter().map(|tooth| tooth.count * of(tooth));
        weighted.sum::<f64>() / n
    };
    let mean_index = mean_of(&|tooth| tooth.index as f64);
    let mean = mean_of(&|tooth| tooth.median);
    let off = |tooth: &Members<'_>| tooth.index as f64 - mean_index;
    let variance = n * mean_of(&|tooth| off(tooth).powi(2));
    if n < 3.0 || variance <= 0.0 {
        return None;
    }
    let slope = n * mean_of(&|tooth| off(tooth) * (tooth.median - mean)) / variance;
    let mut around: Vec<f64> = teeth
        .iter()
        .flat_map(|tooth| {
            tooth
                .values
                .iter()
                .map(|value| (value - tooth.median).abs())
        })
        .collect();
    around.sort_unstable_by(f64::total_cmp);
    let sd = MAD_TO_SD * around[around.len() / 2];
    let error = MEDIAN_ERROR * sd / variance.sqrt();
    (slope > 0.0).then_some((slope, mean - slope * mean_index, error))
}

/// The teeth as `(index, median, share)` if there are enough, at their places and without wide
/// gaps.
fn teeth(values: &[f64], step: f64, offset: f64) -> Option<Vec<(i64, f64, f64)>> {
    let n = values.len() as f64;
    let mut teeth = Vec::new();
    for tooth in members(values, step, offset) {
        let cosines = tooth.values.iter();
        let cosines = cosines.map(|value| (TAU * (value - offset) / step).cos());
        if cosines.sum::<f64>() < SMALLEST_TOOTH_R * tooth.count {
            return None;
        }
        teeth.push((tooth.index, tooth.median, tooth.count / n));
    }
    let (first, last) = (teeth.first()?.0, teeth.last()?.0);
    let places = (last - first + 1) as f64;
    let kept = teeth.len() >= FEWEST_TEETH && teeth.len() as f64 >= SMALLEST_OCCUPANCY * places;
    kept.then_some(teeth)
}

/// Chance that modes at random places stand as well: the outermost two of `m` fix step and
/// offset, and each other must come within `d` steps of a place. With `k` steps between the
/// outermost, `C(k, m - 1)` patterns are at least as simple, so the chance is at most
/// `C(k, m - 1) (2d)^(m - 2)`. `d` is the largest distance seen, or what the places are uncertain
/// by.
fn by_chance(comb: &Comb, n: usize) -> f64 {
    let (first, last) = (comb.teeth[0], comb.teeth[comb.teeth.len() - 1]);
    let step = (last.at_ns - first.at_ns) / f64::from(last.steps);
    // The spread of a tooth, from the resultant of a wrapped normal distribution.
    let width = (-2.0 * comb.r.min(1.0).ln()).max(0.0).sqrt() / TAU;
    let inner = &comb.teeth[1..comb.teeth.len() - 1];
    let off = |tooth: &Tooth| {
        let place = (tooth.at_ns - first.at_ns) / step;
        let uncertain = MEDIAN_ERROR * width / (tooth.share * n as f64).sqrt();
        (place - f64::from(tooth.steps)).abs().max(uncertain)
    };
    let distance = inner.iter().map(off).fold(0.0, f64::max);
    let patterns: f64 = (0..comb.teeth.len() - 1)
        .map(|i| (f64::from(last.steps) - i as f64) / (i + 1) as f64)
        .product();
    (patterns * (2.0 * distance).powi(inner.len() as i32)).min(1.0)
}
