//! Prints the critical values that are embedded in `stats::change` (the largest t over all splits
//! of series of one level) and in `stats::run_groups` (the widest gap), by simulation.
//!
//! `cargo run --release -p slowpath-core --example critical_values`

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowpath_core::stats::change::sup_t::largest_t;
use slowpath_core::stats::run_groups::widest_gap;

/// Series for each length: a chance of 0.001 is then known to 3 %.
const SERIES: usize = 1_000_000;
/// The chances for which critical values are printed.
const LEVELS: [f64; 8] = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001];
/// Lengths of the series: between them the values move little.
const LENGTHS: [usize; 20] = [
    5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000,
];

/// Series for each number of runs.
const GAPS: usize = 200_000;
/// Numbers of runs.
const RUNS: [usize; 9] = [6, 7, 8, 9, 10, 12, 15, 20, 30];

/// A number between 0 and 1, both excluded.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Fills a slice with independent standard normal values (Box & Muller 1958).
fn fill(random: &mut ChaCha8Rng, values: &mut [f64]) {
    for pair in values.chunks_mut(2) {
        let radius = (-2.0 * unit(random).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * unit(random)).sin_cos();
        pair[0] = radius * cos;
        if let Some(second) = pair.get_mut(1) {
            *second = radius * sin;
        }
    }
}

fn main() {
    println!("largest t at {LEVELS:?}");
    largest();
    println!("widest gap at 0.01");
    gaps();
}

fn largest() {
    for length in LENGTHS {
        let mut random = ChaCha8Rng::seed_from_u64(length as u64);
        let mut values = vec![0.0; length];
        let mut found: Vec<f64> = (0..SERIES)
            .map(|_| {
                fill(&mut random, &mut values);
                largest_t(&values).map_or(0.0, |best| best.2)
            })
            .collect();
        found.sort_unstable_by(f64::total_cmp);
        let at = LEVELS.map(|level| found[((1.0 - level) * SERIES as f64) as usize]);
        println!("    ({length}, {at:.3?}),");
    }
}

/// The larger of the gaps of exponential and of uniform values: of laws with one mode these have the
/// widest, with few and with many values.
fn gaps() {
    let laws: [fn(f64) -> f64; 2] = [|share| -share.ln(), |share| share];
    for length in RUNS {
        let critical = laws.map(|law| {
            let mut random = ChaCha8Rng::seed_from_u64(length as u64);
            let mut found: Vec<f64> = (0..GAPS)
                .map(|_| {
                    let draw = |_| law(unit(&mut random));
                    let mut values: Vec<f64> = (0..length).map(draw).collect();
                    values.sort_unstable_by(f64::total_cmp);
                    widest_gap(&values).map_or(0.0, |widest| widest.1)
                })
                .collect();
            found.sort_unstable_by(f64::total_cmp);
            found[GAPS * 99 / 100]
        });
        println!("    ({length}, {:.2}),", critical[0].max(critical[1]));
    }
}
