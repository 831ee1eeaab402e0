//! The course of one run: eight shapes of settling, and steps along time or an index.

use slowpath_core::stats::settle::{Ramp, settle};
use slowpath_core::stats::step::{aligned, step};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const REPS: u64 = 2000;
/// Windows of a run of a minute.
const WINDOWS: usize = 60;
/// Scatter of the logarithm of a window's figure.
const SCATTER: f64 = 0.04;
/// Requests of a run that is searched for a step.
const REQUESTS: usize = 6400;

/// A shape of a run: its name, the course it has, and the level at a share of the run.
struct Shape {
    name: &'static str,
    is: &'static [Ramp],
    /// Correlation of neighbouring windows.
    rho: f64,
    /// Share of windows that a stall holds up.
    stalls: f64,
    level: fn(f64) -> f64,
}

const SHAPES: [Shape; 8] = [
    Shape::new("flat", &[Ramp::None], 0.0, 0.0, |_| 1.0),
    Shape::new("flat, AR(0.4)", &[Ramp::None], 0.4, 0.0, |_| 1.0),
    Shape::new("flat, stalls in 5 %", &[Ramp::None], 0.0, 0.05, |_| 1.0),
    Shape::new("fast ramp", &[Ramp::Fast], 0.0, 0.0, |t| {
        if t < 0.07 { 3.0 } else { 1.0 }
    }),
    Shape::new("slow ramp", &[Ramp::Slow], 0.0, 0.0, |t| {
        (2.0 - t / 0.3).max(1.0)
    }),
    Shape::new("slow ramp, AR(0.4)", &[Ramp::Slow], 0.4, 0.0, |t| {
        (2.0 - t / 0.3).max(1.0)
    }),
    Shape::new("drift throughout", &[Ramp::NotSettled], 0.0, 0.0, |t| {
        1.0 + t
    }),
    Shape::new("step at 75 %", &[Ramp::NotSettled], 0.0, 0.0, |t| {
        if t < 0.75 { 1.0 } else { 1.4 }
    }),
];

impl Shape {
    const fn new(
        name: &'static str,
        is: &'static [Ramp],
        rho: f64,
        stalls: f64,
        level: fn(f64) -> f64,
    ) -> Self {
        Self {
            name,
            is,
            rho,
            stalls,
            level,
        }
    }

    fn draw(&self, draw: &mut Draw) -> Vec<f64> {
        let mut last = draw.normal();
        let mut one = |window: usize| {
            last = self.rho * last + (1.0 - self.rho * self.rho).sqrt() * draw.normal();
            let stall = if draw.uniform() < self.stalls {
                5.0
            } else {
                1.0
            };
            (self.level)(window as f64 / WINDOWS as f64) * (SCATTER * last).exp() * stall
        };
        (0..WINDOWS).map(&mut one).collect()
    }
}

/// How often a shape is recognised, and how often steps are found or invented.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows: Vec<Row> = SHAPES
        .iter()
        .enumerate()
        .map(|(i, s)| shape(settings, i, s))
        .collect();
    for (name, rho, stalls) in [
        ("independent requests", 0.0, 0.0),
        ("AR(0.9) requests", 0.9, 0.0),
        ("AR(0.99) requests", 0.99, 0.0),
        ("bursts of 100 slow ones", 0.0, 0.0005),
    ] {
        let found = steps(settings, rho, stalls, 1.0);
        let claimed = found.iter().flatten().count() as u64;
        let what = format!("no step, {name}: claimed");
        rows.push(Row::share(
            what,
            claimed,
            found.len() as u64,
            Bar::AtMost(0.03),
        ));
    }
    for (ratio, rho) in [(1.2, 0.0), (1.5, 0.9)] {
        let found = steps(settings, rho, 0.0, ratio);
        let near = |at: &&usize| at.abs_diff(REQUESTS / 2) <= REQUESTS / 32;
        let hits = found.iter().flatten().filter(near).count() as u64;
        let what = format!("step by {ratio} at the middle request, AR({rho}): within 1/32");
        rows.push(Row::share(
            what,
            hits,
            found.len() as u64,
            Bar::AtLeast(0.9),
        ));
    }
    rows.extend([3, 5].map(|repeats| axis(settings, repeats, true)));
    rows.extend([3, 5].map(|repeats| axis(settings, repeats, false)));
    rows
}

fn shape(settings: &Settings, index: usize, shape: &Shape) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 3000 + index as u64);
    let right = |_: &u64| {
        settle(&shape.draw(&mut draw)).is_some_and(|course| shape.is.contains(&course.ramp))
    };
    let hits = (0..reps).filter(right).count() as u64;
    Row::share(
        format!("{}: settled as {:?}", shape.name, shape.is[0]),
        hits,
        reps,
        Bar::AtLeast(0.95),
    )
}

/// Where steps were found in runs with a step of that ratio at the middle request.
fn steps(settings: &Settings, rho: f64, stalls: f64, ratio: f64) -> Vec<Option<usize>> {
    let seed = 3100 + (rho * 1000.0 + stalls * 1e6 + ratio * 10.0) as u64;
    let mut draw = Draw::new(settings.seed, seed);
    let mut run = || {
        let (mut last, mut slow) = (draw.normal(), 0);
        let mut one = |index: usize| {
            last = rho * last + (1.0 - rho * rho).sqrt() * draw.normal();
            slow = if draw.uniform() < stalls {
                100
            } else {
                usize::saturating_sub(slow, 1)
            };
            let level = if index < REQUESTS / 2 {
                1e6
            } else {
                1e6 * ratio
            };
            (level * (0.4 * last).exp() * if slow > 0 { 20.0 } else { 1.0 }) as u64
        };
        let values: Vec<u64> = (0..REQUESTS).map(&mut one).collect();
        step(&values, 0.5).map(|found| found.at)
    };
    (0..settings.reps(REPS / 2)).map(|_| run()).collect()
}

/// How often repeats at rates of 100 to 400 a second place a step at 10,000 requests on the right
/// axis, or steps at random instants on any.
fn axis(settings: &Settings, repeats: usize, is_index: bool) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 3900 + repeats as u64);
    let mut claimed = 0;
    for _ in 0..reps {
        let rate = |repeat: usize| 100.0 * 4_f64.powf(repeat as f64 / (repeats - 1) as f64);
        let index: Vec<f64> = (0..repeats)
            .map(|repeat| {
                if is_index {
                    10_000.0 * (0.03 * draw.normal()).exp()
                } else {
                    rate(repeat) * 60.0 * draw.uniform()
                }
            })
            .collect();
        let time = index
            .iter()
            .enumerate()
            .map(|(repeat, at)| at / rate(repeat))
            .collect();
        let found = aligned(&[time, index], 1.0 / 64.0).expect("three repeats and two axes");
        claimed += u64::from(found.axis == Some(1) || !is_index && found.axis.is_some());
    }
    let (what, bar) = if is_index {
        (
            "step at a request index (sd 3 %): that axis",
            Bar::AtLeast(0.9),
        )
    } else {
        (
            "steps at random instants: an axis claimed",
            Bar::AtMost(0.02),
        )
    };
    Row::share(format!("{repeats} repeats, {what}"), claimed, reps, bar)
}
