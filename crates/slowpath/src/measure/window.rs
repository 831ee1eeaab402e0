//! One measured window: load, under observation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::Nanos;
use slowpath_core::facts::RepeatFacts;
use slowpath_core::plan::Plan;
use slowpath_core::profiles::Profiles;
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_core::server_timing::ServerTimings;
use slowpath_core::timeline::{Mark, MarkKind};
use slowpath_core::trace::Trace;
use slowpath_load::{Control, Drive, Drove, Keys, Sink};
use slowpath_observe::{Observer, Watch, clock};
use slowpath_record::Handle;

use super::profiling::Profiling;
use super::tracing::Tracing;
use super::{Companion, Measurement, not_driven};
use crate::precision::Tally;
use crate::progress::LiveLine;
use crate::reach;
use crate::session::{PROC, Session};

/// What a window leaves beside what went to the recorder during it.
pub(super) struct Repeat {
    pub(super) facts: RepeatFacts,
    pub(super) trace: Trace,
    /// What the target said of its requests.
    pub(super) timings: ServerTimings,
    /// What its runtime reported of its code.
    pub(super) profiles: Profiles,
}

/// Measures a window; what is measured goes to the recorder.
pub(super) fn one_repeat(
    wanted: &Measurement<'_>,
    repeat: u16,
    session: &mut Session,
    recorder: &Recorder<'_>,
    keys: &mut Keys,
    companion: &mut dyn Companion,
) -> Result<Repeat> {
    let record = recorder.record;
    let control = Arc::clone(&recorder.control);
    let mark = |kind, text: String| {
        record.mark(Mark {
            at: clock::now(),
            kind,
            repeat,
            text,
        });
    };
    mark(MarkKind::TargetReady, session.facts.url.clone());
    let observer = observe(session, &control, record);
    let tracing = Tracing::start(wanted, repeat, session, &control);
    let profiling = Profiling::start(wanted, repeat, session, &control)?;
    let relay = Relay::start(&wanted.stop, &control);
    companion.accompany(session, &control)?;
    let load = &wanted.plan.scenario.load;
    let pass = wanted.plan.pass_name(repeat);
    let length = Duration::from_nanos(load.warmup_ns + load.duration_ns);
    let title = title(&wanted.plan, repeat);
    let line = LiveLine::follow(&control, title, length, wanted.quiet)?;
    mark(MarkKind::LoadBegan, String::new());
    let drive = Drive {
        plan: &wanted.plan,
        repeat,
        route: session.route.clone(),
        places: session.places.clone(),
        host_header: session.host_header.clone(),
        // A cold pass must not be warmed, and every other begins as it does.
        silent_warmup: pass.is_some(),
    };
    let (waits, dropped) = (record.waits(), record.stream_events_dropped());
    let drove = slowpath_load::drive(&drive, &control, keys, &line.beside(recorder));
    drop((line, relay));
    let left = companion.leave();
    record.keys(keys.names());
    record.gaps(observer.stop());
    let (profiles, profiled) = profiling.stop(wanted.quiet, record);
    let traced = tracing.stop();
    record.gaps(traced.gaps);
    record.readings(traced.cost);
    let drove = drove.map_err(not_driven)?;
    left?;
    understood(&control, session)?;
    marks_of(&drove, record, repeat);
    if let Some(how) = session.died() {
        mark(MarkKind::TargetDied, how);
    }
    if wanted.stop.load(Ordering::Relaxed) {
        mark(MarkKind::Interrupted, String::new());
    }
    let facts = RepeatFacts {
        spool_waits: record.waits() - waits,
        stream_events_dropped: record.stream_events_dropped() - dropped,
        target_pids: pids(session),
        port: Some(session.port),
        pass: pass.map(str::to_owned),
        traced: traced.trace.depth(),
        profiles: profiled,
        ..driven(&drove, repeat)
    };
    Ok(Repeat {
        facts,
        trace: traced.trace,
        timings: drove.timings.timings,
        profiles,
    })
}

/// What the load itself reports of a window.
fn driven(drove: &Drove, repeat: u16) -> RepeatFacts {
    let noted = drove.timings.facts;
    RepeatFacts {
        endpoints: drove.endpoints.clone(),
        connections_opened: drove.connections_opened,
        fastest_dial_ns: drove.fastest_dial_ns,
        connections_stale: drove.connections_stale,
        tls_full: drove.tls_full,
        tls_resumed: drove.tls_resumed,
        reasons: drove.reasons.clone(),
        cut_short: drove.cut_short.clone(),
        server_timing: (noted.answers > 0).then_some(noted),
        ..RepeatFacts::new(repeat, drove.window, drove.load)
    }
}

/// The processes of the target that can be seen.
fn pids(session: &Session) -> Vec<u32> {
    let watched = session.watched.as_ref();
    watched.map(|w| w.pids.clone()).unwrap_or_default()
}

/// Fails if every request did because the target speaks TLS, and was not spoken to in it.
fn understood(control: &Control, session: &Session) -> Result<()> {
    let done = control.progress.done.load(Ordering::Relaxed);
    if done == 0 || control.progress.errors.load(Ordering::Relaxed) < done {
        return Ok(());
    }
    let problem = reach::explain_nothing(&session.route, &session.facts.url);
    problem.map_or(Ok(()), |problem| Err(problem.into()))
}

/// What a window is called while it is measured.
fn title(plan: &Plan, window: u16) -> String {
    let (number, of) = (window / plan.passes() + 1, plan.scenario.load.repeats);
    match plan.pass_name(window) {
        Some(pass) => format!("repeat {number} of {of}, {pass}"),
        None => format!("repeat {number} of {of}"),
    }
}

/// Puts what a load measures into the record.
#[derive(Debug)]
pub(super) struct Recorder<'a> {
    pub(super) record: &'a Handle,
    /// What decides whether there is another repeat.
    pub(super) tally: Option<&'a Tally>,
    pub(super) control: Arc<Control>,
}

impl Sink for Recorder<'_> {
    fn samples(&self, samples: &[Sample]) {
        self.record.samples(samples);
        if let Some(tally) = self.tally {
            let begin_ns = &self.control.progress.window_begin_ns;
            tally.add(samples, Nanos::new(begin_ns.load(Ordering::Relaxed)));
        }
    }

    fn stream_events(&self, events: &[StreamEvent]) {
        self.record.stream_events(events);
    }
}

fn observe(session: &Session, control: &Arc<Control>, record: &Handle) -> Observer {
    let control = Arc::clone(control);
    let watch = Watch {
        proc_root: PROC.into(),
        sys_root: "/sys".into(),
        target: session.watched.clone(),
        loop_tids: Arc::new(move || control.loop_tids()),
    };
    let record = record.clone();
    Observer::start(watch, Box::new(move |readings| record.readings(readings)))
}

fn marks_of(drove: &Drove, record: &Handle, repeat: u16) {
    let mark = |at, kind| {
        record.mark(Mark {
            at,
            kind,
            repeat,
            text: String::new(),
        });
    };
    mark(drove.window.begin, MarkKind::WindowBegan);
    mark(drove.window.end, MarkKind::WindowEnded);
    mark(drove.load.end, MarkKind::LoadEnded);
}

/// Passes an interrupt on to a load.
#[derive(Debug)]
struct Relay {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Twenty times a second is at once for a person and nothing for a CPU.
    const EVERY: Duration = Duration::from_millis(50);

    fn start(stop: &Arc<AtomicBool>, control: &Arc<Control>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (stop, control, flag) = (Arc::clone(stop), Arc::clone(control), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    control.stop.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Self::EVERY);
            }
        });
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
