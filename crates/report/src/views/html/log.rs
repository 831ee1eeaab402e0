//! What the run says to the investigation log: which investigations it touched, and what its
//! predictions came to.

use maud::{Markup, html};
use slowpath_experiment::log::{EntryView, InvestigationView};

use crate::{log_story as words, quantity, story};

/// The investigations with an entry that rests on the run, and these entries; nothing if there are none.
pub(super) fn section(run: &str, log: &[InvestigationView]) -> Markup {
    let own = |entry: &&EntryView| entry.runs.iter().any(|id| id == run);
    let touched: Vec<(&InvestigationView, Vec<&EntryView>)> = log
        .iter()
        .map(|one| (one, one.entries.iter().filter(own).collect()))
        .filter(|(_, entries): &(_, Vec<&EntryView>)| !entries.is_empty())
        .collect();
    html! {
        @if !touched.is_empty() {
            section id="log" {
                h2 { "Investigations" }
                p.note { (came_to(&touched)) }
                @for (one, entries) in &touched {
                    div.card {
                        span.cause { (one.id) } span.badge { (one.status.words()) }
                        p { (one.title) ": " (words::symptom(one)) "." }
                        @for entry in entries { (told(entry, one)) }
                    }
                }
            }
        }
    }
}

/// What became of the predictions that the run was compared with.
fn came_to(touched: &[(&InvestigationView, Vec<&EntryView>)]) -> String {
    let entries = touched.iter().flat_map(|(_, entries)| entries);
    let outcomes: Vec<&str> = entries
        .filter(|entry| entry.kind == "outcome")
        .filter_map(|entry| entry.verdict.as_deref())
        .collect();
    if outcomes.is_empty() {
        return "This run is evidence in these, and tested no prediction.".to_owned();
    }
    let said = ["held", "failed", "undecided", "not-comparable"].map(|verdict| {
        let count = outcomes.iter().filter(|one| **one == verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.replace('-', " ")))
    });
    let said: Vec<String> = said.into_iter().flatten().collect();
    format!(
        "This run was compared with {}: {}.",
        quantity::plural(outcomes.len() as u64, "prediction"),
        said.join(", ")
    )
}

fn told(entry: &EntryView, of: &InvestigationView) -> Markup {
    let by = entry.by.as_deref();
    let facts = words::facts(entry, of);
    html! {
        p { b { (story::capital(&words::kind(entry))) }
            span.note { " " (words::minute(&entry.at)) @if let Some(by) = by { ", " (by) } } }
        @if !entry.text.is_empty() { p { (entry.text) } }
        @if !facts.is_empty() {
            ul { @for fact in &facts { li { (fact) } } }
        }
    }
}
