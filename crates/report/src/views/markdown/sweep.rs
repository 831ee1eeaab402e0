//! A sweep as Markdown.

use slowpath_experiment::sweep::Sweep;

use super::{code, escaped, line};
use crate::sweep_story::{self as story, Table};

/// The sweep as GitHub-flavoured Markdown.
pub fn sweep_markdown(sweep: &Sweep) -> String {
    let mut text = String::new();
    line(&mut text, &format!("# Sweep of {}", escaped(&sweep.name)));
    line(&mut text, "");
    let begun = escaped(&sweep.began);
    let conditions = escaped(&story::conditions(sweep));
    line(
        &mut text,
        &format!("Sweep `{}`, {begun}: {conditions}.", code(&sweep.id)),
    );
    if sweep.interrupted {
        line(&mut text, "");
        line(
            &mut text,
            "**The sweep was interrupted; the figures cover what was measured.**",
        );
    }
    line(&mut text, "\n## What it shows\n");
    for sentence in story::sentences(sweep) {
        line(&mut text, &format!("- {}", escaped(&sentence)));
    }
    line(&mut text, "\n## Levels\n");
    table(&mut text, &story::answers(sweep));
    line(&mut text, "");
    line(&mut text, &format!("{}.", escaped(&story::brackets(sweep))));
    line(&mut text, "\n## Connections\n");
    table(&mut text, &story::connections(sweep));
    if !sweep.troubles.is_empty() {
        line(&mut text, "\n## Not measured\n");
        for trouble in &sweep.troubles {
            line(&mut text, &format!("- {}", escaped(trouble)));
        }
    }
    text
}

pub(super) fn table(text: &mut String, table: &Table) {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    line(
        text,
        &row(table.heads.iter().map(|head| escaped(head)).collect()),
    );
    line(
        text,
        &row(table.heads.iter().map(|_| "---:".to_owned()).collect()),
    );
    for cells in &table.rows {
        line(text, &row(cells.iter().map(|cell| escaped(cell)).collect()));
    }
}
