//! Repeating until it is precise: what each repeat gave, and whether that is enough.
//!
//! Only the width of the intervals is looked at, never a difference or a gate: a run that went on
//! until it liked its answer would prove nothing (Armitage, `McPherson` & Rowe 1969).

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use hdrhistogram::Histogram;
use slowpath_core::Nanos;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_core::stats::quantile::stands_for_repeat;
use slowpath_core::stats::repeats::{ENOUGH, Next, Stopping};

/// Digits of a latency that count here: 0.1 % against a precision of some percent.
const DIGITS: u8 = 3;

/// The latencies of one repeat under way, by endpoint.
#[derive(Debug)]
pub(crate) struct Tally(Mutex<Vec<Histogram<u64>>>);

impl Tally {
    /// An empty tally.
    pub(crate) fn new(endpoints: usize) -> Result<Self> {
        let histograms = (0..endpoints).map(|_| Histogram::new(DIGITS));
        Ok(Self(Mutex::new(histograms.collect::<Result<_, _>>()?)))
    }

    /// Counts those that were due from `from` on, where the warm-up ends, and were answered.
    pub(crate) fn add(&self, samples: &[Sample], from: Nanos) {
        let mut endpoints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in samples {
            let counts = sample.outcome == Outcome::Ok && sample.scheduled >= from;
            if let (true, Some(of)) = (counts, endpoints.get_mut(usize::from(sample.endpoint))) {
                // It resizes itself and takes every value; one too many is no reason to stop.
                let _ = of.record(sample.latency_ns());
            }
        }
    }
}

/// What the repeats so far gave: for each endpoint, pass and percentile one figure a repeat.
#[derive(Debug)]
pub(crate) struct Precision {
    wanted: f64,
    rule: Stopping,
    passes: usize,
    rows: Vec<Vec<f64>>,
}

/// The percentiles whose intervals must be narrow.
const PERCENTILES: [f64; 2] = [0.5, 0.99];

impl Precision {
    /// What a plan asks for; `None` if it asks for a number of repeats and no more.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let passes = usize::from(plan.passes());
        let rows = plan.scenario.endpoints.len() * passes * PERCENTILES.len();
        let wanted = plan.scenario.load.precision?;
        Some(Self {
            wanted,
            rule: Stopping {
                half_width_log: wanted.ln_1p(),
                enough: ENOUGH,
                most: plan.scenario.load.repeats as usize,
            },
            passes,
            rows: vec![Vec::new(); rows],
        })
    }

    /// What will be done, in one line.
    pub(crate) fn announcement(&self, plan: &Plan) -> String {
        let load = &plan.scenario.load;
        let passes = self.passes as u64;
        let seconds = |repeats: u32| {
            let each = (load.warmup_ns + load.duration_ns) * passes;
            (u64::from(repeats) * each).div_ceil(1_000_000_000)
        };
        let fewest = load.repeats.min(ENOUGH as u32);
        format!(
            "{fewest} to {} repeats, until p50 and p99 of each endpoint are known to ±{} % over \
             repeats: {} to {} s of load",
            load.repeats,
            (self.wanted * 100.0) as f32,
            seconds(fewest),
            seconds(load.repeats)
        )
    }

    /// Takes the figures of a window; `pass` counts from 0.
    pub(crate) fn add(&mut self, pass: usize, tally: Tally) {
        let endpoints = tally.0.into_inner();
        let endpoints = endpoints.unwrap_or_else(PoisonError::into_inner);
        for (endpoint, latencies) in endpoints.iter().enumerate() {
            for (place, p) in PERCENTILES.into_iter().enumerate() {
                if stands_for_repeat(latencies.len(), p) {
                    let row = (endpoint * self.passes + pass) * PERCENTILES.len() + place;
                    let value = latencies.value_at_quantile(p);
                    self.rows[row].push(value as f64);
                }
            }
        }
    }

    /// Whether every figure is as precise as wanted after `repeats` repeats. One that not every
    /// repeat has is not waited for: more repeats do not make it.
    pub(crate) fn is_reached(&self, repeats: u32) -> bool {
        let judged = || {
            let whole = self.rows.iter();
            whole.filter(|row| row.len() == repeats as usize)
        };
        judged().count() > 0 && judged().all(|row| self.rule.next(row, None) == Next::Narrow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn precision(rows: Vec<Vec<f64>>) -> Precision {
        Precision {
            wanted: 0.05,
            rule: Stopping::default(),
            passes: 1,
            rows,
        }
    }

    #[test]
    fn a_tally_keeps_latencies_as_they_are() {
        let tally = Tally::new(1).unwrap();
        let mut sample = slowpath_core::sample::Sample::due(Nanos::new(1_000));
        sample.outcome = Outcome::Ok;
        sample.done = Nanos::new(5_001_000);
        tally.add(std::slice::from_ref(&sample), Nanos::new(1_001));
        tally.add(std::slice::from_ref(&sample), Nanos::new(1_000));
        let of = &tally.0.lock().unwrap()[0];
        assert_eq!(of.len(), 1);
        assert!(of.equivalent(of.max(), 5_000_000));
    }

    #[test]
    fn it_is_reached_by_all_and_not_before_five() {
        let steady = vec![100.0, 101.0, 99.0, 100.0, 100.0];
        let wild = vec![100.0, 150.0, 99.0, 70.0, 100.0];
        assert!(precision(vec![steady.clone()]).is_reached(5));
        assert!(!precision(vec![steady[..4].to_vec()]).is_reached(4));
        assert!(!precision(vec![steady.clone(), wild]).is_reached(5));
        // A tail that some repeats have too few requests for is not waited for.
        assert!(precision(vec![steady, vec![1.0]]).is_reached(5));
        assert!(!precision(vec![vec![1.0]]).is_reached(5));
    }
}
