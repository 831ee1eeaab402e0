//! The judgement as text for a terminal.

use std::fmt::Write as _;

use crate::report::{EndpointRow, Finding, Lint, Severity};
use crate::simulate;
use crate::wording::{count, percent, plural, spread};

/// Findings first, worst first; then the table of endpoints. Lines are broken at `width` columns.
pub fn text(lint: &Lint, width: usize) -> String {
    let mut out = String::new();
    for finding in &lint.findings {
        out.push_str(&one(finding, width));
    }
    if lint.findings.is_empty() {
        out.push_str("nothing is wrong with this workload\n");
    }
    out.push('\n');
    out.push_str(&table(&lint.endpoints));
    for assumption in &lint.assumptions {
        out.push_str(&wrapped(&format!("- {assumption}"), 0, width));
    }
    out.push_str(&tally(lint));
    if let Some(simulation) = &lint.simulation {
        out.push('\n');
        out.push_str(&simulate::text(simulation, width));
    }
    out
}

fn one(finding: &Finding, width: usize) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let line = finding
        .place
        .line
        .map_or(String::new(), |line| format!(" line {line}"));
    let head = format!("{severity}  {}{line}\n", finding.check);
    let body = wrapped(&finding.text, 4, width);
    head + &body + &wrapped(&format!("try: {}", finding.remedy), 4, width)
}

/// Breaks a text into lines of at most `width` columns, each indented.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    /// Narrower than this, words are cut off from what they belong to.
    const NARROWEST: usize = 40;
    let width = width.max(NARROWEST);
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        }
        if column == 0 {
            let _ = write!(out, "{:indent$}", "");
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

fn table(rows: &[EndpointRow]) -> String {
    let mut cells = vec![
        [
            "endpoint",
            "requests",
            "in flight",
            "keys",
            "first asked",
            "meet at once",
            "meet under way",
            "steady",
            "interval",
        ]
        .map(str::to_owned),
    ];
    cells.extend(rows.iter().map(row));
    aligned(&cells)
}

fn row(row: &EndpointRow) -> [String; 9] {
    let dash = || "-".to_owned();
    [
        row.endpoint.clone(),
        count(row.requests),
        count(row.in_flight),
        row.keys.map_or_else(|| "own".to_owned(), count),
        row.first_touches.map_or_else(dash, spread),
        row.at_once
            .as_ref()
            .map_or_else(dash, |c| percent(c.share.mean)),
        row.under_way
            .as_ref()
            .map_or_else(dash, |c| percent(c.share.mean)),
        row.supported.steady.clone().unwrap_or_else(dash),
        row.supported.determined.clone().unwrap_or_else(dash),
    ]
}

/// Columns set under each other: the first to the left, numbers to the right.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |i: usize| {
        let lengths = rows.iter().map(|row| row[i].chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = if i == 0 {
                write!(line, "{cell:<width$}")
            } else {
                write!(line, "  {cell:>width$}")
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn tally(lint: &Lint) -> String {
    let of = |severity: Severity, one: &str, many: &str| {
        let n = lint
            .findings
            .iter()
            .filter(|f| f.severity == severity)
            .count();
        format!("{n} {}", plural(n as f64, one, many))
    };
    format!(
        "{}, {}, {}\n",
        of(Severity::Error, "error", "errors"),
        of(Severity::Warning, "warning", "warnings"),
        of(Severity::Note, "note", "notes")
    )
}
