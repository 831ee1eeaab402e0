//! Who asks for what, how often: the scenario's load as rates and expected counts.
//!
//! A user of a closed loop asks once every think time plus latency, so `U` users ask
//! `U / (think + latency)` times a second (Little's law over the cycle).

use slowpath_core::model::{TargetModel, Times};
use slowpath_core::nanos::SECOND;
use slowpath_core::scenario::{ConnectionUse, Load, Model, Scenario, Think, UserClass};

use crate::keyspace::KeySpace;

/// What an answer is taken to need when neither a model nor a run says: a quick server, so that
/// the requests of a closed loop are rather over- than underestimated.
pub(crate) const ASSUMED_LATENCY_NS: u64 = 10_000_000;

/// Rounds in which latency (which depends on how many answers are cached) and rates (which depend
/// on latency) settle; the fourth changes nothing that is printed.
const ROUNDS: usize = 4;

/// A class of users, or the whole of an open loop.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// Its name; empty where the scenario has no classes.
    pub(crate) name: String,
    /// How many users; 0 in an open loop.
    pub(crate) users: f64,
    /// Their pause.
    pub(crate) think: Think,
    /// The share of its requests that go to each endpoint of the scenario; sums to 1.
    pub(crate) shares: Vec<f64>,
    /// The endpoints of its session, one after the other; empty where they are drawn.
    pub(crate) steps: Vec<usize>,
}

/// What is asked of one endpoint.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Demand {
    /// Requests expected in one measured window.
    pub(crate) requests: f64,
    /// Requests expected before it, in the warm-up.
    pub(crate) before: f64,
    /// Requests a second while all users are there.
    pub(crate) rate_per_s: f64,
    /// The mean latency of an answer.
    pub(crate) latency_s: f64,
}

impl Demand {
    /// Requests under way at any instant (Little's law).
    pub(crate) fn in_flight(&self) -> f64 {
        self.rate_per_s * self.latency_s
    }
}

/// The load as numbers.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// Who asks.
    pub(crate) classes: Vec<Class>,
    /// What is asked of each endpoint of the scenario, in its order.
    pub(crate) demands: Vec<Demand>,
}

/// A stretch of time from the start of the load, in seconds.
#[derive(Clone, Copy)]
struct Stretch {
    begin_s: f64,
    end_s: f64,
}

impl Workload {
    /// The workload of a scenario against a target whose answers take what `model` says.
    pub(crate) fn of(scenario: &Scenario, spaces: &[KeySpace], model: &TargetModel) -> Self {
        let classes = classes(scenario);
        let mut latencies: Vec<f64> = scenario
            .endpoints
            .iter()
            .map(|e| model.endpoint(&e.name).latency.mean_ns() / SECOND as f64)
            .collect();
        let mut demands = Vec::new();
        for _ in 0..ROUNDS {
            demands = demands_at(scenario, &classes, &latencies);
            for (i, endpoint) in scenario.endpoints.iter().enumerate() {
                let own = model.endpoint(&endpoint.name);
                let backend = own.backend.as_ref().map_or(0.0, Times::mean_ns);
                let computed = computed_share(&spaces[i], own.cached, &demands[i]);
                latencies[i] = (own.latency.mean_ns() + computed * backend) / SECOND as f64;
            }
        }
        Self { classes, demands }
    }

    /// All requests expected in one measured window.
    pub(crate) fn requests(&self) -> f64 {
        self.demands.iter().map(|demand| demand.requests).sum()
    }

    /// Requests a second of a class of users while all of them are there.
    pub(crate) fn class_rate(&self, class: &Class) -> f64 {
        let latencies: Vec<f64> = self.demands.iter().map(|d| d.latency_s).collect();
        class.rate_per_s(&latencies)
    }
}

/// How long requests are sent before a window. With passes it is no time: a cold pass must not be
/// warmed, and every other begins as it does.
pub(crate) fn warming_ns(load: &Load) -> u64 {
    if load.passes.is_empty() {
        load.warmup_ns
    } else {
        0
    }
}

/// The share of a window's user-seconds for which users are there.
pub(crate) fn presence(load: &Load) -> f64 {
    let Model::Closed {
        users, spawn_per_s, ..
    } = load.model
    else {
        return 1.0;
    };
    let window = Stretch::window(load);
    let whole_s = f64::from(users) * (window.end_s - window.begin_s);
    presence_s(users, spawn_per_s, window) / whole_s
}

impl Class {
    /// The mean pause in seconds.
    pub(crate) fn think_s(&self) -> f64 {
        self.think.mean_ns() / SECOND as f64
    }

    /// The mean latency of what it asks for.
    fn latency_s(&self, latencies_s: &[f64]) -> f64 {
        let both = self.shares.iter().zip(latencies_s);
        both.map(|(share, latency_s)| share * latency_s).sum()
    }

    /// Requests a second: `users / (think + latency)`.
    fn rate_per_s(&self, latencies_s: &[f64]) -> f64 {
        let cycle_s = self.think_s() + self.latency_s(latencies_s);
        self.users / cycle_s.max(f64::MIN_POSITIVE)
    }
}

impl Stretch {
    fn warmup(load: &Load) -> Self {
        Self {
            begin_s: 0.0,
            end_s: warming_ns(load) as f64 / SECOND as f64,
        }
    }

