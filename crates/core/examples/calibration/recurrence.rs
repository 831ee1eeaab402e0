//! What comes back by accident: constants, worst rows, groups of runs, novel values.

use slowpath_core::stats::novelty::novelty;
use slowpath_core::stats::recurrence::{Recurring, Says, Seen, recurring, worst};
use slowpath_core::stats::run_groups::run_groups;

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

mod releases;

const REPS: u64 = 10_000;
/// Range of constants: a millisecond to a second.
const RANGE: (f64, f64) = (1.0, 1000.0);

/// False claims, and a few true ones.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for (groups, each) in [(3, 3), (5, 3), (8, 5)] {
        rows.push(constants(settings, groups, each));
    }
    for (rows_of_table, runs) in [(2, 6), (8, 5), (20, 10)] {
        rows.push(worst_rows(settings, rows_of_table, runs, 0.0));
    }
    rows.push(worst_rows(settings, 8, 5, 1.0));
    for runs in [6, 8, 10, 15, 20, 30] {
        for (name, law) in LAWS {
            rows.push(groups(settings, runs, name, law));
        }
    }
    rows.push(two_groups(settings, 10));
    for earlier in [4, 10, 30] {
        rows.push(novel(settings, earlier));
    }
    rows.extend(releases::rows(settings));
    rows
}

fn share(
    settings: &Settings,
    stream: u64,
    mut claimed: impl FnMut(&mut Draw) -> bool,
) -> (u64, u64) {
    let mut draw = Draw::new(settings.seed, stream);
    let reps = settings.reps(REPS);
    let hits = (0..reps).filter(|_| claimed(&mut draw)).count() as u64;
    (hits, reps)
}

fn constants(settings: &Settings, groups: usize, each: usize) -> Row {
    let seen = |draw: &mut Draw| Seen {
        value: RANGE.0 * (RANGE.1 / RANGE.0).powf(draw.uniform()),
        half_width: 0.0,
        quantum: 0.0,
        p: 0.0,
    };
    let (hits, reps) = share(settings, 4000 + groups as u64, |draw| {
        let mut release = || (0..each).map(|_| seen(draw)).collect();
        let releases: Vec<Vec<Seen>> = (0..groups).map(|_| release()).collect();
        recurring(&releases, RANGE)
            .iter()
            .any(Recurring::is_claimed)
    });
    let what = format!("{each} random constants in {groups} releases: one recurs");
    Row::share(what, hits, reps, Bar::AtMost(0.01))
}

/// Rows that are alike, or the first of which is `worse` by that many deviations.
fn worst_rows(settings: &Settings, rows: usize, runs: usize, worse: f64) -> Row {
    let (hits, reps) = share(settings, 4100 + rows as u64, |draw| {
        let mut figure = |row| Some(draw.normal() + if row == 0 { 3.0 * worse } else { 0.0 });
        let figures: Vec<Vec<Option<f64>>> = (0..runs)
            .map(|_| (0..rows).map(&mut figure).collect())
            .collect();
        worst(&figures).is_some_and(|found| found.says == Says::Stays)
    });
    let (what, bar) = if worse > 0.0 {
        ("one worse by 3 sd: it stays", Bar::AtLeast(0.6))
    } else {
        ("all alike: one stays", Bar::AtMost(0.01))
    };
    Row::share(format!("{rows} rows, {runs} runs, {what}"), hits, reps, bar)
}

type Law = fn(&mut Draw) -> f64;

const LAWS: [(&str, Law); 4] = [
    ("normal", |draw| (0.1 * draw.normal()).exp()),
    ("uniform", |draw| (0.3 * draw.uniform()).exp()),
    ("exponential", |draw| (-0.1 * draw.uniform().ln()).exp()),
    ("4 % spikes", |draw| {
        let spike = if draw.uniform() < 0.04 { 2.0 } else { 1.0 };
        spike * (0.1 * draw.normal()).exp()
    }),
];

fn groups(settings: &Settings, runs: usize, name: &str, law: Law) -> Row {
    let (hits, reps) = share(settings, 4200 + runs as u64, |draw| {
        let figures: Vec<f64> = (0..runs).map(|_| law(draw)).collect();
        run_groups(&figures).is_some()
    });
    let what = format!("{runs} runs, {name}: two groups");
    Row::share(what, hits, reps, Bar::AtMost(0.013))
}

fn two_groups(settings: &Settings, runs: usize) -> Row {
    let (hits, reps) = share(settings, 4300, |draw| {
        let mut figure = || {
            let level = if draw.uniform() < 0.5 { 1.0 } else { 1.25 };
            level * (0.02 * draw.normal()).exp()
        };
        let figures: Vec<f64> = (0..runs).map(|_| figure()).collect();
        run_groups(&figures).is_some()
    });
    let what = format!("{runs} runs on levels 25 % apart, sd 2 %: two groups");
    Row::share(what, hits, reps, Bar::AtLeast(0.7))
}

fn novel(settings: &Settings, earlier: usize) -> Row {
    let (hits, reps) = share(settings, 4400 + earlier as u64, |draw| {
        let mut figure = || (0.05 * draw.normal()).exp();
        let history: Vec<f64> = (0..earlier).map(|_| figure()).collect();
        let last = figure();
        novelty(&history, last, 0.01).is_some_and(|n| last < n.low || last > n.high)
    });
    let what = format!("a value like the {earlier} before it: novel");
    Row::share(what, hits, reps, Bar::AtMost(0.013))
}
