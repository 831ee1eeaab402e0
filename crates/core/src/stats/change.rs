//! Changes of level in a series of few, noisy figures: one for each release, day or campaign.
//!
//! The scatter between releases is taken from the releases themselves. That of the runs of one
//! release says nothing about it: judged by that alone, 18 to 36 % of histories without any change
//! showed one in simulations with 3 % of scatter between releases.
//!
//! * [`history`] judges a whole history: steady, stepped, drifting, or wandering.
//! * [`sup_t`] is the test of one change, for any series.
//! * [`long`] is the search in series of many values.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::novelty::{HISTORY_FEWEST, Novelty, novelty};

mod autocorrelation;
mod critical;
mod drift;
pub mod long;
mod segments;
mod spikes;
pub mod sup_t;

pub(super) use autocorrelation::guarded;
pub(super) use spikes::tamed;

/// Below this many releases nothing is said: five values in two levels leave three degrees of
/// freedom.
pub const PAIRS_FEWEST: usize = 5;
/// Fewest releases that are searched for changes: of fewer, a change of 10 % in noise of 3 % is
/// found less often than not, and no rank test can reach 1 %.
pub const RELEASES_FEWEST: usize = 8;
/// From this many values on the search for one change after the other is helped by one that weighs
/// all: changes up and down hide each other in the whole.
pub const LONG_FROM: usize = 61;
/// Chance of an accident below which a change, a drift or a novelty counts.
pub const CHANCE: f64 = 0.01;
/// Changes below 5 % are not reported, however certain: machines, kernels and the layout of a
/// binary differ by as much.
pub const LEAST_SHARE: f64 = 0.05;
/// A change must be so many times the noise floor: the floor is itself a difference between equals.
const FLOORS: f64 = 2.0;

/// What is asked of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Chance of an accident at most.
    pub chance: f64,
    /// Least difference of natural logarithms.
    pub least: f64,
}

impl Limits {
    /// The usual limits where equal builds differ by up to `floor` (a share; 0 if it is unknown).
    pub fn with_floor(floor: f64) -> Self {
        Self {
            chance: CHANCE,
            least: LEAST_SHARE.max(FLOORS * floor).ln_1p(),
        }
    }
}

/// Why a history is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum NoClaim {
    /// Too few releases for anything.
    #[error("{} nothing of change: {PAIRS_FEWEST} are needed, or `slowpath ab`", say(*.have))]
    TooFew {
        /// Releases with a figure.
        have: usize,
    },
    /// Enough for comparisons with a release that was run again between them, and not more.
    #[error(
        "{have} releases show no change point ({RELEASES_FEWEST} are needed): compare each with \
         an earlier one that is run again beside it"
    )]
    PairsOnly {
        /// Releases with a figure.
        have: usize,
    },
    /// A figure that has no logarithm.
    #[error("figure {index} is not a positive number")]
    NotPositive {
        /// Its place, from 0.
        index: usize,
    },
}

fn say(releases: usize) -> String {
    match releases {
        1 => "1 release says".to_owned(),
        several => format!("{several} releases say"),
    }
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Index of the first figure of the new level.
    pub at: usize,
    /// Geometric mean of the level before.
    pub before: f64,
    /// Geometric mean of the level after.
    pub after: f64,
    /// `after / before`.
    pub ratio: f64,
    /// Chance of a difference as large between its neighbours, wherever it was found.
    pub p: f64,
    /// Whether a single figure carries it: run that release again before you believe it.
    pub is_suspect: bool,
}

/// The course of a history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Course {
    /// One level.
    Steady,
    /// Levels with changes between them.
    Stepped,
    /// A slow movement up to the last figure, described better by a line than by levels.
    Drifting {
        /// Index of its first figure: 0, or a change of level that it followed.
        from: usize,
        /// Its last figure over its first, by the line.
        ratio: f64,
        /// Chance of a trend as strong.
        p: f64,
    },
    /// Neighbours hang together so much that what looks like a change needs none.
    Wandering {
        /// Correlation of neighbours.
        correlation: f64,
    },
}

/// A judged history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The course of all of it.
    pub course: Course,
    /// Changes, ascending; of a drifting history those before the drift.
    pub changes: Vec<Change>,
    /// The last figure against the others of its level; `None` if those are too few, or if the
    /// history moves.
    pub last: Option<Novelty>,
}

impl History {
    /// Whether the last figure is beyond what its level makes likely, by chance and by size: a
    /// change may have begun, and one figure more will decide it.
    pub fn is_last_novel(&self, limits: &Limits) -> bool {
        self.last.is_some_and(|last| {
            last.against.p < limits.chance && last.against.mean_log.abs() >= limits.least
        })
    }

    /// Where the level of the last of `n` figures begins: at the last change. One that a single
    /// figure carries makes no level of the few after it.
    fn level_begins(&self, n: usize) -> usize {
        let makes_one = |change: &&Change| !change.is_suspect || n - change.at > HISTORY_FEWEST;
        self.changes.iter().rfind(makes_one).map_or(0, |c| c.at)
    }
}

/// Judges a history of positive figures, the oldest first, one for each release (a median of runs).
///
/// # Errors
/// Fewer than [`RELEASES_FEWEST`] figures, or one that is not positive.
pub fn history(figures: &[f64], limits: &Limits) -> Result<History, NoClaim> {
    let raw = logarithms(figures)?;
    match raw.len() {
        have if have < PAIRS_FEWEST => return Err(NoClaim::TooFew { have }),
        have if have < RELEASES_FEWEST => return Err(NoClaim::PairsOnly { have }),
        _ => {}
    }
    let logs = tamed(&raw, limits.least);
    let found = segments::search(&logs, limits);
    let places: Vec<usize> = found.points.iter().map(|point| point.at).collect();
    let drift = drift::drift(&logs, &places, limits);
    let kept = drift.map_or(places.len(), |drift| drift.after_changes);
    let bounds: Vec<usize> = std::iter::once(0)
        .chain(places[..kept].iter().copied())
        .chain([logs.len()])
        .collect();
    let level = |index: usize| match drift {
        Some(drift) if index == kept => drift.begins_at.exp(),
        _ => mean(&logs[bounds[index]..bounds[index + 1]]).exp(),
    };
    let changes: Vec<Change> = found.points[..kept]
        .iter()
        .enumerate()
        .map(|(index, point)| Change {
            at: point.at,
            before: level(index),
            after: level(index + 1),
            ratio: level(index + 1) / level(index),
            p: point.split.p,
            is_suspect: point.is_suspect,
        })
        .collect();
    let course = match (drift, found.wanders) {
        (Some(drift), _) => drift.course(),
        _ if !changes.is_empty() => Course::Stepped,
        (None, Some(correlation)) => Course::Wandering { correlation },
        (None, None) => Course::Steady,
    };
    let mut judged = History {
        course,
        changes,
        last: None,
    };
    if matches!(course, Course::Steady | Course::Stepped) {
        let own = &figures[judged.level_begins(figures.len())..];
        let split = own.split_last();
        judged.last = split.and_then(|(&last, others)| novelty(others, last, limits.chance));
    }
    Ok(judged)
}

fn logarithms(figures: &[f64]) -> Result<Vec<f64>, NoClaim> {
    let log = |(index, &figure): (usize, &f64)| {
        if figure.is_finite() && figure > 0.0 {
            Ok(figure.ln())
        } else {
            Err(NoClaim::NotPositive { index })
        }
    };
    figures.iter().enumerate().map(log).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of the squared deviations from the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|v| (v - middle).powi(2)).sum()
}
