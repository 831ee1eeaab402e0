//! Two runs or releases against each other.

use slowpath_core::figures::RunFigures;
use slowpath_experiment::compare::{Chosen, Comparison, compare as hold};
use slowpath_report::site::{CompareChoice, CompareForm, compare_page};

use super::answer::{Answer, Ask, Served, Trouble};
use super::run::find;
use super::shelf::Stored;
use crate::stored;

/// Runs that are offered; any other can be named in the address.
const RUNS_OFFERED: usize = 100;

/// The form, and the comparison of what was chosen.
pub(super) fn compare(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let mut form = form(ask, &all);
    let chosen = ask.get("a").zip(ask.get("b"));
    let compared = chosen.map(|(a, b)| compared(&all, a, b, ask.get("name")));
    let comparison = match compared {
        None => None,
        Some(Ok(comparison)) => Some(comparison),
        Some(Err(trouble)) if ask.json => return Err(trouble),
        Some(Err(trouble)) => {
            form.trouble = (trouble.what, trouble.remedy);
            None
        }
    };
    if !ask.json {
        return Ok(Answer::Page(compare_page(
            &served.site,
            &form,
            comparison.as_ref(),
        )));
    }
    let told = comparison.ok_or_else(|| {
        Trouble::unknown("nothing was chosen", "say ?a=RUN|RELEASE&b=RUN|RELEASE")
    })?;
    Ok(Answer::Json(slowpath_report::comparison_json(&told)))
}

/// What can be chosen, of the scenario that was asked for or that A or B are of, or of the newest run.
fn form(ask: &Ask, all: &[Stored]) -> CompareForm {
    let runs: Vec<&Stored> = all.iter().filter(|one| one.figures().is_some()).collect();
    let of_side = |side: &str| {
        let named = ask.get(side)?;
        let exact = runs.iter().find(|one| one.id == named);
        let released = || runs.iter().find(|one| one.release() == Some(named));
        exact.or_else(released).map(|one| one.name())
    };
    let name = ask
        .get("name")
        .or_else(|| of_side("b"))
        .or_else(|| of_side("a"));
    let name = name
        .or(runs.first().map(|one| one.name()))
        .unwrap_or_default();
    let own: Vec<&&Stored> = runs.iter().filter(|one| one.name() == name).collect();
    let mut releases: Vec<CompareChoice> = Vec::new();
    for release in own.iter().filter_map(|one| one.release()) {
        if !releases.iter().any(|known| known.value == release) {
            let count = own
                .iter()
                .filter(|one| one.release() == Some(release))
                .count();
            let s = if count == 1 { "" } else { "s" };
            let label = format!("{release} ({count} run{s})");
            releases.push(CompareChoice {
                value: release.to_owned(),
                label,
            });
        }
    }
    let offered = own.iter().take(RUNS_OFFERED).map(|one| CompareChoice {
        value: one.id.clone(),
        label: format!("{} ({})", one.words(), one.id),
    });
    let offered: Vec<CompareChoice> = offered.collect();
    let (a, b) = first_choice(&releases, &offered);
    CompareForm {
        name: name.to_owned(),
        names: super::runs::names(all),
        a: ask.get("a").map_or(a, str::to_owned),
        b: ask.get("b").map_or(b, str::to_owned),
        releases,
        runs: offered,
        trouble: (String::new(), String::new()),
    }
}

/// The newest release and the one before it; of a single release the newest runs.
fn first_choice(releases: &[CompareChoice], runs: &[CompareChoice]) -> (String, String) {
    match (releases, runs) {
        ([newest, before, ..], _) | (_, [newest, before, ..]) => {
            (before.value.clone(), newest.value.clone())
        }
        _ => (String::new(), String::new()),
    }
}

/// What a person named.
enum Named<'a> {
    Run(&'a RunFigures),
    Release(Vec<&'a RunFigures>),
}

fn compared(all: &[Stored], a: &str, b: &str, name: Option<&str>) -> Result<Comparison, Trouble> {
    let (of_a, of_b) = (named(all, a, name)?, named(all, b, name)?);
    let side = |label: &str, named: &Named<'_>| match named {
        Named::Run(run) => Chosen {
            label: run.id.clone(),
            runs: vec![(*run).clone()],
        },
        Named::Release(runs) => {
            let mut runs: Vec<RunFigures> = runs.iter().map(|run| (*run).clone()).collect();
            stored::sort(&mut runs);
            Chosen {
                label: format!("release {label}"),
                runs,
            }
        }
    };
    Ok(hold(&side(a, &of_a), &side(b, &of_b), None))
}

/// A release of the scenario, or a run.
fn named<'a>(all: &'a [Stored], text: &str, name: Option<&str>) -> Result<Named<'a>, Trouble> {
    let figures = all.iter().filter_map(Stored::figures);
    let released: Vec<&RunFigures> = figures
        .filter(|run| run.release.as_deref() == Some(text))
        .filter(|run| name.is_none_or(|name| run.name == name))
        .collect();
    let mut names: Vec<&str> = released.iter().map(|run| run.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => {}
        [_] => return Ok(Named::Release(released)),
        several => {
            return Err(Trouble::unknown(
                format!(
                    "release {text} has several scenarios: {}",
                    several.join(", ")
                ),
                "choose one of them above",
            ));
        }
    }
    let one = find(all, text)?;
    one.figures().map(Named::Run).ok_or_else(|| {
        let what = format!("{} has no figures that could be compared", one.id);
        Trouble::broken(what, format!("slowpath report {} judges it", one.id))
    })
}