    fn window(load: &Load) -> Self {
        let begin_s = warming_ns(load) as f64 / SECOND as f64;
        Self {
            begin_s,
            end_s: begin_s + load.duration_ns as f64 / SECOND as f64,
        }
    }
}

/// The share of an endpoint's requests that are computed and not answered from a cache.
fn computed_share(space: &KeySpace, cached: bool, demand: &Demand) -> f64 {
    match &space.keys {
        Some(keys) if cached && demand.requests > 0.0 => {
            (keys.touched_after(demand.before, demand.requests) / demand.requests).min(1.0)
        }
        _ => 1.0,
    }
}

/// The classes of a scenario; one that uses every endpoint by weight where it names none.
/// Endpoints with a rate of their own take no part in the weights.
pub(crate) fn classes(scenario: &Scenario) -> Vec<Class> {
    let weights: Vec<f64> = scenario
        .endpoints
        .iter()
        .map(|e| {
            if e.rate_per_s.is_some() {
                0.0
            } else {
                e.weight
            }
        })
        .collect();
    let Model::Closed { users, think, .. } = &scenario.load.model else {
        return vec![Class {
            name: String::new(),
            users: 0.0,
            think: Think::default(),
            shares: normal(weights),
            steps: Vec::new(),
        }];
    };
    let users = f64::from(*users);
    if scenario.users.is_empty() {
        return vec![Class {
            name: String::new(),
            users,
            think: *think,
            shares: normal(weights),
            steps: Vec::new(),
        }];
    }
    let total: f64 = scenario.users.iter().map(|class| class.share).sum();
    let place = |name: &str| scenario.endpoints.iter().position(|e| e.name == name);
    let class = |class: &UserClass| {
        let weight = |name: &str| {
            let named = class.endpoints.iter().find(|(known, _)| known == name);
            // Each step of a session comes as often as any other.
            let steps = class.steps.iter().filter(|step| *step == name).count();
            named.map_or(steps as f64, |(_, weight)| *weight)
        };
        Class {
            name: class.name.clone(),
            users: users * class.share / total,
            think: class.think.unwrap_or(*think),
            shares: normal(scenario.endpoints.iter().map(|e| weight(&e.name)).collect()),
            steps: class.steps.iter().filter_map(|step| place(step)).collect(),
        }
    };
    scenario.users.iter().map(class).collect()
}

fn normal(weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    let of_sum = |weight: f64| if sum > 0.0 { weight / sum } else { 0.0 };
    weights.into_iter().map(of_sum).collect()
}

fn demands_at(scenario: &Scenario, classes: &[Class], latencies_s: &[f64]) -> Vec<Demand> {
    let load = &scenario.load;
    let warmup_s = warming_ns(load) as f64 / SECOND as f64;
    let duration_s = load.duration_ns as f64 / SECOND as f64;
    let (before, window) = (Stretch::warmup(load), Stretch::window(load));
    let mut demands: Vec<Demand> = latencies_s
        .iter()
        .map(|&latency_s| Demand {
            latency_s,
            ..Demand::default()
        })
        .collect();
    let mut add = |class: &Class, rate_per_s: f64, before: f64, during: f64| {
        for (demand, share) in demands.iter_mut().zip(&class.shares) {
            demand.rate_per_s += share * rate_per_s;
            demand.before += share * before;
            demand.requests += share * during;
        }
    };
    match &load.model {
        Model::Open { rate_per_s, .. } => {
            let rate = *rate_per_s;
            add(&classes[0], rate, rate * warmup_s, rate * duration_s);
        }
        Model::Closed {
            users, spawn_per_s, ..
        } => {
            // Which of the users are of which class is not said, so each class is an average.
            let present = |stretch| presence_s(*users, *spawn_per_s, stretch) / f64::from(*users);
            let slower = connected_share(load, classes, latencies_s);
            for class in classes {
                let rate = class.rate_per_s(latencies_s) * slower;
                add(class, rate, rate * present(before), rate * present(window));
            }
        }
    }
    for (demand, endpoint) in demands.iter_mut().zip(&scenario.endpoints) {
        if let Some(rate) = endpoint.rate_per_s {
            demand.rate_per_s += rate;
            demand.before += rate * warmup_s;
            demand.requests += rate * duration_s;
        }
    }
    demands
}

/// The share of what users would ask that their connections let them: no more requests are under
/// way than there are connections.
fn connected_share(load: &Load, classes: &[Class], latencies_s: &[f64]) -> f64 {
    if load.connection == ConnectionUse::PerUser {
        return 1.0;
    }
    let under_way = |class: &Class| class.rate_per_s(latencies_s) * class.latency_s(latencies_s);
    let wanted: f64 = classes.iter().map(under_way).sum();
    (f64::from(load.connections) / wanted.max(f64::MIN_POSITIVE)).min(1.0)
}

/// How many seconds users are there within a stretch, summed over users.
fn presence_s(users: u32, spawn_per_s: Option<f64>, stretch: Stretch) -> f64 {
    let gap_s = spawn_per_s.map_or(0.0, |rate| 1.0 / rate);
    (0..users)
        .map(|user| {
            let starts_s = (gap_s * f64::from(user)).max(stretch.begin_s);
            (stretch.end_s - starts_s).max(0.0)
        })
        .sum()
}
