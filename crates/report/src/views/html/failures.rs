//! Failures as evidence, and what became of connections.

use maud::{Markup, html};
use slowpath_diagnose::diagnosis::{
    Diagnosis, EndpointFigures, ErrorCount, ErrorExample, IdleGaps,
};

use crate::{quantity, story};

/// Every kind of failure with what it has in common, and some failures one by one.
pub(super) fn errors(diagnosis: &Diagnosis) -> Markup {
    let failing = || diagnosis.endpoints.iter().filter(|e| !e.errors.is_empty());
    html! {
        @if failing().next().is_some() {
            section id="errors" {
                h2 { "Errors" }
                @if let Some(unseen) = &diagnosis.logs_unseen {
                    p.note { "No log lines: " (unseen) "." }
                }
                @for figures in failing() { (endpoint(diagnosis, figures)) }
            }
        }
    }
}

fn endpoint(diagnosis: &Diagnosis, figures: &EndpointFigures) -> Markup {
    html! {
        h3 { (figures.label()) }
        @if let Some(served) = story::served(figures) { p.note { (served) } }
        @for error in &figures.errors { (kind(diagnosis, error)) }
    }
}

fn kind(diagnosis: &Diagnosis, error: &ErrorCount) -> Markup {
    html! {
        div.card {
            p { strong { (story::error(error)) } }
            p { (story::capital(&error.summary)) }
            dl {
                @for (word, text) in story::error_facts(error) { dt { (word) } dd { (text) } }
            }
            @if let Some(gaps) = &error.idle_gaps { (idle(gaps)) }
            details {
                summary { (quantity::plural(error.examples.len() as u64, "example")) }
                @for one in &error.examples { (example(diagnosis, one)) }
            }
        }
    }
}

fn idle(gaps: &IdleGaps) -> Markup {
    html! {
        p { (story::capital(&story::idle_gaps(gaps))) }
        div.wide { table {
            thead { tr { th { "idle before" } th { "failed" } th { "of" } } }
            tbody {
                @for (range, failed, all) in story::idle_bins(gaps) {
                    tr {
                        td.n { (range) }
                        td.n { (quantity::count(failed)) }
                        td.n { (quantity::count(all)) }
                    }
                }
            }
        } }
    }
}

fn example(diagnosis: &Diagnosis, example: &ErrorExample) -> Markup {
    html! {
        p.note { (story::example(example)) }
        @if example.log.is_empty() {
            p.note { (story::no_lines(diagnosis)) }
        } @else {
            pre.wide { code {
                @for line in &example.log { (story::log_line(line)) "\n" }
            } }
            @if example.log_omitted > 0 {
                p.note { (quantity::plural(example.log_omitted, "further line")) " of that time" }
            }
        }
    }
}

/// What became of connections.
pub(super) fn connections(diagnosis: &Diagnosis) -> Markup {
    let connections = &diagnosis.connections;
    html! {
        @if !connections.notable.is_empty() {
            section id="connections" {
                h2 { "Connections" }
                @for notable in &connections.notable { p { (story::capital(notable)) "." } }
                dl {
                    @for (word, text) in story::connection_facts(connections) {
                        dt { (word) } dd { (text) }
                    }
                }
            }
        }
    }
}
