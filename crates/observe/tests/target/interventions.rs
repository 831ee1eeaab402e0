//! Interventions on real processes and cgroups, where this user may.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use slowpath_observe::interventions::{
    CpuQuota, Intervention, InterventionError, NewQuota, TimerSlack,
};

use crate::{eventually, number_in, run, skip, spawn_guardian};

const WIDENED_NS: u64 = 3_000_000;

/// A process that does nothing.
pub(crate) fn sleeper() -> Child {
    Command::new("sleep").arg("60").spawn().unwrap()
}

/// The timer slack of a thread.
pub(crate) fn slack(tid: u32) -> Option<u64> {
    fs::read_to_string(format!("/proc/{tid}/timerslack_ns"))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Whether this user may change it.
pub(crate) fn slack_is_allowed(pid: u32) -> bool {
    match TimerSlack::new(&[pid], WIDENED_NS).prerequisites() {
        Ok(()) => true,
        Err(InterventionError::Denied { what, remedy }) => {
            assert!(what.contains("timer slack") && remedy.contains("CAP_SYS_NICE"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// A cgroup with a quota of 20 %, removed at the end.
pub(crate) struct Cgroup {
    pub(crate) folder: PathBuf,
    file: PathBuf,
}

impl Cgroup {
    /// None when this user cannot make one.
    pub(crate) fn create(name: &str) -> Option<Self> {
        let name = format!("slowpath-test-{name}-{}", std::process::id());
        let roots = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
        ];
        roots.iter().find_map(|(root, file, value)| {
            let folder = PathBuf::from(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let cgroup = Self {
                file: folder.join(file),
                folder,
            };
            fs::write(&cgroup.file, value).ok()?;
            Some(cgroup)
        })
    }

    pub(crate) fn quota(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A cgroup is a folder whose files go with it. On failure an empty cgroup stays.
        let _ = fs::remove_dir(&self.folder);
    }
}

#[test]
fn slack_is_widened_on_children_and_on_those_born_later() {
    let dir = tempfile::tempdir().unwrap();
    let script = "sleep 60 & echo $! > first; \
                  while [ ! -e go ]; do sleep 0.02; done; sleep 60 & echo $! > second; wait";
    let running = run(dir.path(), script);
    let first = number_in(&dir.path().join("first"));
    if !slack_is_allowed(running.pid) {
        return skip("widening the timer slack of another process needs CAP_SYS_NICE");
    }
    let before = slack(first);
    let guardian = spawn_guardian();
    let mut change = Intervention::TimerSlack(TimerSlack::new(&[running.pid], WIDENED_NS));
    change.prerequisites().unwrap();
    assert_eq!(slack(first), before);

    change.apply(&guardian).unwrap();
    assert_eq!(
        (slack(running.pid), slack(first)),
        (Some(WIDENED_NS), Some(WIDENED_NS))
    );
    fs::write(dir.path().join("go"), "").unwrap();
    let second = number_in(&dir.path().join("second"));
    assert_eq!(slack(second), Some(WIDENED_NS), "inherited");
    let reach = change.refresh(&guardian).unwrap();
    assert!(reach.text.contains("3000000 ns"), "{}", reach.text);

    change.undo(&guardian).unwrap();
    for pid in [running.pid, first, second] {
        assert_eq!(slack(pid), before);
    }
    // Undone twice is undone.
    change.undo(&guardian).unwrap();
    assert_eq!(slack(first), before);
}

#[test]
fn every_thread_gets_its_own_value_back() {
    if Command::new("python3").arg("-V").output().is_err() {
        return skip("there is no python3");
    }
    let dir = tempfile::tempdir().unwrap();
    // 29 is PR_SET_TIMERSLACK: a thread that chose a value of its own.
    let program = "import ctypes, os, threading, time\n\
        def work():\n    ctypes.CDLL(None).prctl(29, 123456, 0, 0, 0)\n\
        \x20   open('tid', 'w').write(f'{threading.get_native_id()}\\n')\n    time.sleep(60)\n\
        threading.Thread(target=work).start()\n\
        while not os.path.exists('go'): time.sleep(0.02)\n\
        late = threading.Thread(target=time.sleep, args=(60,))\nlate.start()\n\
        open('late', 'w').write(f'{late.native_id}\\n')\n";
    fs::write(dir.path().join("threads.py"), program).unwrap();
    let running = run(dir.path(), "exec python3 threads.py");
    let thread = number_in(&dir.path().join("tid"));
    if !slack_is_allowed(running.pid) {
        return skip("widening the timer slack of another process needs CAP_SYS_NICE");
    }
    let before = slack(running.pid);
    let guardian = spawn_guardian();
    let mut change = TimerSlack::new(&[running.pid], WIDENED_NS);
    change.apply(&guardian).unwrap();
    assert_eq!(slack(thread), Some(WIDENED_NS));
    fs::write(dir.path().join("go"), "").unwrap();
    let late = number_in(&dir.path().join("late"));
    assert_eq!(slack(late), Some(WIDENED_NS));
    change.undo(&guardian).unwrap();
    assert_eq!(slack(thread), Some(123_456));
    assert_eq!((slack(running.pid), slack(late)), (before, before));
}

#[test]
fn late_children_are_restored_without_a_refresh() {
    let dir = tempfile::tempdir().unwrap();
    let script =
        "echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done; sleep 60 & echo $! > late; wait";
    let running = run(dir.path(), script);
    number_in(&dir.path().join("pid"));
    if !slack_is_allowed(running.pid) {
        return skip("widening the timer slack of another process needs CAP_SYS_NICE");
    }
    let before = slack(running.pid);
    let guardian = spawn_guardian();
    let mut change = TimerSlack::new(&[running.pid], WIDENED_NS);
    change.apply(&guardian).unwrap();
    fs::write(dir.path().join("go"), "").unwrap();
    let late = number_in(&dir.path().join("late"));
    assert_eq!(slack(late), Some(WIDENED_NS));
    // Not undone here but by the guardian, as if slowpath had died.
    drop(change);
    drop(guardian);
    assert_eq!((slack(running.pid), slack(late)), (before, before));
}

#[test]
fn slack_without_a_guardian_or_a_process_is_refused() {
    let mut child = sleeper();
    let pid = child.id();
    let allowed = slack_is_allowed(pid);
    let before = slack(pid);
    let guardian = spawn_guardian();
    Command::new("kill")
        .args(["-KILL", &guardian.pid().to_string()])
        .status()
        .unwrap();
    eventually("the guardian is gone", || guardian.check().err());
    let refused = TimerSlack::new(&[pid], WIDENED_NS)
        .apply(&guardian)
        .unwrap_err();
    if allowed {
        assert!(
            matches!(refused, InterventionError::Guardian(_)),
            "{refused}"
        );
    }
    assert_eq!(slack(pid), before);
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = TimerSlack::new(&[pid], WIDENED_NS)
        .prerequisites()
        .unwrap_err();
    assert!(matches!(gone, InterventionError::Gone { .. }), "{gone}");
}

#[test]
fn a_quota_is_raised_lifted_and_restored() {
    let Some(cgroup) = Cgroup::create("quota") else {
        return skip("no cgroup with a CPU quota can be made here");
    };
    let before = cgroup.quota();
    let guardian = spawn_guardian();
    for new in [NewQuota::Times(2.0), NewQuota::Unlimited] {
        let mut change = Intervention::CpuQuota(CpuQuota::new(&cgroup.folder, new));
        change.prerequisites().unwrap();
        assert_eq!(cgroup.quota(), before);
        let reach = change.apply(&guardian).unwrap();
        assert!(
            reach.text.contains("instead of 0.20 CPUs"),
            "{}",
            reach.text
        );
        let raised = cgroup.quota();
        let expected = if new == NewQuota::Unlimited {
            ["-1", "max"]
        } else {
            ["40000"; 2]
        };
        assert!(
            expected.iter().any(|start| raised.starts_with(start)),
            "{raised}"
        );
        assert_eq!(change.refresh(&guardian).unwrap(), reach);
        change.undo(&guardian).unwrap();
        assert_eq!(cgroup.quota(), before);
    }
}

#[test]
fn a_quota_that_somebody_else_overwrote_is_noticed_and_stays() {
    let Some(cgroup) = Cgroup::create("overwritten") else {
        return skip("no cgroup with a CPU quota can be made here");
    };
    let before = cgroup.quota();
    let guardian = spawn_guardian();
    let mut change = CpuQuota::new(&cgroup.folder, NewQuota::Unlimited);
    change.apply(&guardian).unwrap();
    let theirs = before.replacen("20000", "30000", 1);
    assert_ne!(theirs, before);
    fs::write(&cgroup.file, theirs.trim()).unwrap();
    let noticed = change.refresh(&guardian).unwrap_err();
    assert!(
        matches!(noticed, InterventionError::Gone { .. }),
        "{noticed}"
    );
    change.undo(&guardian).unwrap();
    assert_eq!(cgroup.quota(), theirs);
}
