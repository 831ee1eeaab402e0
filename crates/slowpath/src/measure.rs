//! Measuring: repeats of load under observation, streamed into a record.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::Nanos;
use slowpath_core::facts::{RepeatFacts, TargetFacts};
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_core::scenario::COLD;
use slowpath_core::timeline::{Mark, MarkKind};
use slowpath_load::{Control, Drive, Drove, Keys, LoadError, Sink};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::host::{ClockReader, Examiner, HealthWatch};
use slowpath_observe::{Observer, Watch, clock, host};
use slowpath_record::{Handle, RecordError, RunWriter};

use crate::exit::{Exit, Problem};
use crate::precision::{Precision, Tally};
use crate::progress::Bar;
use crate::reset::reset;
use crate::session::{PROC, Session, Setting};
use crate::telemetry::Telemetry;
use crate::{interrupt, notes, out, reach};

/// One measurement, from nothing to a finished record.
#[derive(Debug)]
pub(crate) struct Measurement<'a> {
    /// The record's ULID.
    pub(crate) id: String,
    pub(crate) dir: &'a Path,
    pub(crate) plan: Plan,
    pub(crate) scenario_text: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) quiet: bool,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) guardian: &'a Guardian,
    /// Listens to the host around repeats; one for all measurements of a session.
    pub(crate) examiner: &'a Examiner,
}

impl<'a> Measurement<'a> {
    /// Begins to watch the host around a repeat, before its target is started: what a target does
    /// in the background is no noise of the host. The observer reads the clocks meanwhile.
    fn watch_host(&self) -> HealthWatch<'a> {
        let load = &self.plan.scenario.load;
        let expected = Duration::from_nanos(load.warmup_ns + load.duration_ns);
        self.examiner.begin(expected, ClockReader::Observer)
    }
}

/// Something that acts on the target while a load runs, from its begin to its end.
pub(crate) trait Companion {
    /// Called when the target is ready, before the load; runs beside it.
    fn accompany(&mut self, session: &Session, control: &Arc<Control>) -> Result<()>;
    /// Called when the load is over, while the target still runs.
    fn leave(&mut self) -> Result<()>;
}

/// A measurement without company.
#[derive(Debug)]
pub(crate) struct Alone;

