//! A thread that is kept from going on: until it is let go, for a time, and no longer than those live
//! who keep it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use slowpath_observe::guardian::{Guardian, GuardianError};
use slowpath_observe::interventions::{InterventionError, ThreadPause};
use slowpath_observe::target::Identity;

use crate::guardian::{kill, probe};
use crate::interventions::sleeper;
use crate::{eventually, number_in, run, skip, spawn_guardian};

/// Longer than any test waits for anything: what ends a pause earlier is what the test is about.
const LONG: Duration = Duration::from_secs(3);

/// A letter for what a thread does; `t` while it is kept by a tracer.
fn state(tid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

fn is_paused(tid: u32) -> bool {
    state(tid) == Some('t')
}

/// Whether threads may be kept here; says so if not.
fn is_allowed(guardian: &Guardian, tid: u32) -> bool {
    let thread = Identity::of(tid).unwrap();
    match guardian.pause(thread, LONG) {
        Err(GuardianError::NotPermitted(why)) => {
            skip(&format!("threads of others may not be traced: {why}"));
            false
        }
        other => {
            other.unwrap();
            guardian.resume().unwrap();
            true
        }
    }
}

/// Whether a file grows.
fn grows(path: &Path) {
    let length = |path: &Path| fs::metadata(path).map_or(0, |of| of.len());
    let before = length(path);
    eventually("it goes on with its work", || {
        (length(path) > before).then_some(())
    });
}

#[test]
fn it_stands_still_until_it_is_let_go() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; while :; do echo x >> work; sleep 0.01; done";
    let _running = run(dir.path(), script);
    let pid = number_in(&dir.path().join("pid"));
    let guardian = spawn_guardian();
    if !is_allowed(&guardian, pid) {
        return;
    }
    let thread = Identity::of(pid).unwrap();
    for _ in 0..20 {
        guardian.pause(thread, LONG).unwrap();
        assert!(is_paused(pid), "{:?}", state(pid));
        guardian.resume().unwrap();
        assert!(!is_paused(pid), "{:?}", state(pid));
    }
    grows(&dir.path().join("work"));
    // Let go twice is let go.
    guardian.resume().unwrap();
}

#[test]
fn it_goes_on_by_itself_after_a_time() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if is_allowed(&guardian, child.id()) {
        let thread = Identity::of(child.id()).unwrap();
        guardian.pause(thread, Duration::from_millis(30)).unwrap();
        eventually("it goes on", || (!is_paused(child.id())).then_some(()));
        guardian.check().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn it_goes_on_when_slowpath_is_killed_and_when_its_guardian_is() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if !is_allowed(&guardian, child.id()) {
        return kill(child);
    }
    let parent = probe(&["pause", &child.id().to_string()]);
    assert!(is_paused(child.id()));
    kill(parent);
    eventually("it goes on", || (!is_paused(child.id())).then_some(()));

    let thread = Identity::of(child.id()).unwrap();
    guardian.pause(thread, LONG).unwrap();
    assert!(is_paused(child.id()));
    let pid = guardian.pid().to_string();
    Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    eventually("it goes on", || (!is_paused(child.id())).then_some(()));
    assert!(child.try_wait().unwrap().is_none(), "it is none the worse");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn one_that_is_killed_meanwhile_ends() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if is_allowed(&guardian, child.id()) {
        guardian
            .pause(Identity::of(child.id()).unwrap(), LONG)
            .unwrap();
    }
    child.kill().unwrap();
    eventually("it ends", || child.try_wait().unwrap());
    guardian.resume().unwrap();
}

#[test]
fn a_thread_is_found_by_its_name_and_no_other_is_taken_for_it() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if !is_allowed(&guardian, child.id()) {
        return kill(child);
    }
    let mut named = ThreadPause::new(&[child.id()], "sleep");
    named.prerequisites(&guardian).unwrap();
    assert!(!named.is_held() && !is_paused(child.id()));
    assert!(named.hold(&guardian).unwrap() && is_paused(child.id()));
    assert!(!named.is_waited_for());

    // Somebody traces it already.
    let second = spawn_guardian();
    let mut other = ThreadPause::new(&[child.id()], "sleep");
    let traced = other.hold(&second).unwrap_err();
    assert!(
        matches!(traced, InterventionError::Denied { .. }),
        "{traced}"
    );
    named.let_go(&guardian).unwrap();
    assert!(!is_paused(child.id()));

    let absent = ThreadPause::new(&[child.id()], "flusher").hold(&guardian);
    assert!(matches!(absent, Err(InterventionError::Gone { .. })));
    child.kill().unwrap();
    child.wait().unwrap();

    let dir = tempfile::tempdir().unwrap();
    let script = "sleep 60 & sleep 60 & echo $! > second; wait";
    let running = run(dir.path(), script);
    number_in(&dir.path().join("second"));
    let two = eventually("both are there", || {
        let held = ThreadPause::new(&[running.pid], "sleep").hold(&guardian);
        held.err()
            .filter(|e| matches!(e, InterventionError::Futile { .. }))
    });
    assert!(two.to_string().contains("2 threads"), "{two}");
}

#[test]
fn who_has_a_lock_that_others_wait_for_is_not_held() {
    let dir = tempfile::tempdir().unwrap();
    let guardian = spawn_guardian();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lock-holder"));
    command.current_dir(dir.path());
    for kind in ["", "plain"] {
        let mut child = command
            .args((!kind.is_empty()).then_some(kind))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        if is_allowed(&guardian, child.id()) {
            let mut pause = ThreadPause::new(&[child.id()], "flusher");
            // It has the lock for 40 ms of 100, and the others always want it.
            let (mut held, mut refused) = (0, 0);
            eventually("it was met with the lock and without it", || {
                if pause.hold(&guardian).unwrap() {
                    held += 1;
                } else {
                    refused += 1;
                }
                pause.let_go(&guardian).unwrap();
                (held > 3 && refused > 3).then_some(())
            });
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
