//! Pauses of garbage collection that a target's log tells of, held against slow requests.

use serde_json::Value;

use crate::foreign;
use crate::support::{of_the_long_list, run_scenario, skipped, slowpath, stderr, unfit};

/// The pauses of `garbage.js`, and the slow requests; `explain` says the same.
fn judged(mode: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut words = foreign::garbage(folder.path())?;
    words.extend(["{port}", mode].map(str::to_owned));
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {words:?}\nready = \"tcp\"\n\
         [load]\nmodel = \"open\"\nrate = \"100/s\"\nconnections = 16\nwarmup = \"200ms\"\n\
         duration = \"3s\"\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (_, report, output) = run_scenario(folder.path(), &scenario);
    assert!(!report.is_null(), "{}", stderr(&output));
    let again = slowpath(folder.path(), &["explain", "last", "--json", "again.json"]);
    let text = std::fs::read_to_string(folder.path().join("again.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", stderr(&again)));
    let replayed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(replayed["endpoints"], report["endpoints"], "judged again");
    let pauses = report["endpoints"][0]["pauses"].clone();
    assert!(!pauses.is_null(), "the log tells of collections");
    let why = unfit(&report);
    if pauses["slow"] == 0 || !why.is_empty() {
        skipped(&format!(
            "{mode}: no place to see a tail: {}",
            why.join("; ")
        ));
        return None;
    }
    Some(pauses)
}

#[test]
fn pauses_have_what_slow_requests_take_longer() {
    let Some(pauses) = judged("full") else {
        return;
    };
    let number = |field: &str| pauses[field].as_f64().unwrap();
    assert!(number("pauses") > 0.0, "{pauses:#}");
    assert!(number("excess_share") >= 0.5, "{pauses:#}");
    assert!(
        number("excess_share") > number("chance_share"),
        "{pauses:#}"
    );
}

#[test]
fn a_wait_beside_the_collector_is_none_of_its_pauses() {
    if !of_the_long_list() {
        return;
    }
    let Some(pauses) = judged("sleep") else {
        return;
    };
    assert!(pauses["excess_share"].as_f64().unwrap() < 0.3, "{pauses:#}");
}
