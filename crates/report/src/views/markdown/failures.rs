//! Failures as evidence, and what became of connections.

use slowpath_diagnose::diagnosis::{Diagnosis, ErrorCount};

use super::{escaped, line};
use crate::{quantity, story};

/// Both sections; each only if there is something to say.
pub(super) fn section(text: &mut String, diagnosis: &Diagnosis) {
    let failing = || diagnosis.endpoints.iter().filter(|e| !e.errors.is_empty());
    if failing().next().is_some() {
        line(text, "\n## Errors");
        if let Some(unseen) = &diagnosis.logs_unseen {
            line(text, &format!("\nNo log lines: {}.", escaped(unseen)));
        }
    }
    for figures in failing() {
        line(text, &format!("\n### {}", escaped(&figures.label())));
        for error in &figures.errors {
            told(text, diagnosis, error);
        }
    }
    let connections = &diagnosis.connections;
    if connections.notable.is_empty() {
        return;
    }
    line(text, "\n## Connections\n");
    for notable in &connections.notable {
        line(text, &format!("- {}", escaped(notable)));
    }
    for (word, fact) in story::connection_facts(connections) {
        line(text, &format!("- {word}: {}", escaped(&fact)));
    }
}

fn told(text: &mut String, diagnosis: &Diagnosis, error: &ErrorCount) {
    line(text, &format!("\n**{}**\n", escaped(&story::error(error))));
    line(
        text,
        &format!("{}\n", escaped(&story::capital(&error.summary))),
    );
    for (word, fact) in story::error_facts(error) {
        line(text, &format!("- {word}: {}", escaped(&fact)));
    }
    if let Some(gaps) = &error.idle_gaps {
        line(text, &format!("- {}", escaped(&story::idle_gaps(gaps))));
        line(text, "\n| idle before | failed | of |\n|---|---:|---:|");
        for (range, failed, all) in story::idle_bins(gaps) {
            let (failed, all) = (quantity::count(failed), quantity::count(all));
            line(text, &format!("| {} | {failed} | {all} |", escaped(&range)));
        }
        line(text, "");
    }
    for example in &error.examples {
        line(text, &format!("- {}", escaped(&story::example(example))));
        if example.log.is_empty() {
            line(
                text,
                &format!("  - {}", escaped(&story::no_lines(diagnosis))),
            );
        }
        for written in &example.log {
            line(text, &format!("  - {}", escaped(&story::log_line(written))));
        }
        if example.log_omitted > 0 {
            let more = quantity::plural(example.log_omitted, "further line");
            line(text, &format!("  - {more} of that time"));
        }
    }
}
