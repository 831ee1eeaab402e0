//! The list of runs, and what waits in the investigation log above it.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Origin, RunFigures, Unit};
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::log::{Due, InvestigationView, LogReport, Status};

use super::{Link, Site, Tab, chips, page, when};
use crate::{figure, log_story, quantity};

/// The value of [`Listed::schema`].
pub const LISTED_SCHEMA: &str = "slowpath.runs/1";

/// Open investigations and waiting predictions that the list shows; their page has all.
const WAITING_SHOWN: usize = 4;

/// Metrics that the list shows: the usual request and the slow one.
const SHOWN: [&str; 2] = ["p50", "p99"];

/// Runs of a list, the newest first.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Always [`LISTED_SCHEMA`].
    pub schema: &'static str,
    /// Which page of the list, from 1.
    pub page: usize,
    /// How many pages there are.
    pub pages: usize,
    /// Runs on all pages.
    pub total: usize,
    /// Only runs of this scenario or benchmark, if it was asked for.
    pub name: Option<String>,
    /// Only runs of this release, if it was asked for.
    pub release: Option<String>,
    /// All scenarios and benchmarks that are stored, in order of names.
    pub names: Vec<String>,
    /// The runs of the page.
    pub runs: Vec<RunLine>,
}

/// One run of a list.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    /// The name of its directory.
    pub id: String,
    /// run, benchmark, import, sweep or comparison.
    pub kind: &'static str,
    /// The scenario or benchmark; empty if it is not known.
    pub name: String,
    /// The release, if one was named.
    pub release: Option<String>,
    /// When it began, RFC 3339; empty if it is not known.
    pub began: String,
    /// The endpoint with the longest tail, and its figures.
    pub figures: Option<KeyFigure>,
    /// What it says.
    pub says: Says,
}

/// What a run says, in a line.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// What was judged.
    Judged(Headline),
    /// Nothing was judged yet: opening it judges it.
    Unjudged,
    /// There is nothing to judge.
    Figures,
    /// It cannot be read.
    Broken {
        /// Why.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// The figures mean something else than they say, for these reasons.
    Void(Vec<String>),
}

/// `report.json` as far as a list needs it: what it does not name is not read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The version that judged.
    pub version: String,
    /// The run.
    pub run: HeadlineRun,
    /// What was found, the answer first.
    pub findings: Vec<HeadlineFinding>,
}

