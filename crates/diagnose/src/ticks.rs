//! Requests that begin at any time and are over when a clock strikes: each waits for what is left of a
//! period, from nothing to all of it.
//!
//! Two things make that more than a coincidence. The ends keep to the period and the beginnings do not; and
//! the waits are spread evenly over all of it, so that no request was let through in between. A stall that
//! recurs, or a quota, keeps the ends too, and lets others through.

use std::f64::consts::TAU;

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::cell::{share_in, share_open};
use crate::verdict::Claim;

/// Shorter periods may be those of the kernel's own clock (`HZ` of 250 and more), and wake-ups on a shared
/// machine are late by as much.
const PERIOD_LEAST_NS: f64 = 4.5 * MILLISECOND as f64;
/// Fewer requests do not show how waits are spread.
const FEWEST: usize = 100;
/// The same of slow ones that are seen to sleep: what they do is known, and only how it is ended is looked for.
const SLOW_FEWEST: usize = 50;
/// Where it is not seen that they sleep, a clock strikes again after one period at least so often.
const ADJACENT_LEAST: usize = 8;
/// From this share of their waits on they sleep.
const SLEPT_LEAST: f64 = 0.5;
/// The first requests that are examined: enough for any clock, and little beside ten million.
const WAYS_MOST: usize = 300_000;
/// The waits are judged by what lies between these: the rest may be slow, or quick, for another reason.
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;
/// A clock that sleeps between its strikes does not keep its phase for ever: ends are compared with those of
/// so many periods.
const WINDOW_PERIODS: f64 = 16.0;
/// Ends this much of a period apart, or nearer, are of one strike.
const TOGETHER: f64 = 0.25;
/// With fewer strikes in a window they agree on a phase by chance.
const WINDOW_FEWEST: usize = 4;
/// The period is looked for within this of what the waits say, in steps that move the phase by a twentieth
/// of a turn within a window.
const NEAR: f64 = 0.12;
const STEPS_PER_TURN: f64 = 20.0;
/// Mean resultant length of the ends' phases: 0.8 is a jitter of a tenth of the period …
const ENDS_LEAST: f64 = 0.8;
/// … and so much less that of the beginnings. Of four at random it is 0.44.
const STARTS_BELOW: f64 = 0.3;
/// The distribution of the waits is nowhere further from the even one than chance allows (Kolmogorov and
/// Smirnov, one in a hundred, times the root of the number), and this, which is how far what comes after
/// the strike may move them.
const EVEN_ROOT: f64 = 1.63;
const EVEN_SLACK: f64 = 0.05;

/// What was found.
#[derive(Debug)]
pub(crate) struct Ticks {
    pub(crate) period_ns: f64,
    /// Mean resultant lengths of the phases, of the ends and of the beginnings.
    pub(crate) ends: f64,
    pub(crate) starts: f64,
    /// How often ends follow each other after one period.
    adjacent: usize,
    /// The waits, by request.
    pub(crate) waits: Vec<Claim>,
}

/// A request's way from its first byte to that of the answer.
#[derive(Clone, Copy)]
struct Way {
    sample: u32,
    repeat: u16,
    begin: u64,
    end: u64,
}

