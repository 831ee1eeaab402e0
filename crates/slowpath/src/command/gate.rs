//! `slowpath gate`: hold a run against its gates, for people and for CI.

use std::path::{Path, PathBuf};

use anyhow::Result;
use slowpath_core::figures::RunFigures;
use slowpath_core::gates::{GATES_SCHEMA, GateAnswer, GateOutcome, GateReport};
use slowpath_core::scenario::Gate;
use slowpath_experiment::ab::Arm;
use slowpath_experiment::{Baseline, Words, judge_gates};
use slowpath_record::Store;
use slowpath_record::scenario::parse_gates;

use crate::cli::GateArgs;
use crate::command::ab::again;
use crate::command::run;
use crate::exit::{Exit, Problem};
use crate::present::Judged;
use crate::{out, store};

mod github;
mod junit;

/// Where gates stand, for annotations.
struct Source {
    file: Option<PathBuf>,
}

/// Measures if it has to, judges, prints.
pub(crate) fn gate(args: &GateArgs) -> Result<Exit> {
    for file in [&args.run.json, &args.junit] {
        store::check_copy(file.as_deref())?;
    }
    let baseline = args.baseline.as_deref().map(|text| baseline(text, args));
    let baseline = baseline.transpose()?;
    let against = baseline.as_ref().map(|figures| Baseline {
        figures,
        is_paired: false,
    });
    if is_scenario(&args.run.what) {
        return measured(args, against);
    }
    if let Some(dir) = again::find(&args.run.what) {
        return compared(args, &dir);
    }
    let dir = store::find(&args.run.what)?;
    let source = Source {
        file: args.gates.clone(),
    };
    if !dir.join("manifest.json").exists() {
        let figures = store_figures(&dir)?;
        let gates = wanted(args, &[], &figures)?;
        let outcomes = judge_gates(&gates, &figures, against);
        return tell(args, &figures, against, &outcomes, &source);
    }
    let mut judged = Judged::read(&dir)?;
    let figures = judged.gate_figures();
    let own = judged.record.manifest.plan.scenario.gates.clone();
    let gates = wanted(args, &own, &figures)?;
    judged.judge_gates(&gates, against);
    tell(args, &figures, against, &judged.diagnosis.gates, &source)
}

/// Holds B of a comparison against gates, with A as its baseline, pair by pair.
fn compared(args: &GateArgs, dir: &Path) -> Result<Exit> {
    if args.baseline.is_some() {
        let what = "the baseline of a comparison is its A";
        return Err(Problem::usage(what, "leave --baseline out").into());
    }
    let ab = again::read(dir)?;
    let (run, baseline) = (ab.figures(Arm::B), ab.figures(Arm::A));
    let against = Baseline {
        figures: &baseline,
        is_paired: true,
    };
    let own = match (&args.gates, ab.blocks.first()) {
        (None, Some(block)) => {
            let judged = Judged::read(&dir.join(&block.dir))?;
            judged.record.manifest.plan.scenario.gates
        }
        _ => Vec::new(),
    };
    let gates = wanted(args, &own, &run)?;
    let outcomes = judge_gates(&gates, &run, Some(against));
    let source = Source {
        file: args.gates.clone(),
    };
    tell(args, &run, Some(against), &outcomes, &source)
}

/// Measures a scenario as `slowpath run` does, and judges it.
fn measured(args: &GateArgs, against: Option<Baseline<'_>>) -> Result<Exit> {
    let (scenario, _) = run::read_what(&args.run.what, &args.run.reach)?;
    let named = args.gates.as_deref();
    let others = named.map(|file| read(file, &Words::of_scenario(&scenario)));
    let others = others.transpose()?;
    let gates = others.unwrap_or(scenario.gates);
    check_some(&gates)?;
    let (mut judged, trouble) = run::measured(&args.run)?;
    judged.judge_gates(&gates, against);
    let saved = judged.save();
    if !args.run.quiet {
        out::say(&format!(
            "measured: slowpath explain {}",
            judged.dir.display()
        ));
    }
    let source = Source {
        file: Some(
            args.gates
                .clone()
                .unwrap_or_else(|| args.run.what.clone().into()),
        ),
    };
    let figures = judged.gate_figures();
    let told = tell(args, &figures, against, &judged.diagnosis.gates, &source)?;
    saved?;
    Ok(match judged.exit(trouble, args.run.allow_errors) {
        Exit::Done | Exit::Failures if told == Exit::Gate => told,
        exit => exit,
    })
}

