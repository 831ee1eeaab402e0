//! `slowpath compare` on stored runs that are made of their figures alone.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{slowpath, stderr, stdout};

/// Stores a run that is a figures.json and nothing else: `ms` are its repeats' p99.
pub(crate) fn store(folder: &Path, id: &str, release: Option<&str>, host: &str, ms: &[f64]) {
    let dir = folder.join(".slowpath/runs").join(id);
    std::fs::create_dir_all(&dir).unwrap();
    let repeats: Vec<Value> = ms.iter().map(|ms| json!({ "value": ms * 1e6 })).collect();
    let figures = json!({
        "schema": "slowpath.figures/1", "id": id, "name": "shop", "release": release,
        "began": format!("2026-01-01T{}:{}:05Z", &id[22..24], &id[24..26]),
        "origin": "measured",
        "conditions": {
            "host": { "hostname": host }, "config": { "command": "./server" },
            "harness": { "rate": "500/s" }, "versions": {}
        },
        "rows": [{
            "subject": "search", "metric": "p99", "unit": "ns", "better": "lower",
            "repeats": repeats
        }]
    });
    std::fs::write(dir.join("figures.json"), figures.to_string()).unwrap();
}

/// The id of the `at`th run.
pub(crate) fn id(at: u8) -> String {
    format!("01JD{at:022}")
}

#[test]
fn releases_are_compared_and_the_answer_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (at, release, ms) in [
        (0, "v1", 10.0),
        (1, "v1", 10.2),
        (2, "v1", 10.1),
        (3, "v2", 14.0),
        (4, "v2", 14.2),
        (5, "v2", 13.9),
    ] {
        store(folder.path(), &id(at), Some(release), "x", &[ms, ms]);
    }
    let output = slowpath(folder.path(), &["compare", "v1", "v2", "--json", "c.json"]);
    let (said, told) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        said.contains("release v1: 3 runs") && said.contains("worse +39 %"),
        "{said}"
    );
    let text = std::fs::read_to_string(folder.path().join("c.json")).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["rows"][0]["verdict"], "worse");
    assert_eq!(answer["rows"][0]["a"]["n"], 3);
    let output = slowpath(folder.path(), &["compare", "v1", "last", "--markdown"]);
    let said = stdout(&output);
    assert!(
        said.contains("## What differs") && said.contains("| search.p99 |"),
        "{said}"
    );
    // One run against three: t with two degrees of freedom, and still far away.
    assert!(said.contains("worse +38 %"), "{said}");
}

#[test]
fn another_host_is_the_first_thing_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), &id(0), None, "x", &[10.0, 10.1, 10.2]);
    store(folder.path(), &id(1), None, "y", &[14.0, 14.1, 14.2]);
    let output = slowpath(folder.path(), &["compare", &id(0), &id(1)]);
    let said = stdout(&output);
    assert!(said.starts_with("warning"), "{said}");
    assert!(said.contains("host hostname: x → y"), "{said}");
    assert!(
        said.contains("not comparable: other host (hostname)"),
        "{said}"
    );
    assert!(
        said.contains("10.1 ms") && said.contains("14.1 ms"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), &id(0), Some("v1"), "x", &[10.0]);
    for (args, word) in [
        (["compare", "v1", "v9"], "no run \"v9\""),
        (["compare", "v8", "v1"], "no run \"v8\""),
    ] {
        let output = slowpath(folder.path(), &args);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(told.contains(word) && told.contains("--release"), "{told}");
    }
    let args = ["compare", "v1", "v1", "--name", "other"];
    let output = slowpath(folder.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("A measured shop"));
}
