//! What the windows of a sweep say together.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use slowpath_core::plan::below;
use slowpath_core::stats::kneedle;

use super::clusters::RunMode;
use super::cost::{Cost, cost};
use super::grid::Dimension;
use super::knee::{Knee, knee};
use super::level::{Level, is_held_up, levels, undisturbed};
use super::needed::{Comparison, runs_needed};
use super::threshold::{Hit, Threshold, ThresholdKind, threshold};
use super::usl::{LEVELS_FEWEST, Usl, fit_robust};
use super::window::Window;

/// From this share of failed requests on, a level counts as one with errors: more than a stray
/// reset of a closed keep-alive connection.
const ERRORS_FROM: f64 = 0.01;
/// Less than this part of what fewer connections had, even in their worst window, is a collapse
/// and no plateau, if all windows agree.
const COLLAPSE_BELOW: f64 = 0.5;
/// Less than this share answered within the window is not keeping up.
const BEHIND_BELOW: f64 = 0.95;
/// The class of requests that took too long: by the client's fault as well as the target's.
const TIMEOUT: &str = "timeout";
/// A fit that is off by more than this (root mean square) does not describe the levels: the ones
/// that are published for servers are off by a tenth.
const FIT_ERROR_MOST: f64 = 0.25;
/// A single window may be anything: a collapse is one that is seen again.
const AGREEING_FEWEST: usize = 2;
/// Parameters of the law.
const PARAMETERS: f64 = 3.0;
/// Squares of the six equally likely weights, with the signs of the weights.
const WEBB_SQUARES: [f64; 6] = [-1.5, -1.0, -0.5, 0.5, 1.0, 1.5];
/// Resamples of the fit: enough for the 2.5 % ends.
const RESAMPLES: usize = 200;
/// A mode of probability `p` is compared with what a good change would make of it: a fifth.
const CHANGE: f64 = 0.2;

/// The answer of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// All levels, ascending.
    pub levels: Vec<Level>,
    /// Where more connections stop buying throughput; `null` if that was not reached, or where
    /// something else was varied.
    pub knee: Option<Knee>,
    /// The level at which throughput bends most (Satopää et al. 2011): a marker, which can only be
    /// a level that was measured; `null` where nothing bends, or something else was varied.
    #[serde(default)]
    pub bend_at: Option<f64>,
    /// The universal scalability law through all windows that count.
    pub usl: Option<Scalability>,
    /// Why there is none.
    pub usl_refused: Option<String>,
    /// What a byte costs; only where sizes were varied.
    pub cost: Option<Cost>,
    /// Why that is not known.
    pub cost_refused: Option<String>,
    /// What begins to happen, and where.
    pub thresholds: Vec<(ThresholdKind, Threshold)>,
    /// Levels whose runs fall into modes.
    pub split: Vec<SplitLevel>,
    /// Windows left out of all fits since the client was the limit.
    pub client_limited: u32,
}

/// The law with what the windows allow for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scalability {
    /// The fit.
    pub law: Usl,
    /// 95 % interval of sigma, by resampling the errors of whole levels.
    pub sigma: (f64, f64),
    /// The same of kappa.
    pub kappa: (f64, f64),
    /// The same of the place of the peak; `null` unless a decline was measured and nearly all
    /// resamples have one.
    pub peak_at: Option<(f64, f64)>,
    /// The largest level that the fit rests on.
    pub largest: f64,
    /// Throughput there as a share of that many times one.
    pub efficiency_at_most: f64,
}

/// A level whose runs are not alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        scalability(&levels, windows, seed)
    } else {
        Err("the law is about users of a closed loop".to_owned())
    };
    let cost = if dimension == Dimension::Size {
        let known = counting
            .iter()
            .filter_map(|l| Some((l.level, l.p50_ms.value?)));
        cost(&known.collect::<Vec<_>>())
    } else {
        Err("it is about sizes".to_owned())
    };
    Analysis {
        cost_refused: cost.as_ref().err().cloned(),
        cost: cost.ok(),
        knee: if over_users { knee(&counting) } else { None },
        bend_at: over_users.then(|| bend(&counting)).flatten(),
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

fn bend(levels: &[&Level]) -> Option<f64> {
    let points = levels.iter().map(|l| (l.level, l.per_s.median));
    kneedle::knee(&points.collect::<Vec<_>>())
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
    let mut calm = calm(windows);
    calm.retain(|w| w.level > 0.0);
    let counting: Vec<&Window> = calm.iter().copied().filter(|w| w.counts()).collect();
    let find = |kind, of: &[&Window], happened: &dyn Fn(&Window) -> bool| {
        let hits: Vec<Hit> = of
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
    let refused = refusing(dimension, &calm);
    all.extend(find(ThresholdKind::Errors, &refused, &|w| {
        refusals(w) >= ERRORS_FROM
    }));
    match dimension {
        Dimension::Connections => {
            let collapsed = collapsed(&counting);
            all.extend(find(ThresholdKind::Collapse, &counting, &|w| {
                collapsed
                    .iter()
                    .any(|level| level.total_cmp(&w.level).is_eq())
            }));
        }
        Dimension::Rate => all.extend(find(ThresholdKind::FallingBehind, &counting, &|w| {
            w.served() < BEHIND_BELOW
        })),
        Dimension::Size => {}
    }
    all
}

/// The windows whose errors say something about the target. So many connections are so many
/// however slowly we send on them.
fn refusing<'a>(dimension: Dimension, calm: &[&'a Window]) -> Vec<&'a Window> {
    let says = |w: &&&Window| match dimension {
        Dimension::Connections => w.invalid.is_none(),
        Dimension::Rate | Dimension::Size => w.counts(),
    };
    calm.iter().filter(says).copied().collect()
}

