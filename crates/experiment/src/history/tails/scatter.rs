//! What looks like a regression and lies within what runs of one release scatter by.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, Row, RunFigures};

use super::subjects;
use crate::estimate::{of_run, row};
use crate::history::Track;
use crate::history::releases::OfRelease;

/// The figure that is examined: of a tail that few requests make.
const METRIC: &str = "p99";
/// Runs of a release that show what unchanged code scatters by: the range of two is most often too
/// narrow.
const RUNS_FEWEST: usize = 3;
/// What would be called a regression without asking what it is compared with.
const STEP_LEAST: f64 = 2.0;

/// The largest step of a row from a release to the next, of which nothing is claimed: both sides lie
/// within the runs of a release whose code did not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scatter {
    /// The endpoint.
    pub subject: String,
    /// The metric.
    pub metric: String,
    /// The release that seems to be worse than the one before it.
    pub release: String,
    /// The figure of the one before, in nanoseconds.
    pub before_ns: f64,
    /// Its figure.
    pub after_ns: f64,
    /// The release whose runs scatter most.
    pub unchanged: String,
    /// Its runs.
    pub runs: u64,
    /// The least of their figures.
    pub least_ns: f64,
    /// The largest.
    pub most_ns: f64,
}

/// Steps that a history does not claim and that the scatter of unchanged code explains.
pub(in crate::history) fn scatters(releases: &[OfRelease<'_>], tracks: &[Track]) -> Vec<Scatter> {
    let runs: Vec<&RunFigures> = releases.iter().flat_map(|r| r.runs.clone()).collect();
    let all = subjects(&runs).into_iter();
    all.filter_map(|subject| scatter(releases, tracks, subject))
        .collect()
}

fn scatter(releases: &[OfRelease<'_>], tracks: &[Track], subject: &str) -> Option<Scatter> {
    let track = tracks
        .iter()
        .find(|track| track.subject == subject && track.metric == METRIC)
        .filter(|track| track.better == Better::Lower)?;
    let (unchanged, values) = widest(releases, subject)?;
    let (least, most) = (values[0], values[values.len() - 1]);
    let points = track.points.iter().enumerate();
    let known: Vec<(usize, f64)> = points
        .filter_map(|(at, point)| Some((at, point.value.filter(|value| *value > 0.0)?)))
        .collect();
    let steps = known.windows(2).filter(|pair| {
        let is_claimed = |at: usize| track.changes.iter().any(|change| change.at == at as u64);
        !is_claimed(pair[1].0)
    });
    let step = steps.max_by(|a, b| (a[1].1 / a[0].1).total_cmp(&(b[1].1 / b[0].1)))?;
    let ((_, before), (at, after)) = (step[0], step[1]);
    (after / before >= STEP_LEAST && least <= before && after <= most).then(|| Scatter {
        subject: subject.to_owned(),
        metric: METRIC.to_owned(),
        release: releases[at].label.clone(),
        before_ns: before,
        after_ns: after,
        unchanged,
        runs: values.len() as u64,
        least_ns: least,
        most_ns: most,
    })
}

/// The release whose runs scatter most, and their figures in ascending order.
fn widest(releases: &[OfRelease<'_>], subject: &str) -> Option<(String, Vec<f64>)> {
    let all = releases.iter().filter_map(|release| {
        let own = release.runs.iter().filter_map(|run| {
            let found: &Row = row(run, subject, METRIC)?;
            of_run(found).filter(|value| *value > 0.0)
        });
        let mut values: Vec<f64> = own.collect();
        values.sort_by(f64::total_cmp);
        (values.len() >= RUNS_FEWEST).then(|| (release.label.clone(), values))
    });
    let width = |values: &[f64]| values[values.len() - 1] / values[0];
    all.max_by(|a, b| width(&a.1).total_cmp(&width(&b.1)))
}
