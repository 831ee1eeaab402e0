//! `slowpath compare`: two runs or releases, with what differs in how they were measured.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use slowpath_core::figures::RunFigures;
use slowpath_experiment::compare::{Chosen, compare as hold};

use crate::cli::CompareArgs;
use crate::exit::{Exit, Problem};
use crate::stored::Missing;
use crate::{out, store, stored};

/// What a person named.
enum Named {
    Run(Box<RunFigures>),
    Release(Vec<RunFigures>),
}

/// Loads both sides, compares, prints. A difference is an answer and no trouble: the exit code is
/// 0 (`slowpath gate` is for those who want another).
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let (a, b) = (named(&args.a)?, named(&args.b)?);
    let name = common_name(args, &a, &b)?;
    let name = name.as_deref();
    let (a, b) = (chosen(&args.a, a, name), chosen(&args.b, b, name));
    let comparison = hold(&a, &b, None);
    let text = if args.markdown {
        slowpath_report::comparison_markdown(&comparison)
    } else {
        slowpath_report::comparison_terminal(&comparison, out::style())
    };
    out::answer(&text);
    store::write_copy(
        args.json.as_deref(),
        &slowpath_report::comparison_json(&comparison),
    )?;
    Ok(Exit::Done)
}

/// A path, `last`, a release that was stored, or the beginning of a run's id.
fn named(text: &str) -> Result<Named, Problem> {
    if text != "last" && !Path::new(text).is_dir() {
        let of_release = stored::all(&|_, release| release == Some(text), Missing::Judge)?;
        if !of_release.is_empty() {
            return Ok(Named::Release(of_release));
        }
    }
    let dir = store::find(text).map_err(|problem| {
        Problem::usage(problem, "or name a release that was stored with --release")
    })?;
    Ok(Named::Run(Box::new(stored::figures(&dir)?)))
}

/// The scenario whose runs are compared. `None` if two single runs are: they say it themselves.
fn common_name(args: &CompareArgs, a: &Named, b: &Named) -> Result<Option<String>, Problem> {
    let names = |side: &Named| -> BTreeSet<String> {
        match side {
            Named::Run(run) => BTreeSet::from([run.name.clone()]),
            Named::Release(runs) => runs.iter().map(|run| run.name.clone()).collect(),
        }
    };
    if matches!((a, b), (Named::Run(_), Named::Run(_))) {
        return Ok(None);
    }
    let (of_a, of_b) = (names(a), names(b));
    let both: Vec<&String> = of_a.intersection(&of_b).collect();
    let list = |names: &BTreeSet<String>| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.join(", ")
    };
    match (&args.name, both.as_slice()) {
        (Some(name), _) if of_a.contains(name) && of_b.contains(name) => Ok(Some(name.clone())),
        (Some(name), _) => Err(Problem::usage(
            format!("{name:?} was not measured on both sides"),
            format!("A measured {}; B measured {}", list(&of_a), list(&of_b)),
        )),
        (None, [one]) => Ok(Some((*one).clone())),
        (None, []) => Err(Problem::usage(
            format!(
                "A and B have no scenario in common: A measured {}, B measured {}",
                list(&of_a),
                list(&of_b)
            ),
            "name two runs to compare them all the same",
        )),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            Err(Problem::usage(
                format!("A and B have several scenarios: {}", names.join(", ")),
                "say which with --name",
            ))
        }
    }
}

fn chosen(label: &str, named: Named, name: Option<&str>) -> Chosen {
    match named {
        Named::Run(run) => Chosen {
            label: run.id.clone(),
            runs: vec![*run],
        },
        Named::Release(mut runs) => {
            runs.retain(|run| name.is_none_or(|name| run.name == name));
            Chosen {
                label: format!("release {label}"),
                runs,
            }
        }
    }
}
