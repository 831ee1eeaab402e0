//! Modes of the latency that appeared or vanished.
//!
//! Whether one that both sides have has moved is said by the percentiles, which are compared with
//! what they scatter by.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{ModeFigure, RunFigures};
use slowpath_core::stats::fdr::{CLAIMED_UP_TO, benjamini_hochberg};
use slowpath_core::stats::fisher::{Table, fisher};
use slowpath_core::stats::median::median;

/// Modes of different runs of a side that all lie within this factor are one: a mode that is work
/// moves from run to run by that much. Modes that one run separates stay apart, however close.
const ONE_WITHIN: f64 = 1.25;
/// Of the two sides, modes within this factor are the same mode, which may have moved.
const SAME_WITHIN: f64 = 1.5;
/// A mode is missing on a side only if so many of its requests were to be expected there: the
/// detector needs 25 of them, and with 50 expected finds as many in all but one of 10,000 runs.
const EXPECTED_LEAST: f64 = 50.0;
/// ... and only if its weight is above the 0.2 % that the detector needs, with room for chance.
const WEIGHT_LEAST: f64 = 0.004;
/// A mode counts as one of a side if so large a share of its runs have it.
const RUNS_LEAST: f64 = 0.5;

/// What became of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// It is in B, and not in A.
    Appeared,
    /// It is in A, and not in B.
    Vanished,
}

/// A mode that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeChange {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// What became of it.
    pub what: What,
    /// Where it lies, in nanoseconds.
    pub at_ns: f64,
    /// Its share of the requests there.
    pub weight: f64,
    /// In how many runs of the side with it.
    pub runs: u64,
    /// Of how many.
    pub of_runs: u64,
    /// Chance that the mode is in as many runs of that side and in none of the other, if it comes
    /// and goes in both alike (Fisher, over runs), adjusted for the modes that one side only has.
    pub p: f64,
    /// Whether that is beyond chance. Three runs a side never are, four are.
    pub is_shown: bool,
}

/// A mode of a side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideMode {
    pub(crate) at_ns: f64,
    pub(crate) weight: f64,
    pub(crate) runs: u64,
    /// Half the distance between the places where runs had it; 0 of a single run.
    pub(crate) half_width_ns: f64,
}

/// The modes of one subject over the runs of a side, the fastest first: neighbours from different
/// runs are joined, the closest first, as long as all lie within [`ONE_WITHIN`].
pub(crate) fn side_modes(runs: &[&RunFigures], subject: &str) -> Vec<SideMode> {
    let mut all: Vec<(usize, &ModeFigure)> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let of = run.modes.iter().filter(|mode| mode.subject == subject);
        all.extend(of.map(|mode| (at, mode)));
    }
    all.sort_by(|a, b| a.1.at_ns.total_cmp(&b.1.at_ns));
    let mut groups: Vec<Vec<(usize, &ModeFigure)>> = all.into_iter().map(|one| vec![one]).collect();
    while let Some(at) = closest(&groups) {
        let above = groups.remove(at + 1);
        groups[at].extend(above);
    }
    let modes = groups.iter().filter_map(|group| {
        let (least, most) = (group.first()?.1.at_ns, group.last()?.1.at_ns);
        Some(SideMode {
            at_ns: of_group(group, |mode| mode.at_ns)?,
            weight: of_group(group, |mode| mode.weight)?,
            runs: group.len() as u64,
            half_width_ns: (most - least) / 2.0,
        })
    });
    modes.collect()
}

/// The lower of the two neighbouring groups that are closest among those that may be one.
fn closest(groups: &[Vec<(usize, &ModeFigure)>]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (at, pair) in groups.windows(2).enumerate() {
        let (low, high) = (&pair[0], &pair[1]);
        let (Some(least), Some(most)) = (low.first(), high.last()) else {
            continue;
        };
        let width = most.1.at_ns / least.1.at_ns;
        let has_both = || {
            low.iter()
                .any(|(run, _)| high.iter().any(|(other, _)| run == other))
        };
        if width <= ONE_WITHIN && best.is_none_or(|(least, _)| width < least) && !has_both() {
            best = Some((width, at));
        }
    }
    best.map(|(_, at)| at)
}

