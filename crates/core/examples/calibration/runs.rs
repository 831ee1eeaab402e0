//! Several runs of a service whose level differs from run to run.

use slowpath_core::stats::spread::{Spread, Steadiness, confidence, spread};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

/// Deviation of the logarithm from run to run: what a quiet host shows for a p99.
const BETWEEN: f64 = 0.06;

const REPS: u64 = 10_000;

/// Coverage of what is said of several runs.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows: Vec<Row> = [3, 5, 10].map(|runs| range_of_runs(settings, runs)).into();
    for runs in [3, 5, 10, 20] {
        rows.extend(unsteady(settings, runs));
    }
    rows
}

/// How often, and by how much, runs that scatter as they should seem unsteady.
fn unsteady(settings: &Settings, runs: usize) -> [Row; 2] {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 100 + runs as u64);
    let found: Vec<Spread> = (0..reps)
        .filter_map(|_| spread(&level(&mut draw, runs)))
        .collect();
    let steady = |found: &&Spread| found.steadiness == Steadiness::Steady;
    let alarms = reps - found.iter().filter(steady).count() as u64;
    let comparable: Vec<f64> = found.iter().map(|found| found.comparable).collect();
    [
        Row::share(
            format!("{runs} runs, sd {BETWEEN}: called unsteady"),
            alarms,
            reps,
            Bar::AtMost(0.15),
        ),
        Row::mean(
            format!("{runs} runs, sd {BETWEEN}: spread, rescaled to five"),
            &comparable,
            Bar::Shown,
        ),
    ]
}

/// Least to greatest run as the interval of their median.
fn range_of_runs(settings: &Settings, runs: usize) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, runs as u64);
    let mut covered = 0;
    for _ in 0..reps {
        let found = spread(&level(&mut draw, runs)).expect("there are runs");
        covered += u64::from(found.low <= 1.0 && 1.0 <= found.high);
    }
    let promised = confidence(runs);
    Row::share(
        format!("{runs} runs: range covers the median, promised {promised:.4}"),
        covered,
        reps,
        Bar::AtLeast(promised - 0.01),
    )
}

/// The figure of each run; its true median is 1.
fn level(draw: &mut Draw, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| (BETWEEN * draw.normal()).exp()).collect()
}
