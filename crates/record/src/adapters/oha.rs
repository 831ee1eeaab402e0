//! oha: `--output-format json` (`--json` before 1.9).

use std::collections::BTreeMap;

use serde::Deserialize;
use slowpath_core::figures::Unit;

use super::json::{parse, some};
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "oha",
    about: "oha: --output-format json (--json in older ones)",
    detects: |head| head.contains("\"latencyPercentiles\"") || head.contains("\"successRate\""),
    reads: read,
};

const REMEDY: &str = "give what oha --output-format json prints";
const SECOND_NS: f64 = 1e9;
/// What oha's document is about; it names no URL.
const SUBJECT: &str = "requests";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    summary: Summary,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    slowest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: Option<f64>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    let answered: u64 = sum(document.status_code_distribution.values());
    let broken: u64 = sum(document.error_distribution.values());
    let n = answered.saturating_add(broken);
    let mut time = |metric: &str, seconds: Option<f64>| {
        if let Some(seconds) = seconds {
            let take = Take::one(SUBJECT, metric, Unit::Ns, seconds * SECOND_NS);
            harvest.add(take.observed(answered));
        }
    };
    time("mean", document.summary.average);
    for (name, seconds) in &document.latency_percentiles {
        time(name, *seconds);
    }
    time("max", document.summary.slowest);
    if let Some(rate) = document.summary.requests_per_sec {
        harvest.add(Take::one(SUBJECT, "rate", Unit::PerSecond, rate).observed(n));
    }
    if n > 0 {
        let good = document.status_code_distribution.iter();
        let good = good.filter(|(code, _)| code.starts_with(['2', '3']));
        let good = sum(good.map(|(_, count)| count));
        let share = (n - good) as f64 / n as f64;
        harvest.add(Take::one(SUBJECT, "errors", Unit::Share, share).observed(n));
    }
    let told = document.error_distribution.iter();
    harvest.failures = told
        .map(|(what, count)| format!("{count} x {what}"))
        .collect();
    super::from_sent(&mut harvest, "oha", "unless --latency-correction was given");
    some(source, harvest, REMEDY)
}

fn sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0, |sum, &count| sum.saturating_add(count))
}
