//! Measuring: repeats of load under observation, streamed into a record.

mod pass;
mod profiling;
mod tracing;
mod window;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::facts::TargetFacts;
use slowpath_core::health::Health;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};
use slowpath_core::scenario::{COLD, Profiler};
use slowpath_core::timeline::Gap;
use slowpath_load::{Control, Keys, LoadError};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::host;
use slowpath_observe::host::{ClockReader, Examiner, HealthWatch};
use slowpath_record::{RecordError, RunWriter};

use crate::exit::{Exit, Problem};
use crate::precision::{Precision, Tally};
use crate::reset::reset;
use crate::session::{PROC, Session, Setting};
use crate::telemetry::Telemetry;
use crate::{interrupt, notes, out};
use window::{Recorder, Repeat, one_repeat};

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
    /// Whether the target's threads are traced: not where blocks are compared with each other.
    pub(crate) trace: bool,
    /// Who takes the samples of a profiling pass after the repeats; `None` for no pass.
    pub(crate) profile: Option<Profiler>,
}

impl<'a> Measurement<'a> {
    /// Begins to watch the host around a repeat, before its target is started: what a target does
    /// in the background is no noise of the host. The observer reads the clocks during it.
    fn watch_host(&self) -> HealthWatch<'a> {
        let load = &self.plan.scenario.load;
        let expected = Duration::from_nanos(load.warmup_ns + load.duration_ns);
        self.examiner.begin(expected, ClockReader::Observer)
    }
}

/// Something that acts on the target while a load runs, from its begin to its end.
pub(crate) trait Companion {
    /// The service that the target is to ask through a proxy, which can delay that.
    fn delays(&self) -> Option<String> {
        None
    }
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

/// Measures all repeats. When nothing could be measured only logs are left; whatever
/// goes wrong after the first repeat keeps what was measured, and the exit code reports it.
pub(crate) fn measure(wanted: &Measurement<'_>, companion: &mut dyn Companion) -> Result<Exit> {
    let logs = wanted.dir.join("logs");
    let telemetry = Telemetry::start(&wanted.plan.scenario, wanted.quiet)?;
    let delayed = companion.delays();
    let setting = Setting {
        delayed: delayed.as_deref(),
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
    let mut precision = announced(wanted);
    for repeat in 0..windows {
        let health = watch.take().unwrap_or_else(|| wanted.watch_host());
        let begin = || Session::begin(setting, wanted.guardian);
        let mut current = session.take().map_or_else(begin, Ok)?;
        manifest.target = current.facts.clone().since(&manifest.target);
        setting.telemetry.begin(wanted.plan.seed, repeat);
        let record = writer.handle();
        let cooled = cooled(wanted, setting, repeat, &current);
        let endpoints = wanted.plan.scenario.endpoints.len();
        let tally = precision
            .as_ref()
            .map(|_| Tally::new(endpoints))
            .transpose()?;
        let recorder = Recorder {
            record: &record,
            tally: tally.as_ref(),
            control: Arc::default(),
        };
        let measured = cooled.and_then(|()| {
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
        let last = stopped || measured.is_err() || repeat + 1 == windows;
        // A profiling pass begins as a repeat does.
        let to_profile = wanted.profile.is_some() && last && !stopped && measured.is_ok();
        if (last && !to_profile) || (load.fresh && passes_over) {
            current.end();
        } else {
            session = Some(current);
        }
        let mut measured = measured?;
        // A target that was ended has sent the rest.
        keep_aids(setting.telemetry, writer, &mut measured);
        let mut facts = measured.facts;
        let health = health.end();
        let precise = is_precise(wanted, precision.as_mut().zip(tally), &health);
        facts.health = Some(health);
        manifest.repeats.push(facts);
        // A kill from here on keeps the exact facts of what is finished.
        writer.update(manifest).map_err(not_recorded)?;
        if last || precise {
            break;
        }
    }
    if wanted.profile.is_some() && !interrupt::came(&wanted.stop) {
        setting.telemetry.begin(wanted.plan.seed, windows);
        pass::profile(wanted, setting, session, writer, companion);
    } else if let Some(left) = session {
        left.end();
    }
    Ok(())
}

/// The precision that is asked for, if any is, once it was said.
fn announced(wanted: &Measurement<'_>) -> Option<Precision> {
    let precision = Precision::of(&wanted.plan);
    if let (Some(precision), false) = (&precision, wanted.quiet) {
        out::say(&precision.announcement(&wanted.plan));
    }
    precision
}

/// Adds a repeat to what is known so far, and gives whether that is as precise as was asked for, if
/// anything was.
fn is_precise(
    wanted: &Measurement<'_>,
    known: Option<(&mut Precision, Tally)>,
    health: &Health,
) -> bool {
    let Some((far, tally)) = known else {
        return false;
    };
    far.add(tally, health);
    if !wanted.quiet {
        for line in far.lacking(&wanted.plan) {
            out::say(&line);
        }
    }
    far.is_reached()
}

/// Keeps what was traced in a repeat and what the target reported of it. What was measured is worth
/// having without either: what cannot be kept is a gap.
fn keep_aids(telemetry: &Telemetry, writer: &RunWriter, measured: &mut Repeat) {
    let Repeat {
        facts,
        trace,
        timings,
        profiles,
    } = measured;
    let missing = |signal: &str, what: &str, error: &RecordError| {
        let reason = format!(
            "{what} of repeat {} could not be kept: {error}",
            facts.repeat
        );
        out::say(&reason);
        writer.handle().gaps(vec![Gap {
            signal: signal.to_owned(),
            reason,
            remedy: "make room on the disk, or keep the run elsewhere (--out)".to_owned(),
        }]);
    };
    let traced = writer.trace(facts.repeat, trace);
    let (told, spans) = telemetry.keep(writer, facts.repeat);
    if let Err(error) = &spans {
        missing("spans", "the target's spans", error);
    }
    if let Err(error) = &traced {
        missing(tracing::SIGNAL, "the trace", error);
        facts.traced = None;
    }
    if let Err(error) = writer.timings(facts.repeat, timings) {
        missing("server-timing", "what the target said of its time", &error);
        facts.server_timing = None;
    }
    if let Err(error) = writer.profiles(facts.repeat, profiles) {
        missing(profiling::SIGNAL, "the target's profiles", &error);
        facts.profiles = None;
    }
    facts.telemetry = told;
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
