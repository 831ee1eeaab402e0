//! autocannon: `--json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use slowpath_core::figures::{Better, Unit};

use super::json::{parse, some};
use super::quantity::percentile;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "autocannon",
    about: "autocannon: --json",
    detects: |head| head.contains("\"latency\"") && head.contains("\"pipelining\""),
    reads: read,
};

const REMEDY: &str = "give what autocannon --json prints";
const MILLISECOND_NS: f64 = 1e6;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    url: String,
    #[serde(default)]
    connections: u64,
    duration: f64,
    #[serde(default)]
    errors: u64,
    #[serde(default)]
    timeouts: u64,
    #[serde(default)]
    mismatches: u64,
    #[serde(default)]
    non2xx: u64,
    latency: BTreeMap<String, Value>,
    requests: Counted,
    throughput: Counted,
}

#[derive(Deserialize)]
struct Counted {
    average: f64,
    total: u64,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    let subject = super::path_of(&document.url);
    let n = document.requests.total;
    for (name, value) in &document.latency {
        let metric = match name.as_str() {
            "mean" | "max" => name.clone(),
            other => match other.strip_prefix('p').map(|p| p.replace('_', ".").parse()) {
                Some(Ok(percent)) if percent >= 50.0 => percentile(percent),
                _ => continue,
            },
        };
        if let Some(ms) = value.as_f64() {
            let take = Take::one(&subject, &metric, Unit::Ns, ms * MILLISECOND_NS);
            harvest.add(take.observed(n));
        }
    }
    if document.duration > 0.0 {
        let rate = n as f64 / document.duration;
        harvest.add(Take::one(&subject, "rate", Unit::PerSecond, rate).observed(n));
    }
    let bytes = Take::one(
        &subject,
        "bytes/s",
        Unit::Count,
        document.throughput.average,
    );
    harvest.add(bytes.improving(Better::Higher));
    let kinds = [
        ("errors", document.errors),
        ("timeouts", document.timeouts),
        ("mismatches", document.mismatches),
        ("not 2xx", document.non2xx),
    ];
    let happened = kinds.iter().filter(|(_, count)| *count > 0);
    harvest.failures = happened
        .map(|(what, count)| format!("{count} x {what}"))
        .collect();
    // Errors have no response and are not among the requests; timeouts are among the errors.
    let all = n.saturating_add(document.errors);
    let failed = document.errors.saturating_add(document.non2xx);
    let failed = failed.saturating_add(document.mismatches);
    if all > 0 {
        let share = (failed as f64 / all as f64).min(1.0);
        harvest.add(Take::one(&subject, "errors", Unit::Share, share).observed(all));
    }
    let conditions = &mut harvest.conditions;
    let connections = document.connections.to_string();
    conditions
        .harness
        .insert("connections".to_owned(), connections);
    conditions.config.insert("url".to_owned(), document.url);
    harvest.notes.push(
        "autocannon keeps latencies in whole milliseconds: below that its percentiles are 0 or 1"
            .to_owned(),
    );
    super::from_sent(&mut harvest, "autocannon", "");
    some(source, harvest, REMEDY)
}
