//! Commands with an end: in a group of their own, with what they say in files.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::{self, Termination};

/// Between two looks at whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long a group may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(8);

/// The groups that run, and whether the user has had enough.
#[derive(Debug, Default)]
pub(crate) struct Running {
    groups: Mutex<Vec<u32>>,
    stopped: AtomicBool,
}

impl Running {
    /// Whether the pass was interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Waits for SIGINT or SIGTERM, for ever; then asks everything to end.
    pub(crate) fn watch(&self, termination: &Termination) {
        if termination.wait().is_err() {
            return;
        }
        self.stopped.store(true, Ordering::SeqCst);
        for group in self.lock().iter() {
            // A process that has ended in between needs no signal.
            let _ = sys::end_group(*group, false);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.groups
            .lock()
            .expect("nothing panics while it holds this")
    }
}

/// A group of processes that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    child: Child,
    running: &'a Running,
}

impl<'a> Group<'a> {
    /// Starts a command; what it says goes to `stdout.txt` and `stderr.txt` with this prefix in the
    /// folder.
    pub(crate) fn start(
        command: &mut Command,
        folder: &Path,
        prefix: &str,
        running: &'a Running,
    ) -> io::Result<Self> {
        let file = |name: &str| File::create(folder.join(format!("{prefix}{name}.txt")));
        let command = command.stdout(file("stdout")?).stderr(file("stderr")?);
        let child = command.process_group(0).spawn()?;
        running.lock().push(child.id());
        Ok(Self { child, running })
    }

    /// Whether it has ended.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits for its end, but no longer than this.
    pub(crate) fn wait(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + patience;
        loop {
            let status = self.ended()?;
            if status.is_some() || Instant::now() > end {
                return Ok(status);
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        let group = self.child.id();
        let _ = sys::end_group(group, false);
        let _ = self.wait(GRACE);
        // What its leader left is ended too.
        let _ = sys::end_group(group, true);
        let _ = self.child.wait();
        self.running.lock().retain(|other| *other != group);
    }
}

/// The last lines that a command said.
pub(crate) fn last_words(file: &Path, lines: usize) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let all: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    all[all.len().saturating_sub(lines)..].join(" | ")
}
