//! What a Go server reports of itself: the lock that its requests wait for is named at once by its
//! profiles, and a healthy one is left alone. The server is `foreign/mutex.go`. After the repeats a
//! pass of its own has leads, where there are some: in `foreign/profiled.go`.

use std::path::Path;

use serde_json::Value;

use crate::foreign;
use crate::support::{
    blamed, disturbances, names, of_the_long_list, run, run_scenario, skipped, slowpath, stderr,
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

/// Runs a server with a profiling pass of so many seconds, and gives the report.
fn with_pass(folder: &Path, command: &[String], rate: u32, seconds: u32, pprof: &str) -> Value {
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {command:?}\nready = \"tcp\"\n\
         {pprof}\n\
         [load]\nmodel = \"open\"\nrate = \"{rate}/s\"\nconnections = 16\n\
         warmup = \"500ms\"\nduration = \"{seconds}s\"\n\
         [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    std::fs::write(folder.join("scenario.toml"), scenario).unwrap();
    let (_, report, output) = run(folder, &["scenario.toml", "--profile", "--out", "run"]);
    assert!(!report.is_null(), "{}", stderr(&output));
    report
}

const PPROF: &str = "pprof = \"http://127.0.0.1:{port}\"";

/// The leads of a kind, by what they are about.
fn leads<'r>(report: &'r Value, kind: &str) -> Vec<(&'r str, &'r Value)> {
    let leads = report["profile"]["leads"].as_array().unwrap().iter();
    let of_kind = leads.filter(|lead| lead["kind"] == kind);
    of_kind
        .map(|lead| (lead["of"].as_str().unwrap(), lead))
        .collect()
}

/// What holds of every pass: its requests are in no figure, and no lead gains more than there is.
fn holds_together(report: &Value, rate: u32, seconds: u32) {
    let profile = &report["profile"];
    let asked = f64::from(rate * seconds);
    for (what, requests) in [
        ("measured", &report["endpoints"][0]["requests"]),
        ("profiled", &profile["requests"]),
    ] {
        let requests = requests.as_f64().unwrap();
        assert!(requests < 1.5 * asked, "{what}: {requests} of {asked}");
    }
    assert_eq!(report["run"]["repeats"], 1);
    let per_request_ms = profile["cpu"]["per_request_ms"].as_f64().unwrap();
    for (_, lead) in leads(report, "cpu") {
        let gain_ms = lead["gain_most_ms"].as_f64().unwrap();
        assert!(gain_ms <= per_request_ms + 1e-6, "{lead:#}");
    }
}

#[test]
fn a_function_that_has_most_of_the_cpu_time_is_a_lead_and_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = foreign::profiled(folder.path()) else {
        return;
    };
    let command = [server, vec!["{port}".to_owned(), "hot".to_owned()]].concat();
    let report = with_pass(folder.path(), &command, 100, 3, PPROF);
    holds_together(&report, 100, 3);
    let profile = &report["profile"];
    assert_eq!(profile["source"], "pprof");
    let run = folder.path().join("run/profiling");
    let files = profile["files"].as_array().unwrap().iter();
    for file in files.map(|file| file.as_str().unwrap()) {
        let bytes = std::fs::read(run.join(file)).unwrap();
        assert!(bytes.starts_with(&[0x1f, 0x8b]), "{file} is not packed");
    }
    let samples = profile["cpu"]["samples"].as_u64().unwrap();
    if samples < 30 {
        return skipped(&format!(
            "{samples} samples: the host gave the server no time"
        ));
    }
    let found = leads(&report, "cpu");
    assert_eq!(found.len(), 1, "{profile:#}");
    let (of, lead) = found[0];
    assert_eq!(of, "main.scramble");
    let callers = lead["callers"].as_array().unwrap();
    assert!(
        callers[0].as_str().unwrap().contains("(profiled.go:"),
        "{lead:#}"
    );
    assert!(lead["share"]["low"].as_f64().unwrap() > 0.4);
    let html = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(html.contains("main.scramble has "), "the page shows it");
}

#[test]
fn a_contended_lock_is_a_lead_and_a_healthy_server_has_none() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = foreign::profiled(folder.path()) else {
        return;
    };
    let of_mode = |mode: &str, rate| {
        let own = folder.path().join(mode);
        std::fs::create_dir(&own).unwrap();
        let command = [&server[..], &["{port}".to_owned(), mode.to_owned()]].concat();
        let report = with_pass(&own, &command, rate, 5, PPROF);
        holds_together(&report, rate, 5);
        report
    };
    let contended = of_mode("lock", 250);
    let locks = leads(&contended, "lock");
    assert_eq!(locks.len(), 1, "{:#}", contended["profile"]);
    assert_eq!(locks[0].0, "main.countLocked");
    assert!(locks[0].1["share"]["share"].as_f64().unwrap() > 0.5);
    let healthy = of_mode("healthy", 100);
    let none = healthy["profile"]["leads"].as_array().unwrap();
    assert!(none.is_empty(), "{:#}", healthy["profile"]);
}

