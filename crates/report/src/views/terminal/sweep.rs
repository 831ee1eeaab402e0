//! The answer of a sweep on a terminal.

use slowpath_experiment::sweep::Sweep;
use unicode_width::UnicodeWidthStr;

use super::flow::{Page, Tint};
use super::{LABEL, Style};
use crate::sweep_story::{self as story, Table};

/// Spaces between columns.
const BETWEEN: usize = 2;

/// The answer to a sweep, ready for stdout. `place` is its directory.
pub fn sweep_terminal(sweep: &Sweep, style: Style, place: &str) -> String {
    let mut page = Page::new(style);
    if sweep.analysis.levels.is_empty() {
        page.words("nothing was measured", Tint::Warn);
        page.end();
        return page.finish();
    }
    table(&mut page, &story::answers(sweep), style.width);
    page.blank();
    table(&mut page, &story::connections(sweep), style.width);
    page.blank();
    for sentence in story::sentences(sweep) {
        page.labelled("-", Tint::Plain, 2);
        page.words(&sentence, Tint::Plain);
        page.end();
    }
    page.blank();
    for trouble in &sweep.troubles {
        labelled(&mut page, "trouble", trouble, Tint::Warn);
    }
    if sweep.interrupted {
        let text = "the sweep was interrupted; the figures cover what was measured";
        labelled(&mut page, "warning", text, Tint::Warn);
    }
    labelled(&mut page, "figures", &story::brackets(sweep), Tint::Plain);
    labelled(&mut page, "sweep", &story::conditions(sweep), Tint::Plain);
    if let Some(window) = sweep.windows.first() {
        let next = format!("slowpath explain {place}/{}", window.dir);
        labelled(
            &mut page,
            "next",
            &format!("each window is a run: {next}"),
            Tint::Plain,
        );
    }
    labelled(
        &mut page,
        "report",
        &format!("{place}/sweep.html"),
        Tint::Plain,
    );
    page.finish()
}

pub(super) fn labelled(page: &mut Page, label: &str, text: &str, tint: Tint) {
    page.labelled(label, tint, LABEL);
    page.words(text, Tint::Plain);
    page.end();
}

/// A table whose columns are aligned to the right; those that do not fit are left out, since the
/// other views hold all.
pub(super) fn table(page: &mut Page, table: &Table, width: usize) {
    let count = table.heads.len();
    let widths: Vec<usize> = (0..count)
        .map(|at| {
            let cells = table.rows.iter().map(|row| row[at].width());
            cells.chain([table.heads[at].width()]).max().unwrap_or(0)
        })
        .collect();
    let mut used = 0;
    let fitting = widths
        .iter()
        .take_while(|&&own| {
            used += own + if used > 0 { BETWEEN } else { 0 };
            used <= width
        })
        .count();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .take(fitting)
            .map(|(cell, &own)| format!("{}{cell}", " ".repeat(own - cell.width())))
            .collect();
        padded.join(&" ".repeat(BETWEEN))
    };
    page.exact(&line(table.heads.clone()), Tint::Bold);
    page.end();
    for row in &table.rows {
        page.exact(&line(row.iter().map(String::as_str).collect()), Tint::Plain);
        page.end();
    }
}
