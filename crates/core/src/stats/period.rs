//! Whether events recur with a period.
//!
//! Given the ends of slow episodes this finds gates that open on a clock (quota refills, polls,
//! flushes); given their starts, agents that strike on one.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Shortest period looked for: below it the scan has more trials than evidence.
pub const SHORTEST_NS: f64 = 20e6;

/// The longest period looked for fits this often into the span of the events.
pub const LONGEST_FITS: f64 = 4.0;

/// Fewest events, counting those of one burst once.
pub const FEWEST_EVENTS: usize = 8;

/// Fewest periods within the span, so that the phase was kept and not merely met.
pub const FEWEST_PERIODS: f64 = 6.0;

/// Smallest mean resultant length of the phases: 0.8 is a jitter of a tenth of the period.
pub const SMALLEST_R: f64 = 0.8;

/// Largest p-value after the trials of the scan.
pub const LARGEST_P: f64 = 0.001;

/// A period locks at its half and third as well; the longest one whose resultant length is
/// within this of the best is the period.
const HARMONIC_SLACK: f64 = 0.05;

/// Events closer than this share of the period are one: random bursts of three would otherwise
/// look periodic every tenth time.
const BURST_SHARE: f64 = 0.05;

/// Steps of the scan per resolvable frequency; phases at the peak are then off by at most a
/// twentieth of a turn.
const STEPS_PER_TURN: f64 = 10.0;

/// Longest span of the scan in shortest periods. No free-running timer keeps its phase for
/// longer, and the scan stays below a second.
const LARGEST_SPAN: f64 = 20_000.0;

/// Events examined, from the first one on; enough for any p-value above and quick to scan.
const MOST_EVENTS: usize = 2048;

/// The scan turns phases step by step and sets them afresh after this many, before rounding
/// adds up.
const FRESH_AFTER: usize = 256;

/// How well events keep to one given period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rayleigh {
    /// Mean resultant length of the phases, in `0..=1`.
    pub r: f64,
    /// Phase, in turns, at which the events gather, in `0..1`.
    pub phase: f64,
    /// `n r^2`.
    pub z: f64,
    /// Chance of so large an `r` for events at random phases, this period being the only one
    /// tried.
    pub p: f64,
}

/// A period that events keep to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Period {
    /// The period.
    pub period_ns: f64,
    /// Mean resultant length of the phases, in `0..=1`.
    pub r: f64,
    /// Chance of such an `r` at any of the periods tried.
    pub p: f64,
    /// Events, those of a burst counted once.
    pub n: usize,
}

/// Rayleigh's test of events against a period given beforehand; `None` without events.
///
/// `p = exp(sqrt(1 + 4n + 4(n^2 - R^2)) - (1 + 2n))` with `R = n r` (Zar 1999).
pub fn rayleigh(events_ns: &[u64], period_ns: f64) -> Option<Rayleigh> {
    if events_ns.is_empty() {
        return None;
    }
    let n = events_ns.len() as f64;
    let (mut cos, mut sin) = (0.0, 0.0);
    for &event in events_ns {
        let angle = TAU * (event as f64 / period_ns).fract();
        cos += angle.cos();
        sin += angle.sin();
    }
    let resultant = cos.hypot(sin);
    let r = resultant / n;
    let p =
        ((1.0 + 4.0 * n + 4.0 * (n * n - resultant * resultant)).sqrt() - (1.0 + 2.0 * n)).exp();
    let phase = (sin.atan2(cos) / TAU).rem_euclid(1.0);
    Some(Rayleigh {
        r,
        phase,
        z: n * r * r,
        p: p.min(1.0),
    })
}

