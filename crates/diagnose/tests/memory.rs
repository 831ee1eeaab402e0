//! What judging holds in memory for each request: a run of ten million is judged within 1 GiB.
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

use std::sync::Arc;

use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::samples::Samples;
use slowpath_core::scenario::{LoadDraft, Scenario};
use slowpath_core::timeline::Timeline;
use slowpath_diagnose::case::Case;
use slowpath_diagnose::judge;
use slowpath_diagnose::ledger::{Blanks, Claimant, Trust, settle};
use slowpath_diagnose::verdict::Claim;

const US: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
const REQUESTS: u32 = 100_000;
/// Between two requests.
const GAP_NS: u64 = 100 * US;

/// Bytes of a request in a record: of 10 million 600 MB, which leaves 470 MB for judging.
const RECORD_BYTES: f64 = 60.0;
/// Bytes for each request that judging adds at its peak, where nothing is found. The latencies
/// that are sorted take 8, and the positions of requests 4 for each set that they are in.
const JUDGING_BYTES: u64 = 50;
/// How long the server takes for the request number `n`.
type Server = fn(n: u32) -> u64;

/// Some scatter that is the same in every run.
fn scatter(n: u32) -> u64 {
    u64::from(n.wrapping_mul(2_654_435_761) >> 12) % (200 * US)
}

fn quick(n: u32) -> u64 {
    300 * US + scatter(n) + u64::from(n.is_multiple_of(50)) * 5_000 * US
}

fn sleeping(n: u32) -> u64 {
    20_000 * US + scatter(n)
}

fn request(n: u32, server: Server) -> Sample {
    let scheduled = Nanos::new(10 * SECOND + u64::from(n) * GAP_NS);
    let sent = scheduled.plus(4 * US + scatter(n + 1) / 100);
    let first_byte = sent.plus(server(n));
    Sample {
        ready: scheduled,
        connection_since: Some(Nanos::new(9 * SECOND)),
        sent: Some(sent),
        first_byte: Some(first_byte),
        done: first_byte.plus(2 * US),
        serial: n,
        connection: n % 256,
        index_on_connection: n / 256,
        idle_before_ns: GAP_NS * 256 - server(n),
        in_flight: n % 64,
        sent_bytes: 90,
        received_bytes: 1_000 + scatter(n) % 500,
        status: 200,
        stage: Stage::Measured,
        outcome: Outcome::Ok,
        phase: Phase::Check,
        ..Sample::due(scheduled)
    }
}

fn record(server: Server) -> RunRecord {
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
    let length_ns = u64::from(REQUESTS) * GAP_NS;
    scenario.load = LoadDraft {
        rate_per_s: Some(SECOND as f64 / GAP_NS as f64),
        duration_ns: Some(length_ns),
        ..LoadDraft::default()
    }
    .resolve()
    .unwrap();
    let begin = Nanos::new(10 * SECOND);
    let window = Span::new(begin, begin.plus(length_ns));
    let tally = EndpointTally {
        offered: REQUESTS.into(),
        ..EndpointTally::default()
    };
    let facts = RepeatFacts {
        endpoints: vec![tally],
        fastest_dial_ns: Some(40 * US),
        ..RepeatFacts::new(0, window, window)
    };
    RunRecord {
        manifest: Manifest {
            format: MANIFEST_FORMAT,
            id: "01JD0000000000000000000000".to_owned(),
            version: String::new(),
            began: String::new(),
            plan: Plan {
                scenario,
                seed: 7,
                release: None,
            },
            scenario_text: None,
            host: HostFacts::default(),
            git: None,
            target: TargetFacts::default(),
            repeats: vec![facts],
            interrupted: false,
            trouble: String::new(),
            imported: None,
            recovered: false,
        },
        samples: (0..REQUESTS).map(|n| request(n, server)).collect(),
        keys: Vec::new(),
        timeline: Timeline::default(),
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    }
}

fn bytes_each(samples: &Samples) -> f64 {
    samples.heap_bytes() as f64 / samples.len() as f64
}

/// Bytes that judging holds at its peak, for each request; and the causes that it named.
fn judging(record: &RunRecord) -> (u64, Vec<String>) {
    let mut causes = Vec::new();
    let allocated = allocation_counter::measure(|| {
        let diagnosis = judge(record);
        causes = diagnosis.findings.into_iter().map(|f| f.cause).collect();
    });
    (allocated.bytes_max / u64::from(REQUESTS), causes)
}

#[test]
fn judging_holds_little_of_each_request() {
    let record = record(quick);
    let each = bytes_each(&record.samples);
    assert!(each < RECORD_BYTES, "{each} bytes of a record");
    let (bytes, causes) = judging(&record);
    assert!(causes.is_empty(), "{causes:?}");
    assert!(bytes < JUDGING_BYTES, "{bytes} bytes to judge a request");
}

#[test]
fn claims_are_settled_where_they_are() {
    let record = record(sleeping);
    let case = Case::new(&record);
    let frame = case.endpoints[0].floor.as_ref().unwrap();
    let claim = |&sample: &u32| Claim {
        sample,
        span: case.sample(sample).span(),
    };
    let claims: Vec<Claim> = frame.requests.iter().map(claim).collect();
    assert!(claims.len() as u32 > REQUESTS / 3, "{}", claims.len());
    let mut share = 0.0;
    let allocated = allocation_counter::measure(|| {
        let ledger = settle(
            &record,
            frame,
            &[Claimant {
                claims: &claims,
                traced: false,
                rank: (Trust::Supported, 0),
            }],
            Blanks::default(),
            7,
        );
        share = ledger.settled[0].unwrap().share.share;
    });
    assert!(share > 0.9, "{share}");
    // What is held does not grow with the requests: less than a bit for each.
    let bytes = allocated.bytes_max;
    assert!(bytes < u64::from(REQUESTS) / 8, "{bytes} bytes to settle");
}
