//! What the synthetic run is judged to be, and an experiment on it.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_diagnose::diagnosis::ShapeFigures;
use slowpath_diagnose::diagnosis::{
    Blind, Check, Cleared, Connections, Culprit, Diagnosis, DialFailure, EndpointFigures,
    ErrorCount, ErrorExample, Evidence, Finding, GapNote, Grade, Headline, IdleBin, IdleGaps,
    Instrument, LogNote, Mode, Part, Percentile, Percentiles, Place, Prediction, Quantiles,
    RunSummary, SCHEMA, Settling, Source, Standing, Status, StreamFigures, Unexplained,
};
use slowpath_experiment::{
    Arm, BlockMeasurement, Design, Experiment, FORMAT, Hypothesis, Intervention, judge,
};

use super::{SECOND, host, unit};

fn percentile(value: f64, low: f64, high: f64) -> Percentile {
    let (value, low, high) = (Some(value), Some(low), Some(high));
    Percentile {
        value,
        low,
        high,
        n: Some(12_000),
        n_eff: Some(912.4),
        ..Percentile::default()
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
        pass: None,
        requests: 12_000,
        rate_per_s: 412.2 * scale,
        offered: 12_010,
        completed: 12_005,
        served: 0.999_584,
        unfinished: 5,
        unsent: 0,
        errors: Vec::new(),
        latency_ms: percentiles(scale, tail_ms),
        service_ms: percentiles(scale * 0.99, tail_ms * 0.99),
        stream: None,
        spans: None,
        server_timing: None,
        pauses: None,
        modes: vec![mode(3.1 * scale, 1.0, [1.0, 1.0], 1.0)],
        run_spread: Some(0.09),
        spread_blame: None,
        by_repeat: Vec::new(),
        over_repeats: Vec::new(),
        shape: ShapeFigures::default(),
        settling: Some(Settling::None),
    }
}

fn mode(at_ms: f64, weight: f64, [low, high]: [f64; 2], deff: f64) -> Mode {
    Mode {
        at_ms,
        weight,
        share_low: Some(low),
        share_high: Some(high),
        deff: Some(deff),
        is_satellite: weight < 0.05,
    }
}

fn stream() -> StreamFigures {
    StreamFigures {
        offered: Some(36_000),
        delivered: 35_990,
        short_streams: 4,
        first_event_ms: percentiles(0.3, 8.0),
        gap_ms: percentiles(0.5, 1500.0),
    }
}

/// What the record is judged to be.
pub(crate) fn diagnosis(other: &str) -> Diagnosis {
    let mut search = endpoint("search", 1.0, 1420.0);
    (search.completed, search.served, search.unfinished) = (11_977, 0.997_252, 10);
    search.errors = failures();
    search.modes = vec![
        mode(3.02, 0.979, [0.971, 0.985], 14.2),
        mode(1400.0, 0.021, [0.015, 0.029], 14.2),
    ];
    let mut second = endpoint(other, 0.13, 1.9);
    second.stream = Some(stream());
    Diagnosis {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        headline: Headline {
            standing: Standing::Named,
            sentence: "search is slow because of lock-held-over-io: 88 % of the excess of its slow requests".into(),
        },
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
        endpoints: vec![search, second],
        passes: Vec::new(),
        users: Vec::new(),
        connections: connections(),
        logs_unseen: None,
        attribution: Vec::new(),
        findings: findings(),
        cleared: cleared(),
        blind: vec![Blind {
            cause: "cold-page-cache".into(),
            missing: "time that tasks waited for reads of pages".into(),
            remedy: "sysctl kernel.task_delayacct=1".into(),
        }],
        unexplained: vec![Unexplained {
            place: Place::Tail,
            endpoint: "search".into(),
            pass: None,
            share: 0.05,
            excess_s: 214.2,
            slow: 252,
            of: 12_000,
            fast_ms: 3.1,
            material: false,
            split: vec![Part {
                why: "no cause overlaps".into(),
                share: 0.05,
            }],
        }],
        trace: None,
        profile: None,
        gaps: vec![GapNote {
            signal: "cgroup.cpu.throttled_ns".into(),
            reason: "the target's cgroup has no quota".into(),
            remedy: String::new(),
        }],
        gates: Vec::new(),
    }
}

fn quantiles(middle: f64, n: u64) -> Quantiles {
    Quantiles {
        n,
        min: middle * 0.8,
        p10: middle * 0.9,
        p50: middle,
        p90: middle * 1.1,
        p99: middle * 1.2,
        max: middle * 1.3,
    }
}

