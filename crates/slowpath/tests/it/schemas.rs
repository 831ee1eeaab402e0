//! What the binary writes has the shape of the committed schemas.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{root, slowpath, stderr, stdout};

#[path = "../../../report/tests/it/shape_check.rs"]
pub(crate) mod shape_check;

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Holds what was written to `file` against the schema `name`.
fn fits(file: &Path, name: &str) -> Value {
    let schema = read(&root().join(format!("schema/{name}.schema.json")));
    let value = read(file);
    let mut wrong = Vec::new();
    shape_check::check(&schema, &schema, &value, name, &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
    value
}

#[test]
fn benchmarks_gates_and_the_doctor_write_what_their_schemas_say() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // It listens for two seconds, in which the others do their work.
    let doctor = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(["doctor", "--json", "doctor.json"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();

    let tool = root().join("crates/record/tests/fixtures/adapters/pytest-benchmark.json");
    let bench = ["bench", "--repeats", "2", "--json", "bench.json", "--"];
    let output = slowpath(
        folder,
        &[&bench[..], &["cat", tool.to_str().unwrap()]].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let report = fits(&folder.join("bench.json"), "bench");
    assert!(!report["samples"].as_array().unwrap().is_empty());
    assert!(report["executions"][1]["health"].is_object());
    let row = report["figures"]["rows"][0].clone();
    let name = format!(
        "\"{}\".{}",
        row["subject"].as_str().unwrap(),
        row["metric"].as_str().unwrap()
    );
    let gates = format!("[[gate]]\nthat = '{name} < 1h'\n[[gate]]\nthat = '{name} > 1h'\n");
    std::fs::write(folder.join("g.toml"), gates).unwrap();
    let output = slowpath(
        folder,
        &["gate", "last", "--gates", "g.toml", "--json", "gates.json"],
    );
    assert!(
        output.status.code().is_some_and(|code| code != 2),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let report = fits(&folder.join("gates.json"), "gates");
    assert_eq!(report["gates"].as_array().unwrap().len(), 2);

    assert!(doctor.wait_with_output().unwrap().status.success());
    let report = fits(&folder.join("doctor.json"), "doctor");
    assert!(report["noise"].is_object() && report["capabilities"][0].is_object());
}
