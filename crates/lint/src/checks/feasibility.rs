//! What cannot be, whatever the target does: Little's law.

use slowpath_core::scenario::{Metric, Model, Pick, Pool};

use super::thin_percentiles::least;
use super::{View, finding};
use crate::report::{Finding, Place, Severity};
use crate::wording::{count, duration, percent};
use crate::workload::{Class, Demand};

/// Answers a second from which on a claim deserves a second look: a typical application server on
/// one machine gives fewer.
const REMARKABLE_PER_S: f64 = 10_000.0;

/// Rates against connections, users, timeouts, gates and the model's backend.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    found.extend(connections(view));
    found.extend(timeouts(view));
    found.extend(backend(view));
    found.extend(gates(view));
    found.extend(spent(view));
    found
}

/// Values that are used once must last for the warm-up and the window.
fn spent(view: &View<'_>) -> Vec<Finding> {
    let pools = view.scenario.pools.iter().enumerate();
    let unique = pools.filter(|(_, pool)| pool.pick == Pick::Unique && pool.same_row_as.is_none());
    let one = |(i, pool): (usize, &Pool)| {
        let of_row = |other: usize| other == i || view.scenario.pools[other].same_row_as == Some(i);
        let endpoints = view.scenario.endpoints.iter().zip(&view.workload.demands);
        let needed: f64 = endpoints
            .filter(|(endpoint, _)| endpoint.texts().iter().any(|text| text.pools().any(of_row)))
            .map(|(_, demand)| demand.before + demand.requests)
            .sum();
        let has = pool.values.len() as f64;
        if needed <= has {
            return None;
        }
        // Only an open loop asks so often whatever the target does.
        let severity = match view.scenario.load.model {
            Model::Open { .. } => Severity::Error,
            Model::Closed { .. } => Severity::Warning,
        };
        let mut found = finding("feasibility", severity, view.at_pool(i));
        found.text = format!(
            "{} has {} values to be used once, and warm-up and window ask for {}: the load ends \
             after {} of it",
            pool.name,
            count(has),
            count(needed),
            percent(has / needed)
        );
        found
            .remedy
            .push_str("add values, measure for less long, or pick = \"sequence\"");
        found.share = Some(1.0 - has / needed);
        Some(found)
    };
    unique.filter_map(one).collect()
}

/// An open loop needs `rate x latency` connections on average.
fn connections(view: &View<'_>) -> Option<Finding> {
    let rate_per_s = view.scenario.offered_per_s()?;
    view.facts.model?;
    let needed: f64 = view.workload.demands.iter().map(Demand::in_flight).sum();
    let has = f64::from(view.scenario.load.connections);
    if needed <= has {
        return None;
    }
    let mut found = finding("feasibility", Severity::Error, view.at_load("rate"));
    found.text = format!(
        "{}/s at {} each keeps {} requests under way, and there are {} connections: at most {}/s \
         can be answered, and the rest is late before it is sent",
        count(rate_per_s),
        duration(needed / rate_per_s * 1e9),
        count(needed),
        count(has),
        count(rate_per_s * has / needed)
    );
    found.remedy = format!(
        "connections = {} or more, or a lower rate",
        (needed * 2.0).ceil()
    );
    Some(found)
}

/// Users who must all be answered within the timeout need a rate of their own.
fn timeouts(view: &View<'_>) -> Option<Finding> {
    let Model::Closed { users, think, .. } = &view.scenario.load.model else {
        return None;
    };
    let timeout_ns = view.scenario.load.timeout_ns as f64;
    let users = f64::from(*users);
    let think_ns = think.mean_ns();
    let needed = users / ((think_ns + timeout_ns) / 1e9);
    if needed < REMARKABLE_PER_S {
        return None;
    }
    let mut found = finding("feasibility", Severity::Warning, view.at_load("users"));
    found.text = format!(
        "{} users with a timeout of {} need at least {} answers a second, or requests time out \
         whatever each of them takes",
        count(users),
        duration(timeout_ns),
        count(needed)
    );
    found
        .remedy
        .push_str("check that against what the target gives before reading its timeouts");
    Some(found)
}

/// The backend of the model must be able to do what is asked of it.
fn backend(view: &View<'_>) -> Option<Finding> {
    let slots = f64::from(view.facts.model?.slots?);
    let busy: f64 = (0..view.scenario.endpoints.len())
        .map(|i| view.workload.demands[i].rate_per_s * view.backend_s(i))
        .sum();
    if busy <= slots {
        return None;
    }
    let mut found = finding("feasibility", Severity::Warning, Place::default());
    found.text = format!(
        "the workload asks for {} slots of the backend on average, and the model has {}",
        count(busy),
        count(slots)
    );
    found.remedy.push_str(match view.scenario.load.model {
        Model::Open { .. } => "expect a queue that grows throughout the window",
        Model::Closed { .. } => {
            "expect users who wait for each other, and fewer requests than the table says"
        }
    });
    Some(found)
}

