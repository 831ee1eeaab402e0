//! `slowpath bench`: repeat a benchmark command and read its figures.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::bench::{BENCH_SCHEMA, BenchReport, Execution};
use slowpath_core::figures::{Conditions, FIGURES_SCHEMA, Origin, RunFigures, host_conditions};
use slowpath_diagnose::verdict::human;
use slowpath_observe::host;
use slowpath_record::adapters::{
    self, ADAPTERS, Adapter, Harvest, Invocation, Output, Pattern, Repeat, Source, invocation,
};

use crate::cli::BenchArgs;
use crate::command::log;
use crate::command::run::directory;
use crate::execution::{Bench, Kept, absolute, check_program};
use crate::exit::{Exit, Problem};
use crate::{interrupt, notes, out, present, session, store};

pub(crate) mod again;
mod output;

use output::{in_words, last_words, unknown, whole};

/// Fewest executions whose range is a 93.75 % interval of their median, which is worth its time
/// for most benchmarks.
const REPEATS: u32 = 5;
/// After so long an execution is ended: longer than any benchmark that a user waits for.
const TIMEOUT_NS: u64 = 3600 * 1_000_000_000;
/// What only measures how long the command takes.
const TIME: &str = "time";

/// Repeats the command, reads its figures, prints them.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let reader = Reader::of(args.adapter.as_deref(), args.regex.as_deref())?;
    check_program(&args.command)?;
    store::check_copy(args.json.as_deref())?;
    let stop = interrupt::flag()?;
    let guardian = session::guardian()?;
    let id = notes::new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let mut campaign = Campaign {
        args,
        reader,
        bench: Bench {
            dir: dir.path(),
            cwd: std::env::current_dir()?,
            timeout: Duration::from_nanos(args.timeout.unwrap_or(TIMEOUT_NS)),
            stop: &stop,
            guardian: &guardian,
            examiner: host::Examiner::default(),
        },
        report: blank(id, args),
        harvests: Vec::new(),
        adapter: None,
    };
    campaign.announce();
    campaign.all()?;
    if campaign.report.executions.is_empty() {
        dir.remove();
        return Err(Problem::interrupted().into());
    }
    present::present_bench(&campaign.report, dir.path(), args.json.as_deref())?;
    log::after::tell_figures(&campaign.report.figures);
    Ok(exit(&campaign.report))
}

/// What the run's result calls for.
fn exit(report: &BenchReport) -> Exit {
    if report.interrupted {
        Exit::Interrupted
    } else if !report.has_figures() {
        Exit::Invalid
    } else if report.failed() > 0 {
        Exit::Failures
    } else {
        Exit::Done
    }
}

