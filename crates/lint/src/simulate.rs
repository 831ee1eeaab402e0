//! Plays a workload against a model of the target, many times, and predicts its percentiles.
//!
//! A change is judged by what it does to the percentile that matters, before it is shipped: a
//! wider pool has fewer collisions and still a worse tail where every new key is a cold one.

use serde::{Deserialize, Serialize};
use slowpath_core::model::TargetModel;
use slowpath_core::scenario::Scenario;

mod events;
mod measured;
mod predict;
mod text;
mod variant;
mod world;

pub use measured::model_of;
pub use predict::percentile_of;
pub use text::text;
pub use variant::{Variant, VariantError};

use crate::keyspace::KeySpace;
use crate::workload::Workload;

/// Simulated runs: the median of a tail is then known to some 3 % and its 10 % and 90 % points to
/// some 5 %.
pub const DEFAULT_SEEDS: u32 = 400;
/// Fewer simulated runs say nothing about the 10 % point.
pub const FEWEST_SEEDS: u32 = 20;
/// Requests that are simulated for one prediction at most, so that it takes seconds.
const MOST_REQUESTS: f64 = 2e7;

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Simulated runs, at least 1.
    pub seeds: u32,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// Changes to predict beside the scenario as it is.
    pub variants: Vec<Variant>,
    /// The figure that changes are judged by, `ENDPOINT.p99`; `None`: a gate's, or else the p99
    /// that the model makes slowest.
    pub target: Option<Target>,
}

/// The figure that changes are judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The endpoint.
    pub endpoint: String,
    /// The percentile as a share: 0.99.
    pub p: f64,
}

/// What the simulation predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Simulated runs for each prediction.
    pub seeds: u32,
    /// The figure that changes are judged by.
    pub target: Target,
    /// The scenario as it is.
    pub baseline: Prediction,
    /// Changes, in the order asked for.
    pub variants: Vec<Judged>,
}

/// One workload's prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// One row an endpoint that was asked at all.
    pub endpoints: Vec<Predicted>,
    /// Requests in a run, on average.
    pub requests: f64,
    /// Computations in a run for keys that were being computed already.
    pub redundant: f64,
    /// Computations in a run for keys that had never been computed.
    pub cold: f64,
    /// Computations in a run for keys that had expired.
    pub expired: f64,
    /// Requests in a run that took longer than the timeout.
    pub timeouts: f64,
}

/// One endpoint's predicted percentiles, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Its name.
    pub endpoint: String,
    /// Requests in a run, on average.
    pub requests: f64,
    /// The median.
    pub p50: Interval,
    /// p90.
    pub p90: Interval,
    /// p99: the maximum where there are fewer than 100 requests.
    pub p99: Interval,
}

/// A figure over simulated runs, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its median.
    pub median: f64,
    /// Below this in a tenth of the runs.
    pub p10: f64,
    /// Above this in a tenth of the runs.
    pub p90: f64,
}

/// A change and what it does to the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The change as it was asked for.
    pub variant: String,
    /// Its prediction.
    pub prediction: Prediction,
    /// The target with the change.
    pub target: Interval,
    /// Median of the target with the change over that without it.
    pub ratio: f64,
    /// How often a run with the change has a higher target than one without it.
    pub higher_in: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// What a change does to the target percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It becomes lower.
    Improvement,
    /// It becomes higher: the prediction speaks against the change.
    Regression,
    /// No difference that this many simulated runs, or a person, could notice.
    NoDifference,
}

/// Why nothing was predicted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// A change is none of this scenario.
    #[error("{} cannot be applied: {}", .0.variant, .0.what)]
    Variant(VariantError),
    /// The target endpoint is never asked.
    #[error("no request goes to the endpoint {0:?}")]
    Target(String),
    /// Too many requests to play them often enough.
    #[error("about {requests:.0} requests in a run are too many to simulate {FEWEST_SEEDS} times")]
    TooMany {
        /// Requests expected in one run.
        requests: f64,
    },
}

/// Predicts the percentiles of a scenario and of changes to it.
///
/// # Errors
/// Every variant that does not fit the scenario, a target that is never asked, or a workload of
/// too many requests.
pub fn simulate(
    scenario: &Scenario,
    model: &TargetModel,
    wanted: &Wanted,
) -> Result<Simulation, Vec<SimulationError>> {
    let mut worlds = Vec::new();
    let mut errors = Vec::new();
    for variant in &wanted.variants {
        match variant.apply(scenario, model) {
            Ok((scenario, model)) => worlds.push((scenario, model)),
            Err(error) => errors.push(SimulationError::Variant(error)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let all = std::iter::once((scenario, model)).chain(worlds.iter().map(|(s, m)| (s, m)));
    let most = all
        .map(|(s, m)| expected_requests(s, m))
        .fold(0.0, f64::max);
    let seeds = (MOST_REQUESTS / most.max(1.0)).min(f64::from(wanted.seeds)) as u32;
    if seeds < FEWEST_SEEDS.min(wanted.seeds) {
        return Err(vec![SimulationError::TooMany { requests: most }]);
    }
    let baseline = predict::play(scenario, model, seeds, wanted.first_seed);
    let target = predict::target(scenario, &baseline, wanted.target.as_ref())
        .map_err(|error| vec![error])?;
    let judged = wanted
        .variants
        .iter()
        .zip(&worlds)
        .map(|(variant, (s, m))| {
            let played = predict::play(s, m, seeds, wanted.first_seed);
            predict::judge(variant, &baseline, &played, &target)
        });
    Ok(Simulation {
        seeds,
        variants: judged.collect(),
        baseline: baseline.prediction(),
        target,
    })
}

/// Requests expected in warm-up and window together, without queueing.
fn expected_requests(scenario: &Scenario, model: &TargetModel) -> f64 {
    let spaces: Vec<KeySpace> = scenario
        .endpoints
        .iter()
        .map(|endpoint| KeySpace::of(scenario, endpoint))
        .collect();
    let demands = Workload::of(scenario, &spaces, model).demands;
    demands.iter().map(|d| d.requests + d.before).sum()
}
