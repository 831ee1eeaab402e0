//! The density of the logarithm of a sample, on a grid.

use std::f64::consts::PI;

use crate::stats::quantile;
use crate::stats::tightness;

/// Share of the sample whose shortest interval gives the scale. Small, so that it lies within
/// one mode and the bandwidth fits that mode and not the distance between modes.
const SCALE_SHARE: f64 = 0.10;

/// Width of that interval in standard deviations of a normal distribution: twice its 55 % point.
const SCALE_WIDTH: f64 = 2.0 * 0.125_661_346_855_074;

/// Distance of the quartiles of a normal distribution, in standard deviations.
const QUARTILES_WIDTH: f64 = 1.349;

/// Silverman's factor for the bandwidth (1986, 3.4.2).
const SILVERMAN: f64 = 0.9;

/// Narrowest bandwidth: half a per cent still separates modes at 150, 160 and 170.
const NARROWEST: f64 = 0.005;

/// Grid points per bandwidth, so also the standard deviation of the smoothing in grid points.
const PER_BANDWIDTH: f64 = 4.0;

/// The smoothing reaches four standard deviations to each side.
const REACH: usize = 16;

/// Expected counts per grid point of `ln x`, smoothed.
#[derive(Debug)]
pub(super) struct LogDensity {
    /// Logarithm at grid point 0.
    origin: f64,
    /// Distance of grid points.
    step: f64,
    smooth: Vec<f64>,
}

/// The fall from the lower of two peaks to the valley between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dip {
    /// Relative to the peak: 1 if the valley is empty, 0 if there is none.
    pub(super) depth: f64,
    /// In standard errors.
    pub(super) z: f64,
}

impl Dip {
    fn new(peak: f64, peak_variance: f64, valley: f64, valley_variance: f64) -> Self {
        let fall = peak - valley;
        if fall <= 0.0 {
            return Self { depth: 0.0, z: 0.0 };
        }
        Self {
            depth: fall / peak,
            z: fall / (peak_variance + valley_variance).sqrt(),
        }
    }
}

impl LogDensity {
    /// The density of ascending logarithms, of which there is at least one, smoothed `widen`
    /// times as much as fits their sharpest part.
    pub(super) fn new(logs: &[f64], widen: f64) -> Self {
        let step = widen * bandwidth(logs) / PER_BANDWIDTH;
        let origin = logs[0] - step * REACH as f64;
        let last = (logs[logs.len() - 1] - origin) / step;
        let mut counts = vec![0.0; last as usize + 2 + REACH];
        // Shared between the two nearest points, so that the density does not depend on where
        // the grid happens to lie.
        for log in logs {
            let position = (log - origin) / step;
            counts[position as usize] += 1.0 - position.fract();
            counts[position as usize + 1] += position.fract();
        }
        Self {
            origin,
            step,
            smooth: smooth(&counts),
        }
    }

    /// Density at a grid point.
    pub(super) fn at(&self, point: usize) -> f64 {
        self.smooth[point]
    }

    /// Grid points at which the density peaks, ascending.
    pub(super) fn peaks(&self) -> Vec<usize> {
        let inner = 1..self.smooth.len() - 1;
        let is_peak = |&point: &usize| {
            self.smooth[point] > self.smooth[point - 1]
                && self.smooth[point] >= self.smooth[point + 1]
        };
        inner.filter(is_peak).collect()
    }

    /// The value at which the density is highest, between grid points by a parabola.
    pub(super) fn top(&self) -> f64 {
        let points = 1..self.smooth.len() - 1;
        let top = points
            .max_by(|&a, &b| self.smooth[a].total_cmp(&self.smooth[b]))
            .expect("the margins alone are longer");
        let (before, after) = (self.smooth[top - 1], self.smooth[top + 1]);
        let bend = before - 2.0 * self.smooth[top] + after;
        let offset = if bend < 0.0 {
            0.5 * (before - after) / bend
        } else {
            0.0
        };
        self.value(top as f64 + offset)
    }

