//! A comparison on a terminal.

use slowpath_experiment::compare::{Comparison, Verdict};

use super::flow::{Page, Tint, columns};
use super::{BETWEEN, LABEL, Style};
use crate::comparison_story as story;

/// The answer of a comparison, ready for stdout: what differs first, then the rows.
pub fn comparison_terminal(comparison: &Comparison, style: Style) -> String {
    let mut page = Page::new(style);
    for warning in story::warnings(comparison) {
        labelled(&mut page, "warning", &warning, Tint::Alarm);
    }
    let differences = story::differences(comparison);
    for (at, difference) in differences.iter().enumerate() {
        let label = if at == 0 { "differs" } else { "" };
        labelled(&mut page, label, difference, Tint::Warn);
    }
    if differences.is_empty() {
        let text = "nothing in host, harness, configuration and versions";
        labelled(&mut page, "differs", text, Tint::Plain);
    }
    labelled(&mut page, "A", &story::side(&comparison.a), Tint::Bold);
    labelled(&mut page, "B", &story::side(&comparison.b), Tint::Bold);
    page.blank();
    rows(&mut page, comparison);
    page.blank();
    for sentence in story::sentences(comparison) {
        page.labelled("-", Tint::Plain, 2);
        page.words(&sentence, Tint::Plain);
        page.end();
    }
    for sentence in story::profile(comparison) {
        page.labelled("-", Tint::Plain, 2);
        page.words(&sentence, Tint::Plain);
        page.end();
    }
    page.blank();
    for note in &comparison.notes {
        labelled(&mut page, "note", note, Tint::Plain);
    }
    let legend = story::legend(comparison);
    labelled(&mut page, "figures", &legend, Tint::Plain);
    if let Some(next) = story::next(comparison) {
        labelled(&mut page, "next", &next, Tint::Plain);
    }
    page.finish()
}

fn rows(page: &mut Page, comparison: &Comparison) {
    let table = story::rows(comparison);
    if table.rows.is_empty() {
        page.words("no row is in both", Tint::Warn);
        page.end();
        return;
    }
    let heads = table.heads.iter().map(|&head| head.to_owned()).collect();
    let mut lines = vec![heads];
    lines.extend(table.rows);
    let widths = columns(&lines);
    let indent = widths.first().copied().unwrap_or(0) + BETWEEN;
    for (at, line) in lines.iter().enumerate() {
        let verdict = at.checked_sub(1).map(|row| comparison.rows[row].verdict);
        page.tinted(line, &widths, BETWEEN, indent, tint(verdict));
    }
}

/// The colour of a row's verdict.
const fn tint(verdict: Option<Verdict>) -> Tint {
    match verdict {
        None => Tint::Bold,
        Some(Verdict::Better) => Tint::Good,
        Some(Verdict::Worse) => Tint::Alarm,
        Some(Verdict::Different | Verdict::NotComparable) => Tint::Warn,
        Some(Verdict::CannotTell) => Tint::Dim,
        Some(Verdict::Same) => Tint::Plain,
    }
}

fn labelled(page: &mut Page, label: &str, text: &str, tint: Tint) {
    page.labelled(label, tint, LABEL);
    page.words(text, Tint::Plain);
    page.end();
}
