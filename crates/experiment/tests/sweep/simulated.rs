//! Records of a closed loop against a server whose capacity is known.

use std::sync::Arc;

use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{Overrides, Scenario};
use slowpath_core::timeline::Timeline;
use slowpath_experiment::sweep::{Cell, Told, Window};

pub(crate) const MS: u64 = 1_000_000;
/// When loads begin.
const BEGIN_NS: u64 = 1_000 * MS;
/// Load before the window.
pub(crate) const WARMUP_NS: u64 = 500 * MS;
/// Length of the window.
pub(crate) const WINDOW_NS: u64 = 2_000 * MS;

/// What a user's next request does.
pub(crate) struct Next {
    pub(crate) takes_ns: u64,
    pub(crate) outcome: Outcome,
}

/// The record of `users` who ask without a pause; `next` gives what becomes of a request from the
/// user and the time since the begin of the load.
pub(crate) fn record(users: u32, next: impl Fn(u32, u64) -> Next) -> RunRecord {
    let begin = Nanos::new(BEGIN_NS);
    let window = Span::new(begin.plus(WARMUP_NS), begin.plus(WARMUP_NS + WINDOW_NS));
    let mut samples = Vec::new();
    for user in 0..users {
        let (mut at, mut index, mut connection) = (0, 0, user);
        while at < WARMUP_NS + WINDOW_NS {
            let next = next(user, at);
            let begun = begin.plus(at);
            let dialled = (index == 0).then_some(begun);
            at += next.takes_ns;
            let measured = begun >= window.begin;
            samples.push(Sample {
                connect_begin: dialled,
                connected: dialled,
                sent: Some(begun),
                done: begin.plus(at),
                user,
                connection,
                index_on_connection: index,
                stage: if measured {
                    Stage::Measured
                } else {
                    Stage::Warmup
                },
                outcome: next.outcome,
                phase: Phase::Check,
                ..Sample::due(begun)
            });
            index += 1;
            if next.outcome.is_error() {
                // The next request dials again.
                (index, connection) = (0, connection + users);
            }
        }
    }
    samples.sort_by_key(|s| s.scheduled);
    let offered = samples
        .iter()
        .filter(|s| s.stage == Stage::Measured)
        .count() as u64;
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
    let by = Overrides {
        connections: Some(users),
        ..Overrides::default()
    };
    scenario.load = scenario.load.overridden(&by).unwrap();
    let end = samples.iter().map(|s| s.done).max().unwrap();
    RunRecord {
        manifest: manifest(scenario, window, Span::new(begin, end), offered),
        samples: samples.into(),
        keys: Vec::new(),
        timeline: Timeline::default(),
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    }
}

fn manifest(scenario: Scenario, window: Span, load: Span, offered: u64) -> Manifest {
    Manifest {
        format: MANIFEST_FORMAT,
        id: String::new(),
        version: String::new(),
        began: String::new(),
        plan: Plan {
            scenario,
            seed: 1,
            release: None,
        },
        scenario_text: None,
        host: HostFacts::default(),
        git: None,
        target: TargetFacts::default(),
        repeats: vec![RepeatFacts {
            endpoints: vec![EndpointTally { offered, unsent: 0 }],
            ..RepeatFacts::new(0, window, load)
        }],
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

/// The window of a record.
pub(crate) fn window(level: f64, repeat: u32, record: &RunRecord, told: Told) -> Window {
    Window::of(record, Cell { level, repeat }, "windows/1".to_owned(), told).unwrap()
}

/// A server that serves `capacity` users at a time, 5 ms each.
pub(crate) fn fair(users: u32, capacity: u32) -> RunRecord {
    let takes_ns = 5 * MS * u64::from(users.max(capacity)) / u64::from(capacity);
    record(users, |_, _| Next {
        takes_ns,
        outcome: Outcome::Ok,
    })
}