/// How figures are found in an output.
#[derive(Debug)]
pub(crate) enum Reader {
    Adapter(&'static Adapter),
    Pattern(Pattern),
    /// The command's own time.
    Time,
    /// The tool's name or its output will show it.
    Any,
}

impl Reader {
    pub(crate) fn of(adapter: Option<&str>, regex: Option<&str>) -> Result<Self, Problem> {
        if let Some(regex) = regex {
            let pattern = Pattern::parse(regex).map_err(|error| {
                Problem::usage(
                    format!("--regex: {error}"),
                    r"--regex '(?<name>\w+): (?<value>[\d.]+) ?(?<unit>ms|us|ns)'",
                )
            })?;
            return Ok(Self::Pattern(pattern));
        }
        match adapter {
            None => Ok(Self::Any),
            Some(TIME) => Ok(Self::Time),
            Some(name) => adapters::by_name(name).map(Self::Adapter).ok_or_else(|| {
                let known: Vec<&str> = ADAPTERS.iter().map(|a| a.name).collect();
                Problem::usage(
                    format!("there is no adapter {name:?}"),
                    format!("--adapter {}, {TIME}; or --regex", known.join(", ")),
                )
            }),
        }
    }
}

fn blank(id: String, args: &BenchArgs) -> BenchReport {
    let facts = host::facts(Path::new("/proc"), Path::new("/sys"));
    let mut conditions = Conditions {
        host: host_conditions(&facts),
        ..Conditions::default()
    };
    let command = args.command.join(" ");
    let versions = &mut conditions.versions;
    versions.insert("slowpath".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    if let Some(git) = notes::git() {
        let dirty = if git.dirty { " with changes" } else { "" };
        versions.insert("git".to_owned(), format!("{}{dirty}", git.commit));
    }
    conditions
        .harness
        .insert("command".to_owned(), command.clone());
    let figures = RunFigures {
        schema: FIGURES_SCHEMA.to_owned(),
        id,
        name: args.name.clone().unwrap_or(command),
        release: args.release.clone(),
        began: notes::now_utc(),
        origin: Origin::Bench {
            command: args.command.clone(),
            adapter: String::new(),
        },
        conditions,
        void: Vec::new(),
        host: None,
        rows: Vec::new(),
        modes: Vec::new(),
        constants: None,
        profile: None,
        failures: Vec::new(),
    };
    BenchReport {
        schema: BENCH_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        summaries: Vec::new(),
        figures,
        samples: Vec::new(),
        executions: Vec::new(),
        planned: args.repeats.unwrap_or(REPEATS),
        notes: Vec::new(),
        interrupted: false,
    }
}

/// A command under repetition.
struct Campaign<'a> {
    args: &'a BenchArgs,
    reader: Reader,
    bench: Bench<'a>,
    report: BenchReport,
    /// What each execution that gave figures gave, by its position.
    harvests: Vec<(usize, Harvest)>,
    /// What read the first output, and reads all.
    adapter: Option<&'static str>,
}

impl Campaign<'_> {
    fn announce(&self) {
        if !self.args.quiet {
            let (planned, command) = (self.report.planned, self.args.command.join(" "));
            let plural = if planned == 1 { "" } else { "s" };
            self.say(&format!("{planned} execution{plural} of {command}"));
        }
    }

    fn say(&self, text: &str) {
        if !self.args.quiet {
            out::say(text);
        }
    }

    fn all(&mut self) -> Result<(), Problem> {
        let mut expected = Duration::ZERO;
        for number in 1..=self.report.planned {
            if interrupt::came(self.bench.stop) {
                self.report.interrupted = true;
                break;
            }
            let kept = self.bench.keep(number)?;
            let plan = invocation(&self.args.command, &absolute(&kept.folder));
            if number == 1 {
                self.tell(&plan);
            }
            let Some(execution) = self.bench.once(number, &plan, &kept, expected)? else {
                self.report.interrupted = true;
                break;
            };
            expected = Duration::from_nanos(execution.took_ns);
            self.take(execution, &plan, &kept);
            self.refresh();
            present::save_bench(&self.report, self.bench.dir)?;
        }
        Ok(())
    }

    /// What was added to the command, which is a condition of the figures too.
    fn tell(&mut self, plan: &Invocation) {
        for told in &plan.told {
            self.say(told);
        }
        self.report.notes.extend(plan.told.iter().cloned());
    }

    /// Reads what an execution left, and reports it.
    fn take(&mut self, mut execution: Execution, plan: &Invocation, kept: &Kept) {
        match self.read(&execution, plan, kept) {
            Ok(harvest) => {
                execution.failures.clone_from(&harvest.failures);
                self.harvests.push((self.report.executions.len(), harvest));
            }
            Err(trouble) => execution.trouble.extend(trouble),
        }
        let took = human(execution.took_ns as f64);
        let figures = self
            .harvests
            .last()
            .map_or(0, |(_, harvest)| harvest.takes.len());
        let (number, planned) = (execution.number, self.report.planned);
        let result = if !execution.trouble.is_empty() {
            execution.trouble.join("; ")
        } else if execution.aside.is_empty() {
            format!("{figures} figure{}", if figures == 1 { "" } else { "s" })
        } else {
            format!("excluded: {}", execution.aside)
        };
        let exit = &execution.exit;
        self.say(&format!("{number}/{planned}: {took}, {exit}, {result}"));
        self.report.executions.push(execution);
    }

