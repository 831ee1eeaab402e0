//! Stopping: whatever the target does, nothing of it is left.

use std::process::Command;

use crate::{eventually, is_alive, number_in, run, skip};

fn have(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn a_polite_process_ends_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'echo bye > said; exit 0' TERM; echo $$ > pid; while :; do sleep 0.02; done";
    let running = run(dir.path(), script);
    number_in(&dir.path().join("pid"));
    let stopped = running.stop();
    assert_eq!(
        (stopped.exit.as_str(), stopped.killed),
        ("exit status 0", 0)
    );
    assert!(stopped.left.is_empty() && !stopped.port_taken);
    assert!(dir.path().join("said").exists());
}

#[test]
fn one_that_ignores_sigterm_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let running = run(
        dir.path(),
        "trap '' TERM; echo $$ > pid; while :; do sleep 1; done",
    );
    let pid = number_in(&dir.path().join("pid"));
    let stopped = running.stop();
    assert!(stopped.exit.contains("signal 9"), "{stopped:?}");
    assert!(
        stopped.killed >= 1 && stopped.left.is_empty(),
        "{stopped:?}"
    );
    assert!(!is_alive(pid));
}

#[test]
fn a_stopped_process_ends_too() {
    let dir = tempfile::tempdir().unwrap();
    let running = run(dir.path(), "echo $$ > pid; kill -STOP $$; exec sleep 60");
    let pid = number_in(&dir.path().join("pid"));
    running.stop();
    assert!(!is_alive(pid));
}

#[test]
fn a_grandchild_in_a_session_of_its_own_is_found() {
    if !have("setsid") {
        return skip("there is no setsid");
    }
    let dir = tempfile::tempdir().unwrap();
    let running = run(
        dir.path(),
        "setsid sh -c 'echo $$ > far; exec sleep 60' & wait",
    );
    let far = number_in(&dir.path().join("far"));
    let stopped = running.stop();
    assert!(stopped.left.is_empty(), "{stopped:?}");
    assert!(!is_alive(far));
}

#[test]
fn a_daemon_that_forked_twice_is_found_and_asked_first() {
    if !have("setsid") {
        return skip("there is no setsid");
    }
    let dir = tempfile::tempdir().unwrap();
    let daemon =
        "trap \"echo bye > said; exit 0\" TERM; echo $$ > far; while :; do sleep 0.02; done";
    let script = format!("(setsid sh -c '{daemon}' </dev/null >/dev/null 2>&1 &) ; exit 0");
    let mut running = run(dir.path(), &script);
    let far = number_in(&dir.path().join("far"));
    eventually("the daemon is the root", || {
        (running.roots() == [far]).then_some(())
    });
    assert_eq!(running.exited(), None);
    let stopped = running.stop();
    assert_eq!(
        (stopped.exit.as_str(), stopped.killed),
        ("exit status 0", 0)
    );
    assert!(!is_alive(far));
    assert!(dir.path().join("said").exists());
    // Reaped, too: we have been its parent since its own one ended.
    assert!(!std::path::Path::new(&format!("/proc/{far}")).exists());
}

#[test]
fn a_daemon_that_wiped_its_environment_is_found() {
    if !have("setsid") {
        return skip("there is no setsid");
    }
    let dir = tempfile::tempdir().unwrap();
    let daemon = "(env -i setsid /bin/sh -c 'echo $$ > far; exec /bin/sleep 60' &)";
    let running = run(dir.path(), &format!("{daemon}; exec sleep 60"));
    let far = number_in(&dir.path().join("far"));
    running.stop();
    assert!(!is_alive(far));
}

#[test]
fn dropping_stops() {
    let dir = tempfile::tempdir().unwrap();
    let running = run(dir.path(), "sleep 60 & echo $! > pid; wait");
    let pid = number_in(&dir.path().join("pid"));
    drop(running);
    assert!(!is_alive(pid));
}

#[test]
fn two_targets_do_not_touch_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(
        dir.path(),
        "(setsid sh -c 'echo $$ > one; exec sleep 60' &); exec sleep 60",
    );
    let second = run(
        dir.path(),
        "(setsid sh -c 'echo $$ > two; exec sleep 60' &); exec sleep 60",
    );
    let (one, two) = (
        number_in(&dir.path().join("one")),
        number_in(&dir.path().join("two")),
    );
    first.stop();
    assert!(!is_alive(one));
    assert!(is_alive(two) && is_alive(second.pid));
    second.stop();
    assert!(!is_alive(two));
}
