//! The profiling pass as Markdown.

use slowpath_diagnose::diagnosis::Diagnosis;

use super::{escaped, line};
use crate::story;

/// The section; nothing for a run without a pass.
pub(super) fn section(text: &mut String, diagnosis: &Diagnosis) {
    let Some(view) = &diagnosis.profile else {
        return;
    };
    line(text, "\n## Profile\n");
    for told in story::profile::told(view) {
        line(text, &format!("- {}", escaped(&told)));
    }
    if !view.leads.is_empty() {
        line(text, "\n### Leads\n");
    }
    for lead in &view.leads {
        let told = [lead.summary.clone(), story::profile::remedies(lead)];
        line(text, &format!("- {}", escaped(&told.join("; "))));
    }
    if let Some(limits) = story::profile::limits(&view.leads) {
        line(text, &format!("\n{}.", escaped(&story::capital(&limits))));
    }
    let Some(cpu) = &view.cpu else {
        return;
    };
    line(text, "\n| function | own | flat | cumulative |");
    line(text, "|---|---:|---:|---:|");
    for function in story::profile::listed(cpu) {
        let shares = [&function.own, &function.flat, &function.cumulative];
        let shares = shares.map(story::profile::share).join(" | ");
        line(
            text,
            &format!("| {} | {shares} |", escaped(&function.function)),
        );
    }
}
