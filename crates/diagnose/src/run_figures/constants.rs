//! The constants of an endpoint's latencies, as histories compare them.

use slowpath_core::figures::{ConstantFigure, ConstantKind};
use slowpath_core::record::Manifest;
use slowpath_core::stats::comb::{FEWEST_STEPS, MOST_STEPS};
use slowpath_core::stats::{period, stalls};

use super::{ns, subject};
use crate::diagnosis::{CombFigures, ConstantFigures, EndpointFigures, Mode, StallFigures};
use crate::shape::{ADDS_FROM, CONSTANT_TOLERANCE};

/// Standard errors in half of a 95 % interval.
const ERRORS: f64 = 2.0;
/// Variance of numbers that are even over a length, as a share of its square.
const EVEN_VARIANCE: f64 = 1.0 / 12.0;

/// The steps, the additions and the periods that an endpoint shows. Its modes are figures of
/// their own.
pub(super) fn constants(manifest: &Manifest, endpoint: &EndpointFigures) -> Vec<ConstantFigure> {
    let shape = &endpoint.shape;
    let windows = manifest.repeats.iter().map(|repeat| repeat.window.len_ns());
    let window_ns = windows.max().unwrap_or(0) as f64;
    let latency = &endpoint.latency_ms;
    let seen = [&latency.max, &latency.p99_9, &latency.p99];
    let slowest_ms = seen.into_iter().find_map(|of| of.value);
    let comb = shape.comb.as_ref().and_then(step);
    let added = added(&endpoint.modes, &shape.constants, slowest_ms.unwrap_or(0.0));
    let stalls = shape.stalls.as_ref();
    let stalls = stalls.map(|found| period_of(found, window_ns));
    let all = comb.into_iter().chain(added).chain(stalls);
    all.map(|constant| ConstantFigure {
        subject: subject(endpoint),
        ..constant
    })
    .collect()
}

fn constant(kind: ConstantKind, at_ns: f64) -> ConstantFigure {
    ConstantFigure {
        subject: String::new(),
        kind,
        at_ns,
        half_width_ns: 0.0,
        p: None,
        between_ns: [at_ns; 2],
        made_of: Vec::new(),
    }
}

fn step(found: &CombFigures) -> Option<ConstantFigure> {
    let step_ns = ns(found.step_ms);
    let [steps, _] = *found.teeth.last()?;
    let span_ns = step_ns * steps;
    Some(ConstantFigure {
        half_width_ns: ERRORS * ns(found.step_error_ms),
        p: Some(found.p),
        between_ns: [span_ns / MOST_STEPS, span_ns / FEWEST_STEPS],
        made_of: found.made_of.clone(),
        ..constant(ConstantKind::Step, step_ns)
    })
}

/// What each slower mode adds to the fastest, whether it can be made of known timers or not: a
/// choice of those that can would come back for that alone.
fn added(modes: &[Mode], known: &[ConstantFigures], slowest_ms: f64) -> Vec<ConstantFigure> {
    let Some((fastest, slower)) = modes.split_first() else {
        return Vec::new();
    };
    let places = slower.iter().map(|mode| mode.at_ms);
    let slowest_ms = places.fold(slowest_ms, f64::max);
    let of = |mode_ms: f64| {
        let same = |known: &&ConstantFigures| known.mode_ms.total_cmp(&mode_ms).is_eq();
        let known = known.iter().find(same);
        ConstantFigure {
            // Both modes are placed to a share of themselves, not of what lies between.
            half_width_ns: CONSTANT_TOLERANCE * ns(mode_ms),
            between_ns: [
                ns((ADDS_FROM - 1.0) * fastest.at_ms),
                ns(slowest_ms - fastest.at_ms),
            ],
            made_of: known.map_or_else(Vec::new, |known| known.made_of.clone()),
            ..constant(ConstantKind::Added, ns(mode_ms - fastest.at_ms))
        }
    };
    let far = slower
        .iter()
        .filter(|mode| mode.at_ms >= ADDS_FROM * fastest.at_ms);
    far.map(|mode| of(mode.at_ms)).collect()
}