fn of_group(group: &[(usize, &ModeFigure)], of: fn(&ModeFigure) -> f64) -> Option<f64> {
    let mut values: Vec<f64> = group.iter().map(|(_, mode)| of(mode)).collect();
    median(&mut values)
}

/// The subjects that have modes, each once, in order.
pub(crate) fn subjects(runs: &[&RunFigures]) -> Vec<String> {
    let mut subjects: Vec<String> = Vec::new();
    for mode in runs.iter().flat_map(|run| &run.modes) {
        if !subjects.contains(&mode.subject) {
            subjects.push(mode.subject.clone());
        }
    }
    subjects
}

/// The modes that only one side has, subject by subject.
pub(super) fn changes(a: &[&RunFigures], b: &[&RunFigures]) -> Vec<ModeChange> {
    let both: Vec<&RunFigures> = a.iter().chain(b).copied().collect();
    let mut changes = Vec::new();
    for subject in subjects(&both) {
        let (fewest_a, fewest_b) = (fewest(a, &subject), fewest(b, &subject));
        let (of_a, of_b) = (side_modes(a, &subject), side_modes(b, &subject));
        let pairs = paired(&of_a, &of_b);
        let sides = [
            (What::Appeared, &of_b, (b.len(), a.len()), fewest_a),
            (What::Vanished, &of_a, (a.len(), b.len()), fewest_b),
        ];
        for (what, modes, (of_runs, other), fewest) in sides {
            let is_paired = |at: usize| {
                let mut pairs = pairs.iter();
                pairs.any(|&(in_a, in_b)| at == if what == What::Appeared { in_b } else { in_a })
            };
            for (at, mode) in modes.iter().enumerate() {
                if !is_paired(at) && is_missing(mode, of_runs, fewest) {
                    changes.push(ModeChange {
                        subject: subject.clone(),
                        what,
                        at_ns: mode.at_ns,
                        weight: mode.weight,
                        runs: mode.runs,
                        of_runs: of_runs as u64,
                        p: by_chance(mode.runs, of_runs as u64, other as u64),
                        is_shown: false,
                    });
                }
            }
        }
    }
    let ps: Vec<f64> = changes.iter().map(|change| change.p).collect();
    for (change, adjusted) in changes.iter_mut().zip(benjamini_hochberg(&ps)) {
        change.p = adjusted;
        change.is_shown = adjusted <= CLAIMED_UP_TO;
    }
    changes
}

/// The chance that `runs` of `of_runs` have a mode and none of `other` has, if sides do not matter.
fn by_chance(runs: u64, of_runs: u64, other: u64) -> f64 {
    let table = Table {
        with_hit: runs,
        with_miss: of_runs - runs,
        without_hit: 0,
        without_miss: other,
    };
    fisher(table).two_sided
}

/// Whether the absence of a mode on the other side, whose smallest run examined `fewest`
/// requests, means something.
fn is_missing(mode: &SideMode, of_runs: usize, fewest: u64) -> bool {
    mode.weight >= WEIGHT_LEAST
        && mode.weight * fewest as f64 >= EXPECTED_LEAST
        && mode.runs as f64 >= RUNS_LEAST * of_runs as f64
}

/// The fewest requests that were examined in a run of a side; 0 if one found no mode, since it
/// may not have been able to.
fn fewest(runs: &[&RunFigures], subject: &str) -> u64 {
    let of = |run: &RunFigures| {
        let mut modes = run.modes.iter().filter(|mode| mode.subject == subject);
        modes.next().map_or(0, |mode| mode.n)
    };
    runs.iter().map(|run| of(run)).min().unwrap_or(0)
}

/// Pairs of modes that are the same, the closest first, each in one pair at most.
fn paired(a: &[SideMode], b: &[SideMode]) -> Vec<(usize, usize)> {
    let mut near: Vec<(f64, usize, usize)> = Vec::new();
    for (i, one) in a.iter().enumerate() {
        for (j, other) in b.iter().enumerate() {
            let distance = (other.at_ns / one.at_ns).ln().abs();
            if distance <= SAME_WITHIN.ln() {
                near.push((distance, i, j));
            }
        }
    }
    near.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, i, j) in near {
        if pairs.iter().all(|&(a, b)| a != i && b != j) {
            pairs.push((i, j));
        }
    }
    pairs
}
