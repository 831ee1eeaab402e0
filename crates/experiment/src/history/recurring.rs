//! Constants that come back, over releases and over the endpoints of one.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{ConstantFigure, ConstantKind, RunFigures};
use slowpath_core::stats::constants::explain;
use slowpath_core::stats::median::median;
use slowpath_core::stats::recurrence::{self, Recurring, Seen, TOLERANCE_LEAST};

use super::releases::OfRelease;
use crate::compare::{SideMode, side_modes, subjects};
use crate::estimate::of_run;
use crate::resolution::clock_step_ns;

/// Modes stand on a comb if they are no further from its teeth than this share of the step.
const TOOTH: f64 = 0.1;

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The place of a mode beside the fastest.
    Mode,
    /// What a slower mode adds to the fastest, where that does not stay where it is.
    Added,
    /// The step between latencies that stand on a comb.
    Step,
    /// The period at which slow requests come.
    Period,
}

/// In the order in which they are looked for: what an earlier one explains is not reported again.
const KINDS: [Kind; 4] = [Kind::Step, Kind::Mode, Kind::Added, Kind::Period];

/// A constant that came back over releases: a timer, or work that takes the same time in each of
/// them. Which of the two is decided by another load: work moves with it, and a timer does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Constant {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// What it is a constant of.
    pub kind: Kind,
    /// Its value, in nanoseconds.
    pub at_ns: f64,
    /// The releases that have it.
    pub releases: Vec<String>,
    /// Of how many in which it was looked for.
    pub of_releases: u64,
    /// Chance that some constant comes back as often by accident.
    pub chance: f64,
    /// What it may be made of (of a mode, less the fastest): a hint; empty without one.
    pub hint: String,
}

/// A constant that several endpoints have: something that they share, or work that is alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shared {
    /// What it is a constant of.
    pub kind: Kind,
    /// Its value, in nanoseconds.
    pub at_ns: f64,
    /// The endpoints that have it.
    pub subjects: Vec<String>,
    /// Chance that some constant is in as many by accident.
    pub chance: f64,
}

