//! `slowpath run`: load a target, measure, and say why it is slow.

use std::path::{Path, PathBuf};

use anyhow::Result;
use slowpath_core::plan::Plan;
use slowpath_core::scenario::{Contradiction, Overrides, Profiler, Scenario};
use slowpath_observe::host::Examiner;
use slowpath_record::Store;
use slowpath_record::scenario::{Context, Mistake, parse, read_file};

use crate::cli::{ReachArgs, RunArgs};
use crate::command::{history, log};
use crate::exit::{Exit, Problem};
use crate::measure::{Alone, Measurement, measure};
use crate::present::Judged;
use crate::toggles::{self, Toggled};
use crate::{interrupt, notes, out, reach, session, store};

/// Measures, judges, prints.
pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let (judged, trouble) = measured(args)?;
    let said = log::after::write(&judged);
    let presented = judged.present(args.json.as_deref());
    if presented.is_ok() {
        history::tell(&judged);
    }
    said.tell();
    presented?;
    Ok(judged.exit(trouble, args.allow_errors))
}

/// Measures and judges; nothing is printed yet. The exit code is that of what kept it from
/// measuring all.
pub(crate) fn measured(args: &RunArgs) -> Result<(Judged, Exit)> {
    let (mut scenario, text) = scenario(args)?;
    let named = args.toggle.as_deref();
    let toggle = named
        .map(|name| toggles::find(&scenario, name).cloned())
        .transpose()?;
    if let Some(toggle) = &toggle {
        scenario = toggles::switched(&scenario, toggle);
    }
    let profile = profiler(args, &scenario)?;
    store::check_copy(args.json.as_deref())?;
    let stop = interrupt::flag()?;
    let guardian = session::guardian()?;
    let id = notes::new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let plan = Plan {
        scenario,
        seed: args.seed.unwrap_or_else(notes::entropy),
        release: args.release.clone(),
    };
    let wanted = Measurement {
        id,
        dir: &dir.path,
        plan,
        scenario_text: text,
        pid: args.pid,
        quiet: args.quiet,
        stop,
        guardian: &guardian,
        examiner: &Examiner::default(),
        trace: !args.no_trace,
        profile,
    };
    let trouble = match &toggle {
        None => measure(&wanted, &mut Alone),
        Some(toggle) => {
            let scenario = &wanted.plan.scenario;
            let stop = &wanted.stop;
            let mut on = Toggled::new(&guardian, scenario, toggle, true, &dir.path, stop);
            measure(&wanted, &mut on)
        }
    };
    let trouble = trouble.inspect_err(|_| dir.remove_if_empty())?;
    Ok((Judged::read(&dir.path)?, trouble))
}

/// Who takes the samples of a profiling pass, if one is asked for: the command line goes first.
fn profiler(args: &RunArgs, scenario: &Scenario) -> Result<Option<Profiler>, Problem> {
    let target = &scenario.target;
    if args.profile == Some(Profiler::Pprof) && target.pprof.is_none() {
        return Err(Problem::usage(
            "--profile=pprof: the scenario says not where the target serves its profiles",
            "add pprof = \"http://127.0.0.1:{port}\" to [target]",
        ));
    }
    Ok(args.profile.or(target.profile))
}

/// The scenario that the command line means, overrides applied, and its text if it is a file.
fn scenario(args: &RunArgs) -> Result<(Scenario, Option<String>), Problem> {
    let (mut scenario, text) = read_what(&args.what, &args.reach)?;
    let overrides = Overrides {
        connections: args.connections,
        users: args.users,
        rate_per_s: args.rate,
        duration_ns: args.duration,
        repeats: args.repeats,
        precision: args.precision,
        loops: args.loops,
        streams: args.streams,
    };
    let refused = |mistakes: Vec<Contradiction>| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Problem::usage(lines.join("\n"), "slowpath run --help")
    };
    scenario.load = scenario.load.overridden(&overrides).map_err(refused)?;
    let contradictions = scenario.contradictions();
    if !contradictions.is_empty() {
        return Err(refused(contradictions));
    }
    args.pid.map_or(Ok(()), session::check_pid)?;
    Ok((scenario, text))
}

