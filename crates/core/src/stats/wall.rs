//! Whether stalls keep to the clock on the wall, as the jobs do that a scheduler starts.
//!
//! A timer of a process begins again with it: its stalls have another phase in each repeat. What
//! has the same phase in all of them, or strikes at the full multiples of a round period, follows
//! a clock outside.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::period::rayleigh;
use super::stalls::{LARGEST_P, ONE_STALL_NS, merged};

/// Round periods, in seconds: parts of a minute, of an hour, and an hour.
const ROUND_S: [f64; 17] = [
    2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 12.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0,
    1800.0, 3600.0,
];

/// A period this close to a round one may be it: a handful of stalls places it to some per mille.
/// Were it another, phases would drift apart from repeat to repeat.
const CLOSE: f64 = 0.01;

/// Mean resultant length of a repeat's phases from which on it has one: strangers among the
/// stalls pull its mean away.
const SMALLEST_R: f64 = 0.9;

/// Phases since the begin of the repeats that are so alike by less than this chance may be those of
/// a timer that began with them.
const OWN_BY_CHANCE: f64 = 0.1;

/// What was looked for: equal phases, and full multiples.
const LOOKS: f64 = 2.0;

/// Stalls that keep to the clock on the wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnTheClock {
    /// The round period.
    pub period_ns: f64,
    /// How long after its full multiples since the epoch stalls come, in `0..period`.
    pub after_ns: f64,
    /// Repeats that have a phase.
    pub repeats: usize,
    /// Chance that instants taken at random agree as well.
    pub p: f64,
}

/// Whether stalls that recur every `period_ns` keep to the wall: `repeats` are, one each, when it
/// began and when its stalls did, in nanoseconds since the epoch (UTC).
///
/// The phases of `m` repeats within an arc of `w` turns have the chance `m w^(m-1)`, and within
/// `d` of the full multiples `(2 d)^m`. Repeats that follow each other like clockwork have the
/// phases of a timer that begins with them in common as well: those are one repeat.
pub fn on_the_clock(period_ns: f64, repeats: &[(u64, Vec<u64>)]) -> Option<OnTheClock> {
    let is_close = |round: &&f64| (period_ns / (*round * 1e9) - 1.0).abs() <= CLOSE;
    let round_ns = ROUND_S.iter().find(is_close)? * 1e9;
    let phases_since = |zero: fn(u64) -> u64| -> Vec<f64> {
        let phase = |(begin, stalls): &(u64, Vec<u64>)| phase(stalls, zero(*begin), round_ns);
        repeats.iter().filter_map(phase).collect()
    };
    let (phases, own) = (phases_since(|_| 0), phases_since(|begin| begin));
    if phases.is_empty() {
        return None;
    }
    let all = phases.len() as f64;
    let alike = |phases: &[f64], m: f64| m * smallest_arc(phases).powf(m - 1.0);
    let m = if alike(&own, all) <= OWN_BY_CHANCE {
        1.0
    } else {
        all
    };
    let off = phases.iter().map(|phase| phase.min(1.0 - phase));
    let off = off.fold(0.0, f64::max);
    let p = LOOKS * alike(&phases, m).min((2.0 * off).powf(m));
    let mean = mean_phase(&phases);
    (p <= LARGEST_P).then_some(OnTheClock {
        period_ns: round_ns,
        after_ns: mean * round_ns,
        repeats: phases.len(),
        p,
    })
}

/// The phase of the stalls of a repeat since `zero`, in turns from 0 to 1; `None` if they have
/// none.
fn phase(stalls_ns: &[u64], zero_ns: u64, period_ns: f64) -> Option<f64> {
    let least = *stalls_ns.iter().min()?;
    let mut events: Vec<f64> = stalls_ns.iter().map(|&at| (at - least) as f64).collect();
    events.sort_unstable_by(f64::total_cmp);
    // Whole nanoseconds since the epoch are more than an `f64` resolves.
    let first = (least.saturating_sub(zero_ns) % period_ns as u64) as f64;
    let single: Vec<u64> = merged(&events, ONE_STALL_NS)
        .iter()
        .map(|event| (first + event) as u64)
        .collect();
    let found = rayleigh(&single, period_ns)?;
    (single.len() >= 2 && found.r >= SMALLEST_R).then_some(found.phase)
}

/// The direction, in turns from 0 to 1, that phases have in the mean.
fn mean_phase(phases: &[f64]) -> f64 {
    let turns = phases.iter().map(|phase| (TAU * phase).sin_cos());
    let (sin, cos) = turns.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (sin.atan2(cos) / TAU).rem_euclid(1.0)
}

/// The shortest arc, in turns, that holds all phases.
fn smallest_arc(phases: &[f64]) -> f64 {
    let mut sorted = phases.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let around = sorted[0] + 1.0 - sorted[sorted.len() - 1];
    let widest = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    1.0 - widest.fold(around, f64::max)
}
