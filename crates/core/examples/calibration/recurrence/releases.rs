//! Constants of whole releases, from requests on: steps and periods that come back, or seem to.

use slowpath_core::stats::batches::Window;
use slowpath_core::stats::comb::{FEWEST_STEPS, MOST_STEPS, comb};
use slowpath_core::stats::recurrence::{Recurring, Seen, recurring};
use slowpath_core::stats::stalls::{self, stalls};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

/// A simulation of six releases combs six samples.
const REPS: u64 = 1000;
const RELEASES: usize = 6;
/// Requests of a release.
const REQUESTS: usize = 1000;
/// Length of a run in seconds.
const RUN_S: f64 = 300.0;
/// Standard errors in half of a 95 % interval.
const ERRORS: f64 = 2.0;

/// One latency in milliseconds.
type Request = fn(&mut Draw) -> f64;

/// Latencies without a step.
const HEALTHY: [(&str, Request); 3] = [
    ("lognormal .5", |draw| 5.0 * (0.5 * draw.normal()).exp()),
    ("lognormal 1", |draw| 5.0 * draw.normal().exp()),
    ("exponential", |draw| -10.0 * draw.uniform().ln()),
];

/// False recurrences and true ones.
pub(super) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for (stream, (name, request)) in (4500..).zip(HEALTHY) {
        let what = format!("{RELEASES} healthy releases, {name}: a step recurs");
        rows.push(count(settings, stream, what, Bar::AtMost(0.01), |draw| {
            let release = |draw: &mut Draw| {
                let level = (0.06 * draw.normal()).exp();
                let all: Vec<f64> = (0..REQUESTS).map(|_| level * request(draw)).collect();
                step(&all)
            };
            steps_recur(draw, release)
        }));
    }
    for modes in [3, 4] {
        let what = format!("{RELEASES} releases with the same {modes} random modes: a step recurs");
        rows.push(count(
            settings,
            4510 + modes,
            what,
            Bar::AtMost(0.01),
            |draw| {
                let places: Vec<f64> = (0..modes).map(|_| 10.0 + 490.0 * draw.uniform()).collect();
                let release = |draw: &mut Draw| step(&around(draw, &places));
                steps_recur(draw, release)
            },
        ));
    }
    let what = format!("{RELEASES} releases with teeth of 200 ms: the step recurs");
    rows.push(count(settings, 4520, what, Bar::AtLeast(0.9), |draw| {
        steps_recur(draw, |draw| step(&teeth(draw)))
    }));
    let random = |draw: &mut Draw| period(&at_random(draw, 10));
    let what = format!("{RELEASES} releases, 10 stalls at random in each: a period recurs");
    rows.push(count(settings, 4530, what, Bar::AtMost(0.01), |draw| {
        let all: Vec<_> = (0..RELEASES).map(|_| random(draw)).collect();
        periods_recur(&all)
    }));
    let what = "4 endpoints, 10 random stalls of one host: a shared period";
    rows.push(count(settings, 4531, what, Bar::AtMost(0.01), |draw| {
        periods_recur(&[random(draw); 4])
    }));
    let what = format!("{RELEASES} releases that stall every 30 s: the period recurs");
    rows.push(count(settings, 4532, what, Bar::AtLeast(0.9), |draw| {
        let all: Vec<_> = (0..RELEASES).map(|_| period(&ticking(draw))).collect();
        periods_recur(&all)
    }));
    rows
}

fn count(
    settings: &Settings,
    stream: u64,
    what: impl Into<String>,
    bar: Bar,
    mut is_claimed: impl FnMut(&mut Draw) -> bool,
) -> Row {
    let mut draw = Draw::new(settings.seed, stream);
    let reps = settings.reps(REPS);
    let hits = (0..reps).filter(|_| is_claimed(&mut draw)).count() as u64;
    Row::share(what, hits, reps, bar)
}

fn steps_recur(draw: &mut Draw, release: impl Fn(&mut Draw) -> Option<Seen>) -> bool {
    let groups: Vec<Option<Seen>> = (0..RELEASES).map(|_| release(draw)).collect();
    recurs(&groups, (FEWEST_STEPS, MOST_STEPS))
}

fn periods_recur(groups: &[Option<Seen>]) -> bool {
    let longest = RUN_S * 1e9 / stalls::FEWEST_PERIODS;
    recurs(groups, (stalls::SHORTEST_NS, longest))
}

fn recurs(groups: &[Option<Seen>], range: (f64, f64)) -> bool {
    let groups: Vec<Vec<Seen>> = groups
        .iter()
        .map(|seen| seen.iter().copied().collect())
        .collect();
    recurring(&groups, range).iter().any(Recurring::is_claimed)
}

/// The step of latencies in milliseconds.
fn step(latencies: &[f64]) -> Option<Seen> {
    let mut ns: Vec<u64> = latencies
        .iter()
        .map(|ms| (ms.max(0.0) * 1e6) as u64)
        .collect();
    ns.sort_unstable();
    comb(&ns).map(|found| Seen {
        value: found.step_ns,
        half_width: ERRORS * found.step_error_ns,
        quantum: 0.0,
        p: found.p,
    })
}

/// The period of stalls whose instants are given in seconds.
fn period(instants: &[f64]) -> Option<Seen> {
    let events: Vec<u64> = instants.iter().map(|at| (at * 1e9) as u64).collect();
    let window = Window {
        begin_ns: 0,
        end_ns: (RUN_S * 1e9) as u64,
    };
    stalls(&events, window).map(|found| Seen {
        value: found.period_ns,
        half_width: 0.0,
        quantum: 0.0,
        p: found.p,
    })
}

/// Narrow modes at places that are given.
fn around(draw: &mut Draw, places: &[f64]) -> Vec<f64> {
    let mut one = || {
        let place = places[(draw.uniform() * places.len() as f64) as usize];
        place + 2.0 * draw.normal()
    };
    (0..REQUESTS).map(|_| one()).collect()
}

/// Teeth of 200 ms with shares falling by halves.
fn teeth(draw: &mut Draw) -> Vec<f64> {
    let mut one = || {
        let tooth = (-draw.uniform().log2()).floor().min(4.0);
        40.0 + 200.0 * tooth + 4.0 * draw.normal()
    };
    (0..REQUESTS).map(|_| one()).collect()
}

fn at_random(draw: &mut Draw, stalls: usize) -> Vec<f64> {
    (0..stalls).map(|_| RUN_S * draw.uniform()).collect()
}

/// Every 30 s from a random instant on, with a jitter of 2 %.
fn ticking(draw: &mut Draw) -> Vec<f64> {
    let first = 30.0 * draw.uniform();
    let dues = (0..10).map(|tick| first + 30.0 * f64::from(tick) + 0.6 * draw.normal());
    dues.filter(|at| (0.0..RUN_S).contains(at)).collect()
}