/// The scenario of a file or a URL, reached as the command line says, and its text if it is a
/// file.
pub(crate) fn read_what(
    what: &str,
    reach: &ReachArgs,
) -> Result<(Scenario, Option<String>), Problem> {
    let (mut scenario, text) = if what.contains("://") {
        let scenario = Scenario::from_url(what).map_err(|error| {
            Problem::usage(format!("{what:?}: {error}"), "http://HOST:PORT/PATH")
        })?;
        (scenario, None)
    } else {
        let (scenario, text) = read_scenario(Path::new(what), parse)?;
        (scenario, Some(text))
    };
    reach::over(&mut scenario.target, reach)?;
    reach::check_terms(&scenario)?;
    Ok((scenario, text))
}

/// How the text of a scenario becomes one.
type Read = fn(&str, &Context<'_>) -> Result<Scenario, Vec<Mistake>>;

/// The scenario in a file, and the file's text.
pub(crate) fn read_scenario(path: &Path, read: Read) -> Result<(Scenario, String), Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::usage(
            format!("cannot read {}: {error}", path.display()),
            "give a scenario file, or a URL with http://",
        )
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let context = Context {
        file: &path.to_string_lossy(),
        base_dir: folder,
        load_file: &read_file,
    };
    let scenario = read(&text, &context).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let what = match lines.len() {
            1 => lines.join("\n"),
            n => format!("{n} mistakes in the scenario\n{}", lines.join("\n")),
        };
        Problem::usage(what, "")
    })?;
    Ok((scenario, text))
}

/// The run's directory, and whether it is ours to remove when nothing was measured.
pub(crate) struct Directory {
    path: PathBuf,
    /// Whether nothing lay there before.
    is_ours: bool,
}

impl Directory {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes back what an unsuccessful start has made: nothing was measured, so nothing is kept
    /// but the log of a target that did not get ready.
    pub(crate) fn remove_if_empty(&self) {
        if self.is_ours {
            remove_if_empty(&self.path);
        }
    }

    /// Takes all back that lies in it, if nothing lay there before.
    pub(crate) fn remove(&self) {
        if self.is_ours {
            // What cannot be removed is no run.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The same for any directory in which a target was started.
pub(crate) fn remove_if_empty(path: &Path) {
    let logs = path.join("logs");
    let said = std::fs::read_dir(&logs).is_ok_and(|mut entries| {
        entries.any(|e| e.is_ok_and(|e| e.metadata().is_ok_and(|m| m.len() > 0)))
    });
    if !said {
        let _ = std::fs::remove_dir_all(&logs);
        let _ = std::fs::remove_dir(path);
    }
}

/// What a directory holds that is a run, a benchmark, a sweep or a comparison already: each is
/// written once.
const RECORDS: [&str; 4] = ["manifest.json", "bench.json", "sweep.json", "ab.json"];

pub(crate) fn directory(wanted: Option<&Path>, id: &str) -> Result<Directory, Problem> {
    let Some(path) = wanted else {
        let path = Store::new(store::RUNS).create_dir(id).map_err(|error| {
            Problem::environment(
                error,
                "run where .slowpath can be written, or give --out DIR",
            )
        })?;
        let is_ours = true;
        return Ok(Directory { path, is_ours });
    };
    if RECORDS.iter().any(|record| path.join(record).exists()) {
        let what = format!("{} already holds a run", path.display());
        return Err(Problem::usage(what, "give --out a new directory"));
    }
    let cannot = |what: &str, error: std::io::Error| {
        Problem::environment(
            format!("cannot {what} {}: {error}", path.display()),
            "give --out a directory that can be written",
        )
    };
    std::fs::create_dir_all(path).map_err(|error| cannot("create", error))?;
    tempfile::tempfile_in(path).map_err(|error| cannot("write in", error))?;
    let mut entries = std::fs::read_dir(path).map_err(|error| cannot("read", error))?;
    let path = path.to_owned();
    let is_ours = entries.next().is_none();
    if !is_ours {
        out::say(&format!(
            "{} is not empty; the run's files go beside what is there",
            path.display()
        ));
    }
    Ok(Directory { path, is_ours })
}
