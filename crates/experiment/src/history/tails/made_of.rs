//! What a constant of slow requests may be made of: what every request takes, and a wait or several.
//!
//! It is a hint and never more. A percentile says nothing of what its request did, and with enough
//! waits any constant is the sum of some: the chance of as good a fit stands beside it.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::RunFigures;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::scenario::units::parse_duration;

/// How the name of a condition begins that is a timer of the system.
const TIMER: &str = "timer ";
/// What people write where their code waits, in milliseconds.
const WAITS_MS: [u64; 7] = [100, 200, 250, 500, 1000, 2000, 5000];
/// A wait that was not declared is taken to come so often in a request at most: with more of them a
/// short one fits everything.
const TIMES_MOST: u32 = 3;
/// Other constants that a fit is compared with lie within this factor to either side.
const NEIGHBOURHOOD: f64 = 2.0;

/// A constant as what every request takes, a wait so many times, and a rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decomposed {
    /// What every request takes, in nanoseconds.
    pub base_ns: f64,
    /// The wait: a declared timer, or `null` for a round number that people write into code.
    pub timer: Option<String>,
    /// How long it is, in nanoseconds.
    pub wait_ns: f64,
    /// How often.
    pub times: u32,
    /// What is left, in nanoseconds.
    pub rest_ns: f64,
    /// Chance that some wait fits a random constant as well.
    pub chance: f64,
}

/// The timers that were declared for a run, by name.
pub(super) fn timers(run: &RunFigures) -> Vec<(String, f64)> {
    let named = run.conditions.config.iter();
    let timers = named.filter_map(|(name, value)| {
        let name = name.strip_prefix(TIMER)?;
        Some((name.to_owned(), parse_duration(value).ok()? as f64))
    });
    timers.collect()
}

/// What a constant may be made of. A request that waits does what others do as well, and what it waits
/// for takes up to as long again: the rest lies between nothing and what every request takes. Both
/// ends are as uncertain as the last digit that was written.
pub(super) fn decomposed(
    at_ns: f64,
    base_ns: f64,
    digit_ns: f64,
    declared: &[(String, f64)],
) -> Option<Decomposed> {
    let round = WAITS_MS.map(|ms| (None, (ms * MILLISECOND) as f64));
    let of = |(name, ns): &(String, f64)| (Some(name.clone()), *ns);
    let all: Vec<(Option<String>, f64)> = if declared.is_empty() {
        round.to_vec()
    } else {
        declared.iter().map(of).collect()
    };
    let slack = digit_ns / 2.0;
    let fits = |sum: f64, at: f64| {
        let rest = at - base_ns - sum;
        (-slack..=base_ns + slack).contains(&rest).then_some(rest)
    };
    let sums: Vec<(usize, u32, f64)> = (0..all.len())
        .flat_map(|which| (1..=TIMES_MOST).map(move |times| (which, times)))
        .map(|(which, times)| (which, times, f64::from(times) * all[which].1))
        .collect();
    let own = sums
        .iter()
        .filter_map(|one| Some((*one, fits(one.2, at_ns)?)));
    // Of waits that fit alike the longest, which comes least often.
    let ((which, times, _), rest_ns) = own.min_by_key(|((_, times, _), _)| *times)?;
    Some(Decomposed {
        base_ns,
        timer: all[which].0.clone(),
        wait_ns: all[which].1,
        times,
        rest_ns: rest_ns.max(0.0),
        chance: by_chance(&sums, at_ns, base_ns + 2.0 * slack),
    })
}

/// The share of the constants around one that some of the sums fits, each of them `width` wide.
fn by_chance(sums: &[(usize, u32, f64)], at_ns: f64, width: f64) -> f64 {
    let (low, high) = (at_ns / NEIGHBOURHOOD, at_ns * NEIGHBOURHOOD);
    let mut places: Vec<f64> = sums.iter().map(|one| one.2).collect();
    places.retain(|sum| (low..=high).contains(sum));
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| a.total_cmp(b).is_eq());
    (places.len() as f64 * width / (high - low)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    #[test]
    fn a_constant_is_what_all_take_and_a_wait_twice() {
        let found = decomposed(440.0 * MS, 24.0 * MS, 10.0 * MS, &[]).unwrap();
        assert_eq!((found.timer, found.times), (None, 2));
        assert!((found.wait_ns - 200.0 * MS).abs() < 1.0);
        assert!((found.rest_ns - 16.0 * MS).abs() < 1.0);
        assert!((0.05..0.5).contains(&found.chance), "{}", found.chance);
        let declared = [("wait_events".to_owned(), 200.0 * MS)];
        let named = decomposed(440.0 * MS, 24.0 * MS, 10.0 * MS, &declared).unwrap();
        assert_eq!(
            (named.timer.as_deref(), named.times),
            (Some("wait_events"), 2)
        );
        assert!(named.chance < found.chance, "fewer waits fit less often");
        let other = [("poll".to_owned(), 330.0 * MS)];
        assert_eq!(decomposed(440.0 * MS, 24.0 * MS, 10.0 * MS, &other), None);
        assert_eq!(decomposed(60.0 * MS, 24.0 * MS, 1.0 * MS, &[]), None);
    }
}