    fn read(
        &mut self,
        execution: &Execution,
        plan: &Invocation,
        kept: &Kept,
    ) -> Result<Harvest, Vec<String>> {
        if matches!(self.reader, Reader::Time) {
            self.adapter = Some(TIME);
            if execution.failed {
                return Err(vec!["a command that failed has no time".to_owned()]);
            }
            return Ok(Harvest::of_time(execution.took_ns, execution.cpu));
        }
        let file = match &plan.output {
            Output::File(path) => path.clone(),
            Output::Criterion(folder) if folder.is_dir() && matches!(self.reader, Reader::Any) => {
                self.adapter = Some("criterion");
                return adapters::criterion_folder(folder).map_err(|e| in_words(&e));
            }
            Output::Stdout | Output::Criterion(_) => kept.stdout.clone(),
        };
        let bytes = whole(&file)?;
        let name = file.display().to_string();
        let source = Source {
            file: &name,
            bytes: &bytes,
        };
        match &self.reader {
            Reader::Pattern(pattern) => {
                self.adapter = Some("regex");
                let found = pattern.read(source);
                // Logs go to stderr as often.
                let found = found.or_else(|errors| {
                    let name = kept.stderr.display().to_string();
                    let bytes = whole(&kept.stderr).unwrap_or_default();
                    let source = Source {
                        file: &name,
                        bytes: &bytes,
                    };
                    pattern.read(source).map_err(|_| errors)
                });
                found.map_err(|e| in_words(&e))
            }
            reader => {
                let adapter = match reader {
                    Reader::Adapter(adapter) => Some(*adapter),
                    _ => plan.adapter.and_then(adapters::by_name),
                };
                let Some(adapter) = adapter.or_else(|| adapters::detect(&bytes)) else {
                    return self.unread(execution, kept, &name);
                };
                self.adapter = Some(adapter.name);
                adapter.read(source).map_err(|e| in_words(&e))
            }
        }
    }

    /// What is known of an execution whose output no adapter knows: its time, unless there were
    /// figures before.
    fn unread(
        &mut self,
        execution: &Execution,
        kept: &Kept,
        file: &str,
    ) -> Result<Harvest, Vec<String>> {
        if execution.failed {
            return Err(last_words(kept));
        }
        if self.adapter.is_some_and(|name| name != TIME) {
            return Err(unknown(file));
        }
        self.adapter = Some(TIME);
        let mut harvest = Harvest::of_time(execution.took_ns, execution.cpu);
        harvest.notes.push(format!(
            "no figures were found in the output, so the figure is the time of the command; \
             --adapter ({}) or --regex reads others",
            adapters::ADAPTERS
                .iter()
                .map(|a| a.name)
                .collect::<Vec<_>>()
                .join(", ")
        ));
        Ok(harvest)
    }

    /// Brings the report up to what was read so far.
    fn refresh(&mut self) {
        let executions = &self.report.executions;
        let repeats: Vec<Repeat<'_>> = self
            .harvests
            .iter()
            .map(|(at, harvest)| Repeat {
                harvest,
                aside: &executions[*at].aside,
            })
            .collect();
        let figures = &mut self.report.figures;
        figures.rows = adapters::rows(&repeats);
        if let Origin::Bench { adapter, .. } = &mut figures.origin {
            self.adapter.unwrap_or_default().clone_into(adapter);
        }
        for (_, harvest) in &self.harvests {
            harvest.state(&mut figures.conditions);
            for note in &harvest.notes {
                if !self.report.notes.contains(note) {
                    self.report.notes.push(note.clone());
                }
            }
        }
        let put_aside = executions.iter().filter(|one| !one.aside.is_empty());
        figures.void = if !executions.is_empty() && put_aside.clone().count() == executions.len() {
            put_aside
                .map(|one| format!("execution {}: {}", one.number, one.aside))
                .collect()
        } else {
            Vec::new()
        };
        let kept = || {
            let all = self.harvests.iter();
            all.filter(|(at, _)| executions[*at].aside.is_empty())
        };
        self.report.samples = kept()
            .flat_map(|(at, harvest)| harvest.samples(executions[*at].number))
            .collect();
        let pooled: Vec<&Harvest> = kept().map(|(_, harvest)| harvest).collect();
        self.report.figures.modes = adapters::modes(&pooled);
        self.report.summaries = BenchReport::summaries(&self.report.figures);
    }
}