/// Failed requests as a share of those offered, without the timeouts of a client that was late
/// itself.
fn refusals(window: &Window) -> f64 {
    if window.client_limited.is_none() {
        return window.failing();
    }
    let others = window.errors.iter().filter(|e| e.class != TIMEOUT);
    others.map(|e| e.share).fold(0.0, |sum, share| sum + share)
}

/// Levels at which every window had less than half of what the worst window of a lower level had,
/// several windows each, and of which other processes held up fewer than half.
fn collapsed(windows: &[&Window]) -> Vec<f64> {
    let same = |a: &&Window, b: &&Window| a.level.total_cmp(&b.level).is_eq();
    let repeated = windows
        .chunk_by(same)
        .filter(|level| level.len() >= AGREEING_FEWEST);
    let mut best: Option<&[&Window]> = None;
    let worst = |level: &[&Window]| level.iter().map(|w| w.per_s).fold(f64::INFINITY, f64::min);
    let mut found = Vec::new();
    for level in repeated {
        if let Some(best) = best {
            let most = level.iter().map(|w| w.per_s).fold(0.0, f64::max);
            let beside = best.iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s));
            let held_up = |w: &&&Window| beside.is_some_and(|beside| is_held_up(w, beside));
            let by_host = 2 * level.iter().filter(held_up).count() >= level.len();
            if most < COLLAPSE_BELOW * worst(best) && !by_host {
                found.push(level[0].level);
            }
        }
        if best.is_none_or(|best| worst(level) > worst(best)) {
            best = Some(level);
        }
    }
    found
}

/// The law through all windows that count, with intervals; else why not.
fn scalability(levels: &[Level], windows: &[Window], seed: u64) -> Result<Scalability, String> {
    let calm = calm(windows);
    let groups: Vec<Vec<(f64, f64)>> = levels
        .iter()
        .map(|l| {
            let own = calm.iter().filter(|w| w.level.total_cmp(&l.level).is_eq());
            let counting = own.filter(|w| w.counts() && w.failing() < ERRORS_FROM);
            let points = counting.map(|w| (w.level, l.per_s_of(w)));
            points.filter(|(_, per_s)| *per_s > 0.0).collect()
        })
        .filter(|group: &Vec<(f64, f64)>| !group.is_empty())
        .collect();
    if groups.len() < LEVELS_FEWEST {
        let have = groups.len();
        return Err(format!(
            "needs {LEVELS_FEWEST} levels that count, has {have}"
        ));
    }
    let mut law = fit_robust(&groups.concat()).ok_or("the windows do not determine it")?;
    if law.error > FIT_ERROR_MOST {
        let off = (law.error * 100.0).round();
        return Err(format!(
            "it is off by {off} %, so it does not describe these levels"
        ));
    }
    if !declines(&groups) {
        // The law has a peak wherever a plateau bends it; only a decline shows that there is one.
        (law.peak_at, law.peak) = (None, None);
    }
    let resampled = resampled(&law, &groups, seed);
    let largest = groups.last().and_then(|g| g.first()).map_or(1.0, |p| p.0);
    let peaks: Vec<f64> = resampled.iter().filter_map(|r| r.peak_at).collect();
    let nearly_all = peaks.len() as f64 >= 0.95 * resampled.len() as f64;
    Ok(Scalability {
        law,
        sigma: middle_95(resampled.iter().map(|r| r.sigma).collect()),
        kappa: middle_95(resampled.iter().map(|r| r.kappa).collect()),
        peak_at: (law.peak_at.is_some() && nearly_all).then(|| middle_95(peaks)),
        largest,
        efficiency_at_most: law.efficiency(largest),
    })
}

/// Whether every window at the largest level had less than every one at some lower level.
fn declines(groups: &[Vec<(f64, f64)>]) -> bool {
    let Some((last, lower)) = groups.split_last() else {
        return false;
    };
    let most = last.iter().map(|p| p.1).fold(0.0, f64::max);
    let worst = |group: &Vec<(f64, f64)>| group.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    lower.iter().any(|group| worst(group) > most)
}

/// Fits of what might have been measured: the wild bootstrap by levels (Cameron, Gelbach & Miller
/// 2008) with the six weights of Webb (2014), for levels are few. The windows of a level keep
/// their common error, so what the law does not describe is in the intervals, and so is the
/// scatter; a single window for each level is enough.
fn resampled(law: &Usl, groups: &[Vec<(f64, f64)>], seed: u64) -> Vec<Usl> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = groups.len() as f64;
    let inflation = (count / (count - PARAMETERS)).sqrt();
    let mut fits = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut points = Vec::new();
        for group in groups {
            let drawn = WEBB_SQUARES[below(&mut random, WEBB_SQUARES.len() as u64) as usize];
            let weight = inflation * f64::sqrt(f64::abs(drawn)).copysign(drawn);
            let varied = |&(n, x): &(f64, f64)| {
                let expected = law.at(n);
                (n, expected * (x / expected).powf(weight))
            };
            points.extend(group.iter().map(varied));
        }
        fits.extend(fit_robust(&points));
    }
    fits
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
