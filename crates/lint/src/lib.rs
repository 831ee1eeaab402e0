//! What is wrong with a workload, before a request is sent.
//!
//! [`lint`] reads a scenario and says what its numbers imply: how often each endpoint is asked,
//! how many keys are touched for the first time and when, which percentiles that many requests
//! can carry, which timers expire in between, what the client's host cannot do. [`simulate`]
//! plays the workload against a model of the target and predicts its percentiles, for the
//! scenario as it is and for changes of it, so that a change is judged before it is shipped.
//!
//! Deliberately absent: any knowledge of a target beyond what the caller gives (a model, a run's
//! times), and any effect. Everything random is drawn from a seed that is given.
#![warn(clippy::disallowed_methods)]

mod checks;
mod facts;
mod keyspace;
mod lines;
mod occupancy;
mod percentiles;
mod report;
pub mod simulate;
mod tables;
mod text;
mod wording;
mod workload;

pub use facts::{Facts, HostLimits, PortReuse};
pub use report::{
    Collisions, EndpointRow, Figure, Finding, Lint, Place, SCHEMA, Severity, Supported,
};
pub use text::text;

use slowpath_core::scenario::Scenario;

/// Judges a scenario by what it says and by what is known about host and target.
pub fn lint(scenario: &Scenario, facts: &Facts<'_>) -> Lint {
    let view = checks::View::new(scenario, facts);
    let mut findings: Vec<Finding> = checks::CHECKS
        .iter()
        .flat_map(|check| check(&view))
        .collect();
    // Worst first; among equals, what touches the larger share of the requests.
    findings.sort_by(|a, b| {
        let share = |f: &Finding| f.share.unwrap_or(0.0);
        (a.severity.cmp(&b.severity)).then(share(b).total_cmp(&share(a)))
    });
    Lint {
        schema: SCHEMA.to_owned(),
        scenario: scenario.name.clone(),
        assumptions: tables::assumptions(&view),
        findings,
        endpoints: tables::rows(&view),
        simulation: None,
    }
}
