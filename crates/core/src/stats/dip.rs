//! Hartigan's dip: how far a sample is from having one mode.
//!
//! The dip is the largest distance between the empirical distribution and the unimodal one that
//! lies closest to it (Hartigan & Hartigan 1985). Its p-value is against the uniform
//! distribution, the unimodal one whose samples dip most, so it errs on the side of one mode.

use serde::{Deserialize, Serialize};

mod table;

pub use table::LEVELS;

/// The dip of a sample and how surprising it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    /// The dip, in `1/(2n)..=0.25`.
    pub dip: f64,
    /// Values it was taken from.
    pub n: usize,
    /// Chance of a dip at least as large in a uniform sample of this size: between the
    /// simulated points interpolated, and never below the smallest level of the table, 0.001.
    pub p: f64,
}

/// The dip of ascending values and its p-value; `None` if there are none.
pub fn dip(sorted: &[f64]) -> Option<Dip> {
    let dip = statistic(sorted)?;
    let n = sorted.len();
    Some(Dip {
        dip,
        n,
        p: table::chance(dip, n),
    })
}

/// The dip alone, by the algorithm of the paper: the modal interval is shrunk until the gap
/// between the convex minorant and the concave majorant inside it is no larger than the largest
/// distance met outside.
pub fn statistic(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let (mut low, mut high) = (0, n.checked_sub(1)?);
    // Twice the dip in units of 1/n; no step of the distribution can be met closer than half.
    let mut twice = 1.0_f64;
    if sorted[low] < sorted[high] {
        loop {
            let below = hull(sorted, low, high, Side::Below);
            let above = hull(sorted, low, high, Side::Above);
            let (gap, next_low, next_high) = widest_gap(sorted, &below, &above);
            if gap <= twice {
                break;
            }
            let left = strain(sorted, &below, next_low, Side::Below);
            let right = strain(sorted, &above, next_high, Side::Above);
            twice = twice.max(left).max(right);
            if (next_low, next_high) == (low, high) {
                break;
            }
            (low, high) = (next_low, next_high);
        }
    }
    Some(twice / (2.0 * n as f64))
}

/// Which hull of the empirical distribution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The greatest convex minorant, under the feet `(x_i, i)` of the steps.
    Below,
    /// The least concave majorant, over their heads `(x_i, i + 1)`.
    Above,
}

/// Indexes of the vertices of a hull over `low..=high`, ascending.
fn hull(sorted: &[f64], low: usize, high: usize, side: Side) -> Vec<usize> {
    let mut vertices: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., before, last] = vertices[..] {
            let turn = (sorted[last] - sorted[before]) * (next - last) as f64
                - (sorted[next] - sorted[last]) * (last - before) as f64;
            let keeps = match side {
                Side::Below => turn > 0.0,
                Side::Above => turn < 0.0,
            };
            if keeps {
                break;
            }
            vertices.pop();
        }
        vertices.push(next);
    }
    vertices
}

/// Height, in steps, of the chord between two vertices at `x`.
fn chord(sorted: &[f64], from: usize, to: usize, x: f64) -> f64 {
    let run = sorted[to] - sorted[from];
    if run > 0.0 {
        from as f64 + (to - from) as f64 * (x - sorted[from]) / run
    } else {
        to as f64
    }
}

/// The widest gap between the hulls, which lies at a vertex of one of them, and the modal
/// interval around it: the vertex of the minorant at or before it and that of the majorant at
/// or after it.
fn widest_gap(sorted: &[f64], below: &[usize], above: &[usize]) -> (f64, usize, usize) {
    let (mut widest, mut low, mut high) = (0.0, below[0], above[above.len() - 1]);
    let mut segment = 0;
    for &vertex in below {
        // The segment of the majorant that holds this vertex of the minorant.
        while segment + 2 < above.len() && above[segment + 1] < vertex {
            segment += 1;
        }
        let (from, to) = (above[segment], above[segment + 1]);
        let gap = chord(sorted, from, to, sorted[vertex]) + 1.0 - vertex as f64;
        if gap > widest {
            (widest, low, high) = (gap, vertex, to.max(vertex));
        }
    }
    segment = 0;
    for &vertex in above {
        while segment + 2 < below.len() && below[segment + 1] <= vertex {
            segment += 1;
        }
        let (from, to) = (below[segment], below[segment + 1]);
        let gap = vertex as f64 + 1.0 - chord(sorted, from, to, sorted[vertex]);
        if gap >= widest {
            (widest, low, high) = (gap, from.min(vertex), vertex);
        }
    }
    (widest, low, high)
}

/// The largest distance, in steps, of the empirical distribution from a hull outside the modal
/// interval: before `edge` for the minorant, after it for the majorant.
fn strain(sorted: &[f64], hull: &[usize], edge: usize, side: Side) -> f64 {
    let mut largest = 1.0_f64;
    for pair in hull.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let outside = match side {
            Side::Below => to <= edge,
            Side::Above => from >= edge,
        };
        if !outside || to - from < 2 {
            continue;
        }
        for (place, &x) in sorted[from..=to].iter().enumerate() {
            let height = chord(sorted, from, to, x);
            let index = (from + place) as f64;
            let distance = match side {
                Side::Below => index + 1.0 - height,
                Side::Above => height + 1.0 - index,
            };
            largest = largest.max(distance);
        }
    }
    largest
}
