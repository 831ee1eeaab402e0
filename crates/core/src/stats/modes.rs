//! Modes of a latency distribution: does it fall into classes, and where?
//!
//! Peaks of the density of `ln x` are kept by their persistence: a peak stands if the valley
//! beside it is deep, deeper than chance makes it, and still there on a linear scale, where the
//! flat tail of one class does not pose as a second. On labelled synthetic latency sets this
//! finds no mode too many on those with one mode. Modes closer than about 2.8 standard
//! deviations stay merged, and a satellite of 1 % needs some 5000 samples.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

mod density;
mod over_time;
mod spread_ties;

use density::LogDensity;

pub use over_time::{CLOSE, recurring};
pub(super) use spread_ties::logarithms;

/// No claim about modes is made from fewer samples.
pub const FEWEST_SAMPLES: usize = 200;

/// A valley must be at most this high, relative to the lower of its two peaks.
const VALLEY_AT_MOST: f64 = 0.8;

/// A valley must be this many standard errors below the lower peak.
const Z_AT_LEAST: f64 = 4.0;

/// The same on the linear scale, where the valley is sought freely and so asks for more.
const LINEAR_Z_AT_LEAST: f64 = 5.0;

/// A mode holds at least this share of the samples...
const SMALLEST_WEIGHT: f64 = 0.002;

/// ...and at least this many of them.
const FEWEST_MEMBERS: usize = 25;

/// A mode of less weight is a satellite of the others.
pub const SATELLITE_BELOW: f64 = 0.05;

/// Bandwidths tried, in multiples of the one that fits the sharpest part of the sample. That one
/// separates narrow modes; a broad slow class of 3 % stands out of its noise only under a wider
/// one (found in 60 of 60 samples of 2000 instead of 1, with no false mode in 3000 samples of one
/// class).
const WIDENINGS: [f64; 3] = [1.0, 2.0, 4.0];

/// Of a larger sample this many quantiles are examined: a mode of the smallest weight still has
/// 200 of them, and 10 million requests are judged in the time of these.
const MOST_SAMPLES: usize = 100_000;

/// One mode: its peak and the samples between the valleys beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Where the density of the logarithm of the members peaks, in the unit of the samples.
    pub at: f64,
    /// Share of the samples in `low..high`; the weights of all modes add up to 1.
    pub weight: f64,
    /// The smallest value of this mode: the valley below it, or the smallest sample.
    pub low: u64,
    /// The first value above this mode: the valley above it, or just beyond the largest sample.
    pub high: u64,
}

impl Mode {
    /// Whether the mode is a satellite: real, but of less than [`SATELLITE_BELOW`].
    pub fn is_satellite(&self) -> bool {
        self.weight < SATELLITE_BELOW
    }

    /// Whether a sample belongs to this mode.
    pub fn contains(&self, value: u64) -> bool {
        (self.low..self.high).contains(&value)
    }
}

/// Too few samples to speak of modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("needs {FEWEST_SAMPLES} samples, have {have}")]
pub struct TooFewSamples {
    /// Samples given.
    pub have: usize,
}

/// The modes of an ascending sample, the lowest first; at least one.
///
/// Of the bandwidths tried the one that shows most modes is taken, the finest if several do.
/// Values that a coarse timer rounded are spread over its steps first, evenly within each, so
/// that a step is no mode; nothing is drawn at random.
pub fn modes(sorted: &[u64]) -> Result<Vec<Mode>, TooFewSamples> {
    if sorted.len() < FEWEST_SAMPLES {
        return Err(TooFewSamples { have: sorted.len() });
    }
    let seen = thinned(sorted, MOST_SAMPLES);
    let logs = logarithms(&seen);
    let mut parts = Vec::new();
    for widen in WIDENINGS {
        let found = parts_at(&logs, widen, &seen);
        if found.len() > parts.len() {
            parts = found;
        }
    }
    let mut found: Vec<Mode> = parts.into_iter().map(|part| part.mode(&logs)).collect();
    if seen.len() < sorted.len() {
        weigh(&mut found, sorted);
    }
    Ok(found)
}

/// At most `most` values of an ascending sample, at evenly spaced ranks: what a sample of that
/// size would look like if it had no noise of its own.
pub(super) fn thinned(sorted: &[u64], most: usize) -> Cow<'_, [u64]> {
    if sorted.len() <= most {
        return Cow::Borrowed(sorted);
    }
    // (2i + 1) n / 2m is the middle of the i-th of m equal parts.
    let rank =
        |i: usize| ((2 * i + 1) as u128 * sorted.len() as u128 / (2 * most) as u128) as usize;
    Cow::Owned((0..most).map(|i| sorted[rank(i)]).collect())
}