fn is_scenario(what: &str) -> bool {
    what.contains("://") || Path::new(what).extension().is_some_and(|e| e == "toml")
}

/// The gates that are asked for.
fn wanted(args: &GateArgs, own: &[Gate], figures: &RunFigures) -> Result<Vec<Gate>, Problem> {
    if figures.rows.is_empty() {
        let what = format!("the run {} has no figures", figures.id);
        let remedy = "slowpath explain shows why; measure again";
        return Err(Problem::invalid(what, remedy));
    }
    let gates = match &args.gates {
        Some(file) => read(file, &Words::of(figures))?,
        None => own.to_vec(),
    };
    check_some(&gates)?;
    Ok(gates)
}

fn check_some(gates: &[Gate]) -> Result<(), Problem> {
    if gates.is_empty() {
        let what = "there is no gate to hold it against";
        let remedy = "add [[gate]] to the scenario, or say --gates FILE.toml";
        return Err(Problem::usage(what, remedy));
    }
    Ok(())
}

fn read(file: &Path, words: &Words) -> Result<Vec<Gate>, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let what = format!("cannot read {}: {error}", file.display());
        Problem::usage(what, "give a file with [[gate]] tables")
    })?;
    parse_gates(&text, &file.to_string_lossy(), words.vocabulary()).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Problem::usage(lines.join("\n"), "")
    })
}

/// The run that `text` names, or the last one of the release of that name.
fn baseline(text: &str, args: &GateArgs) -> Result<RunFigures, Problem> {
    if let Some(found) = of_release(text)? {
        return Ok(found);
    }
    let dir = store::find(text).map_err(|problem| {
        let what = format!("--baseline: no release is named {text:?}, and {problem}");
        Problem::usage(what, "")
    })?;
    if args.run.what == text {
        let what = "the baseline is the run itself";
        return Err(Problem::usage(what, "name an earlier run"));
    }
    store_figures(&dir)
}

/// The figures of the last run of a release.
fn of_release(name: &str) -> Result<Option<RunFigures>, Problem> {
    let store = Store::new(store::RUNS);
    let ids = store
        .ids()
        .map_err(|error| Problem::environment(error, ""))?;
    for id in ids.iter().rev() {
        let dir = store.root().join(id);
        if let Ok(Some(figures)) = slowpath_record::read_figures(&dir)
            && figures.release.as_deref() == Some(name)
        {
            return Ok(Some(figures));
        }
    }
    Ok(None)
}

/// The figures of a stored run: of a measured one with what was counted, of any other as stored.
fn store_figures(dir: &Path) -> Result<RunFigures, Problem> {
    if dir.join("manifest.json").exists() {
        return Ok(Judged::read(dir)?.gate_figures());
    }
    let unreadable = |why: String| {
        Problem::usage(
            format!("cannot read the figures in {}: {why}", dir.display()),
            "name a run that this version wrote",
        )
    };
    let figures = slowpath_record::read_figures(dir);
    figures
        .map_err(|error| unreadable(error.to_string()))?
        .ok_or_else(|| unreadable("it has none".to_owned()))
}

/// Prints the gates and writes what was asked for.
fn tell(
    args: &GateArgs,
    run: &RunFigures,
    against: Option<Baseline<'_>>,
    outcomes: &[GateOutcome],
    source: &Source,
) -> Result<Exit> {
    out::answer(&slowpath_report::gates_terminal(outcomes, out::style()));
    if args.github {
        out::answer(&github::annotations(
            outcomes,
            source.file.as_deref(),
            args.strict,
        ));
    }
    let fails = |outcome: &GateOutcome| match outcome.answer {
        GateAnswer::Holds => false,
        GateAnswer::Fails => true,
        GateAnswer::CannotTell => args.strict,
    };
    let junit = args.junit.as_deref().map(|path| {
        let text = junit::xml(&run.name, outcomes, args.strict)?;
        store::write_copy(Some(path), &text).map_err(anyhow::Error::from)
    });
    let report = GateReport {
        schema: GATES_SCHEMA.to_owned(),
        run: run.id.clone(),
        name: run.name.clone(),
        baseline: against.map(|against| against.figures.id.clone()),
        gates: outcomes.to_vec(),
    };
    store::write_copy(
        args.run.json.as_deref(),
        &slowpath_report::gates_json(&report),
    )?;
    junit.transpose()?;
    // A gate cannot be decided by an invalid measurement, and that must not pass.
    Ok(if !run.void.is_empty() {
        Exit::Invalid
    } else if outcomes.iter().any(fails) {
        Exit::Gate
    } else {
        Exit::Done
    })
}
