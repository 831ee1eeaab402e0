//! The README is true: its commands exist, and its main one ends with a confirmed cause.

use serde_json::Value;
use slowpath_diagnose::detectors::REGISTRY;

use crate::support::{confirmed, names, root, slowpath, stderr, stdout};

#[test]
fn the_demo_ends_with_a_confirmed_cause_and_a_report() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("cargo run --release -- demo"));
    let folder = tempfile::tempdir().unwrap();
    let output = slowpath(folder.path(), &["demo", "--json", "d.json"]);
    let said = stdout(&output);
    let report = std::fs::read_to_string(folder.path().join("d.json")).unwrap_or_default();
    let report = serde_json::from_str(&report).unwrap_or_default();
    assert_ne!(report, Value::Null, "{said}{}", stderr(&output));
    if !names(&report, "delayed-ack") || !confirmed(folder.path(), &report) {
        return;
    }
    assert!(output.status.success(), "{said}{}", stderr(&output));
    assert!(
        said.contains("delayed-ack") && said.contains("confirmed"),
        "{said}"
    );
    let line = said
        .lines()
        .find(|line| line.starts_with("report"))
        .unwrap();
    let path = line.trim_start_matches("report").trim();
    assert!(folder.path().join(path).exists(), "{path}");
}

#[test]
fn the_readme_counts_the_causes() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let count = format!("It knows {} causes", REGISTRY.len());
    assert!(readme.contains(&count), "{count}");
}

#[test]
fn the_readmes_test_command_is_the_one_that_ci_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = "cargo test --workspace";
    assert!(readme.contains(command) && ci.contains(command));
}

#[test]
fn every_verb_has_help() {
    let folder = tempfile::tempdir().unwrap();
    for verb in [
        "run", "explain", "prove", "demo", "report", "causes", "doctor",
    ] {
        let output = slowpath(folder.path(), &[verb, "--help"]);
        assert!(output.status.success(), "{verb}");
        assert!(stdout(&output).contains("Usage: slowpath"), "{verb}");
    }
}
