//! Google Benchmark: `--benchmark_format=json` or `--benchmark_out`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use slowpath_core::figures::{Better, Unit};

use super::json::{parse, some};
use super::quantity::unit_ns;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "google-benchmark",
    about: "Google Benchmark: --benchmark_format=json, or --benchmark_out=FILE",
    detects: |head| head.contains("\"benchmarks\"") && head.contains("\"library_build_type\""),
    reads: read,
};

const REMEDY: &str = "give what --benchmark_format=json prints";

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    context: Context,
    benchmarks: Vec<Benchmark>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    host_name: String,
    num_cpus: u32,
    cpu_scaling_enabled: bool,
    library_build_type: String,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    #[serde(default)]
    run_name: String,
    #[serde(default)]
    run_type: String,
    #[serde(default)]
    iterations: u64,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    #[serde(default)]
    time_unit: String,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    error_message: String,
    #[serde(flatten)]
    counters: BTreeMap<String, Value>,
}

/// Numbers about the benchmark that are no counters of it.
const NO_COUNTERS: [&str; 5] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
];

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    for one in &document.benchmarks {
        // Means and medians of the repetitions, which are there themselves.
        if one.run_type == "aggregate" {
            continue;
        }
        let name = if one.run_name.is_empty() {
            &one.name
        } else {
            &one.run_name
        };
        if one.error_occurred {
            harvest
                .failures
                .push(format!("{name}: {}", one.error_message));
            continue;
        }
        let unit = unit_ns(&one.time_unit).unwrap_or(1.0);
        for (metric, time) in [("time", one.real_time), ("cpu time", one.cpu_time)] {
            if let Some(time) = time {
                let take = Take::one(name, metric, Unit::Ns, time * unit);
                harvest.add(take.observed(one.iterations));
            }
        }
        for (counter, value) in &one.counters {
            if let (Some(value), false) = (value.as_f64(), NO_COUNTERS.contains(&&**counter)) {
                harvest.add(count(name, counter, value));
            }
        }
    }
    let context = document.context;
    let host = &mut harvest.conditions.host;
    if !context.host_name.is_empty() {
        host.insert("hostname".to_owned(), context.host_name);
    }
    if context.num_cpus > 0 {
        host.insert("cpus".to_owned(), context.num_cpus.to_string());
    }
    let scaling = context.cpu_scaling_enabled.to_string();
    host.insert("cpu_scaling".to_owned(), scaling);
    if context.library_build_type == "debug" {
        let text = "the library of Google Benchmark was built without optimisation";
        harvest.notes.push(text.to_owned());
    }
    let build = context.library_build_type;
    let harness = &mut harvest.conditions.harness;
    harness.insert("library_build_type".to_owned(), build);
    some(source, harvest, REMEDY)
}

fn count(subject: &str, counter: &str, value: f64) -> Take {
    match counter {
        "bytes_per_second" | "items_per_second" => {
            Take::one(subject, counter, Unit::Count, value).improving(Better::Higher)
        }
        _ => Take::one(subject, counter, Unit::Count, value),
    }
}
