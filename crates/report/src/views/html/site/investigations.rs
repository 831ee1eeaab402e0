//! The investigation log: all investigations, what waits, and how often we were right.

use maud::{Markup, html};
use slowpath_experiment::log::{InvestigationView, LogMistake, LogReport, Status};

use super::{Link, Site, Tab, page, when};
use crate::{log_story as words, quantity};

/// A file of the log that cannot be read, with what its investigation is called.
#[derive(Clone, Debug)]
pub struct BrokenFile {
    /// What is wrong, and what to do.
    pub mistake: LogMistake,
    /// The investigation that it lies in.
    pub investigation: String,
}

/// The log; `None` of a project that keeps none in `folder`.
pub fn investigations_page(
    site: &Site,
    folder: &str,
    log: Option<&LogReport>,
    broken: &[BrokenFile],
) -> String {
    let body = html! {
        h1 { "Investigations" }
        @match log {
            None => (none(folder)),
            Some(log) => {
                (mistakes(broken))
                @if log.investigations.is_empty() && broken.is_empty() {
                    p { "There is none yet: " code { "slowpath log new TITLE --metric ENDPOINT.METRIC --run last" }
                        " opens one, and a run of a release that stands out does it by itself." }
                }
                (all(log))
                (due(log))
                (right(log))
            }
        }
    };
    page(site, Some(Tab::Investigations), "Investigations", &body)
}

fn none(folder: &str) -> Markup {
    html! {
        p { "This project keeps no investigation log: there is no folder " code { (folder) } "." }
        p { "A log says what was seen, supposed, predicted, tried and found, in small files that git merges. "
            code { "slowpath log new \"The tail of search\" --metric search.p99 --run last" }
            " opens the first investigation; from then on each run with " code { "--release" }
            " is compared with what was predicted." }
    }
}

/// What is wrong with files of the log, each with what to do.
pub(super) fn mistakes(broken: &[BrokenFile]) -> Markup {
    html! {
        @for one in broken {
            div.card.banner.invalid {
                p { strong { "Broken: " } span.mono { (one.mistake.file) ":" (one.mistake.line) }
                    @if !one.mistake.key.is_empty() { " " code { (one.mistake.key) } } ": " (one.mistake.what) }
                @if !one.mistake.remedy.is_empty() { p { span.soft { "try: " } (one.mistake.remedy) } }
            }
        }
        @if !broken.is_empty() {
            p.note { "The other entries are shown; " code { "slowpath log check" } " reads all files." }
        }
    }
}

fn all(log: &LogReport) -> Markup {
    html! {
        @if !log.investigations.is_empty() {
            ul.plain.cards {
                @for one in &log.investigations {
                    li.card {
                        a.cause href=(Link::investigation(&one.id)) { (one.title) }
                        (badge(one.status))
                        p { (words::symptom(one)) }
                        @if !one.reason.is_empty() { p.soft { (one.reason) } }
                        p.note { span.mono { (one.id) } " · opened " (when(&one.opened)) " · "
                            (entries(one)) ", the last " (when(&one.changed)) " · " (predictions(one)) }
                    }
                }
            }
        }
    }
}

fn entries(of: &InvestigationView) -> String {
    match of.entries.len() as u64 {
        1 => "1 entry".to_owned(),
        many => format!("{} entries", quantity::count(many)),
    }
}

/// How many predictions there are, and how they stand.
fn predictions(of: &InvestigationView) -> String {
    let all = of
        .entries
        .iter()
        .filter_map(|entry| entry.prediction.as_ref());
    let standings: Vec<&str> = all.map(|prediction| prediction.standing.words()).collect();
    if standings.is_empty() {
        return "nothing predicted".to_owned();
    }
    format!("predicted: {}", standings.join(", "))
}

/// How an investigation stands, as a badge.
pub(super) fn badge(status: Status) -> Markup {
    let class = match status {
        Status::Open | Status::FixedUnconfirmed => "warn",
        Status::Explained | Status::FixedAndConfirmed => "ok",
        Status::NotFixed | Status::Refuted => "",
    };
    html! { span class={ "grade " (class) } { (status.words()) } }
}

fn due(log: &LogReport) -> Markup {
    html! {
        @if !log.due.is_empty() {
            section {
                h2 { "Predictions that wait for a measurement" }
                ul.plain {
                    @for due in &log.due {
                        li {
                            @if due.overdue_since.is_some() { span.grade.first.invalid { "overdue" } " " }
                            a href=(Link::investigation(&due.investigation)) { (due.prediction.that) }
                            " " span.soft { (words::due(due)) ", predicted " (when(&due.at)) }
                            @if !due.so_far.is_empty() { small { "so far: " (due.so_far) } }
                        }
                    }
                }
            }
        }
    }
}

fn right(log: &LogReport) -> Markup {
    let said = words::calibration(&log.calibration);
    html! {
        @if !log.investigations.is_empty() {
            section { h2 { "How often we were right" } ul { @for one in &said { li { (one) } } } }
        }
    }
}
