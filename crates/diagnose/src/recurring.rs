//! What recurs in an endpoint's latencies: stalls with a period, and a level that swings.

use std::f64::consts::TAU;

use slowpath_core::nanos::Span;
use slowpath_core::signal::CLOCK_REALTIME_OFFSET;
use slowpath_core::stats::batches::Window;
use slowpath_core::stats::episodes::episodes;
use slowpath_core::stats::lomb_scargle::{self, Level};
use slowpath_core::stats::period::{period, rayleigh};
use slowpath_core::stats::selection::Selection;
use slowpath_core::stats::stalls::{self, Stalls};
use slowpath_core::stats::wall::on_the_clock;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{KeptFigures, StallFigures, SwingFigures, WallFigures};
use crate::figures::{millis, round};
use crate::validity::is_crowded;

/// Stalls of one cause differ less than by this factor in what they add up to; half of all excess is
/// in those that are at least as heavy as the typical one.
const STALLS_DIFFER: u64 = 4;
/// A level is the median of a second.
const LEVEL_NS: u64 = 1_000_000_000;
/// A median of fewer requests is a request.
const LEVEL_FEWEST: usize = 5;

/// The period of the stalls, from the repeat in which there are most: repeats lie apart in time, and what goes on between them is not seen.
/// The others say whether it goes on.
pub(crate) fn stalls(case: &Case<'_>, endpoint: &EndpointCase) -> Option<StallFigures> {
    let zero = case.windows.first()?.begin;
    let mut slow = vec![Slow::default(); case.windows.len()];
    let fast_ns = endpoint.split.fast_ns.unwrap_or(0);
    for &i in &endpoint.split.slow {
        let sample = case.sample(i);
        let of = slow.get_mut(usize::from(sample.repeat()))?;
        let span = (sample.scheduled().get(), sample.done().get());
        of.spans.push(span);
        of.excess_ns
            .push(sample.latency_ns().saturating_sub(fast_ns));
    }
    let begins: Vec<Vec<u64>> = slow.iter().map(Slow::stalls).collect();
    let most = (0..begins.len()).rev().max_by_key(|&i| begins[i].len())?;
    let Some(found) = stalls::stalls(&begins[most], batch_window(case.windows[most])) else {
        return fast(&slow[most], zero.get());
    };
    Some(StallFigures {
        period_ms: millis(found.period_ns),
        jitter_ms: millis(found.jitter_ns),
        first_s: millis(found.first_ns - zero.get() as f64) / 1e3,
        stalls: found.n as u32,
        missed: found.missed as u32,
        p: found.p,
        kept: kept(case, &found, &begins, most),
        wall: wall(case, &found, &begins),
    })
}

/// The period of a fast clock that all episodes of a repeat follow, such as polls and refills, which release at
/// its ticks.
fn fast(slow: &Slow, zero_ns: u64) -> Option<StallFigures> {
    let ends: Vec<u64> = episodes(&slow.spans)
        .episodes
        .iter()
        .map(|e| e.end_ns)
        .collect();
    let found = period(&ends)?;
    let phase = rayleigh(&ends, found.period_ns)?.phase;
    let (first, last) = (*ends.first()?, *ends.last()?);
    let ticks = ((last - first) as f64 / found.period_ns).round() as usize + 1;
    let since_ns = (phase * found.period_ns - zero_ns as f64).rem_euclid(found.period_ns);
    Some(StallFigures {
        period_ms: millis(found.period_ns),
        // The deviation of a wrapped normal distribution.
        jitter_ms: millis((-2.0 * found.r.ln()).max(0.0).sqrt() / TAU * found.period_ns),
        first_s: millis(since_ns) / 1e3,
        stalls: found.n as u32,
        missed: ticks.saturating_sub(found.n) as u32,
        p: found.p,
        kept: Vec::new(),
        wall: None,
    })
}

/// The slow requests of a repeat.
#[derive(Clone, Default)]
struct Slow {
    spans: Vec<(u64, u64)>,
    excess_ns: Vec<u64>,
}