impl Companion for Alone {
    fn accompany(&mut self, _: &Session, _: &Arc<Control>) -> Result<()> {
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Measures all repeats. When nothing could be measured nothing is left behind but logs; whatever
/// goes wrong after the first repeat keeps what was measured, and the exit code tells of it.
pub(crate) fn measure(wanted: &Measurement<'_>, companion: &mut dyn Companion) -> Result<Exit> {
    let logs = wanted.dir.join("logs");
    let telemetry = Telemetry::start(&wanted.plan.scenario, wanted.quiet)?;
    let setting = Setting {
        scenario: &wanted.plan.scenario,
        pid: wanted.pid,
        logs: &logs,
        stop: &wanted.stop,
        telemetry: &telemetry,
    };
    let watch = wanted.watch_host();
    let session = Session::begin(&setting, wanted.guardian)?;
    let mut manifest = first_manifest(wanted, &session.facts);
    let writer = RunWriter::create(wanted.dir, &manifest).map_err(not_recorded)?;
    let first = (watch, session);
    let done = repeats(wanted, &setting, first, &writer, &mut manifest, companion);
    manifest.interrupted = interrupt::came(&wanted.stop);
    let exit = match done {
        Ok(()) => Exit::Done,
        Err(error) if manifest.repeats.is_empty() => {
            // The error that is returned says more than one of taking back.
            let _ = writer.discard();
            return Err(error);
        }
        Err(_) if manifest.interrupted => Exit::Interrupted,
        Err(error) => {
            let (got, all) = (manifest.repeats.len(), windows(&wanted.plan));
            let what = if wanted.plan.passes() > 1 {
                "passes"
            } else {
                "repeats"
            };
            let stopped = format!("stopped after {got} of {all} {what}");
            out::say(&format!("{stopped}: {error}"));
            let text = error.to_string();
            // Below its first line an error quotes logs and says what to try.
            let first = text.lines().next().unwrap_or_default();
            let first = first.trim_end_matches(':');
            manifest.trouble = format!("{stopped} ({first})");
            Exit::of(&error)
        }
    };
    writer.finish(&manifest).map_err(not_recorded)?;
    Ok(exit)
}

/// The repeats, the first of them in a session that has begun. The manifest has the facts of all
/// that were measured, also when this fails.
fn repeats(
    wanted: &Measurement<'_>,
    setting: &Setting<'_>,
    first: (HealthWatch<'_>, Session),
    writer: &RunWriter,
    manifest: &mut Manifest,
    companion: &mut dyn Companion,
) -> Result<()> {
    let load = &wanted.plan.scenario.load;
    let mut keys = Keys::new();
    let (mut watch, mut session) = (Some(first.0), Some(first.1));
    // Every pass of every repeat is a window of its own, numbered through.
    let windows = windows(&wanted.plan);
    let mut precision = Precision::of(&wanted.plan);
    if let (Some(precision), false) = (&precision, wanted.quiet) {
        out::say(&precision.announcement(&wanted.plan));
    }
    for repeat in 0..windows {
        let health = watch.take().unwrap_or_else(|| wanted.watch_host());
        let mut current = match session.take() {
            Some(session) => session,
            None => Session::begin(setting, wanted.guardian)?,
        };
        manifest.target = current.facts.clone();
        setting.telemetry.begin(wanted.plan.seed, repeat);
        let record = writer.handle();
        let cooled = cooled(wanted, setting, repeat, &current);
        let endpoints = wanted.plan.scenario.endpoints.len();
        let tally = precision.as_ref().map(|_| Tally::new(endpoints));
        let tally = tally.transpose()?;
        let recorder = Recorder {
            record: &record,
            tally: tally.as_ref(),
            control: Arc::default(),
        };
        let facts = cooled.and_then(|()| {
            one_repeat(
                wanted,
                repeat,
                &mut current,
                &recorder,
                &mut keys,
                companion,
            )
        });
        setting.telemetry.settle(&wanted.stop);
        let stopped = interrupt::came(&wanted.stop);
        let passes_over = (repeat + 1) % wanted.plan.passes() == 0;
        let last = stopped || facts.is_err() || repeat + 1 == windows;
        if last || (load.fresh && passes_over) {
            current.end();
        } else {
            session = Some(current);
        }
        let mut facts = facts?;
        // A target that was ended has sent the rest.
        let told = setting.telemetry.keep(writer, repeat);
        facts.telemetry = told.map_err(not_recorded)?;
        let health = health.end();
        let precise = precision.as_mut().zip(tally).is_some_and(|(far, tally)| {
            far.add(tally, &health);
            if !wanted.quiet {
                far.lacking(&wanted.plan)
                    .iter()
                    .for_each(|line| out::say(line));
            }
            far.is_reached()
        });
        facts.health = Some(health);
        manifest.repeats.push(facts);
        // A kill from here on keeps the exact facts of what is finished.
        writer.update(manifest).map_err(not_recorded)?;
        if last || precise {
            break;
        }
    }
    if let Some(left) = session {
        left.end();
    }
    Ok(())
}

/// Measured windows of a plan.
fn windows(plan: &Plan) -> u16 {
    let windows = plan.scenario.load.repeats * u32::from(plan.passes());
    windows.min(u32::from(u16::MAX)) as u16
}

/// Does the reset steps before a window that is a cold pass.
fn cooled(
    wanted: &Measurement<'_>,
    setting: &Setting<'_>,
    repeat: u16,
    session: &Session,
) -> Result<()> {
    if wanted.plan.pass_name(repeat) == Some(COLD) {
        reset(session, setting, wanted.guardian)?;
    }
    Ok(())
}

fn not_recorded(error: RecordError) -> Problem {
    Problem::environment(
        error,
        "make room on the disk; slowpath explain reads what was kept",
    )
}

fn not_driven(error: LoadError) -> Problem {
    match error {
        LoadError::NoAddress | LoadError::Resolve { .. } => {
            Problem::unreachable(error, "check the host name in the URL")
        }
        LoadError::EventLoop(_) => {
            Problem::environment(error, "raise the limit of open files (ulimit -n)")
        }
        LoadError::BodyFile { .. }
        | LoadError::Expectation { .. }
        | LoadError::Extraction { .. }
        | LoadError::Header { .. }
        | LoadError::Http2 { .. } => Problem::usage(error, "correct the scenario"),
    }
}

fn first_manifest(wanted: &Measurement<'_>, target: &TargetFacts) -> Manifest {
    Manifest {
        format: MANIFEST_FORMAT,
        id: wanted.id.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: notes::now_utc(),
        plan: wanted.plan.clone(),
        scenario_text: wanted.scenario_text.clone(),
        host: host::facts(Path::new(PROC), Path::new("/sys")),
        git: notes::git(),
        target: target.clone(),
        repeats: Vec::new(),
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

fn one_repeat(
    wanted: &Measurement<'_>,
    repeat: u16,
    session: &mut Session,
    recorder: &Recorder<'_>,
    keys: &mut Keys,
    companion: &mut dyn Companion,
) -> Result<RepeatFacts> {
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
    let relay = Relay::start(&wanted.stop, &control);
    companion.accompany(session, &control)?;
    let load = &wanted.plan.scenario.load;
    let pass = wanted.plan.pass_name(repeat);
    let title = title(&wanted.plan, repeat);
    let bar = Bar::follow(
        &control,
        title,
        Duration::from_nanos(load.warmup_ns + load.duration_ns),
        wanted.quiet,
    );
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
    let waits = record.waits();
    let dropped = record.stream_events_dropped();
    let drove = slowpath_load::drive(&drive, &control, keys, recorder);
    drop((bar, relay));
    let left = companion.leave();
    record.keys(keys.names());
    record.gaps(observer.stop());
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
    Ok(RepeatFacts {
        endpoints: drove.endpoints,
        connections_opened: drove.connections_opened,
        fastest_dial_ns: drove.fastest_dial_ns,
        connections_stale: drove.connections_stale,
        tls_full: drove.tls_full,
        tls_resumed: drove.tls_resumed,
        reasons: drove.reasons,
        spool_waits: record.waits() - waits,
        stream_events_dropped: record.stream_events_dropped() - dropped,
        target_pids: pids(session),
        cut_short: drove.cut_short,
        pass: pass.map(str::to_owned),
        ..RepeatFacts::new(repeat, drove.window, drove.load)
    })
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
struct Recorder<'a> {
    record: &'a Handle,
    /// What decides whether there is another repeat.
    tally: Option<&'a Tally>,
    control: Arc<Control>,
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
