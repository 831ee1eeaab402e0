//! Periods in a level, such as the median of each second, by the periodogram of Lomb and Scargle.
//!
//! For events use [`super::stalls`]. Here a value per moment, unevenly spaced and of uneven
//! weight, rises and falls. Neighbouring seconds resemble each other for other reasons than a
//! period, so the chance is taken from shuffled stretches of ten seconds and not from a formula.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::random::Draw;

/// Stretches that are shuffled whole: what lasts a few seconds stays together.
pub const BLOCK_NS: f64 = 10e9;

/// Shortest period looked for: shuffling stretches says nothing of what fits into one.
pub const SHORTEST_NS: f64 = 2.0 * BLOCK_NS;

/// The series holds the period at least this often.
pub const FEWEST_PERIODS: f64 = 4.0;

/// Trial frequencies per inverse length of the series.
const STEPS: f64 = 3.0;

/// Shuffles; the smallest chance that can be seen is a 200th.
const SHUFFLES: u32 = 199;

/// Largest chance of a period.
pub const LARGEST_P: f64 = 0.01;

/// Levels examined, neighbours averaged until they are no more; the shuffles then take a tenth
/// of a second.
const MOST_LEVELS: usize = 360;

/// A period holds at least this many levels.
const LEVELS_PER_PERIOD: f64 = 4.0;

/// Seed of the shuffles.
const SEED: u64 = 0x6c73;

/// The level at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// When, in nanoseconds from any zero.
    pub at_ns: f64,
    /// The level, best as a logarithm.
    pub value: f64,
    /// Its weight, such as the number of requests that it rests on; more than 0.
    pub weight: f64,
}

/// A period of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// The period.
    pub period_ns: f64,
    /// Share of the variance that a sine of this period explains, in `0..=1`.
    pub power: f64,
    /// Chance of such a power at any of the periods tried, by shuffles.
    pub p: f64,
}

/// The normalised periodogram at one period: the share of the weighted variance around the
/// weighted mean that a sine explains (Scargle 1982; `normalize=True` of scipy.signal).
/// 0 for a level that does not move.
pub fn power(levels: &[Level], period_ns: f64) -> f64 {
    let values = centred(levels);
    let waves = Waves::new(levels, period_ns);
    waves.power(levels, &values)
}

/// The period that a level in ascending time swings with, if it does.
///
/// Tries periods from 20 s, or four levels, to a quarter of the series.
pub fn swing(levels: &[Level]) -> Option<Swing> {
    let levels = averaged(levels);
    let span = levels.last()?.at_ns - levels.first()?.at_ns;
    let shortest = SHORTEST_NS.max(LEVELS_PER_PERIOD * span / levels.len() as f64);
    if span < FEWEST_PERIODS * shortest {
        return None;
    }
    let (lowest, highest) = (
        (FEWEST_PERIODS * STEPS) as usize,
        (STEPS * span / shortest) as usize,
    );
    let trials: Vec<(f64, Waves)> = (lowest..=highest)
        .map(|step| STEPS * span / step as f64)
        .map(|period| (period, Waves::new(&levels, period)))
        .collect();
    let values = centred(&levels);
    let best = |values: &[f64]| {
        let powers = trials
            .iter()
            .map(|(period, waves)| (*period, waves.power(&levels, values)));
        powers.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (period_ns, power) = best(&values)?;
    let blocks = blocks(&levels);
    let mut draw = Draw::new(SEED);
    let mut as_high = 0;
    for _ in 0..SHUFFLES {
        let shuffled = shuffled(&values, &blocks, &mut draw);
        as_high += u32::from(best(&shuffled).is_some_and(|(_, other)| other >= power));
    }
    let p = f64::from(as_high + 1) / f64::from(SHUFFLES + 1);
    (power > 0.0 && p <= LARGEST_P).then_some(Swing {
        period_ns,
        power,
        p,
    })
}

/// Sine and cosine at each moment, shifted so that they are independent, and their squares.
struct Waves {
    cos: Vec<f64>,
    sin: Vec<f64>,
    cos_squared: f64,
    sin_squared: f64,
}

impl Waves {
    fn new(levels: &[Level], period_ns: f64) -> Self {
        let angle = |level: &Level| TAU * (level.at_ns / period_ns).fract();
        let (mut cos_twice, mut sin_twice) = (0.0, 0.0);
        for level in levels {
            let (sin, cos) = (2.0 * angle(level)).sin_cos();
            cos_twice += level.weight * cos;
            sin_twice += level.weight * sin;
        }
        let shift = 0.5 * sin_twice.atan2(cos_twice);
        let (sin, cos): (Vec<f64>, Vec<f64>) = levels
            .iter()
            .map(|level| (angle(level) - shift).sin_cos())
            .unzip();
        let squared = |wave: &[f64]| -> f64 {
            let weighted = wave
                .iter()
                .zip(levels)
                .map(|(w, level)| level.weight * w * w);
            weighted.sum()
        };
        Self {
            cos_squared: squared(&cos),
            sin_squared: squared(&sin),
            cos,
            sin,
        }
    }

    fn power(&self, levels: &[Level], values: &[f64]) -> f64 {
        let (mut cos, mut sin, mut total) = (0.0, 0.0, 0.0);
        for (i, level) in levels.iter().enumerate() {
            let weighted = level.weight * values[i];
            cos += weighted * self.cos[i];
            sin += weighted * self.sin[i];
            total += weighted * values[i];
        }
        let part = |sum: f64, squared: f64| {
            if squared > 0.0 {
                sum * sum / squared
            } else {
                0.0
            }
        };
        if total > 0.0 {
            (part(cos, self.cos_squared) + part(sin, self.sin_squared)) / total
        } else {
            0.0
        }
    }
}

/// The values less their weighted mean.
fn centred(levels: &[Level]) -> Vec<f64> {
    let total: f64 = levels.iter().map(|level| level.weight).sum();
    let mean = levels
        .iter()
        .map(|level| level.weight * level.value)
        .sum::<f64>()
        / total;
    levels.iter().map(|level| level.value - mean).collect()
}

/// Neighbours averaged until there are at most [`MOST_LEVELS`].
fn averaged(levels: &[Level]) -> Vec<Level> {
    let each = levels.len().div_ceil(MOST_LEVELS).max(1);
    let mean = |group: &[Level]| {
        let weight: f64 = group.iter().map(|level| level.weight).sum();
        let by = |of: fn(&Level) -> f64| {
            group
                .iter()
                .map(|level| level.weight * of(level))
                .sum::<f64>()
                / weight
        };
        Level {
            at_ns: by(|level| level.at_ns),
            value: by(|level| level.value),
            weight,
        }
    };
    levels.chunks(each).map(mean).collect()
}

/// Where each stretch of [`BLOCK_NS`] begins, and the end.
fn blocks(levels: &[Level]) -> Vec<usize> {
    let first = levels[0].at_ns;
    let block = |level: &Level| ((level.at_ns - first) / BLOCK_NS) as u64;
    let begins = (1..levels.len()).filter(|&i| block(&levels[i]) != block(&levels[i - 1]));
    std::iter::once(0)
        .chain(begins)
        .chain(std::iter::once(levels.len()))
        .collect()
}

/// The values with their stretches in another order (Fisher & Yates).
fn shuffled(values: &[f64], blocks: &[usize], draw: &mut Draw) -> Vec<f64> {
    let mut order: Vec<&[usize]> = blocks.windows(2).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, draw.index(last + 1));
    }
    let stretch = |ends: &[usize]| values[ends[0]..ends[1]].to_vec();
    order.into_iter().flat_map(stretch).collect()
}
