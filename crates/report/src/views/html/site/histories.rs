//! Histories: the scenarios there are, and one over its releases.

use maud::{Markup, html};
use serde::Serialize;
use slowpath_experiment::history::History;

use super::{Link, Site, Tab, chips, page, when};
use crate::history_story as story;
use crate::quantity;
use crate::views::html::history::{Place, told};

/// The value of `schema` in the list of scenarios.
pub const SCENARIOS_SCHEMA: &str = "slowpath.scenarios/1";

/// A scenario or benchmark of which runs are stored.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioLine {
    /// Its name.
    pub name: String,
    /// Stored runs.
    pub runs: u64,
    /// Releases among them.
    pub releases: u64,
    /// When the newest run began, RFC 3339.
    pub newest: String,
    /// Its release.
    pub release: Option<String>,
}

/// What a history is narrowed down to, and what else there is.
#[derive(Clone, Debug, Default)]
pub struct HistoryChoice {
    /// Only this endpoint.
    pub endpoint: Option<String>,
    /// Only this metric.
    pub metric: Option<String>,
    /// All endpoints of its runs.
    pub endpoints: Vec<String>,
    /// All metrics of its runs.
    pub metrics: Vec<String>,
    /// Whether tables hold every release.
    pub all: bool,
    /// Measured runs that are left out, since they were not judged yet.
    pub unjudged: u64,
}

/// Releases that a table shows unless all are asked for.
const RELEASES_SHOWN: usize = 40;

/// All scenarios, the one that was measured last first.
pub fn histories_page(site: &Site, scenarios: &[ScenarioLine]) -> String {
    let body = html! {
        h1 { "History" }
        @if scenarios.is_empty() {
            p { "No run is stored yet. Measure releases with "
                code { "slowpath run SCENARIO.toml --release NAME" }
                ": what changes, drifts and comes back is shown here." }
        } @else {
            p.soft { "What became of each scenario's figures over its releases." }
            ul.plain.cards {
                @for one in scenarios {
                    li.card {
                        a.cause href=(Link::history(&one.name).text()) { (one.name) }
                        p.soft {
                            (quantity::plural(one.releases, "release")) ", "
                            (quantity::plural(one.runs, "run")) "; last measured " (when(&one.newest))
                            @if let Some(release) = &one.release { " as " (release) }
                        }
                    }
                }
            }
        }
    };
    page(site, Some(Tab::History), "History", &body)
}

/// Runs that count nowhere: a line each, folded where there are several.
fn void(history: &History) -> Markup {
    let all = story::void(history);
    html! {
        @if let [one] = all.as_slice() { div.card.banner.warn { (one) } }
        @if all.len() > 1 {
            details.card.banner.warn {
                summary { (quantity::plural(all.len() as u64, "void run")) " left out" }
                ul { @for one in &all { li { (one) } } }
            }
        }
    }
}

/// One scenario over its releases, as `slowpath history` judges it.
pub fn history_page(site: &Site, history: &History, choice: &HistoryChoice) -> String {
    let own = |endpoint: Option<&str>, metric: Option<&str>| {
        Link::history(&history.name)
            .with_some("endpoint", endpoint)
            .with_some("metric", metric)
            .text()
    };
    let (endpoint, metric) = (choice.endpoint.as_deref(), choice.metric.as_deref());
    let all = Link::history(&history.name)
        .with_some("endpoint", endpoint)
        .with_some("metric", metric)
        .with("all", "yes");
    let place = Place {
        run: &|id| Some(Link::run(id)),
        most: if choice.all {
            usize::MAX
        } else {
            RELEASES_SHOWN
        },
        all: Some(all.text()),
    };
    let body = html! {
        h1 { "History of " (story::heading(history)) }
        @if choice.endpoints.len() > 1 {
            (chips("Endpoints", std::iter::once((own(None, metric), "all endpoints", endpoint.is_none())).chain(
                choice.endpoints.iter().map(|name| {
                    (own(Some(name), metric), name.as_str(), endpoint == Some(name))
                }))))
        }
        @if choice.metrics.len() > 1 {
            (chips("Metrics", std::iter::once((own(endpoint, None), "p50 and p99", metric.is_none())).chain(
                choice.metrics.iter().map(|name| {
                    (own(endpoint, Some(name)), name.as_str(), metric == Some(name))
                }))))
        }
        @if choice.unjudged > 0 {
            div.card.banner.warn {
                (quantity::plural(choice.unjudged, "run")) " of it was not judged yet and is left out; "
                code { "slowpath history" } " judges what is missing."
            }
        }
        (void(history))
        @if history.settings.is_empty() { p { "No run of it can be trusted." } }
        @for setting in &history.settings { (told(history, setting, &place)) }
        p.note { (story::legend(history)) "." }
    };
    page(
        site,
        Some(Tab::History),
        &format!("History of {}", history.name),
        &body,
    )
}