/// Looks for a clock that requests wait for: all of them, or the slow ones, where a trace shows that they wait
/// for a timer, or does not show what they wait for (a runtime that keeps its timers in user space).
pub(crate) fn ticks(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Ticks> {
    let slow = || {
        let found = among(case, &endpoint.split.slow, SLOW_FEWEST)?;
        let waits = StateSet::SLEEP.and(StateSet::UNKNOWN);
        let open = share_open(case, endpoint, waits, &found.waits)?;
        let slept = share_in(case, endpoint, StateSet::SLEEP, &found.waits)?;
        let is_clock =
            slept >= SLEPT_LEAST || open >= SLEPT_LEAST && found.adjacent >= ADJACENT_LEAST;
        is_clock.then_some(found)
    };
    among(case, &endpoint.completed, FEWEST).or_else(slow)
}

/// Looks for a clock that these requests wait for.
fn among(case: &Case<'_>, requests: &[u32], fewest: usize) -> Option<Ticks> {
    let first = || requests.iter().take(WAYS_MOST);
    let length = |&position: &u32| {
        let sample = case.sample(position);
        Some(
            sample
                .first_byte()?
                .get()
                .saturating_sub(sample.sent()?.get()),
        )
    };
    // Nearly all servers are done here, and nothing else is held for them.
    spread(&mut first().filter_map(length).collect::<Vec<u64>>())?;
    let ways = first().filter_map(|&position| {
        let sample = case.sample(position);
        Some(Way {
            sample: position,
            repeat: sample.repeat(),
            begin: sample.sent()?.get(),
            end: sample.first_byte()?.get(),
        })
    });
    let mut ways: Vec<Way> = ways.filter(|way| way.end > way.begin).collect();
    ways.sort_unstable_by_key(|way| (way.repeat, way.end));
    clock_of(&ways, fewest)
}

/// Where the lengths begin, and the period if they are spread over one; `None` if that is too short. They
/// are sorted then.
fn spread(lengths: &mut [u64]) -> Option<(f64, f64)> {
    lengths.sort_unstable();
    let (low, high) = (type_1(lengths, LOW)? as f64, type_1(lengths, HIGH)? as f64);
    let about_ns = (high - low) / (HIGH - LOW);
    (about_ns >= PERIOD_LEAST_NS).then_some((low, about_ns))
}

fn clock_of(ways: &[Way], fewest: usize) -> Option<Ticks> {
    if ways.len() < fewest {
        return None;
    }
    let mut lengths: Vec<u64> = ways.iter().map(|way| way.end - way.begin).collect();
    let (low, about_ns) = spread(&mut lengths)?;
    let base_ns = low - LOW * about_ns;
    if !is_even(&lengths, base_ns, about_ns) {
        return None;
    }
    let steps = (NEAR * WINDOW_PERIODS * STEPS_PER_TURN).ceil() as i32;
    let periods =
        (-steps..=steps).map(|step| about_ns * (1.0 + NEAR * f64::from(step) / f64::from(steps)));
    let of_ends = |period_ns: f64| resultant((ways, fewest), about_ns, period_ns, |way| way.end);
    let found = periods.map(|period_ns| (of_ends(period_ns), period_ns));
    let (ends, period_ns) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let starts = resultant((ways, fewest), about_ns, period_ns, |way| way.begin);
    if ends < ENDS_LEAST || starts > ends - STARTS_BELOW {
        return None;
    }
    let mut waits: Vec<Claim> = ways
        .iter()
        .filter_map(|way| way.wait(base_ns.max(0.0) as u64))
        .collect();
    waits.sort_unstable_by_key(|claim| claim.sample);
    Some(Ticks {
        period_ns,
        ends,
        starts,
        adjacent: adjacent(ways, period_ns),
        waits,
    })
}

impl Way {
    /// What of it was waiting: all but what the quickest take as well.
    fn wait(&self, base_ns: u64) -> Option<Claim> {
        let begin = self.begin + base_ns;
        (begin < self.end).then(|| Claim {
            sample: self.sample,
            span: Span::new(Nanos::new(begin), Nanos::new(self.end)),
        })
    }
}

/// How often an end follows the one before it after one period: a stall that recurs lets all go at once, and none until the next.
fn adjacent(ways: &[Way], period_ns: f64) -> usize {
    let next = ways.windows(2).filter(|pair| {
        let distance = pair[1].end.saturating_sub(pair[0].end) as f64;
        pair[0].repeat == pair[1].repeat && (distance / period_ns - 1.0).abs() <= TOGETHER
    });
    next.count()
}

/// Whether sorted lengths are spread evenly over a period from a base on, but for those at both ends.
fn is_even(lengths: &[u64], base_ns: f64, period_ns: f64) -> bool {
    let n = lengths.len() as f64;
    let furthest = (1_u32..).zip(lengths).map(|(rank, &length)| {
        let even = ((length as f64 - base_ns) / period_ns).clamp(0.0, 1.0);
        (f64::from(rank) / n - even).abs()
    });
    furthest.fold(0.0, f64::max) <= EVEN_ROOT / n.sqrt() + EVEN_SLACK
}

/// How well instants keep to a period within windows of some periods: the mean resultant length of their
/// phases. 0 without windows that have enough.
fn resultant(
    (ways, fewest): (&[Way], usize),
    about_ns: f64,
    period_ns: f64,
    at: impl Fn(&Way) -> u64,
) -> f64 {
    let window_ns = (WINDOW_PERIODS * about_ns) as u64;
    let (mut sum, mut count) = (0.0, 0);
    let same = |a: &Way, b: &Way| a.repeat == b.repeat && a.end / window_ns == b.end / window_ns;
    // Those that end together are released by one tick, as after a stall, and agree for any period.
    let together_ns = (TOGETHER * about_ns) as u64;
    let strikes = |window: &[Way]| {
        let ends = window.windows(2).map(|pair| pair[1].end - pair[0].end);
        1 + ends.filter(|distance| *distance > together_ns).count()
    };
    for window in ways.chunk_by(same).filter(|w| strikes(w) >= WINDOW_FEWEST) {
        let zero = window.iter().map(&at).min().unwrap_or(0);
        let phases = window
            .iter()
            .map(|way| TAU * ((at(way) - zero) as f64 / period_ns).fract());
        let (cos, sin) = phases.fold((0.0, 0.0), |(cos, sin), phase| {
            (cos + phase.cos(), sin + phase.sin())
        });
        sum += f64::hypot(cos, sin);
        count += window.len();
    }
    if count < fewest {
        0.0
    } else {
        sum / count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = MILLISECOND as f64;

    /// Requests that come at random, 97 a second on average, and what becomes of each.
    fn ways(end: impl Fn(u64, f64) -> u64) -> Vec<Way> {
        let mut state = 7_u64;
        let mut unit = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut at = 1_000_000_000.0;
        let mut ways: Vec<Way> = (0..900)
            .map(|sample| {
                at += -(1.0 - unit()).ln() * 1e9 / 97.0;
                let begin = at as u64;
                let end = end(begin, unit());
                Way {
                    sample,
                    repeat: 0,
                    begin,
                    end,
                }
            })
            .collect();
        ways.sort_unstable_by_key(|way| way.end);
        ways
    }

    /// The first strike after an instant.
    fn strike(at: u64, period_ns: f64) -> u64 {
        ((at as f64 / period_ns).ceil() * period_ns) as u64
    }

    #[test]
    fn slow_ones_that_end_together_after_a_stall_wait_for_no_clock() {
        let period = 120.0 * MS;
        let is_slow = |way: &Way| way.sample.is_multiple_of(5);
        let mut polling = ways(|begin, _| strike(begin, period) + 200_000);
        polling.retain(is_slow);
        let found = clock_of(&polling, SLOW_FEWEST).unwrap();
        assert!((found.period_ns / period - 1.0).abs() < 0.02, "{found:?}");
        // A stall of 120 ms in each eight times as long: what comes in it ends with it, and all ends have one phase.
        let stall = |begin: u64| strike(begin, 8.0 * period) + 200_000;
        let mut stalled = ways(|begin, _| stall(begin));
        stalled.retain(|way| (way.end - way.begin) as f64 <= period);
        assert!(stalled.len() >= SLOW_FEWEST);
        assert!(clock_of(&stalled, SLOW_FEWEST).is_none());
    }

    #[test]
    fn what_ends_at_the_next_strike_waits_for_it() {
        for (period, work) in [(40.0, 1.0), (23.0, 9.0), (250.0, 2.0)] {
            let found = clock_of(
                &ways(|begin, _| strike(begin + (work * MS) as u64, period * MS) + 200_000),
                FEWEST,
            );
            let found = found.unwrap();
            assert!(
                (found.period_ns / MS - period).abs() < 0.02 * period,
                "{found:?}"
            );
            assert_eq!(found.waits.len().div_ceil(100), 9);
        }
    }

    #[test]
    fn a_clock_that_does_not_keep_its_phase_is_a_clock() {
        let late = |at: u64| at + (4.0 * MS * (1.0 + (at as f64 / 3e9).sin())) as u64;
        let found = clock_of(&ways(|begin, _| late(strike(begin, 50.0 * MS))), FEWEST).unwrap();
        assert!((found.period_ns / MS - 50.0).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn random_waits_stalls_and_quotas_are_no_clock() {
        // Evenly spread, and over at any time.
        assert!(clock_of(&ways(|begin, u| begin + (40.0 * MS * u) as u64), FEWEST).is_none());
        // A constant.
        assert!(
            clock_of(
                &ways(|begin, u| begin + (40.0 * MS + MS * u) as u64),
                FEWEST
            )
            .is_none()
        );
        // Let through for four tenths of the period.
        let quota = |begin: u64, _| {
            let into = begin as f64 % (100.0 * MS);
            if into < 40.0 * MS {
                begin + MILLISECOND
            } else {
                strike(begin, 100.0 * MS)
            }
        };
        assert!(clock_of(&ways(quota), FEWEST).is_none());
        // Quick.
        assert!(clock_of(&ways(|begin, u| begin + (3.0 * MS * u) as u64), FEWEST).is_none());
    }
}
