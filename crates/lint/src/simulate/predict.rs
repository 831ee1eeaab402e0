//! From many simulated runs to a prediction, and from two predictions to a verdict.

use slowpath_core::model::TargetModel;
use slowpath_core::scenario::{Metric, Scenario};
use slowpath_core::stats::quantile::type_1;

use super::events::play as play_once;
use super::world::World;
use super::{Interval, Judged, Predicted, Prediction, SimulationError, Target, Variant, Verdict};

/// A change of the median below this is not worth a change: what reports call no difference.
const LEAST_EFFECT: f64 = 0.05;
/// Standard errors by which the share of higher runs must differ from a half: one false verdict
/// in eighty changes that change nothing.
const ERRORS: f64 = 2.5;

const P99: f64 = 0.99;

/// The percentiles that are predicted, by name.
const PREDICTED: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", P99)];

/// The share of a predicted percentile's name; `None` for a percentile that is not predicted.
pub fn percentile_of(name: &str) -> Option<f64> {
    let found = PREDICTED.iter().find(|(known, _)| *known == name);
    found.map(|(_, p)| *p)
}

/// Every run's percentiles.
#[derive(Debug)]
pub(super) struct Runs {
    names: Vec<String>,
    /// For each endpoint the percentiles of each run in which it was asked, in milliseconds.
    figures: Vec<Vec<[f64; 3]>>,
    /// For each endpoint its latencies' total count.
    counts: Vec<u64>,
    seeds: u32,
    redundant: u64,
    cold: u64,
    expired: u64,
    timeouts: u64,
}

/// Plays a world with so many seeds.
pub(super) fn play(scenario: &Scenario, model: &TargetModel, seeds: u32, first: u64) -> Runs {
    let world = World::new(scenario, model);
    let names: Vec<String> = scenario.endpoints.iter().map(|e| e.name.clone()).collect();
    let mut all = Runs {
        figures: vec![Vec::new(); names.len()],
        counts: vec![0; names.len()],
        names,
        seeds,
        redundant: 0,
        cold: 0,
        expired: 0,
        timeouts: 0,
    };
    for seed in (0..u64::from(seeds)).map(|number| first.wrapping_add(number)) {
        let mut played = play_once(&world, seed);
        all.redundant += played.redundant;
        all.cold += played.cold;
        all.expired += played.expired;
        all.timeouts += played.timeouts;
        for (i, latencies) in played.latencies_ns.iter_mut().enumerate() {
            latencies.sort_unstable();
            all.counts[i] += latencies.len() as u64;
            if !latencies.is_empty() {
                let ms = |p| type_1(latencies, p).unwrap_or_default() as f64 / 1e6;
                all.figures[i].push(PREDICTED.map(|(_, p)| ms(p)));
            }
        }
    }
    all
}

impl Runs {
    pub(super) fn prediction(&self) -> Prediction {
        let mean = |sum: u64| sum as f64 / f64::from(self.seeds);
        let asked = (0..self.names.len()).filter(|&i| !self.figures[i].is_empty());
        Prediction {
            endpoints: asked
                .map(|i| Predicted {
                    endpoint: self.names[i].clone(),
                    requests: mean(self.counts[i]),
                    p50: interval(&self.column(i, 0)),
                    p90: interval(&self.column(i, 1)),
                    p99: interval(&self.column(i, 2)),
                })
                .collect(),
            requests: mean(self.counts.iter().sum()),
            redundant: mean(self.redundant),
            cold: mean(self.cold),
            expired: mean(self.expired),
            timeouts: mean(self.timeouts),
        }
    }

    /// The percentile at a position in [`PREDICTED`] of one endpoint, sorted over runs.
    fn column(&self, endpoint: usize, which: usize) -> Vec<f64> {
        let mut column: Vec<f64> = self.figures[endpoint]
            .iter()
            .map(|row| row[which])
            .collect();
        column.sort_by(f64::total_cmp);
        column
    }

