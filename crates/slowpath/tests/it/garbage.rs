//! Pauses of garbage collection that a target's log reports, compared with slow requests.

use serde_json::Value;

use crate::foreign;
use crate::support::{of_the_long_list, skipped, unfit};

/// The pauses of `garbage.js`, and the slow requests.
fn judged(mode: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let words = foreign::garbage(folder.path())?;
    let (report, _) = foreign::judged_twice(folder.path(), words, mode, ("100/s", "3s"));
    let pauses = report["endpoints"][0]["pauses"].clone();
    assert!(!pauses.is_null(), "the log reports collections");
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
