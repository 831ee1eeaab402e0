//! What a Go server tells of itself: the lock that its requests wait for is named at once by its
//! profiles, and a healthy one is left alone. The server is `foreign/mutex.go`.

use std::path::Path;

use serde_json::Value;

use crate::foreign;
use crate::support::{
    blamed, disturbances, names, of_the_long_list, run_scenario, skipped, stderr,
};

/// The least share of the excess that the cause must have.
const SHARE: f64 = 0.6;
/// How far a period may be off.
const PERIOD_WITHIN: f64 = 0.1;
/// How long the background sleeps with the lock, or beside it, and how long it rests.
const HOLD_MS: u32 = 40;
const PAUSE_MS: u32 = 120;

/// Runs the server in this mode and gives the report.
fn judged(folder: &Path, server: &[String], mode: &str) -> Value {
    let words = ["{port}", mode, &HOLD_MS.to_string(), &PAUSE_MS.to_string()];
    let words = words.map(str::to_owned);
    let command: Vec<&String> = server.iter().chain(&words).collect();
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {command:?}\nready = \"tcp\"\n\
         pprof = \"http://127.0.0.1:{{port}}\"\n\
         [load]\nmodel = \"open\"\nrate = \"100/s\"\nconnections = 8\n\
         warmup = \"1s\"\nduration = \"6s\"\n\
         [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (_, report, output) = run_scenario(folder, &scenario);
    assert!(!report.is_null(), "{}", stderr(&output));
    report
}

#[test]
fn a_goroutine_that_sleeps_with_the_mutex_is_named_at_once() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = foreign::go(folder.path()) else {
        return;
    };
    let report = judged(folder.path(), &server, "lock");
    if !names(&report, "lock-held-over-io") {
        return;
    }
    let finding = &report["findings"][0];
    let share = finding["share"].as_f64().unwrap();
    let why = disturbances(&report);
    if share < SHARE && !why.is_empty() {
        return skipped(&format!("share {share}: {}", why.join("; ")));
    }
    assert!(share >= SHARE, "{finding:#}");
    let culprit = &finding["culprit"];
    assert_eq!(culprit["thread"], "goroutine main.flusher", "{finding:#}");
    let frames = culprit["stack"].as_array().unwrap().iter();
    let mut frames = frames.filter_map(Value::as_str);
    assert!(frames.any(|f| f.starts_with("main.flushLocked (mutex.go:")));
    let summary = finding["summary"].as_str().unwrap();
    assert!(summary.contains("sleeps in main.flushLocked"), "{summary}");
    if let Some(period_ms) = culprit["period_ms"].as_f64() {
        let ratio = period_ms / f64::from(HOLD_MS + PAUSE_MS);
        assert!((ratio - 1.0).abs() <= PERIOD_WITHIN, "{finding:#}");
    }

    let report = judged(folder.path(), &server, "beside");
    assert!(blamed(&report).is_empty(), "{report:#}");
    let locks = ["lock-held-over-io", "lock-contention"];
    let cleared = report["cleared"].as_array().unwrap().iter();
    let cleared = cleared.filter(|c| locks.contains(&c["cause"].as_str().unwrap()));
    assert_eq!(cleared.count(), locks.len(), "{:#}", report["blind"]);
}

#[test]
fn profiles_that_are_not_there_are_a_gap_and_nothing_worse() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(nginx) = foreign::nginx(folder.path()) else {
        return;
    };
    let command: Vec<String> = nginx.into_iter().chain(["{port}".to_owned()]).collect();
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {command:?}\nready = \"tcp\"\n\
         pprof = \"http://127.0.0.1:{{port}}\"\n\
         [load]\nmodel = \"open\"\nrate = \"50/s\"\nconnections = 4\nduration = \"1s\"\n\
         [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (_, report, output) = run_scenario(folder.path(), &scenario);
    assert!(!report.is_null(), "{}", stderr(&output));
    let gaps = report["gaps"].as_array().unwrap().iter();
    let ours: Vec<&Value> = gaps
        .filter(|gap| gap["signal"].as_str().unwrap().starts_with("profile."))
        .collect();
    // nginx answers every path with its constant text.
    assert!(!ours.is_empty(), "{report:#}");
    for gap in ours {
        let reason = gap["reason"].as_str().unwrap();
        assert!(reason.contains("/debug/pprof/"), "{gap:#}");
    }
    assert!(stderr(&output).contains("profile."), "{}", stderr(&output));
}
