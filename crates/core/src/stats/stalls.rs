//! Whether stalls recur with a period, when the next one is due, and whether it came.
//!
//! [`super::period`] looks for fast clocks that cause episodes, from 20 ms on. This looks for slow
//! ones that cause stalls (collections, flushes, backups, jobs), of which a run sees a handful: the H
//! test (de Jager et al. 1989) also sees periods with two stalls in each, and a prediction that
//! the next run keeps or breaks says more than any p-value.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::batches::Window;
use super::beta::at_least;

/// Stalls closer than this are one: bursts of three would look periodic every time.
pub const ONE_STALL_NS: f64 = 1e9;

/// ... or closer than this share of the shortest period looked for.
const ONE_STALL_SHARE: f64 = 0.05;

/// Fewest stalls.
pub const FEWEST_STALLS: usize = 5;

/// The window holds the period at least this often.
pub const FEWEST_PERIODS: f64 = 4.0;

/// Shortest period, twice what is resolved.
pub const SHORTEST_NS: f64 = 2.0 * ONE_STALL_NS;

/// At most this many periods for each stall: of a clock whose strikes were seen so rarely nothing
/// would be known.
const PERIODS_PER_STALL: f64 = 4.0;

/// Trial frequencies per inverse length of the window.
const STEPS: f64 = 3.0;

/// Harmonics of the H test; stalls have at least a sixth of the period between them.
const HARMONICS: usize = 6;

/// Largest chance of so high an H at any of the frequencies tried.
pub const LARGEST_P: f64 = 0.01;

/// A period folds at its half and third as well; the longest one whose resultant length is
/// within this of the best is the period.
const HARMONIC_SLACK: f64 = 0.05;

/// Half the width of a predicted window in standard deviations of the jitter.
const WINDOW_SIGMAS: f64 = 3.0;

/// A prediction holds if at least this share of its windows is hit ...
pub const HIT_SHARE: f64 = 0.7;

/// ... and so many hits would be rarer than this at any other instants.
const LARGEST_HIT_P: f64 = 0.05;

/// A period of stalls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// The period, by regression of the stalls on their number.
    pub period_ns: f64,
    /// An instant at which a stall is due, on the clock of the events: the regression's first.
    pub first_ns: f64,
    /// Standard deviation of the stalls around where they are due.
    pub jitter_ns: f64,
    /// Mean resultant length of the phases, in `0..=1`.
    pub r: f64,
    /// The statistic of the H test.
    pub h: f64,
    /// Chance of such an H at any of the frequencies tried.
    pub p: f64,
    /// Stalls, those closer than [`ONE_STALL_NS`] counted once.
    pub n: usize,
    /// Dues within the window at which no stall was.
    pub missed: usize,
}

/// `Z^2_m` of phases for `m` of 1 to `most`: `2/n` times the sum over harmonics of the squared
/// resultants (Buccheri et al. 1983).
pub fn z_squared(events: &[f64], period: f64, most: usize) -> Vec<f64> {
    let mut sum = 0.0;
    (1..=most)
        .map(|harmonic| {
            let turn = |event: &f64| TAU * (harmonic as f64 * (event / period).fract());
            let (sin, cos) = events
                .iter()
                .map(|event| turn(event).sin_cos())
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            sum += (sin * sin + cos * cos) * 2.0 / events.len() as f64;
            sum
        })
        .collect()
}

/// The statistic of the H test and the number of harmonics at which it is reached:
/// `max (Z^2_m - 4m + 4)`. At one period `P(H > h) = exp(-0.4 h)`.
pub fn h_test(events: &[f64], period: f64, most: usize) -> (f64, usize) {
    z_squared(events, period, most)
        .into_iter()
        .enumerate()
        .map(|(m, z)| (z - 4.0 * m as f64, m + 1))
        .fold(
            (0.0, 0),
            |best, next| if next.0 > best.0 { next } else { best },
        )
}

/// The period that stalls keep to, if they keep to one: `events_ns` are their begins, in any
/// order, within `window`.
///
/// Tries frequencies a third of the inverse window apart, from four periods in the window up to
/// four for each stall; `p` is Sidak's for as many trials.
pub fn stalls(events_ns: &[u64], window: Window) -> Option<Stalls> {
    let span = window.end_ns.saturating_sub(window.begin_ns) as f64;
    let mut events: Vec<f64> = events_ns
        .iter()
        .map(|&event| event.saturating_sub(window.begin_ns) as f64)
        .collect();
    events.sort_unstable_by(f64::total_cmp);
    let shortest = SHORTEST_NS.max(span / (PERIODS_PER_STALL * events.len() as f64));
    let events = merged(&events, ONE_STALL_NS.max(ONE_STALL_SHARE * shortest));
    if events.len() < FEWEST_STALLS || span < FEWEST_PERIODS * shortest {
        return None;
    }
    let lowest = (FEWEST_PERIODS * STEPS) as usize;
    let highest = (STEPS * span / shortest) as usize;
    let trials: Vec<Trial> = (lowest..=highest)
        .map(|step| Trial::new(&events, STEPS * span / step as f64))
        .collect();
    let count = trials.len() as f64;
    let chance = |h: f64| -(count * (-(-0.4 * h).exp()).ln_1p()).exp_m1();
    let best = trials
        .iter()
        .filter(|trial| chance(trial.h) <= LARGEST_P)
        .map(|trial| trial.r)
        .fold(0.0, f64::max);
    let chosen = trials
        .iter()
        .filter(|trial| chance(trial.h) <= LARGEST_P && trial.r >= best - HARMONIC_SLACK)
        .max_by(|a, b| a.period.total_cmp(&b.period))?;
    let near = climbed(&trials, chosen.period);
    let found = regression(&events, near)?;
    let (h, _) = h_test(&events, found.period_ns, HARMONICS);
    Some(Stalls {
        first_ns: found.first_ns + window.begin_ns as f64,
        r: resultant(&events, found.period_ns),
        h,
        p: chance(h),
        ..found
    })
}

