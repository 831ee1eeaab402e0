//! The figures of releases, as a table that says where it is not comparable.

use slowpath_core::figures::{RunFigures, Unit};

use super::to_the_second;
use crate::compare::{differences, obstacles};
use crate::estimate::{Estimate, Units};
use crate::history::label;

/// The columns of a row, if its subject has them.
const COLUMNS: [&str; 8] = ["p50", "p90", "p95", "p98", "p99", "p99.9", "rate", "errors"];

/// Every release of every scenario or benchmark, the newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmarks {
    /// One a name, in order of names.
    pub settings: Vec<BenchmarkSetting>,
}

/// One scenario or benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkSetting {
    /// Its name.
    pub name: String,
    /// Its releases, the newest first.
    pub releases: Vec<BenchmarkRelease>,
}

/// One release, or one part of its runs that were measured alike.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkRelease {
    /// The release, or else the commit, or else the run.
    pub label: String,
    /// When its newest run began, RFC 3339.
    pub began: String,
    /// Its runs, in order of time.
    pub runs: Vec<String>,
    /// Why the figures mean something else than they say; empty if they can be trusted.
    pub void: Vec<String>,
    /// Why these figures are not comparable with those of the release before; empty if they are.
    pub obstacles: Vec<String>,
    /// The release before, if there is one.
    pub before: Option<String>,
    /// Under which conditions: part by part, names and values.
    pub conditions: Vec<(&'static str, Vec<(String, String)>)>,
    /// One a subject.
    pub rows: Vec<BenchmarkRow>,
}

/// One endpoint or benchmark of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkRow {
    /// The endpoint or benchmark.
    pub subject: String,
    /// Requests or executions that the figures rest on, if known.
    pub n: Option<u64>,
    /// Its figures: metric, unit, estimate.
    pub figures: Vec<(String, Unit, Estimate)>,
}

/// The tables of all runs, which are in order of time.
pub fn benchmarks<'a>(runs: impl IntoIterator<Item = &'a RunFigures>) -> Benchmarks {
    let runs: Vec<&RunFigures> = runs.into_iter().collect();
    let mut names: Vec<&String> = runs.iter().map(|run| &run.name).collect();
    names.sort();
    names.dedup();
    let settings = names.into_iter().map(|name| BenchmarkSetting {
        name: name.clone(),
        releases: releases(runs.iter().copied().filter(|run| run.name == *name)),
    });
    Benchmarks {
        settings: settings.collect(),
    }
}

/// The releases of one name, the newest first. Runs that were not measured alike, and void ones,
/// stand apart although they are of one release.
fn releases<'a>(runs: impl Iterator<Item = &'a RunFigures>) -> Vec<BenchmarkRelease> {
    let mut groups: Vec<Vec<&RunFigures>> = Vec::new();
    for run in runs {
        let own = groups.iter_mut().find(|group| {
            let first = group[0];
            label(first) == label(run)
                && first.void.is_empty() == run.void.is_empty()
                && unlike(&[first], &[run]).is_empty()
        });
        match own {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let mut all: Vec<BenchmarkRelease> = Vec::new();
    let mut before: Option<&Vec<&RunFigures>> = None;
    for group in &groups {
        all.push(release(group, before));
        if group[0].void.is_empty() {
            before = Some(group);
        }
    }
    all.reverse();
    all
}

fn unlike(a: &[&RunFigures], b: &[&RunFigures]) -> Vec<String> {
    obstacles(&differences(a, b))
}

fn release(group: &[&RunFigures], before: Option<&Vec<&RunFigures>>) -> BenchmarkRelease {
    let newest = group[group.len() - 1];
    let conditions = &newest.conditions;
    let parts = [
        ("host", &conditions.host),
        ("harness", &conditions.harness),
        ("config", &conditions.config),
        ("versions", &conditions.versions),
    ];
    BenchmarkRelease {
        label: label(newest),
        began: to_the_second(&newest.began),
        runs: group.iter().map(|run| run.id.clone()).collect(),
        void: newest.void.clone(),
        obstacles: before.map_or_else(Vec::new, |before| unlike(before, group)),
        before: before.map(|before| label(before[0])),
        conditions: parts
            .into_iter()
            .filter(|(_, named)| !named.is_empty())
            .map(|(part, named)| {
                let named = named.iter();
                (part, named.map(|(k, v)| (k.clone(), v.clone())).collect())
            })
            .collect(),
        rows: rows(group),
    }
}

fn rows(group: &[&RunFigures]) -> Vec<BenchmarkRow> {
    let mut subjects: Vec<&String> = Vec::new();
    for row in group.iter().flat_map(|run| &run.rows) {
        if !subjects.contains(&&row.subject) {
            subjects.push(&row.subject);
        }
    }
    subjects
        .into_iter()
        .map(|subject| row(group, subject))
        .collect()
}

fn row(group: &[&RunFigures], subject: &str) -> BenchmarkRow {
    let own = group.iter().flat_map(|run| &run.rows);
    let own: Vec<_> = own.filter(|row| row.subject == subject).collect();
    let mut metrics: Vec<(String, Unit)> = Vec::new();
    for row in &own {
        if !metrics.iter().any(|(metric, _)| *metric == row.metric) {
            metrics.push((row.metric.clone(), row.unit));
        }
    }
    let is_usual = |metric: &String| COLUMNS.contains(&metric.as_str());
    if metrics.iter().any(|(metric, _)| is_usual(metric)) {
        metrics.retain(|(metric, _)| is_usual(metric));
    }
    // What the median rests on is what was completed.
    let first = metrics.first().map(|(metric, _)| metric.clone());
    let counted = own.iter().filter(|row| Some(&row.metric) == first.as_ref());
    let repeats = counted.flat_map(|row| &row.repeats);
    let kept: Vec<Option<u64>> = repeats
        .filter(|figure| figure.aside.is_empty())
        .map(|figure| figure.n)
        .collect();
    let n = kept.iter().copied().sum::<Option<u64>>();
    BenchmarkRow {
        subject: subject.to_owned(),
        n: n.filter(|_| !kept.is_empty()),
        figures: metrics
            .into_iter()
            .map(|(metric, unit)| {
                let estimate = Units::of(group, subject, &metric).estimate();
                (metric, unit, estimate)
            })
            .collect(),
    }
}
