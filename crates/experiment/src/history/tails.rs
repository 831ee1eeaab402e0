//! What percentiles alone show of slow requests over runs: tables of others have nothing else.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{RunFigures, Unit};
use slowpath_core::stats::recurrence::{CHANCE, Recurring, Seen, TOLERANCE_LEAST, recurring};

use super::releases::{OfRelease, label};
use crate::estimate::{of_run, row};
use crate::resolution::Reading;

mod made_of;
mod scatter;

pub use made_of::Decomposed;
pub use scatter::Scatter;

pub(super) use scatter::scatters;

/// The percentiles of a tail, the one that rests on most requests first.
const TAIL: [(&str, f64); 3] = [("p95", 0.95), ("p98", 0.98), ("p99", 0.99)];
/// The percentile by which a row has a tail again: in a few dozen requests a later one is the slowest
/// of them, which a hiccup makes.
const AGAIN: (&str, f64) = TAIL[0];
/// Where more than this share of the rows has a tail it is no row's own: caches are cold, or something
/// that all share is slow.
const COMMON: f64 = 0.5;
/// Names that tools give to the row of all rows together: it is no row beside them.
const WHOLE: [&str; 5] = ["aggregated", "aggregate", "total", "all", "overall"];
/// What is put after the name of an endpoint in a run with passes. A cold pass is slow by nature, so
/// that only rows of one pass are alike.
const PASSES: [&str; 2] = [" (cold)", " (warm)"];

/// A row that has a tail of its own in run after run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailAgain {
    /// The endpoint.
    pub subject: String,
    /// The percentile that shows it.
    pub metric: String,
    /// The release of the first of these runs.
    pub from: String,
    /// The release of the last.
    pub to: String,
    /// How many runs in succession.
    pub runs: u64,
    /// The least of the percentile in them, in nanoseconds.
    pub least_ns: f64,
    /// The largest.
    pub most_ns: f64,
    /// Whether the newest run is one of them.
    pub is_ongoing: bool,
    /// Chance that some row has a tail in as many runs in succession if tails fall on any row.
    pub chance: f64,
}

/// Slow requests of several rows of a run that take the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SameTail {
    /// How long, in nanoseconds.
    pub at_ns: f64,
    /// The endpoints.
    pub subjects: Vec<String>,
    /// The releases in which they do.
    pub releases: Vec<String>,
    /// Chance that as many rows agree by accident, the least of those releases.
    pub chance: f64,
    /// What it may be made of: a hint; `null` without one.
    pub made_of: Option<Decomposed>,
}

/// Whether a row is that of all others together.
pub(super) fn is_whole(subject: &str) -> bool {
    let (name, _) = pass(subject);
    WHOLE.contains(&name.to_ascii_lowercase().as_str())
}

/// An endpoint without its pass, and the pass.
fn pass(subject: &str) -> (&str, &str) {
    let found = PASSES.iter().find(|pass| subject.ends_with(**pass));
    let at = subject.len() - found.map_or(0, |pass| pass.len());
    subject.split_at(at)
}

/// What a percentile is beyond its median by if nothing but chance makes requests slow, of waits
/// without a memory: a percentile beyond that has a tail of its own.
fn of_chance(q: f64) -> f64 {
    (1.0 / (1.0 - q)).ln() / std::f64::consts::LN_2
}

/// A latency of a run.
fn latency(run: &RunFigures, subject: &str, metric: &str) -> Option<f64> {
    let own = row(run, subject, metric).filter(|row| row.unit == Unit::Ns)?;
    of_run(own).filter(|value| *value > 0.0)
}

/// A percentile, if it is a tail of its own.
fn tail(run: &RunFigures, subject: &str, (metric, q): (&str, f64)) -> Option<f64> {
    let value = latency(run, subject, metric)?;
    let usual = latency(run, subject, "p50")?;
    (value / usual >= of_chance(q)).then_some(value)
}

/// The rows of runs, each once, in order.
fn subjects<'a>(runs: &[&'a RunFigures]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for row in runs.iter().flat_map(|run| &run.rows) {
        if !all.contains(&row.subject.as_str()) && !is_whole(&row.subject) {
            all.push(&row.subject);
        }
    }
    all
}

/// One row in one run in which it was measured.
#[derive(Clone, Copy)]
struct Sighting {
    /// Place of the run.
    run: usize,
    /// Its percentile, if that is a tail that few rows of the run have.
    tail_ns: Option<f64>,
    /// Share of the rows of its pass that have one in this run.
    share: f64,
}

/// Rows that have a tail of their own in so many runs in succession that it is no accident.
///
/// If tails fall on any row of a run alike, a row has one with the share of the rows that have one.
/// That some of `E` rows has one in `k` certain runs in succession has a chance of at most `E` times
/// the product of these shares, and there are `m - k + 1` places for them in `m` runs.
pub(super) fn again(runs: &[&RunFigures]) -> Vec<TailAgain> {
    let all = subjects(runs);
    let mut found = Vec::new();
    for of_pass in ["", PASSES[0], PASSES[1]] {
        let own: Vec<&str> = all
            .iter()
            .copied()
            .filter(|subject| pass(subject).1 == of_pass)
            .collect();
        let seen = sightings(runs, &own);
        for (subject, seen) in own.iter().zip(&seen) {
            found.extend(streak(runs, own.len(), subject, seen));
        }
    }
    found
}

