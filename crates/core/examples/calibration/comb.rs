//! Combs of latencies: false ones, and true ones found.

use slowpath_core::stats::comb::comb;

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const REPS: u64 = 200;

/// One latency in milliseconds.
type Source = fn(&mut Draw) -> f64;

const WITHOUT: [(&str, Source); 6] = [
    ("lognormal .5", |draw| 5.0 * (0.5 * draw.normal()).exp()),
    ("lognormal 1", |draw| 5.0 * draw.normal().exp()),
    ("exponential", |draw| -10.0 * draw.uniform().ln()),
    ("uniform", |draw| 100.0 * draw.uniform()),
    ("5 and 440 ms", |draw| {
        if draw.uniform() < 0.76 {
            5.0 * (0.3 * draw.normal()).exp()
        } else {
            440.0 + 8.0 * draw.normal()
        }
    }),
    ("5 and 440 ms, tail", |draw| {
        if draw.uniform() < 0.76 {
            5.0 * draw.normal().exp()
        } else {
            440.0 * (0.2 * draw.normal()).exp()
        }
    }),
];

/// False combs and power.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut rows = Vec::new();
    for n in [40, 300, 3000] {
        let mut found = 0;
        for (place, (_, source)) in WITHOUT.iter().enumerate() {
            let mut draw = Draw::new(settings.seed, place as u64);
            found += (0..reps)
                .filter(|_| comb(&sample(&mut draw, n, *source)).is_some())
                .count();
        }
        let bar = if n >= 300 {
            Bar::AtMost(0.01)
        } else {
            Bar::Shown
        };
        let what = format!("no comb, {} shapes, n {n}: found", WITHOUT.len());
        rows.push(Row::share(
            what,
            found as u64,
            reps * WITHOUT.len() as u64,
            bar,
        ));
    }
    for modes in [3, 4, 5] {
        rows.push(random_modes(settings, modes));
    }
    for n in [40, 300, 3000] {
        for width in [0.02, 0.125] {
            rows.push(power(settings, n, width));
        }
    }
    rows
}

fn sample(draw: &mut Draw, n: usize, source: impl Fn(&mut Draw) -> f64) -> Vec<u64> {
    let mut sample: Vec<u64> = (0..n)
        .map(|_| (source(draw).max(0.0) * 1e6) as u64)
        .collect();
    sample.sort_unstable();
    sample
}

/// Narrow modes at random places: a comb by chance.
fn random_modes(settings: &Settings, modes: usize) -> Row {
    let reps = settings.reps(REPS);
    let mut found = 0;
    for stream in 0..reps {
        let mut draw = Draw::new(settings.seed, 1000 * modes as u64 + stream);
        let places: Vec<f64> = (0..modes).map(|_| 10.0 + 490.0 * draw.uniform()).collect();
        let sample = sample(&mut draw, 1000, |draw| {
            let place = places[(draw.uniform() * modes as f64) as usize];
            place + 2.0 * draw.normal()
        });
        found += u64::from(comb(&sample).is_some());
    }
    let what = format!("{modes} narrow modes at random places, n 1000: found");
    Row::share(what, found, reps, Bar::AtMost(0.05))
}

/// Teeth of 200 ms with shares falling by halves, `width` steps wide.
fn power(settings: &Settings, n: usize, width: f64) -> Row {
    let reps = settings.reps(REPS);
    let mut found = 0;
    for stream in 0..reps {
        let mut draw = Draw::new(settings.seed, 10_000 + stream);
        let sample = sample(&mut draw, n, |draw| {
            let tooth = (-draw.uniform().log2()).floor().min(4.0);
            40.0 + 200.0 * tooth + 200.0 * width * draw.normal()
        });
        let right = |step: f64| (step / 200e6 - 1.0).abs() < 0.02;
        found += u64::from(comb(&sample).is_some_and(|comb| right(comb.step_ns)));
    }
    let what = format!("200 ms, teeth {width} steps wide, n {n}: found to 2 %");
    let bar = if width < 0.1 {
        Bar::AtLeast(0.9)
    } else {
        Bar::Shown
    };
    Row::share(what, found, reps, bar)
}
