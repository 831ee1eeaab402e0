//! k6: the summary, from `--summary-export` or `handleSummary`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use slowpath_core::figures::Unit;

use super::json::{parse, some};
use super::quantity::percentile;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "k6",
    about: "k6: --summary-export=FILE, or the data of handleSummary",
    detects: |head| head.contains("\"metrics\"") && head.contains("\"http_req"),
    reads: read,
};

const REMEDY: &str = "give what k6 run --summary-export=FILE writes";
const MILLISECOND_NS: f64 = 1e6;
/// What the summary is about when it does not say.
const SUBJECT: &str = "requests";

#[derive(Deserialize)]
struct Document {
    metrics: BTreeMap<String, Metric>,
}

/// A metric: `handleSummary` has its numbers in `values`, `--summary-export` right in it.
#[derive(Deserialize)]
struct Metric {
    values: Option<BTreeMap<String, Value>>,
    #[serde(flatten)]
    bare: BTreeMap<String, Value>,
}

impl Metric {
    fn number(&self, name: &str) -> Option<f64> {
        let values = self.values.as_ref().unwrap_or(&self.bare);
        values.get(name)?.as_f64()
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.values.as_ref().unwrap_or(&self.bare).keys()
    }
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    let requests = document.metrics.get("http_reqs");
    let n = requests.and_then(|metric| metric.number("count"));
    let n = n.map_or(0, |count| count as u64);
    for (name, metric) in &document.metrics {
        match name.split_once('{') {
            None if name == "http_req_duration" => times(&mut harvest, SUBJECT, metric, n),
            // A sub-metric by tag: `http_req_duration{name:search}`.
            Some(("http_req_duration", tag)) => {
                let tag = tag.trim_end_matches('}');
                times(&mut harvest, tag, metric, 0);
            }
            _ => {}
        }
    }
    if let Some(rate) = requests.and_then(|metric| metric.number("rate")) {
        harvest.add(Take::one(SUBJECT, "rate", Unit::PerSecond, rate).observed(n));
    }
    let failed = document.metrics.get("http_req_failed");
    // `value` in an export, `rate` in the data of handleSummary.
    let share = failed.and_then(|m| m.number("value").or_else(|| m.number("rate")));
    if let Some(share) = share {
        harvest.add(Take::one(SUBJECT, "errors", Unit::Share, share).observed(n));
    }
    super::from_sent(&mut harvest, "k6", "");
    some(source, harvest, REMEDY)
}

fn times(harvest: &mut Harvest, subject: &str, metric: &Metric, n: u64) {
    for name in metric.names() {
        let known = match name.as_str() {
            "avg" => "mean".to_owned(),
            "med" => "p50".to_owned(),
            "max" => "max".to_owned(),
            other => {
                let inner = other.strip_prefix("p(").and_then(|p| p.strip_suffix(')'));
                match inner.and_then(|percent| percent.parse().ok()) {
                    Some(percent) => percentile(percent),
                    None => continue,
                }
            }
        };
        if let Some(ms) = metric.number(name) {
            let take = Take::one(subject, &known, Unit::Ns, ms * MILLISECOND_NS);
            harvest.add(if n > 0 { take.observed(n) } else { take });
        }
    }
}
