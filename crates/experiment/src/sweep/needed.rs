//! How many runs distinguish two probabilities.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::fisher::{Table, fisher};
use statrs::function::factorial::ln_factorial;

/// Chance of seeing a difference that is not there. One-sided: a fix is expected to help.
const ALPHA: f64 = 0.05;
/// Chance of seeing one that is there.
const POWER: f64 = 0.8;
/// More runs each than this are no plan for an afternoon.
const RUNS_MOST: u64 = 100;
/// Values of the common probability at which the chance of a false alarm is computed.
const NUISANCE: u64 = 50;

/// Two probabilities that shall be distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The chance of the mode now.
    pub from: f64,
    /// What a change would make of it.
    pub to: f64,
    /// Runs of each version that distinguish them with a power of 80 % at 5 % one-sided; `null` if
    /// more than 100.
    pub runs_each: Option<u64>,
}

/// The fewest runs of each of two versions, by Boschloo's exact unconditional test (1970), which
/// is never less powerful than Fisher's; `None` if more than 100 would be needed.
pub fn runs_needed(from: f64, to: f64) -> Option<u64> {
    let (low, high) = (from.min(to), from.max(to));
    if high <= low {
        return None;
    }
    // No test sees it with fewer runs than the comparison of known proportions needs.
    let (alpha_z, power_z) = (1.645, 0.842);
    let variance = low * (1.0 - low) + high * (1.0 - high);
    let normal = f64::powi(alpha_z + power_z, 2) * variance / (high - low).powi(2);
    let first = (0.6 * normal).max(3.0) as u64;
    (first..=RUNS_MOST).find(|&n| power(n, low, high) >= POWER)
}

/// The power of the test with `n` runs of each version.
fn power(n: u64, low: f64, high: f64) -> f64 {
    let mut tables: Vec<(f64, u64, u64)> = Vec::new();
    for more in 0..=n {
        for less in 0..=more {
            let table = Table {
                with_hit: more,
                with_miss: n - more,
                without_hit: less,
                without_miss: n - less,
            };
            let p = fisher(table).greater;
            // Tables that Fisher's test is far from rejecting are rejected by none.
            if p < 4.0 * ALPHA {
                tables.push((p, more, less));
            }
        }
    }
    tables.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Tables are rejected in the order of Fisher's p as long as the largest chance of a false
    // alarm over all common probabilities stays below alpha.
    let common: Vec<Vec<f64>> = (1..NUISANCE)
        .map(|i| binomial(n, i as f64 / NUISANCE as f64))
        .collect();
    let mut alarm = vec![0.0; common.len()];
    let (seldom, often) = (binomial(n, low), binomial(n, high));
    let mut power = 0.0;
    for &(_, more, less) in &tables {
        for (sum, chances) in alarm.iter_mut().zip(&common) {
            *sum += chances[more as usize] * chances[less as usize];
        }
        if alarm.iter().any(|&sum| sum > ALPHA) {
            break;
        }
        power += often[more as usize] * seldom[less as usize];
    }
    power
}

/// The chances of 0 to `n` hits.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let ln_choose = |k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let term = |k: u64, p: f64| if k == 0 { 0.0 } else { k as f64 * p.ln() };
    (0..=n)
        .map(|k| (ln_choose(k) + term(k, p) + term(n - k, 1.0 - p)).exp())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_against_ninety_per_cent_takes_about_fifteen_runs_each() {
        let runs = runs_needed(0.5, 0.9).unwrap();
        assert!((13..=17).contains(&runs), "{runs}");
        assert_eq!(
            runs_needed(0.9, 0.5),
            Some(runs),
            "the direction does not matter"
        );
    }

    #[test]
    fn plain_differences_take_few_runs_and_small_ones_too_many() {
        let plain = runs_needed(1.0, 0.0).unwrap();
        assert!((3..=4).contains(&plain), "{plain}");
        assert_eq!(runs_needed(0.5, 0.55), None);
        assert_eq!(runs_needed(0.5, 0.5), None);
        assert!(runs_needed(0.3, 0.0).unwrap() > runs_needed(0.6, 0.0).unwrap());
    }
}
