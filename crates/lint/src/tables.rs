//! The table of endpoints, and what its figures rest on.

use slowpath_core::model::{EndpointModel, Expensive};

use crate::checks::View;
use crate::keyspace::KeySpace;
use crate::occupancy::Keys;
use crate::percentiles::supported;
use crate::report::{Collisions, EndpointRow};
use crate::wording::{duration, plural};
use crate::workload::ASSUMED_LATENCY_NS;

/// Seeds the draws of spreads: the same scenario gives the same bytes.
const SEED: u64 = 0;

/// What the figures of a judgement rest on.
pub(crate) fn assumptions(view: &View<'_>) -> Vec<String> {
    let mut said = Vec::new();
    if view.facts.model.is_some() {
        let slots = match view.model.slots {
            Some(n) => format!(
                ", {n} {} of a backend",
                plural(f64::from(n), "slot", "slots")
            ),
            None => ", no queue for computed answers".to_owned(),
        };
        said.push(format!("latencies as in {}{slots}", view.facts.model_from));
    } else {
        said.push(format!(
            "an answer is taken to need {}; --model or --from say better",
            duration(ASSUMED_LATENCY_NS as f64)
        ));
    }
    if view.scenario.load.passes.len() > 1 {
        said.push(format!(
            "counts are those of one of {} passes",
            view.scenario.load.passes.len()
        ));
    }
    said
}

/// One row an endpoint.
pub(crate) fn rows(view: &View<'_>) -> Vec<EndpointRow> {
    (0..view.scenario.endpoints.len())
        .map(|i| row(view, i))
        .collect()
}

fn row(view: &View<'_>, i: usize) -> EndpointRow {
    let (endpoint, demand, space) = (
        &view.scenario.endpoints[i],
        &view.workload.demands[i],
        &view.spaces[i],
    );
    let model = view.model.endpoint(&endpoint.name);
    // One key for all is no pool: it says nothing about collisions that its name does not.
    let pool = space.keys.as_ref().filter(|keys| keys.count() > 1.5);
    EndpointRow {
        endpoint: endpoint.name.clone(),
        requests: demand.requests,
        rate_per_s: demand.rate_per_s,
        in_flight: demand.in_flight(),
        keys: space.keys.as_ref().map(Keys::count),
        first_touches: space
            .keys
            .as_ref()
            .map(|keys| keys.first_touches(view.touched_before(i), demand.requests)),
        supported: supported(demand.requests, view.scenario.load.repeats),
        at_once: pool.and_then(|keys| at_once(view, i, keys, space, &model)),
        under_way: pool.map(|keys| under_way(keys, demand.in_flight())),
    }
}

/// If all users who ask for this endpoint picked from it at the same instant.
fn at_once(
    view: &View<'_>,
    i: usize,
    keys: &Keys,
    space: &KeySpace,
    model: &EndpointModel,
) -> Option<Collisions> {
    let users = view.askers(i).round();
    if users < 2.0 {
        return None;
    }
    let expensive = expensive_keys(model, space, keys) / keys.count();
    let [share, shared_keys, redundant, costly] = keys.at_once(users as u64, expensive, SEED);
    Some(Collisions {
        requests: users,
        share,
        shared_keys,
        redundant,
        redundant_expensive: model.backend.as_ref().map(|_| costly),
    })
}

fn under_way(keys: &Keys, requests: f64) -> Collisions {
    let [share, shared_keys, redundant] = keys.under_way(requests);
    Collisions {
        requests,
        share,
        shared_keys,
        redundant,
        redundant_expensive: None,
    }
}

/// How many of an endpoint's keys need the backend.
fn expensive_keys(model: &EndpointModel, space: &KeySpace, keys: &Keys) -> f64 {
    let n = keys.count();
    match &model.expensive {
        Expensive::Count(count) => f64::from(*count).min(n),
        Expensive::Share(share) => share * n,
        Expensive::Keys(named) => named
            .iter()
            .filter(|key| space.named.contains_key(*key))
            .count() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::scenario;
    use crate::facts::Facts;

    fn judged(load: &str) -> (Vec<String>, EndpointRow) {
        let endpoint = "[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
        let scenario = scenario(&format!("[load]\nduration = \"10s\"\n{load}\n{endpoint}"));
        let facts = Facts::default();
        let view = View::new(&scenario, &facts);
        (assumptions(&view), rows(&view).remove(0))
    }

    #[test]
    fn what_is_taken_for_granted_is_said_of_open_loops_too() {
        let (assumed, row) = judged("rate = \"500/s\"");
        assert!(assumed[0].contains("10 ms"), "{assumed:?}");
        assert!((row.in_flight - 5.0).abs() < 1e-9);
    }

    #[test]
    fn users_ask_no_faster_than_their_connections_let_them() {
        let (_, free) = judged("users = 100");
        // 100 users at 10 ms an answer are 10,000 a second; 20 connections carry 2,000.
        assert!((free.requests - 100_000.0).abs() < 1e-6, "{free:?}");
        let (_, bound) = judged("users = 100\nconnection = \"pool\"\nconnections = 20");
        assert!((bound.requests - 20_000.0).abs() < 1e-6, "{bound:?}");
        assert!((bound.in_flight - 20.0).abs() < 1e-6, "{bound:?}");
    }
}
