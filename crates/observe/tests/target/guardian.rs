//! The guardian: what happens when slowpath is killed, and when the guardian is.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use slowpath_observe::guardian::{Guardian, GuardianError};
use slowpath_observe::interventions::{
    FileLimit, Intervention, InterventionError, Niceness, Restore,
};
use slowpath_observe::target::{TargetError, start};

use crate::interventions::{Cgroup, slack, slack_is_allowed, sleeper};
use crate::{PROBE, eventually, is_alive, number_in, run, shell, skip, spawn_guardian};

/// A probe that has made its change.
pub(crate) fn probe(args: &[&str]) -> Child {
    let mut child = Command::new(PROBE)
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

pub(crate) fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_target_ends_with_slowpath_wherever_it_hides() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let path = |name: &str| dir.path().join(name);
    let script = format!(
        "cd {}; (setsid sh -c 'trap \"\" TERM; echo $$ > far; while :; do sleep 1; done' &); \
         echo $$ > near; exec sleep 60",
        dir.path().display()
    );
    let parent = probe(&["target", logs.to_str().unwrap(), "/bin/sh", "-c", &script]);
    let (near, far) = (number_in(&path("near")), number_in(&path("far")));
    assert!(is_alive(near) && is_alive(far));
    kill(parent);
    eventually("the target is gone", || (!is_alive(near)).then_some(()));
    eventually("the daemon is gone", || (!is_alive(far)).then_some(()));
}

#[test]
fn timer_slack_is_restored() {
    let mut child = sleeper();
    if !slack_is_allowed(child.id()) {
        kill(child);
        return skip("widening the timer slack of another process needs CAP_SYS_NICE");
    }
    let before = slack(child.id());
    let parent = probe(&["slack", &child.id().to_string()]);
    assert_ne!(slack(child.id()), before);
    kill(parent);
    eventually("the slack is back", || {
        (slack(child.id()) == before).then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_quota_is_restored() {
    let Some(cgroup) = Cgroup::create("guardian") else {
        return skip("no cgroup with a CPU quota can be made here");
    };
    let before = cgroup.quota();
    let parent = probe(&["quota", cgroup.folder.to_str().unwrap()]);
    assert_ne!(cgroup.quota(), before);
    kill(parent);
    eventually("the quota is back", || {
        (cgroup.quota() == before).then_some(())
    });
}

#[test]
fn it_is_out_of_reach_of_the_terminal() {
    let guardian = spawn_guardian();
    let pid = guardian.pid();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let words: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    assert_eq!(
        words[3],
        pid.to_string(),
        "it leads a session of its own: {stat}"
    );
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        Command::new("kill")
            .args([signal, &pid.to_string()])
            .status()
            .unwrap();
    }
    guardian.check().unwrap();
    drop(guardian);
    assert!(!is_alive(pid));
}

#[test]
fn an_orderly_end_restores_what_was_not_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let (kept, forgotten) = (dir.path().join("kept"), dir.path().join("forgotten"));
    let guardian = spawn_guardian();
    let mut ids = Vec::new();
    for path in [&kept, &forgotten] {
        std::fs::write(path, "changed").unwrap();
        let restore = Restore::File {
            path: path.clone(),
            value: "original".to_owned(),
            only_if: None,
        };
        ids.push(guardian.restore_on_death(&restore).unwrap());
    }
    guardian.forget(ids[1]).unwrap();
    drop(guardian);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "original");
    assert_eq!(std::fs::read_to_string(forgotten).unwrap(), "changed");
}

#[test]
fn nothing_is_started_or_changed_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let guardian = spawn_guardian();
    let pid = guardian.pid().to_string();
    Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    eventually("the guardian is gone", || guardian.check().err());
    let restore = Restore::File {
        path: dir.path().join("x"),
        value: String::new(),
        only_if: None,
    };
    assert!(matches!(
        guardian.restore_on_death(&restore),
        Err(GuardianError::Gone(_))
    ));
    let refused = start(&shell(dir.path(), "touch started"), &guardian)
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(refused, TargetError::Guardian(GuardianError::Gone(_))),
        "{refused}"
    );
    assert!(!dir.path().join("started").exists());
}

#[test]
fn a_program_that_is_no_guardian_is_not_taken_for_one() {
    let absent = Guardian::spawn_with(Path::new("/no/such/program")).unwrap_err();
    assert!(matches!(absent, GuardianError::Start { .. }), "{absent}");
    let mute = Guardian::spawn_with(Path::new("/bin/true")).unwrap_err();
    assert!(matches!(mute, GuardianError::Gone(_)), "{mute}");
}

/// The soft limit of open files, and the niceness.
fn settings(pid: u32) -> (u64, i32) {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits
        .lines()
        .find(|l| l.starts_with("Max open files"))
        .unwrap();
    let soft = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let behind = stat.rsplit_once(") ").unwrap().1;
    (soft, behind.split(' ').nth(16).unwrap().parse().unwrap())
}

#[test]
fn open_files_and_niceness_are_restored() {
    if !rustix::process::geteuid().is_root() {
        return skip("raising limits of others needs root");
    }
    // Whatever the niceness of who runs this: what is changed must differ. Children inherit it.
    rustix::process::setpriority_process(None, 0).unwrap();
    let script = "ulimit -S -n 64; sleep 60 & echo $! > child; wait";
    let dir = tempfile::tempdir().unwrap();
    let running = run(dir.path(), script);
    let child = number_in(&dir.path().join("child"));
    let before = settings(child);
    assert_eq!(before.0, 64);
    for verb in ["files", "nice"] {
        let parent = probe(&[verb, &running.pid.to_string()]);
        let (files, nice) = settings(child);
        // Where the hard limit cannot be raised it is reached.
        let changed = if verb == "files" {
            files > 64
        } else {
            nice == -7
        };
        assert!(changed, "{verb}: {files} {nice}");
        kill(parent);
        eventually("both are restored", || {
            let both = [child, running.pid].map(settings);
            (both == [before; 2]).then_some(())
        });
    }
}

#[test]
fn open_files_and_niceness_are_given_back_by_who_changed_them() {
    let child = sleeper();
    let before = settings(child.id());
    let guardian = spawn_guardian();
    let changes = [
        Intervention::FileLimit(FileLimit::new(&[child.id()], before.0 + 1_000_000)),
        Intervention::Niceness(Niceness::new(&[child.id()], before.1 - 3, None)),
    ];
    for mut change in changes {
        if let Err(InterventionError::Denied { remedy, .. }) = change.prerequisites() {
            assert!(remedy.contains("as root"), "{remedy}");
            skip("raising limits of others needs root");
            continue;
        }
        assert_eq!(settings(child.id()), before, "asking changes nothing");
        change.apply(&guardian).unwrap();
        assert_ne!(settings(child.id()), before);
        change.refresh(&guardian).unwrap();
        change.undo(&guardian).unwrap();
        assert_eq!(settings(child.id()), before);
    }
    let futile = FileLimit::new(&[child.id()], before.0).prerequisites();
    assert!(
        matches!(futile, Err(InterventionError::Futile { .. })),
        "{futile:?}"
    );
    kill(child);
}
