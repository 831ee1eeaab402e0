//! The number of modes, on sets that are labelled with it.

mod sets;

use slowpath_core::stats::batches::{Batches, Window};
use slowpath_core::stats::modes::{self, TooFewSamples};
use slowpath_core::stats::shape::Shape;
use slowpath_core::stats::{dip, lowland};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};
use sets::{GREGG, Part, SERVERS, Set};

/// Samples of each set.
const REPS: u64 = 40;

/// A detector that counts modes.
type Detector = fn(&[u64]) -> Result<usize, TooFewSamples>;

const DETECTORS: [(&str, Detector); 2] = [("density", by_density), ("lowland", by_lowland)];

fn by_density(sorted: &[u64]) -> Result<usize, TooFewSamples> {
    Ok(modes::modes(sorted)?.len())
}

fn by_lowland(sorted: &[u64]) -> Result<usize, TooFewSamples> {
    Ok(lowland::modes(sorted)?.len())
}

/// Exact counts, false modes, hold-outs and the size of the dip test.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for n in [2000, 10_000] {
        rows.extend(labelled(settings, n));
    }
    rows.push(in_time(settings));
    rows.extend(wandering(settings));
    rows.extend(servers(settings));
    rows.extend(quantised(settings));
    rows.extend(progressions(settings));
    rows.extend(close_cusps(settings));
    rows.extend(dips(settings));
    rows
}

fn count(detector: Detector, sample: &[u64]) -> usize {
    detector(sample).expect("the sample is large enough")
}

/// Gregg's sets: exact counts, and more than one mode where there is one.
fn labelled(settings: &Settings, n: usize) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut rows = Vec::new();
    for (name, detector) in DETECTORS {
        let (mut exact, mut tried, mut several, mut single) = (0, 0, 0, 0);
        for (place, set) in GREGG.iter().enumerate() {
            let mut draw = Draw::new(settings.seed, place as u64);
            let mut hits = 0;
            for _ in 0..reps {
                let found = count(detector, &set.sample(&mut draw, n));
                hits += u64::from(found == set.modes);
                several += u64::from(set.modes == 1 && found > 1);
            }
            if name == DETECTORS[0].0 && hits * 10 < reps * 9 {
                let what = format!("{name}, {}, n {n}: exact", set.name);
                rows.push(Row::share(what, hits, reps, Bar::Shown));
            }
            exact += hits;
            tried += reps;
            single += if set.modes == 1 { reps } else { 0 };
        }
        let is_first = name == DETECTORS[0].0;
        let (bar, none) = if is_first {
            // One sample in a thousand of ten thousand values has a ripple in its outliers.
            let none = if n == 2000 { 0.0 } else { 0.002 };
            (Bar::AtLeast(0.92), Bar::AtMost(none))
        } else {
            (Bar::Shown, Bar::Shown)
        };
        rows.push(Row::share(
            format!("{name}, Gregg's {} sets, n {n}: exact", GREGG.len()),
            exact,
            tried,
            bar,
        ));
        rows.push(Row::share(
            format!("{name}, those of one mode, n {n}: more found"),
            several,
            single,
            none,
        ));
    }
    rows
}

/// A run's samples, each with its stretch of time.
fn stretches(latencies: &[u64]) -> (Batches, Vec<(u32, u64)>) {
    let window = Window {
        begin_ns: 0,
        end_ns: latencies.len() as u64,
    };
    let batches = Batches::new(&[window]);
    let samples = latencies
        .iter()
        .enumerate()
        .map(|(at, &latency)| (batches.of(0, at as u64), latency))
        .collect();
    (batches, samples)
}

/// What is left of a sample's modes when they have to recur.
fn recurring(latencies: &[u64]) -> [usize; 2] {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let found = modes::modes(&sorted).expect("the sample is large enough");
    let (batches, samples) = stretches(latencies);
    let raw = found.len();
    [
        raw,
        modes::recurring(found, batches.count(), samples.iter().copied()).len(),
    ]
}

/// Gregg's sets again, with times: what it costs to ask that modes recur.
fn in_time(settings: &Settings) -> Row {
    let (hits, tried) = tally(settings, GREGG, 0, |draw, set| {
        let latencies: Vec<u64> = (0..2000).map(|_| set.draw(draw)).collect();
        recurring(&latencies)[1] == set.modes
    });
    let what = "density, Gregg's sets with times, n 2000: exact";
    Row::share(what, hits, tried, Bar::AtLeast(0.92))
}

/// One class whose level takes a step of 3 % every few thousand requests.
fn wandering(settings: &Settings) -> [Row; 2] {
    let reps = settings.reps(REPS);
    let mut several = [0; 2];
    for stream in 0..reps {
        let mut draw = Draw::new(settings.seed, 6000 + stream);
        let mut level = 80e3;
        let latencies: Vec<u64> = (0..40_000)
            .map(|at| {
                if at % 1500 == 0 {
                    level = 80e3 * (0.06 * draw.normal()).exp();
                }
                (level * (0.01 * draw.normal()).exp()) as u64
            })
            .collect();
        for (several, found) in several.iter_mut().zip(recurring(&latencies)) {
            *several += u64::from(found > 1);
        }
    }
    [
        Row::share(
            "a level that wanders: several modes by density",
            several[0],
            reps,
            Bar::Shown,
        ),
        Row::share("... that recur", several[1], reps, Bar::AtMost(0.05)),
    ]
}

/// Mixtures as servers make them, at a sample of ten thousand.
fn servers(settings: &Settings) -> Vec<Row> {
    let exact = |detector: Detector| {
        tally(settings, SERVERS, 1000, |draw, set| {
            count(detector, &set.sample(draw, 10_000)) == set.modes
        })
    };
    let row = |(name, detector)| {
        let (hits, tried) = exact(detector);
        Row::share(
            format!("{name}, like servers, n 10000: exact"),
            hits,
            tried,
            Bar::Shown,
        )
    };
    DETECTORS.map(row).into()
}

