//! Sweeps against real servers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Server, of_the_long_list, skipped, slowpath, stderr, stdout};

/// `slowpath sweep ARGS` with short windows, and what it wrote.
fn sweep(folder: &Path, args: &[&str]) -> (i32, Value, String) {
    let json = folder.join("sweep-copy.json");
    let mut all = vec!["sweep"];
    all.extend(args);
    all.extend(["-d", "300ms", "--warmup", "100ms", "--seed", "7"]);
    all.extend(["--json", json.to_str().unwrap()]);
    let output = slowpath(folder, &all);
    let text = std::fs::read_to_string(&json).unwrap_or_else(|_| "null".to_owned());
    let said = format!("{}{}", stderr(&output), stdout(&output));
    let value = serde_json::from_str(&text).unwrap();
    (output.status.code().unwrap_or(-1), value, said)
}

#[test]
fn every_window_is_a_run_and_the_order_is_that_of_the_seed() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let args = [
        &server.url(),
        "--over",
        "connections=1,2,4",
        "--repeats",
        "2",
        "--refine",
        "0",
    ];
    let (code, found, said) = sweep(folder.path(), &args);
    // A loaded machine may make the client the limit of every window.
    assert!([0, 4].contains(&code), "{code}: {said}");
    assert_eq!(found["schema"], "slowpath.sweep/1");
    let windows = found["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 6);
    let dir = folder
        .path()
        .join(".slowpath/runs")
        .join(found["id"].as_str().unwrap());
    for file in ["sweep.json", "sweep.html", "sweep.md"] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    for window in windows {
        assert_eq!(window["failed"], 0);
        assert_eq!(window["little"]["failed"], 0.0);
        let completed = window["completed"].as_u64().unwrap();
        assert!(completed > 0, "{window}");
        let run = dir.join(window["dir"].as_str().unwrap());
        let explained = slowpath(folder.path(), &["explain", run.to_str().unwrap()]);
        assert_eq!(explained.status.code(), Some(0), "{}", stderr(&explained));
        let report = std::fs::read_to_string(run.join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["endpoints"][0]["completed"], completed);
    }
    let id = found["id"].as_str().unwrap();
    let again = slowpath(folder.path(), &["explain", &id[..20]]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let answer = stdout(&again);
    assert!(said.contains(answer.lines().nth(1).unwrap()), "{answer}");
    std::fs::remove_file(dir.join("sweep.html")).unwrap();
    let page = slowpath(folder.path(), &["report", id]);
    let place = format!(".slowpath/runs/{id}/sweep.html\n");
    assert_eq!(stdout(&page), place, "{}", stderr(&page));
    assert!(dir.join("sweep.html").is_file());
    let order = |found: &Value| -> Vec<String> {
        let windows = found["windows"].as_array().unwrap().iter();
        windows.map(|w| w["level"].to_string()).collect()
    };
    let (_, again, _) = sweep(folder.path(), &args);
    assert_eq!(order(&found), order(&again));
}

#[test]
fn sizes_fill_bodies_and_rates_open_the_loop() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rates = [
        &server.url(),
        "--over",
        "rate=50,100",
        "--repeats",
        "1",
        "--refine",
        "0",
    ];
    let (code, found, said) = sweep(folder.path(), &rates);
    assert!([0, 4].contains(&code), "{code}: {said}");
    for window in found["windows"].as_array().unwrap() {
        assert!(window["little"].is_null(), "an open loop has no users");
    }
    let query = format!("{}?n={{size}}", server.url());
    let sizes = [
        &query,
        "--over",
        "size=1KiB,4KiB",
        "--repeats",
        "1",
        "--refine",
        "0",
    ];
    let (code, found, said) = sweep(folder.path(), &sizes);
    assert!([0, 4].contains(&code), "{code}: {said}");
    assert!(
        said.contains("no cost for each byte: needs 4 levels"),
        "{said}"
    );
    assert!(said.contains("figures are of one window each"), "{said}");
    let dir = folder
        .path()
        .join(".slowpath/runs")
        .join(found["id"].as_str().unwrap());
    let windows = found["windows"].as_array().unwrap();
    for window in windows {
        let manifest = dir
            .join(window["dir"].as_str().unwrap())
            .join("manifest.json");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        let size = window["level"].as_f64().unwrap();
        assert!(manifest.contains(&format!("/?n={size}")), "{manifest}");
    }
}