impl Slow {
    /// When the heavy episodes began: what else is slow now and then, on a host that others use too,
    /// would hide a period between them.
    fn stalls(&self) -> Vec<u64> {
        let found = episodes(&self.spans);
        let mut weights = vec![0_u64; found.episodes.len()];
        for (&episode, &excess_ns) in found.of.iter().zip(&self.excess_ns) {
            let own = &mut weights[episode as usize];
            *own = own.saturating_add(excess_ns);
        }
        let mut heaviest = weights.clone();
        heaviest.sort_unstable_by(|a, b| b.cmp(a));
        let half = weights.iter().copied().fold(0, u64::saturating_add) / 2;
        let typical = heaviest.iter().scan(0_u64, |held, &weight| {
            *held = held.saturating_add(weight);
            Some((*held, weight))
        });
        let typical = typical.skip_while(|&(held, _)| held < half);
        let least = typical.map(|(_, weight)| weight).next().unwrap_or(0) / STALLS_DIFFER;
        let of_one_kind = found.episodes.iter().zip(&weights);
        of_one_kind
            .filter(|&(_, &weight)| weight >= least)
            .map(|(episode, _)| episode.begin_ns)
            .collect()
    }
}

/// What became, in the other repeats, of the dues that one predicts.
fn kept(case: &Case<'_>, found: &Stalls, begins: &[Vec<u64>], of: usize) -> Vec<KeptFigures> {
    let others = (0..begins.len()).filter(|&repeat| repeat != of);
    let one = |repeat: usize| {
        let kept = found.kept(&begins[repeat], batch_window(case.windows[repeat]))?;
        Some(KeptFigures {
            repeat: repeat as u32,
            due: kept.due as u32,
            hit: kept.hit as u32,
            p: kept.p,
            holds: kept.holds,
        })
    };
    others.filter_map(one).collect()
}

/// Whether stalls keep to the wall; `None` too if its clock was not recorded.
fn wall(case: &Case<'_>, found: &Stalls, begins: &[Vec<u64>]) -> Option<WallFigures> {
    let clock = case.series(&CLOCK_REALTIME_OFFSET, &Subject::Host, "")?;
    let offset_ns = clock.points.first()?.value;
    let since_epoch = |at: &u64| at + offset_ns as u64;
    let windows = case.windows.iter().zip(begins);
    let all: Vec<(u64, Vec<u64>)> = windows
        .map(|(window, begins)| {
            let stalls = begins.iter().map(since_epoch).collect();
            (since_epoch(&window.begin.get()), stalls)
        })
        .collect();
    let found = on_the_clock(found.period_ns, &all)?;
    Some(WallFigures {
        every_s: round(found.period_ns / 1e9, 1e3),
        after_s: round(found.after_ns / 1e9, 1e3),
        repeats: found.repeats as u32,
        p: found.p,
    })
}

/// The period with which the level of the longest repeat rises and falls. On a host without room
/// that may be the work of others, so that none is reported.
pub(crate) fn swing(case: &Case<'_>, endpoint: &EndpointCase) -> Option<SwingFigures> {
    let windows = case.windows.iter().enumerate().rev();
    let (repeat, window) = windows.max_by_key(|(_, window)| window.len_ns())?;
    if (window.len_ns() as f64) < lomb_scargle::FEWEST_PERIODS * lomb_scargle::SHORTEST_NS
        || is_crowded(case)
    {
        return None;
    }
    let found = lomb_scargle::swing(&levels(case, endpoint, repeat, *window))?;
    Some(SwingFigures {
        period_s: round(found.period_ns / 1e9, 1e3),
        power: round(found.power, 1e3),
        p: found.p,
    })
}

/// The logarithm of the median of each second of a repeat.
fn levels(case: &Case<'_>, endpoint: &EndpointCase, repeat: usize, window: Span) -> Vec<Level> {
    let seconds = (window.len_ns() / LEVEL_NS) as usize;
    let mut by_second: Vec<Vec<u64>> = vec![Vec::new(); seconds];
    for (of, own) in endpoint.stretches(case.record) {
        if usize::from(of) != repeat {
            continue;
        }
        let latencies_ns = &endpoint.latencies_ns[own.clone()];
        for (&i, &latency_ns) in endpoint.completed[own].iter().zip(latencies_ns) {
            let since_ns = case.sample(i).scheduled().since(window.begin);
            if let Some(second) = by_second.get_mut((since_ns / LEVEL_NS) as usize) {
                second.push(latency_ns);
            }
        }
    }
    let level = |(second, latencies): (usize, Vec<u64>)| {
        let mut latencies = Selection::new(latencies);
        let median = latencies
            .type_1(0.5)
            .filter(|_| latencies.len() >= LEVEL_FEWEST)?;
        Some(Level {
            at_ns: (second as f64 + 0.5) * LEVEL_NS as f64,
            value: (median.max(1) as f64).ln(),
            weight: latencies.len() as f64,
        })
    };
    by_second
        .into_iter()
        .enumerate()
        .filter_map(level)
        .collect()
}

fn batch_window(span: Span) -> Window {
    Window {
        begin_ns: span.begin.get(),
        end_ns: span.end.get(),
    }
}
