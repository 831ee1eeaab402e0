//! What a covariate of requests explains of their excess, out of sample.
//!
//! The requests are parted by time: what is learned from one half of the stretches is tested on
//! the other half, and the other way round, so that a stall, which lies in one stretch, explains
//! nothing of itself. Loss is the sum of absolute differences and a class is represented by its median
//! (least absolute deviations, Koenker & Bassett 1978): a covariate that makes slow requests
//! somewhat likelier, or a tail that is heavy whatever the covariate is, explains nothing.

use super::median::median;

/// A covariate explains the excess if it takes away at least this share of it out of sample: the
/// share from which on a cause is named.
pub const EXPLAINS: f64 = 0.3;
/// Classes of equal size that a covariate with many values is cut into.
const CLASSES: usize = 12;
/// Fewer requests than this on either half show no threshold and no level.
const FEWEST: usize = 6;
/// Thresholds that are tried: quantiles of the covariate of the slow requests.
const TRIED: usize = 48;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The covariate.
    pub x: f64,
    /// What is to be explained, not negative; 0 for a request that is not slow.
    pub y: f64,
    /// The stretch of time that it belongs to: even ones are a half, odd ones the other.
    pub block: u32,
}

/// What a covariate explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// Share of the loss that is gone in what was not learned from; negative if it grew.
    pub removed: f64,
    /// The smaller one of the two halves.
    pub least: f64,
}

impl Explained {
    /// Whether it is enough, on both halves together and not much less on either.
    pub fn is_enough(&self) -> bool {
        self.removed >= EXPLAINS && self.least >= EXPLAINS / 2.0
    }
}

/// A value of the covariate from which on requests are slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// By all requests.
    pub at: f64,
    /// By each half alone.
    pub halves: (f64, f64),
    /// What it explains.
    pub explained: Explained,
}

/// The threshold that explains most; below it nothing is slow, above it the median is what a
/// request has. `None` if a half has too few slow requests, or no threshold above which most are
/// slow.
pub fn threshold(rows: &[Row]) -> Option<Threshold> {
    let (even, odd): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| row.block % 2 == 0);
    let (of_even, of_odd) = (learn(&even)?, learn(&odd)?);
    let explained = gone([
        (of_even.loss(&odd), nothing(&odd)),
        (of_odd.loss(&even), nothing(&even)),
    ])?;
    Some(Threshold {
        at: learn(rows)?.at,
        halves: (of_even.at, of_odd.at),
        explained,
    })
}

/// What the classes of the covariate explain beyond one level for all; `None` if it does not vary,
/// or a half has too few requests.
pub fn levels(rows: &[Row]) -> Option<Explained> {
    let (even, odd): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| row.block % 2 == 0);
    let (of_even, of_odd) = (Levels::learn(&even)?, Levels::learn(&odd)?);
    gone([
        (of_even.loss(&odd), of_even.plain(&odd)),
        (of_odd.loss(&even), of_odd.plain(&even)),
    ])
}

/// What is gone of the losses `(with, without)` of both halves.
fn gone(halves: [(f64, f64); 2]) -> Option<Explained> {
    let share = |(with, without): (f64, f64)| (without > 0.0).then(|| 1.0 - with / without);
    let [a, b] = halves;
    Some(Explained {
        removed: share((a.0 + b.0, a.1 + b.1))?,
        least: share(a)?.min(share(b)?),
    })
}

fn nothing(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.y).sum()
}

/// A threshold and what requests above it have.
struct Step {
    at: f64,
    above: f64,
}

impl Step {
    fn loss(&self, rows: &[Row]) -> f64 {
        let off = |row: &Row| {
            if row.x >= self.at {
                (row.y - self.above).abs()
            } else {
                row.y
            }
        };
        rows.iter().map(off).sum()
    }
}

fn learn(rows: &[Row]) -> Option<Step> {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    let slow: Vec<usize> = (0..sorted.len()).filter(|&i| sorted[i].y > 0.0).collect();
    if slow.len() < FEWEST {
        return None;
    }
    let below: Vec<f64> = sorted
        .iter()
        .scan(0.0, |sum, row| {
            let before = *sum;
            *sum += row.y;
            Some(before)
        })
        .collect();
    let mut best: Option<(f64, Step)> = None;
    for k in 0..TRIED.min(slow.len()) {
        let position = k * slow.len() / TRIED.min(slow.len());
        let at = sorted[slow[position]].x;
        let first = sorted.partition_point(|row| row.x < at);
        let above = &sorted[first..];
        // All slow ones from the first of this value on; ties may hide a few more.
        let many = slow.len() - slow.partition_point(|&i| i < first);
        if 2 * many <= above.len() {
            continue;
        }
        let mut values: Vec<f64> = above.iter().map(|row| row.y).collect();
        let level = median(&mut values)?;
        let loss = below[first] + above.iter().map(|row| (row.y - level).abs()).sum::<f64>();
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, Step { at, above: level }));
        }
    }
    best.map(|(_, step)| step)
}

/// Classes of a covariate, each with its median, and the median of all.
struct Levels {
    /// Lower edges of all classes but the first, ascending.
    edges: Vec<f64>,
    medians: Vec<f64>,
    all: f64,
}

impl Levels {
    fn learn(rows: &[Row]) -> Option<Self> {
        if rows.len() < FEWEST {
            return None;
        }
        let mut xs: Vec<f64> = rows.iter().map(|row| row.x).collect();
        xs.sort_unstable_by(f64::total_cmp);
        let cut = |k: usize| xs[k * xs.len() / CLASSES];
        let mut edges: Vec<f64> = (1..CLASSES).map(cut).filter(|&x| x > xs[0]).collect();
        edges.dedup_by(|a, b| a.total_cmp(b).is_eq());
        if edges.is_empty() {
            return None;
        }
        let mut classes: Vec<Vec<f64>> = vec![Vec::new(); edges.len() + 1];
        for row in rows {
            classes[class(&edges, row.x)].push(row.y);
        }
        let mut all: Vec<f64> = rows.iter().map(|row| row.y).collect();
        let all = median(&mut all)?;
        let medians = classes.iter_mut().map(|of| median(of).unwrap_or(all));
        Some(Self {
            medians: medians.collect(),
            edges,
            all,
        })
    }

    fn loss(&self, rows: &[Row]) -> f64 {
        let off = |row: &Row| (row.y - self.medians[class(&self.edges, row.x)]).abs();
        rows.iter().map(off).sum()
    }

    fn plain(&self, rows: &[Row]) -> f64 {
        rows.iter().map(|row| (row.y - self.all).abs()).sum()
    }
}

fn class(edges: &[f64], x: f64) -> usize {
    edges.partition_point(|&edge| edge <= x)
}
