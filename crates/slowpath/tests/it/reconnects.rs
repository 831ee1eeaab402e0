//! Connections that servers take away: a keep-alive timer that meets a request, and a server with
//! too few connections.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::faulty::{Fault, Faulty};
use crate::support::{Server, assert_exit, disturbances, run_scenario, skipped, stderr};

#[test]
fn a_keep_alive_timer_that_meets_requests_is_seen_by_the_idle_gap() {
    let server = Faulty::start(Some(Fault::KeepAliveRace), None);
    let scenario = format!(
        "[target]\nurl = \"http://{}\"\n[load]\nmodel = \"closed\"\nusers = 60\n\
         think = \"350ms..600ms\"\nduration = \"5s\"\nwarmup = \"1s\"\n\
         [[endpoint]]\nname = \"it\"\nrequest = \"GET /{{seq}}\"\n",
        server.address
    );
    let folder = tempfile::tempdir().unwrap();
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    server.end();
    assert!(code == 6 || code == 4, "{code}: {}", stderr(&output));
    let errors = report["endpoints"][0]["errors"].as_array().unwrap();
    let error = &errors[0];
    assert_eq!(
        (&error["class"], &error["phase"]),
        (&"reset".into(), &"first-byte".into())
    );
    let gaps = &error["idle_gaps"];
    // Every failure follows a gap as long as the server's timer, whatever the age of the
    // connection; the timer starts before the client has the response, so gaps may seem shorter.
    let why = disturbances(&report);
    if gaps.is_null() && !why.is_empty() {
        return skipped(&format!("the host blurs the gaps: {}", why.join("; ")));
    }
    assert_eq!(gaps["failed"], error["count"], "{error:#}");
    let low_ms = gaps["low_ms"].as_f64().unwrap();
    assert!(low_ms > 400.0, "{gaps:#}");
    assert!(
        gaps["shorter_completed"].as_u64().unwrap() > 100,
        "{gaps:#}"
    );
    let summary = error["summary"].as_str().unwrap();
    assert!(
        summary.contains("always after the connection had been idle for"),
        "{summary}"
    );
    let bins = gaps["bins"].as_array().unwrap();
    let sum = |field: &str| {
        bins.iter()
            .map(|bin| bin[field].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("failed"), gaps["failed"].as_u64().unwrap());
    assert!(report["connections"]["stale"].as_u64().unwrap() > 0);
    eprintln!("{summary}");
}

const NGINX: &str = "\
worker_processes 1; daemon off; master_process off; pid {tmp}/pid; error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path {tmp}/b; proxy_temp_path {tmp}/p; fastcgi_temp_path {tmp}/f;
  uwsgi_temp_path {tmp}/u; scgi_temp_path {tmp}/s;
  server { listen 127.0.0.1:{port}; location / { root {tmp}; try_files /page =404; limit_rate 200k; } }
}
";

#[test]
fn a_server_with_too_few_connections_makes_a_reconnect_storm() {
    let known = std::process::Command::new("nginx").arg("-v").output();
    if known.is_err() {
        return skipped("nginx is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let tmp = folder.path().to_str().unwrap();
    let config = NGINX
        .replace("{tmp}", tmp)
        .replace("{port}", &port.to_string());
    std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
    // Which takes 0.2 s: connections that rest would be closed to make room for others.
    std::fs::write(folder.path().join("page"), vec![0; 40_000]).unwrap();
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{port}\"\n\
         command = [\"nginx\", \"-e\", \"stderr\", \"-c\", \"{tmp}/nginx.conf\"]\n\
         [load]\nmodel = \"closed\"\nusers = 100\nthink = \"50ms\"\nduration = \"3s\"\n\
         warmup = \"1s\"\n[[endpoint]]\nname = \"hello\"\nrequest = \"GET /\"\n"
    );
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    let said = stderr(&output);
    assert!(code == 6 || code == 4, "{code}: {said}");
    let endpoint = &report["endpoints"][0];
    assert!(endpoint["served"].as_f64().unwrap() < 1.0);
    let errors = endpoint["errors"].as_array().unwrap();
    for error in errors {
        let errno = error["errno"].as_str();
        match error["class"].as_str().unwrap() {
            "reset" => assert_eq!(errno, Some("ECONNRESET")),
            "broken-pipe" => assert_eq!(errno, Some("EPIPE")),
            class => assert_eq!((class, errno), ("closed", None)),
        }
    }
    let connections = &report["connections"];
    let notable = connections["notable"].to_string();
    assert!(notable.contains("reconnect storm"), "{notable}");
    assert_eq!(connections["limit"], 100);
    // The server's own words stand beside the failures.
    assert_eq!(report["logs_unseen"], Value::Null);
    let text = errors[0]["examples"].to_string();
    assert!(text.contains("worker_connections are not enough"), "{text}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("served") && shown.contains("reconnect storm"),
        "{shown}"
    );
    eprintln!("{shown}");
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Whether a run under way has written down a request.
fn has_samples(runs: &Path) -> bool {
    /// A spool without rows is its magic number alone.
    const EMPTY: u64 = 8;
    let runs = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let mut spools = runs.map(|run| run.path().join("samples.spool"));
    spools.any(|spool| std::fs::metadata(spool).is_ok_and(|file| file.len() > EMPTY))
}

#[test]
fn a_target_that_was_running_and_ends_is_told() {
    let server = Server::lab(&["healthy"]).unwrap();
    let url = server.url().trim_end_matches('/').to_owned();
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join(".slowpath/runs");
    let ending = std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !has_samples(&runs) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(server);
    });
    let scenario = format!(
        "[target]\nurl = \"{url}\"\n[load]\nrate = \"50/s\"\nduration = \"1500ms\"\n\
         warmup = \"200ms\"\n[[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n"
    );
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    ending.join().unwrap();
    assert!(report.is_object(), "{}", stderr(&output));
    assert_exit(code, &report, 6);
    let checks = report["validity"].as_array().unwrap();
    let told = checks.iter().find(|check| check["check"] == "target-alive");
    let told = told.unwrap_or_else(|| panic!("{checks:#?}"));
    assert!(
        told["detail"].as_str().unwrap().contains("is gone"),
        "{told}"
    );
}
