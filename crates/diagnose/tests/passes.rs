//! Cold and warm passes: distinguished, and the cold one put to the proof.
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

use std::sync::Arc;

use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{Escape, LoadDraft, Scenario, Step, Template};
use slowpath_core::timeline::Timeline;
use slowpath_diagnose::diagnosis::{Diagnosis, Status, Unexplained};
use slowpath_diagnose::judge;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Requests of each window, every 4 ms.
const REQUESTS: u32 = 2_000;

/// A server: the service time of the request number `n` for a key, which was asked for `before`
/// so many times in this pass.
type Server = fn(pass: usize, key: u32, before: u32, n: u32) -> u64;

/// Some scatter that is the same in every run.
fn scatter(n: u32) -> u64 {
    u64::from(n.wrapping_mul(2_654_435_761) >> 12) % (MS / 4)
}

/// Caches, and is emptied by the reset.
fn emptied(pass: usize, _: u32, before: u32, n: u32) -> u64 {
    let computes = pass == 0 && before == 0;
    scatter(n + 7919 * pass as u32) + if computes { 30 * MS } else { MS }
}

/// Caches, and the reset does nothing: the run before has filled the cache.
fn kept(pass: usize, _: u32, _: u32, n: u32) -> u64 {
    scatter(n + 7919 * pass as u32) + MS
}

/// Caches nothing, and is slower for the whole of its first pass.
fn uncached(pass: usize, _: u32, _: u32, n: u32) -> u64 {
    scatter(n + 7919 * pass as u32) + if pass == 0 { 8 * MS } else { 5 * MS }
}

fn scenario(passes: &[&str]) -> Scenario {
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/search").unwrap();
    scenario.load = LoadDraft {
        rate_per_s: Some(250.0),
        passes: passes.iter().map(|pass| (*pass).to_owned()).collect(),
        duration_ns: Some(8 * SECOND),
        ..LoadDraft::default()
    }
    .resolve()
    .unwrap();
    scenario.target.reset = vec![Step::Request {
        method: "POST".to_owned(),
        path: Template::literal("/clear", Escape::Url),
    }];
    scenario
}

fn record(passes: &[&str], repeats: u16, keys: u32, server: Server) -> RunRecord {
    let (mut samples, mut facts) = (Vec::new(), Vec::new());
    let windows = repeats * passes.len() as u16;
    for window in 0..windows {
        let pass = usize::from(window) % passes.len();
        let begin = Nanos::new(SECOND * 10 * (1 + u64::from(window)));
        let mut touched = vec![0_u32; keys as usize];
        for serial in 0..REQUESTS {
            // Every pass of a repeat asks for the same.
            let key = (serial.wrapping_mul(48_271) >> 3) % keys;
            let before = touched[key as usize];
            touched[key as usize] += 1;
            let due = begin.plus(u64::from(serial) * 4 * MS);
            samples.push(Sample {
                sent: Some(due),
                first_byte: Some(due.plus(MS / 2)),
                done: due.plus(server(pass, key, before, serial)),
                serial,
                key,
                connection: serial % 64,
                repeat: window,
                stage: Stage::Measured,
                status: 200,
                outcome: Outcome::Ok,
                phase: Phase::Check,
                ..Sample::due(due)
            });
        }
        let span = Span::new(begin, begin.plus(8 * SECOND));
        let tally = EndpointTally {
            offered: u64::from(REQUESTS),
            unsent: 0,
        };
        facts.push(RepeatFacts {
            endpoints: vec![tally],
            pass: Some(passes[pass].to_owned()),
            ..RepeatFacts::new(window, span, span)
        });
    }
    RunRecord {
        manifest: Manifest {
            format: MANIFEST_FORMAT,
            id: "01".to_owned(),
            version: "0".to_owned(),
            began: "2026-01-01T00:00:00Z".to_owned(),
            plan: Plan {
                scenario: scenario(passes),
                seed: 1,
                release: None,
            },
            scenario_text: None,
            host: HostFacts::default(),
            git: None,
            target: TargetFacts::default(),
            repeats: facts,
            interrupted: false,
            trouble: String::new(),
            imported: None,
            recovered: false,
        },
        samples: samples.into(),
        keys: (0..keys).map(|key| key.to_string()).collect(),
        timeline: Timeline::default(),
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    }
}

const BOTH: [&str; 2] = ["cold", "warm"];

fn status(diagnosis: &Diagnosis) -> Status {
    let check = diagnosis.validity.iter().find(|c| c.check == "cold-pass");
    check.expect("it was checked").status
}

