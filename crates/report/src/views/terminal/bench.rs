//! The answer of a benchmark run on a terminal.

use slowpath_core::bench::BenchReport;
use unicode_width::UnicodeWidthStr;

use super::flow::{Page, Tint};
use super::{LABEL, Style};
use crate::bench_story::{self as story, WORDS};
use crate::sweep_story::Table;

/// Spaces between columns.
const BETWEEN: usize = 2;

/// Sentences about the observations inside executions that are shown.
const INSIDE_SHOWN: usize = 8;

/// The answer to a benchmark run, ready for stdout. `place` is its directory.
pub fn bench_terminal(report: &BenchReport, style: Style, place: &str) -> String {
    let mut page = Page::new(style);
    if report.figures.rows.is_empty() {
        page.words("nothing was measured", Tint::Warn);
        page.end();
    } else {
        table(&mut page, &story::table(report));
    }
    page.blank();
    for trouble in story::troubles(report) {
        labelled(&mut page, "trouble", &trouble, Tint::Warn);
    }
    let inside = story::inside(report);
    for sentence in inside.iter().take(INSIDE_SHOWN) {
        labelled(&mut page, "inside", sentence, Tint::Plain);
    }
    if inside.len() > INSIDE_SHOWN {
        let more = format!("{} more in bench.json", inside.len() - INSIDE_SHOWN);
        labelled(&mut page, "", &more, Tint::Dim);
    }
    for note in &report.notes {
        labelled(&mut page, "note", note, Tint::Plain);
    }
    labelled(&mut page, "figures", &story::brackets(report), Tint::Plain);
    labelled(&mut page, "run", &story::origin(report), Tint::Plain);
    labelled(&mut page, "kept", place, Tint::Plain);
    page.finish()
}

fn labelled(page: &mut Page, label: &str, text: &str, tint: Tint) {
    page.labelled(label, tint, LABEL);
    page.words(text, Tint::Plain);
    page.end();
}

/// A table: words to the left, figures to the right.
fn table(page: &mut Page, table: &Table) {
    let count = table.heads.len();
    let widths: Vec<usize> = (0..count)
        .map(|at| {
            let cells = table.rows.iter().map(|row| row[at].width());
            cells.chain([table.heads[at].width()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: Vec<&str>| {
        let last = cells.len() - 1;
        let padded = cells.iter().zip(&widths).enumerate();
        let padded: Vec<String> = padded
            .map(|(at, (cell, &own))| {
                let pad = " ".repeat(own - cell.width());
                if at < WORDS || at == last {
                    format!("{cell}{pad}")
                } else {
                    format!("{pad}{cell}")
                }
            })
            .collect();
        padded.join(&" ".repeat(BETWEEN))
    };
    page.exact(line(table.heads.clone()).trim_end(), Tint::Bold);
    page.end();
    for row in &table.rows {
        let cells = row.iter().map(String::as_str).collect();
        page.exact(line(cells).trim_end(), Tint::Plain);
        page.end();
    }
}
