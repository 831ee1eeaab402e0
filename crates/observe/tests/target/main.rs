//! Real processes are started, found, changed and ended.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests start processes, fail by panicking, and say when they are skipped"
)]

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use slowpath_observe::guardian::Guardian;
use slowpath_observe::target::{Launch, Running, start};

mod course;
mod guardian;
mod interventions;
mod listener;
mod pausing;
mod ready;
mod start;
mod stop;

/// The program that is killed, and serves as guardian.
const PROBE: &str = env!("CARGO_BIN_EXE_guardian-probe");

/// Long against everything that is waited for, so that a loaded machine fails no test.
const PATIENCE: Duration = Duration::from_secs(20);

fn spawn_guardian() -> Guardian {
    Guardian::spawn_with(Path::new(PROBE)).unwrap()
}

/// A launch of a shell script in `dir`, with its log there.
fn shell(dir: &Path, script: &str) -> Launch {
    Launch {
        command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        env: Vec::new(),
        cwd: dir.to_owned(),
        log_dir: dir.join("logs"),
        name: "server".to_owned(),
        address: None,
    }
}

/// A started shell script.
fn run(dir: &Path, script: &str) -> Running {
    start(&shell(dir, script), &spawn_guardian()).unwrap()
}

/// Waits until `holds` returns something.
fn eventually<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = holds() {
            return value;
        }
        assert!(begin.elapsed() < PATIENCE, "never happened: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The number that a script writes to a file, once it has.
fn number_in(path: &PathBuf) -> u32 {
    eventually(&format!("a number in {}", path.display()), || {
        let text = std::fs::read_to_string(path).ok()?;
        text.strip_suffix('\n')?.trim().parse().ok()
    })
}

/// Whether a process is there and has not ended.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

/// Says that a test cannot run here.
fn skip(reason: &str) {
    println!("skipped: {reason}");
}