fn period_of(found: &StallFigures, window_ns: f64) -> ConstantFigure {
    let period_ns = ns(found.period_ms);
    let shortest_ns = if period_ns < stalls::SHORTEST_NS {
        period::SHORTEST_NS
    } else {
        stalls::SHORTEST_NS
    };
    // The standard error of a slope through instants whose numbers are even over the dues.
    let (stalls, dues) = (
        f64::from(found.stalls),
        f64::from(found.stalls + found.missed),
    );
    let error_ns = ns(found.jitter_ms) / (dues * (EVEN_VARIANCE * stalls).sqrt());
    ConstantFigure {
        half_width_ns: ERRORS * error_ns,
        p: Some(found.p),
        between_ns: [
            shortest_ns,
            (window_ns / stalls::FEWEST_PERIODS).max(period_ns),
        ],
        ..constant(ConstantKind::Period, period_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In whole milliseconds.
    fn between(found: &ConstantFigure) -> [u64; 2] {
        found.between_ns.map(|ns| (ns / 1e6).round() as u64)
    }

    fn modes(places_ms: &[f64]) -> Vec<Mode> {
        let mode = |&at_ms: &f64| Mode {
            at_ms,
            weight: 0.3,
            share_low: None,
            share_high: None,
            deff: None,
            is_satellite: false,
        };
        places_ms.iter().map(mode).collect()
    }

    #[test]
    fn a_step_is_as_uncertain_as_its_regression_and_fits_two_to_forty_times() {
        let found = step(&CombFigures {
            step_ms: 200.0,
            step_error_ms: 1.5,
            offset_ms: 40.0,
            teeth: vec![[0.0, 0.6], [1.0, 0.3], [4.0, 0.1]],
            p: 0.004,
            made_of: vec!["retransmission".to_owned()],
        });
        let found = found.unwrap();
        assert_eq!((found.kind, found.at_ns), (ConstantKind::Step, 200e6));
        assert_eq!((found.half_width_ns, found.p), (3e6, Some(0.004)));
        assert_eq!(between(&found), [20, 400]);
        assert_eq!(found.made_of, ["retransmission"]);
    }

    #[test]
    fn what_is_added_is_told_of_all_far_modes_with_what_is_known_of_them() {
        let known = ConstantFigures {
            mode_ms: 45.0,
            added_ms: 40.0,
            made_of: vec!["delayed ACK".to_owned()],
        };
        let found = added(&modes(&[5.0, 6.0, 45.0, 105.0]), &[known], 500.0);
        let told: Vec<(f64, usize)> = found.iter().map(|c| (c.at_ns, c.made_of.len())).collect();
        assert_eq!(told, [(40e6, 1), (100e6, 0)]);
        assert_eq!(between(&found[0]), [3, 495]);
        // 2 % of the place, which is more of the difference.
        assert!((found[0].half_width_ns / 0.9e6 - 1.0).abs() < 1e-9);
        assert_eq!(added(&[], &[], 500.0), []);
    }

    #[test]
    fn a_period_is_as_uncertain_as_a_slope_through_its_stalls() {
        let stalls = |period_ms: f64| StallFigures {
            period_ms,
            jitter_ms: 600.0,
            first_s: 1.0,
            stalls: 12,
            missed: 0,
            p: 1e-5,
            kept: Vec::new(),
            wall: None,
        };
        let slow = period_of(&stalls(10_000.0), 120e9);
        // sd sqrt(12 / n) / n, twice.
        assert!((slow.half_width_ns / 1e8 - 1.0).abs() < 1e-9);
        assert_eq!(between(&slow), [2000, 30_000]);
        assert_eq!(between(&period_of(&stalls(100.0), 120e9)), [20, 30_000]);
    }
}
