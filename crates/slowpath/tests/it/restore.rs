//! Whatever an experiment changes is restored, also when slowpath is killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Server, causes, is_root, names, run, skipped};

const QUOTA: &str = "cpu-quota-throttling";

fn slack(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/timerslack_ns")).unwrap();
    text.trim().parse().unwrap()
}

/// Waits until something holds; far longer than it takes, since machines are busy.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn prove(folder: &std::path::Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(["prove", "last", "--quiet"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_experiment_gives_the_timer_slack_back() {
    if !is_root() {
        return skipped("changing the timer slack of others needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["fixed-delay", "--delay-ms", "13"]).unwrap();
    let args = [&server.url(), "-d", "6s", "-r", "60", "-c", "8"];
    let (_, report, _) = run(folder.path(), &args);
    if !names(&report, "fixed-delay") {
        return;
    }
    let before = slack(server.pid());
    let mut child = prove(folder.path());
    until("the slack is widened", || slack(server.pid()) != before);
    child.kill().unwrap();
    let killed = Instant::now();
    child.wait().unwrap();
    until("the slack is back", || slack(server.pid()) == before);
    assert!(
        killed.elapsed() < Duration::from_secs(3),
        "took {:?}",
        killed.elapsed()
    );
}

#[test]
fn a_killed_experiment_gives_the_quota_back() {
    if !is_root() {
        return skipped("changing a quota needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::lab(&[QUOTA]) else {
        return skipped("no cgroup with a quota can be made here");
    };
    let args = [&server.url(), "-d", "8s", "-r", "36", "-c", "16"];
    let (_, report, _) = run(folder.path(), &args);
    if !causes(&report).contains(&QUOTA.to_owned()) && !names(&report, QUOTA) {
        return;
    }
    let run = folder
        .path()
        .join(".slowpath/runs")
        .join(report["run"]["id"].as_str().unwrap());
    let text = std::fs::read_to_string(run.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cgroup = std::path::Path::new(manifest["target"]["cgroup"].as_str().unwrap());
    let quota = || {
        let v1 = std::fs::read_to_string(cgroup.join("cpu.cfs_quota_us"));
        v1.or_else(|_| std::fs::read_to_string(cgroup.join("cpu.max")))
            .unwrap()
    };
    let before = quota();
    let mut child = prove(folder.path());
    until("the quota is lifted", || quota() != before);
    child.kill().unwrap();
    let killed = Instant::now();
    child.wait().unwrap();
    until("the quota is back", || quota() == before);
    assert!(
        killed.elapsed() < Duration::from_secs(3),
        "took {:?}",
        killed.elapsed()
    );
}
