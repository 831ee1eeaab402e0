//! One investigation from its first entry to the last, with its predictions drawn against what came.

use maud::{Markup, html};
use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::history::History;
use slowpath_experiment::log::{
    EntryView, FigureView, InvestigationView, PredictionView, Standing,
};

use super::investigations::{BrokenFile, badge, mistakes};
use super::strips::{Behind, Strip, strips};
use super::{Link, Site, Tab, page, paragraphs, when};
use crate::plot::Scale;
use crate::views::html::history::{Predicted, course};
use crate::{figure, log_story as words, quantity, story};

/// Endings of files that are shown as pictures.
const PICTURES: [&str; 6] = [".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// What is stored here of what an investigation rests on.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Runs that are stored, each with the number of its repeats.
    pub runs: Vec<(String, u64)>,
    /// The history of the figure that the investigation is about, if runs of its scenario are stored.
    pub history: Option<History>,
}

impl Evidence {
    fn repeats(&self, run: &str) -> Option<u64> {
        let found = self.runs.iter().find(|(id, _)| id == run);
        found.map(|(_, repeats)| *repeats)
    }
}

/// The thread of an investigation.
pub fn thread_page(
    site: &Site,
    of: &InvestigationView,
    evidence: &Evidence,
    broken: &[BrokenFile],
) -> String {
    let body = html! {
        header {
            h1 { (of.title) (badge(of.status)) }
            p { (words::symptom(of)) }
            @if !of.reason.is_empty() { p.said { (of.reason) } }
            p.note { span.mono { (of.id) } " · opened " (when(&of.opened)) " · "
                a href=(Link::history(&of.scenario).text()) { "history of " (of.scenario) } }
        }
        (mistakes(broken))
        @if let Some(history) = &evidence.history { (so_far(of, history)) }
        (predictions(of, evidence))
        section.story aria-labelledby="thread" {
            h2 #thread { "What happened" }
            ol { @for entry in &of.entries { (told(entry, of, evidence)) } }
        }
    };
    page(site, Some(Tab::Investigations), &of.title, &body)
}

/// The figure of the investigation over all stored releases.
fn so_far(of: &InvestigationView, history: &History) -> Markup {
    let Some(setting) = history.settings.first() else {
        return html! {};
    };
    let predicted: Vec<Predicted<'_>> = of
        .entries
        .iter()
        .filter_map(|entry| Some((entry, entry.prediction.as_ref()?)))
        .filter(|(_, prediction)| prediction.metric == of.metric)
        .filter_map(|(entry, prediction)| {
            let range = (prediction.low, prediction.high);
            let release = tested(of, entry, prediction)?;
            Some(Predicted { release, range })
        })
        .collect();
    html! {
        @for track in &setting.tracks {
            section {
                h2 { (track.subject) "." (track.metric) " over releases" }
                (course(setting, track, &predicted))
            }
        }
    }
}

/// The release that a prediction was compared with last, or by which it has to be measured.
fn tested<'a>(
    of: &'a InvestigationView,
    entry: &EntryView,
    prediction: &'a PredictionView,
) -> Option<&'a str> {
    let outcomes = of.entries.iter().filter(|one| one.kind == "outcome");
    let mut own = outcomes.filter(|one| one.of.as_ref() == Some(&entry.id));
    let last = own.rfind(|one| one.release.is_some());
    last.and_then(|one| one.release.as_deref())
        .or(prediction.due.as_deref())
}

fn predictions(of: &InvestigationView, evidence: &Evidence) -> Markup {
    let made = || {
        of.entries
            .iter()
            .filter_map(|entry| Some((entry, entry.prediction.as_ref()?)))
    };
    html! {
        @if made().next().is_some() {
            section {
                h2 { "What was predicted, and what came" }
                @for (entry, prediction) in made() { (drawn(of, entry, prediction, evidence)) }
                p.note { "The shaded interval was predicted before it was measured; lines are the intervals of \
                          what was measured." }
            }
        }
    }
}

fn drawn(
    of: &InvestigationView,
    entry: &EntryView,
    prediction: &PredictionView,
    evidence: &Evidence,
) -> Markup {
    let mut rows = Vec::new();
    // What was measured when it was opened is the figure of the symptom, and of no other.
    if prediction.metric == of.metric
        && let Some(then) = &of.measured
    {
        let since = of.since.as_deref().unwrap_or("when it was opened");
        rows.push(measured(
            since,
            then,
            "unsure",
            "then",
            of.runs.as_slice(),
            evidence,
        ));
    }
    let outcomes = of
        .entries
        .iter()
        .filter(|one| one.of.as_ref() == Some(&entry.id));
    for outcome in outcomes.filter(|one| one.kind == "outcome") {
        let verdict = outcome.verdict.as_deref().unwrap_or("undecided");
        let label = outcome.release.as_deref().unwrap_or("by experiment");
        match &outcome.measured {
            Some(figure) => rows.push(measured(
                label,
                figure,
                class(verdict),
                verdict,
                &outcome.runs,
                evidence,
            )),
            None => rows.push(unmeasured(label, verdict)),
        }
    }
    let ends = rows.iter().flat_map(|row: &Strip| {
        let (low, high) = row.range.unzip();
        [row.value, low, high]
    });
    let own = [prediction.low, prediction.high].map(|end| on_axis(prediction.unit, end));
    let scale = scale(&ends.flatten().chain(own).collect::<Vec<f64>>());
    let behind = Behind {
        band: Some((own[0], own[1])),
        mark: None,
    };
    let caption = format!("{}, measured against what was predicted", prediction.metric);
    let unit = prediction.unit;
    html! {
        div.card.prediction {
            p { a.cause href=(format!("#{}", entry.id)) { (prediction.that) } (standing(prediction.standing)) }
            p.note { "made " (when(&entry.at)) @if let Some(by) = &entry.by { " by " (by) }
                @if let Some(cause) = &entry.cause { " · cause: " (cause) }
                @if let Some(due) = &prediction.due { " · due by " (due) } }
            @if rows.is_empty() { p.soft { "Nothing was measured of it yet." } }
            (strips(&caption, scale, &scale.ticks(), &|value| shown(unit, value), &behind, &rows))
        }
    }
}

