//! The checks: one file each, and this list is the registry.

use slowpath_core::model::{TargetModel, Times};
use slowpath_core::scenario::{COLD, Model, Scenario};

use crate::facts::Facts;
use crate::keyspace::KeySpace;
use crate::lines::Lines;
use crate::report::{Finding, Place, Severity};
use crate::workload::{ASSUMED_LATENCY_NS, Workload};

mod client_limits;
mod collisions;
mod duplicate_values;
mod feasibility;
mod first_touches;
mod idle_parts;
mod keep_alive_race;
mod same_key;
mod short_timers;
mod thin_percentiles;
#[cfg(test)]
pub(crate) mod trial;

/// One check: pure, and ignorant of the others.
pub(crate) type Check = fn(&View<'_>) -> Vec<Finding>;

/// Every check, in the order in which equal findings are shown.
pub(crate) const CHECKS: &[Check] = &[
    client_limits::check,
    feasibility::check,
    thin_percentiles::check,
    same_key::check,
    short_timers::check,
    keep_alive_race::check,
    first_touches::check,
    collisions::check,
    duplicate_values::check,
    idle_parts::check,
];

/// What a check sees: the scenario and what follows from it.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) facts: &'a Facts<'a>,
    /// The model that was given, or an assumed one.
    pub(crate) model: TargetModel,
    /// The keys of each endpoint.
    pub(crate) spaces: Vec<KeySpace>,
    /// The demand for each endpoint.
    pub(crate) workload: Workload,
    pub(crate) lines: Lines<'a>,
}

impl<'a> View<'a> {
    /// Works out what the checks need.
    pub(crate) fn new(scenario: &'a Scenario, facts: &'a Facts<'a>) -> Self {
        let assumed = || TargetModel::plain(Times::fixed(ASSUMED_LATENCY_NS));
        let model = facts.model.cloned().unwrap_or_else(assumed);
        let spaces: Vec<KeySpace> = scenario
            .endpoints
            .iter()
            .map(|endpoint| KeySpace::of(scenario, endpoint))
            .collect();
        Self {
            scenario,
            facts,
            workload: Workload::of(scenario, &spaces, &model),
            model,
            spaces,
            lines: Lines::of(facts.scenario_text),
        }
    }

    /// Users of a closed loop; 0 in an open one.
    pub(crate) fn users(&self) -> f64 {
        match self.scenario.load.model {
            Model::Closed { users, .. } => f64::from(users),
            Model::Open { .. } => 0.0,
        }
    }

    /// Length of a measured window in seconds.
    pub(crate) fn window_s(&self) -> f64 {
        self.scenario.load.duration_ns as f64 / 1e9
    }

    /// Requests for an endpoint's keys before its first measured window.
    pub(crate) fn touched_before(&self, endpoint: usize) -> f64 {
        self.workload.demands[endpoint].before
    }

    /// Whether the scenario means to measure a cold target.
    pub(crate) fn starts_cold(&self) -> bool {
        self.scenario.load.passes.iter().any(|pass| pass == COLD)
    }

    /// What an answer of an endpoint takes when it is computed, in seconds, without queueing.
    pub(crate) fn compute_s(&self, endpoint: usize) -> f64 {
        let model = self.model.endpoint(&self.scenario.endpoints[endpoint].name);
        let backend = model.backend.as_ref().map_or(0.0, Times::mean_ns);
        (model.latency.mean_ns() + backend) / 1e9
    }

    /// What a request of an endpoint takes on the backend on average, in seconds.
    pub(crate) fn backend_s(&self, endpoint: usize) -> f64 {
        let model = self.model.endpoint(&self.scenario.endpoints[endpoint].name);
        self.workload.demands[endpoint].latency_s - model.latency.mean_ns() / 1e9
    }

    /// Whether nothing spreads the first requests of the users.
    pub(crate) fn all_start_at_once(&self) -> bool {
        matches!(
            self.scenario.load.model,
            Model::Closed {
                spawn_per_s: None,
                ..
            }
        )
    }

    /// Users who ask for an endpoint at all.
    pub(crate) fn askers(&self, endpoint: usize) -> f64 {
        let classes = self.workload.classes.iter();
        classes
            .filter(|class| class.shares[endpoint] > 0.0)
            .map(|class| class.users)
            .sum()
    }

    /// The first pool that an endpoint's key draws from.
    pub(crate) fn pool_of(&self, endpoint: usize) -> Option<&str> {
        let pool = self.scenario.endpoints[endpoint]
            .key
            .as_ref()?
            .pools()
            .next()?;
        Some(&self.scenario.pools[pool].name)
    }

    /// Where an endpoint stands.
    pub(crate) fn at_endpoint(&self, i: usize) -> Place {
        let name = &self.scenario.endpoints[i].name;
        Place {
            endpoint: Some(name.clone()),
            line: self.lines.named("endpoint", name),
            ..Place::default()
        }
    }

    /// Where a pool stands.
    pub(crate) fn at_pool(&self, pool: usize) -> Place {
        let name = &self.scenario.pools[pool].name;
        Place {
            pool: Some(name.clone()),
            line: self.lines.key("pools", name),
            ..Place::default()
        }
    }

    /// Where a timer stands.
    pub(crate) fn at_timer(&self, name: &str) -> Place {
        Place {
            timer: Some(name.to_owned()),
            line: self.lines.key("timers", name),
            ..Place::default()
        }
    }

    /// Where a key of `[load]` stands.
    pub(crate) fn at_load(&self, key: &str) -> Place {
        Place {
            line: self.lines.key("load", key),
            ..Place::default()
        }
    }
}

/// A finding, for checks to fill in.
pub(crate) fn finding(check: &str, severity: Severity, place: Place) -> Finding {
    Finding {
        check: check.to_owned(),
        severity,
        place,
        text: String::new(),
        remedy: String::new(),
        share: None,
    }
}
