//! What comes back: constants over releases and endpoints, and the row with the worst tail.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::RunFigures;
use slowpath_core::stats::constants::explain;
use slowpath_core::stats::recurrence::{self, Seen};

use super::releases::OfRelease;
use crate::compare::{SideMode, side_modes, subjects};
use crate::estimate::{of_run, row};
use crate::resolution::clock_step_ns;

/// A constant is uncertain by this share of itself: modes of separate runs agree no better.
const TOLERANCE: f64 = 0.02;
/// A tail is worth the name if it is this many times the median; of rows without one none is the
/// worst.
const TAIL_LEAST: f64 = 2.0;

/// A constant that came back over releases: a timer, or work that takes the same time in each of
/// them. Which of the two is told by another load: work moves with it, and a timer does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Constant {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// Where it lies, in nanoseconds.
    pub at_ns: f64,
    /// The releases that have it.
    pub releases: Vec<String>,
    /// Of how many.
    pub of_releases: u64,
    /// Chance that some constant comes back as often by accident.
    pub chance: f64,
    /// What it may be made of, less the fastest mode: a hint; empty without one.
    pub hint: String,
}

/// A constant that several endpoints have: something that they share, or work that is alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shared {
    /// Where it lies, in nanoseconds.
    pub at_ns: f64,
    /// The endpoints that have it.
    pub subjects: Vec<String>,
    /// Chance that some constant is in as many by accident.
    pub chance: f64,
}

/// Whether the worst row stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The same row again and again: the cause is in that row.
    Stays,
    /// Another row each time: none is the cause by itself. Noise in rows that are alike does the
    /// same, so that this says nothing of what they share.
    Wanders,
    /// Another row each time, and all tails rise and fall together from run to run: the rows share
    /// what is slow, be it the host.
    Shares,
    /// Neither is beyond chance.
    CannotTell,
}

/// The row with the worst tail (p99 over p50), run after run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstRow {
    /// The row that was worst most often.
    pub subject: String,
    /// In how many runs.
    pub times: u64,
    /// Of how many that have a tail in some row.
    pub runs: u64,
    /// Chance that some row is worst as often if all are alike.
    pub chance: f64,
    /// Chance that the tails of all rows rise and fall together as much from run to run if the
    /// rows are independent (Friedman); `null` if too few are known.
    pub together: Option<f64>,
    /// What this says.
    pub says: Says,
}

/// The constants of each subject that lie in several releases beyond chance.
///
/// The fastest mode of a subject is left out: that the work takes the same time in each release
/// is no recurrence of anything.
pub(super) fn over_releases(releases: &[OfRelease<'_>]) -> Vec<Constant> {
    let all: Vec<&RunFigures> = releases.iter().flat_map(|r| r.runs.clone()).collect();
    let Some(range) = range(&all) else {
        return Vec::new();
    };
    let quantum = clock_step_ns(&all);
    let mut found = Vec::new();
    for subject in subjects(&all) {
        let modes: Vec<Vec<SideMode>> = releases
            .iter()
            .map(|release| side_modes(&release.runs, &subject))
            .collect();
        let fastest = modes.iter().filter_map(|modes| modes.first());
        let fastest = fastest.map(|mode| mode.at_ns).reduce(f64::min);
        let groups: Vec<Vec<Seen>> = modes.iter().map(|modes| slow(modes, quantum)).collect();
        for constant in recurrence::recurring(&groups, range) {
            if constant.is_claimed() {
                found.push(Constant {
                    subject: subject.clone(),
                    at_ns: constant.value,
                    releases: constant
                        .groups
                        .iter()
                        .map(|&at| releases[at].label.clone())
                        .collect(),
                    of_releases: releases.len() as u64,
                    chance: constant.chance,
                    hint: hint(constant.value, fastest.unwrap_or(0.0)),
                });
            }
        }
    }
    found
}

/// The constants that lie in several subjects of the newest release beyond chance.
pub(super) fn over_endpoints(releases: &[OfRelease<'_>]) -> Vec<Shared> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let Some(range) = range(&newest.runs) else {
        return Vec::new();
    };
    let subjects = subjects(&newest.runs);
    let quantum = clock_step_ns(&newest.runs);
    let groups: Vec<Vec<Seen>> = subjects
        .iter()
        .map(|subject| slow(&side_modes(&newest.runs, subject), quantum))
        .collect();
    recurrence::recurring(&groups, range)
        .into_iter()
        .filter(recurrence::Recurring::is_claimed)
        .map(|constant| Shared {
            at_ns: constant.value,
            subjects: constant
                .groups
                .iter()
                .map(|&at| subjects[at].clone())
                .collect(),
            chance: constant.chance,
        })
        .collect()
}

/// All but the fastest mode, each as uncertain as the runs of its release are of one mind and as
/// the clock is coarse.
fn slow(modes: &[SideMode], quantum_ns: f64) -> Vec<Seen> {
    let seen = |mode: &SideMode| Seen {
        value: mode.at_ns,
        half_width: mode.half_width_ns,
        quantum: quantum_ns,
    };
    modes.iter().skip(1).map(seen).collect()
}

/// From the fastest mode to the slowest that a run showed: where a constant could have been.
fn range(runs: &[&RunFigures]) -> Option<(f64, f64)> {
    let modes = || runs.iter().flat_map(|run| &run.modes).map(|m| m.at_ns);
    let tails = runs.iter().flat_map(|run| &run.rows);
    let tails = tails.filter(|row| row.metric == "p99.9" || row.metric == "p99");
    let fastest = modes().reduce(f64::min)?;
    let slowest = modes().chain(tails.filter_map(of_run)).reduce(f64::max)?;
    (fastest > 0.0 && slowest > fastest).then_some((fastest, slowest))
}

/// What a constant may be made of.
fn hint(at_ns: f64, base_ns: f64) -> String {
    let explained = explain(at_ns - base_ns, TOLERANCE * at_ns, &[]);
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

/// Which subject has the worst tail in each run.
pub(super) fn worst_row(runs: &[&RunFigures]) -> Option<WorstRow> {
    let mut all: Vec<&String> = Vec::new();
    for row in runs.iter().flat_map(|run| &run.rows) {
        if row.metric == "p99" && !all.contains(&&row.subject) {
            all.push(&row.subject);
        }
    }
    let tail = |run: &RunFigures, subject: &str| {
        let of = |metric| row(run, subject, metric).and_then(of_run);
        Some(of("p99")? / of("p50")?).filter(|ratio| ratio.is_finite())
    };
    let figures: Vec<Vec<Option<f64>>> = runs
        .iter()
        .map(|run| all.iter().map(|subject| tail(run, subject)).collect())
        .filter(|tails: &Vec<Option<f64>>| tails.iter().flatten().any(|t| *t >= TAIL_LEAST))
        .collect();
    let found = recurrence::worst(&figures).filter(|found| found.runs > 0)?;
    Some(WorstRow {
        subject: (*all.get(found.row)?).clone(),
        times: found.times as u64,
        runs: found.runs as u64,
        chance: found.chance,
        together: found.together,
        says: match found.says {
            recurrence::Says::Stays => Says::Stays,
            recurrence::Says::Wanders => Says::Wanders,
            recurrence::Says::Shares => Says::Shares,
            recurrence::Says::CannotTell => Says::CannotTell,
        },
    })
}
