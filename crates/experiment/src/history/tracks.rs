//! Rows over releases, and where their level changes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use slowpath_core::figures::Row;
use slowpath_core::stats::change::{self, Limits};

use super::host::Host;
use super::newest::of_track;
use super::releases::OfRelease;
use super::{Ask, Track};
use crate::compare::{Verdict, direction};
use crate::estimate::Units;

/// The course of a track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Course {
    /// Nothing is said of it.
    Unknown {
        /// Why.
        because: String,
    },
    /// One level.
    Steady,
    /// Levels with changes between them.
    Stepped,
    /// A slow movement up to the newest release, described better by a line than by levels.
    Drifting {
        /// Place of its first release, from 0: the first of all, or that of a change of level.
        from: u64,
        /// The label of that release.
        release: String,
        /// The newest release over that one, by the line.
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

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeAt {
    /// Place of the first release of the new level, from 0.
    pub at: u64,
    /// Its label.
    pub release: String,
    /// The level before, in the track's unit.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// `after / before`.
    pub ratio: f64,
    /// Chance of a difference as large between its neighbours, wherever it was found.
    pub p: f64,
    /// Whether to measure again before it is believed: a single release carries it, or the host
    /// may have made it.
    pub is_suspect: bool,
    /// Whether the host may have made it: it was unfit on one side, and its timers were later on the
    /// slower one by as much.
    pub is_hosts: bool,
    /// Whether it is better, worse or different; of a suspect nothing is reported yet.
    pub verdict: Verdict,
}

/// The tracks that are asked for, in the order of the newest release's rows.
pub(super) fn tracks(releases: &[OfRelease<'_>], ask: &Ask, limits: &Limits) -> Vec<Track> {
    let mut rows: Vec<&Row> = Vec::new();
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    for run in releases.iter().rev().flat_map(|r| r.runs.iter().rev()) {
        for row in &run.rows {
            let wanted = |wanted: &Option<String>, own: &String| {
                wanted.as_ref().is_none_or(|wanted| wanted == own)
            };
            let is_wanted = wanted(&ask.endpoint, &row.subject) && wanted(&ask.metric, &row.metric);
            if is_wanted && known.insert((&row.subject, &row.metric)) {
                rows.push(row);
            }
        }
    }
    rows.into_iter()
        .map(|row| track(row, releases, limits))
        .collect()
}

fn track(row: &Row, releases: &[OfRelease<'_>], limits: &Limits) -> Track {
    let points: Vec<_> = releases
        .iter()
        .map(|release| Units::of(&release.runs, &row.subject, &row.metric).estimate())
        .collect();
    let known = points.iter().enumerate();
    let known: Vec<(usize, f64)> = known
        .filter_map(|(at, point)| Some((at, point.value?)))
        .collect();
    let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let judged = change::history(&values, limits);
    let found: &[change::Change] = judged.as_ref().map_or(&[], |found| &found.changes);
    let host = Host::of(row.unit, &known, releases);
    let changes = found
        .iter()
        .zip(host.sides(found))
        .map(|(found, is_hosts)| {
            let at = known[found.at].0;
            let is_suspect = found.is_suspect || is_hosts;
            ChangeAt {
                at: at as u64,
                release: releases[at].label.clone(),
                before: found.before,
                after: found.after,
                ratio: found.ratio,
                p: found.p,
                is_suspect,
                is_hosts,
                verdict: if is_suspect {
                    Verdict::CannotTell
                } else {
                    direction(found.ratio.ln(), row.better)
                },
            }
        })
        .collect();
    let newest = known.last().and_then(|&(at, _)| {
        let label = releases[at].label.clone();
        let newest = of_track(label, &values, judged.as_ref().ok(), limits, row.better)?;
        Some(host.weighed(newest, found))
    });
    Track {
        subject: row.subject.clone(),
        metric: row.metric.clone(),
        unit: row.unit,
        better: row.better,
        points,
        course: course(&judged, &known, releases),
        changes,
        newest,
    }
}

fn course(
    judged: &Result<change::History, change::NoClaim>,
    known: &[(usize, f64)],
    releases: &[OfRelease<'_>],
) -> Course {
    match judged {
        // Shares of nothing are as steady as can be, and have no logarithm.
        Err(change::NoClaim::NotPositive { .. }) if known.iter().all(|(_, v)| v.abs() <= 0.0) => {
            Course::Steady
        }
        Err(why) => Course::Unknown {
            because: why.to_string(),
        },
        Ok(found) => match found.course {
            change::Course::Steady => Course::Steady,
            change::Course::Stepped => Course::Stepped,
            change::Course::Drifting { from, ratio, p } => {
                let from = known[from].0;
                Course::Drifting {
                    from: from as u64,
                    release: releases[from].label.clone(),
                    ratio,
                    p,
                }
            }
            change::Course::Wandering { correlation } => Course::Wandering { correlation },
        },
    }
}
