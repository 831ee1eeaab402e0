//! Stacks of real processes, and what runs them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these tests start processes, say what they skip, and fail with their helpers"
)]

#[path = "symbols/gone.rs"]
mod gone;
#[path = "symbols/ptrace.rs"]
mod ptrace;
#[path = "symbols/runtimes.rs"]
mod runtimes;
#[path = "symbols/stacks.rs"]
mod stacks;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Long against everything that is waited for, so that a loaded machine fails no test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A process that is ended with the test.
#[derive(Debug)]
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn of(child: Child) -> Self {
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program in `dir`; nothing if there is no such program.
pub(crate) fn start(dir: &Path, program: &str, args: &[&str]) -> Option<Running> {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(child) => Some(Running(child)),
        Err(error) => {
            println!("skipped: {program}: {error}");
            None
        }
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
