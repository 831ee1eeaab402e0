//! `slowpath sweep`: one workload at many levels, in random order, and what its course says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use slowpath_core::plan::Plan as RunPlan;
use slowpath_core::scenario::{Overrides, Scenario};
use slowpath_diagnose::diagnosis::Status;
use slowpath_experiment::sweep::{
    Cell, ErrorRate, Grid, Plan, SCHEMA, Sweep, Told, Window, analyse, refine,
};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::host::Examiner;

use crate::cli::SweepArgs;
use crate::command::run::{directory, read_what};
use crate::exit::{Exit, Problem};
use crate::measure::{Alone, Measurement, measure};
use crate::present::Judged;
use crate::{interrupt, notes, out, session, store};

pub(crate) mod again;
mod vary;

/// Load before each window: connections are made and caches are warm within half a second, and a
/// ramp that lasts longer is seen and reported.
const WARMUP_NS: u64 = 500_000_000;
/// A window: ten batches of 200 ms, and 368 requests for a p99 from 184 a second on.
const WINDOW_NS: u64 = 2_000_000_000;
/// Windows of each level: the fewest whose spread means anything.
const REPEATS: u32 = 3;
/// One further level for so many of the grid, …
const LEVELS_PER_REFINEMENT: usize = 3;
/// … but at least this many: a threshold between two levels that double is then known to a fifth.
const REFINEMENTS_FEWEST: u32 = 2;
/// What starting, reading and judging a window takes, until it is known: seconds.
const OVERHEAD_S: f64 = 0.7;
/// So many windows in a row that cannot be measured end the sweep: the target is gone.
const TROUBLES_MOST: usize = 3;

/// Measures, analyses, prints.
pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit> {
    let (scenario, text) = read_what(&args.what, &args.reach)?;
    let grid = grid(args)?;
    vary::check(&scenario, &grid)?;
    let scenario = with_overrides(scenario, args)?;
    // Every level must make a valid load before the first is measured.
    for &level in &grid.levels {
        vary::at_level(&scenario, grid.dimension, level)?;
    }
    args.pid.map_or(Ok(()), session::check_pid)?;
    store::check_copy(args.json.as_deref())?;
    let stop = interrupt::flag()?;
    let guardian = session::guardian()?;
    let id = notes::new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let plan = plan(args, &scenario, grid);
    if !args.quiet {
        out::say(&announcement(&plan));
    }
    let mut sweeper = Sweeper {
        sweep: blank(id, &scenario, plan),
        dir: dir.path().to_owned(),
        scenario,
        text,
        args,
        stop,
        guardian: &guardian,
        examiner: Examiner::default(),
        began: Instant::now(),
        troubles_in_a_row: 0,
    };
    let done = sweeper.all();
    if sweeper.sweep.windows.is_empty() {
        dir.remove_if_empty();
        return match done {
            Err(error) => Err(error),
            Ok(()) => Err(Problem::interrupted().into()),
        };
    }
    sweeper.finish(done.err())
}

fn grid(args: &SweepArgs) -> Result<Grid, Problem> {
    Grid::parse(&args.over, args.steps).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let remedy = "--over connections=1..2560, rate=100/s..5000/s..+500, size=1KiB,64KiB";
        Problem::usage(format!("--over: {}", lines.join("; ")), remedy)
    })
}

/// What the command line says about the load beside the levels.
fn with_overrides(mut scenario: Scenario, args: &SweepArgs) -> Result<Scenario, Problem> {
    let by = Overrides {
        connections: args.connections,
        rate_per_s: args.rate,
        loops: args.loops,
        duration_ns: Some(args.duration.unwrap_or(WINDOW_NS)),
        repeats: Some(1),
        ..Overrides::default()
    };
    scenario.load = vary::overridden(&scenario, &by)?;
    scenario.load.warmup_ns = args.warmup.unwrap_or(WARMUP_NS);
    // A level is measured warm: what a cold pass finds out is no matter of the level.
    scenario.load.passes.clear();
    scenario.load.precision = None;
    Ok(scenario)
}

fn plan(args: &SweepArgs, scenario: &Scenario, grid: Grid) -> Plan {
    let by_size = (grid.levels.len() / LEVELS_PER_REFINEMENT) as u32;
    Plan {
        repeats: args.repeats.unwrap_or(REPEATS),
        window_ns: scenario.load.duration_ns,
        warmup_ns: scenario.load.warmup_ns,
        refinements: args.refine.unwrap_or(by_size.max(REFINEMENTS_FEWEST)),
        seed: args.seed.unwrap_or_else(notes::entropy),
        grid,
    }
}

