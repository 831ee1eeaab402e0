//! A run as a trace for other viewers.

use std::path::Path;

use serde_json::Value;

use crate::support::{Server, run_scenario, slowpath, stderr, stdout};

fn exported(folder: &Path, args: &[&str]) -> Vec<Value> {
    let output = slowpath(folder, &[&["export", "last", "trace.json"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "trace.json\n");
    assert!(stderr(&output).contains("ui.perfetto.dev"));
    let text = std::fs::read_to_string(folder.join("trace.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["traceEvents"].as_array().unwrap().clone()
}

fn requests(events: &[Value]) -> Vec<&Value> {
    let is_one = |event: &&Value| event["cat"].as_str().unwrap_or("").starts_with("request");
    let slices = events.iter().filter(|event| event["ph"] == "X");
    slices.filter(is_one).collect()
}

#[test]
fn a_run_is_exported_around_its_slowest_requests_or_in_a_window() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scenario = format!(
        "[target]\nurl = \"{}\"\n[load]\nrate = \"100/s\"\nduration = \"2s\"\nrepeats = 1\n\
         warmup = \"200ms\"\n[[endpoint]]\nname = \"it\"\nrequest = \"GET /\"\n",
        server.url()
    );
    run_scenario(folder, &scenario);
    let events = exported(folder, &["--slowest", "2", "--endpoint", "it"]);
    let slow = requests(&events);
    let slow = slow.iter().filter(|one| one["args"]["slow"] == true);
    assert_eq!(slow.count(), 2);
    let window = exported(folder, &["--from", "500ms", "--for", "1s"]);
    let inside = requests(&window);
    // 100 a second that arrive by chance.
    assert!((50..200).contains(&inside.len()), "{}", inside.len());
    for one in inside {
        assert_eq!(one["name"], "it");
        let begin_ms = one["ts"].as_f64().unwrap() / 1e3;
        let long_ms = one["dur"].as_f64().unwrap() / 1e3;
        assert!(begin_ms < 1_500.0 && begin_ms + long_ms > 500.0, "{one}");
    }
    let few = exported(folder, &["--format", "perfetto-json", "--most", "100"]);
    // Names of tracks come on top.
    let few = few.iter().filter(|event| event["ph"] != "M").count();
    assert!(few <= 100, "{few}");
    let unknown = ["last", "t.json", "--endpoint", "none"];
    fails(folder, &unknown, "no endpoint \"none\"");
    fails(folder, &["last", "/dev/full"], "/dev/full");
}

#[test]
fn what_cannot_be_exported_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (args, said) in [
        (&["last", "t.json"][..], "cannot find the run"),
        (&["last", "t.json", "--from", "1s"], "--for"),
        (
            &["last", "t.json", "--slowest", "3", "--for", "1s"],
            "--slowest",
        ),
    ] {
        fails(folder.path(), args, said);
    }
}

fn fails(folder: &Path, args: &[&str], said: &str) {
    let output = slowpath(folder, &[&["export"], args].concat());
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}
