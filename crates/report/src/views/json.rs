//! `report.json`, `sweep.json`, `bench.json`, and what comparisons and histories write.

use slowpath_core::bench::BenchReport;
use slowpath_core::gates::GateReport;
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_diagnose::health::doctor::DoctorReport;
use slowpath_experiment::ab::Ab;
use slowpath_experiment::compare::Comparison;
use slowpath_experiment::history::History;
use slowpath_experiment::sweep::Sweep;

/// The diagnosis as `report.json` holds it: indented, with a newline at its end.
pub fn json(diagnosis: &Diagnosis) -> String {
    let mut text = serde_json::to_string_pretty(diagnosis)
        .expect("a diagnosis has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// The sweep as `sweep.json` holds it: indented, with a newline at its end.
pub fn sweep_json(sweep: &Sweep) -> String {
    let mut text = serde_json::to_string_pretty(sweep)
        .expect("a sweep has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// The benchmark run as `bench.json` holds it: indented, with a newline at its end.
pub fn bench_json(report: &BenchReport) -> String {
    let mut text = serde_json::to_string_pretty(report)
        .expect("a benchmark run has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// A comparison: indented, with a newline at its end.
pub fn comparison_json(comparison: &Comparison) -> String {
    let mut text = serde_json::to_string_pretty(comparison)
        .expect("a comparison has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// A history: indented, with a newline at its end.
pub fn history_json(history: &History) -> String {
    let mut text = serde_json::to_string_pretty(history)
        .expect("a history has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// A comparison of two settings as `ab.json` holds it: indented, with a newline at its end.
pub fn ab_json(ab: &Ab) -> String {
    let mut text = serde_json::to_string_pretty(ab)
        .expect("a comparison has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// What became of gates: indented, with a newline at its end.
pub fn gates_json(report: &GateReport) -> String {
    let mut text = serde_json::to_string_pretty(report)
        .expect("what became of gates has string keys only and numbers that JSON can hold or null");
    text.push('\n');
    text
}

/// What the doctor found: indented, with a newline at its end.
pub fn doctor_json(report: &DoctorReport) -> String {
    let mut text = serde_json::to_string_pretty(report)
        .expect("what the doctor found has string keys only and numbers that JSON can hold");
    text.push('\n');
    text
}
