//! Runs that are figures and nothing else: benchmarks, imports, and whatever has only words.

use maud::{Markup, html};
use slowpath_core::bench::BenchReport;
use slowpath_core::figures::{Origin, RunFigures};

use super::within::{Beside, around};
use super::{Site, Tab, page, table, when};
use crate::{bench_story as story, figure};

/// A benchmark run or an import.
pub fn bench_page(site: &Site, report: &BenchReport, beside: &Beside) -> String {
    let table_of = story::table(report);
    let body = html! {
        (around(beside))
        (head(&report.figures))
        p.soft { (story::origin(report)) "." }
        (trusted(&report.figures))
        section {
            h2 { "Figures" }
            @if report.figures.rows.is_empty() { p { "Nothing was measured." } }
            @else { (table(&table_of.heads, &table_of.rows)) }
            p.note { (story::brackets(report)) "." }
        }
        (sentences("Trouble", &story::troubles(report)))
        (sentences("Inside executions", &story::inside(report)))
        (sentences("Notes", &report.notes))
        (conditions(&report.figures))
    };
    page(site, Some(Tab::Runs), &report.figures.name, &body)
}

/// A run of which only `figures.json` is left: its figures, and why there is no more.
pub fn figures_page(site: &Site, run: &RunFigures, why: &str, beside: &Beside) -> String {
    let rows: Vec<Vec<String>> = run
        .rows
        .iter()
        .map(|row| {
            let whole = row.whole.as_ref();
            let value = whole.map_or_else(String::new, |whole| {
                let value = figure::value(row.unit, whole.value);
                match whole.low.zip(whole.high) {
                    Some((low, high)) => {
                        format!(
                            "{value} {}",
                            figure::interval(row.unit, whole.value, low, high)
                        )
                    }
                    None => value,
                }
            });
            let repeats: Vec<String> = row
                .repeats
                .iter()
                .map(|repeat| figure::value(row.unit, repeat.value))
                .collect();
            vec![
                row.subject.clone(),
                row.metric.clone(),
                value,
                repeats.join(", "),
                row.refused.clone(),
            ]
        })
        .collect();
    let heads = ["subject", "metric", "over all", "repeats", ""];
    let body = html! {
        (around(beside))
        (head(run))
        @if !why.is_empty() { div.card.banner.warn { p.said { (why) } } }
        (trusted(run))
        section { h2 { "Figures" } (table(&heads, &rows)) }
        (conditions(run))
    };
    page(site, Some(Tab::Runs), &run.name, &body)
}

/// An answer in words, as a terminal shows it.
pub fn text_page(site: &Site, title: &str, text: &str) -> String {
    let body = html! {
        h1 { (title) }
        pre.terminal tabindex="0" { (text) }
    };
    page(site, Some(Tab::Runs), title, &body)
}

fn head(run: &RunFigures) -> Markup {
    let kind = match run.origin {
        Origin::Measured => "run",
        Origin::Bench { .. } => "benchmark",
        Origin::Imported { .. } => "import",
    };
    html! {
        header {
            h1 { (run.name) }
            p.note {
                (kind) " " span.mono { (run.id) } " · " (when(&run.began))
                @if let Some(release) = &run.release { " · release " (release) }
            }
        }
    }
}

fn trusted(run: &RunFigures) -> Markup {
    html! {
        @for why in &run.void {
            div.card.banner.invalid { strong { "Void: " } (why) }
        }
    }
}

fn sentences(heading: &str, all: &[String]) -> Markup {
    html! {
        @if !all.is_empty() {
            section { h2 { (heading) } ul { @for one in all { li { (one) } } } }
        }
    }
}

fn conditions(run: &RunFigures) -> Markup {
    let of = &run.conditions;
    let parts = [
        ("host", &of.host),
        ("target", &of.config),
        ("harness", &of.harness),
        ("versions", &of.versions),
    ];
    let known = || parts.iter().filter(|(_, named)| !named.is_empty());
    html! {
        @if known().next().is_some() {
            section {
                h2 { "Conditions" }
                @for (part, named) in known() {
                    h3 { (part) }
                    dl { @for (name, value) in *named { dt { (name) } dd.mono { (value) } } }
                }
            }
        }
    }
}
