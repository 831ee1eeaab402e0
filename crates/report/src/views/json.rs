//! `report.json`, `sweep.json`, `bench.json`, and what comparisons and histories write.

use serde::Serialize;
use slowpath_core::bench::BenchReport;
use slowpath_core::gates::GateReport;
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_diagnose::health::doctor::DoctorReport;
use slowpath_experiment::ab::Ab;
use slowpath_experiment::compare::Comparison;
use slowpath_experiment::history::History;
use slowpath_experiment::log::LogReport;
use slowpath_experiment::sweep::Sweep;

/// The diagnosis as `report.json` holds it.
pub fn json(diagnosis: &Diagnosis) -> String {
    pretty(diagnosis)
}

/// The sweep as `sweep.json` holds it.
pub fn sweep_json(sweep: &Sweep) -> String {
    pretty(sweep)
}

/// The benchmark run as `bench.json` holds it.
pub fn bench_json(report: &BenchReport) -> String {
    pretty(report)
}

/// A comparison of runs.
pub fn comparison_json(comparison: &Comparison) -> String {
    pretty(comparison)
}

/// A history.
pub fn history_json(history: &History) -> String {
    pretty(history)
}

/// An investigation log.
pub fn log_json(report: &LogReport) -> String {
    pretty(report)
}

/// A comparison of two settings as `ab.json` holds it.
pub fn ab_json(ab: &Ab) -> String {
    pretty(ab)
}

/// What became of gates.
pub fn gates_json(report: &GateReport) -> String {
    pretty(report)
}

/// What the doctor found.
pub fn doctor_json(report: &DoctorReport) -> String {
    pretty(report)
}

/// Indented, with a newline at its end.
fn pretty(report: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(report)
        .expect("reports have string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}
