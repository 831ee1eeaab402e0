//! Which level to measure next: where a threshold lies, and where throughput bends most.

use serde::{Deserialize, Serialize};

use super::analysis::thresholds;
use super::grid::Dimension;
use super::level::levels;
use super::threshold::ThresholdKind;
use super::window::Window;

/// A threshold between two levels that are closer than this factor is known well enough.
const CLOSE_ENOUGH: f64 = 1.08;
/// A bend of the logarithm of throughput below this (15 %) is no knee.
const BEND_LEAST: f64 = 0.15;

/// A level that was added, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refinement {
    /// The level.
    pub level: f64,
    /// Why it was chosen.
    pub why: Why,
}

/// Why a level is worth measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A threshold lies somewhere here.
    Threshold(ThresholdKind),
    /// Throughput bends here.
    Bend,
}

/// The next level to measure, if one is worth it: thresholds take turns with the bend, and each
/// gap is halved on the scale of ratios.
pub fn refine(dimension: Dimension, windows: &[Window], done: &[Refinement]) -> Option<Refinement> {
    let at_bends = done.iter().filter(|r| r.why == Why::Bend).count();
    let bend = || bend(dimension, windows);
    let halved = || halved(dimension, windows);
    // A threshold is one number, a bend is only a shape: two turns of three for thresholds.
    if 2 * at_bends < done.len() - at_bends {
        bend().or_else(halved)
    } else {
        halved().or_else(bend)
    }
}

/// The middle of the widest gap that holds a threshold.
fn halved(dimension: Dimension, windows: &[Window]) -> Option<Refinement> {
    let gaps = thresholds(dimension, windows)
        .into_iter()
        .filter_map(|(kind, found)| {
            let low = found.last_without?;
            let ratio = found.first_with / low;
            let level = middle(dimension, low, found.first_with)?;
            let is_new = !is_measured(windows, level);
            (is_new && ratio > CLOSE_ENOUGH).then_some((
                ratio,
                Refinement {
                    level,
                    why: Why::Threshold(kind),
                },
            ))
        });
    gaps.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, refinement)| refinement)
}

/// Whether a level has windows, though they may not count: it is not measured again.
fn is_measured(windows: &[Window], level: f64) -> bool {
    windows.iter().any(|w| w.level.total_cmp(&level).is_eq())
}

/// The middle of the wider gap beside the level at which throughput bends most.
fn bend(dimension: Dimension, windows: &[Window]) -> Option<Refinement> {
    let levels = levels(windows);
    let points: Vec<(f64, f64)> = levels
        .iter()
        .filter(|l| l.counts() && l.level > 0.0 && l.per_s.median > 0.0)
        .map(|l| (l.level, l.per_s.median.ln()))
        .collect();
    let mut best: Option<(f64, f64)> = None;
    for three in points.windows(3) {
        let [low, mid, high] = [three[0], three[1], three[2]];
        let (left, right) = ((mid.0 / low.0).ln(), (high.0 / mid.0).ln());
        // How far the middle lies off the line between its neighbours.
        let line = low.1 + (high.1 - low.1) * left / (left + right);
        let off = (mid.1 - line).abs();
        let (from, to) = if left >= right {
            (low.0, mid.0)
        } else {
            (mid.0, high.0)
        };
        let between = middle(dimension, from, to);
        let Some(level) = between.filter(|&level| !is_measured(windows, level)) else {
            continue;
        };
        if off > BEND_LEAST && best.is_none_or(|(most, _)| off > most) {
            best = Some((off, level));
        }
    }
    best.map(|(_, level)| Refinement {
        level,
        why: Why::Bend,
    })
}

/// The level between two others whose ratio to both is the same; `None` if there is none.
fn middle(dimension: Dimension, low: f64, high: f64) -> Option<f64> {
    if low <= 0.0 {
        return None;
    }
    let middle = (low * high).sqrt();
    let level = if dimension.is_whole() {
        middle.round()
    } else {
        round_3(middle)
    };
    (low < level && level < high).then_some(level)
}

/// Three significant digits: a rate that a person can say.
fn round_3(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}
