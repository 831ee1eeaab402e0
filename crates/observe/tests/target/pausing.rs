//! A thread that is kept from going on: until it is released, for a time, and no longer than those live
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

/// Keeps a thread from going on. On a machine without a free CPU it may take more than one try until it has
/// come to a stop.
fn pause(guardian: &Guardian, tid: u32, most: Duration) -> Result<(), GuardianError> {
    let thread = Identity::of(tid).unwrap();
    eventually("it stops", || match guardian.pause(thread, most) {
        Err(GuardianError::Busy(_)) => None,
        other => Some(other),
    })
}

/// The same by its name, as soon as no thread waits for it.
fn hold(named: &mut ThreadPause, guardian: &Guardian) {
    eventually("it is held", || named.hold(guardian).unwrap().then_some(()));
}

/// Whether threads may be kept here; says so if not.
fn is_allowed(guardian: &Guardian, tid: u32) -> bool {
    match pause(guardian, tid, LONG) {
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

/// Whether a process has a thread of a name, which a thread gives to itself after it has begun.
fn has_thread(pid: u32, name: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let mut names = threads.into_iter().flatten().flatten();
    names.any(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    })
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
    for _ in 0..20 {
        pause(&guardian, pid, LONG).unwrap();
        assert!(is_paused(pid), "{:?}", state(pid));
        guardian.resume().unwrap();
        assert!(!is_paused(pid), "{:?}", state(pid));
    }
    grows(&dir.path().join("work"));
    // Released twice is released.
    guardian.resume().unwrap();
}

#[test]
fn it_goes_on_by_itself_after_a_time() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if is_allowed(&guardian, child.id()) {
        pause(&guardian, child.id(), Duration::from_millis(30)).unwrap();
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

    pause(&guardian, child.id(), LONG).unwrap();
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
        pause(&guardian, child.id(), LONG).unwrap();
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
    assert!(named.state().is_none() && named.tid().is_none());
    named.prerequisites(&guardian).unwrap();
    assert!(!named.is_held() && !is_paused(child.id()));
    hold(&mut named, &guardian);
    assert!(is_paused(child.id()) && named.stands());
    assert_eq!(named.tid(), Some(child.id()));
    assert!(!named.is_waited_for() && !named.may_have_a_lock());

    // Another process traces it already.
    let second = spawn_guardian();
    let mut other = ThreadPause::new(&[child.id()], "sleep");
    let traced = other.hold(&second).unwrap_err();
    assert!(
        matches!(traced, InterventionError::Denied { .. }),
        "{traced}"
    );
    named.let_go(&guardian).unwrap();
    assert!(!is_paused(child.id()) && !named.stands());

    // Another process releases it: it is still thought to be held, and does not stand.
    hold(&mut named, &guardian);
    guardian.resume().unwrap();
    eventually("it goes on", || (!named.stands()).then_some(()));
    assert!(named.is_held());
    named.let_go(&guardian).unwrap();

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
        eventually("its threads have begun", || {
            has_thread(child.id(), "flusher").then_some(())
        });
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

#[test]
fn a_guardian_that_is_stopped_itself_lets_it_go() {
    let mut child = sleeper();
    let guardian = spawn_guardian();
    if !is_allowed(&guardian, child.id()) {
        return kill(child);
    }
    pause(&guardian, child.id(), LONG).unwrap();
    let pid = guardian.pid().to_string();
    Command::new("kill").args(["-STOP", &pid]).status().unwrap();
    let gone = guardian.resume().unwrap_err();
    assert!(matches!(gone, GuardianError::Gone(_)), "{gone}");
    eventually("it goes on", || (!is_paused(child.id())).then_some(()));
    assert!(child.try_wait().unwrap().is_none(), "it is none the worse");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn no_signal_is_lost_that_comes_when_it_is_stopped() {
    const SIGNALS: usize = 24;
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'echo x >> got' USR1; echo $$ > pid; while :; do sleep 0.01; done";
    let _running = run(dir.path(), script);
    let pid = number_in(&dir.path().join("pid"));
    let got = || fs::read_to_string(dir.path().join("got")).map_or(0, |text| text.lines().count());
    let mut guardian = spawn_guardian();
    if !is_allowed(&guardian, pid) {
        return;
    }
    for sent in 1..=SIGNALS {
        let signal = Command::new("kill")
            .args(["-USR1", &pid.to_string()])
            .status();
        assert!(signal.unwrap().success());
        pause(&guardian, pid, LONG).unwrap();
        if sent.is_multiple_of(4) {
            // No process is left that could give it back.
            let own = guardian.pid().to_string();
            Command::new("kill").args(["-KILL", &own]).status().unwrap();
            guardian = spawn_guardian();
        } else {
            guardian.resume().unwrap();
        }
        eventually("it takes the signal", || (got() == sent).then_some(()));
    }
}
