//! The page of one run: its report, as it lies beside it; made now where it does not.

use std::path::Path;
use std::sync::PoisonError;

use slowpath_record::files;
use slowpath_report::Style;
use slowpath_report::site::{Beside, bench_page, figures_page, report_within, text_page};

use super::answer::{Answer, Ask, Served, Trouble};
use super::log;
use super::shelf::{Shelved, Stored};
use crate::command::{ab, bench, sweep};
use crate::present::Judged;

/// Columns of an answer that is shown as a terminal shows it.
const COLUMNS: usize = 100;
/// Runs that are named where one is not found.
const NAMED_MOST: usize = 8;

/// The report of a run.
pub(super) fn report(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let one = find(&all, ask.get("id").unwrap_or_default())?;
    let dir = served.shelf.dir(&one.id);
    if ask.json {
        return json(one, &dir);
    }
    match &*one.what {
        Shelved::Broken { what, remedy } => Err(Trouble::broken(what, remedy)),
        Shelved::Sweep(_) => swept(served, one, &dir),
        Shelved::Ab(of) => {
            let ab = ab::again::read(&dir)
                .map_err(|problem| Trouble::broken(problem.to_string(), ""))?;
            let style = Style {
                color: false,
                width: COLUMNS,
                verbose: false,
            };
            let text = slowpath_report::ab_terminal(&ab, style, &dir.display().to_string());
            let title = format!("Comparison of {}", of.name);
            Ok(Answer::Page(text_page(&served.site, &title, &text)))
        }
        Shelved::Figures(_) if bench::again::is_one(&dir) => benchmark(served, &all, one, &dir),
        Shelved::Figures(_) | Shelved::Unjudged(_) => measured(served, &all, one, &dir),
    }
}

/// The run that a text names: its id, the beginning of it, or `last`.
pub(super) fn find<'a>(all: &'a [Stored], text: &str) -> Result<&'a Stored, Trouble> {
    let is_run = |one: &&Stored| !matches!(&*one.what, Shelved::Sweep(_) | Shelved::Ab(_));
    if text == "last"
        && let Some(newest) = all.iter().find(is_run)
    {
        return Ok(newest);
    }
    if let Some(exact) = all.iter().find(|one| one.id.eq_ignore_ascii_case(text)) {
        return Ok(exact);
    }
    let wanted = text.to_ascii_uppercase();
    let fits = |one: &&Stored| !text.is_empty() && one.id.to_ascii_uppercase().starts_with(&wanted);
    let fitting: Vec<&Stored> = all.iter().filter(fits).collect();
    let words = |of: &[&Stored]| {
        let of = of.iter().take(NAMED_MOST);
        of.map(|one| (one.id.clone(), one.words())).collect()
    };
    match fitting.as_slice() {
        [one] => Ok(one),
        [] => Err(Trouble {
            runs: words(&all.iter().collect::<Vec<_>>()),
            ..Trouble::unknown(
                format!("no run {text:?} is stored here"),
                "its id, the beginning of it, or `last`",
            )
        }),
        several => Err(Trouble {
            title: "Which one?".to_owned(),
            status: axum::http::StatusCode::MULTIPLE_CHOICES,
            runs: words(several),
            ..Trouble::unknown(
                format!("{text:?} is the beginning of {} runs", several.len()),
                "write more of it",
            )
        }),
    }
}

/// What lies beside the run as JSON.
fn json(one: &Stored, dir: &Path) -> Result<Answer, Trouble> {
    let name = match &*one.what {
        Shelved::Broken { what, remedy } => return Err(Trouble::broken(what, remedy)),
        Shelved::Sweep(_) => sweep::again::FILE,
        Shelved::Ab(_) => ab::again::FILE,
        Shelved::Figures(_) if bench::again::is_one(dir) => bench::again::FILE,
        Shelved::Figures(_) | Shelved::Unjudged(_) => files::REPORT_JSON,
    };
    let path = dir.join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let remedy = format!("slowpath report {}", one.id);
        Trouble::unknown(format!("cannot read {}: {error}", path.display()), remedy)
    })?;
    Ok(Answer::Json(text))
}

