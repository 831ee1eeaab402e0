//! Tables of several releases: each of them becomes a run, and what they show together is reported at once.

use std::fs;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use slowpath_core::bench::BenchReport;
use slowpath_experiment::history::{Ask, history};
use slowpath_record::adapters::{Source, TableRun, table_runs};

use super::{AUTO, largest, report};
use crate::cli::ImportArgs;
use crate::command::log;
use crate::command::run::directory;
use crate::exit::{Exit, Problem};
use crate::stored::Missing;
use crate::{notes, out, present, store, stored};

/// Formats that tables are written in.
const FORMATS: [&str; 3] = [AUTO, "markdown", "csv"];

/// The runs that tables with a column of releases report; `None` if no file has one.
pub(super) fn runs(args: &ImportArgs) -> Result<Option<Vec<TableRun>>, Problem> {
    if args.regex.is_some() || !FORMATS.contains(&args.format.as_str()) {
        return Ok(None);
    }
    let mut all = Vec::new();
    for file in &args.files {
        // What cannot be read is reported by the code that reads it next.
        let Ok(bytes) = fs::read(file) else {
            return Ok(None);
        };
        let source = Source {
            file,
            bytes: &bytes,
        };
        match table_runs(source) {
            None => return Ok(None),
            Some(Ok(runs)) => all.extend(runs),
            Some(Err(errors)) => {
                let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
                return Err(Problem::usage(lines.join("\n"), ""));
            }
        }
    }
    let given = [
        ("--release", args.release.is_some()),
        ("--out", args.out.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(Problem::usage(
            format!(
                "{option} is for one run, and the table reports {}",
                all.len()
            ),
            "leave it away: the column of releases names them",
        ));
    }
    Ok(Some(all))
}

/// Stores the runs in the order of the table, and reports what they show together.
pub(super) fn import(args: &ImportArgs, runs: &[TableRun]) -> Result<Exit> {
    let mut last: Option<BenchReport> = None;
    let mut told: Vec<String> = Vec::new();
    let mut refused = 0;
    for (at, run) in runs.iter().enumerate() {
        let id = match &last {
            None => notes::new_id(),
            Some(before) => log::after::later_than(&before.figures.id),
        };
        let dir = directory(None, &id)?;
        let mut report = report(args, id, format(args), std::slice::from_ref(&run.harvest));
        report.figures.release = Some(run.release.clone());
        report.figures.began = began(at, runs.len());
        present::save_bench(&report, dir.path())?;
        let rows = report.figures.rows.iter();
        let of_run = rows.filter(|row| !row.refused.is_empty()).count();
        refused += of_run;
        for note in &report.notes {
            if *note != largest(of_run) && !told.contains(note) {
                told.push(note.clone());
            }
        }
        last = Some(report);
    }
    let Some(last) = last else {
        return Ok(Exit::Done);
    };
    let name = last.figures.name.clone();
    let mut releases: Vec<&str> = runs.iter().map(|run| run.release.as_str()).collect();
    releases.dedup();
    out::answer(&format!(
        "imported {} runs of {} releases\n",
        runs.len(),
        releases.len()
    ));
    told.extend((refused > 0).then(|| largest(refused)));
    for note in &told {
        out::say(note);
    }
    let stored = stored::all(&|of, _| of == name, Missing::Skip)?;
    let shown = history(&stored, &Ask::default());
    out::answer(&slowpath_report::history_sentences(&shown, out::style()));
    store::write_copy(args.json.as_deref(), &slowpath_report::bench_json(&last))?;
    log::after::tell_figures(&last.figures);
    Ok(Exit::Done)
}

fn format(args: &ImportArgs) -> String {
    match args.format.as_str() {
        AUTO => "table".to_owned(),
        named => named.to_owned(),
    }
}

/// When a run counts as begun: a table keeps the order of its runs and not their dates, so that they
/// lie a second apart and the last of them now.
fn began(at: usize, of: usize) -> String {
    let before = i64::try_from(of - at).unwrap_or(0);
    let now: Timestamp = notes::now_utc().parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let then = now.checked_sub(SignedDuration::from_secs(before));
    then.unwrap_or(now).to_string()
}
