//! The confusion matrix: what each detector says of the sick and of the healthy.

use std::fmt::Write;
use std::fs;

use slowpath_diagnose::detectors::REGISTRY;

use super::cases::JUDGED;
use super::markdown::{Judged, folder, update};
use crate::case::explain;
use crate::case::spec::Expect;

/// The runs whose answer is known: the found of every page, then the healthy.
fn known() -> impl Iterator<Item = &'static Judged> {
    let all = JUDGED.iter().flat_map(|(_, judged)| judged);
    all.filter(|j| matches!(j.fenced.case.expect, Expect::Found | Expect::Nothing))
}

#[test]
fn the_cause_comes_first_and_the_healthy_have_none() {
    let mut wrong = String::new();
    for judged in known() {
        let case = &judged.fenced.case;
        let first = judged.diagnosis.findings.first().map_or("", |f| &f.cause);
        if first != judged.cause {
            let why = explain(&judged.diagnosis);
            writeln!(
                wrong,
                "{}: {first:?} is first, not {:?}{why}",
                case.name, judged.cause
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_matrix_is_as_committed() {
    let path = folder().join("tests/confusion.txt");
    let matrix = matrix();
    if update() {
        fs::write(&path, &matrix).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert_eq!(matrix, committed, "UPDATE=1 rewrites it");
}

/// One row a run; in the column of each detector the largest share of its findings in percent.
fn matrix() -> String {
    let rows: Vec<&Judged> = known().collect();
    let name = |j: &Judged| {
        let cause = if j.cause.is_empty() {
            "healthy"
        } else {
            j.cause
        };
        format!("{cause}: {}", j.fenced.case.name)
    };
    let width = rows.iter().map(|j| name(j).len()).max().unwrap_or(0);
    let mut out = format!("{:width$}", "");
    for entry in REGISTRY {
        write!(out, "  {}", entry.name).unwrap();
    }
    out.push('\n');
    for judged in rows {
        write!(out, "{:width$}", name(judged)).unwrap();
        for entry in REGISTRY {
            let found = judged
                .diagnosis
                .findings
                .iter()
                .filter(|f| f.cause == entry.name);
            let share = found.map(|f| f.share).reduce(f64::max);
            let cell = share.map_or("-".to_owned(), |s| format!("{:.0}", s * 100.0));
            write!(out, "  {cell:>width$}", width = entry.name.len()).unwrap();
        }
        out.push('\n');
    }
    out
}
