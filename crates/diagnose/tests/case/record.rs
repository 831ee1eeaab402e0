//! The record of a simulated run.

use std::sync::Arc;

use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::gc_log::{Collector, GcLine, GcLog, Pause};
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Endpoint, Escape, Load, Model, Scenario, Template, Think,
};

use super::keyed::Keys;
use super::profiled::profiles;
use super::series::timeline;
use super::sim::{Repeat, Run, WARMUP_NS};
use super::spec::Case;
use super::traced::trace;

pub(super) fn record(case: &Case, run: &Run) -> RunRecord {
    RunRecord {
        manifest: manifest(case, run),
        samples: run.samples.clone().into(),
        keys: case.keys.as_ref().map_or_else(Vec::new, Keys::names),
        timeline: timeline(case, run),
        trace: Arc::new(trace(case, run)),
        timings: Arc::default(),
        collections: Arc::new(collections(case, run)),
        spans: Arc::default(),
        profiles: Arc::new(profiles(case, run)),
    }
}

/// What a runtime would have written of the times in which the server was paused, read half a
/// millisecond later.
fn collections(case: &Case, run: &Run) -> GcLog {
    const LATE_NS: u64 = 500_000;
    let mut lines = Vec::new();
    for repeat in run.repeats.iter().filter(|_| case.gc_log) {
        let own = run
            .seen
            .paused
            .iter()
            .filter(|s| s.overlap_ns(repeat.load) > 0);
        for (number, pause) in (1..).zip(own) {
            let end = pause.end.plus(case.gc_log_moved.0);
            let length_ns = pause.len_ns();
            let line = GcLine {
                collector: Collector::Jvm,
                heap: 0,
                number,
                end_ns: end.since(repeat.load.begin),
                resolution_ns: 1_000_000,
                pauses: [
                    Pause {
                        before_end_ns: length_ns,
                        length_ns,
                    },
                    Pause::default(),
                ],
            };
            lines.push((end.plus(LATE_NS), line));
        }
    }
    GcLog { lines, cut: false }
}

fn manifest(case: &Case, run: &Run) -> Manifest {
    let hidden = "the address is not one of this host";
    Manifest {
        format: MANIFEST_FORMAT,
        id: "01JD0000000000000000000000".to_owned(),
        version: "0".to_owned(),
        began: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            scenario: scenario(case),
            seed: case.seed,
            release: None,
        },
        scenario_text: None,
        host: HostFacts {
            cpus: case.cpus,
            ..HostFacts::default()
        },
        git: None,
        target: TargetFacts {
            url: "http://127.0.0.1:8080".to_owned(),
            visible: case.visible,
            hidden_because: if case.visible { "" } else { hidden }.to_owned(),
            cgroup: "/sys/fs/cgroup/cpu/shop".to_owned(),
            environment: case.environment.clone().into_iter().collect(),
            ..TargetFacts::default()
        },
        repeats: (0..)
            .zip(&run.repeats)
            .map(|(i, repeat)| facts(i, repeat))
            .collect(),
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

fn facts(index: u16, repeat: &Repeat) -> RepeatFacts {
    let tallies = repeat.offered.iter().zip(&repeat.unsent);
    RepeatFacts {
        endpoints: tallies
            .map(|(&offered, &unsent)| EndpointTally { offered, unsent })
            .collect(),
        connections_opened: repeat.opened,
        connections_stale: repeat.stale,
        target_pids: vec![100],
        ..RepeatFacts::new(index, repeat.window, repeat.load)
    }
}

/// The scenario that would have asked for this load.
pub(crate) fn scenario(case: &Case) -> Scenario {
    let mut scenario = Scenario::from_url("http://127.0.0.1:8080/").expect("it is a URL");
    let path = Template::literal("/", Escape::Url);
    let endpoints = case.endpoints();
    scenario.endpoints = endpoints
        .iter()
        .map(|name| Endpoint::get((*name).to_owned(), path.clone()))
        .collect();
    let model = match (case.open_rate(), case.users) {
        (Some(rate_per_s), _) => Model::Open {
            rate_per_s,
            arrivals: Arrivals::Poisson,
        },
        (None, users) => Model::Closed {
            users: users.unwrap_or(1),
            spawn_per_s: None,
            think: Think::default(),
        },
    };
    let connection = match (case.dial_each, case.users) {
        (true, _) => ConnectionUse::PerRequest,
        (false, Some(_)) => ConnectionUse::PerUser,
        (false, None) => ConnectionUse::Pool,
    };
    // What the server remembers is gone with each repeat.
    let forgets = case.keys.is_some() || case.grows.is_some();
    scenario.target.command = forgets.then(|| vec![Template::literal("./server", Escape::None)]);
    scenario.load = Load {
        model,
        connection,
        connections: case.users.unwrap_or(case.connections),
        duration_ns: case.duration.0,
        warmup_ns: WARMUP_NS,
        repeats: u32::from(case.repeats),
        timeout_ns: case.timeout.0,
        ..Load::default()
    };
    scenario
}
