//! Periods of stalls and of levels: false ones, and true ones found.

use std::f64::consts::TAU;

use slowpath_core::stats::batches::Window;
use slowpath_core::stats::lomb_scargle::{Level, swing};
use slowpath_core::stats::stalls::stalls;

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const REPS: u64 = 1000;

/// Length of a run in seconds.
const RUN_S: f64 = 300.0;

/// Instants of stalls in seconds.
type Source = fn(&mut Draw) -> Vec<f64>;

/// False periods and power.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let none: [(&str, Source); 4] = [
        ("10 at random", |draw| at_random(draw, 10)),
        ("30 at random", |draw| at_random(draw, 30)),
        ("10 at random, bursts of 3", |draw| {
            let begins = at_random(draw, 10).into_iter();
            begins.flat_map(|at| [at, at + 0.3, at + 0.7]).collect()
        }),
        ("renewal, gaps gamma(4) of 15 s", |draw| {
            renewal(draw, 4, 15.0)
        }),
    ];
    let mut rows = Vec::new();
    for (stream, (name, source)) in none.into_iter().enumerate() {
        let found = count(settings, stream as u64, source, |_| true);
        let bar = Bar::AtMost(0.03);
        rows.push(Row::share(
            format!("stalls {name}: a period"),
            found,
            settings.reps(REPS),
            bar,
        ));
    }
    let true_periods: [(&str, f64, Source, Bar); 3] = [
        (
            "every 30 s, jitter 2 %",
            30.0,
            |draw| ticking(draw, 30.0, 0.02),
            Bar::AtLeast(0.97),
        ),
        (
            "every 10 s, half missing",
            10.0,
            |draw| {
                let all = ticking(draw, 10.0, 0.02);
                all.into_iter().filter(|_| draw.uniform() < 0.5).collect()
            },
            Bar::AtLeast(0.9),
        ),
        (
            "every 20 s, jitter 5 %, 5 strangers of 15",
            20.0,
            |draw| {
                let mut all = ticking(draw, 20.0, 0.05);
                all.truncate(10);
                all.extend(at_random(draw, 5));
                all
            },
            Bar::Shown,
        ),
    ];
    for (stream, (name, period, source, bar)) in true_periods.into_iter().enumerate() {
        let right = |found: f64| (found / period - 1.0).abs() < 0.02;
        let found = count(settings, 10 + stream as u64, source, right);
        rows.push(Row::share(
            format!("stalls {name}: found"),
            found,
            settings.reps(REPS),
            bar,
        ));
    }
    rows.extend(levels(settings));
    rows
}

fn count(settings: &Settings, stream: u64, source: Source, right: impl Fn(f64) -> bool) -> u64 {
    let mut draw = Draw::new(settings.seed, stream);
    let window = Window {
        begin_ns: 0,
        end_ns: (RUN_S * 1e9) as u64,
    };
    let found = |_: &u64| {
        let seconds = source(&mut draw).into_iter();
        let events: Vec<u64> = seconds
            .map(|at| (at.clamp(0.0, RUN_S) * 1e9) as u64)
            .collect();
        stalls(&events, window).is_some_and(|found| right(found.period_ns / 1e9))
    };
    (0..settings.reps(REPS)).filter(found).count() as u64
}

fn at_random(draw: &mut Draw, count: usize) -> Vec<f64> {
    (0..count).map(|_| RUN_S * draw.uniform()).collect()
}

/// Gaps that are the sum of `shape` exponential ones.
fn renewal(draw: &mut Draw, shape: u32, gap_s: f64) -> Vec<f64> {
    let mut at = RUN_S * draw.uniform() / 20.0;
    let mut all = Vec::new();
    while at < RUN_S {
        all.push(at);
        at += (0..shape)
            .map(|_| -draw.uniform().ln() * gap_s / f64::from(shape))
            .sum::<f64>();
    }
    all
}

fn ticking(draw: &mut Draw, period_s: f64, jitter: f64) -> Vec<f64> {
    let first = draw.uniform();
    (0..(RUN_S / period_s) as u32)
        .map(|tick| (f64::from(tick) + first + jitter * draw.normal()) * period_s)
        .filter(|at| (0.0..RUN_S).contains(at))
        .collect()
}

/// The level of each second, with neighbours alike.
fn levels(settings: &Settings) -> [Row; 2] {
    let reps = settings.reps(200);
    let found = |amplitude: f64| {
        let mut draw = Draw::new(settings.seed, 50);
        let one = |_: &u64| {
            let mut drift = 0.0;
            let levels: Vec<Level> = (0..300)
                .map(|second| {
                    drift = 0.6 * drift + 0.05 * draw.normal();
                    let at = f64::from(second);
                    Level {
                        at_ns: at * 1e9,
                        value: drift + amplitude * (TAU * at / 40.0).sin(),
                        weight: 1.0,
                    }
                })
                .collect();
            swing(&levels).is_some()
        };
        (0..reps).filter(one).count() as u64
    };
    [
        Row::share(
            "levels, AR(.6): a period",
            found(0.0),
            reps,
            Bar::AtMost(0.03),
        ),
        Row::share(
            "levels, AR(.6) and a swing of one sd: found",
            found(0.06),
            reps,
            Bar::AtLeast(0.9),
        ),
    ]
}
