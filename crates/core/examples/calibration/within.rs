//! Intervals of percentiles within one run, over requests that depend on each other.

use slowpath_core::stats::batches::BATCHES;
use slowpath_core::stats::quantile::{OPTIMISTIC_FROM, quantiles, type_1};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const PS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Requests of a run.
const REQUESTS: usize = 20_000;

/// Requests from which the true percentiles of a source are taken: five hundred runs, so that
/// their error is a twentieth of a run's.
const TRUTH: usize = 10_000_000;

const REPS: u64 = 400;

/// Whatever makes latencies one after the other, in nanoseconds.
type Source = fn(&mut Draw, usize) -> Vec<u64>;

const SOURCES: [(&str, Source); 3] = [
    ("independent", independent),
    ("AR(0.99)", autocorrelated),
    ("stalls", stalled),
];

/// Coverage of the 95 % intervals.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut rows = Vec::new();
    for (number, (name, source)) in (1..).zip(SOURCES) {
        let mut draw = Draw::new(settings.seed, number);
        let mut long = source(&mut draw, TRUTH);
        long.sort_unstable();
        let truths = PS.map(|p| type_1(&long, p).expect("there are samples"));
        drop(long);
        let (mut covered, mut answered) = ([0; PS.len()], [0; PS.len()]);
        for _ in 0..reps {
            let values: Vec<(u32, u64)> = source(&mut draw, REQUESTS)
                .into_iter()
                .enumerate()
                .map(|(i, ns)| ((i * BATCHES as usize / REQUESTS) as u32, ns))
                .collect();
            for (i, found) in quantiles(&values, BATCHES, &[], &PS).iter().enumerate() {
                let Ok(found) = found else { continue };
                answered[i] += 1;
                covered[i] += u64::from((found.low..=found.high).contains(&truths[i]));
            }
        }
        for (i, p) in PS.into_iter().enumerate() {
            let name = format!("p{} of {name}", p * 100.0);
            rows.extend(judged(&name, p, covered[i], answered[i], reps));
        }
    }
    rows
}

/// Where all runs have an interval it has to cover; where some are refused one, few runs may
/// be given a wrong one. Those that are given one are then the ones whose few bursts seem to be
/// many, so that their own coverage is lower.
fn judged(name: &str, p: f64, covered: u64, answered: u64, reps: u64) -> Vec<Row> {
    let is_far = p >= OPTIMISTIC_FROM;
    let bar = |bar| if is_far { Bar::Shown } else { bar };
    let covers = format!("{name}: 95 % interval covers");
    if answered == reps {
        return vec![Row::share(covers, covered, reps, bar(Bar::AtLeast(0.90)))];
    }
    let wrong = format!("{name}: an interval is given and wrong");
    let given = format!("{name}: an interval is given");
    let mut rows = vec![
        Row::share(given, answered, reps, Bar::Shown),
        Row::share(wrong, answered - covered, reps, bar(Bar::AtMost(0.10))),
    ];
    if answered > 0 {
        rows.push(Row::share(
            covers + " where given",
            covered,
            answered,
            Bar::Shown,
        ));
    }
    rows
}

/// Log-normal around a millisecond.
fn latency(z: f64) -> u64 {
    (1e6 * z.exp()) as u64
}

fn independent(draw: &mut Draw, n: usize) -> Vec<u64> {
    (0..n).map(|_| latency(draw.normal())).collect()
}

/// Each request resembles the one before it.
fn autocorrelated(draw: &mut Draw, n: usize) -> Vec<u64> {
    const RHO: f64 = 0.99;
    let mut state = draw.normal();
    let mut next = || {
        state = RHO * state + (1.0 - RHO * RHO).sqrt() * draw.normal();
        latency(state)
    };
    (0..n).map(|_| next()).collect()
}

/// Now and then all requests wait for the end of the same stall, of twenty requests on average.
/// A request is due each millisecond.
fn stalled(draw: &mut Draw, n: usize) -> Vec<u64> {
    const BETWEEN: f64 = 1000.0;
    const LENGTH: f64 = 20.0;
    let mut begins = -BETWEEN * draw.uniform().ln();
    let mut ends = begins - LENGTH * draw.uniform().ln();
    (0..n)
        .map(|i| {
            let due = i as f64;
            while ends < due {
                begins = ends - BETWEEN * draw.uniform().ln();
                ends = begins - LENGTH * draw.uniform().ln();
            }
            let wait = if due >= begins {
                (ends - due) * 1e6
            } else {
                0.0
            };
            latency(0.3 * draw.normal()) + wait as u64
        })
        .collect()
}
