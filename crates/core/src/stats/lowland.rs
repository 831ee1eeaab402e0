//! A second opinion on modes: where the density lies low between two heights.
//!
//! After the published description of the Lowland detector (Akinshin 2020), which perfolizer
//! uses: cut the sample into parts of equal probability at its quantiles, so that each part is a
//! box as high as the sample is dense there. Let it rain on the boxes. Two summits are two modes
//! if, of the basin between them filled to the lower summit, more is water than land.
//!
//! It looks at shape alone and knows no significance, so it sees more close modes than
//! [`super::modes`] in a small sample, and none of less than some two boxes.

use super::modes::{FEWEST_SAMPLES, Mode, TooFewSamples, logarithms, thinned};

/// Boxes: one per percentile, the precision of 0.01 that the description recommends.
pub const BOXES: usize = 100;

/// Share of land that a basin may have at most, the sensitivity that the description recommends.
const LAND_AT_MOST: f64 = 0.5;

/// Reach of a Harrell-Davis estimate in standard deviations of its weights; what lies beyond has
/// a weight of less than 1e-12.
const REACH: f64 = 7.5;

/// Samples that the quantiles are taken from; more would sharpen nothing that a hundred boxes
/// can show.
const MOST_SAMPLES: usize = 20_000;

/// The modes that this detector cuts an ascending sample into, the lowest first; at least one.
/// Each is at the middle of its highest box.
pub fn modes(sorted: &[u64]) -> Result<Vec<Mode>, TooFewSamples> {
    if sorted.len() < FEWEST_SAMPLES {
        return Err(TooFewSamples { have: sorted.len() });
    }
    let logs = logarithms(&thinned(sorted, MOST_SAMPLES));
    let edges = percentiles(&logs);
    let landscape = Landscape::new(&edges);
    let mut cuts = landscape.cuts();
    cuts.push(f64::INFINITY);
    let (mut low, mut begin, mut from) = (sorted[0], 0, f64::NEG_INFINITY);
    let mut modes = Vec::with_capacity(cuts.len());
    for to in cuts {
        let high = if to.is_finite() {
            to.exp().ceil() as u64
        } else {
            sorted[sorted.len() - 1].saturating_add(1)
        };
        let end = if to.is_finite() {
            sorted.partition_point(|&value| value < high)
        } else {
            sorted.len()
        };
        modes.push(Mode {
            at: landscape.top(from, to).exp(),
            weight: (end - begin) as f64 / sorted.len() as f64,
            low,
            high,
        });
        (low, begin, from) = (high, end, to);
    }
    Ok(modes)
}

/// The Harrell-Davis percentiles 0 to 100 of ascending values (Harrell & Davis 1982): each the
/// mean of all values, weighted by the beta density of their ranks at the middle of each rank.
/// The integral of the density over a rank, which the definition asks for, differs from that by
/// less than a hundredth from 200 values on.
pub fn percentiles(sorted: &[f64]) -> Vec<f64> {
    let n = sorted.len() as f64;
    let ranks: Vec<(f64, f64)> = (0..sorted.len())
        .map(|i| (i as f64 + 0.5) / n)
        .map(|middle| (middle.ln(), (-middle).ln_1p()))
        .collect();
    let inner = (1..BOXES).map(|box_end| {
        let p = box_end as f64 / BOXES as f64;
        let (a, b) = ((n + 1.0) * p - 1.0, (n + 1.0) * (1.0 - p) - 1.0);
        let reach = REACH * (p * (1.0 - p) / (n + 2.0)).sqrt();
        let first = ((p - reach).max(0.0) * n) as usize;
        let last = (((p + reach) * n) as usize + 1).min(sorted.len());
        let top = a * p.ln() + b * (-p).ln_1p();
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, (log, log_rest)) in sorted[first..last].iter().zip(&ranks[first..last]) {
            let weight = (a * log + b * log_rest - top).exp();
            sum += weight * value;
            total += weight;
        }
        sum / total
    });
    let ends = (sorted[0], sorted[sorted.len() - 1]);
    std::iter::once(ends.0)
        .chain(inner)
        .chain(std::iter::once(ends.1))
        .collect()
}

/// Boxes of equal area side by side.
struct Landscape<'a> {
    edges: &'a [f64],
    heights: Vec<f64>,
}

impl<'a> Landscape<'a> {
    fn new(edges: &'a [f64]) -> Self {
        // Equal edges, as a constant sample has, would be a box of no width.
        let narrowest = (edges[edges.len() - 1] - edges[0]).abs().max(1.0) * 1e-12;
        let heights = edges
            .windows(2)
            .map(|pair| 1.0 / (BOXES as f64 * (pair[1] - pair[0]).max(narrowest)))
            .collect();
        Self { edges, heights }
    }

    /// Boxes higher than those beside them; the first of a level stretch.
    fn summits(&self) -> Vec<usize> {
        let heights = &self.heights;
        (0..heights.len())
            .filter(|&i| i == 0 || heights[i] > heights[i - 1])
            .filter(|&i| {
                let mut behind = heights[i..].iter();
                let behind = behind.find(|height| height.total_cmp(&heights[i]).is_ne());
                behind.is_none_or(|&height| height < heights[i])
            })
            .collect()
    }

    /// Walks over the summits from left to right. A summit is compared with the highest ones
    /// since the last cut that are not hidden by a higher one.
    fn cuts(&self) -> Vec<f64> {
        let mut cuts = Vec::new();
        let mut visible: Vec<usize> = Vec::new();
        for summit in self.summits() {
            while let Some(&before) = visible.last() {
                let apart = self.is_basin(before, summit);
                if apart {
                    cuts.push(self.bottom(before, summit));
                    visible.clear();
                } else if self.heights[before] <= self.heights[summit] {
                    visible.pop();
                } else {
                    break;
                }
            }
            visible.push(summit);
        }
        cuts
    }

    /// Whether the basin between two summits, filled to the lower one, is mostly water.
    fn is_basin(&self, left: usize, right: usize) -> bool {
        let level = self.heights[left].min(self.heights[right]);
        let below = |&i: &usize| self.heights[i] <= level;
        let shores = (left..=right).find(below).zip((left..=right).rfind(below));
        let Some((first, last)) = shores else {
            return false;
        };
        let basin = level * (self.edges[last + 1] - self.edges[first]);
        let land = (last - first + 1) as f64 / BOXES as f64;
        land < LAND_AT_MOST * basin
    }

    /// The middle of the highest box whose middle lies between two cuts.
    fn top(&self, from: f64, to: f64) -> f64 {
        let middle = |i: usize| f64::midpoint(self.edges[i], self.edges[i + 1]);
        (0..self.heights.len())
            .filter(|&i| (from..to).contains(&middle(i)))
            .max_by(|&a, &b| self.heights[a].total_cmp(&self.heights[b]))
            .map_or(from.max(self.edges[0]), middle)
    }

    /// The middle of the lowest box between two summits.
    fn bottom(&self, left: usize, right: usize) -> f64 {
        let lowest = (left..=right)
            .min_by(|&a, &b| self.heights[a].total_cmp(&self.heights[b]))
            .expect("the range holds its ends");
        f64::midpoint(self.edges[lowest], self.edges[lowest + 1])
    }
}
