//! A load in words.

use slowpath_core::scenario::{Arrivals, ConnectionUse, Model, Scenario, Think};

use crate::verdict::{human, plural};

/// One line that says what the load of a scenario is, of which so many repeats were measured.
pub(crate) fn load_in_words(scenario: &Scenario, repeats: u32) -> String {
    let load = &scenario.load;
    let connections = match load.connection {
        ConnectionUse::Pool => {
            let pooled = u64::from(load.connections);
            plural(pooled, "pooled connection")
        }
        ConnectionUse::PerUser => "a connection each".to_owned(),
        ConnectionUse::PerRequest => "a connection for each request".to_owned(),
    };
    let rests = load.idle.map_or(String::new(), |idle| {
        format!(", resting {} between uses", pause_in_words(idle))
    });
    let model = match &load.model {
        Model::Open { arrivals, .. } => {
            let arrivals = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Uniform => "even",
            };
            let rate_per_s = scenario.offered_per_s().unwrap_or_default();
            format!("open loop, {rate_per_s} requests/s, {arrivals} arrivals")
        }
        Model::Closed {
            users,
            think,
            spawn_per_s,
        } => {
            let spawn =
                spawn_per_s.map_or(String::new(), |rate| format!(" ({rate} more a second)"));
            let own = scenario.users.iter().map(|class| class.think);
            let pause = match &own.flatten().next() {
                Some(_) => ", thinking as their class says".to_owned(),
                None if think.is_none() => String::new(),
                None => format!(", thinking {}", pause_in_words(*think)),
            };
            let classes = match scenario.users.len() {
                0 | 1 => String::new(),
                classes => format!(" in {classes} classes"),
            };
            let users = plural(u64::from(*users), "user");
            format!("closed loop, {users}{spawn}{classes}{pause}")
        }
    };
    let passes = match load.passes.as_slice() {
        [] => String::new(),
        passes => format!(" ({})", passes.join(", then ")),
    };
    let window = human(load.duration_ns as f64);
    format!("{model}, {connections}{rests}, {repeats} x {window}{passes}")
}

fn pause_in_words(think: Think) -> String {
    let human = |ns: u64| human(ns as f64);
    match think {
        Think::Uniform { min_ns, max_ns } => format!("{} to {}", human(min_ns), human(max_ns)),
        Think::Exponential { mean_ns } => format!("{} on average (exponential)", human(mean_ns)),
        Think::LogNormal { median_ns, p90_ns } => format!(
            "{} in the median, {} at p90 (lognormal)",
            human(median_ns),
            human(p90_ns)
        ),
    }
}
