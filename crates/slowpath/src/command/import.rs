//! `slowpath import`: figures that were made elsewhere become a run.

use std::fs;
use std::path::Path;

use anyhow::Result;
use slowpath_core::bench::{BENCH_SCHEMA, BenchReport};
use slowpath_core::figures::{Conditions, FIGURES_SCHEMA, Origin, RunFigures};
use slowpath_observe::profilers::imported::Format;
use slowpath_record::adapters::{
    self, ADAPTERS, AdapterError, Harvest, Pattern, REQUEST_FORMATS, Repeat, Source,
    criterion_folder,
};

use crate::cli::ImportArgs;
use crate::command::log;
use crate::command::run::directory;
use crate::exit::{Exit, Problem};
use crate::{notes, present, store};

mod profiles;
mod requests;
mod tables;

/// The format that is recognised by its content.
const AUTO: &str = "auto";
/// Lines that a pattern reads.
const LINES: &str = "lines";

/// Reads the files, keeps and prints their figures.
pub(crate) fn import(args: &ImportArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    if let Some(run) = &args.run {
        return profiles::import(args, run);
    }
    if let Some(format) = profiles::format(&args.format, &args.files) {
        return Err(profiles::without_run(format).into());
    }
    if let Some(format) = requests::format(&args.format, &args.files) {
        return requests::import(args, format);
    }
    if let Some(runs) = tables::runs(args)? {
        return tables::import(args, &runs);
    }
    let mut format = args.format.clone();
    let mut harvests = Vec::new();
    let mut mistakes = Vec::new();
    for file in &args.files {
        match read(args, Path::new(file)) {
            Ok((name, harvest)) => {
                name.clone_into(&mut format);
                harvests.push(harvest);
            }
            Err(errors) => mistakes.extend(errors.iter().map(ToString::to_string)),
        }
    }
    if !mistakes.is_empty() {
        return Err(Problem::usage(mistakes.join("\n"), "").into());
    }
    let id = notes::new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let report = report(args, id, format, &harvests);
    present::present_bench(&report, dir.path(), args.json.as_deref())?;
    log::after::tell_figures(&report.figures);
    Ok(Exit::Done)
}

fn report(args: &ImportArgs, id: String, format: String, harvests: &[Harvest]) -> BenchReport {
    let mut conditions = Conditions::default();
    let mut told: Vec<String> = Vec::new();
    for harvest in harvests {
        harvest.state(&mut conditions);
        for text in harvest.notes.iter().chain(&harvest.failures) {
            if !told.contains(text) {
                told.push(text.clone());
            }
        }
    }
    for (name, length) in &args.timer {
        let named = format!("timer {name}");
        conditions.config.insert(named, length.clone());
    }
    let mut rows = match harvests {
        [alone] => {
            let (rows, shared) = adapters::rows_of_one(alone);
            if shared {
                told.push(
                    "the repeats are repetitions inside one process: what differs from process \
                     to process is not among them"
                        .to_owned(),
                );
            }
            rows
        }
        several => {
            let repeats = several.iter().map(|harvest| Repeat { harvest, aside: "" });
            adapters::rows(&repeats.collect::<Vec<_>>())
        }
    };
    let refused = adapters::refuse_largest(&mut rows);
    if refused > 0 {
        told.push(largest(refused));
    }
    let numbered = harvests.iter().zip(1..);
    let samples = numbered.flat_map(|(harvest, number)| harvest.samples(number));
    let samples = samples.collect();
    let pooled: Vec<&Harvest> = harvests.iter().collect();
    let figures = RunFigures {
        schema: FIGURES_SCHEMA.to_owned(),
        id,
        name: args.name.clone().unwrap_or_else(|| format.clone()),
        release: args.release.clone(),
        began: notes::now_utc(),
        origin: Origin::Imported {
            format,
            files: args.files.clone(),
        },
        conditions,
        void: Vec::new(),
        host: None,
        rows,
        modes: adapters::modes(&pooled),
        constants: None,
        profile: None,
        failures: Vec::new(),
    };
    BenchReport {
        schema: BENCH_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        summaries: BenchReport::summaries(&figures),
        figures,
        samples,
        executions: Vec::new(),
        planned: 0,
        notes: told,
        interrupted: false,
    }
}

/// That so many percentiles are none.
fn largest(refused: usize) -> String {
    format!(
        "{refused} of the percentiles are the largest of too few requests, and no percentiles: ~ \
         stands before them"
    )
}

/// The format of a file, and what it says.
fn read(args: &ImportArgs, path: &Path) -> Result<(&'static str, Harvest), Vec<AdapterError>> {
    let file = path.display().to_string();
    let wrong = |what: String, remedy: String| {
        vec![AdapterError {
            file: file.clone(),
            line: None,
            what,
            remedy,
        }]
    };
    if path.is_dir() && [AUTO, "criterion"].contains(&args.format.as_str()) {
        return Ok(("criterion", criterion_folder(path)?));
    }
    let bytes = fs::read(path).map_err(|error| {
        let remedy = "name a file that a tool has written";
        wrong(format!("it cannot be read: {error}"), remedy.to_owned())
    })?;
    let source = Source {
        file: &file,
        bytes: &bytes,
    };
    if let Some(regex) = &args.regex {
        let pattern = Pattern::parse(regex).map_err(|error| {
            let remedy = r"--regex '(?<name>\w+): (?<value>[\d.]+) ?(?<unit>ms|us|ns)'";
            wrong(format!("--regex: {error}"), remedy.to_owned())
        })?;
        return Ok((LINES, pattern.read(source)?));
    }
    let adapter = match args.format.as_str() {
        AUTO => adapters::detect(&bytes),
        name => adapters::by_name(name),
    };
    let Some(adapter) = adapter else {
        let by_request = REQUEST_FORMATS.iter().map(|format| format.name);
        let known = ADAPTERS.iter().map(|adapter| adapter.name);
        let profiles = Format::ALL.into_iter().map(Format::name);
        let known: Vec<&str> = known.chain(by_request).chain(profiles).collect();
        let what = match args.format.as_str() {
            AUTO => "it is of no known make".to_owned(),
            name => format!("there is no format {name:?}"),
        };
        let remedy = format!(
            "the formats are {AUTO}, {}, and {LINES} with --regex",
            known.join(", ")
        );
        return Err(wrong(what, remedy));
    };
    Ok((adapter.name, adapter.read(source)?))
}