/// What each row shows in the runs in which it was measured beside others.
fn sightings(runs: &[&RunFigures], own: &[&str]) -> Vec<Vec<Sighting>> {
    let mut all = vec![Vec::new(); own.len()];
    for (at, run) in runs.iter().enumerate() {
        let is_known = |subject: &str| {
            let has = |metric| latency(run, subject, metric).is_some();
            has("p50") && has(AGAIN.0)
        };
        let known: Vec<(usize, Option<f64>)> = own
            .iter()
            .enumerate()
            .filter(|(_, subject)| is_known(subject))
            .map(|(row, subject)| (row, tail(run, subject, AGAIN)))
            .collect();
        let tails = known.iter().filter(|(_, tail_ns)| tail_ns.is_some());
        let share = tails.count() as f64 / known.len() as f64;
        for (row, tail_ns) in known.iter().filter(|_| known.len() > 1) {
            all[*row].push(Sighting {
                run: at,
                tail_ns: tail_ns.filter(|_| share <= COMMON),
                share,
            });
        }
    }
    all
}

/// The least accidental succession of tails of a row, if it is beyond chance.
fn streak(
    runs: &[&RunFigures],
    rows: usize,
    subject: &str,
    seen: &[Sighting],
) -> Option<TailAgain> {
    let is_alike = |a: &Sighting, b: &Sighting| a.tail_ns.is_some() == b.tail_ns.is_some();
    let successions = seen
        .chunk_by(is_alike)
        .filter(|one| one[0].tail_ns.is_some());
    let all = successions.map(|one| {
        let places = seen.len() - one.len() + 1;
        let product: f64 = one.iter().map(|sighting| sighting.share).product();
        (rows as f64 * places as f64 * product, one)
    });
    let (chance, own) = all.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let tails = || own.iter().filter_map(|sighting| sighting.tail_ns);
    let (first, last) = (own.first()?.run, own.last()?.run);
    (chance < CHANCE).then(|| TailAgain {
        subject: subject.to_owned(),
        metric: AGAIN.0.to_owned(),
        from: label(runs[first]),
        to: label(runs[last]),
        runs: own.len() as u64,
        least_ns: tails().fold(f64::INFINITY, f64::min),
        most_ns: tails().fold(0.0, f64::max),
        is_ongoing: seen.last().is_some_and(|newest| newest.run == last),
        chance,
    })
}

/// Slow requests that take the same time in several rows of a run, release by release. Only runs of
/// which nothing but percentiles is known are examined: where requests were examined, modes show more.
pub(super) fn same(releases: &[OfRelease<'_>]) -> Vec<SameTail> {
    let mut found: Vec<SameTail> = Vec::new();
    for release in releases {
        for run in release.runs.iter().filter(|run| run.modes.is_empty()) {
            for one in same_in(run) {
                add(&mut found, one, &release.label);
            }
        }
    }
    found
}

/// Adds what a release shows to what others do if it may be the same.
fn add(found: &mut Vec<SameTail>, mut one: SameTail, release: &str) {
    let is_one = |known: &&mut SameTail| (known.at_ns / one.at_ns).ln().abs() <= TOLERANCE_LEAST;
    let Some(known) = found.iter_mut().find(is_one) else {
        one.releases.push(release.to_owned());
        found.push(one);
        return;
    };
    for subject in one.subjects {
        if !known.subjects.contains(&subject) {
            known.subjects.push(subject);
        }
    }
    if known.releases.iter().all(|other| other != release) {
        known.releases.push(release.to_owned());
    }
    known.chance = known.chance.min(one.chance);
}

fn same_in(run: &RunFigures) -> Vec<SameTail> {
    let reading = Reading::of(&[run]);
    let own = subjects(&[run]);
    let tails = own.iter().filter_map(|subject| {
        let mut tails = TAIL.iter().filter_map(|of| tail(run, subject, *of));
        Some((*subject, tails.next()?))
    });
    let tails: Vec<(&str, f64)> = tails.collect();
    let groups: Vec<Vec<Seen>> = tails
        .iter()
        .map(|(_, value)| {
            vec![Seen {
                value: *value,
                half_width: 0.0,
                quantum: reading.digit(Unit::Ns, *value).unwrap_or(0.0),
                p: 0.0,
            }]
        })
        .collect();
    let Some(range) = range(run, &own) else {
        return Vec::new();
    };
    let claimed = recurring(&groups, range)
        .into_iter()
        .filter(Recurring::is_claimed);
    claimed
        .map(|one| {
            let subjects: Vec<&str> = one.groups.iter().map(|&at| tails[at].0).collect();
            let digit = reading.digit(Unit::Ns, one.value).unwrap_or(0.0);
            let usual = subjects.iter().filter_map(|own| latency(run, own, "p50"));
            let base = usual.reduce(f64::min).unwrap_or(0.0);
            SameTail {
                at_ns: one.value,
                made_of: made_of::decomposed(one.value, base, digit, &made_of::timers(run)),
                subjects: subjects.into_iter().map(str::to_owned).collect(),
                releases: Vec::new(),
                chance: one.chance,
            }
        })
        .collect()
}

/// From the fastest median to the slowest percentile: where a tail could have been.
fn range(run: &RunFigures, own: &[&str]) -> Option<(f64, f64)> {
    let of = |metric| own.iter().filter_map(move |one| latency(run, one, metric));
    let fastest = of("p50").reduce(f64::min)?;
    let slowest = TAIL.iter().flat_map(|(metric, _)| of(metric));
    let slowest = slowest.reduce(f64::max)?;
    (slowest > fastest).then_some((fastest, slowest))
}