    /// The value at the valley between two peaks; the middle of one that is empty or level.
    pub(super) fn valley(&self, left: usize, right: usize) -> f64 {
        let first = self.lowest(left, right);
        let lowest = self.smooth[first];
        let level = self.smooth[first..=right]
            .iter()
            .take_while(|&&d| d <= lowest)
            .count();
        self.value(first as f64 + (level - 1) as f64 / 2.0)
    }

    /// The dip between two peaks on the logarithmic scale.
    pub(super) fn dip(&self, left: usize, right: usize) -> Dip {
        let peak = self.smooth[left].min(self.smooth[right]);
        let valley = self.smooth[self.lowest(left, right)];
        Dip::new(peak, variance(peak), valley, variance(valley))
    }

    /// The dip before the right peak on the linear scale: whether the density of the value
    /// itself, `d / x`, rises again after the valley.
    pub(super) fn linear_dip(&self, left: usize, right: usize) -> Dip {
        // Relative to the left peak, to stay clear of tiny and huge numbers.
        let shrink = |point: usize| (-((point - left) as f64) * self.step).exp();
        let linear = |point: usize| self.smooth[point] * shrink(point);
        let scaled_variance = |point: usize| variance(self.smooth[point]) * shrink(point).powi(2);
        let by_density = |&a: &usize, &b: &usize| linear(a).total_cmp(&linear(b));
        let from = self.lowest(left, right);
        let peak = (from..=right)
            .max_by(by_density)
            .expect("the range holds its ends");
        let valley = (left..=peak)
            .min_by(by_density)
            .expect("the range holds its ends");
        Dip::new(
            linear(peak),
            scaled_variance(peak),
            linear(valley),
            scaled_variance(valley),
        )
    }

    /// The first grid point between two peaks at which the density is lowest.
    fn lowest(&self, left: usize, right: usize) -> usize {
        (left..=right)
            .min_by(|&a, &b| self.smooth[a].total_cmp(&self.smooth[b]))
            .expect("the range holds its ends")
    }

    fn value(&self, point: f64) -> f64 {
        (self.origin + point * self.step).exp()
    }
}

/// Standard deviation of the smoothing, from the narrowest tenth of the sample so that it fits
/// the sharpest mode, capped by the quartiles and floored.
fn bandwidth(logs: &[f64]) -> f64 {
    let n = logs.len() as f64;
    let quartile = |p| quantile::type_1(logs, p).expect("the sample is not empty");
    let (low, high) = tightness::shortest(logs, SCALE_SHARE).expect("the sample is not empty");
    let by_quartiles = (quartile(0.75) - quartile(0.25)) / QUARTILES_WIDTH;
    let sigma = ((high - low) / SCALE_WIDTH).min(by_quartiles);
    (SILVERMAN * sigma * n.powf(-0.2)).max(NARROWEST)
}

/// Gaussian smoothing; what would fall off the ends is lost, which the margins prevent.
fn smooth(counts: &[f64]) -> Vec<f64> {
    let raw: Vec<f64> = (0..=2 * REACH)
        .map(|tap| {
            let distance = (tap as f64 - REACH as f64) / PER_BANDWIDTH;
            (-0.5 * distance * distance).exp()
        })
        .collect();
    let total: f64 = raw.iter().sum();
    let mut smoothed = vec![0.0; counts.len()];
    for (point, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0.0) {
        for (tap, weight) in raw.iter().enumerate() {
            if let Some(target) = (point + tap).checked_sub(REACH)
                && target < smoothed.len()
            {
                smoothed[target] += count * weight / total;
            }
        }
    }
    smoothed
}

/// Variance of a smoothed count under Poisson noise: the sum of the squared weights is
/// `1 / (2 sqrt(pi) s)` for a Gaussian of standard deviation `s`.
fn variance(density: f64) -> f64 {
    density / (2.0 * PI.sqrt() * PER_BANDWIDTH)
}
