//! A synthetic run, seeded: two endpoints, two repeats, a stall every half second, some errors.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, GitFacts, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{Endpoint, Escape, Scenario, Template};
use slowpath_core::signal::{self, Signal};
use slowpath_core::timeline::{Gap, Point, Series, Subject, Timeline};

#[path = "sample/judged.rs"]
mod judged;
#[path = "sample/traced.rs"]
mod traced;

pub(crate) use judged::{delayed_ack, diagnosis, experiment, healthy, inside, invalid};

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_000 * SECOND;
const WINDOW: u64 = 15 * SECOND;
const PAUSE: u64 = 3 * SECOND;
const REPEATS: u16 = 2;

/// A name that would run in a browser that does not escape it.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>";

fn window(repeat: u16) -> Span {
    let begin = START + u64::from(repeat) * (WINDOW + PAUSE);
    Span::new(Nanos::new(begin), Nanos::new(begin + WINDOW))
}

fn unit(random: &mut ChaCha8Rng) -> f64 {
    random.next_u64() as f64 / u64::MAX as f64
}

/// The record: 400 requests a second of `search` and 100 of a second endpoint named `other`.
pub(crate) fn record(other: &str) -> RunRecord {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut samples = Vec::new();
    for repeat in 0..REPEATS {
        let window = window(repeat);
        let mut at = window.begin.get();
        let mut serial = 0;
        while at < window.end.get() {
            samples.push(sample(&mut random, repeat, serial, Nanos::new(at)));
            serial += 1;
            at += (2e6 * -(1.0 - unit(&mut random)).max(1e-9).ln()) as u64 + 1;
        }
    }
    RunRecord {
        manifest: manifest(other),
        samples: samples.into(),
        keys: Vec::new(),
        timeline: timeline(),
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    }
}

fn sample(random: &mut ChaCha8Rng, repeat: u16, serial: u32, scheduled: Nanos) -> Sample {
    let endpoint = u16::from(unit(random) < 0.2);
    let base_ms = if endpoint == 0 { 3.1 } else { 0.4 };
    // The product of uniforms has the long shoulder that services have.
    let mut ms = base_ms * (0.7 + 0.6 * unit(random)) / (0.35 + 0.65 * unit(random));
    let into_s = (scheduled.get() - START) as f64 / 1e9;
    // Every two seconds of search, what arrives within 50 ms waits for a lock.
    let phase = into_s % 2.0;
    if endpoint == 0 && phase < 0.05 {
        ms += (1400.0 - phase * 1000.0) * (0.9 + 0.2 * unit(random));
    }
    let fails = unit(random) < 0.002;
    let outcome = if fails && endpoint == 0 {
        Outcome::Reset
    } else {
        Outcome::Ok
    };
    let done = scheduled.plus((ms * 1e6) as u64);
    Sample {
        sent: Some(scheduled.plus(20_000)),
        first_byte: Some(done.minus(10_000)),
        done,
        received_bytes: 2_048,
        idle_before_ns: 1_000_000,
        sent_bytes: 120,
        serial,
        connection: serial % 64,
        index_on_connection: serial / 64,
        in_flight: 2,
        repeat,
        endpoint,
        local_port: 40_000,
        status: if outcome == Outcome::Ok { 200 } else { 0 },
        errno: if outcome == Outcome::Ok { 0 } else { 104 },
        stage: Stage::Measured,
        outcome,
        phase: if outcome == Outcome::Ok {
            Phase::Check
        } else {
            Phase::FirstByte
        },
        ..Sample::due(scheduled)
    }
}

fn manifest(other: &str) -> Manifest {
    let mut scenario = Scenario::from_url("http://127.0.0.1:8080/search").expect("it is a URL");
    scenario.name = "shop".into();
    scenario.endpoints = vec![
        Endpoint::get("search".into(), Template::literal("/search", Escape::Url)),
        Endpoint::get(other.into(), Template::literal("/other", Escape::Url)),
    ];
    let repeat = |repeat| RepeatFacts {
        endpoints: vec![
            EndpointTally {
                offered: 6_000,
                unsent: 0
            };
            2
        ],
        connections_opened: 64,
        target_pids: vec![4_711],
        ..RepeatFacts::new(repeat, window(repeat), window(repeat))
    };
    Manifest {
        format: MANIFEST_FORMAT,
        id: "01JD0000000000000000000000".into(),
        version: "0.1.0".into(),
        began: "2025-03-01T12:00:00Z".into(),
        plan: Plan {
            scenario,
            seed: 42,
            release: Some("2.4.1".into()),
        },
        scenario_text: Some("name = \"shop\"\n[target]\nurl = \"http://127.0.0.1:8080\"\n".into()),
        host: host(),
        git: Some(GitFacts {
            commit: "d03aeeb".repeat(5),
            branch: "main".into(),
            dirty: true,
        }),
        target: TargetFacts {
            url: "http://127.0.0.1:8080".into(),
            command: Some(vec!["./shop".into(), "--port".into(), "8080".into()]),
            environment: vec![("RUST_LOG".into(), "warn".into())],
            pid: None,
            visible: true,
            executable: "/srv/shop/shop".into(),
            hidden_because: String::new(),
            cgroup: "/sys/fs/cgroup/shop".into(),
        },
        repeats: (0..REPEATS).map(repeat).collect(),
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

fn host() -> HostFacts {
    HostFacts {
        hostname: "bench-1".into(),
        kernel: "6.18.0".into(),
        cpu_model: "AMD EPYC 9B14".into(),
        cpus: 2,
        memory_bytes: 8 << 30,
        clocksource: "tsc".into(),
        syn_linear_timeouts: Some(4),
        root: false,
    }
}

/// Ten readings a second of what the pictures need; the quota cannot be read.
fn timeline() -> Timeline {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let process = Subject::Process { pid: 4_711 };
    let series = vec![
        counter(&mut random, &signal::PROCESS_CPU_USER, &process, 0.62),
        counter(&mut random, &signal::PROCESS_CPU_SYSTEM, &process, 0.21),
        counter(&mut random, &signal::TOOL_CPU_USER, &Subject::Tool, 0.05),
        counter(&mut random, &signal::TOOL_CPU_SYSTEM, &Subject::Tool, 0.04),
    ];
    let gap = Gap {
        signal: signal::CGROUP_THROTTLED.id.into(),
        reason: "the target's cgroup has no quota".into(),
        remedy: String::new(),
    };
    let mut timeline = Timeline {
        series,
        gaps: vec![gap],
        marks: Vec::new(),
    };
    timeline.sort();
    timeline
}

fn counter(random: &mut ChaCha8Rng, signal: &Signal, subject: &Subject, cpus: f64) -> Series {
    let mut value = 0.0;
    let mut points = Vec::new();
    for tick in 0..(2 * WINDOW + PAUSE) / 100_000_000 {
        let at = Nanos::new(START + tick * 100_000_000);
        points.push(Point {
            window: Span::new(at, at),
            value,
        });
        let stalled = (tick % 20) < 12;
        let share = if stalled { 0.5 } else { 1.3 };
        value += 1e8 * cpus * share * (0.85 + 0.3 * unit(random));
    }
    Series {
        signal: signal.id.into(),
        subject: subject.clone(),
        label: String::new(),
        points,
    }
}
