//! Modes of runs: the same release, fast in some starts of the process and slow in others.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::beta::clopper_pearson;
use slowpath_core::stats::run_groups::run_groups;

use super::Track;
use super::releases::OfRelease;
use crate::estimate::row;

/// The metric whose runs are examined: a tail has too few requests to be so steady.
const METRIC: &str = "p50";

/// An endpoint whose runs fall into modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunModes {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// How many repeats were examined: all since the last change of level.
    pub repeats: u64,
    /// Its two modes, the faster first.
    pub modes: Vec<RunMode>,
}

/// A mode of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunMode {
    /// Geometric mean of the repeats in it, in nanoseconds.
    pub at_ns: f64,
    /// Its share of the repeats.
    pub share: f64,
    /// Lower end of the 95 % interval of its probability.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The endpoints whose repeats fall into modes within one release, since the last change of level.
pub(super) fn modes(releases: &[OfRelease<'_>], tracks: &[Track]) -> Vec<RunModes> {
    let of = tracks.iter().filter(|track| track.metric == METRIC);
    of.filter_map(|track| of_track(releases, track)).collect()
}

fn of_track(releases: &[OfRelease<'_>], track: &Track) -> Option<RunModes> {
    let from = track.changes.last().map_or(0, |change| change.at as usize);
    // (release, value), one a repeat.
    let mut values: Vec<(usize, f64)> = Vec::new();
    for (at, release) in releases.iter().enumerate().skip(from) {
        for run in &release.runs {
            let row = row(run, &track.subject, METRIC);
            let repeats = row.map(slowpath_core::figures::Row::values);
            values.extend(repeats.into_iter().flatten().map(|value| (at, value)));
        }
    }
    let figures: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let groups = run_groups(&figures).filter(|groups| !groups.is_change())?;
    let releases_of = |is_high: bool| {
        let of = values.iter().zip(&groups.is_high);
        let own = of.filter(move |(_, high)| **high == is_high);
        own.map(|((release, _), _)| *release)
    };
    // Groups that no release has both of are a difference between releases.
    if !releases_of(true).any(|high| releases_of(false).any(|low| low == high)) {
        return None;
    }
    let n = values.len() as u64;
    let mode = |is_high: bool| {
        let of = groups.is_high.iter().filter(|high| **high == is_high);
        let own = of.count() as u64;
        let (low, high) = clopper_pearson(own, n);
        RunMode {
            at_ns: if is_high { groups.high } else { groups.low },
            share: own as f64 / n as f64,
            low,
            high,
        }
    };
    Some(RunModes {
        subject: track.subject.clone(),
        repeats: n,
        modes: vec![mode(false), mode(true)],
    })
}
