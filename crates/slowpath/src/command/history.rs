//! `slowpath history`: what became of a scenario's figures over its releases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use slowpath_core::figures::RunFigures;
use slowpath_experiment::history::{Ask, History, history as judge, newest};

use crate::cli::HistoryArgs;
use crate::exit::{Exit, Problem};
use crate::present::Judged;
use crate::stored::Missing;
use crate::{out, store, stored};

/// Where the page goes by default: beside the folder of runs.
const PAGE: &str = ".slowpath/history.html";

/// The percentile that a line after a run speaks of.
const TOLD_AFTER_A_RUN: &str = "p99";

/// Loads the runs of a name, judges, prints, writes the page.
pub(crate) fn history(args: &HistoryArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    store::check_copy(args.html.as_deref())?;
    let name = name(args)?;
    let runs = stored::all(&|of, _| of == name, Missing::Judge)?;
    if runs.is_empty() {
        return Err(unknown(&name).into());
    }
    let ask = Ask {
        endpoint: args.endpoint.clone(),
        metric: args.metric.clone(),
        floor: None,
    };
    check_asked(&runs, &ask)?;
    let history = judge(&runs, &ask);
    let page = page(&history, args.html.as_deref());
    if args.markdown {
        out::answer(&slowpath_report::history_markdown(&history));
    } else {
        let place = page.as_ref().ok().map(|path| path.display().to_string());
        let text = slowpath_report::history_terminal(&history, out::style(), place.as_deref());
        out::answer(&text);
    }
    store::write_copy(
        args.json.as_deref(),
        &slowpath_report::history_json(&history),
    )?;
    page?;
    Ok(Exit::Done)
}

/// The name that is meant: what was asked for, or that of the last run.
fn name(args: &HistoryArgs) -> Result<String, Problem> {
    match &args.name {
        Some(name) => Ok(name.clone()),
        None => Ok(stored::figures(&store::find("last")?)?.name),
    }
}

/// That nothing of that name is stored, with the names of what is.
fn unknown(name: &str) -> Problem {
    let stored = stored::all(&|_, _| true, Missing::Skip).unwrap_or_default();
    let names: BTreeSet<String> = stored.into_iter().map(|run| run.name).collect();
    let names: Vec<String> = names.into_iter().collect();
    let remedy = if names.is_empty() {
        "record some with `slowpath run SCENARIO --release NAME`".to_owned()
    } else {
        format!("one of {}", names.join(", "))
    };
    Problem::usage(format!("no run of {name:?} is stored"), remedy)
}

/// Refuses an endpoint or a metric that no run has.
fn check_asked(runs: &[RunFigures], ask: &Ask) -> Result<(), Problem> {
    let rows = || runs.iter().flat_map(|run| &run.rows);
    let mut subjects: Vec<&str> = rows().map(|row| row.subject.as_str()).collect();
    let mut metrics: Vec<&str> = rows().map(|row| row.metric.as_str()).collect();
    for (what, asked, known) in [
        ("endpoint", &ask.endpoint, &mut subjects),
        ("metric", &ask.metric, &mut metrics),
    ] {
        known.sort_unstable();
        known.dedup();
        if let Some(asked) = asked
            .as_ref()
            .filter(|asked| !known.contains(&asked.as_str()))
        {
            return Err(Problem::usage(
                format!("no run has the {what} {asked:?}"),
                format!("one of {}", known.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Writes the page, and says where.
fn page(history: &History, wanted: Option<&Path>) -> Result<PathBuf, Problem> {
    let path = wanted.unwrap_or(Path::new(PAGE)).to_owned();
    std::fs::write(&path, slowpath_report::history_html(history)).map_err(|error| {
        Problem::environment(
            format!("cannot write {}: {error}", path.display()),
            "give --html a file that can be written, in a folder that exists",
        )
    })?;
    Ok(path)
}

/// One line after a run of a release: how it stands against earlier ones. Nothing without a
/// release, without earlier ones, or if the history cannot be read: the run itself is reported.
pub(crate) fn tell(judged: &Judged) {
    let own = judged.figures();
    if own.release.is_none() || !own.void.is_empty() {
        return;
    }
    let Ok(mut runs) = stored::all(&|name, _| name == own.name, Missing::Skip) else {
        return;
    };
    if !runs.iter().any(|run| run.id == own.id) {
        runs.push(own);
    }
    stored::sort(&mut runs);
    let tracks = newest(&runs, TOLD_AFTER_A_RUN, None);
    if let Some(line) = slowpath_report::newest_terminal(&tracks, out::style()) {
        out::answer(&line);
    }
}