fn benchmark(served: &Served, all: &[Stored], one: &Stored, dir: &Path) -> Result<Answer, Trouble> {
    match bench::again::read(dir) {
        Ok(report) => Ok(Answer::Page(bench_page(
            &served.site,
            &report,
            &around(served, all, one),
        ))),
        Err(problem) => of_figures(served, all, one, &problem.to_string()),
    }
}

/// What is left of a run that cannot be read: its figures.
fn of_figures(served: &Served, all: &[Stored], one: &Stored, why: &str) -> Result<Answer, Trouble> {
    let Some(figures) = one.figures() else {
        return Err(Trouble::broken(why, ""));
    };
    Ok(Answer::Page(figures_page(
        &served.site,
        figures,
        why,
        &around(served, all, one),
    )))
}

fn swept(served: &Served, one: &Stored, dir: &Path) -> Result<Answer, Trouble> {
    let broken = |problem: crate::exit::Problem| Trouble::broken(problem.to_string(), "");
    let text = match std::fs::read_to_string(dir.join("sweep.html")) {
        Ok(text) => text,
        Err(_) => slowpath_report::sweep_html(&sweep::again::read(dir).map_err(broken)?),
    };
    let beside = Beside {
        id: one.id.clone(),
        ..Beside::default()
    };
    Ok(Answer::Page(report_within(&served.site, &text, &beside)))
}

/// The report of a measured run: the one beside it, or one that is made now and put there.
fn measured(served: &Served, all: &[Stored], one: &Stored, dir: &Path) -> Result<Answer, Trouble> {
    let text = match std::fs::read_to_string(dir.join(files::REPORT_HTML)) {
        Ok(text) => text,
        // Figures can be kept without the record that they were made of.
        Err(_) if !dir.join(files::MANIFEST).exists() => {
            return of_figures(
                served,
                all,
                one,
                "Its record is not stored here; these are its figures.",
            );
        }
        Err(_) if files::is_unfinished(dir) => {
            return Err(Trouble {
                title: "Not finished".to_owned(),
                ..Trouble::broken(
                    format!(
                        "run {} is being measured, or slowpath was killed in that time",
                        one.id
                    ),
                    format!("wait, or judge what there is: slowpath report {}", one.id),
                )
            });
        }
        Err(_) => match judged(served, dir) {
            Ok(text) => text,
            Err(why) => return of_figures(served, all, one, &why),
        },
    };
    Ok(Answer::Page(report_within(
        &served.site,
        &text,
        &around(served, all, one),
    )))
}

fn judged(served: &Served, dir: &Path) -> Result<String, String> {
    let _alone = served
        .shelf
        .judging
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let judged = Judged::read(dir).map_err(|problem| problem.to_string())?;
    let html = judged.html();
    // An archive that cannot be written to can still be viewed.
    let _ = judged.save_with(&html);
    Ok(html)
}

/// The runs of the scenario before and after, and who cites this one.
fn around(served: &Served, all: &[Stored], one: &Stored) -> Beside {
    let own: Vec<&Stored> = all
        .iter()
        .filter(|other| other.name() == one.name() && other.figures().is_some())
        .collect();
    let at = own.iter().position(|other| other.id == one.id);
    let id = |place: Option<usize>| {
        let found = place.and_then(|place| own.get(place));
        found.map(|found| found.id.clone())
    };
    let headline = served.shelf.headline(&one.id);
    let version = headline.map(|headline| headline.version);
    Beside {
        id: one.id.clone(),
        name: (!one.name().is_empty()).then(|| one.name().to_owned()),
        before: id(at.map(|at| at + 1)),
        after: id(at.and_then(|at| at.checked_sub(1))),
        judged_by: version.filter(|version| *version != served.site.version),
        cited_in: log::citing(served, &one.id),
    }
}
