//! The investigation log on a terminal.

use slowpath_experiment::log::{InvestigationView, LogReport, Status};

use super::flow::{Page, Tint, columns};
use super::{BETWEEN, Style};
use crate::log_story as story;

/// Width of what an entry is.
const KIND: usize = 20;

/// All investigations, a line each, and what waits.
pub fn log_terminal(report: &LogReport, style: Style) -> String {
    let mut page = Page::new(style);
    if report.investigations.is_empty() {
        page.words("no investigation", Tint::Plain);
        page.end();
        return page.finish();
    }
    let rows: Vec<Vec<String>> = report
        .investigations
        .iter()
        .map(|one| {
            vec![
                one.id.clone(),
                one.status.words().to_owned(),
                story::symptom(one),
                one.title.clone(),
            ]
        })
        .collect();
    let widths = columns(&rows);
    let indent = widths.first().copied().unwrap_or(0) + BETWEEN;
    for row in &rows {
        page.fields(row, &widths, BETWEEN, indent);
    }
    let overdue = report.due.iter().filter(|one| one.overdue_since.is_some());
    let overdue = overdue.count() as u64;
    if overdue > 0 {
        page.blank();
        let text = crate::quantity::plural(overdue, "overdue prediction");
        page.words(&format!("{text}: slowpath log due"), Tint::Warn);
        page.end();
    }
    page.finish()
}

/// Investigations from their first entry to the last.
pub fn investigations_terminal(report: &LogReport, style: Style) -> String {
    let mut page = Page::new(style);
    for one in &report.investigations {
        page.blank();
        told(&mut page, one);
    }
    page.finish()
}

fn told(page: &mut Page, of: &InvestigationView) {
    page.words(&format!("{}: {}", of.id, of.title), Tint::Bold);
    page.end();
    page.words(of.status.words(), tint(of.status));
    if !of.reason.is_empty() {
        page.words(&format!("({})", of.reason), Tint::Plain);
    }
    page.end();
    for entry in &of.entries {
        page.blank();
        page.labelled(&story::kind(entry), Tint::Bold, KIND);
        let by = entry.by.as_ref();
        let by = by.map_or(String::new(), |by| format!(" by {by}"));
        let head = format!("{}{by} ({})", story::minute(&entry.at), entry.id);
        page.words(&head, Tint::Dim);
        page.end();
        let lines = entry.text.lines().map(str::to_owned);
        for line in lines.chain(story::facts(entry, of)) {
            page.indent(KIND);
            page.words(&line, Tint::Plain);
            page.end();
        }
        let beside = [
            ("runs", &entry.runs),
            ("links", &entry.links),
            ("files", &entry.figures),
        ];
        for (what, all) in beside {
            if !all.is_empty() {
                page.indent(KIND);
                page.words(&format!("{what}: {}", all.join(" ")), Tint::Dim);
                page.end();
            }
        }
    }
}

const fn tint(status: Status) -> Tint {
    match status {
        Status::Open | Status::FixedUnconfirmed => Tint::Warn,
        Status::Explained | Status::FixedAndConfirmed => Tint::Good,
        Status::NotFixed | Status::Refuted => Tint::Plain,
    }
}

/// Predictions that wait for a measurement.
pub fn due_terminal(report: &LogReport, style: Style) -> String {
    let mut page = Page::new(style);
    if report.due.is_empty() {
        page.words("no prediction waits for a measurement", Tint::Plain);
        page.end();
    }
    for due in &report.due {
        let overdue = due.overdue_since.is_some();
        page.words(&due.investigation, Tint::Bold);
        page.words(&due.prediction.that, Tint::Plain);
        let tint = if overdue { Tint::Alarm } else { Tint::Plain };
        page.words(&format!("({})", story::due(due)), tint);
        page.end();
        page.indent(2);
        page.words(&format!("predicted {}", story::minute(&due.at)), Tint::Dim);
        page.words(&format!("({})", due.hypothesis), Tint::Dim);
        page.end();
        if !due.so_far.is_empty() {
            page.indent(2);
            page.words(&due.so_far, Tint::Dim);
            page.end();
        }
    }
    page.finish()
}

/// How often we were right.
pub fn calibration_terminal(report: &LogReport, style: Style) -> String {
    let mut page = Page::new(style);
    for sentence in story::calibration(&report.calibration) {
        page.labelled("-", Tint::Plain, 2);
        page.words(&sentence, Tint::Plain);
        page.end();
    }
    page.finish()
}
