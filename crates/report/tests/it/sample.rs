//! A synthetic run, seeded: two endpoints, two repeats, a stall every half second, some errors.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, GitFacts, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{NONE, Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{Endpoint, Escape, Scenario, Template};
use slowpath_core::signal::{self, Signal};
use slowpath_core::timeline::{Gap, Point, Series, Subject, Timeline};
use slowpath_diagnose::diagnosis::{
    Blind, Check, Cleared, Culprit, Diagnosis, EndpointFigures, ErrorCount, Evidence, Finding,
    GapNote, Grade, Instrument, Mode, Part, Percentile, Percentiles, Place, Prediction, RunSummary,
    SCHEMA, Settling, Source, Status, Unexplained,
};
use slowpath_experiment::{
    Arm, BlockMeasurement, Design, Experiment, FORMAT, Hypothesis, Intervention, judge,
};

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
        samples,
        keys: Vec::new(),
        timeline: timeline(),
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
        scheduled,
        ready: scheduled,
        connect_begin: None,
        connected: None,
        sent: Some(scheduled.plus(20_000)),
        first_byte: Some(done.minus(10_000)),
        gap_begin: None,
        gap_ns: 0,
        done,
        received_bytes: 2_048,
        idle_before_ns: 1_000_000,
        sent_bytes: 120,
        serial,
        connection: serial % 64,
        index_on_connection: serial / 64,
        in_flight: 2,
        key: NONE,
        user: NONE,
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
        repeat,
        window: window(repeat),
        load: window(repeat),
        endpoints: vec![
            EndpointTally {
                offered: 6_000,
                unsent: 0
            };
            2
        ],
        connections_opened: 64,
        connections_stale: 0,
        spool_waits: 0,
        target_pids: vec![4_711],
        cut_short: String::new(),
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
            visible: true,
            executable: "/srv/shop/shop".into(),
            hidden_because: String::new(),
            cgroup: "/sys/fs/cgroup/shop".into(),
        },
        repeats: (0..REPEATS).map(repeat).collect(),
        interrupted: false,
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

fn percentile(value: f64, low: f64, high: f64) -> Percentile {
    let (value, low, high) = (Some(value), Some(low), Some(high));
    Percentile {
        value,
        low,
        high,
        n: Some(12_000),
        n_eff: Some(912.4),
        reason: None,
    }
}

fn refused(reason: &str) -> Percentile {
    Percentile {
        reason: Some(reason.into()),
        n: Some(12_000),
        ..Percentile::default()
    }
}

fn percentiles(scale: f64, tail_ms: f64) -> Percentiles {
    let near = |ms: f64| percentile(ms * scale, ms * scale * 0.97, ms * scale * 1.04);
    Percentiles {
        p50: near(3.1),
        p90: near(6.2),
        p95: near(8.0),
        p98: percentile(tail_ms * 0.9, tail_ms * 0.7, tail_ms),
        p99: percentile(tail_ms, tail_ms * 0.923, tail_ms * 1.09),
        p99_9: refused("needs 3688 effective samples, have 912"),
        max: Percentile {
            value: Some(tail_ms * 1.2),
            ..Percentile::default()
        },
    }
}

fn endpoint(name: &str, scale: f64, tail_ms: f64) -> EndpointFigures {
    EndpointFigures {
        name: name.into(),
        requests: 12_000,
        rate_per_s: 412.2 * scale,
        offered: 12_010,
        completed: 11_977,
        unfinished: 10,
        unsent: 0,
        errors: Vec::new(),
        latency_ms: percentiles(scale, tail_ms),
        service_ms: percentiles(scale * 0.99, tail_ms * 0.99),
        modes: vec![Mode {
            at_ms: 3.1 * scale,
            weight: 1.0,
        }],
        run_spread: Some(0.09),
        settling: Some(Settling::NoRamp),
    }
}