/// One trial period.
struct Trial {
    period: f64,
    r: f64,
    h: f64,
}

impl Trial {
    fn new(events: &[f64], period: f64) -> Self {
        Self {
            period,
            r: resultant(events, period),
            h: h_test(events, period, HARMONICS).0,
        }
    }
}

fn resultant(events: &[f64], period: f64) -> f64 {
    (z_squared(events, period, 1)[0] / (2.0 * events.len() as f64)).sqrt()
}

/// From a trial uphill to the next peak of the resultant; trials have ascending frequencies.
fn climbed(trials: &[Trial], period: f64) -> f64 {
    let mut place = trials.partition_point(|trial| trial.period > period);
    while place + 1 < trials.len() && trials[place + 1].r > trials[place].r {
        place += 1;
    }
    trials[place.min(trials.len() - 1)].period
}

/// Ascending events without those that follow another within `gap`.
pub(super) fn merged(events: &[f64], gap: f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    let mut previous = f64::NEG_INFINITY;
    for &event in events {
        if event - previous > gap {
            kept.push(event);
        }
        previous = event;
    }
    kept
}

/// Period, first due and jitter by least squares of the events on the number of their period.
/// Numbers are counted from event to event, so that an error of the trial period does not add
/// up.
fn regression(events: &[f64], near: f64) -> Option<Stalls> {
    let mut numbers = vec![0.0];
    for pair in events.windows(2) {
        let before = numbers[numbers.len() - 1];
        numbers.push(before + ((pair[1] - pair[0]) / near).round());
    }
    let n = events.len() as f64;
    let mean_number = numbers.iter().sum::<f64>() / n;
    let mean = events.iter().sum::<f64>() / n;
    let pairs = || events.iter().zip(&numbers);
    let variance: f64 = numbers
        .iter()
        .map(|number| (number - mean_number).powi(2))
        .sum();
    let covariance: f64 = pairs()
        .map(|(event, number)| (event - mean) * (number - mean_number))
        .sum();
    let period_ns = covariance / variance;
    if !period_ns.is_finite() || period_ns <= 0.0 {
        return None;
    }
    let first_ns = mean - period_ns * mean_number;
    let squares: f64 = pairs()
        .map(|(event, number)| (event - first_ns - period_ns * number).powi(2))
        .sum();
    let mut struck: Vec<i64> = numbers.iter().map(|&number| number as i64).collect();
    struck.dedup();
    let dues = (numbers[numbers.len() - 1] as usize) + 1;
    Some(Stalls {
        period_ns,
        first_ns,
        jitter_ns: (squares / (n - 2.0)).sqrt(),
        r: 0.0,
        h: 0.0,
        p: 1.0,
        n: events.len(),
        missed: dues - struck.len().min(dues),
    })
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Windows in which a stall was due.
    pub due: usize,
    /// Those that held one.
    pub hit: usize,
    /// Chance of as many hits if the instants had been any.
    pub p: f64,
    /// Whether the prediction holds: enough hits, and more than by chance.
    pub holds: bool,
}

impl Stalls {
    /// Half the width of the windows in which stalls are due: three times the jitter, and no less
    /// than what is one stall.
    pub fn half_window_ns(&self) -> f64 {
        (WINDOW_SIGMAS * self.jitter_ns).max(ONE_STALL_NS / 2.0)
    }

    /// The instants within `window`, on the clock of the events, at which stalls are due.
    pub fn due(&self, window: Window) -> Vec<f64> {
        let begin = ((window.begin_ns as f64 - self.first_ns) / self.period_ns).ceil();
        let end = ((window.end_ns as f64 - self.first_ns) / self.period_ns).floor();
        (begin as i64..=end as i64)
            .map(|number| self.first_ns + number as f64 * self.period_ns)
            .collect()
    }

    /// Holds the prediction against the stalls of another window; `None` if none was due there.
    /// Both windows have to be on one clock; between runs, on that of the wall.
    pub fn kept(&self, events_ns: &[u64], window: Window) -> Option<Kept> {
        let due = self.due(window);
        if due.is_empty() {
            return None;
        }
        let half = self.half_window_ns();
        let is_hit = |due: &&f64| {
            let near = |&event: &u64| (event as f64 - **due).abs() <= half;
            events_ns.iter().any(near)
        };
        let hit = due.iter().filter(is_hit).count();
        let chance = covered(events_ns, half, window);
        let p = at_least(hit as u64, due.len() as u64, chance);
        Some(Kept {
            due: due.len(),
            hit,
            p,
            holds: hit as f64 >= HIT_SHARE * due.len() as f64 && p <= LARGEST_HIT_P,
        })
    }
}

/// Share of a window that lies within `half` of an event: the chance to hit one with an instant
/// taken at random.
fn covered(events_ns: &[u64], half: f64, window: Window) -> f64 {
    let (begin, end) = (window.begin_ns as f64, window.end_ns as f64);
    let mut sorted = events_ns.to_vec();
    sorted.sort_unstable();
    let (mut sum, mut reached) = (0.0, begin);
    for event in sorted {
        let (from, to) = (event as f64 - half, event as f64 + half);
        sum += (to.min(end) - from.max(reached)).max(0.0);
        reached = reached.max(to);
    }
    sum / (end - begin).max(1.0)
}