fn announcement(plan: &Plan) -> String {
    let (levels, windows) = (plan.grid.levels.len(), plan.windows_most());
    let each = window_s(plan) + OVERHEAD_S;
    format!(
        "{levels} levels of {} x {} windows of {:.3?}, then up to {} more levels where it changes \
         most: at most {windows} windows, about {} (seed {})",
        plan.grid.dimension.name(),
        plan.repeats,
        Duration::from_nanos(plan.window_ns),
        plan.refinements,
        human(f64::from(windows) * each),
        plan.seed,
    )
}

fn window_s(plan: &Plan) -> f64 {
    (plan.window_ns + plan.warmup_ns) as f64 / 1e9
}

fn human(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=119 => format!("{whole} s"),
        _ => format!("{} min", whole.div_ceil(60)),
    }
}

fn blank(id: String, scenario: &Scenario, plan: Plan) -> Sweep {
    Sweep {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        id,
        name: scenario.name.clone(),
        target: String::new(),
        cpus: 0,
        began: notes::now_utc(),
        analysis: analyse(plan.grid.dimension, &[], plan.seed),
        plan,
        refinements: Vec::new(),
        windows: Vec::new(),
        troubles: Vec::new(),
        interrupted: false,
    }
}

/// A sweep under way.
struct Sweeper<'a> {
    sweep: Sweep,
    dir: PathBuf,
    scenario: Scenario,
    text: Option<String>,
    args: &'a SweepArgs,
    stop: Arc<AtomicBool>,
    guardian: &'a Guardian,
    examiner: Examiner,
    began: Instant,
    troubles_in_a_row: usize,
}

