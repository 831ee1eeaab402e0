//! The committed schemas say what `report.json`, `sweep.json`, `figures.json` and what
//! verbs write with `--json` hold.

use std::path::Path;

use serde_json::Value;
use slowpath_core::bench::BenchReport;
use slowpath_core::facts::HostFacts;
use slowpath_core::figures::RunFigures;
use slowpath_core::gates::GateReport;
use slowpath_core::health::{During, Noise, TimerNoise};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_diagnose::health::doctor::{DOCTOR_SCHEMA, DoctorReport, Heard, HostBench};
use slowpath_experiment::ab::Ab;
use slowpath_experiment::compare::Comparison;
use slowpath_experiment::history::History;
use slowpath_experiment::log::LogReport;
use slowpath_experiment::sweep::Sweep;

use crate::sample;
use crate::shape_check::check;

/// Where the schemas are committed.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema");

/// Every schema of what is written, by its file.
fn schemas() -> [(&'static str, schemars::Schema); 10] {
    [
        ("report", schemars::schema_for!(Diagnosis)),
        ("sweep", schemars::schema_for!(Sweep)),
        ("figures", schemars::schema_for!(RunFigures)),
        ("comparison", schemars::schema_for!(Comparison)),
        ("history", schemars::schema_for!(History)),
        ("ab", schemars::schema_for!(Ab)),
        ("gates", schemars::schema_for!(GateReport)),
        ("bench", bench()),
        ("doctor", schemars::schema_for!(DoctorReport)),
        ("log", schemars::schema_for!(LogReport)),
    ]
}

/// As it is written: summaries are made again when it is read.
fn bench() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<BenchReport>()
}

/// The schema of that name.
pub(crate) fn schema(name: &str) -> Value {
    let of_name = schemas().into_iter().find(|(each, _)| *each == name);
    serde_json::to_value(of_name.unwrap().1).unwrap()
}

#[test]
fn the_committed_schemas_are_up_to_date() {
    for (name, schema) in schemas() {
        let path = Path::new(FOLDER).join(format!("{name}.schema.json"));
        let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
            std::fs::create_dir_all(FOLDER).unwrap();
            std::fs::write(&path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == generated,
            "{name}: run UPDATE=1 cargo test -p slowpath-report --test it schema"
        );
    }
}

#[test]
fn reports_have_the_shape_of_the_schema() {
    let schema = schema("report");
    for diagnosis in [
        sample::diagnosis("static"),
        sample::healthy(),
        sample::invalid(),
    ] {
        let report: Value = serde_json::from_str(&slowpath_report::json(&diagnosis)).unwrap();
        let mut wrong = Vec::new();
        check(&schema, &schema, &report, "report", &mut wrong);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(
            serde_json::from_value::<Diagnosis>(report).unwrap(),
            diagnosis
        );
    }
}

/// What was counted of a host in a second, and heard in another.
fn heard() -> (During, Noise) {
    let span = |at: u64| Span::new(Nanos::new(at), Nanos::new(at + 1_000_000_000));
    let during = serde_json::json!({
        "span": span(1), "cpus": 2, "cpu": null, "own_cpu_ns": 5, "children_cpu_ns": 7,
        "psi_cpu_ns": 9, "psi_io_ns": null, "psi_memory_ns": null, "throttled_ns": 0,
        "switches": 1200,
        "clocks": {
            "events": [{ "kind": "step", "between": span(3), "by_ns": -2e6 }], "slew_ppm": 0.4
        }
    });
    let noise = Noise {
        span: span(1),
        cpus: Vec::new(),
        timer: TimerNoise {
            n: 9,
            late_p50_ns: 50_000,
            late_p99_ns: 90_000,
            step_ns: 1,
        },
    };
    (serde_json::from_value(during).unwrap(), noise)
}

#[test]
fn what_the_doctor_finds_has_the_shape_of_the_schema() {
    let schema = schema("doctor");
    let (during, noise) = heard();
    let report = DoctorReport {
        schema: DOCTOR_SCHEMA.to_owned(),
        host: HostFacts::default(),
        capabilities: Vec::new(),
        noise: Some(Heard::of(&noise)),
        bench: Some(HostBench::of(
            during.clone(),
            during,
            vec![noise.clone(), noise],
        )),
    };
    let value: Value = serde_json::from_str(&slowpath_report::doctor_json(&report)).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &value, "doctor", &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(
        serde_json::from_value::<DoctorReport>(value).unwrap(),
        report
    );
}

#[test]
fn the_shape_check_sees_what_is_wrong() {
    let schema = schema("report");
    let mut report: Value =
        serde_json::from_str(&slowpath_report::json(&sample::diagnosis("static"))).unwrap();
    report["findings"][0]["grade"] = "certain".into();
    report["run"]["repeats"] = "two".into();
    report["endpoints"][0]
        .as_object_mut()
        .unwrap()
        .remove("offered");
    let mut wrong = Vec::new();
    check(&schema, &schema, &report, "report", &mut wrong);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
}

#[test]
fn json_ends_with_a_newline_and_keeps_the_order_of_the_fields() {
    let text = slowpath_report::json(&sample::diagnosis("static"));
    assert!(text.starts_with("{\n  \"schema\": \"slowpath.report/2\",\n") && text.ends_with("}\n"));
}
