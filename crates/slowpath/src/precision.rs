//! Repeating until it is precise: what each repeat gave, and whether that is enough.
//!
//! Only the width of the intervals is examined, never a difference or a gate: a run that went on
//! until it liked its answer would prove nothing (Armitage, `McPherson` & Rowe 1969).

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use hdrhistogram::Histogram;
use slowpath_core::Nanos;
use slowpath_core::health::Health;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_core::stats::quantile::{fewest_for_repeat, stands_for_repeat};
use slowpath_core::stats::repeats::{ENOUGH, Next, Stopping};
use slowpath_diagnose::health::Circumstances;
use slowpath_diagnose::health::aside::put_aside;

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
            if let (true, Some(of)) = (
                counts(sample, from),
                endpoints.get_mut(usize::from(sample.endpoint)),
            ) {
                // It resizes itself and takes every value; one too many is no reason to stop.
                let _ = of.record(sample.latency_ns());
            }
        }
    }
}

/// Whether a request was due from `from` on, where the warm-up ends, and was answered.
pub(crate) fn counts(sample: &Sample, from: Nanos) -> bool {
    sample.outcome == Outcome::Ok && sample.scheduled >= from
}

/// What the windows so far gave.
#[derive(Debug)]
pub(crate) struct Precision {
    wanted: f64,
    rule: Stopping,
    passes: usize,
    windows: Vec<Measured>,
    /// For each endpoint and percentile whether a window may have too few requests for it, as far
    /// as the load shows beforehand.
    thin: Vec<bool>,
}

/// One window: a repeat, or one pass of it.
#[derive(Debug)]
struct Measured {
    /// For each endpoint and percentile its figure, if the window has enough requests for it.
    figures: Vec<Option<f64>>,
    /// For each endpoint the requests that were answered.
    requests: Vec<u64>,
    /// What the host did in that time.
    host: Circumstances,
}

/// The percentiles whose intervals must be narrow.
const PERCENTILES: [f64; 2] = [0.5, 0.99];

/// What is said of them.
const NAMES: [&str; 2] = ["p50", "p99"];

/// Arrivals are Poisson, or drawn by weight: in so many standard deviations of their number no
/// window of some dozens lies lower (0.1 % each).
const DEVIATIONS: f64 = 3.0;

/// Requests that a window has with near certainty if it has `mean` on average.
fn nearly_certain(mean: f64) -> u64 {
    (mean - DEVIATIONS * mean.sqrt()).max(0.0) as u64
}

/// The mean of which a window has `fewest` with near certainty: the inverse of the above.
fn mean_for(fewest: u64) -> f64 {
    let root = f64::midpoint(DEVIATIONS, DEVIATIONS.hypot(2.0 * (fewest as f64).sqrt()));
    root * root
}

/// That a window probably has too few requests for a percentile, before it is measured.
fn foreseen(of: &str, rate_per_s: f64, duration_ns: u64, p: f64) -> String {
    let expected = rate_per_s * duration_ns as f64 / 1e9;
    let fewest = fewest_for_repeat(p);
    let most = expected + DEVIATIONS * expected.sqrt();
    let word = if most < fewest as f64 { "will" } else { "may" };
    format!(
        "{of} {word} not be waited for: a repeat has about {expected:.0} of its requests, and \
         {fewest} are needed; {}",
        long_enough(rate_per_s, p)
    )
}

/// How long a window would have to be at `rate_per_s` for a percentile of each repeat.
fn long_enough(rate_per_s: f64, p: f64) -> String {
    if rate_per_s <= 0.0 {
        return "a higher rate would give them".to_owned();
    }
    let seconds = (mean_for(fewest_for_repeat(p)) / rate_per_s).ceil();
    format!("duration = \"{seconds}s\" would give them")
}

