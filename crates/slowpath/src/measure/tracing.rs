//! Tracing beside a load: begun when the target is ready, ended while it still runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::timeline::Gap;
use slowpath_load::Control;
use slowpath_observe::trace::{TraceWatch, Traced, Tracer};

use super::Measurement;
use crate::session::{PROC, Session};

/// Events that a run keeps at most, over all its repeats: 160 MB while it is judged, and some
/// 400,000 requests of a server that takes ten events each.
const MOST_EVENTS: u64 = 4_000_000;

/// The signal whose gap says why there is no trace.
const SIGNAL: &str = "trace.kernel";

/// A tracer that is told when the measured window is, as soon as the load knows it.
#[derive(Debug)]
pub(super) struct Tracing {
    tracer: Option<Arc<Tracer>>,
    why_not: Option<Gap>,
    over: Arc<AtomicBool>,
    teller: Option<JoinHandle<()>>,
}

impl Tracing {
    /// The warm-up is known as soon as the load begins, a window without one at once: what is lost
    /// of such a window is at most this.
    const ASK_EVERY: Duration = Duration::from_millis(2);

    /// Begins to trace a repeat of what is measured, if that is wanted and there is something to see.
    pub(super) fn start(
        wanted: &Measurement<'_>,
        repeat: u16,
        session: &mut Session,
        control: &Arc<Control>,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let without = |reason: &str, remedy: &str| Self {
            tracer: None,
            why_not: Some(Gap {
                signal: SIGNAL.to_owned(),
                reason: reason.to_owned(),
                remedy: remedy.to_owned(),
            }),
            over: Arc::default(),
            teller: None,
        };
        if !wanted.trace {
            return without("it was not asked for", "measure without --no-trace");
        }
        let peers = session.service_pids();
        let Some(watched) = &session.watched else {
            return without(
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
        }));
        let (told, control, ended) = (Arc::clone(&tracer), Arc::clone(control), Arc::clone(&over));
        let duration_ns = load.duration_ns;
        let teller = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let begin_ns = control.progress.window_begin_ns.load(Ordering::Relaxed);
                if let Some(begin) = Nanos::from_stored(begin_ns) {
                    told.window(Span::new(begin, begin.plus(duration_ns)));
                    return;
                }
                std::thread::sleep(Self::ASK_EVERY);
            }
        });
        Self {
            tracer: Some(tracer),
            why_not: None,
            over,
            teller: Some(teller),
        }
    }

    /// Ends the tracing and gives what was traced, what could not be, and what it cost.
    pub(super) fn stop(mut self) -> Traced {
        self.over.store(true, Ordering::Relaxed);
        if let Some(teller) = self.teller.take() {
            // It only stores and sleeps: it cannot panic.
            let _ = teller.join();
        }
        let tracer = self.tracer.take().and_then(Arc::into_inner);
        let mut traced = tracer.map(Tracer::stop).unwrap_or_default();
        traced.gaps.extend(self.why_not.take());
        traced
    }
}
