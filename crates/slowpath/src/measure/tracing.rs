//! Tracing beside a load: begun when the target is ready, ended while it still runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::timeline::Gap;
use slowpath_load::Control;
use slowpath_observe::limits::open_files_left;
use slowpath_observe::trace::{TraceWatch, Traced, Tracer};

use super::Measurement;
use crate::session::{PROC, Session};

/// Events that a run keeps at most, over all its repeats: 160 MB while it is judged, and some
/// 400,000 requests of a server that takes ten events each.
const MOST_EVENTS: u64 = 4_000_000;

/// The signal whose gap says why there is no trace.
pub(super) const SIGNAL: &str = "trace.kernel";

/// Files that are left to everything but tracing and the load's connections: logs, what probes read,
/// connections that are closed while others are opened in their place.
const OTHER_FILES: usize = 64;

/// Files that tracing may open beside a load that is about to open so many connections.
fn room_for_files(connections: u32) -> usize {
    open_files_left(Path::new(PROC)).saturating_sub(connections as usize + OTHER_FILES)
}

/// A tracer that is given the measured window, as soon as the load knows it. Dropped, it
/// ends without a report.
#[derive(Debug)]
pub(super) struct Tracing {
    // Before the tracer, which it holds too.
    teller: Option<Teller>,
    tracer: Option<Arc<Tracer>>,
    why_not: Option<Gap>,
}

impl Tracing {
    /// Begins to trace a repeat of what is measured, if that is wanted and there is something to see.
    pub(super) fn start(
        wanted: &Measurement<'_>,
        repeat: u16,
        session: &mut Session,
        control: &Arc<Control>,
    ) -> Self {
        if !wanted.trace {
            return Self::without("it was not asked for", "measure without --no-trace");
        }
        Self::begin(wanted, repeat, session, control)
    }

    /// Begins to trace whether repeats are traced or not: in a profiling pass.
    pub(super) fn begin(
        wanted: &Measurement<'_>,
        repeat: u16,
        session: &mut Session,
        control: &Arc<Control>,
    ) -> Self {
        let peers = session.service_pids();
        let Some(watched) = &session.watched else {
            return Self::without(
                "no process of the target is known on this host",
                "run slowpath on the target's host, or give --pid",
            );
        };
        let load = &wanted.plan.scenario.load;
        let repeats = u64::from(load.repeats) * u64::from(wanted.plan.passes());
        let tracer = Arc::new(Tracer::start(TraceWatch {
            proc_root: PathBuf::from(PROC),
            pids: watched.pids.clone(),
            peers,
            port: watched.port,
            repeat,
            seed: wanted.plan.seed,
            most_events: MOST_EVENTS / repeats.max(1),
            most_files: room_for_files(load.connections),
        }));
        let (told, duration_ns) = (Arc::clone(&tracer), load.duration_ns);
        let teller = Teller::start(control, move |begin| {
            told.window(Span::new(begin, begin.plus(duration_ns)));
        });
        Self {
            teller: Some(teller),
            tracer: Some(tracer),
            why_not: None,
        }
    }

    fn without(reason: &str, remedy: &str) -> Self {
        Self {
            tracer: None,
            why_not: Some(Gap {
                signal: SIGNAL.to_owned(),
                reason: reason.to_owned(),
                remedy: remedy.to_owned(),
            }),
            teller: None,
        }
    }

    /// Ends the tracing and gives what was traced, what could not be, and what it cost.
    pub(super) fn stop(mut self) -> Traced {
        drop(self.teller.take());
        let tracer = self.tracer.take().and_then(Arc::into_inner);
        let mut traced = tracer.map(Tracer::stop).unwrap_or_default();
        traced.gaps.extend(self.why_not.take());
        traced
    }
}

/// Waits until a load knows when its window begins, and passes it on; dropped, it ends before that.
#[derive(Debug)]
struct Teller {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    /// The warm-up is known as soon as the load begins, a window without one at once: what is lost
    /// of such a window is at most this.
    const ASK_EVERY: Duration = Duration::from_millis(2);

    fn start(control: &Arc<Control>, tell: impl FnOnce(Nanos) + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (control, ended) = (Arc::clone(control), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let begin_ns = control.progress.window_begin_ns.load(Ordering::Relaxed);
                if let Some(begin) = Nanos::from_stored(begin_ns) {
                    tell(begin);
                    return;
                }
                std::thread::sleep(Self::ASK_EVERY);
            }
        });
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It only stores and sleeps: it cannot panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_teller_tells_once_and_ends_when_there_is_nothing_to_tell() {
        let control = Arc::new(Control::default());
        let held = Arc::new(());
        let (sent, told) = std::sync::mpsc::channel();
        let tell = |sent: std::sync::mpsc::Sender<Nanos>, held: Arc<()>| {
            move |begin| {
                drop(held);
                sent.send(begin).unwrap();
            }
        };
        // As after an error before the load: no window ever comes.
        drop(Teller::start(
            &control,
            tell(sent.clone(), Arc::clone(&held)),
        ));
        assert_eq!(Arc::strong_count(&held), 1, "the thread has ended");
        control.progress.window_begin_ns.store(7, Ordering::Relaxed);
        let teller = Teller::start(&control, tell(sent, Arc::clone(&held)));
        assert_eq!(told.recv().unwrap(), Nanos::new(7));
        drop(teller);
        assert!(told.recv().is_err(), "it was sent once");
    }
}
