//! Releases with their figures, the newest first, and with what each may be compared.

use maud::{Markup, html};
use slowpath_experiment::log::{BenchmarkRelease, Benchmarks};

use super::{Link, Site, Tab, chips, page, when};
use crate::{figure, quantity};

/// What is shown of the releases.
#[derive(Clone, Debug, Default)]
pub struct ReleasesChoice {
    /// The scenario that is shown; empty if none is stored.
    pub name: String,
    /// All scenarios.
    pub names: Vec<String>,
    /// Releases that are shown at most.
    pub most: usize,
    /// Whether all were asked for.
    pub all: bool,
}

/// The releases of a scenario.
pub fn releases_page(site: &Site, benchmarks: &Benchmarks, choice: &ReleasesChoice) -> String {
    let setting = benchmarks
        .settings
        .iter()
        .find(|one| one.name == choice.name);
    let releases = setting.map_or(&[][..], |setting| setting.releases.as_slice());
    let shown = if choice.all {
        releases.len()
    } else {
        choice.most
    };
    let body = html! {
        h1 { "Releases" @if !choice.name.is_empty() { " of " (choice.name) } }
        @if choice.names.len() > 1 {
            (chips("Scenarios", choice.names.iter().map(|name| {
                (Link::to("/releases").with("name", name).text(), name.as_str(), *name == choice.name)
            })))
        }
        @if releases.is_empty() {
            p { "No release is stored yet: " code { "slowpath run SCENARIO.toml --release NAME" } " measures one." }
        }
        @for release in releases.iter().take(shown) { (told(&choice.name, release)) }
        @if releases.len() > shown {
            p { a href=(Link::to("/releases").with("name", &choice.name).with("all", "yes").text()) {
                "and " (quantity::plural((releases.len() - shown) as u64, "older release")) } }
        }
        p.note { "In brackets stands the range or the ranks of the runs of a release; of a single run that of its \
                  repeats; of a single repeat the interval within it. ~ is what a single repeat showed without one." }
    };
    page(site, Some(Tab::Releases), "Releases", &body)
}

fn told(name: &str, release: &BenchmarkRelease) -> Markup {
    let metrics = columns(release);
    html! {
        section.release {
            h2 { (release.label) span.note { " " (when(&release.began)) } }
            @for why in &release.void { div.card.banner.invalid { strong { "Void: " } (why) } }
            (comparable(name, release))
            div.wide tabindex="0" role="region" aria-label={ "Figures of " (release.label) } {
                table {
                    thead { tr { th scope="col" { "endpoint" } th scope="col" { "n" }
                        @for metric in &metrics { th scope="col" { (metric) } } } }
                    tbody { @for row in &release.rows { tr {
                        td { a href=(Link::history(name).with("endpoint", &row.subject).text()) { (row.subject) } }
                        td.n { (row.n.map_or("unknown".to_owned(), quantity::count)) }
                        @for metric in &metrics {
                            td.n { @for (own, unit, of) in &row.figures { @if own == metric {
                                (figure::estimate(*unit, of)) } } }
                        }
                    } } }
                }
            }
            p.note { (quantity::plural(release.runs.len() as u64, "run")) ": "
                @for run in &release.runs { a.mono href=(Link::run(run)) { (run) } " " } }
        }
    }
}

/// With what it may be compared, and the way to that.
fn comparable(name: &str, release: &BenchmarkRelease) -> Markup {
    let Some(before) = &release.before else {
        return html! { p.note { "the first" } };
    };
    let address = Link::to("/compare")
        .with("name", name)
        .with("a", before)
        .with("b", &release.label);
    html! {
        p.note {
            a href=(address.text()) { "compare with " (before) }
            @if !release.obstacles.is_empty() { ": not comparable, " (release.obstacles.join(", ")) }
        }
    }
}

/// The metrics of a release, each once, in the order of its rows.
fn columns(release: &BenchmarkRelease) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for (metric, _, _) in release.rows.iter().flat_map(|row| &row.figures) {
        if !all.contains(&metric.as_str()) {
            all.push(metric);
        }
    }
    all
}
