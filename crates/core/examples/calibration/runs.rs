//! Several runs of a service whose level differs from run to run.

use slowpath_core::stats::batches::BATCHES;
use slowpath_core::stats::paired::of_differences;
use slowpath_core::stats::quantile::quantiles;
use slowpath_core::stats::repeats::{ALPHA_PER_LOOK, Next, Stopping, history, log_mean};
use slowpath_core::stats::spread::{Spread, Steadiness, confidence, spread};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

/// Deviation of the logarithm from run to run: what a quiet host shows for a p99.
const BETWEEN: f64 = 0.06;

/// What an interval of nominally 95 % has to cover.
const COVERED: Bar = Bar::AtLeast(0.94);

const REPS: u64 = 10_000;

/// Coverage of what is said of several runs.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows: Vec<Row> = [3, 5, 10].map(|runs| range_of_runs(settings, runs)).into();
    rows.extend((3..=10).map(|runs| t_of_runs(settings, runs)));
    rows.extend(with_history(settings));
    rows.extend(stopped(settings));
    rows.push(pooled(settings));
    rows.push(two_looks(settings));
    for runs in [3, 5, 10, 20] {
        rows.extend(unsteady(settings, runs));
    }
    rows
}

/// Least to greatest run as the interval of their median.
fn range_of_runs(settings: &Settings, runs: usize) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, runs as u64);
    let mut covered = 0;
    for _ in 0..reps {
        let found = spread(&levels(&mut draw, runs, BETWEEN)).expect("there are runs");
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

/// t on logarithms.
fn t_of_runs(settings: &Settings, runs: usize) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 200 + runs as u64);
    let mut covered = 0;
    for _ in 0..reps {
        let found = log_mean(&levels(&mut draw, runs, BETWEEN), None);
        covered += u64::from(found.is_ok_and(|found| found.low <= 1.0 && 1.0 <= found.high));
    }
    let what = format!("{runs} runs: t on logarithms covers the level");
    Row::share(what, covered, reps, COVERED)
}

/// Three runs with and without what twelve earlier campaigns of the host showed, none of which
/// scattered quite like another.
fn with_history(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 300);
    let (mut alone, mut informed, mut covered) = (Vec::new(), Vec::new(), 0);
    for _ in 0..reps {
        let mut sd = || BETWEEN * (0.2 * draw.normal()).exp();
        let sds: Vec<f64> = (0..13).map(|_| sd()).collect();
        let campaigns: Vec<(f64, f64)> = sds[1..]
            .iter()
            .filter_map(|sd| log_mean(&levels(&mut draw, 5, *sd), None).ok())
            .map(|found| (found.sd_log.powi(2), 4.0))
            .collect();
        let figures = levels(&mut draw, 3, sds[0]);
        let plain = log_mean(&figures, None).expect("figures are positive");
        let found = log_mean(&figures, history(&campaigns)).expect("figures are positive");
        covered += u64::from(found.low <= 1.0 && 1.0 <= found.high);
        alone.push(2.0 * plain.half_width_log);
        informed.push(2.0 * found.half_width_log);
    }
    vec![
        Row::share(
            "3 runs and the host's history: covers",
            covered,
            reps,
            COVERED,
        ),
        Row::mean("3 runs: width of the interval", &alone, Bar::Shown),
        Row::mean(
            "3 runs and the host's history: width",
            &informed,
            Bar::AtMost(0.18),
        ),
    ]
}

/// Repeated until the interval is narrow, which happens sooner when it is so by luck.
fn stopped(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let rule = Stopping::default();
    let mut rows = Vec::new();
    for (number, sd) in (310..).zip([0.03, BETWEEN]) {
        let mut draw = Draw::new(settings.seed, number);
        let (mut covered, mut runs) = (0, Vec::new());
        for _ in 0..reps {
            let mut figures = Vec::new();
            while let Next::Run(more) = rule.next(&figures, None) {
                figures.extend(levels(&mut draw, more, sd));
            }
            let found = log_mean(&figures, None).expect("figures are positive");
            covered += u64::from(found.low <= 1.0 && 1.0 <= found.high);
            runs.push(found.runs as f64);
        }
        let what = format!("sd {sd}: t covers after stopping when narrow");
        rows.push(Row::share(what, covered, reps, Bar::AtLeast(0.92)));
        let what = format!("sd {sd}: runs until stopped");
        rows.push(Row::mean(what, &runs, Bar::Shown));
    }
    rows
}

/// The mistake that all this avoids: five runs taken for one.
fn pooled(settings: &Settings) -> Row {
    const RUNS: u32 = 5;
    const REQUESTS: u32 = 4000;
    let reps = settings.reps(REPS / 50);
    let mut draw = Draw::new(settings.seed, 320);
    let mut covered = 0;
    for _ in 0..reps {
        let mut values = Vec::new();
        for (run, level) in (0..).zip(levels(&mut draw, RUNS as usize, BETWEEN)) {
            values.extend((0..REQUESTS).map(|i| {
                let batch = run * BATCHES + i * BATCHES / REQUESTS;
                (batch, (1e6 * level * (0.3 * draw.normal()).exp()) as u64)
            }));
        }
        let found = quantiles(&values, RUNS * BATCHES, &[], &[0.5])[0];
        let truth = 1_000_000;
        covered += u64::from(found.is_ok_and(|found| found.low <= truth && truth <= found.high));
    }
    let what = "5 runs: interval from pooled requests covers p50";
    Row::share(what, covered, reps, Bar::Shown)
}

/// Pairs without a difference, tested after five and after ten.
fn two_looks(settings: &Settings) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 330);
    let mut claimed = 0;
    for _ in 0..reps {
        let d: Vec<f64> = (0..10).map(|_| draw.normal()).collect();
        let is_claimed = |n: usize| {
            let found = of_differences(&d[..n]);
            found.is_ok_and(|found| found.p <= ALPHA_PER_LOOK[1])
        };
        claimed += u64::from(is_claimed(5) || is_claimed(10));
    }
    let what = "looks at 5 and 10 pairs: any false claim";
    Row::share(what, claimed, reps, Bar::AtMost(0.055))
}

/// How often, and by how much, runs that scatter as they should seem unsteady.
fn unsteady(settings: &Settings, runs: usize) -> [Row; 2] {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 100 + runs as u64);
    let found: Vec<Spread> = (0..reps)
        .filter_map(|_| spread(&levels(&mut draw, runs, BETWEEN)))
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

/// The figure of each run; its true median is 1.
fn levels(draw: &mut Draw, runs: usize, sd: f64) -> Vec<f64> {
    (0..runs).map(|_| (sd * draw.normal()).exp()).collect()
}