/// How many samples of how many pass.
fn tally(
    settings: &Settings,
    sets: &[Set],
    stream: u64,
    mut passes: impl FnMut(&mut Draw, &Set) -> bool,
) -> (u64, u64) {
    let reps = settings.reps(REPS);
    let mut hits = 0;
    for (place, set) in sets.iter().enumerate() {
        let mut draw = Draw::new(settings.seed, stream + place as u64);
        hits += (0..reps).filter(|_| passes(&mut draw, set)).count() as u64;
    }
    (hits, reps * sets.len() as u64)
}

/// The same rounded to steps of a timer: never more modes than there are.
fn quantised(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, detector) in DETECTORS {
        for (step_ns, step) in [(1_000, "1 us"), (100_000, "0.1 ms"), (1_000_000, "1 ms")] {
            let (more, tried) = tally(settings, SERVERS, 2000, |draw, set| {
                let mut sample = set.sample(draw, 5000);
                for latency in &mut sample {
                    *latency = (*latency + step_ns / 2) / step_ns * step_ns;
                }
                count(detector, &sample) > set.modes
            });
            rows.push(Row::share(
                format!("{name}, like servers, timer of {step}: more found"),
                more,
                tried,
                Bar::AtMost(0.0),
            ));
        }
    }
    rows
}

/// perfolizer's progression of Gumbel distributions ten scales apart, here from 100 on so that
/// latencies are positive; at a hundred samples a mode, two hundred of one alone.
fn progressions(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut rows = Vec::new();
    for (name, detector) in DETECTORS {
        for most in [7, 10] {
            let (mut hits, mut tried) = (0, 0);
            for modes in 1..=most {
                let mut draw = Draw::new(settings.seed, 3000 + modes as u64);
                for _ in 0..reps {
                    tried += 1;
                    hits += u64::from(count(detector, &progression(&mut draw, modes)) == modes);
                }
            }
            rows.push(Row::share(
                format!("{name}, Gumbel 1-{most} modes, 100 each: exact"),
                hits,
                tried,
                if most == 7 {
                    Bar::AtLeast(1.0)
                } else {
                    Bar::Shown
                },
            ));
        }
    }
    rows
}

fn progression(draw: &mut Draw, modes: usize) -> Vec<u64> {
    let each = if modes == 1 { 200 } else { 100 };
    let mut sample = Vec::with_capacity(modes * each);
    for mode in 0..modes {
        let part = Part::Largest(100.0 + 10.0 * mode as f64, 1.0);
        sample.extend((0..each).map(|_| (part.draw(draw) * 1e6) as u64));
    }
    sample.sort_unstable();
    sample
}

/// perfolizer's close modes: two cusps back to back, `delta` to each side of 10.
fn close_cusps(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut rows = Vec::new();
    for (name, detector) in DETECTORS {
        let (mut hits, mut tried) = (0, 0);
        for delta in [0.5, 0.1, 0.01] {
            let mut draw = Draw::new(settings.seed, 4000);
            for _ in 0..reps {
                let mut sample: Vec<u64> = (0..2000)
                    .map(|i| {
                        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
                        ((10.0 + side * (delta + draw.uniform().powi(3))) * 1e6) as u64
                    })
                    .collect();
                sample.sort_unstable();
                tried += 1;
                hits += u64::from(count(detector, &sample) == 2);
            }
        }
        rows.push(Row::share(
            format!("{name}, perfolizer's close modes: exact"),
            hits,
            tried,
            Bar::Shown,
        ));
    }
    rows
}

/// How often a uniform sample dips at 5 %, and two normal classes four deviations apart do.
fn dips(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(2000);
    let dipped = |apart: f64, n: usize| {
        let mut draw = Draw::new(settings.seed, 5000);
        let below = |_: &u64| {
            let mut sample: Vec<f64> = (0..n)
                .map(|i| {
                    if apart > 0.0 {
                        draw.normal() + apart * (i % 2) as f64
                    } else {
                        draw.uniform()
                    }
                })
                .collect();
            sample.sort_unstable_by(f64::total_cmp);
            dip::dip(&sample).expect("there are values").p <= 0.05
        };
        (0..reps).filter(below).count() as u64
    };
    vec![
        Row::share(
            "dip at .05, uniform, n 300",
            dipped(0.0, 300),
            reps,
            Bar::AtMost(0.065),
        ),
        Row::share(
            "dip at .05, uniform, n 3000",
            dipped(0.0, 3000),
            reps,
            Bar::AtMost(0.065),
        ),
        drawn_from(settings),
        Row::share(
            "dip at .05, modes 4 sd apart, n 300",
            dipped(4.0, 300),
            reps,
            Bar::AtLeast(0.95),
        ),
    ]
}

/// The same of a sample so large that the dip is taken from a part of it.
fn drawn_from(settings: &Settings) -> Row {
    let reps = settings.reps(400);
    let mut draw = Draw::new(settings.seed, 5001);
    let dips = |_: &u64| {
        let mut sample: Vec<u64> = (0..20_000)
            .map(|_| (1e9 * (1.0 + draw.uniform())) as u64)
            .collect();
        sample.sort_unstable();
        Shape::of(&sample).is_ok_and(|shape| shape.dip.p <= 0.05)
    };
    let dipped = (0..reps).filter(dips).count() as u64;
    let what = "dip at .05, uniform, n 20 000";
    Row::share(what, dipped, reps, Bar::AtMost(0.065))
}