/// The constants of each subject that are the same in several releases beyond chance.
///
/// The fastest mode of a subject is left out: that the work takes the same time in each release
/// is no recurrence of anything.
pub(super) fn over_releases(releases: &[OfRelease<'_>]) -> Vec<Constant> {
    let all: Vec<&RunFigures> = releases.iter().flat_map(|r| r.runs.clone()).collect();
    let mut found = Vec::new();
    for subject in subjects_of(&all) {
        let groups: Vec<Group<'_>> = releases
            .iter()
            .map(|release| Group {
                runs: &release.runs,
                subject: &subject,
            })
            .collect();
        found.extend(told(&groups).into_iter().map(|told| {
            let labels = told.constant.groups.iter().map(|&at| told.looked[at]);
            Constant {
                subject: subject.clone(),
                kind: told.kind,
                at_ns: told.constant.value,
                releases: labels.map(|at| releases[at].label.clone()).collect(),
                of_releases: told.looked.len() as u64,
                chance: told.constant.chance,
                hint: hint(told.kind, told.constant.value, told.base_ns, &all, &subject),
            }
        }));
    }
    found
}

/// The constants that are the same in several subjects of the newest release beyond chance.
pub(super) fn over_endpoints(releases: &[OfRelease<'_>]) -> Vec<Shared> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let subjects = subjects_of(&newest.runs);
    let of = |subject| Group {
        runs: &newest.runs,
        subject,
    };
    let groups: Vec<Group<'_>> = subjects.iter().map(|subject| of(subject)).collect();
    let told = told(&groups).into_iter();
    told.map(|told| {
        let names = told.constant.groups.iter().map(|&at| told.looked[at]);
        Shared {
            kind: told.kind,
            at_ns: told.constant.value,
            subjects: names.map(|at| subjects[at].clone()).collect(),
            chance: told.constant.chance,
        }
    })
    .collect()
}

/// A constant that is reported.
struct Told {
    kind: Kind,
    constant: Recurring,
    /// Of the groups in which it was looked for, in order, which of all each is.
    looked: Vec<usize>,
    /// The least of their fastest modes.
    base_ns: f64,
}

/// The constants of groups that recur beyond chance, each once: what one says that was found in as
/// many groups is not reported again.
fn told(groups: &[Group<'_>]) -> Vec<Told> {
    let mut found: Vec<Told> = Vec::new();
    for kind in KINDS {
        let looked: Vec<usize> = (0..groups.len())
            .filter(|&at| looked_for(kind, groups[at].runs))
            .collect();
        let groups: Vec<Group<'_>> = looked.iter().map(|&at| groups[at]).collect();
        let bases = bases(&groups);
        for constant in again(kind, &groups) {
            let is_told = found.iter().any(|told| {
                told.constant.groups.len() >= constant.groups.len()
                    && explains(
                        (told.kind, told.constant.value),
                        (kind, constant.value),
                        bases,
                    )
            });
            if !is_told {
                found.push(Told {
                    kind,
                    constant,
                    looked: looked.clone(),
                    base_ns: bases.0,
                });
            }
        }
    }
    found
}

/// One subject in the runs of one release.
#[derive(Clone, Copy)]
struct Group<'a> {
    runs: &'a [&'a RunFigures],
    subject: &'a str,
}

/// The subjects that have modes or other constants, each once, in order.
fn subjects_of(runs: &[&RunFigures]) -> Vec<String> {
    let mut all = subjects(runs);
    for constant in runs.iter().flat_map(|run| run.constants.iter().flatten()) {
        if !all.contains(&constant.subject) {
            all.push(constant.subject.clone());
        }
    }
    all
}

/// Whether constants of a kind were looked for in any of some runs.
fn looked_for(kind: Kind, runs: &[&RunFigures]) -> bool {
    kind == Kind::Mode || runs.iter().any(|run| run.constants.is_some())
}

/// The constants of a kind that are in several of some groups beyond chance.
fn again(kind: Kind, groups: &[Group<'_>]) -> Vec<Recurring> {
    let (seen, range) = match kind {
        Kind::Mode => modes(groups),
        Kind::Added => constants(ConstantKind::Added, groups),
        Kind::Step => constants(ConstantKind::Step, groups),
        Kind::Period => constants(ConstantKind::Period, groups),
    };
    let Some(range) = range else {
        return Vec::new();
    };
    let mut found = recurrence::recurring(&seen, range);
    found.retain(Recurring::is_claimed);
    found
}

/// What was seen in each group, and between what it could have been.
type Sightings = (Vec<Vec<Seen>>, Option<(f64, f64)>);

/// All modes but the fastest, each as uncertain as the runs of its release are of one mind and as
/// the clock is coarse.
fn modes(groups: &[Group<'_>]) -> Sightings {
    let mut all: Vec<&RunFigures> = Vec::new();
    for run in groups.iter().flat_map(|group| group.runs) {
        if !all.iter().any(|other| std::ptr::eq(*other, *run)) {
            all.push(run);
        }
    }
    let quantum = clock_step_ns(&all);
    let seen = |mode: &SideMode| Seen {
        value: mode.at_ns,
        half_width: mode.half_width_ns,
        quantum,
        p: 0.0,
    };
    let slow = |group: &Group<'_>| {
        let modes = side_modes(group.runs, group.subject);
        modes.iter().skip(1).map(seen).collect()
    };
    (groups.iter().map(slow).collect(), range(&all))
}

/// From the fastest mode to the slowest latency that a run showed: where a mode could have been.
fn range(runs: &[&RunFigures]) -> Option<(f64, f64)> {
    let modes = || runs.iter().flat_map(|run| &run.modes).map(|m| m.at_ns);
    let tails = runs.iter().flat_map(|run| &run.rows);
    let tails = tails.filter(|row| row.metric == "p99.9" || row.metric == "p99");
    let fastest = modes().reduce(f64::min)?;
    let slowest = modes().chain(tails.filter_map(of_run)).reduce(f64::max)?;
    (fastest > 0.0 && slowest > fastest).then_some((fastest, slowest))
}

/// The constants of a kind, and the narrowest of the ranges in which they were found: in a wider
/// one a recurrence would seem rarer than it is.
fn constants(kind: ConstantKind, groups: &[Group<'_>]) -> Sightings {
    let all = groups.iter().flat_map(|group| of_kind(kind, group));
    let ranges = all.map(|constant| (constant.between_ns[0], constant.between_ns[1]));
    let length = |range: &(f64, f64)| range.1 / range.0;
    let range = ranges.min_by(|a, b| length(a).total_cmp(&length(b)));
    let seen = groups.iter().map(|group| {
        let looked = group.runs.iter().filter(|run| run.constants.is_some());
        joined(of_kind(kind, group), looked.count())
    });
    (seen.collect(), range)
}

fn of_kind(kind: ConstantKind, group: &Group<'_>) -> Vec<ConstantFigure> {
    let all = group
        .runs
        .iter()
        .flat_map(|run| run.constants.iter().flatten());
    let own = all.filter(|constant| constant.kind == kind && constant.subject == group.subject);
    own.cloned().collect()
}

/// The constants of the runs of a release: those that may be one are. The least chance of an
/// accident in so many runs that looked for one is that many times as large (Bonferroni).
fn joined(mut all: Vec<ConstantFigure>, runs: usize) -> Vec<Seen> {
    all.sort_by(|a, b| a.at_ns.total_cmp(&b.at_ns));
    let off =
        |constant: &ConstantFigure| constant.half_width_ns.max(TOLERANCE_LEAST * constant.at_ns);
    let is_one = |a: &ConstantFigure, b: &ConstantFigure| b.at_ns - a.at_ns <= off(a).max(off(b));
    let one = |same: &[ConstantFigure]| {
        let mut places: Vec<f64> = same.iter().map(|constant| constant.at_ns).collect();
        let scatter = (places.last()? - places.first()?) / 2.0;
        let widest = same.iter().map(|constant| constant.half_width_ns);
        let chances = same.iter().map(|constant| constant.p.unwrap_or(0.0));
        Some(Seen {
            value: median(&mut places)?,
            half_width: widest.fold(scatter, f64::max),
            quantum: 0.0,
            p: (chances.fold(1.0, f64::min) * runs as f64).min(1.0),
        })
    };
    all.chunk_by(is_one).filter_map(one).collect()
}

/// The least and the largest of the fastest modes of groups; both 0 without modes.
fn bases(groups: &[Group<'_>]) -> (f64, f64) {
    let fastest = |group: &Group<'_>| {
        let modes = side_modes(group.runs, group.subject);
        modes.first().map(|mode| mode.at_ns)
    };
    let of = || groups.iter().filter_map(fastest);
    let least = of().reduce(f64::min).unwrap_or(0.0);
    (least, of().reduce(f64::max).unwrap_or(0.0))
}

/// Whether a constant that was reported says what another one would: the teeth of a comb are modes that
/// stay, and what is added to a fastest mode that stays does so with its place.
fn explains(told: (Kind, f64), other: (Kind, f64), bases: (f64, f64)) -> bool {
    let (value, moves) = (other.1, bases.1 - bases.0);
    match (told.0, other.0) {
        (Kind::Step, Kind::Mode | Kind::Added) => {
            let above = if other.0 == Kind::Mode {
                value - bases.0
            } else {
                value
            };
            let teeth = above / told.1;
            (teeth - teeth.round()).abs() <= TOOTH + moves / told.1
        }
        (Kind::Mode, Kind::Added) => {
            let tolerance = TOLERANCE_LEAST * told.1;
            (told.1 - bases.1 - tolerance..=told.1 - bases.0 + tolerance).contains(&value)
                && moves <= tolerance
        }
        _ => false,
    }
}

/// What a constant may be made of: what its runs say, who know the timers that the scenario
/// declares, or else known ones.
fn hint(kind: Kind, at_ns: f64, base_ns: f64, runs: &[&RunFigures], subject: &str) -> String {
    let (wanted, value) = match kind {
        Kind::Mode => (ConstantKind::Added, at_ns - base_ns),
        Kind::Added => (ConstantKind::Added, at_ns),
        Kind::Step => (ConstantKind::Step, at_ns),
        Kind::Period => return String::new(),
    };
    let tolerance = TOLERANCE_LEAST * at_ns;
    let all = of_kind(wanted, &Group { runs, subject });
    let near = |constant: &&ConstantFigure| (constant.at_ns - value).abs() <= tolerance;
    let mut known = all.iter().filter(near).rev();
    let known = known.find_map(|constant| constant.made_of.first());
    known.cloned().unwrap_or_else(|| made_of(value, tolerance))
}

/// What known timers may make a constant of.
fn made_of(added_ns: f64, tolerance_ns: f64) -> String {
    let explained = explain(added_ns, tolerance_ns, &[]);
    let Some(best) = explained.first().filter(|best| best.is_remarkable()) else {
        return String::new();
    };
    let terms: Vec<String> = best
        .terms
        .iter()
        .map(|term| match term.times {
            1 => term.name.clone(),
            times => format!("{times} x {}", term.name),
        })
        .collect();
    terms.join(" + ")
}