/// What the record is judged to be.
pub(crate) fn diagnosis(other: &str) -> Diagnosis {
    let mut search = endpoint("search", 1.0, 1420.0);
    search.errors = vec![
        ErrorCount {
            class: "reset".into(),
            phase: "first-byte".into(),
            errno: Some("ECONNRESET".into()),
            status: None,
            count: 20,
        },
        ErrorCount {
            class: "status".into(),
            phase: "check".into(),
            errno: None,
            status: Some(503),
            count: 3,
        },
    ];
    search.modes = vec![
        Mode {
            at_ms: 3.02,
            weight: 0.979,
        },
        Mode {
            at_ms: 1400.0,
            weight: 0.021,
        },
    ];
    Diagnosis {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        run: summary(),
        validity: vec![
            check(
                "client-saturation",
                Status::Ok,
                "send lag p99 31 µs is 0.3 % of the p99",
            ),
            check(
                "clock-jump",
                Status::Warn,
                "the clock was stepped by 2.1 ms at 7.3 s",
            ),
        ],
        endpoints: vec![search, endpoint(other, 0.13, 1.9)],
        findings: findings(),
        cleared: cleared(),
        blind: vec![Blind {
            cause: "cold-page-cache".into(),
            missing: "time that tasks waited for reads of pages".into(),
            remedy: "sysctl kernel.task_delayacct=1".into(),
        }],
        unexplained: vec![Unexplained {
            endpoint: "search".into(),
            share: 0.05,
            excess_s: 214.2,
            slow: 252,
            of: 12_000,
            fast_ms: 3.1,
            split: vec![Part {
                why: "no cause overlaps".into(),
                share: 0.05,
            }],
        }],
        gaps: vec![GapNote {
            signal: "cgroup.cpu.throttled_ns".into(),
            reason: "the target's cgroup has no quota".into(),
            remedy: String::new(),
        }],
    }
}

fn summary() -> RunSummary {
    RunSummary {
        id: "01JD0000000000000000000000".into(),
        name: "shop".into(),
        release: Some("2.4.1".into()),
        repeats: 2,
        valid: true,
        interrupted: false,
        began: "2025-03-01T12:00:00Z".into(),
        load: "open loop, 500/s poisson, at most 64 connections, 15 s after 2 s of warm-up".into(),
        target: "http://127.0.0.1:8080".into(),
        host: host(),
        instrument: Instrument {
            cpu_s_per_million: Some(6.5),
            loop_busy: Some(0.04),
            send_lag_p99_ms: Some(0.031),
            connections_opened: 128,
            connections_stale: 0,
            spool_waits: 0,
        },
    }
}

fn check(name: &str, status: Status, detail: &str) -> Check {
    Check {
        check: name.into(),
        status,
        value: Some(0.003),
        detail: detail.into(),
    }
}

fn cleared() -> Vec<Cleared> {
    let one = |(cause, text): (&str, &str)| Cleared {
        cause: cause.into(),
        text: text.into(),
    };
    [
        ("client-saturation", "0.3 % of the excess"),
        ("cpu-quota-throttling", "no period was throttled"),
        ("cpu-saturation", "the target used 0.8 of 2 CPUs"),
        (
            "accept-queue-overflow",
            "the listener dropped no connection",
        ),
        (
            "fixed-delay",
            "latency is spread over more than a timer would",
        ),
    ]
    .map(one)
    .to_vec()
}

fn findings() -> Vec<Finding> {
    let evidence = |source, pointer: &str, text: &str| Evidence {
        source,
        pointer: pointer.into(),
        text: text.into(),
    };
    let lock = Finding {
        cause: "lock-held-over-io".into(),
        endpoint: Some("search".into()),
        place: Place::Tail,
        share: 0.88,
        share_low: 0.81,
        share_high: 0.93,
        grade: Grade::Supported,
        summary: "thread otel-export holds a mutex while in connect/recv, every 2 s (R 0.98, 15 \
                  episodes)"
            .into(),
        evidence: vec![
            evidence(
                Source::Proc,
                "process.threads.wait",
                "14 of 16 threads wait in futex_wait",
            ),
            evidence(
                Source::Client,
                "done_ns",
                "83 % of the slow requests end within 0.5 ms",
            ),
        ],
        culprit: Culprit {
            thread: Some("otel-export".into()),
            stack: vec!["recv".into(), "export_batch".into()],
            constant_ms: None,
            period_ms: Some(2000.0),
        },
        prediction: Some(Prediction {
            metric: "search.p99".into(),
            low_ms: 96.0,
            high_ms: 118.0,
        }),
        next: "slowpath prove 01JD  turns toggle telemetry_off on and off in 6+6 blocks".into(),
        episodes_s: (0..17)
            .map(|at| [f64::from(at) * 2.0, f64::from(at) * 2.0 + 1.4])
            .collect(),
    };
    let queue = Finding {
        cause: "run-queue-delay".into(),
        share: 0.07,
        share_low: 0.03,
        share_high: 0.11,
        grade: Grade::Suspected,
        summary: "threads of the target waited 12 ms for a CPU in slow requests".into(),
        evidence: vec![evidence(
            Source::Proc,
            "thread.run_delay_ns",
            "run delay rose 4 times",
        )],
        culprit: Culprit::default(),
        prediction: None,
        next: String::new(),
        episodes_s: vec![[4.1, 4.3], [9.0, 9.2]],
        ..lock.clone()
    };
    vec![lock, queue]
}

