//! Where along the levels something begins to happen: a logistic threshold with its interval.

use serde::{Deserialize, Serialize};

/// Twice the loss of log-likelihood that a 95 % interval allows (chi-square, one degree).
const LOSS_95: f64 = 3.841_458_820_694_124;
/// Steepness that is tried: from a chance that grows over a factor of a thousand to a step within
/// a hundredth, in 30 steps of equal ratio.
const STEEPNESS: (f64, f64, i32) = (0.5, 500.0, 30);
/// Places that are tried between the levels and half a range beyond them: a hundredth of what
/// levels that double lie apart, at ten of them.
const PLACES: usize = 800;

/// Whether something happened in a window at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The level, above 0.
    pub level: f64,
    /// Whether it happened.
    pub happened: bool,
}

/// What begins to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdKind {
    /// At least one of a hundred offered requests fails.
    Errors,
    /// Throughput is less than half of what fewer connections had, in every window.
    Collapse,
    /// Less than 95 % of the offered requests are answered within the window.
    FallingBehind,
}

/// The level at which something happens in half of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold {
    /// The level with the largest likelihood.
    pub at: f64,
    /// Lower end of the 95 % profile-likelihood interval; 0 if it is below all levels.
    pub low: f64,
    /// Upper end; `null` if it may be above all levels.
    pub high: Option<f64>,
    /// The highest level at which it happened in no window, below the first at which it did.
    pub last_without: Option<f64>,
    /// The lowest level at which it happened.
    pub first_with: f64,
}

/// The threshold of windows at levels above 0, by logistic regression on the logarithm of the
/// level (Cox 1958), rising only. `None` unless it happened in some windows and not in others,
/// and more often at high levels.
///
/// The likelihood is searched on a grid, since its maximum is at a step (an infinite slope) when
/// no level has windows of both kinds, which is the usual case: the threshold then is the middle
/// of the gap.
pub fn threshold(hits: &[Hit]) -> Option<Threshold> {
    let logs: Vec<(f64, bool)> = hits.iter().map(|h| (h.level.ln(), h.happened)).collect();
    let happened = || {
        logs.iter()
            .filter(|(_, happened)| *happened)
            .map(|(x, _)| *x)
    };
    let not = || {
        logs.iter()
            .filter(|(_, happened)| !happened)
            .map(|(x, _)| *x)
    };
    let first_with = happened().reduce(f64::min)?;
    let lowest_without = not().reduce(f64::min)?;
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (n, sum) = values.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
        sum / n
    };
    if mean(&mut happened()) <= mean(&mut not()) {
        return None;
    }
    let least = first_with.min(lowest_without);
    let most = happened().chain(not()).fold(f64::NEG_INFINITY, f64::max);
    let margin = (most - least) / 2.0;
    let place =
        |i: usize| least - margin + (most - least + 2.0 * margin) * i as f64 / PLACES as f64;
    let profile: Vec<(f64, f64)> = (0..=PLACES)
        .map(|i| (place(i), best_likelihood(&logs, place(i))))
        .collect();
    let top = profile
        .iter()
        .map(|&(_, l)| l)
        .fold(f64::NEG_INFINITY, f64::max);
    let inside = |loss: f64| {
        profile
            .iter()
            .filter(move |(_, l)| 2.0 * (top - l) <= loss)
            .map(|(x, _)| *x)
    };
    // A plateau of the likelihood is a gap between levels: its middle.
    let plateau = || inside(1e-6);
    let at = f64::midpoint(plateau().reduce(f64::min)?, plateau().reduce(f64::max)?);
    let low = inside(LOSS_95).reduce(f64::min)?;
    let high = inside(LOSS_95).reduce(f64::max)?;
    // Levels as they were given: their logarithms do not lead back to them exactly.
    let levels = |happened: bool| {
        let own = hits.iter().filter(move |h| h.happened == happened);
        own.map(|h| h.level)
    };
    let first = levels(true).reduce(f64::min)?;
    Some(Threshold {
        at: at.exp(),
        low: if low <= place(0) { 0.0 } else { low.exp() },
        high: (high < place(PLACES)).then(|| high.exp()),
        last_without: levels(false).filter(|l| *l < first).reduce(f64::max),
        first_with: first,
    })
}

/// The largest log-likelihood over all slopes for a threshold at `place`.
fn best_likelihood(logs: &[(f64, bool)], place: f64) -> f64 {
    let (least, most, count) = STEEPNESS;
    (0..=count)
        .map(|i| {
            let slope = least * (most / least).powf(f64::from(i) / f64::from(count));
            let of = |&(x, happened): &(f64, bool)| {
                let z = slope * (x - place);
                // ln of the logistic function, without overflow on either side.
                let signed = if happened { -z } else { z };
                -(signed.max(0.0) + (-signed.abs()).exp().ln_1p())
            };
            logs.iter().map(of).sum()
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;
    use slowpath_core::plan::unit;

    use super::*;

    fn hits(levels: &[(f64, u32, u32)]) -> Vec<Hit> {
        let of = |&(level, yes, no): &(f64, u32, u32)| {
            let happened = (0..yes).map(|_| true).chain((0..no).map(|_| false));
            happened.map(move |happened| Hit { level, happened })
        };
        levels.iter().flat_map(of).collect()
    }

    #[test]
    fn a_clean_step_lies_in_its_gap() {
        let found = threshold(&hits(&[
            (16.0, 0, 3),
            (32.0, 0, 3),
            (64.0, 3, 0),
            (128.0, 3, 0),
        ]))
        .unwrap();
        assert_eq!(
            (
                found.last_without.unwrap().round(),
                found.first_with.round()
            ),
            (32.0, 64.0)
        );
        assert!((found.at / 45.25 - 1.0).abs() < 0.05, "{found:?}");
        assert!(found.low < 33.0 && found.low > 16.0, "{found:?}");
        assert!(
            found.high.unwrap() > 63.0 && found.high.unwrap() < 128.0,
            "{found:?}"
        );
    }

    #[test]
    fn what_always_or_never_happens_has_no_threshold() {
        assert_eq!(threshold(&hits(&[(1.0, 3, 0), (2.0, 3, 0)])), None);
        assert_eq!(threshold(&hits(&[(1.0, 0, 3), (2.0, 0, 3)])), None);
        assert_eq!(
            threshold(&hits(&[(1.0, 3, 0), (2.0, 0, 3)])),
            None,
            "it gets rarer"
        );
        assert_eq!(threshold(&[]), None);
    }

    #[test]
    fn a_single_level_above_leaves_the_upper_end_open() {
        let found =
            threshold(&hits(&[(1.0, 0, 3), (2.0, 0, 3), (4.0, 0, 3), (8.0, 1, 2)])).unwrap();
        assert_eq!(found.high, None, "{found:?}");
        assert!(found.at >= 8.0);
    }

    #[test]
    fn the_interval_covers_the_truth() {
        let (truth, slope) = (300.0_f64, 4.0);
        let mut covered = 0;
        for seed in 0..100 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut hits = Vec::new();
            for level in [50.0, 100.0, 200.0, 400.0, 800.0, 1600.0_f64] {
                for _ in 0..5 {
                    let p = 1.0 / (1.0 + (-slope * (level.ln() - truth.ln())).exp());
                    hits.push(Hit {
                        level,
                        happened: unit(&mut random) < p,
                    });
                }
            }
            let found = threshold(&hits).unwrap();
            covered += u32::from(found.low <= truth && found.high.is_none_or(|high| truth <= high));
        }
        assert!(covered >= 90, "{covered} of 100");
    }
}
