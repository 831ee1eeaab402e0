//! What the goroutines of a Go program wait for, read from its memory while it runs.
//!
//! The kernel sees threads, and Go parks goroutines in user space: where a request waits for a mutex, a channel, a place in a
//! pool or a time, all that the kernel shows is that threads are idle. The runtime keeps what each goroutine waits for in its
//! own memory, which `process_vm_readv(2)` reads without stopping anything: the right to do so is that of the peeker
//! ([`crate::peek`]). Where the fields lie is known by the version that has built the program ([`layout`]).
//!
//! It looks in the slots in which the kernel is traced as well, so that what both cost is seen within the run.

mod course;
mod debug_info;
mod header;
mod layout;
mod memory;
mod process;
mod program;
mod queued;
mod sockets;
mod stack;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};

use slowpath_core::nanos::Span;
use slowpath_core::timeline::{Gap, Reading};
use slowpath_core::trace::{Frame, Look, NO_SOCKET, NO_STACK, Socket, Stay, Trace};

use course::{Course, Orders};

/// The signal of gaps about goroutines.
const SIGNAL: &str = "trace.goroutines";

/// Whose goroutines to look at.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Where procfs is mounted: `/proc`.
    pub(crate) proc_root: PathBuf,
    /// The processes it begins with; their children are examined too.
    pub(crate) pids: Vec<u32>,
    /// The repeat of the run.
    pub(crate) repeat: u16,
    /// What the plan of the slots is drawn from.
    pub(crate) seed: u64,
}

/// What was seen of goroutines.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    looks: Vec<Look>,
    stays: Vec<Stay>,
    sockets: Vec<Socket>,
    frames: Vec<Frame>,
    stacks: Vec<Vec<u32>>,
    pub(crate) gaps: Vec<Gap>,
    /// CPU time of the thread that looked.
    pub(crate) cost: Vec<Reading>,
}

impl Seen {
    /// Puts it into what was traced of the same time.
    pub(crate) fn put_into(self, trace: &mut Trace) {
        let places: Vec<u32> = self.sockets.iter().map(|own| place(trace, own)).collect();
        let (frames, stacks) = (trace.frames.len() as u32, trace.stacks.len() as u32);
        trace.frames.extend(self.frames);
        let moved = self.stacks.into_iter();
        trace
            .stacks
            .extend(moved.map(|stack| stack.into_iter().map(|f| f + frames).collect()));
        trace.looks.extend(self.looks);
        trace.stays.extend(self.stays.into_iter().map(|stay| {
            Stay {
                stack: if stay.stack == NO_STACK {
                    NO_STACK
                } else {
                    stay.stack + stacks
                },
                socket: places
                    .get(stay.socket as usize)
                    .copied()
                    .unwrap_or(NO_SOCKET),
                ..stay
            }
        }));
        trace.looks.sort_by_key(|look| look.at);
        trace
            .stays
            .sort_by_key(|stay| (stay.first, stay.pid, stay.task));
    }
}

/// Where a connection stands in a trace; it is added if it does not.
fn place(trace: &mut Trace, own: &Socket) -> u32 {
    let known = trace.sockets.iter().position(|socket| socket == own);
    let place = known.unwrap_or_else(|| {
        trace.sockets.push(*own);
        trace.sockets.len() - 1
    });
    place as u32
}

/// Looks at goroutines, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Reader {
    orders: Arc<Orders>,
    thread: Option<JoinHandle<Seen>>,
}

impl Reader {
    /// Gets ready; nothing is read before [`Self::window`] says when. Never fails: what is missing becomes a gap.
    pub(crate) fn start(watch: Watch) -> Self {
        let orders = Arc::new(Orders::default());
        let theirs = Arc::clone(&orders);
        let thread = Builder::new().name("slowpath-go".to_owned());
        Self {
            orders,
            thread: thread.spawn(move || Course::new(watch).run(&theirs)).ok(),
        }
    }

    /// Says when the measured window is.
    pub(crate) fn window(&self, measured: Span) {
        self.orders.lay(measured);
    }

    /// Ends the looking and gives what was seen. To be called while the target lives.
    pub(crate) fn stop(mut self) -> Seen {
        self.orders.stop.store(true, Ordering::Relaxed);
        let missing = |reason: &str, remedy: &str| Seen {
            gaps: vec![gap(reason.to_owned(), remedy)],
            ..Seen::default()
        };
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(seen)) => seen,
            Some(Err(_)) => missing(
                "the thread that looks at goroutines broke off",
                "report it with what slowpath said; --no-trace measures without",
            ),
            None => missing(
                "no thread could be started to look at goroutines",
                "ulimit -u, or a larger pids.max of slowpath's cgroup",
            ),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.orders.stop.store(true, Ordering::Relaxed);
    }
}

fn gap(reason: String, remedy: &str) -> Gap {
    Gap {
        signal: SIGNAL.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}
