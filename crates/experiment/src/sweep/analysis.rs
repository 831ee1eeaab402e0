//! What the windows of a sweep say together.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use slowpath_core::plan::below;

use super::clusters::RunMode;
use super::grid::Dimension;
use super::knee::{Knee, knee};
use super::level::{Level, levels, undisturbed};
use super::needed::{Comparison, runs_needed};
use super::threshold::{Hit, Threshold, ThresholdKind, threshold};
use super::usl::{LEVELS_FEWEST, Usl, fit_robust};
use super::window::Window;

/// From this share of failed requests on, a level counts as one with errors: more than a stray
/// reset of a closed keep-alive connection.
const ERRORS_FROM: f64 = 0.01;
/// Less than this part of what fewer connections had, even in their worst window, is a collapse
/// and no plateau.
const COLLAPSE_BELOW: f64 = 0.5;
/// Less than this share answered within the window is falling behind.
const BEHIND_BELOW: f64 = 0.95;
/// A fit that is off by more than this (root mean square) does not describe the levels: the ones
/// that are published for servers are off by a tenth.
const FIT_ERROR_MOST: f64 = 0.25;
/// Resamples of the fit: enough for the 2.5 % ends.
const RESAMPLES: usize = 200;
/// A mode of probability `p` is compared with what a good change would make of it: a fifth.
const CHANGE: f64 = 0.2;

/// The answer of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// All levels, ascending.
    pub levels: Vec<Level>,
    /// Where more connections stop buying throughput; `null` if that was not reached, or where
    /// something else was varied.
    pub knee: Option<Knee>,
    /// The universal scalability law through all windows that count.
    pub usl: Option<Scalability>,
    /// Why there is none.
    pub usl_refused: Option<String>,
    /// What begins to happen, and where.
    pub thresholds: Vec<(ThresholdKind, Threshold)>,
    /// Levels whose runs fall into modes.
    pub split: Vec<SplitLevel>,
    /// Windows left out of all fits since the client was the limit.
    pub client_limited: u32,
}

/// The law with what the windows allow for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// The fit.
    pub law: Usl,
    /// 95 % interval of sigma, by resampling windows within levels.
    pub sigma: (f64, f64),
    /// The same of kappa.
    pub kappa: (f64, f64),
    /// The same of the place of the peak; `null` unless nearly all resamples have one.
    pub peak_at: Option<(f64, f64)>,
    /// Throughput at the largest level as a share of that many times one.
    pub efficiency_at_most: f64,
}

/// A level whose runs are not alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitLevel {
    /// The level.
    pub level: f64,
    /// Its modes, the fastest first.
    pub modes: Vec<RunMode>,
    /// How many runs it takes to see that a change makes the slower modes five times rarer.
    pub comparison: Comparison,
}

/// Analyses windows in any order. The seed decides the resamples.
pub fn analyse(dimension: Dimension, windows: &[Window], seed: u64) -> Analysis {
    let levels = levels(windows);
    let serving = |l: &&Level| l.counts() && l.failing() < ERRORS_FROM;
    let counting: Vec<&Level> = levels.iter().filter(serving).collect();
    let is_closed = windows.iter().all(|w| w.little.is_some());
    let over_users = dimension == Dimension::Connections && is_closed;
    let law = if over_users {
        scalability(windows, seed)
    } else {
        Err("the law is about users of a closed loop".to_owned())
    };
    Analysis {
        knee: if over_users { knee(&counting) } else { None },
        usl_refused: law.as_ref().err().cloned(),
        usl: law.ok(),
        thresholds: thresholds(dimension, windows),
        split: levels.iter().filter_map(split_level).collect(),
        client_limited: windows
            .iter()
            .filter(|w| w.client_limited.is_some())
            .count() as u32,
        levels,
    }
}

/// The windows of all levels that other processes did not disturb, in ascending order of level.
fn calm(windows: &[Window]) -> Vec<&Window> {
    let mut all: Vec<&Window> = windows.iter().collect();
    all.sort_by(|a, b| a.level.total_cmp(&b.level));
    let same = all.chunk_by(|a, b| a.level.total_cmp(&b.level).is_eq());
    same.flat_map(undisturbed).collect()
}