#[test]
fn a_limit_of_connections_shows_as_a_reconnect_storm() {
    let folder = tempfile::tempdir().unwrap();
    let Some(nginx) = Nginx::start(folder.path(), 16) else {
        return skipped("nginx does not start here");
    };
    let args = [
        &nginx.url,
        "--over",
        "connections=4,8,40",
        "--repeats",
        "2",
        "--refine",
        "1",
    ];
    let (code, found, said) = sweep(folder.path(), &args);
    // A late client opens as many connections, so the errors are the target's all the same.
    let is_valid = |w: &Value| w["invalid"].is_null();
    if !found["windows"].as_array().unwrap().iter().all(is_valid) {
        assert!([4, 6].contains(&code), "{code}: {said}");
        return skipped("a window was invalid");
    }
    assert_eq!(code, 6, "requests failed: {said}");
    let thresholds = found["analysis"]["thresholds"].as_array().unwrap();
    let errors = thresholds
        .iter()
        .find(|t| t[0] == "errors")
        .unwrap_or_else(|| panic!("{said}"));
    assert!(errors[1]["at"].as_f64().unwrap() > 8.0, "{errors}");
    assert!(errors[1]["at"].as_f64().unwrap() < 40.0, "{errors}");
    let levels = found["analysis"]["levels"].as_array().unwrap();
    let fine = levels.iter().find(|l| l["level"] == 8.0).unwrap();
    assert_eq!(fine["errors"], Value::Array(vec![]));
    assert!(fine["served"].as_f64().unwrap() > 0.9, "{fine}");
    let storm = levels.iter().find(|l| l["level"] == 40.0).unwrap();
    assert!(storm["served"].as_f64().unwrap() < 0.9, "{storm}");
    assert!(
        storm["dials_per_request"].as_f64().unwrap() > 0.1,
        "{storm}"
    );
    assert!(storm["little_violated"].as_u64().unwrap() > 0, "{storm}");
    assert!(said.contains("a reconnect storm"), "{said}");
    assert_eq!(found["refinements"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_that_is_slow_in_some_starts_has_modes_of_runs() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lab = crate::support::lab().display().to_string();
    let scenario = format!(
        "name = \"drawn\"\n[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [{lab:?}, \
         \"fixed-delay\", \"--variant\", \"drawn\", \"--delay-ms\", \"60\", \"--port\", \
         \"{{port}}\"]\nready = \"tcp\"\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    std::fs::write(folder.path().join("drawn.toml"), scenario).unwrap();
    // All ten starts of a level alike: one in 500, and both levels one in 260,000.
    let args = [
        "drawn.toml",
        "--over",
        "connections=1,2",
        "--repeats",
        "10",
        "--refine",
        "0",
    ];
    let (_, found, said) = sweep(folder.path(), &args);
    let split = found["analysis"]["split"].as_array().unwrap();
    assert!(!split.is_empty(), "{said}");
    let modes = split[0]["modes"].as_array().unwrap();
    let slow = modes.last().unwrap()["per_s"].as_f64().unwrap();
    assert!(slow < modes[0]["per_s"].as_f64().unwrap() / 3.0, "{said}");
    assert!(said.contains("runs fall into modes"), "{said}");
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "sweep",
        &server.url(),
        "--over",
        "connections=1,2",
        "-d",
        "300ms",
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(args)
        .args(["--repeats", "100"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while count_windows(folder.path()) < 3 {
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "no window was finished"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let answer = stdout(&output);
    assert!(answer.contains("the sweep was interrupted"), "{answer}");
    assert!(count_windows(folder.path()) >= 3);
}

/// Windows in the one sweep of a folder, as its `sweep.json` has them.
fn count_windows(folder: &Path) -> usize {
    let Ok(mut entries) = std::fs::read_dir(folder.join(".slowpath/runs")) else {
        return 0;
    };
    let Some(Ok(entry)) = entries.next() else {
        return 0;
    };
    let text = std::fs::read_to_string(entry.path().join("sweep.json")).unwrap_or_default();
    let found: Value = serde_json::from_str(&text).unwrap_or_default();
    found["windows"].as_array().map_or(0, Vec::len)
}

/// An nginx that ends with the test.
struct Nginx {
    child: std::process::Child,
    url: String,
}

impl Nginx {
    fn start(folder: &Path, connections: u32) -> Option<Self> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").ok()?;
        let port = free.local_addr().ok()?.port();
        drop(free);
        let at = folder.display();
        let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};"))
            .concat();
        let conf = format!(
            "worker_processes 1; daemon off; master_process off; pid {at}/pid; \
             error_log {at}/error.log; events {{ worker_connections {connections}; }} \
             http {{ access_log off; {paths} keepalive_requests 1000000; \
             server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }} }} }}"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, conf).ok()?;
        let child = Command::new("nginx")
            .args(["-p", folder.to_str()?, "-c", file.to_str()?])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let nginx = Self {
            child,
            url: format!("http://127.0.0.1:{port}/"),
        };
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > Duration::from_secs(10) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