    fn of(&self, target: &Target) -> Option<Vec<f64>> {
        let i = self
            .names
            .iter()
            .position(|name| *name == target.endpoint)?;
        let which = PREDICTED
            .iter()
            .position(|(_, p)| (p - target.p).abs() < 1e-9)?;
        Some(self.column(i, which)).filter(|column| !column.is_empty())
    }
}

fn interval(sorted: &[f64]) -> Interval {
    let at = |p| type_1(sorted, p).unwrap_or_default();
    Interval {
        median: at(0.5),
        p10: at(0.1),
        p90: at(0.9),
    }
}

/// The figure that changes are judged by.
pub(super) fn target(
    scenario: &Scenario,
    baseline: &Runs,
    wanted: Option<&Target>,
) -> Result<Target, SimulationError> {
    let chosen = wanted.cloned().or_else(|| gated(scenario)).or_else(|| {
        let last = |i: usize| interval(&baseline.column(i, 2)).median;
        let all = 0..baseline.names.len();
        let slowest = all.max_by(|&a, &b| last(a).total_cmp(&last(b)))?;
        Some(Target {
            endpoint: baseline.names[slowest].clone(),
            p: P99,
        })
    });
    let none = || SimulationError::Target("none".to_owned());
    let chosen = chosen.ok_or_else(none)?;
    match baseline.of(&chosen) {
        Some(_) => Ok(chosen),
        None => Err(SimulationError::Target(chosen.endpoint)),
    }
}

/// The first percentile that a gate asks for and the simulation predicts.
fn gated(scenario: &Scenario) -> Option<Target> {
    scenario.gates.iter().find_map(|gate| {
        let measure = &gate.test.bounded()?.measure;
        let Metric::Quantile(percent) = measure.metric else {
            return None;
        };
        let mut known = PREDICTED.iter().map(|(_, p)| *p);
        let p = known.find(|p| (p * 100.0 - percent).abs() < 1e-9)?;
        Some(Target {
            endpoint: measure.endpoint.clone(),
            p,
        })
    })
}

/// What a change does to the target.
pub(super) fn judge(variant: &Variant, before: &Runs, after: &Runs, target: &Target) -> Judged {
    let empty = Vec::new;
    let (old, new) = (
        before.of(target).unwrap_or_else(empty),
        after.of(target).unwrap_or_else(empty),
    );
    let higher_in = higher(&old, &new);
    let ratio = interval(&new).median / interval(&old).median;
    // The standard error of the Mann-Whitney share when nothing differs.
    let (a, b) = (old.len() as f64, new.len() as f64);
    let error = ((a + b + 1.0) / (12.0 * a * b)).sqrt();
    let told = (higher_in - 0.5).abs() > ERRORS * error && (ratio - 1.0).abs() >= LEAST_EFFECT;
    let verdict = match (told, ratio > 1.0) {
        (false, _) => Verdict::NoDifference,
        (true, true) => Verdict::Regression,
        (true, false) => Verdict::Improvement,
    };
    Judged {
        variant: variant.label().to_owned(),
        prediction: after.prediction(),
        target: interval(&new),
        ratio,
        higher_in,
        verdict,
    }
}

/// How often a value of the new ones is above one of the old ones; ties count half. Both sorted.
fn higher(old: &[f64], new: &[f64]) -> f64 {
    let above = |value: &f64| {
        let below = old.partition_point(|o| o < value);
        let ties = old.partition_point(|o| o <= value) - below;
        below as f64 + ties as f64 / 2.0
    };
    new.iter().map(above).sum::<f64>() / (old.len() * new.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_higher_runs_is_that_of_all_pairs() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(higher(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        close(higher(&[1.0, 2.0], &[1.0, 2.0]), 0.5);
        close(higher(&[2.0, 3.0], &[1.0, 2.5]), 0.25);
    }
}
