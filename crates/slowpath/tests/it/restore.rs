//! Whatever an experiment changes is restored, also when slowpath is killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Server, causes, is_root, names, of_the_long_list, run, skipped};

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

/// An experiment on a cause, which another finding of the run may precede.
fn prove(folder: &std::path::Path, cause: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(["prove", "last", "--cause", cause, "--quiet"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills an experiment in the midst of what it changes, and sees that changed back soon after.
fn killed_in_the_midst(mut experiment: Child, is_changed: impl Fn() -> bool) {
    until("something is changed", || {
        let ended = experiment.try_wait().unwrap();
        assert!(ended.is_none(), "ended by itself: {ended:?}");
        is_changed()
    });
    experiment.kill().unwrap();
    let killed = Instant::now();
    experiment.wait().unwrap();
    until("it is changed back", || !is_changed());
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(3), "took {took:?}");
}

#[test]
fn a_killed_experiment_gives_the_timer_slack_back() {
    if !of_the_long_list() {
        return;
    }
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
    let experiment = prove(folder.path(), "fixed-delay");
    killed_in_the_midst(experiment, || slack(server.pid()) != before);
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
    let args = [&server.url(), "-d", "8s", "-c", "2"];
    let (_, report, _) = run(folder.path(), &args);
    if !names(&report, QUOTA) && !causes(&report).contains(&QUOTA.to_owned()) {
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
    killed_in_the_midst(prove(folder.path(), QUOTA), || quota() != before);
}

/// The thread of that name.
fn thread(pid: u32, name: &str) -> Option<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut tids = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    tids.find(|tid: &u32| {
        let comm = std::fs::read_to_string(format!("/proc/{tid}/comm"));
        comm.is_ok_and(|comm| comm.trim_end() == name)
    })
}

#[test]
fn a_killed_experiment_lets_a_paused_thread_go_on() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["lock-held-over-io"]).unwrap();
    let args = [&server.url(), "-d", "6s", "-r", "100", "-c", "16"];
    let (_, report, _) = run(folder.path(), &args);
    if !names(&report, "lock-held-over-io") {
        return;
    }
    if !is_root() {
        return skipped("tracing threads of others may need root");
    }
    let flusher = thread(server.pid(), "flusher").unwrap();
    let is_paused = || {
        let stat = std::fs::read_to_string(format!("/proc/{flusher}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('t')
    };
    killed_in_the_midst(prove(folder.path(), "lock-held-over-io"), is_paused);
}
