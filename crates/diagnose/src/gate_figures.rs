//! A judged run in the figures that its gates may name: those of every run, and what was counted.

use slowpath_core::figures::{Figure, Row, RunFigures, Unit};
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::record::Manifest;

use crate::diagnosis::{Diagnosis, EndpointFigures};
use crate::run_figures::{run_figures, subject};

/// The figures of a run with the rows that only gates need: `max`, `offered`, `completed`,
/// `failed` and `unfinished`, each counted by itself, so that a gate on their sum can fail.
pub fn gate_figures(manifest: &Manifest, diagnosis: &Diagnosis) -> RunFigures {
    let mut figures = run_figures(manifest, diagnosis);
    figures
        .rows
        .extend(diagnosis.endpoints.iter().flat_map(counted));
    figures
}

fn counted(endpoint: &EndpointFigures) -> Vec<Row> {
    let row = |metric: &str, unit: Unit, value: Option<f64>| Row {
        subject: subject(endpoint),
        metric: metric.to_owned(),
        unit,
        better: unit.better(),
        repeats: Vec::new(),
        whole: value.map(Figure::of),
        refused: String::new(),
    };
    let count = |metric: &str, value: u64| row(metric, Unit::Count, Some(value as f64));
    let max = &endpoint.latency_ms.max;
    let failed = endpoint.errors.iter().map(|error| error.count).sum();
    vec![
        Row {
            refused: max.reason.clone().unwrap_or_default(),
            ..row("max", Unit::Ns, max.value.map(|ms| ms * MILLISECOND as f64))
        },
        count("offered", endpoint.offered),
        count("completed", endpoint.completed),
        count("failed", failed),
        count("unfinished", endpoint.unfinished),
    ]
}
