//! Measuring: repeats of load under observation, streamed into a record.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::facts::{RepeatFacts, TargetFacts};
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};
use slowpath_core::timeline::{Mark, MarkKind};
use slowpath_load::{Control, Drive, Drove, Keys, LoadError};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::{Observer, Watch, clock, host};
use slowpath_record::{Handle, RecordError, RunWriter};

use crate::exit::Problem;
use crate::notes;
use crate::progress::Bar;
use crate::session::{PROC, Session, Setting};

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

/// Measures all repeats. A target that cannot be started in the first repeat leaves nothing
/// behind; whatever goes wrong later keeps what was measured.
pub(crate) fn measure(wanted: &Measurement<'_>, companion: &mut dyn Companion) -> Result<()> {
    let logs = wanted.dir.join("logs");
    let setting = Setting {
        scenario: &wanted.plan.scenario,
        pid: wanted.pid,
        logs: &logs,
        stop: &wanted.stop,
    };
    let mut session = Some(Session::begin(&setting, wanted.guardian)?);
    let mut manifest = first_manifest(wanted);
    if let Some(session) = &session {
        manifest.target = session.facts.clone();
    }
    let writer = RunWriter::create(wanted.dir, &manifest).map_err(not_recorded)?;
    let mut keys = Keys::new();
    let repeats = wanted.plan.scenario.load.repeats as u16;
    let mut trouble = None;
    for repeat in 0..repeats {
        let current = match session.take() {
            Some(session) => Ok(session),
            None => Session::begin(&setting, wanted.guardian),
        };
        let mut current = match current {
            Ok(current) => current,
            Err(error) => {
                trouble = Some(error);
                break;
            }
        };
        manifest.target = current.facts.clone();
        let facts = one_repeat(
            wanted,
            repeat,
            &mut current,
            &writer.handle(),
            &mut keys,
            companion,
        );
        let fresh = wanted.plan.scenario.load.fresh || repeat + 1 == repeats;
        if fresh || wanted.stop.load(Ordering::Relaxed) {
            current.end();
        } else {
            session = Some(current);
        }
        match facts {
            Ok(facts) => {
                manifest.repeats.push(facts);
                // A kill from here on keeps the exact facts of what is finished.
                writer.update(&manifest).map_err(not_recorded)?;
            }
            Err(error) => trouble = Some(error),
        }
        if trouble.is_some() || wanted.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if let Some(session) = session {
        session.end();
    }
    manifest.interrupted = wanted.stop.load(Ordering::Relaxed);
    let measured = !manifest.repeats.is_empty();
    writer.finish(&manifest).map_err(not_recorded)?;
    match trouble {
        Some(error) if !measured => Err(error),
        Some(error) => {
            crate::out::say(&format!(
                "stopped after {} repeats: {error}",
                manifest.repeats.len()
            ));
            Ok(())
        }
        None => Ok(()),
    }
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
        LoadError::NotCarriedOut(_) | LoadError::Expectation { .. } | LoadError::Header { .. } => {
            Problem::usage(error, "correct the scenario")
        }
    }
}

fn first_manifest(wanted: &Measurement<'_>) -> Manifest {
    Manifest {
        format: MANIFEST_FORMAT,
        id: wanted.id.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: notes::now_utc(),
        plan: wanted.plan.clone(),
        scenario_text: wanted.scenario_text.clone(),
        host: host::facts(Path::new(PROC), Path::new("/sys")),
        git: notes::git(),
        target: TargetFacts::default(),
        repeats: Vec::new(),
        interrupted: false,
        recovered: false,
    }
}

fn one_repeat(
    wanted: &Measurement<'_>,
    repeat: u16,
    session: &mut Session,
    record: &Handle,
    keys: &mut Keys,
    companion: &mut dyn Companion,
) -> Result<RepeatFacts> {
    let control = Arc::new(Control::default());
    let mark = |kind, text: String| {
        record.mark(Mark {
            at: clock::now(),
            kind,
            repeat,
            text,
        })
    };
    mark(MarkKind::TargetReady, session.facts.url.clone());
    let observer = observe(session, &control, record);
    let relay = Relay::start(&wanted.stop, &control);
    companion.accompany(session, &control)?;
    let load = &wanted.plan.scenario.load;
    let title = format!("repeat {} of {}", repeat + 1, load.repeats);
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
        addresses: &session.addresses,
        places: session.places.clone(),
        host_header: session.host_header.clone(),
    };
    let waits = record.waits();
    let drove = slowpath_load::drive(&drive, &control, keys, &mut |samples| {
        record.samples(samples)
    });
    drop((bar, relay));
    let left = companion.leave();
    record.keys(keys.names());
    record.gaps(observer.stop());
    let drove = drove.map_err(not_driven)?;
    left?;
    marks_of(&drove, record, repeat);
    if let Some(how) = session.died() {
        mark(MarkKind::TargetDied, how);
    }
    if wanted.stop.load(Ordering::Relaxed) {
        mark(MarkKind::Interrupted, String::new());
    }
    let target_pids = session
        .watched
        .as_ref()
        .map(|w| w.pids.clone())
        .unwrap_or_default();
    Ok(RepeatFacts {
        repeat,
        window: drove.window,
        load: drove.load,
        endpoints: drove.endpoints,
        connections_opened: drove.connections_opened,
        fastest_dial_ns: drove.fastest_dial_ns,
        connections_stale: drove.connections_stale,
        spool_waits: record.waits() - waits,
        target_pids,
        cut_short: drove.cut_short,
    })
}

fn observe(session: &Session, control: &Arc<Control>, record: &Handle) -> Observer {
    let control = Arc::clone(control);
    let watch = Watch {
        proc_root: PROC.into(),
        sys_root: "/sys".into(),
        target: session.watched.clone(),
        control_tid: Arc::new(move || control.loop_tid.load(Ordering::Relaxed)),
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
        })
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
