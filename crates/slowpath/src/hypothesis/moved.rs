//! What an intervention that takes the cause away must do to the figures of a run.

use anyhow::Result;
use slowpath_core::stats::quantile::type_1;
use slowpath_diagnose::diagnosis::{Place, Prediction};
use slowpath_experiment::{ERRORS, Hypothesis, Intervention};

use super::Ground;
use crate::exit::Problem;
use crate::notes;

/// With no class of its own to fall to, everything is to become this much faster: what remains of a
/// cause that explains a request is less than the half of it.
const REMAINS: f64 = 0.5;
/// The fast class may be as much slower in other blocks: medians of the same server differ by up to
/// 30 % from run to run on a shared machine.
const SCATTER: f64 = 1.3;
/// So many times as many requests as lie beyond a percentile have to be slow, and so many times fewer to
/// remain slow: at an edge it would lie in this class in one block and in that one in the next.
const WELL_WITHIN: f64 = 1.5;
/// Fewer slow requests, as a share of all, are no class of their own unless a finding says that they are what
/// it is about: then all requests are to become faster.
const SLOW_LEAST: f64 = 0.015;
/// Where fewer of the slow requests, as a share of them, lie above the middle, it is no boundary.
const ABOVE_LEAST: f64 = 0.8;
/// … where these are one of two modes: what lies between is then of neither, but of a host that holds some
/// of the fast ones up, and no intervention takes it away.
const ABOVE_LEAST_OF_TWO: f64 = 0.5;
/// Percentiles that people know.
const USUAL: [u8; 4] = [50, 90, 95, 99];
/// A request that takes so many medians counts as failed where failures are judged: it waited for
/// what others did not get at all.
const STUCK_MEDIANS: f64 = 20.0;
/// … and no less than this, in milliseconds: what waits for room waits for a timer.
const STUCK_LEAST_MS: f64 = 500.0;

/// A metric with what it is and what it must become.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) metric: String,
    pub(super) baseline: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) slow_above_ms: f64,
}

impl Moved {
    /// By what the finding predicts, or by what fails if that is what was found; without a finding by
    /// the run's own classes: the slow requests become like the fast ones.
    pub(super) fn of(ground: &Ground<'_>) -> Result<Self, Problem> {
        if ground.finding.is_some_and(|f| f.place == Place::Errors) {
            return Ok(Self::failures(ground));
        }
        match ground.finding.and_then(|f| f.prediction.as_ref()) {
            Some(prediction) => Self::predicted(ground, prediction),
            None => Self::own_classes(ground, 0.0),
        }
    }

    /// The same of a cause that makes requests slow or fail: without a finding by what fails where that is
    /// more than what is slow.
    pub(super) fn of_place(ground: &Ground<'_>) -> Result<Self, Problem> {
        let endpoint = ground.endpoint;
        let place = ground.finding.map(|f| f.place);
        if fail(place, endpoint.failed.len(), endpoint.split.slow.len()) {
            return Ok(Self::failures(ground));
        }
        Self::of(ground)
    }

    fn predicted(ground: &Ground<'_>, prediction: &Prediction) -> Result<Self, Problem> {
        let metric = prediction.metric.clone();
        let baseline = quantile(ground, super::percentile_of(&metric))?;
        let (low, high) = below((prediction.low_ms, prediction.high_ms), baseline);
        let place = ground.finding.map(|f| f.place);
        let low = down_to_fast(low, place, ground.endpoint.split.fast_ns);
        let cut_ms = ground.endpoint.split.cut_ns.map(|ns| ns as f64 / 1e6);
        Ok(Self {
            metric,
            baseline,
            low,
            high,
            slow_above_ms: slow_above(
                &ground.endpoint.split.sorted_ns,
                (baseline, high),
                cut_ms.map(|cut| (cut, ABOVE_LEAST)),
            ),
        })
    }

    /// Slow requests become like fast ones, but for the share `remains` of them.
    pub(super) fn own_classes(ground: &Ground<'_>, remains: f64) -> Result<Self, Problem> {
        let split = &ground.endpoint.split;
        let name = &ground.endpoint.name;
        let is_tail = ground.finding.is_some_and(|f| f.place == Place::Tail);
        let all = split.sorted_ns.len().max(1) as f64;
        let classes = split.cut_ns.zip(split.fast_ns).and_then(|(cut, fast)| {
            let slow = split.sorted_ns.len() - split.sorted_ns.partition_point(|&ns| ns < cut);
            let share = slow as f64 / all;
            let is_told = is_tail && slow > 0 || share > SLOW_LEAST;
            is_told.then(|| (cut, fast, percent_between(share, remains * share)))
        });
        let Some((cut, fast, percent)) = classes else {
            return Ok(Self::all_faster(name, quantile(ground, 0.5)?));
        };
        let cut_ms = cut as f64 / 1e6;
        let baseline = quantile(ground, f64::from(percent) / 100.0)?;
        let high = cut_ms.max(fast as f64 / 1e6 * SCATTER);
        let is_of_two = split.bimodal && split.modes.len() == 2;
        let least = if is_of_two {
            ABOVE_LEAST_OF_TWO
        } else {
            ABOVE_LEAST
        };
        Ok(Self {
            metric: format!("{name}.p{percent}"),
            baseline,
            low: fast as f64 / 1e6 * REMAINS,
            high,
            // Of next to none that are slow the percentile is fast.
            slow_above_ms: slow_above(&split.sorted_ns, (baseline, high), Some((cut_ms, least)))
                .max(cut_ms),
        })
    }

