//! vegeta: `vegeta report --type=json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use slowpath_core::figures::Unit;

use super::json::{parse, some};
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "vegeta",
    about: "vegeta: vegeta report --type=json",
    detects: |head| head.contains("\"latencies\"") && head.contains("\"status_codes\""),
    reads: read,
};

const REMEDY: &str = "give what vegeta report --type=json prints";
/// What the report is about; it names no URL.
const SUBJECT: &str = "requests";

#[derive(Deserialize)]
struct Document {
    latencies: BTreeMap<String, f64>,
    requests: u64,
    rate: f64,
    throughput: f64,
    success: f64,
    #[serde(default)]
    status_codes: BTreeMap<String, u64>,
    #[serde(default)]
    errors: Option<Vec<String>>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    let n = document.requests;
    for (name, ns) in &document.latencies {
        let metric = match name.as_str() {
            "mean" | "max" => name.clone(),
            other => match other.strip_suffix("th") {
                Some(percent) if percent.parse::<f64>().is_ok() => format!("p{percent}"),
                _ => continue,
            },
        };
        harvest.add(Take::one(SUBJECT, &metric, Unit::Ns, *ns).observed(n));
    }
    let rates = [("rate", document.throughput), ("offered", document.rate)];
    for (metric, per_s) in rates {
        harvest.add(Take::one(SUBJECT, metric, Unit::PerSecond, per_s).observed(n));
    }
    let share = (1.0 - document.success).clamp(0.0, 1.0);
    harvest.add(Take::one(SUBJECT, "errors", Unit::Share, share).observed(n));
    harvest.failures = document.errors.unwrap_or_default();
    let bad = document.status_codes.iter();
    let bad = bad.filter(|(code, _)| !code.starts_with(['2', '3']));
    harvest
        .failures
        .extend(bad.map(|(code, count)| format!("{count} x status {code}")));
    super::from_sent(&mut harvest, "vegeta", "");
    some(source, harvest, REMEDY)
}
