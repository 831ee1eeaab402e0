//! Histories and releases.

use slowpath_core::figures::RunFigures;
use slowpath_experiment::history::Ask as Wanted;
use slowpath_report::site::{
    HistoryChoice, ReleasesChoice, SCENARIOS_SCHEMA, ScenarioLine, histories_page, history_page,
    releases_page,
};

use super::answer::{Answer, Ask, Served, Trouble};
use super::shelf::{Shelved, Stored};

/// Releases on a page unless all are asked for.
const RELEASES_A_PAGE: usize = 12;

/// The history of a scenario, or the scenarios there are.
pub(super) fn history(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let Some(name) = ask.get("name") else {
        return Ok(scenarios(served, ask, &all));
    };
    let own: Vec<&RunFigures> = of_name(&all, name).collect();
    if own.is_empty() {
        return Err(unknown(&all, name));
    }
    let choice = choice(ask, &all, name, &own);
    for (what, asked, known) in [
        ("endpoint", &choice.endpoint, &choice.endpoints),
        ("metric", &choice.metric, &choice.metrics),
    ] {
        if let Some(asked) = asked.as_ref().filter(|asked| !known.contains(asked)) {
            let remedy = format!("one of {}", known.join(", "));
            return Err(Trouble::unknown(
                format!("no run has the {what} {asked:?}"),
                remedy,
            ));
        }
    }
    let wanted = Wanted {
        endpoint: choice.endpoint.clone(),
        metric: choice.metric.clone(),
        floor: None,
    };
    let history = served.shelf.history(&all, name, &wanted);
    if ask.json {
        return Ok(Answer::Json(slowpath_report::history_json(&history)));
    }
    Ok(Answer::Page(history_page(&served.site, &history, &choice)))
}

fn of_name<'a>(all: &'a [Stored], name: &'a str) -> impl Iterator<Item = &'a RunFigures> {
    let figures = all.iter().filter_map(Stored::figures);
    figures.filter(move |run| run.name == name)
}

fn choice(ask: &Ask, all: &[Stored], name: &str, own: &[&RunFigures]) -> HistoryChoice {
    let unjudged = all
        .iter()
        .filter(|one| one.name() == name && matches!(&*one.what, Shelved::Unjudged(_)));
    HistoryChoice {
        endpoint: ask.get("endpoint").map(str::to_owned),
        metric: ask.get("metric").map(str::to_owned),
        endpoints: each(own, |row| &row.subject),
        metrics: each(own, |row| &row.metric),
        all: ask.get("all").is_some(),
        unjudged: unjudged.count() as u64,
    }
}

/// What rows of runs say, each once, in the order in which the newest run has them.
fn each(own: &[&RunFigures], of: impl Fn(&slowpath_core::figures::Row) -> &String) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for row in own.iter().flat_map(|run| &run.rows) {
        if !found.contains(of(row)) {
            found.push(of(row).clone());
        }
    }
    found
}

fn unknown(all: &[Stored], name: &str) -> Trouble {
    let names = super::runs::names(all);
    let remedy = if names.is_empty() {
        "record some with `slowpath run SCENARIO --release NAME`".to_owned()
    } else {
        format!("one of {}", names.join(", "))
    };
    Trouble::unknown(format!("no run of {name:?} is stored"), remedy)
}

fn scenarios(served: &Served, ask: &Ask, all: &[Stored]) -> Answer {
    let mut lines: Vec<ScenarioLine> = Vec::new();
    let mut releases: Vec<Vec<&str>> = Vec::new();
    // The newest come first, so that the first run of a scenario is its newest.
    for run in all.iter().filter_map(Stored::figures) {
        let at = lines
            .iter()
            .position(|line| line.name == run.name)
            .unwrap_or_else(|| {
                lines.push(ScenarioLine {
                    name: run.name.clone(),
                    runs: 0,
                    releases: 0,
                    newest: run.began.clone(),
                    release: run.release.clone(),
                });
                releases.push(Vec::new());
                lines.len() - 1
            });
        lines[at].runs += 1;
        if let Some(release) = run
            .release
            .as_deref()
            .filter(|name| !releases[at].contains(name))
        {
            releases[at].push(release);
            lines[at].releases += 1;
        }
    }
    if ask.json {
        let told = serde_json::json!({ "schema": SCENARIOS_SCHEMA, "scenarios": lines });
        return Answer::Json(format!("{told:#}\n"));
    }
    Answer::Page(histories_page(&served.site, &lines))
}

/// The releases of a scenario, side by side.
pub(super) fn releases(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let newest = all.iter().find_map(Stored::figures);
    let name = ask
        .get("name")
        .or(newest.map(|run| run.name.as_str()))
        .unwrap_or_default();
    if of_name(&all, name).next().is_none() && ask.get("name").is_some() {
        return Err(unknown(&all, name));
    }
    if ask.json {
        let history = served.shelf.history(&all, name, &Wanted::default());
        return Ok(Answer::Json(slowpath_report::history_json(&history)));
    }
    let choice = ReleasesChoice {
        name: name.to_owned(),
        names: super::runs::names(&all),
        most: RELEASES_A_PAGE,
        all: ask.get("all").is_some(),
    };
    Ok(Answer::Page(releases_page(
        &served.site,
        &served.shelf.benchmarks(&all, name),
        &choice,
    )))
}