#[test]
fn what_is_no_go_is_sampled_by_the_kernel() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = foreign::c(folder.path(), foreign::WITHOUT_FRAME_POINTERS) else {
        return;
    };
    let words = ["{port}", "burn", "40", "60"].map(str::to_owned);
    let command = [&server[..], &words].concat();
    let report = with_pass(folder.path(), &command, 50, 4, "");
    if report["profile"]["cpu"].is_null() {
        return skipped("the kernel's clock is not to be had");
    }
    holds_together(&report, 50, 4);
    assert_eq!(report["profile"]["source"], "perf");
    let functions = report["profile"]["cpu"]["functions"].as_array().unwrap();
    let first = functions[0]["function"].as_str().unwrap();
    assert_eq!(first, "compute", "{:#}", report["profile"]["cpu"]);
}

/// The stacks that were written while a function computed: three files, each a slice.
fn folded(folder: &Path) -> Vec<String> {
    let slices = [(0, 92, 8), (1, 95, 5), (2, 90, 10)];
    let files = slices.map(|(number, hot, other)| {
        let name = format!("stacks-{number}.txt");
        let text = format!("main;handle (shop.py:27);hot (shop.py:9) {hot}\nmain;other {other}\n");
        std::fs::write(folder.join(&name), text).unwrap();
        name
    });
    files.into()
}

#[test]
fn profiles_that_were_taken_elsewhere_are_evidence_beside_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    crate::replays::copied(&crate::replays::fixture("healthy-nginx"), &run);
    let files = folded(folder.path());
    let import = |words: &[&str]| {
        let files = files.iter().map(String::as_str);
        let words = ["import"]
            .into_iter()
            .chain(words.iter().copied())
            .chain(files);
        slowpath(folder.path(), &words.collect::<Vec<_>>())
    };
    let alone = import(&["auto"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(stderr(&alone).contains("--run last"), "{}", stderr(&alone));
    let wrong = import(&["k6", "--run", "run"]);
    assert_eq!(wrong.status.code(), Some(2));
    let kept = import(&["auto", "--run", "run", "--json", "report.json"]);
    assert!(kept.status.success(), "{}", stderr(&kept));
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let profile = &report["profile"];
    assert_eq!(
        (&profile["imported"], &profile["source"]),
        (&true.into(), &"stacks".into())
    );
    let first = &profile["cpu"]["functions"][0];
    assert_eq!(first["function"], "shop.hot");
    assert!(first["own"]["low"].as_f64().unwrap() > 0.8, "{first:#}");
    assert!(run.join("profiling-imported/1-stacks-0.txt").exists());
}

#[test]
fn functions_of_python_are_seen_by_py_spy_and_those_of_java_by_its_recorder() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, command: Vec<String>, rate: u32, mode: &[&str]| {
        let own = folder.path().join(name);
        std::fs::create_dir(&own).unwrap();
        let words = ["{port}"].iter().chain(mode).map(|word| (*word).to_owned());
        let command: Vec<String> = command.into_iter().chain(words).collect();
        with_pass(&own, &command, rate, 6, "")
    };
    if let Some(server) = foreign::hot_in_python(folder.path()) {
        let report = of("python", server, 40, &[]);
        let profile = &report["profile"];
        assert_eq!(profile["source"], "py-spy", "{:#}", report["gaps"]);
        assert_eq!(profile["cpu"]["functions"][0]["function"], "hot.scramble");
    }
    let Some(server) = foreign::hot_in_java(folder.path()) else {
        return;
    };
    let report = of("java", server.clone(), 40, &["hot"]);
    let profile = &report["profile"];
    assert_eq!(profile["source"], "jfr", "{:#}", report["gaps"]);
    assert_eq!(profile["cpu"]["functions"][0]["function"], "Hot.scramble");
    let report = of("java-lock", server, 150, &["lock"]);
    let sites = report["profile"]["locks"]["sites"].as_array().unwrap();
    assert_eq!(
        sites[0]["function"], "the monitor of Hot$Store",
        "{sites:#?}"
    );
}