fn failures() -> Vec<ErrorCount> {
    vec![
        ErrorCount {
            class: "reset".into(),
            phase: "first-byte".into(),
            errno: Some("ECONNRESET".into()),
            status: None,
            count: 20,
            ..reset_told()
        },
        ErrorCount {
            class: "status".into(),
            phase: "check".into(),
            errno: None,
            status: Some(503),
            count: 3,
            summary: "less than 0.1 % of the requests: the server answered with status 503".into(),
            ..ErrorCount::default()
        },
    ]
}

/// What is reported of the resets beside their number.
fn reset_told() -> ErrorCount {
    let log = LogNote {
        after_ms: -3.2,
        source: "target".into(),
        stream: "err".into(),
        text: "keep-alive <expired> on 127.0.0.1:41022".into(),
    };
    let example = ErrorExample {
        serial: 4711,
        trace_id: "000000000000000d8000000000001267".into(),
        at_s: 7.25,
        latency_ms: 0.4,
        local_port: Some(41_022),
        connection: Some(17),
        connection_age_ms: Some(5_100.0),
        idle_before_ms: Some(4_998.0),
        index_on_connection: Some(12),
        sent_bytes: 120,
        log: vec![log],
        log_omitted: 2,
        ..ErrorExample::default()
    };
    let bin = |from_ms, to_ms, failed, completed| IdleBin {
        from_ms,
        to_ms,
        failed,
        completed,
    };
    ErrorCount {
        summary: "0.2 % of the requests: the server reset the connection before the first byte of \
                  the response, 0.3 ms after the request was sent"
            .into(),
        offered_share: 0.001_665,
        per_s: 1.3,
        peak_per_s: 4,
        first_s: 0.31,
        last_s: 14.2,
        by_repeat: vec![11, 9],
        latency_ms: Some(quantiles(0.4, 20)),
        connection_age_ms: Some(quantiles(5_100.0, 20)),
        idle_before_ms: Some(quantiles(4_998.0, 20)),
        index_on_connection: Some(quantiles(12.0, 20)),
        idle_gaps: Some(IdleGaps {
            low_ms: 4_990.0,
            high_ms: 5_010.0,
            failed: 20,
            shorter_completed: 1_000,
            longer_completed: 3,
            p_value: 1e-9,
            bins: vec![bin(0.0, 4_990.0, 0, 1_000), bin(4_990.0, 5_010.0, 20, 3)],
        }),
        examples: vec![example],
        ..ErrorCount::default()
    }
}

fn connections() -> Connections {
    Connections {
        opened: 5_128,
        stale: 3,
        never_worked: 17,
        dials: 5_000,
        dial_failures: vec![DialFailure {
            class: "refused".into(),
            phase: "connect".into(),
            errno: Some("ECONNREFUSED".into()),
            count: 41,
        }],
        per_1000_requests: 416.7,
        peak_dials_per_s: 900,
        limit: 64,
        requests_per_connection: Some(quantiles(3.0, 5_128)),
        first_request_ms: Some(quantiles(40.0, 5_128)),
        later_ms: Some(quantiles(3.1, 7_000)),
        connect_ms: Some(quantiles(0.2, 5_000)),
        notable: vec!["reconnect storm: 5,000 dials for at most 64 connections at once".into()],
        ..Connections::default()
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
            stream_events_dropped: 4200,
            cpu_s_per_million: Some(6.5),
            loop_busy: Some(0.04),
            loop_cpu_s_per_million: Some(5.2),
            send_lag_p50_ms: Some(0.012),
            send_lag_p99_ms: Some(0.031),
            send_lag_max_ms: Some(0.42),
            send_gap_cv: Some(1.02),
            connections_opened: 128,
            connections_stale: 0,
            spool_waits: 0,
        },
        health: None,
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
        or: Vec::new(),
        cause: "lock-held-over-io".into(),
        endpoint: Some("search".into()),
        pass: None,
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
        episodes_s: episodes(),
    };
    let queue = Finding {
        or: Vec::new(),
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

/// The same, traced; the thread that holds the lock has the name given.
pub(crate) fn inside(holder: &str) -> Diagnosis {
    let mut diagnosis = diagnosis("static");
    diagnosis.trace = Some(super::traced::traced(holder));
    diagnosis
}

/// A run in which nothing is slow.
pub(crate) fn healthy() -> Diagnosis {
    let mut diagnosis = diagnosis("static");
    diagnosis.endpoints.remove(0);
    diagnosis.connections = Connections::default();
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
        remains: 0.0,
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
        endpoint: Some("search".into()),
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
