//! A load in words.

use slowpath_core::scenario::{Arrivals, ConnectionUse, Load, Model};

use crate::verdict::human;

/// One line that says what a load is.
pub(crate) fn load_in_words(load: &Load) -> String {
    let connections = match load.connection {
        ConnectionUse::Pool => format!("{} pooled connections", load.connections),
        ConnectionUse::PerUser => "a connection each".to_owned(),
        ConnectionUse::PerRequest => "a connection for each request".to_owned(),
    };
    let model = match &load.model {
        Model::Open {
            rate_per_s,
            arrivals,
        } => {
            let arrivals = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Uniform => "even",
            };
            format!("open loop, {rate_per_s} requests/s, {arrivals} arrivals")
        }
        Model::Closed { users, think, .. } => {
            let pause = if think.max_ns == 0 {
                String::new()
            } else {
                format!(
                    ", thinking {} to {}",
                    human(think.min_ns as f64),
                    human(think.max_ns as f64)
                )
            };
            format!("closed loop, {users} users{pause}")
        }
    };
    let window = human(load.duration_ns as f64);
    format!("{model}, {connections}, {} x {window}", load.repeats)
}
