//! Tracing without privilege: when the target's threads ran, what they waited in, and who owned
//! the lock they waited for.
//!
//! Three sources of the kernel that users may have of their own processes are put together.
//! `PERF_RECORD_SWITCH` shows when a thread got and left a CPU (`perf_event_paranoid` 2 allows it).
//! `/proc/PID/task/TID/syscall` shows which call a thread waits in, and `process_vm_readv(2)` who
//! owns the lock it waits for. The last two need the right to trace a process: that of its user,
//! and under Yama's `ptrace_scope` 1 only if slowpath started it, or an ancestor of it; `wchan` and
//! the switches need only the right to read it, so they stay.
//!
//! A look holds until the thread runs: a thread that waits is examined once it has stopped
//! running, again while it waits for a lock that has an owner, and ten times a second otherwise.

mod course;
mod crew;
mod gaps;
mod holders;
mod locks;
mod memory;
mod sweep;
mod switches;
mod text;
mod waiters;
mod wchan;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};

use slowpath_core::nanos::Span;
use slowpath_core::timeline::Gap;

use crate::limits::open_files_left;
use crate::trace::Traced;
use course::{Course, Orders};
use switches::Switches;
pub(crate) use waiters::Waiters;

/// Looks a second that are meant: a wait of 20 ms is seen four times.
pub const USUAL_HERTZ: u32 = 200;

/// Which processes to look at, and how.
#[derive(Clone, Debug)]
pub struct PeekWatch {
    /// Where procfs is mounted: `/proc`.
    pub proc_root: PathBuf,
    /// The processes it begins with; their children are found and followed.
    pub pids: Vec<u32>,
    /// The repeat of the run.
    pub repeat: u16,
    /// What the plan of the slots is drawn from.
    pub seed: u64,
    /// Events kept at most. A slot that has used its part of them ends early.
    pub most_events: u64,
    /// Looks a second, [`USUAL_HERTZ`] as a rule. There are fewer if they would take more than a
    /// fiftieth of a CPU.
    pub hertz: u32,
    /// Files that may be open at most.
    pub most_files: usize,
}

/// Traces without privilege, on a thread of its own.
pub struct Peeker {
    orders: Arc<Orders>,
    thread: Option<JoinHandle<Traced>>,
}

impl fmt::Debug for Peeker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peeker").finish_non_exhaustive()
    }
}

impl Peeker {
    /// Gets ready; nothing is traced before [`Self::window`] says when. Never fails: what is
    /// missing becomes a gap.
    pub fn start(watch: PeekWatch) -> Self {
        let orders = Arc::new(Orders::default());
        let theirs = Arc::clone(&orders);
        let thread = Builder::new()
            .name("slowpath-peek".to_owned())
            .spawn(move || Course::new(watch).run(&theirs));
        Self {
            orders,
            thread: thread.ok(),
        }
    }

    /// Says when the measured window is: from now on it is traced slot by slot.
    pub fn window(&self, measured: Span) {
        self.orders.lay(measured);
    }

    /// Ends the tracing and gives what there is.
    pub fn stop(mut self) -> Traced {
        self.orders.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(traced)) => traced,
            Some(Err(_)) => nothing(
                "the tracing thread broke off",
                "report it with what slowpath said; --no-trace measures without",
            ),
            None => nothing(
                "no tracing thread could be started",
                "ulimit -u, or a larger pids.max of slowpath's cgroup",
            ),
        }
    }
}

impl Drop for Peeker {
    fn drop(&mut self) {
        self.orders.stop.store(true, Ordering::Relaxed);
    }
}

/// Whether the switches of this user's own threads can be recorded.
pub(crate) fn can_follow(proc_root: &Path) -> io::Result<bool> {
    Switches::open(proc_root, open_files_left(proc_root))?.follow(std::process::id())
}

fn nothing(reason: &str, remedy: &str) -> Traced {
    let gap = Gap {
        signal: gaps::SWITCHES.to_owned(),
        reason: reason.to_owned(),
        remedy: remedy.to_owned(),
    };
    Traced {
        gaps: vec![gap],
        ..Traced::default()
    }
}