/// The stalls of both windows, as the record has them.
fn episodes() -> Vec<[f64; 2]> {
    let begins = (0..17)
        .map(|at| f64::from(at) * 2.0)
        .filter(|at| !(14.5..18.0).contains(at));
    begins.map(|begin| [begin, begin + 1.4]).collect()
}

/// A run in which nothing is slow.
pub(crate) fn healthy() -> Diagnosis {
    let mut diagnosis = diagnosis("static");
    diagnosis.endpoints.remove(0);
    diagnosis.findings.clear();
    diagnosis.unexplained.clear();
    diagnosis.validity.truncate(1);
    diagnosis.blind.clear();
    diagnosis
}

/// A run that the tool could not keep up with, interrupted by the user.
pub(crate) fn invalid() -> Diagnosis {
    let mut diagnosis = diagnosis("static");
    let detail = "the load loop was busy for 97 % of the time, and requests left 41 ms late (p99)";
    diagnosis.validity[0] = check("client-saturation", Status::Invalid, detail);
    diagnosis.run.valid = false;
    diagnosis.run.interrupted = true;
    let first = &mut diagnosis.findings[0];
    first.cause = "client-saturation".into();
    first.endpoint = None;
    first.next = "lower the rate to 40,000/s, or send from two machines".into();
    first.prediction = None;
    diagnosis
}

/// An experiment on `search`, confirmed.
pub(crate) fn experiment() -> Experiment {
    let hypothesis = Hypothesis {
        statement: "With immediate acknowledgements by the client, Nagle's algorithm on the \
                    server has nothing to wait for, and search answers in 0.3 to 1.2 ms."
            .into(),
        intervention: Intervention::ClientQuickAck,
        metric: "search.p50".into(),
        baseline_ms: 40.9,
        low_ms: 0.3,
        high_ms: 1.2,
        slow_above_ms: 20.0,
        written_at: "2025-03-01T12:01:00Z".into(),
    };
    let design = Design::new(9, 6, SECOND);
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let block = |(block, &arm): (usize, &Arm)| {
        let noise = 0.95 + 0.1 * unit(&mut random);
        let (ms, slow_share) = match arm {
            Arm::Without => (40.9, 0.98),
            Arm::With => (0.6, 0.001),
        };
        BlockMeasurement {
            block,
            arm,
            n: 400,
            metric_ms: ms * noise,
            slow_share,
            errors: 0,
        }
    };
    let blocks: Vec<BlockMeasurement> = design.blocks.iter().enumerate().map(block).collect();
    let outcome = Some(judge(&design, &blocks, &hypothesis));
    let (run, cause) = ("01JD".into(), "delayed-ack".into());
    Experiment {
        format: FORMAT,
        run,
        cause,
        hypothesis,
        design,
        outcome,
    }
}

/// A finding that the experiment is about.
pub(crate) fn delayed_ack() -> Diagnosis {
    let mut diagnosis = diagnosis("static");
    diagnosis.findings.truncate(1);
    let finding = &mut diagnosis.findings[0];
    finding.cause = "delayed-ack".into();
    finding.grade = Grade::Confirmed;
    finding.summary = "the server writes twice and waits 40 ms for the acknowledgement".into();
    finding.culprit = Culprit {
        constant_ms: Some(40.0),
        ..Culprit::default()
    };
    finding.next = "set TCP_NODELAY on the server, or write the response at once".into();
    diagnosis
}
