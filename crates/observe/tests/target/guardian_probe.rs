//! A program that changes something and waits to be killed, with its own guardian.
//!
//! `guardian-probe target LOG_DIR COMMAND…`, `slack PID`, `quota CGROUP`, `files PID`, `nice PID`,
//! `pause TID`: says `ready` on stdout when the change is made.
#![expect(clippy::disallowed_methods, reason = "a program for tests has effects")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use slowpath_observe::guardian::{self, Guardian};
use slowpath_observe::interventions::{
    CpuQuota, FileLimit, Intervention, NewQuota, Niceness, TimerSlack,
};
use slowpath_observe::target::{self, Identity, Launch};

/// The slack that the probe sets.
const WIDENED_NS: u64 = 4_000_000;
/// The open files that it allows.
const MORE_FILES: u64 = 100_003;
/// The niceness that it sets.
const FIRST: i32 = -7;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let verb = args.next().unwrap_or_default();
    if verb == guardian::ARGUMENT {
        return guardian::serve();
    }
    let first = args.next().expect("a second argument");
    let guardian = Guardian::spawn().expect("a guardian");
    // Held until the end, which is SIGKILL.
    let mut change = match verb.as_str() {
        "slack" => {
            let pid = first.parse().expect("a pid");
            Some(Intervention::TimerSlack(TimerSlack::new(
                &[pid],
                WIDENED_NS,
            )))
        }
        "quota" => {
            let quota = CpuQuota::new(Path::new(&first), NewQuota::Unlimited);
            Some(Intervention::CpuQuota(quota))
        }
        "files" => {
            let pid = first.parse().expect("a pid");
            Some(Intervention::FileLimit(FileLimit::new(&[pid], MORE_FILES)))
        }
        "nice" => {
            let pid = first.parse().expect("a pid");
            Some(Intervention::Niceness(Niceness::new(&[pid], FIRST, None)))
        }
        _ => None,
    };
    if let Some(change) = &mut change {
        change.apply(&guardian).expect("the change is made");
    }
    if verb == "pause" {
        let thread = Identity::of(first.parse().expect("a tid")).expect("a thread");
        let paused = guardian.pause(thread, guardian::PAUSE_MAX);
        paused.expect("the thread is kept");
    }
    let launch = Launch {
        command: args.collect(),
        env: Vec::new(),
        cwd: PathBuf::from("."),
        log_dir: PathBuf::from(&first),
        name: "probe".to_owned(),
        address: None,
    };
    let _running = (verb == "target").then(|| target::start(&launch, &guardian).expect("a start"));
    writeln!(std::io::stdout(), "ready").expect("a process waits for the word");
    loop {
        thread::park();
    }
}