/// A gate on a rate above what users who think can ask for can never pass.
fn gates(view: &View<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for gate in &view.scenario.gates {
        let Some(test) = gate.test.bounded() else {
            continue;
        };
        let measure = &test.measure;
        if measure.metric != Metric::Rate || measure.of_baseline || test.over.is_some() {
            continue;
        }
        let most = most_asked(view, &measure.endpoint);
        let (Some(wanted), Some(most)) = (least(test.condition), most) else {
            continue;
        };
        if wanted <= most {
            continue;
        }
        let place = Place {
            endpoint: Some(measure.endpoint.clone()),
            line: Some(gate.line),
            ..Place::default()
        };
        let mut one = finding("feasibility", Severity::Error, place);
        one.text = format!(
            "the gate {:?} needs {}/s, and the load asks {} at most {} times a second",
            gate.that,
            count(wanted),
            measure.endpoint,
            count(most)
        );
        one.remedy
            .push_str("more users, shorter pauses or a higher rate");
        found.push(one);
    }
    found
}

/// The most requests a second that can be asked of an endpoint if answers take no time; `None`
/// where nothing bounds it.
fn most_asked(view: &View<'_>, endpoint: &str) -> Option<f64> {
    let i = view
        .scenario
        .endpoints
        .iter()
        .position(|e| e.name == endpoint)?;
    if let Some(rate) = view.scenario.endpoints[i].rate_per_s {
        return Some(rate);
    }
    match view.scenario.load.model {
        Model::Open { .. } => Some(view.workload.demands[i].rate_per_s),
        Model::Closed { .. } => {
            let of_class = |class: &Class| {
                let think_s = class.think_s();
                if class.shares[i] == 0.0 {
                    Some(0.0)
                } else if think_s > 0.0 {
                    Some(class.users * class.shares[i] / think_s)
                } else {
                    None
                }
            };
            view.workload.classes.iter().map(of_class).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, found_with, only, scenario};

    use slowpath_core::model::{TargetModel, Times};

    use crate::facts::Facts;

    const ONE: &str = "[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";

    fn slow(ms: u64) -> TargetModel {
        TargetModel::plain(Times::fixed(ms * 1_000_000))
    }

    fn with(model: &TargetModel, text: &str) -> Vec<Finding> {
        let facts = Facts {
            model: Some(model),
            ..Facts::default()
        };
        found_with(check, text, &facts)
    }

    #[test]
    fn a_rate_needs_connections() {
        let text = format!("[load]\nrate = \"1000/s\"\nconnections = 64\n{ONE}");
        let one = only(
            &with(&slow(100), &text),
            &["100 requests under way", "640/s"],
        );
        assert_eq!(one.severity, Severity::Error);
        assert_eq!(with(&slow(50), &text), []);
        assert_eq!(found(check, &text), [], "nothing is known of latencies");
    }

    #[test]
    fn values_to_be_used_once_must_last() {
        let found = |values: usize| {
            let text = "[load]\nrate = \"10/s\"\nduration = \"10s\"\nwarmup = \"2s\"\n\
                        [pools]\nq = [\"v\"]\n\
                        [[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={q}\"\n";
            let mut scenario = scenario(text);
            scenario.pools[0].pick = Pick::Unique;
            scenario.pools[0].values = (0..values).map(|i| format!("v{i}")).collect();
            check(&View::new(&scenario, &Facts::default()))
        };
        let one = only(&found(30), &["30 values", "ask for 120", "25 % of it"]);
        assert_eq!(one.severity, Severity::Error);
        assert_eq!(found(120), []);
    }

    #[test]
    fn many_users_with_a_short_timeout_are_a_claim() {
        let text = format!("[load]\nusers = 100000\ntimeout = \"2s\"\n{ONE}");
        only(
            &found(check, &text),
            &["100,000 users", "50,000 answers a second"],
        );
        let text = format!("[load]\nusers = 1000\ntimeout = \"2s\"\n{ONE}");
        assert_eq!(found(check, &text), []);
    }

    #[test]
    fn users_who_think_bound_the_rate_that_a_gate_may_ask_for() {
        let gate = "[[gate]]\nthat = \"a.rate > 50/s\"\n";
        let load = |think: &str| format!("[load]\nusers = 20\n{think}\n{ONE}{gate}");
        let one = only(
            &found(check, &load("think = \"1s\"")),
            &["50/s", "at most 20 times"],
        );
        assert_eq!(one.severity, Severity::Error);
        assert_eq!(found(check, &load("think = \"100ms\"")), []);
        assert_eq!(
            found(check, &load("")),
            [],
            "without think time nothing bounds it"
        );
    }

    #[test]
    fn a_backend_with_one_slot_does_one_second_a_second() {
        let text = format!("[load]\nrate = \"3/s\"\nconnections = 64\n{ONE}");
        let mut model = slow(1);
        model.slots = Some(1);
        model.endpoints.push(slowpath_core::model::EndpointModel {
            backend: Some(Times::fixed(500_000_000)),
            cached: false,
            ..model.endpoint("a")
        });
        only(&with(&model, &text), &["1.5 slots", "has 1"]);
        model.slots = Some(2);
        assert_eq!(with(&model, &text), []);
    }
}
