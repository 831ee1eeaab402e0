//! What a server says of its own time in `Server-Timing`.

use serde_json::Value;

use crate::foreign;
use crate::support::{of_the_long_list, skipped};

/// The part that sleeps has at least this share of what slow requests take longer.
const SHARE: f64 = 0.5;

/// The report of a run against `timings.py`, and what `explain` prints of it.
fn judged(mode: &str) -> Option<(Value, String)> {
    let folder = tempfile::tempdir().unwrap();
    let words = foreign::timings(folder.path())?;
    Some(foreign::judged_twice(
        folder.path(),
        words,
        mode,
        ("150/s", "2s"),
    ))
}

#[test]
fn the_part_that_has_the_time_of_slow_requests_is_told_and_not_blamed() {
    let Some((report, printed)) = judged("db") else {
        return;
    };
    let timings = &report["endpoints"][0]["server_timing"];
    let metrics = timings["metrics"].as_array().unwrap();
    let names: Vec<&str> = metrics
        .iter()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"db") && names.contains(&"page"),
        "{names:?}"
    );
    assert_eq!(timings["with_header"], timings["requests"]);
    if timings["slow"] == 0 {
        return skipped("the host was too busy for a slow class");
    }
    assert_eq!(names[0], "db", "{timings:#}");
    let share = metrics[0]["excess_share"].as_f64().unwrap();
    assert!(share >= SHARE, "{timings:#}");
    let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the server says (Server-Timing"), "{printed}");
    assert!(flat.contains("is in db"), "{printed}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["cause"] != "db"), "{findings:#?}");
}

#[test]
fn a_server_that_says_nothing_has_no_such_figures() {
    if !of_the_long_list() {
        return;
    }
    let Some((report, printed)) = judged("quiet") else {
        return;
    };
    assert!(report["endpoints"][0].get("server_timing").is_none());
    assert!(!printed.contains("Server-Timing"), "{printed}");
}