impl Sweeper<'_> {
    /// The grid, then the levels worth adding, until all is done, the user interrupts, or the
    /// target is gone.
    fn all(&mut self) -> Result<()> {
        for cell in self.sweep.plan.cells() {
            if !self.cell(cell)? {
                return Ok(());
            }
        }
        let dimension = self.sweep.plan.grid.dimension;
        while (self.sweep.refinements.len() as u32) < self.sweep.plan.refinements {
            let next = refine(dimension, &self.sweep.windows, &self.sweep.refinements);
            let Some(next) = next else { break };
            let cells = self.sweep.plan.cells_of(next.level);
            self.sweep.refinements.push(next);
            for cell in cells {
                if !self.cell(cell)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Measures one window. Whether to go on; an error if nothing at all could be measured.
    fn cell(&mut self, cell: Cell) -> Result<bool> {
        if interrupt::came(&self.stop) {
            self.sweep.interrupted = true;
            return Ok(false);
        }
        match self.window(cell) {
            Ok(window) => {
                self.troubles_in_a_row = 0;
                self.tell(&window);
                self.sweep.windows.push(window);
            }
            Err(_) if interrupt::came(&self.stop) => {
                self.sweep.interrupted = true;
                return Ok(false);
            }
            Err(error) if self.sweep.windows.is_empty() => return Err(error),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                let told = format!("level {}: {first}", cell.level);
                out::say(&told);
                self.sweep.troubles.push(told);
                self.troubles_in_a_row += 1;
                if self.troubles_in_a_row == TROUBLES_MOST {
                    return Err(error);
                }
            }
        }
        self.save()?;
        Ok(true)
    }

    /// Measures and judges one window, whose record is a run of its own.
    fn window(&mut self, cell: Cell) -> Result<Window> {
        let dimension = self.sweep.plan.grid.dimension;
        let order = self.sweep.windows.len() + self.sweep.troubles.len() + 1;
        let name = format!(
            "windows/{order:03}-{}-{}-r{}",
            dimension.name(),
            cell.level,
            cell.repeat + 1
        );
        let dir = self.dir.join(&name);
        std::fs::create_dir_all(&dir).map_err(|error| {
            Problem::environment(
                format!("cannot create {}: {error}", dir.display()),
                "give --out a directory that can be written",
            )
        })?;
        let wanted = Measurement {
            id: notes::new_id(),
            dir: &dir,
            plan: RunPlan {
                scenario: vary::at_level(&self.scenario, dimension, cell.level)?,
                seed: self.sweep.plan.seed_of(cell),
                release: self.args.release.clone(),
            },
            scenario_text: self.text.clone(),
            pid: self.args.pid,
            quiet: true,
            stop: Arc::clone(&self.stop),
            guardian: self.guardian,
            examiner: &self.examiner,
            trace: false,
            profile: None,
        };
        let measured = measure(&wanted, &mut Alone);
        if measured.is_err() {
            remove_if_empty(&dir);
        }
        measured?;
        let judged = Judged::read(&dir)?;
        self.sweep.target.clone_from(&judged.diagnosis.run.target);
        self.sweep.cpus = judged.diagnosis.run.host.cpus;
        let told = told(&judged);
        let window = Window::of(&judged.record, cell, name, told);
        window.ok_or_else(|| Problem::unreachable("nothing was measured", "slowpath run").into())
    }

    /// Says on a terminal what a window showed, and how long the rest will take.
    fn tell(&self, window: &Window) {
        use std::io::IsTerminal;
        if self.args.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        let done = self.sweep.windows.len() + 1;
        let most = self.sweep.plan.windows_most() as usize;
        let each = self.began.elapsed().as_secs_f64() / done as f64;
        let p50 = window
            .p50_ms
            .value
            .map_or(String::new(), |ms| format!(", p50 {ms:.3} ms"));
        let limited = if window.client_limited.is_some() {
            ", client-limited"
        } else {
            ""
        };
        out::say(&format!(
            "{done:>3}/{most} {} {}: {:.0} req/s, served {:.1} %{p50}{limited}; at most {} left",
            self.sweep.plan.grid.dimension.name(),
            window.level,
            window.per_s,
            window.served() * 100.0,
            human(each * most.saturating_sub(done) as f64),
        ));
    }

    /// Writes what there is: a kill from here on loses nothing of it.
    fn save(&mut self) -> Result<()> {
        let dimension = self.sweep.plan.grid.dimension;
        self.sweep.analysis = analyse(dimension, &self.sweep.windows, self.sweep.plan.seed);
        let json = slowpath_report::sweep_json(&self.sweep);
        write(&self.dir, "sweep.json", &json)?;
        Ok(())
    }

    /// Writes the views, prints the answer, and says how it ended.
    fn finish(mut self, error: Option<anyhow::Error>) -> Result<Exit> {
        let saved = self.save();
        let place = self.dir.display().to_string();
        out::answer(&slowpath_report::sweep_terminal(
            &self.sweep,
            out::style(),
            &place,
        ));
        saved?;
        let html = slowpath_report::sweep_html(&self.sweep);
        write(&self.dir, "sweep.html", &html)?;
        write(
            &self.dir,
            "sweep.md",
            &slowpath_report::sweep_markdown(&self.sweep),
        )?;
        store::write_copy(
            self.args.json.as_deref(),
            &slowpath_report::sweep_json(&self.sweep),
        )?;
        if let Some(error) = error {
            return Err(error);
        }
        Ok(self.exit())
    }

    fn exit(&self) -> Exit {
        let windows = || self.sweep.windows.iter();
        let offered: u64 = windows().map(|w| w.offered).sum();
        let failed: u64 = windows().map(|w| w.failed).sum();
        if self.sweep.interrupted {
            Exit::Interrupted
        } else if windows().all(|w| !w.counts()) {
            Exit::Invalid
        } else if failed as f64 > self.args.allow_errors * offered as f64 {
            Exit::Failures
        } else {
            Exit::Done
        }
    }
}

/// What the judgement of a window adds to its record.
fn told(judged: &Judged) -> Told {
    let diagnosis = &judged.diagnosis;
    let of = |e: &slowpath_diagnose::diagnosis::ErrorCount| ErrorRate {
        class: e.class.clone(),
        phase: e.phase.clone(),
        errno: e.errno.clone(),
        status: e.status,
        count: e.count,
        per_s: 0.0,
        share: 0.0,
    };
    let client = slowpath_core::catalogue::CLIENT_SATURATION;
    let invalid = |is_client: bool| {
        let failed = diagnosis
            .validity
            .iter()
            .filter(|c| c.status == Status::Invalid);
        let mut own = failed.filter(move |c| (c.check == client) == is_client);
        // Without a completed request a window is no less a statement about the target.
        own.find(|c| c.check != "samples").map(|c| c.detail.clone())
    };
    Told {
        errors: diagnosis
            .endpoints
            .iter()
            .flat_map(|e| &e.errors)
            .map(of)
            .collect(),
        client_limited: invalid(true),
        invalid: invalid(false),
        cause: diagnosis
            .findings
            .first()
            .map(|f| f.cause.clone())
            .filter(|c| c != client),
    }
}

/// A window that could not be measured leaves nothing but logs that say something.
fn remove_if_empty(dir: &Path) {
    let _ = std::fs::remove_dir(dir.join("logs"));
    let _ = std::fs::remove_dir(dir);
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), Problem> {
    slowpath_record::write_derived(dir, name, text.as_bytes()).map_err(|error| {
        Problem::environment(
            format!("the sweep is not written: {error}"),
            "make room on the disk; the windows measured so far are kept",
        )
    })
}