    /// All requests become faster than half of the median.
    fn all_faster(name: &str, median_ms: f64) -> Self {
        let high = median_ms * REMAINS;
        Self {
            metric: format!("{name}.p50"),
            baseline: median_ms,
            low: 0.0,
            high,
            slow_above_ms: (median_ms * high).sqrt(),
        }
    }

    /// Requests no longer fail, nor wait for what others did not get at all.
    pub(super) fn failures(ground: &Ground<'_>) -> Self {
        let endpoint = ground.endpoint;
        let median_ms = endpoint.split.fast_ns.unwrap_or(0) as f64 / 1e6;
        let slow_above_ms = (STUCK_MEDIANS * median_ms).max(STUCK_LEAST_MS);
        let baseline = 100.0 * failed_share(ground, slow_above_ms);
        Self {
            metric: format!("{}{ERRORS}", endpoint.name),
            baseline,
            low: 0.0,
            // What a fall has to be to count.
            high: baseline * 0.2,
            slow_above_ms,
        }
    }

    /// The hypothesis. `done` is a clause: what is done, and what it does to the cause.
    pub(super) fn hypothesis(
        self,
        ground: &Ground<'_>,
        done: &str,
        intervention: Intervention,
    ) -> Hypothesis {
        let if_it_is = ground.supposing();
        let Self {
            metric,
            baseline,
            low,
            high,
            slow_above_ms,
        } = self;
        let statement = if metric.ends_with(ERRORS) {
            format!(
                "{if_it_is}if {done}: the share of requests of {} that fail or take over \
                 {slow_above_ms:.0} ms falls from {baseline:.1} % to {high:.1} % or less",
                ground.endpoint.name
            )
        } else {
            format!(
                "{if_it_is}if {done}: {metric} falls from {baseline:.2} ms to between {low:.2} and \
                 {high:.2} ms"
            )
        };
        Hypothesis {
            statement,
            intervention,
            metric,
            baseline_ms: baseline,
            low_ms: low,
            high_ms: high,
            slow_above_ms,
            remains: 0.0,
            written_at: notes::now_utc(),
        }
    }
}

/// A predicted interval that ends below what is there: in one that holds it nothing would have to move.
fn below((low, high): (f64, f64), baseline: f64) -> (f64, f64) {
    if high < baseline {
        return (low, high);
    }
    let least = low.max(baseline * REMAINS * REMAINS);
    (low, high.min((least * baseline).sqrt()))
}

/// How low a tail may come without its cause: as low as the fast requests. What else was slow in the run, and
/// is left in what the finding predicts, need not be there in another.
fn down_to_fast(low: f64, place: Option<Place>, fast_ns: Option<u64>) -> f64 {
    let fast_ns = fast_ns.filter(|_| place == Some(Place::Tail));
    fast_ns.map_or(low, |ns| low.min(ns as f64 / 1e6 * REMAINS))
}

/// Whether a cause is judged by what fails, by where it was found or else by the requests that failed and
/// those that were slow.
fn fail(place: Option<Place>, failed: usize, slow: usize) -> bool {
    place.map_or(failed > slow, |place| place == Place::Errors)
}

/// From where on a request counts as slow, in milliseconds: between what is and what is predicted, on the scale
/// on which latencies differ, so that neither class comes near it when the host is busy. Where all of the tail
/// is to go and less than a share of it lies above that, it is the cut, which comes with that share.
fn slow_above(sorted_ns: &[u64], (baseline, high): (f64, f64), cut: Option<(f64, f64)>) -> f64 {
    let middle = (baseline * high.min(baseline)).sqrt();
    let above =
        |ms: f64| (sorted_ns.len() - sorted_ns.partition_point(|&ns| ns as f64 / 1e6 < ms)) as f64;
    let lower = cut.filter(|&(cut, _)| cut >= high && cut < middle);
    let lower = lower.filter(|&(cut, least)| above(middle) < least * above(cut));
    lower.map_or(middle, |(cut, _)| cut)
}

