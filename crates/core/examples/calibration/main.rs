//! How often the statistics are right, by simulation: coverage of intervals, false claims,
//! power.
//!
//! ```text
//! cargo run --release -p slowpath-core --example calibration [-- [FAMILY...] [--reps N] [--seed N]]
//! ```
//!
//! Each family of estimators is a module with a function `rows`. The same seed gives the same
//! table. Exits with 1 if a figure does not meet its bar.
#![allow(
    clippy::disallowed_methods,
    reason = "a program reads its arguments and a clock"
)]
#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

mod ab;
mod change;
mod comb;
mod course;
mod draw;
mod modes;
mod recurrence;
mod row;
mod runs;
mod stalls;
mod within;

use std::process::ExitCode;
use std::time::Instant;

use row::{Row, Settings};

/// A family: its name on the command line, and what measures it.
type Family = (&'static str, fn(&Settings) -> Vec<Row>);

const FAMILIES: &[Family] = &[
    ("within", within::rows),
    ("runs", runs::rows),
    ("ab", ab::rows),
    ("change", change::rows),
    ("comb", comb::rows),
    ("course", course::rows),
    ("modes", modes::rows),
    ("recurrence", recurrence::rows),
    ("stalls", stalls::rows),
];

const SEED: u64 = 20;

fn main() -> ExitCode {
    let (settings, chosen) = match arguments(std::env::args().skip(1)) {
        Ok(found) => found,
        Err(mistake) => {
            println!("{mistake}");
            return ExitCode::from(2);
        }
    };
    println!("seed {}\n{}", settings.seed, Row::heading());
    let mut met = true;
    for (name, rows) in chosen {
        let began = Instant::now();
        for row in rows(&settings) {
            met &= row.is_met();
            println!("{}", row.line(name));
        }
        println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
    println!("\n{}", if met { "all met" } else { "not all met" });
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What was asked for, or what is wrong with it.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<(Settings, Vec<Family>), String> {
    let mut settings = Settings {
        seed: SEED,
        reps: None,
    };
    let mut chosen = Vec::new();
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().unwrap_or_default();
            let parsed = value.parse::<u64>();
            parsed.map_err(|_| format!("{word} needs a whole number, not {value:?}"))
        };
        match word.as_str() {
            "--reps" => settings.reps = Some(number()?),
            "--seed" => settings.seed = number()?,
            name => chosen.push(family(name)?),
        }
    }
    if chosen.is_empty() {
        chosen = FAMILIES.to_vec();
    }
    Ok((settings, chosen))
}

fn family(name: &str) -> Result<Family, String> {
    let names: Vec<&str> = FAMILIES.iter().map(|(name, _)| *name).collect();
    let found = FAMILIES.iter().find(|(known, _)| *known == name);
    found
        .copied()
        .ok_or_else(|| format!("no family {name:?}: there are {}", names.join(", ")))
}