impl Precision {
    /// What a plan asks for; `None` if it asks for a number of repeats and no more.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let wanted = plan.scenario.load.precision?;
        let rates = plan.scenario.offered_by_endpoint();
        let seconds = plan.scenario.load.duration_ns as f64 / 1e9;
        let thin = rates.into_iter().flatten().flat_map(|rate_per_s| {
            let sure = nearly_certain(rate_per_s * seconds);
            PERCENTILES.map(|p| !stands_for_repeat(sure, p))
        });
        Some(Self {
            thin: thin.collect(),
            wanted,
            rule: Stopping {
                half_width_log: wanted.ln_1p(),
                enough: ENOUGH,
                most: plan.scenario.load.repeats as usize,
            },
            passes: usize::from(plan.passes()),
            windows: Vec::new(),
        })
    }

    /// What will be done, in a line, and a line for each percentile that will not be waited for, as
    /// far as the load shows.
    pub(crate) fn announcement(&self, plan: &Plan) -> String {
        let load = &plan.scenario.load;
        let passes = self.passes as u64;
        let seconds = |repeats: u32| {
            let each = (load.warmup_ns + load.duration_ns) * passes;
            (u64::from(repeats) * each).div_ceil(1_000_000_000)
        };
        let fewest = load.repeats.min(ENOUGH as u32);
        let mut lines = vec![format!(
            "{fewest} to {} repeats, until p50 and p99 of each endpoint are known to ±{} % over \
             repeats: {} to {} s of load",
            load.repeats,
            (self.wanted * 100.0) as f32,
            seconds(fewest),
            seconds(load.repeats)
        )];
        let rates = plan.scenario.offered_by_endpoint().unwrap_or_default();
        let endpoints = plan.scenario.endpoints.iter().zip(rates);
        for (at, (endpoint, rate_per_s)) in endpoints.enumerate() {
            for (percentile, p) in PERCENTILES.into_iter().enumerate() {
                if self.thin[PERCENTILES.len() * at + percentile] {
                    let of = format!("{} of {}", NAMES[percentile], endpoint.name);
                    lines.push(foreseen(&of, rate_per_s, load.duration_ns, p));
                }
            }
        }
        lines.join("\n")
    }

    /// After the first repeat: a line for each percentile that it has too few requests for, unless
    /// that was announced.
    pub(crate) fn lacking(&self, plan: &Plan) -> Vec<String> {
        if self.windows.len() != self.passes {
            return Vec::new();
        }
        let window_s = plan.scenario.load.duration_ns as f64 / 1e9;
        let endpoints = plan.scenario.endpoints.iter().enumerate();
        let lines = endpoints.flat_map(|(at, endpoint)| {
            [0, 1].map(|percentile| {
                let place = PERCENTILES.len() * at + percentile;
                let lacks = |window: &&Measured| window.figures[place].is_none();
                let fewest = self.windows.iter().find(lacks)?;
                if self.thin.get(place) == Some(&true) {
                    return None;
                }
                let (p, of) = (PERCENTILES[percentile], NAMES[percentile]);
                Some(format!(
                    "{of} of {} is not waited for: the first repeat has {} of its requests, and {} \
                     are needed; {}",
                    endpoint.name,
                    fewest.requests[at],
                    fewest_for_repeat(p),
                    long_enough(fewest.requests[at] as f64 / window_s, p)
                ))
            })
        });
        lines.flatten().collect()
    }

    /// Takes the figures of a window, and what the host did in it.
    pub(crate) fn add(&mut self, tally: Tally, health: &Health) {
        let endpoints = tally.0.into_inner();
        let endpoints = endpoints.unwrap_or_else(PoisonError::into_inner);
        let figures = endpoints.iter().flat_map(|latencies| {
            PERCENTILES.map(|p| {
                let enough = stands_for_repeat(latencies.len(), p);
                enough.then(|| latencies.value_at_quantile(p) as f64)
            })
        });
        self.windows.push(Measured {
            figures: figures.collect(),
            requests: endpoints.iter().map(Histogram::len).collect(),
            host: Circumstances::of(health),
        });
    }

    /// Whether every figure is as precise as wanted after whole repeats, over those that
    /// comparisons will not exclude. One that is missing in some repeat is not waited for: more
    /// repeats do not make it.
    pub(crate) fn is_reached(&self) -> bool {
        let whole = self.windows.len().is_multiple_of(self.passes);
        let rows = self.rows();
        whole && !rows.is_empty() && rows.iter().all(|row| self.is_narrow(row))
    }

    fn is_narrow(&self, row: &[f64]) -> bool {
        self.rule.next(row, None) == Next::Narrow
    }

    /// For each pass, endpoint and percentile that every window of the pass has, its figures.
    fn rows(&self) -> Vec<Vec<f64>> {
        let hosts: Vec<_> = self.windows.iter().map(|w| Some(w.host.clone())).collect();
        let aside = put_aside(&hosts);
        let kept = |pass: usize| -> Vec<&Measured> {
            let of_pass = self.windows.iter().enumerate().skip(pass);
            let counts = |place: usize| aside.iter().all(|aside| aside.repeat != place);
            let counted = of_pass.step_by(self.passes).filter(|&(i, _)| counts(i));
            counted.map(|(_, window)| window).collect()
        };
        let figures = self.windows.first().map_or(0, |first| first.figures.len());
        let passes = (0..self.passes).map(kept);
        let rows = passes.flat_map(|windows| {
            (0..figures).filter_map(move |place| windows.iter().map(|w| w.figures[place]).collect())
        });
        rows.filter(|row: &Vec<f64>| !row.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One pass, with these figures: a row for each window.
    fn precision(windows: &[[Option<f64>; 2]]) -> Precision {
        let measured = |figures: &[Option<f64>; 2]| Measured {
            figures: figures.to_vec(),
            requests: vec![0],
            host: Circumstances::default(),
        };
        Precision {
            wanted: 0.05,
            rule: Stopping::default(),
            passes: 1,
            thin: Vec::new(),
            windows: windows.iter().map(measured).collect(),
        }
    }

    #[test]
    fn windows_have_what_is_nearly_certain() {
        // 500 and 572 of Poisson: 572 - 3 * 23.9.
        assert_eq!(nearly_certain(572.0), 500);
        assert!((mean_for(500) - 571.7).abs() < 0.1);
        assert_eq!(nearly_certain(mean_for(10) + 0.01), 10);
        assert_eq!(nearly_certain(2.0), 0);
        let told = long_enough(100.0, 0.99);
        assert_eq!(told, "duration = \"6s\" would give them");
        let second = 1_000_000_000;
        let told = foreseen("p99 of a", 60.0, second, 0.99);
        let few = "p99 of a will not be waited for: a repeat has about 60 of its requests, and 500";
        assert!(told.starts_with(few), "{told}");
        assert!(foreseen("p99 of a", 510.0, second, 0.99).contains("may not be"));
        assert!(long_enough(0.0, 0.5).contains("rate"));
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

    const STEADY: [f64; 5] = [100.0, 101.0, 99.0, 100.0, 100.0];

    fn beside(other: [Option<f64>; 5]) -> Vec<[Option<f64>; 2]> {
        let both = STEADY.into_iter().zip(other);
        both.map(|(steady, other)| [Some(steady), other]).collect()
    }

    #[test]
    fn it_is_reached_by_all_and_not_before_five() {
        let steady = beside(STEADY.map(Some));
        assert!(precision(&steady).is_reached());
        assert!(!precision(&steady[..4]).is_reached());
        let wild = beside([100.0, 150.0, 99.0, 70.0, 100.0].map(Some));
        assert!(!precision(&wild).is_reached());
        // A tail that some repeats have too few requests for is not waited for.
        let some = beside([Some(1.0), None, None, None, None]);
        assert!(precision(&some).is_reached());
        assert!(!precision(&[[None, None]; 5]).is_reached());
    }

    #[test]
    fn what_comparisons_put_aside_does_not_count() {
        let mut of_five = precision(&beside(STEADY.map(Some)));
        of_five.windows[3].host.steal_share = Some(0.05);
        of_five.windows[3].host.work_cv = Some(0.5);
        assert!(!of_five.is_reached(), "four are left");
        let sixth = Measured {
            figures: vec![Some(100.0), Some(100.0)],
            requests: vec![0],
            host: Circumstances::default(),
        };
        of_five.windows.push(sixth);
        assert!(of_five.is_reached());
    }

    #[test]
    fn each_pass_is_known_by_itself() {
        // Ten windows, cold and warm by turns, that differ by a factor of three.
        let cold = STEADY.map(|value| [Some(value * 3.0), None]);
        let warm = STEADY.map(|value| [Some(value), None]);
        let both: Vec<_> = cold
            .into_iter()
            .zip(warm)
            .flat_map(|(c, w)| [c, w])
            .collect();
        let mut passes = precision(&both);
        assert!(!passes.is_reached(), "as one they scatter");
        passes.passes = 2;
        assert!(passes.is_reached());
        passes.windows.pop();
        assert!(!passes.is_reached(), "a repeat is not over");
    }
}
