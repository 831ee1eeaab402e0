//! JMH: `-rf json`. Each fork is a process of its own.

use std::collections::BTreeMap;

use serde::Deserialize;
use slowpath_core::figures::{Better, Figure, Unit};

use super::json::{parse, some};
use super::quantity::{percentile, unit_ns};
use super::{Adapter, AdapterError, Harvest, Rests, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "jmh",
    about: "JMH: -rf json -rff FILE",
    detects: |head| head.contains("\"primaryMetric\"") && head.contains("\"benchmark\""),
    reads: read,
};

const REMEDY: &str = "give what JMH writes with -rf json";

/// Percentiles of sampled times that are kept: the rest is finer than is ever needed.
const KEPT: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    #[serde(default)]
    jmh_version: String,
    #[serde(rename = "benchmark")]
    name: String,
    mode: String,
    #[serde(default)]
    threads: u32,
    #[serde(default)]
    vm_name: String,
    #[serde(default)]
    vm_version: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    primary_metric: Metric,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, Metric>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score: f64,
    score_unit: String,
    #[serde(default)]
    score_percentiles: BTreeMap<String, f64>,
    /// Forks, and their iterations.
    #[serde(default)]
    raw_data: Vec<Vec<f64>>,
    /// Forks, their iterations, and pairs of a time and how often it was met.
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<(f64, u64)>>>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let benchmarks: Vec<Benchmark> = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    for one in &benchmarks {
        let parameters = one
            .params
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let parameters: Vec<String> = parameters.collect();
        let subject = match parameters.as_slice() {
            [] => one.name.clone(),
            some => format!("{} ({})", one.name, some.join(", ")),
        };
        let name = match one.mode.as_str() {
            "thrpt" => "rate",
            "ss" => "single shot",
            _ => "time",
        };
        harvest.add(take(&subject, name, &one.primary_metric));
        if one.mode == "sample" {
            percentiles(&mut harvest, &subject, &one.primary_metric);
        }
        for (name, metric) in &one.secondary_metrics {
            harvest.add(take(&subject, name, metric));
        }
        let conditions = &mut harvest.conditions;
        let version = one.jmh_version.clone();
        conditions.versions.insert("jmh".to_owned(), version);
        let machine = format!("{} {}", one.vm_name, one.vm_version);
        conditions.versions.insert("jvm".to_owned(), machine);
        let threads = one.threads.to_string();
        conditions.harness.insert("threads".to_owned(), threads);
    }
    some(source, harvest, REMEDY)
}

/// What a score is a number of, and what it is multiplied by to be that.
fn scale(unit: &str) -> (Unit, Better, f64) {
    if let Some((time, "op")) = unit.split_once('/')
        && let Some(ns) = unit_ns(time)
    {
        return (Unit::Ns, Better::Lower, ns);
    }
    if let Some(ns) = unit.strip_prefix("ops/").and_then(unit_ns) {
        return (Unit::PerSecond, Better::Higher, 1e9 / ns);
    }
    let better = if unit == "B/op" {
        Better::Lower
    } else {
        Better::Neither
    };
    (Unit::Count, better, 1.0)
}

/// One figure a fork: the mean of its iterations, as JMH's own score is the mean of all.
fn take(subject: &str, metric: &str, of: &Metric) -> Take {
    let (unit, better, factor) = scale(&of.score_unit);
    let mut forks: Vec<Figure> = of.raw_data.iter().filter_map(|fork| mean(fork)).collect();
    let sampled = of.raw_data_histogram.iter();
    forks.extend(sampled.filter_map(|fork| weighted(fork.iter().flatten())));
    if forks.is_empty() {
        forks.push(Figure::of(of.score));
    }
    for figure in &mut forks {
        figure.value *= factor;
    }
    Take {
        better,
        figures: forks,
        rests: Rests::Processes,
        ..Take::one(subject, metric, unit, 0.0)
    }
}

fn mean(values: &[f64]) -> Option<Figure> {
    let count = values.len();
    (count > 0).then(|| Figure {
        n: Some(count as u64),
        ..Figure::of(values.iter().sum::<f64>() / count as f64)
    })
}

fn weighted<'a>(pairs: impl Iterator<Item = &'a (f64, u64)>) -> Option<Figure> {
    let (sum, count) = pairs.fold((0.0, 0_u64), |(sum, count), &(value, times)| {
        (sum + value * times as f64, count.saturating_add(times))
    });
    (count > 0).then(|| Figure {
        n: Some(count),
        ..Figure::of(sum / count as f64)
    })
}

fn percentiles(harvest: &mut Harvest, subject: &str, of: &Metric) {
    let (unit, _, factor) = scale(&of.score_unit);
    for percent in KEPT {
        // JMH writes the shortest decimal with a point: `50.0`, `99.9`.
        let Some(value) = of.score_percentiles.get(&format!("{percent:?}")) else {
            continue;
        };
        harvest.add(Take::one(
            subject,
            &percentile(percent),
            unit,
            value * factor,
        ));
    }
}