#[test]
fn a_reset_that_works_is_proved_and_passes_are_not_mixed() {
    let record = record(&BOTH, 3, 100, emptied);
    let diagnosis = judge(&record);
    let [cold, warm] = diagnosis.passes.as_slice() else {
        panic!("two passes: {:?}", diagnosis.passes)
    };
    assert_eq!((cold.cold, warm.cold), (Some(true), None));
    assert_eq!(cold.reset, ["POST /clear"]);
    assert!(warm.reset.is_empty() && warm.proof.is_none());
    let proof = cold.proof.as_ref().unwrap();
    assert_eq!(proof.repeats, [Some(true); 3]);
    let first = &proof.endpoints[0];
    assert_eq!((first.keys, first.slower), (300, 300));
    assert!(
        first.ratio > Some(20.0) && first.later_ratio < Some(1.1),
        "{first:?}"
    );
    assert_eq!(status(&diagnosis), Status::Ok);

    assert_eq!(diagnosis.run.repeats, 3);
    let shown: Vec<_> = diagnosis
        .endpoints
        .iter()
        .map(|figures| (figures.label(), figures.offered, figures.rate_per_s))
        .collect();
    let label = |pass: &str| format!("/search ({pass})");
    assert_eq!(
        shown,
        [(label("cold"), 6_000, 250.0), (label("warm"), 6_000, 250.0)]
    );
    let slowest = |at: usize| diagnosis.endpoints[at].latency_ms.max.value.unwrap();
    assert!(slowest(0) > 30.0 && slowest(1) < 2.0);
    // The slow requests of the cold pass are compared with the fast ones of that pass.
    let tails: Vec<_> = diagnosis
        .unexplained
        .iter()
        .map(Unexplained::label)
        .collect();
    assert_eq!(tails, [label("cold")]);
}

#[test]
fn a_warm_run_published_as_cold_is_caught() {
    for server in [kept as Server, uncached] {
        let diagnosis = judge(&record(&BOTH, 2, 100, server));
        let cold = &diagnosis.passes[0];
        assert_eq!(cold.cold, Some(false), "{cold:?}");
        assert_eq!(status(&diagnosis), Status::Warn);
        let text = &cold.proof.as_ref().unwrap().text;
        assert!(text.contains("was not cold in 2 of 2 repeats"), "{text}");
        assert!(
            text.contains("the reset (POST /clear) emptied nothing"),
            "{text}"
        );
    }
}

#[test]
fn a_reset_that_worked_once_is_not_enough() {
    let once: Server = |pass, _, before, n| {
        // Only what the first repeat of the process asks for is computed.
        scatter(n + 7919 * pass as u32)
            + if pass == 0 && before == 0 {
                30 * MS
            } else {
                MS
            }
    };
    let mut record = record(&BOTH, 2, 100, once);
    record.samples.change(|samples| {
        for sample in samples {
            if sample.repeat == 2 && sample.done.since(sample.scheduled) > 20 * MS {
                sample.done = sample.scheduled.plus(MS);
            }
        }
    });
    let cold = judge(&record).passes.remove(0);
    assert_eq!(cold.cold, Some(false));
    assert_eq!(cold.proof.unwrap().repeats, [Some(true), Some(false)]);
}

#[test]
fn few_keys_cannot_tell() {
    let diagnosis = judge(&record(&BOTH, 2, 4, emptied));
    assert_eq!(diagnosis.passes[0].cold, None);
    assert_eq!(status(&diagnosis), Status::Warn);
    let text = &diagnosis.passes[0].proof.as_ref().unwrap().text;
    assert!(text.contains("is not known"), "{text}");
}

#[test]
fn a_cold_pass_alone_is_held_against_its_own_later_requests() {
    let of = |server| judge(&record(&["cold"], 2, 100, server)).passes[0].cold;
    assert_eq!(of(emptied), Some(true));
    assert_eq!(of(kept), Some(false));
}

#[test]
fn a_run_without_passes_has_none() {
    let mut record = record(&["only"], 2, 100, kept);
    record.manifest.plan.scenario.load.passes.clear();
    let diagnosis = judge(&record);
    assert!(diagnosis.passes.is_empty());
    assert_eq!(diagnosis.endpoints.len(), 1);
    assert_eq!(diagnosis.endpoints[0].pass, None);
    assert_eq!(diagnosis.endpoints[0].label(), "/search");
}
