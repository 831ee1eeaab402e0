//! Intervals of percentiles within one run, over requests that depend on each other.

use slowpath_core::stats::quantile::{OPTIMISTIC_FROM, quantiles, type_1};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const PS: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Runs of half a minute, of 18 and of ten seconds at a thousand requests a second, and one of ten
/// seconds at half as many: their requests and their batches.
const RUNS: [(usize, u32); 4] = [(20_000, 30), (18_000, 18), (10_000, 10), (5000, 10)];

/// Requests from which the true percentiles of a source are taken: five hundred runs or more, so
/// that their error is at most a twentieth of a run's.
const TRUTH: usize = 10_000_000;

const REPS: u64 = 400;

/// Whatever makes latencies one after the other, in nanoseconds.
type Source = fn(&mut Draw, usize) -> Vec<u64>;

const SOURCES: [(&str, Source); 4] = [
    ("independent", independent),
    ("AR(0.99)", autocorrelated),
    ("stalls", stalled),
    ("ms clock", on_a_coarse_clock),
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
        for run in RUNS {
            rows.extend(of_runs(&mut draw, (name, source), run, &truths, reps));
        }
    }
    rows
}

/// Coverage in runs of so many requests and batches.
fn of_runs(
    draw: &mut Draw,
    (name, source): (&str, Source),
    (requests, batches): (usize, u32),
    truths: &[u64; PS.len()],
    reps: u64,
) -> Vec<Row> {
    let (mut covered, mut answered) = ([0; PS.len()], [0; PS.len()]);
    for _ in 0..reps {
        let values: Vec<(u32, u64)> = source(draw, requests)
            .into_iter()
            .enumerate()
            .map(|(i, ns)| ((i * batches as usize / requests) as u32, ns))
            .collect();
        for (i, found) in quantiles(&values, batches, &[], &PS).iter().enumerate() {
            let Ok(found) = found else { continue };
            answered[i] += 1;
            covered[i] += u64::from((found.low..=found.high).contains(&truths[i]));
        }
    }
    let judge = |(i, p): (usize, &f64)| {
        let name = format!("p{} of {name}, {requests}/{batches}", p * 100.0);
        judged(&name, *p, covered[i], answered[i], reps)
    };
    PS.iter().enumerate().flat_map(judge).collect()
}

/// An interval has to cover wherever it is given. Where some runs are refused one, those that
/// are given one are the ones whose few bursts seem to be many, so that it is reported too how many
/// runs are given a wrong one.
fn judged(name: &str, p: f64, covered: u64, answered: u64, reps: u64) -> Vec<Row> {
    let is_far = p >= OPTIMISTIC_FROM;
    let bar = |bar| if is_far { Bar::Shown } else { bar };
    let mut rows = Vec::new();
    if answered < reps {
        let given = format!("{name}: is given");
        rows.push(Row::share(given, answered, reps, Bar::Shown));
        let wrong = format!("{name}: is given and wrong");
        let most = bar(Bar::AtMost(0.10));
        rows.push(Row::share(wrong, answered - covered, reps, most));
    }
    if answered > 0 {
        let covers = format!("{name}: covers where given");
        rows.push(Row::share(
            covers,
            covered,
            answered,
            bar(Bar::AtLeast(0.90)),
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

/// Rare bursts of slow requests which a clock of whole milliseconds makes equal.
fn on_a_coarse_clock(draw: &mut Draw, n: usize) -> Vec<u64> {
    const BETWEEN: f64 = 1000.0;
    const LENGTH: f64 = 20.0;
    const CLOCK_NS: u64 = 1_000_000;
    let mut left = 0.0;
    let mut next = || {
        if left <= 0.0 && draw.uniform() < 1.0 / BETWEEN {
            left = -LENGTH * draw.uniform().ln();
        }
        left -= 1.0;
        let slow = if left > 0.0 { 200_000_000 } else { 0 };
        (3 * latency(0.3 * draw.normal()) + slow) / CLOCK_NS * CLOCK_NS
    };
    (0..n).map(|_| next()).collect()
}
