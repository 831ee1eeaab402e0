//! The newest release against those before it.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, RunFigures};
use slowpath_core::stats::change::{self, Change, Limits};
use slowpath_core::stats::log_ratio::EQUIVALENT_WITHIN;
use slowpath_core::stats::novelty::{Novelty, novelty};
use slowpath_core::stats::power::Design;

use super::{Ask, Track, history};
use crate::compare::{Verdict, direction};

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

/// What the newest release is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Nothing: too few releases, or they wander.
    Nothing,
    /// The level of those since the last change.
    Level,
    /// A change of level that so few releases follow that they make no level yet.
    Change,
    /// The drift in which the history ends.
    Drift,
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
    /// What it is judged by.
    pub basis: Basis,
    /// The level that it is compared with, since the last change; `null` if too few releases say
    /// one, or if they move.
    pub expected: Option<f64>,
    /// Lower end of where a further release of that level lies, in 99 of 100 cases.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Chance of a figure as far away, if nothing changed; `null` without a judgement by level.
    pub p: Option<f64>,
    /// The change, as a ratio above 1, that a single further release of that level would show in
    /// four of five cases; `null` without a judgement by level.
    pub detectable: Option<f64>,
    /// Whether this release alone carries what is said of it: measure it again before that is
    /// believed.
    pub is_suspect: bool,
    /// Whether the host may have made it what it is: it was unfit, and its timers were later (or
    /// less late) by as much as the newest is away from what it is judged by. Then nothing is reported.
    pub is_hosts: bool,
    /// What is said: better, worse or different if it is beyond its level by chance and by size,
    /// or on the far side of a change or a drift that was just found; same if the 90 % interval
    /// of its ratio to the level lies within 5 %; otherwise nothing can be said.
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
    let (basis, verdict) = match judged {
        Some(history) => judgement(history, values, limits, better),
        None => (Basis::Nothing, Verdict::CannotTell),
    };
    // Where a further release would lie is shown of a short history too, and judges nothing.
    let found: Option<Novelty> = match judged {
        Some(history) => history.last,
        None => novelty(earlier, value, limits.chance),
    };
    let by_level = found.filter(|_| basis == Basis::Level);
    let design = Design {
        alpha: limits.chance,
        ..Design::default()
    };
    let detectable = by_level.and_then(|n| n.detectable(&design));
    Some(Newest {
        release,
        value,
        earlier: earlier.len() as u64,
        place,
        basis,
        expected: found.map(|n| n.expected),
        low: found.map(|n| n.low),
        high: found.map(|n| n.high),
        p: by_level.map(|n| n.against.p),
        detectable: detectable.map(|ratio| ratio.max(limits.least.exp())),
        is_suspect: basis == Basis::Level
            && !matches!(verdict, Verdict::Same | Verdict::CannotTell),
        is_hosts: false,
        verdict,
    })
}

/// What a history that is long enough says of its last value.
fn judgement(
    history: &change::History,
    values: &[f64],
    limits: &Limits,
    better: Better,
) -> (Basis, Verdict) {
    if let change::Course::Drifting { from, ratio, .. } = history.course {
        let verdict = if is_beyond_middle(&values[from..], ratio) {
            direction(ratio.ln(), better)
        } else {
            Verdict::CannotTell
        };
        return (Basis::Drift, verdict);
    }
    if let Some(last) = &history.last {
        let verdict = if history.is_last_novel(limits) {
            direction(last.against.mean_log, better)
        } else if last.against.is_equivalent(EQUIVALENT_WITHIN) {
            Verdict::Same
        } else {
            Verdict::CannotTell
        };
        return (Basis::Level, verdict);
    }
    match (history.changes.last(), values.last()) {
        (Some(change), Some(&value)) => {
            let verdict = if is_on_new_level(value, change) && !change.is_suspect {
                direction(change.ratio.ln(), better)
            } else {
                Verdict::CannotTell
            };
            (Basis::Change, verdict)
        }
        _ => (Basis::Nothing, Verdict::CannotTell),
    }
}

/// Whether the last value lies where a drift goes and not where it came from.
fn is_beyond_middle(drifting: &[f64], ratio: f64) -> bool {
    let logs = drifting.iter().map(|v| v.ln());
    let middle = logs.sum::<f64>() / drifting.len() as f64;
    drifting
        .last()
        .is_some_and(|last| (last.ln() - middle) * ratio.ln() > 0.0)
}

/// Whether a value is nearer to the level after a change than to that before.
fn is_on_new_level(value: f64, change: &Change) -> bool {
    let distance = |level: f64| (value / level).ln().abs();
    distance(change.after) < distance(change.before)
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
