//! A target that reports its requests itself: spans come in, are kept, and the gap between two of
//! them is named.

use std::path::Path;

use serde_json::Value;

use crate::support::{assert_exit, lab, run_scenario, slowpath, stderr, stdout, unfit};

/// A run of the server that waits between two spans; the folder holds it.
fn run(folder: &Path, options: &str) -> (Value, String) {
    let scenario = format!(
        "[target]\ncommand = [{:?}, \"span-gap\", \"--port\", \"{{port}}\"{options}]\n\
         url = \"http://127.0.0.1:{{port}}\"\nready = \"GET /health\"\ntelemetry = \"otlp\"\n\
         [load]\nmodel = \"open\"\nrate = \"150/s\"\nduration = \"3s\"\nwarmup = \"500ms\"\n\
         repeats = 1\n[[endpoint]]\nname = \"it\"\nrequest = \"GET /\"\n",
        lab().display().to_string()
    );
    let (code, report, output) = run_scenario(folder, &scenario);
    assert!(report.is_object(), "{}", stderr(&output));
    assert_exit(code, &report, 0);
    (report, stdout(&output))
}

#[test]
fn the_gap_between_two_spans_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (report, told) = run(folder.path(), "");
    let spans = &report["endpoints"][0]["spans"];
    let (all, with) = (spans["requests"].as_u64(), spans["with_spans"].as_u64());
    // Whatever was sent and took part in the load has arrived.
    assert!(all > Some(0) && with == all, "{spans:#}");
    assert_eq!(spans["early"], 0, "one host has one clock: {spans:#}");
    let gap = &spans["gaps"][0];
    let place = ["inside", "after", "before"].map(|key| gap[key].as_str().unwrap());
    assert_eq!(place, ["GET", "query", "render"]);
    // A machine that is busy makes other requests slow too, and never this gap of theirs.
    let (slow, fast) = (
        gap["slow_ms"].as_f64().unwrap(),
        gap["fast_ms"].as_f64().unwrap(),
    );
    assert!(slow > 5.0 * fast, "{gap:#}");
    if report["trace"]["joined"].as_u64() > Some(0) && unfit(&report).is_empty() {
        let state = &gap["states"][0];
        assert!(
            state["what"].as_str().unwrap().contains("sleeps"),
            "{gap:#}"
        );
        assert!(state["share"].as_f64() > Some(0.5), "{gap:#}");
    }
    assert!(
        told.contains("gap between query and render in GET"),
        "{told}"
    );

    // What is kept is all that is needed to say it again.
    let id = report["run"]["id"].as_str().unwrap();
    let run = folder.path().join(".slowpath/runs").join(id);
    let kept = slowpath_record::read(&run).unwrap();
    let facts = kept.manifest.repeats[0].telemetry.as_ref().unwrap();
    assert_eq!(facts.kept, kept.spans.spans.len() as u64);
    assert_eq!((facts.refused, facts.dropped), (0, 0));
    let again = slowpath(folder.path(), &["explain", id]);
    let again = stdout(&again);
    assert!(
        again.contains("gap between query and render in GET"),
        "{again}"
    );
}

#[test]
fn the_healthy_twin_has_spans_and_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let (report, _) = run(folder.path(), ", \"--healthy\"");
    let spans = &report["endpoints"][0]["spans"];
    assert_eq!(spans["with_spans"], spans["requests"]);
    let gaps = spans["gaps"].as_array().unwrap();
    let between = gaps
        .iter()
        .find(|gap| gap["after"] == "query" && gap["before"] == "render");
    let fast = between.map_or(0.0, |gap| gap["fast_ms"].as_f64().unwrap());
    assert!(fast < 15.0, "half of what the sick one waits: {gaps:#?}");
}
