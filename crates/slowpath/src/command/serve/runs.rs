//! The list of runs.

use slowpath_report::site::{LISTED_SCHEMA, Listed, RunLine, Says, runs_page};

use super::answer::{Answer, Ask, Served, Trouble};
use super::log;
use super::shelf::{Shelf, Shelved, Stored};

/// Runs on a page: each has its `report.json` read.
const RUNS_A_PAGE: usize = 50;

/// A page of the list.
pub(super) fn list(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let (name, release) = (ask.get("name"), ask.get("release"));
    let wanted = |one: &&Stored| {
        name.is_none_or(|name| one.name() == name)
            && release.is_none_or(|release| one.release() == Some(release))
    };
    let found: Vec<&Stored> = all.iter().filter(wanted).collect();
    let pages = found.len().div_ceil(RUNS_A_PAGE).max(1);
    let page = ask
        .get("page")
        .and_then(|page| page.parse().ok())
        .unwrap_or(1);
    let page: usize = page.clamp(1, pages);
    let shown = found
        .iter()
        .skip((page - 1) * RUNS_A_PAGE)
        .take(RUNS_A_PAGE);
    let listed = Listed {
        schema: LISTED_SCHEMA,
        page,
        pages,
        total: found.len(),
        name: name.map(str::to_owned),
        release: release.map(str::to_owned),
        names: names(&all),
        runs: shown.map(|one| line(&served.shelf, one)).collect(),
    };
    if ask.json {
        let text = serde_json::to_string_pretty(&listed);
        return Ok(Answer::Json(text.unwrap_or_default() + "\n"));
    }
    let log = log::told(served, &all).ok().flatten();
    let report = log.as_ref().map(|log| &log.report);
    Ok(Answer::Page(runs_page(&served.site, &listed, report)))
}

/// The scenarios of what is stored.
pub(super) fn names(all: &[Stored]) -> Vec<String> {
    let mut names: Vec<String> = all.iter().map(|one| one.name().to_owned()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| !name.is_empty());
    names
}

/// A line of the list, with what was judged.
fn line(shelf: &Shelf, one: &Stored) -> RunLine {
    let bare = |kind, says| RunLine {
        id: one.id.clone(),
        kind,
        name: one.name().to_owned(),
        release: one.release().map(str::to_owned),
        began: one.began().to_owned(),
        figures: None,
        says,
    };
    match &*one.what {
        Shelved::Figures(run) => {
            let mut line = RunLine::of(run);
            line.id.clone_from(&one.id);
            if matches!(line.says, Says::Unjudged)
                && let Some(headline) = shelf.headline(&one.id)
            {
                line.says = Says::Judged(headline);
            }
            line
        }
        Shelved::Unjudged(_) => bare("run", Says::Unjudged),
        Shelved::Sweep(_) => bare("sweep", Says::Figures),
        Shelved::Ab(_) => bare("comparison", Says::Figures),
        Shelved::Broken { what, remedy } => {
            let (what, remedy) = (what.clone(), remedy.clone());
            bare("run", Says::Broken { what, remedy })
        }
    }
}