/// The run of a [`Headline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadlineRun {
    /// Whether the measurement can be trusted.
    pub valid: bool,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A finding of a [`Headline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadlineFinding {
    /// The cause.
    pub cause: String,
    /// The endpoint; `None` for all.
    pub endpoint: Option<String>,
    /// tail, floor, errors or throughput.
    #[serde(rename = "where")]
    pub place: String,
    /// The share that it explains, from 0 to 1.
    pub share: f64,
    /// How well it is known.
    pub grade: String,
}

/// Median and tail of the endpoint that has the longest tail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyFigure {
    /// The endpoint.
    pub subject: String,
    /// Metric and value in nanoseconds.
    pub values: Vec<(String, f64)>,
    /// Endpoints of the run.
    pub of: usize,
}

/// What a list shows of a run's figures; `None` of one without any time.
pub fn key_figure(run: &RunFigures) -> Option<KeyFigure> {
    let times = || run.rows.iter().filter(|row| row.unit == Unit::Ns);
    let value = |row: &slowpath_core::figures::Row| {
        let whole = row.whole.as_ref().map(|whole| whole.value);
        whole.or_else(|| slowpath_core::stats::median::median(&mut row.values()))
    };
    let of = |metric: &str| {
        let own = times().filter(|row| row.metric == metric);
        let known = own.filter_map(|row| Some((row, value(row)?)));
        known.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
    };
    let worst = of("p99").or_else(|| of("p50")).or_else(|| times().next())?;
    let own: Vec<_> = times().filter(|row| row.subject == worst.subject).collect();
    let mut values: Vec<(String, f64)> = SHOWN
        .iter()
        .filter_map(|metric| {
            let row = own.iter().find(|row| row.metric == *metric)?;
            Some(((*metric).to_owned(), value(row)?))
        })
        .collect();
    if values.is_empty() {
        values.push((worst.metric.clone(), value(worst)?));
    }
    let mut subjects: Vec<&str> = times().map(|row| row.subject.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    Some(KeyFigure {
        subject: worst.subject.clone(),
        values,
        of: subjects.len(),
    })
}

impl RunLine {
    /// What figures alone show of a run; the caller that reads the judgement adds it.
    pub fn of(run: &RunFigures) -> Self {
        let kind = match run.origin {
            Origin::Measured => "run",
            Origin::Bench { .. } => "benchmark",
            Origin::Imported { .. } => "import",
        };
        Self {
            id: run.id.clone(),
            kind,
            name: run.name.clone(),
            release: run.release.clone(),
            began: run.began.clone(),
            figures: key_figure(run),
            says: match (run.void.is_empty(), &run.origin) {
                (false, _) => Says::Void(run.void.clone()),
                (true, Origin::Measured) => Says::Unjudged,
                (true, _) => Says::Figures,
            },
        }
    }
}

/// The list; `log` is what the investigation log says, if there is one that can be read.
pub fn runs_page(site: &Site, listed: &Listed, log: Option<&LogReport>) -> String {
    let body = html! {
        @if listed.page == 1 && listed.name.is_none() && listed.release.is_none() {
            @if let Some(log) = log { (waiting(log)) }
        }
        h1 { "Runs" }
        @if listed.names.len() > 1 || listed.name.is_some() { (filter(listed)) }
        @if let Some(release) = &listed.release {
            p { "Only release " b { (release) } ". "
                a href=(Link::to("/").with_some("name", listed.name.as_deref()).text()) { "All releases" } }
        }
        @if listed.runs.is_empty() { (nothing(listed)) } @else { (list(listed)) (turn(listed)) }
    };
    page(site, Some(Tab::Runs), "Runs", &body)
}

fn nothing(listed: &Listed) -> Markup {
    html! {
        @if listed.name.is_some() || listed.release.is_some() {
            p { "No such run is stored. " a href="/" { "All runs" } }
        } @else {
            p { "No run is stored in this folder yet." }
            p { "Measure one, and it is here: " code { "slowpath run http://127.0.0.1:8080/search -r 200 -d 20s" } }
            p.soft { "Or see one first: " code { "slowpath demo" } "." }
        }
    }
}

fn filter(listed: &Listed) -> Markup {
    let all = ("/".to_owned(), "all", listed.name.is_none());
    let names = listed.names.iter().map(|name| {
        let address = Link::to("/").with("name", name).text();
        (address, name.as_str(), listed.name.as_ref() == Some(name))
    });
    chips("Scenarios", std::iter::once(all).chain(names))
}

/// What waits in the log: open investigations, and predictions that a measurement should settle.
fn waiting(log: &LogReport) -> Markup {
    let open: Vec<&InvestigationView> = log
        .investigations
        .iter()
        .filter(|one| one.status == Status::Open)
        .collect();
    let overdue: Vec<&Due> = log
        .due
        .iter()
        .filter(|due| due.overdue_since.is_some())
        .collect();
    html! {
        @if !open.is_empty() || !overdue.is_empty() {
            section.waiting aria-labelledby="waiting" {
                h2 #waiting { "Under investigation" }
                ul.plain {
                    @for due in overdue.iter().take(WAITING_SHOWN) {
                        li {
                            span.grade.first.invalid { "overdue" } " "
                            a href=(Link::investigation(&due.investigation)) { (due.prediction.that) }
                            " " span.soft { (log_story::due(due)) }
                        }
                    }
                    @for one in open.iter().take(WAITING_SHOWN) {
                        li {
                            span.grade.first.warn { "open" } " "
                            a href=(Link::investigation(&one.id)) { (one.title) }
                            " " span.soft { (log_story::symptom(one)) }
                        }
                    }
                }
                @if open.len() > WAITING_SHOWN || overdue.len() > WAITING_SHOWN {
                    p.note { a href="/investigations" {
                        (quantity::plural(open.len() as u64, "open investigation")) ", "
                        (quantity::plural(overdue.len() as u64, "overdue prediction")) } }
                }
            }
        }
    }
}

fn list(listed: &Listed) -> Markup {
    let chosen = pair(&listed.runs);
    let comparable = listed.runs.iter().filter(|run| is_comparable(run)).count();
    html! {
        form action="/compare" method="get" {
            table.runs {
                thead { tr {
                    th scope="col" { "began (UTC)" } th scope="col" { "scenario" }
                    th scope="col" { "longest tail" } th scope="col" { "what it says" }
                    th.pick scope="col" { "A" } th.pick scope="col" { "B" }
                } }
                tbody { @for (at, run) in listed.runs.iter().enumerate() { (line(run, at, chosen)) } }
            }
            @if comparable > 1 {
                div.sticky { button type="submit" { "Compare A with B" } }
            }
        }
    }
}

fn is_comparable(run: &RunLine) -> bool {
    !matches!(run.kind, "sweep" | "comparison") && !matches!(run.says, Says::Broken { .. })
}

/// The newest run of which an earlier one is of the same scenario, and that one: what a comparison
/// begins with.
fn pair(runs: &[RunLine]) -> Option<(usize, usize)> {
    let known = || {
        runs.iter()
            .enumerate()
            .filter(|(_, run)| is_comparable(run))
    };
    known().find_map(|(newest, of)| {
        let mut earlier = known().skip_while(|(at, _)| *at <= newest);
        let (before, _) = earlier.find(|(_, run)| run.name == of.name)?;
        Some((before, newest))
    })
}

fn line(run: &RunLine, at: usize, chosen: Option<(usize, usize)>) -> Markup {
    let pick = |side: &str, own: Option<usize>| {
        html! {
            @if is_comparable(run) {
                label { span.side { (side) } input type="radio" name=(side.to_lowercase()) value=(run.id)
                    checked[own == Some(at)] aria-label=(format!("{side} is run {}", run.id)); }
            }
        }
    };
    html! {
        tr {
            td.began { @if run.began.is_empty() { span.mono { (run.id) } } @else {
                a href=(Link::run(&run.id)) title=(run.id) { (when(&run.began)) } } }
            td.name {
                @if run.name.is_empty() { span.soft { "unknown" } } @else { b { (run.name) } }
                @if let Some(release) = &run.release {
                    " " a.release href=(Link::to("/").with("name", &run.name).with("release", release).text()) { (release) }
                }
                @if run.kind != "run" { " " span.soft { (run.kind) } }
            }
            td.figures { @if let Some(figures) = &run.figures { (key(figures)) } }
            td.says { (says(run)) }
            td.pick { (pick("A", chosen.map(|(a, _)| a))) }
            td.pick { (pick("B", chosen.map(|(_, b)| b))) }
        }
    }
}

fn key(figures: &KeyFigure) -> Markup {
    html! {
        span.subject { (figures.subject) }
        @for (metric, value) in &figures.values {
            " " span.n { span.soft { (metric) } " " (quantity::duration(value / MILLISECOND as f64)) }
        }
        @if figures.of > 1 { " " span.soft { "of " (figures.of) " endpoints" } }
    }
}

fn says(run: &RunLine) -> Markup {
    let link = |text: &str| html! { a href=(Link::run(&run.id)) { (text) } };
    match &run.says {
        Says::Judged(headline) => judged(run, headline),
        Says::Unjudged => html! { (link("not judged yet")) },
        Says::Figures if run.kind == "sweep" => {
            html! { (link("levels and what their course means")) }
        }
        Says::Figures if run.kind == "comparison" => html! { (link("pairs of blocks")) },
        Says::Figures => html! { (link("figures")) },
        Says::Void(why) => html! {
            span.grade.first.invalid { "void" } " " a href=(Link::run(&run.id)) { (why.join("; ")) }
        },
        Says::Broken { what, remedy } => html! {
            span.grade.first.invalid { "broken" } " " (what)
            @if !remedy.is_empty() { small { "try: " (remedy) } }
        },
    }
}

fn judged(run: &RunLine, headline: &Headline) -> Markup {
    let more = headline.findings.len().saturating_sub(1) as u64;
    html! {
        @if !headline.run.valid { span.grade.first.invalid { "invalid" } " " }
        @if headline.run.interrupted { span.grade.first.warn { "interrupted" } " " }
        @if let Some(first) = headline.findings.first() {
            a.cause href=(Link::run(&run.id)) { (first.cause) }
            span class={ "grade " (first.grade) } { (first.grade) }
            small { (share(first)) @if more > 0 { ", and " (quantity::plural(more, "more finding")) } }
        } @else {
            a href=(Link::run(&run.id)) { "no cause found" }
        }
    }
}

/// `88 % of the tail of search`.
fn share(finding: &HeadlineFinding) -> String {
    let of = finding.endpoint.as_deref();
    let of = of.map_or(String::new(), |endpoint| format!(" of {endpoint}"));
    let share = figure::value(Unit::Share, finding.share);
    format!("{share} of the {}{of}", finding.place)
}

/// The way to the other pages of the list.
fn turn(listed: &Listed) -> Markup {
    let to = |page: usize| {
        Link::to("/")
            .with_some("name", listed.name.as_deref())
            .with_some("release", listed.release.as_deref())
            .with("page", &page.to_string())
            .text()
    };
    html! {
        @if listed.pages > 1 {
            nav.turn aria-label="Pages of the list" {
                @if listed.page > 1 { a rel="prev" href=(to(listed.page - 1)) { "← newer" } }
                span.soft { "page " (listed.page) " of " (listed.pages) ", "
                    (quantity::plural(listed.total as u64, "run")) }
                @if listed.page < listed.pages { a rel="next" href=(to(listed.page + 1)) { "older →" } }
            }
        } @else { p.note { (quantity::plural(listed.total as u64, "run")) } }
    }
}