/// All thresholds that the windows show.
pub(super) fn thresholds(
    dimension: Dimension,
    windows: &[Window],
) -> Vec<(ThresholdKind, Threshold)> {
    let calm = calm(windows);
    let counting: Vec<&Window> = calm
        .into_iter()
        .filter(|w| w.counts() && w.level > 0.0)
        .collect();
    let find = |kind, happened: &dyn Fn(&Window) -> bool| {
        let hits: Vec<Hit> = counting
            .iter()
            .map(|w| Hit {
                level: w.level,
                happened: happened(w),
            })
            .collect();
        // Beyond the levels a threshold was not reached, only approached.
        let highest = hits.iter().map(|h| h.level).fold(0.0, f64::max);
        let found = threshold(&hits).filter(|found| found.at <= highest)?;
        Some((kind, found))
    };
    let mut all = Vec::new();
    all.extend(find(ThresholdKind::Errors, &|w| w.failing() >= ERRORS_FROM));
    match dimension {
        Dimension::Connections => {
            let levels = levels(windows);
            all.extend(find(ThresholdKind::Collapse, &|w| {
                let lower = levels.iter().filter(|l| l.level < w.level && l.counts());
                let most = lower.map(|l| l.per_s.low).fold(0.0, f64::max);
                w.steady_per_s() < COLLAPSE_BELOW * most
            }));
        }
        Dimension::Rate => all.extend(find(ThresholdKind::FallingBehind, &|w| {
            w.served() < BEHIND_BELOW
        })),
        Dimension::Size => {}
    }
    all
}

/// The law through all windows that count, with intervals; else why not.
fn scalability(windows: &[Window], seed: u64) -> Result<Scalability, String> {
    let mut groups: Vec<Vec<(f64, f64)>> = Vec::new();
    let counting: Vec<&Window> = calm(windows)
        .into_iter()
        .filter(|w| w.counts() && w.failing() < ERRORS_FROM && w.steady_per_s() > 0.0)
        .collect();
    for same in counting.chunk_by(|a, b| a.level.total_cmp(&b.level).is_eq()) {
        groups.push(same.iter().map(|w| (w.level, w.steady_per_s())).collect());
    }
    if groups.len() < LEVELS_FEWEST {
        let have = groups.len();
        return Err(format!(
            "needs {LEVELS_FEWEST} levels that count, has {have}"
        ));
    }
    let law = fit_robust(&groups.concat()).ok_or("the windows do not determine it")?;
    if law.error > FIT_ERROR_MOST {
        let off = (law.error * 100.0).round();
        return Err(format!(
            "it is off by {off} %, so it does not describe these levels"
        ));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut resampled = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut points = Vec::with_capacity(counting.len());
        for group in &groups {
            let draw = |_: &(f64, f64)| group[below(&mut random, group.len() as u64) as usize];
            points.extend(group.iter().map(draw));
        }
        resampled.extend(fit_robust(&points));
    }
    let largest = groups.last().and_then(|g| g.first()).map_or(1.0, |p| p.0);
    let peaks: Vec<f64> = resampled.iter().filter_map(|r| r.peak_at).collect();
    let nearly_all = peaks.len() as f64 >= 0.95 * resampled.len() as f64;
    Ok(Scalability {
        law,
        sigma: middle_95(resampled.iter().map(|r| r.sigma).collect()),
        kappa: middle_95(resampled.iter().map(|r| r.kappa).collect()),
        peak_at: (law.peak_at.is_some() && nearly_all).then(|| middle_95(peaks)),
        efficiency_at_most: law.efficiency(largest),
    })
}

/// The 2.5 % and 97.5 % points.
fn middle_95(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |p| slowpath_core::stats::quantile::type_1(&values, p).unwrap_or_default();
    (at(0.025), at(0.975))
}

fn split_level(level: &Level) -> Option<SplitLevel> {
    let fastest = level
        .modes
        .first()
        .filter(|_| level.modes.len() > 1 && level.counts())?;
    let from = 1.0 - fastest.share;
    let to = CHANGE * from;
    Some(SplitLevel {
        level: level.level,
        modes: level.modes.clone(),
        comparison: Comparison {
            from,
            to,
            runs_each: runs_needed(from, to),
        },
    })
}
