//! The rows of both sides, judged as one family.

use slowpath_core::figures::{Row, RunFigures};
use slowpath_core::stats::fdr::benjamini_hochberg;

use super::finely::Off;
use super::side::is_kept;
use super::verdict::{Bar, Tested, Verdict, tested};
use super::{RowComparison, Unmatched};
use crate::estimate::{UnitOf, Units, row};

/// A row with its units on both sides.
type Pair<'a> = (&'a Row, Units, Units);

/// Rows that both sides have, judged, and those that only one has.
pub(super) fn rows(
    a: &[&RunFigures],
    b: &[&RunFigures],
    obstacles: &[String],
    ratio_to_claim: f64,
) -> (Vec<RowComparison>, Vec<Unmatched>) {
    let (pairs, unmatched) = matched(a, b);
    let drawn: Vec<(Units, Units)> = pairs
        .iter()
        .map(|(row, of_a, of_b)| (draws(a, row, of_a), draws(b, row, of_b)))
        .collect();
    let tests = pairs.iter().zip(&drawn);
    let tests: Vec<Tested> = tests
        .map(|((row, ..), (of_a, of_b))| {
            let off = Off::of(row, [(a, of_a), (b, of_b)]);
            tested(&row.metric, row.unit, (of_a, of_b), off)
        })
        .collect();
    let ps: Vec<f64> = tests.iter().filter_map(Tested::p).collect();
    let bar = Bar {
        ratio_to_claim,
        family: ps.len(),
    };
    let mut adjusted = benjamini_hochberg(&ps).into_iter();
    let rows = pairs.iter().zip(&drawn).zip(tests);
    let rows = rows.map(|(((row, a, b), (of_a, of_b)), test)| {
        let adjusted_p = test.p().and_then(|_| adjusted.next());
        let judged = test.judged(adjusted_p, row.better, bar, (of_a, of_b));
        let mut compared = RowComparison {
            subject: row.subject.clone(),
            metric: row.metric.clone(),
            unit: row.unit,
            better: row.better,
            a: a.estimate(),
            b: b.estimate(),
            ratio: judged.ratio,
            verdict: judged.verdict,
            because: judged.because,
            needs: judged.needs,
        };
        if let Some(first) = obstacles.first() {
            compared.verdict = Verdict::NotComparable;
            compared.because.clone_from(first);
            compared.needs = None;
        }
        compared
    });
    (rows.collect(), unmatched)
}

/// The rows that both sides have, with the units of each, and those that only one has.
fn matched<'a>(a: &[&'a RunFigures], b: &[&'a RunFigures]) -> (Vec<Pair<'a>>, Vec<Unmatched>) {
    let (of_a, of_b) = (all(a), all(b));
    let mut unmatched = Vec::new();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for one in &of_a {
        let other = of_b.iter().find(|other| is_same(one, other));
        match other {
            Some(other) if other.unit == one.unit => pairs.push((
                one,
                Units::of(a, &one.subject, &one.metric),
                Units::of(b, &one.subject, &one.metric),
            )),
            _ => unmatched.push(only(one, "a")),
        }
    }
    let of_b = of_b.iter().filter(|other| {
        let pair = pairs.iter().find(|(one, ..)| is_same(one, other));
        pair.is_none()
    });
    unmatched.extend(of_b.map(|other| only(other, "b")));
    for (_, a, b) in &mut pairs {
        // Repeats of one run are no match for runs.
        match (a.of, b.of) {
            (UnitOf::Runs, UnitOf::Repeats) => *b = b.as_one_run(),
            (UnitOf::Repeats, UnitOf::Runs) => *a = a.as_one_run(),
            _ => {}
        }
    }
    (pairs, unmatched)
}

/// The units of a side as they are tested: repeats that asked one process, which was not started
/// again for each, are a single draw of its layout and caches.
fn draws(side: &[&RunFigures], wanted: &Row, units: &Units) -> Units {
    let mut own = side
        .iter()
        .filter(|run| row(run, &wanted.subject, &wanted.metric).is_some());
    if units.of == UnitOf::Repeats && own.any(|run| is_kept(run)) {
        units.as_one_run()
    } else {
        units.clone()
    }
}

fn is_same(one: &Row, other: &Row) -> bool {
    one.subject == other.subject && one.metric == other.metric
}

fn only(row: &Row, side: &str) -> Unmatched {
    Unmatched {
        subject: row.subject.clone(),
        metric: row.metric.clone(),
        only_in: side.to_owned(),
    }
}

/// The rows of all runs of a side, each once, in the order of the newest run.
fn all<'a>(runs: &[&'a RunFigures]) -> Vec<&'a Row> {
    let mut all: Vec<&Row> = Vec::new();
    for run in runs.iter().rev() {
        for one in &run.rows {
            if row_of(&all, one).is_none() {
                all.push(row(run, &one.subject, &one.metric).unwrap_or(one));
            }
        }
    }
    all
}

fn row_of<'a>(rows: &[&'a Row], wanted: &Row) -> Option<&'a Row> {
    rows.iter().copied().find(|row| is_same(row, wanted))
}
