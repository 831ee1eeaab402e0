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

/// One line a run: each cause that is found in it, with its largest share in percent. What is not
/// found has no column, so that a new cause changes no line but its own.
fn matrix() -> String {
    let mut out = String::new();
    for judged in known() {
        let cause = if judged.cause.is_empty() {
            "healthy"
        } else {
            judged.cause
        };
        write!(out, "{cause}: {}:", judged.fenced.case.name).unwrap();
        let before = out.len();
        for entry in REGISTRY {
            let found = judged.diagnosis.findings.iter();
            let found = found.filter(|f| f.cause == entry.name);
            if let Some(share) = found.map(|f| f.share).reduce(f64::max) {
                write!(out, " {} {:.0}", entry.name, share * 100.0).unwrap();
            }
        }
        out.push_str(if out.len() == before { " -\n" } else { "\n" });
    }
    out
}
