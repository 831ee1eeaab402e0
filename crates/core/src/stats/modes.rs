//! Modes of a latency distribution: does it fall into classes, and where?
//!
//! Peaks of the density of `ln x` are kept by their persistence: a peak stands if the valley
//! beside it is deep, deeper than chance makes it, and still there on a linear scale, where the
//! flat tail of one class does not pose as a second. On labelled synthetic latency sets this
//! finds no mode too many on those with one mode. Modes closer than about 2.8 standard
//! deviations stay merged, and a satellite of 1 % needs some 5000 samples.

use serde::{Deserialize, Serialize};
use thiserror::Error;

mod density;
mod spread_ties;

use density::LogDensity;

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
const FEWEST_MEMBERS: f64 = 25.0;

/// A mode of less weight is a satellite of the others.
pub const SATELLITE_BELOW: f64 = 0.05;

/// One mode: its peak and the samples between the valleys beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Where the density of the logarithm peaks, in the unit of the samples.
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
/// Values that a coarse timer rounded are spread over its steps first, evenly within each, so
/// that a step is no mode; nothing is drawn at random.
pub fn modes(sorted: &[u64]) -> Result<Vec<Mode>, TooFewSamples> {
    if sorted.len() < FEWEST_SAMPLES {
        return Err(TooFewSamples { have: sorted.len() });
    }
    let density = LogDensity::new(&spread_ties::logarithms(sorted));
    let mut peaks = density.peaks();
    drop_shallow(&density, &mut peaks);
    drop_light(&density, &mut peaks, sorted);
    Ok(between_valleys(&density, &peaks, sorted))
}

/// Deletes the lower peak of the pair that fails worst until none fails.
fn drop_shallow(density: &LogDensity, peaks: &mut Vec<usize>) {
    let mut standing: Vec<f64> =
        peaks.windows(2).map(|pair| persistence(density, pair[0], pair[1])).collect();
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

/// How well two neighbouring peaks are told apart: at least 1 if they pass each requirement,
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
    let n = sorted.len() as f64;
    let needed = SMALLEST_WEIGHT.max(FEWEST_MEMBERS / n);
    while peaks.len() > 1 {
        let modes = between_valleys(density, peaks, sorted);
        let lightest = modes
            .iter()
            .enumerate()
            .min_by(|left, right| left.1.weight.total_cmp(&right.1.weight))
            .expect("there is more than one mode");
        if lightest.1.weight >= needed {
            return;
        }
        peaks.remove(lightest.0);
    }
}

/// Cuts the sample at the valleys between the peaks.
fn between_valleys(density: &LogDensity, peaks: &[usize], sorted: &[u64]) -> Vec<Mode> {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let cuts = peaks.windows(2).map(|pair| density.valley(pair[0], pair[1]).ceil() as u64);
    let mut ends: Vec<u64> = cuts.collect();
    ends.push(most.saturating_add(1));
    let mut low = least;
    let mut begin = 0;
    let mut modes = Vec::with_capacity(peaks.len());
    for (&peak, &high) in peaks.iter().zip(&ends) {
        // A sample of u64::MAX lies in the last mode although nothing lies beyond it.
        let end = if modes.len() + 1 == peaks.len() {
            sorted.len()
        } else {
            sorted.partition_point(|&value| value < high)
        };
        let weight = (end - begin) as f64 / sorted.len() as f64;
        modes.push(Mode { at: density.location(peak), weight, low, high });
        (low, begin) = (high, end);
    }
    modes
}