/// The percentile that lies among the slow requests as they are, a share of all, and among the fast ones when
/// those are left that remain slow: one that people know if it lies well within both, else the one in the
/// middle. Where no whole one lies there it is the p99, which need not move: the share of slow requests does.
fn percent_between(slow: f64, left: f64) -> u8 {
    let beyond = |percent: u8| 1.0 - f64::from(percent) / 100.0;
    let is_within = |percent: &u8| {
        slow > beyond(*percent) * WELL_WITHIN && left * WELL_WITHIN <= beyond(*percent)
    };
    let usual = USUAL.into_iter().find(is_within);
    usual.unwrap_or_else(|| {
        let middle = 100.0 * (1.0 - (slow * left).sqrt());
        middle.round().clamp(50.0, 99.0) as u8
    })
}

/// A percentile of the endpoint in the run, in milliseconds.
pub(super) fn quantile(ground: &Ground<'_>, p: f64) -> Result<f64, Problem> {
    let none = || Problem::usage("the run has no completed request", "measure again");
    let ns = type_1(&ground.endpoint.split.sorted_ns, p).ok_or_else(none)?;
    Ok(ns as f64 / 1e6)
}

/// The share of requests that failed or took longer.
pub(super) fn failed_share(ground: &Ground<'_>, slow_above_ms: f64) -> f64 {
    let endpoint = ground.endpoint;
    let sorted = &endpoint.split.sorted_ns;
    let fine = sorted.partition_point(|&ns| ns as f64 / 1e6 <= slow_above_ms);
    let bad = sorted.len() - fine + endpoint.failed.len();
    bad as f64 / (fine + bad).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_is_what_lies_between_what_is_and_what_is_predicted() {
        let is = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}");
        // A tail that comes close, and one that is far away.
        let near: Vec<u64> = (0..100).map(|n| n * 400_000).collect();
        let far: Vec<u64> = (0..100)
            .map(|n| if n < 80 { 9_000_000 } else { 36_000_000 })
            .collect();
        let cut = |cut: f64| Some((cut, ABOVE_LEAST));
        let between = |high, cut| slow_above(&near, (36.0, high), cut);
        is(between(16.0, None), 24.0);
        is(between(16.0, cut(18.0)), 18.0);
        is(slow_above(&far, (36.0, 16.0), cut(18.0)), 24.0);
        // Three quarters lie above the middle; the others are of neither mode if there are two.
        is(between(16.0, Some((18.0, ABOVE_LEAST_OF_TWO))), 24.0);
        is(between(16.0, cut(30.0)), 24.0);
        // What is slow for another reason stays.
        is(between(16.0, cut(9.0)), 24.0);
        is(between(50.0, None), 36.0);
    }

    #[test]
    fn all_that_become_faster_cross_the_boundary_before_they_are_twice_as_fast() {
        let moved = Moved::all_faster("page", 100.0);
        assert_eq!(moved.metric, "page.p50");
        assert!((moved.slow_above_ms - 70.7).abs() < 0.1);
        assert!(moved.high < moved.slow_above_ms);
    }

    #[test]
    fn what_is_predicted_lies_below_what_is_there() {
        let high = |low, high| below((low, high), 3.0).1;
        assert!((high(1.0, 3.6) - 3.0_f64.sqrt()).abs() < 1e-9);
        assert!((high(1.0, 2.6) - 2.6).abs() < 1e-9);
        assert!((high(0.0, 3.0) - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_tail_comes_down_to_the_fast_requests_at_most_and_a_floor_is_as_predicted() {
        let low = |place| down_to_fast(0.42, Some(place), Some(160_000));
        assert!((low(Place::Tail) - 0.16 * REMAINS).abs() < 1e-9);
        assert!((low(Place::Floor) - 0.42).abs() < 1e-9);
        assert!((down_to_fast(0.05, Some(Place::Tail), Some(160_000)) - 0.05).abs() < 1e-9);
        assert!((down_to_fast(0.42, None, Some(160_000)) - 0.42).abs() < 1e-9);
    }

    #[test]
    fn what_was_found_to_fail_is_judged_by_what_fails() {
        assert!(fail(Some(Place::Errors), 3, 90));
        assert!(!fail(Some(Place::Tail), 90, 3));
        assert!(fail(None, 90, 3) && !fail(None, 3, 90));
    }

    #[test]
    fn a_percentile_lies_well_within_what_is_slow_now_and_fast_then() {
        assert_eq!(percent_between(0.9, 0.0), 50);
        assert_eq!(percent_between(0.2, 0.0), 90);
        assert_eq!(percent_between(0.1, 0.0), 95);
        assert_eq!(percent_between(0.1, 0.01), 95);
        // 19 % are slow, 8 % remain so: neither the p90 nor the p95 distinguishes them.
        assert_eq!(percent_between(0.19, 0.08), 88);
        assert_eq!(percent_between(0.115, 0.034), 94);
        // Next to none is slow.
        assert_eq!(percent_between(0.004, 0.0), 99);
        assert_eq!(percent_between(0.004, 0.003), 99);
    }
}