/// The period that events, in any order, keep to, if they keep to one.
///
/// Scans frequencies in steps of a tenth of the inverse span, from [`SHORTEST_NS`] to the span
/// over [`LONGEST_FITS`]. Accepts by `p = 1 - (1 - e^-z)^M` with `M` the number of independent
/// frequencies, and by `r`, the number of events and the number of periods. Looks at the first
/// 2048 events, and at no period below 1/20000 of their span.
pub fn period(events_ns: &[u64]) -> Option<Period> {
    let mut sorted = events_ns.to_vec();
    sorted.sort_unstable();
    sorted.truncate(MOST_EVENTS);
    let first = *sorted.first()?;
    let span = (*sorted.last()? - first) as f64;
    let events: Vec<u64> = sorted.iter().map(|event| event - first).collect();
    let shortest = SHORTEST_NS.max(span / LARGEST_SPAN);
    let longest = span / LONGEST_FITS;
    if events.len() < FEWEST_EVENTS || longest <= shortest {
        return None;
    }
    let resultants = scan(&events, span, shortest);
    let period_ns = span * STEPS_PER_TURN / peak(&resultants, LONGEST_FITS * STEPS_PER_TURN);
    let single = without_bursts(&events, period_ns * BURST_SHARE);
    let found = rayleigh(&single, period_ns)?;
    let trials = span * (1.0 / shortest - 1.0 / longest);
    let p = -(trials * (-(-found.z).exp()).ln_1p()).exp_m1();
    let kept = single.len() >= FEWEST_EVENTS
        && span / period_ns >= FEWEST_PERIODS
        && found.r >= SMALLEST_R
        && p < LARGEST_P;
    kept.then_some(Period {
        period_ns,
        r: found.r,
        p,
        n: single.len(),
    })
}

/// Mean resultant length at each frequency of the scan, the lowest first: frequency `i` is
/// `(LONGEST_FITS * STEPS_PER_TURN + i)` steps of `1 / (span * STEPS_PER_TURN)`.
fn scan(events: &[u64], span: f64, shortest: f64) -> Vec<f64> {
    let lowest = (LONGEST_FITS * STEPS_PER_TURN) as usize;
    let highest = (span * STEPS_PER_TURN / shortest) as usize;
    // Turns that each event's phase makes from one step of the scan to the next.
    let turns: Vec<f64> = events
        .iter()
        .map(|&event| event as f64 / (span * STEPS_PER_TURN))
        .collect();
    let steps: Vec<(f64, f64)> = turns.iter().map(|turn| (TAU * turn).sin_cos()).collect();
    let mut phases: Vec<(f64, f64)> = Vec::new();
    let mut resultants = Vec::with_capacity(highest - lowest + 1);
    for index in lowest..=highest {
        if (index - lowest).is_multiple_of(FRESH_AFTER) {
            phases = turns
                .iter()
                .map(|turn| (TAU * (turn * index as f64).fract()).sin_cos())
                .collect();
        } else {
            for (phase, step) in phases.iter_mut().zip(&steps) {
                *phase = (
                    phase.0 * step.1 + phase.1 * step.0,
                    phase.1 * step.1 - phase.0 * step.0,
                );
            }
        }
        let (sin, cos) = phases
            .iter()
            .fold((0.0, 0.0), |sum, phase| (sum.0 + phase.0, sum.1 + phase.1));
        resultants.push(f64::hypot(sin, cos) / events.len() as f64);
    }
    resultants
}

/// The step, counted from frequency 0 and interpolated, of the lowest peak that is almost as
/// high as the highest.
fn peak(resultants: &[f64], first_step: f64) -> f64 {
    let best = resultants.iter().copied().fold(0.0, f64::max);
    let mut index = resultants
        .iter()
        .position(|&r| r >= best - HARMONIC_SLACK)
        .expect("the best is within the slack of itself");
    while index + 1 < resultants.len() && resultants[index + 1] > resultants[index] {
        index += 1;
    }
    let mut offset = 0.0;
    if index > 0 && index + 1 < resultants.len() {
        let (before, here, after) = (
            resultants[index - 1],
            resultants[index],
            resultants[index + 1],
        );
        let bend = before - 2.0 * here + after;
        if bend < 0.0 {
            offset = (0.5 * (before - after) / bend).clamp(-0.5, 0.5);
        }
    }
    first_step + index as f64 + offset
}

/// Ascending events without those that follow another within `gap_ns`.
fn without_bursts(events: &[u64], gap_ns: f64) -> Vec<u64> {
    let mut single: Vec<u64> = Vec::new();
    let mut previous = None;
    for &event in events {
        if previous.is_none_or(|previous| (event - previous) as f64 > gap_ns) {
            single.push(event);
        }
        previous = Some(event);
    }
    single
}
