//! What the kernel reports of the target's threads while requests are under way.
//!
//! Events of the kernel's tracepoints are read from rings that the kernel fills, one a CPU, with
//! conditions that it tests itself. Nothing on the host is changed, and everything ends with the
//! process, whatever ends that.

mod budget;
mod calls;
mod collect;
pub(crate) mod cost;
mod ends;
mod files;
mod filters;
pub mod format;
mod idle;
mod kinds;
mod members;
pub(crate) mod perf;
mod points;
mod reader;
pub mod records;
pub(crate) mod ring;
mod session;
pub(crate) mod slots;
mod stacks;
mod tracefs;
pub(crate) mod unix;
mod upstream;
mod whom;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use slowpath_core::nanos::Span;
use slowpath_core::timeline::{Gap, Reading};
use slowpath_core::trace::Trace;

use crate::goroutines;
use crate::peek::{PeekWatch, Peeker, USUAL_HERTZ};
use reader::{Command, Reader};

/// The signal of gaps about tracepoints as a whole.
const KERNEL: &str = "trace.kernel";

/// Which processes to trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceWatch {
    /// Where procfs is mounted: `/proc`.
    pub proc_root: PathBuf,
    /// The target's processes; what descends from them is followed.
    pub pids: Vec<u32>,
    /// The processes of services beside it. Processes on this host at the other ends of the
    /// target's connections are found and followed too.
    pub peers: Vec<u32>,
    /// The port that the target serves; `None` if it serves none.
    pub port: Option<u16>,
    /// Which repeat of the run.
    pub repeat: u16,
    /// What the choice of the slots without tracing is drawn from.
    pub seed: u64,
    /// With so many events tracing ends for this repeat.
    pub most_events: u64,
    /// Files that tracing may have open at most; what they do not suffice for becomes a gap.
    pub most_files: usize,
}

/// What was traced.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// The events, in stretches.
    pub trace: Trace,
    /// What could not be traced, and why.
    pub gaps: Vec<Gap>,
    /// CPU time of the thread that read, second by second: readings of `probe.cost_ns`.
    pub cost: Vec<Reading>,
}

/// A thread that traces: by tracepoints, or what users without privilege may see.
#[derive(Debug)]
pub struct Tracer {
    commands: Sender<Command>,
    thread: Option<JoinHandle<Traced>>,
    peeker: Option<Peeker>,
    goroutines: goroutines::Reader,
    gaps: Vec<Gap>,
}

impl Tracer {
    /// Begins to listen. It never fails: what cannot be traced becomes a gap.
    pub fn start(watch: TraceWatch) -> Self {
        let (commands, received) = mpsc::channel();
        let unprivileged = PeekWatch {
            proc_root: watch.proc_root.clone(),
            pids: watch.pids.clone(),
            repeat: watch.repeat,
            seed: watch.seed,
            most_events: watch.most_events,
            hertz: USUAL_HERTZ,
            most_files: watch.most_files,
        };
        let goroutines = goroutines::Reader::start(goroutines::Watch {
            proc_root: watch.proc_root.clone(),
            pids: watch.pids.clone(),
            repeat: watch.repeat,
            seed: watch.seed,
        });
        let opened = Reader::open(watch).and_then(|reader| {
            let thread = Builder::new().name("slowpath-trace".to_owned());
            thread
                .spawn(move || reader.read(&received))
                .map_err(|error| {
                    let reason = format!("no thread could be started: {error}");
                    gap(
                        KERNEL,
                        reason,
                        "ulimit -u, or a larger pids.max of slowpath's cgroup",
                    )
                })
        });
        let (thread, peeker, gaps) = match opened {
            Ok(thread) => (Some(thread), None, Vec::new()),
            Err(gap) => (None, Some(Peeker::start(unprivileged)), vec![untold(gap)]),
        };
        Self {
            commands,
            thread,
            peeker,
            goroutines,
            gaps,
        }
    }

    /// Sets when the measured window is. Nothing is recorded before its begin; slots of it are
    /// left out on purpose.
    pub fn window(&self, measured: Span) {
        if let Some(peeker) = &self.peeker {
            peeker.window(measured);
        }
        self.goroutines.window(measured);
        // The thread ends only when it is stopped.
        let _ = self.commands.send(Command::Window(measured));
    }

    /// Ends tracing and gives what was recorded. To be called while the target lives: where its
    /// threads stood is found out now.
    pub fn stop(mut self) -> Traced {
        let _ = self.commands.send(Command::Stop);
        let traced = self.thread.take().map(JoinHandle::join);
        let mut traced = match traced {
            None => self.peeker.take().map(Peeker::stop).unwrap_or_default(),
            Some(Ok(traced)) => traced,
            Some(Err(_)) => {
                let reason = "the reading thread broke off".to_owned();
                let remedy = "report it with what slowpath said; --no-trace measures without";
                self.gaps.push(gap(KERNEL, reason, remedy));
                Traced::default()
            }
        };
        let mut seen = self.goroutines.stop();
        self.gaps.append(&mut traced.gaps);
        self.gaps.append(&mut seen.gaps);
        traced.cost.append(&mut seen.cost);
        seen.put_into(&mut traced.trace);
        traced.gaps = self.gaps;
        traced
    }
}

/// How many tracepoints of those that are used can be read here; a gap says why none can.
pub(crate) fn tracepoints(proc_root: &Path) -> Result<usize, Gap> {
    reader::tracepoints(proc_root)
}

/// A gap of the kernel's tracepoints, with what is not reported without them.
fn untold(gap: Gap) -> Gap {
    let missing = "which thread woke which, and which request each served, is not recorded without";
    Gap {
        reason: format!("{missing} the kernel's tracepoints: {}", gap.reason),
        ..gap
    }
}

fn gap(signal: &str, reason: String, remedy: &str) -> Gap {
    Gap {
        signal: signal.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}