/// The scale on which everything is seen: by logarithm if it spans more than [`LOG_FROM`].
fn scale(values: &[f64]) -> Scale {
    /// Values that differ by more than this factor are drawn on a logarithmic axis.
    const LOG_FROM: f64 = 8.0;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let by_logarithm = least > 0.0 && most / least > LOG_FROM;
    let logarithmic = by_logarithm.then(|| Scale::log_around(values.iter().copied()));
    logarithmic
        .flatten()
        .unwrap_or_else(|| Scale::from_zero(values.iter().copied()))
}

fn measured(
    label: &str,
    of: &FigureView,
    class: &'static str,
    verdict: &str,
    runs: &[String],
    evidence: &Evidence,
) -> Strip {
    let place = |value: f64| on_axis(of.unit, value);
    Strip {
        label: html! { b { (label) } },
        value: Some(place(of.value)),
        range: of
            .low
            .zip(of.high)
            .map(|(low, high)| (place(low), place(high))),
        class,
        told: html! {
            span class={ "verdict " (class) } { (verdict.replace('-', " ")) } " " (words::measured(of))
            small { (rests_on(runs, evidence)) }
        },
    }
}

fn unmeasured(label: &str, verdict: &str) -> Strip {
    Strip {
        label: html! { b { (label) } },
        value: None,
        range: None,
        class: "unsure",
        told: html! { span.verdict.unsure { (verdict.replace('-', " ")) } },
    }
}

/// What a figure rests on: `5 repeats of 1 run`.
fn rests_on(runs: &[String], evidence: &Evidence) -> String {
    let known: Option<Vec<u64>> = runs.iter().map(|run| evidence.repeats(run)).collect();
    let count = quantity::plural(runs.len() as u64, "run");
    match known.as_deref() {
        Some([]) => "no run is named".to_owned(),
        Some([repeats]) => format!("n: {} of one run", quantity::plural(*repeats, "repeat")),
        Some(repeats) => {
            let all: u64 = repeats.iter().sum();
            format!("n: {count} with {}", quantity::plural(all, "repeat"))
        }
        None => format!("n: {count}, not stored here"),
    }
}

fn class(verdict: &str) -> &'static str {
    match verdict {
        "held" => "good",
        "failed" => "bad",
        _ => "unsure",
    }
}

fn standing(standing: Standing) -> Markup {
    let class = match standing {
        Standing::Held => "ok",
        Standing::Failed | Standing::Overdue => "invalid",
        Standing::Open | Standing::Undecided | Standing::NotComparable => "warn",
        Standing::Dropped => "",
    };
    html! { span class={ "grade " (class) } { (standing.words()) } }
}

/// A value as the axis takes it: times in milliseconds.
fn on_axis(unit: Unit, value: f64) -> f64 {
    if unit == Unit::Ns {
        value / MILLISECOND as f64
    } else {
        value
    }
}

fn shown(unit: Unit, value: f64) -> String {
    if unit == Unit::Ns {
        quantity::duration(value)
    } else {
        figure::value(unit, value)
    }
}

fn told(entry: &EntryView, of: &InvestigationView, evidence: &Evidence) -> Markup {
    let (pictures, files): (Vec<&String>, Vec<&String>) =
        entry.figures.iter().partition(|name| is_picture(name));
    let address = |name: &str| {
        Link::to("/investigations")
            .part(&of.id)
            .part("files")
            .part(name)
            .text()
    };
    html! {
        li id=(entry.id) class=(entry.kind) {
            h3 { (story::capital(&words::kind(entry)))
                span.note { " " (when(&entry.at)) @if let Some(by) = &entry.by { ", " (by) } } }
            (paragraphs(&entry.text))
            @let facts = words::facts(entry, of);
            @if !facts.is_empty() { ul { @for fact in &facts { li { (fact) } } } }
            @if !entry.runs.is_empty() {
                p.note { "rests on " @for run in &entry.runs {
                    @if evidence.repeats(run).is_some() { a.mono href=(Link::run(run)) { (run) } " " }
                    @else { span.mono { (run) } " (not stored here) " } } }
            }
            @for name in &pictures { img src=(address(name)) alt=(name) loading="lazy"; }
            @for name in &files { p.note { a href=(address(name)) { (name) } } }
            @for link in &entry.links { p.note { (outside(link)) } }
        }
    }
}

/// A link to elsewhere; what is no address of the web stays text.
fn outside(link: &str) -> Markup {
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    html! {
        @if is_web { a href=(link) rel="noopener noreferrer" { (link) } } @else { (link) }
    }
}

fn is_picture(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PICTURES.iter().any(|ending| name.ends_with(ending))
}
