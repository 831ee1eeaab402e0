//! The modes of an endpoint: where they lie, what they weigh, how many there are.

use slowpath_core::stats::modes;
use slowpath_core::stats::shape::{Shape, Weight, weights};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Mode;
use crate::figures::{millis, round, share};
use crate::scatter::Scatter;

/// The modes of an endpoint that are there all the time (a level that wanders on a busy host is
/// one mode, though it leaves many peaks), and what speaks for their number.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    /// As they were found, in nanoseconds; empty when there are too few requests to find any.
    pub(crate) found: Vec<modes::Mode>,
    /// The same for the report.
    pub(crate) figures: Vec<Mode>,
    /// The smaller and the larger count of two detectors.
    pub(crate) counts: Option<[u32; 2]>,
    /// The chance of such a sample if it had one mode.
    pub(crate) dip_p: Option<f64>,
}

impl Modes {
    pub(crate) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Self {
        let Some(scatter) = Scatter::new(case) else {
            return Self::default();
        };
        let requests = endpoint.completed.iter().zip(&endpoint.latencies_ns);
        let samples = requests.map(|(&i, &latency)| (scatter.batch(case.sample(i)), latency));
        let (split, batches) = (&endpoint.split, &scatter.batches);
        let modes = split.modes.clone();
        let shape = Shape::over_time(modes, &split.sorted_ns, batches, samples.clone());
        let Ok(shape) = shape else {
            return Self::default();
        };
        let weighed = weights(&shape.modes, batches, samples);
        let mut weighed = weighed.unwrap_or_default().into_iter();
        let figures = shape.modes.iter().map(|mode| figure(mode, weighed.next()));
        Self {
            figures: figures.collect(),
            counts: Some([shape.fewest() as u32, shape.most() as u32]),
            dip_p: Some(shape.dip.p),
            found: shape.modes,
        }
    }
}

fn figure(mode: &modes::Mode, weight: Option<Weight>) -> Mode {
    // Without two batches nothing is known of how a weight scatters.
    let weight = weight.filter(|weight| weight.n_eff > 0.0);
    Mode {
        at_ms: millis(mode.at),
        weight: share(mode.weight),
        share_low: weight.map(|weight| share(weight.low)),
        share_high: weight.map(|weight| share(weight.high)),
        deff: weight.map(|weight| round(weight.deff, 1e3)),
        is_satellite: mode.is_satellite(),
    }
}
