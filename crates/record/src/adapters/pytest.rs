//! pytest-benchmark: `--benchmark-json`, with every round if `--benchmark-save-data` is said.

use serde::Deserialize;
use slowpath_core::figures::within::median_of;
use slowpath_core::figures::{Figure, Unit};

use super::json::{parse, some};
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "pytest-benchmark",
    about: "pytest-benchmark: --benchmark-json=FILE, best with --benchmark-save-data",
    detects: |head| head.contains("\"machine_info\"") && head.contains("\"python_version\""),
    reads: read,
};

const REMEDY: &str = "give what pytest --benchmark-json=FILE writes";
const SECOND_NS: f64 = 1e9;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    machine_info: Machine,
    benchmarks: Vec<Benchmark>,
    #[serde(default)]
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Machine {
    node: String,
    release: String,
    python_implementation: String,
    python_version: String,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    #[serde(default)]
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    median: f64,
    mean: f64,
    #[serde(default)]
    min: Option<f64>,
    #[serde(default)]
    rounds: u64,
    #[serde(default)]
    data: Vec<f64>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    for one in &document.benchmarks {
        let subject = if one.fullname.is_empty() {
            &one.name
        } else {
            &one.fullname
        };
        let stats = &one.stats;
        let samples: Vec<f64> = stats.data.iter().map(|s| s * SECOND_NS).collect();
        let figure = if samples.is_empty() {
            Figure {
                n: Some(stats.rounds),
                ..Figure::of(stats.median * SECOND_NS)
            }
        } else {
            median_of(&samples)
        };
        harvest.add(Take {
            figures: vec![figure],
            samples,
            ..Take::one(subject, "time", Unit::Ns, 0.0)
        });
        for (metric, value) in [("mean", Some(stats.mean)), ("min", stats.min)] {
            if let Some(seconds) = value {
                let take = Take::one(subject, metric, Unit::Ns, seconds * SECOND_NS);
                harvest.add(take.observed(stats.rounds));
            }
        }
    }
    let machine = document.machine_info;
    let python = format!(
        "{} {}",
        machine.python_implementation, machine.python_version
    );
    let conditions = &mut harvest.conditions;
    let versions = &mut conditions.versions;
    versions.insert("python".to_owned(), python);
    versions.insert("pytest-benchmark".to_owned(), document.version);
    for (name, value) in [("hostname", machine.node), ("kernel", machine.release)] {
        if !value.is_empty() {
            conditions.host.insert(name.to_owned(), value);
        }
    }
    some(source, harvest, REMEDY)
}
