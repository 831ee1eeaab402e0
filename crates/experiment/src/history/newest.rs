//! The newest release against those before it.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, RunFigures};
use slowpath_core::stats::change::{self, Limits};
use slowpath_core::stats::novelty::{Novelty, novelty};

use super::tracks::moved;
use super::{Ask, Track, history};
use crate::compare::Verdict;

/// Where a figure lies among those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Lower than any of them.
    Lowest,
    /// Within their range.
    Within,
    /// Higher than any of them.
    Highest,
}

/// The newest release of a track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Newest {
    /// Its label.
    pub release: String,
    /// Its figure, in the track's unit.
    pub value: f64,
    /// Releases before it.
    pub earlier: u64,
    /// Where it lies among them; by chance alone it is the highest in one of `earlier + 1`.
    pub place: Place,
    /// The level that it is held against, since the last change; `null` if too few releases say
    /// one, or if they move.
    pub expected: Option<f64>,
    /// Lower end of where a further release of that level lies, in 99 of 100 cases.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Chance of a figure as far away, if nothing changed.
    pub p: Option<f64>,
    /// What is said: better, worse or different if it is beyond chance and large enough; same if
    /// it lies where a further release of that level would; otherwise nothing can be told.
    pub verdict: Verdict,
}

/// The newest of a track's known values.
pub(super) fn of_track(
    release: String,
    values: &[f64],
    judged: Option<&change::History>,
    limits: &Limits,
    better: Better,
) -> Option<Newest> {
    let (&value, earlier) = values.split_last()?;
    let (low, high) = (
        earlier.iter().copied().reduce(f64::min)?,
        earlier.iter().copied().reduce(f64::max)?,
    );
    let place = if value < low {
        Place::Lowest
    } else if value > high {
        Place::Highest
    } else {
        Place::Within
    };
    // A history that is long enough knows its last level; a short one is taken for one level.
    let found: Option<Novelty> = match judged {
        Some(history) => history.last,
        None => novelty(earlier, value, limits.chance),
    };
    let is_novel = |n: &Novelty| n.p < limits.chance && n.ratio.ln().abs() >= limits.least;
    // What is new since a change that was just found is told as that change.
    let changed = judged.and_then(|history| history.changes.last());
    let changed = changed.filter(|change| change.at + 1 >= values.len());
    let verdict = match (changed, found) {
        (Some(change), _) => moved(change.ratio, better),
        (None, Some(found)) if is_novel(&found) => moved(found.ratio, better),
        (None, Some(_)) => Verdict::Same,
        (None, None) => Verdict::CannotTell,
    };
    Some(Newest {
        release,
        value,
        earlier: earlier.len() as u64,
        place,
        expected: found.map(|n| n.expected),
        low: found.map(|n| n.low),
        high: found.map(|n| n.high),
        p: found.map(|n| n.p),
        verdict,
    })
}

/// The newest run's release against earlier ones of its setting, in one metric of every endpoint:
/// its tracks, or none if there is no earlier release. `runs` are in order of time and end with
/// the newest.
pub fn newest(runs: &[RunFigures], metric: &str, floor: Option<f64>) -> Vec<Track> {
    let Some(own) = runs.last().map(super::releases::label) else {
        return Vec::new();
    };
    let ask = Ask {
        metric: Some(metric.to_owned()),
        floor,
        endpoint: None,
    };
    let mut settings = history(runs, &ask).settings;
    if settings.is_empty() {
        return Vec::new();
    }
    let mut tracks = settings.swap_remove(0).tracks;
    tracks.retain(|track| track.newest.as_ref().is_some_and(|n| n.release == own));
    tracks
}