/// Gives modes that were found in part of a sample the ends and weights of all of it.
fn weigh(modes: &mut [Mode], sorted: &[u64]) {
    let ends = modes.len() - 1;
    modes[0].low = sorted[0];
    modes[ends].high = beyond(sorted);
    let mut begin = 0;
    for (place, mode) in modes.iter_mut().enumerate() {
        let end = match place {
            last if last == ends => sorted.len(),
            _ => sorted.partition_point(|&value| value < mode.high),
        };
        mode.weight = (end - begin) as f64 / sorted.len() as f64;
        begin = end;
    }
}

/// The parts of the sample that stand out under one bandwidth; at least one.
fn parts_at(logs: &[f64], widen: f64, sorted: &[u64]) -> Vec<Part> {
    let density = LogDensity::new(logs, widen);
    let mut peaks = density.peaks();
    drop_shallow(&density, &mut peaks);
    drop_light(&density, &mut peaks, sorted);
    between_valleys(&density, &peaks, sorted)
}

/// Deletes the lower peak of the pair that fails worst until none fails.
fn drop_shallow(density: &LogDensity, peaks: &mut Vec<usize>) {
    let mut standing: Vec<f64> = peaks
        .windows(2)
        .map(|pair| persistence(density, pair[0], pair[1]))
        .collect();
    while let Some((worst, _)) = standing
        .iter()
        .enumerate()
        .filter(|&(_, &persistence)| persistence < 1.0)
        .min_by(|left, right| left.1.total_cmp(right.1))
    {
        let lower_is_left = density.at(peaks[worst]) < density.at(peaks[worst + 1]);
        let gone = if lower_is_left { worst } else { worst + 1 };
        peaks.remove(gone);
        standing.remove(worst);
        // The pairs that the deleted peak was part of have become one.
        let joined = gone.min(standing.len());
        for pair in joined.saturating_sub(1)..=joined {
            if pair < standing.len() {
                standing[pair] = persistence(density, peaks[pair], peaks[pair + 1]);
            }
        }
    }
}

/// How well two neighbouring peaks are separated: at least 1 if they pass each requirement,
/// else the worst ratio of what was found to what is required.
fn persistence(density: &LogDensity, left: usize, right: usize) -> f64 {
    let depth_needed = 1.0 - VALLEY_AT_MOST;
    let log = density.dip(left, right);
    let linear = density.linear_dip(left, right);
    (log.depth / depth_needed)
        .min(log.z / Z_AT_LEAST)
        .min(linear.depth / depth_needed)
        .min(linear.z / LINEAR_Z_AT_LEAST)
}

/// Deletes the lightest peak until each has its weight.
fn drop_light(density: &LogDensity, peaks: &mut Vec<usize>, sorted: &[u64]) {
    let needed = FEWEST_MEMBERS.max((sorted.len() as f64 * SMALLEST_WEIGHT).ceil() as usize);
    while peaks.len() > 1 {
        let parts = between_valleys(density, peaks, sorted);
        let (lightest, part) = parts
            .iter()
            .enumerate()
            .min_by_key(|(_, part)| part.members.len())
            .expect("each peak has its part");
        if part.members.len() >= needed {
            return;
        }
        peaks.remove(lightest);
    }
}

/// The samples between two valleys.
struct Part {
    low: u64,
    high: u64,
    members: Range<usize>,
}

impl Part {
    /// Looks again at the members alone, with a bandwidth that fits them: the bandwidth of all
    /// fits the sharpest mode, and under it the top of a broad one is ragged.
    fn mode(self, logs: &[f64]) -> Mode {
        let weight = self.members.len() as f64 / logs.len() as f64;
        let at = LogDensity::new(&logs[self.members], 1.0).top();
        Mode {
            at: at.clamp(self.low as f64, self.high as f64),
            weight,
            low: self.low,
            high: self.high,
        }
    }
}

/// Cuts the sample at the valleys between the peaks.
fn between_valleys(density: &LogDensity, peaks: &[usize], sorted: &[u64]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(peaks.len());
    let (mut low, mut begin) = (sorted[0], 0);
    for pair in peaks.windows(2) {
        let high = density.valley(pair[0], pair[1]).ceil() as u64;
        let end = sorted.partition_point(|&value| value < high);
        parts.push(Part {
            low,
            high,
            members: begin..end,
        });
        (low, begin) = (high, end);
    }
    parts.push(Part {
        low,
        high: beyond(sorted),
        members: begin..sorted.len(),
    });
    parts
}

/// The first value above a sample. A sample of `u64::MAX` is a member of the last mode although
/// nothing lies beyond it.
fn beyond(sorted: &[u64]) -> u64 {
    sorted[sorted.len() - 1].saturating_add(1)
}
