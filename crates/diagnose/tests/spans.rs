//! Spans of requests are judged: what they cover, where the time of slow ones goes, what lies between.

#[path = "case/script.rs"]
#[expect(dead_code, reason = "the tests of tracing use the rest")]
mod script;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::{MILLISECOND, Nanos, SECOND, Span};
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::Scenario;
use slowpath_core::server_timing::{ServerTimings, TimingFacts, TimingValue};
use slowpath_core::spans::{AppSpan, AppSpans, SpanKind};
use slowpath_core::timeline::Timeline;
use slowpath_core::trace::{Call, Depth, Role, Runtime, Stretch, Trace};
use slowpath_diagnose::diagnosis::{EndpointSpans, EndpointTimings};
use slowpath_diagnose::judge;

use script::{By, Script, Wait};

const REQUESTS: u32 = 1000;
const NAMES: [&str; 4] = ["GET /", "query", "render", "notify"];
const MS: u64 = MILLISECOND;
const CONNECTIONS: u32 = 16;

const fn port(serial: u32) -> u16 {
    40_000 + (serial % CONNECTIONS) as u16
}

/// A run of requests, one every 10 ms, each of which takes as long as `latency_ns` says.
fn record(latency_ns: impl Fn(u32) -> u64, spans: Vec<AppSpan>) -> RunRecord {
    let begin = Nanos::new(SECOND);
    let sample = |serial: u32| {
        let due = begin.plus(u64::from(serial) * 10 * MS);
        Sample {
            sent: Some(due),
            first_byte: Some(due),
            done: due.plus(latency_ns(serial)),
            serial,
            connection: serial % CONNECTIONS,
            local_port: port(serial),
            stage: Stage::Measured,
            status: 200,
            outcome: Outcome::Ok,
            phase: Phase::Check,
            ..Sample::due(due)
        }
    };
    let window = Span::new(begin, begin.plus(u64::from(REQUESTS) * 10 * MS));
    let tally = EndpointTally {
        offered: u64::from(REQUESTS),
        unsent: 0,
    };
    RunRecord {
        manifest: Manifest {
            format: MANIFEST_FORMAT,
            id: "01".to_owned(),
            version: "0".to_owned(),
            began: "2026-01-01T00:00:00Z".to_owned(),
            plan: Plan {
                scenario: Scenario::from_url("http://127.0.0.1:1/").expect("a URL"),
                seed: 1,
                release: None,
            },
            scenario_text: None,
            host: HostFacts::default(),
            git: None,
            target: TargetFacts::default(),
            repeats: vec![RepeatFacts {
                endpoints: vec![tally],
                ..RepeatFacts::new(0, window, window)
            }],
            interrupted: false,
            trouble: String::new(),
            imported: None,
            recovered: false,
        },
        samples: (0..REQUESTS).map(sample).collect(),
        keys: Vec::new(),
        timeline: Timeline::default(),
        trace: Arc::default(),
        timings: Arc::default(),
        profiles: Arc::default(),
        collections: Arc::default(),
        spans: Arc::new(AppSpans {
            names: NAMES.map(str::to_owned).to_vec(),
            services: vec!["shop".to_owned()],
            spans,
        }),
    }
}

/// A span of a request, from and to so many microseconds after it was sent.
fn span(serial: u32, (id, parent): (u64, u64), name: u32, from_us: i64, to_us: i64) -> AppSpan {
    let sent_us = (SECOND + u64::from(serial) * 10 * MS) / 1000;
    let at = |us: i64| Nanos::new(sent_us.saturating_add_signed(us) * 1000);
    AppSpan {
        serial,
        repeat: 0,
        kind: SpanKind::Server,
        error: false,
        id: id + 1000 * u64::from(serial),
        parent: if parent == 0 {
            0
        } else {
            parent + 1000 * u64::from(serial)
        },
        name,
        service: 0,
        thread: 0,
        begin: at(from_us),
        end: at(to_us),
    }
}

fn told(record: &RunRecord) -> EndpointSpans {
    let judged = judge(record);
    judged.endpoints[0].spans.clone().expect("there are spans")
}

const fn is_slow(serial: u32) -> bool {
    serial % 10 == 3
}

/// Ten milliseconds between two spans of every tenth request.
fn gapped() -> Vec<AppSpan> {
    let spans = |serial: u32| {
        let late = if is_slow(serial) { 10_000 } else { 0 };
        [
            span(serial, (1, 0), 0, 100, 1900 + late),
            span(serial, (2, 1), 1, 200, 1000),
            span(serial, (3, 1), 2, 1100 + late, 1800 + late),
        ]
    };
    (0..REQUESTS).flat_map(spans).collect()
}

fn gapped_latency(serial: u32) -> u64 {
    if is_slow(serial) { 12 * MS } else { 2 * MS }
}

fn close(value: Option<f64>, to: f64) -> bool {
    value.is_some_and(|value| (value - to).abs() < 1e-6)
}

#[test]
fn a_gap_between_two_spans_explains_the_slow_requests() {
    let told = told(&record(gapped_latency, gapped()));
    assert_eq!(
        (told.requests, told.with_spans, told.slow, told.early),
        (1000, 1000, 100, 0)
    );
    // 1.8 of 2 ms, and 11.8 of 12.
    let covered = (900.0 * 1.8 + 100.0 * 11.8) / (900.0 * 2.0 + 100.0 * 12.0);
    assert!((told.coverage - covered).abs() < 1e-6, "{}", told.coverage);
    let gap = &told.gaps[0];
    assert_eq!(
        (&*gap.inside, &*gap.after, &*gap.before),
        ("GET /", "query", "render")
    );
    assert!(
        close(gap.fast_ms, 0.1) && close(gap.slow_ms, 10.1),
        "{gap:?}"
    );
    assert!(close(Some(gap.share), 1.0), "{gap:?}");
    let own = &told.own[0];
    assert_eq!((&*own.name, own.per_request), ("GET /", 1.0));
    assert!(
        close(own.fast_ms, 0.3) && close(own.slow_ms, 10.3),
        "{own:?}"
    );
    assert!(told.repeated.is_empty());
    // What is alike in all explains nothing.
    assert!(
        told.own.iter().all(|span| span.name != "query"),
        "{:?}",
        told.own
    );
}

/// A thread for each connection, which sleeps where a request has its gap.
fn traced() -> Trace {
    let mut script = Script::default();
    let over = Span::new(Nanos::new(1), Nanos::new(1_000 * SECOND));
    script.trace.stretches.push(Stretch {
        span: over,
        depth: Depth::Full,
        repeat: 0,
        lost: 0,
    });
    script.process(100, Role::Target, Runtime::Native);
    let stack = script.stack("hrtimer_nanosleep|nanosleep backoff serve");
    let tid = |serial: u32| 100 + serial % CONNECTIONS;
    for serial in 0..CONNECTIONS {
        script.thread(tid(serial), 100, "worker");
        script.starts(10, tid(serial));
    }
    let mut idle_since = [1_000; CONNECTIONS as usize];
    for serial in 0..REQUESTS {
        let (tid, socket) = (tid(serial), script.socket(8080, port(serial)));
        let sent = SECOND + u64::from(serial) * 10 * MS;
        let late = if is_slow(serial) { 10 * MS } else { 0 };
        let arrived = sent + MS / 50;
        let idle = &mut idle_since[(serial % CONNECTIONS) as usize];
        script.waits(Wait::new(
            tid,
            *idle,
            arrived + 100,
            Call::Read,
            By::Softirq,
        ));
        script.arrived(arrived, socket);
        script.read(arrived + 200, tid, socket);
        let gap = (sent + MS, sent + MS + MS / 10 + late);
        script.waits(Wait {
            stack,
            ..Wait::new(tid, gap.0, gap.1, Call::Sleep, By::Hardirq)
        });
        let wrote = sent + 19 * MS / 10 + late;
        script.wrote(wrote, tid, socket);
        *idle = wrote + 100;
    }
    script.done()
}

#[test]
fn what_threads_did_in_a_gap_is_told() {
    let mut record = record(gapped_latency, gapped());
    assert!(
        told(&record).gaps[0].states.is_empty(),
        "nothing was traced"
    );
    record.trace = Arc::new(traced());
    let told = told(&record);
    let state = &told.gaps[0].states[0];
    assert_eq!(state.what, "thread worker sleeps", "{:?}", told.gaps[0]);
    assert!(state.share > 0.99, "{state:?}");
    let functions = ["nanosleep", "backoff", "serve"];
    let are_told = state
        .stack
        .iter()
        .zip(functions)
        .all(|(told, f)| told.starts_with(f));
    assert!(
        are_told && state.stack.len() == functions.len(),
        "{state:?}"
    );
}

#[test]
fn requests_without_spans_are_counted_and_a_clock_that_is_off_is_told() {
    let early = |serial: u32| span(serial, (1, 0), 0, -3000, 1500);
    let spans = (0..REQUESTS)
        .filter(|serial| serial % 4 == 0)
        .map(early)
        .collect();
    let told = told(&record(|_| 2 * MS, spans));
    assert_eq!(
        (told.with_spans, told.early, told.early_ms),
        (250, 250, Some(3.0))
    );
    assert!(
        (told.coverage - 0.75).abs() < 1e-6,
        "what lies outside does not count"
    );
    let judged = judge(&record(|_| 2 * MS, Vec::new()));
    assert_eq!(judged.endpoints[0].spans, None);
}

#[test]
fn a_loop_of_questions_is_told() {
    let spans = |serial: u32| {
        let query = move |k: u64| {
            let from = 100 + 300 * k as i64;
            span(serial, (2 + k, 1), 1, from, from + 290)
        };
        (0..6).map(query).chain([span(serial, (1, 0), 0, 50, 1950)])
    };
    let mut spans: Vec<AppSpan> = (0..REQUESTS).flat_map(spans).collect();
    spans.sort_by_key(AppSpan::order);
    let told = told(&record(|_| 2 * MS, spans));
    let [loops] = &told.repeated[..] else {
        panic!("one loop: {:?}", told.repeated);
    };
    assert_eq!((&*loops.name, &*loops.inside), ("query", "GET /"));
    assert_eq!((loops.per_request, loops.requests), (6.0, 1000));
    assert!(close(Some(loops.share), 6.0 * 0.29 / 2.0), "{loops:?}");
    let queries = told
        .own
        .iter()
        .find(|own| own.name == "query")
        .expect("it is told");
    assert!(close(Some(queries.per_request), 6.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_target_says_no_time_is_made_up(
        rows in vec((0..40_u32, 1..6_u64, 0..6_u64, 0..4_u32, -9000..15_000_i64, -9000..15_000_i64), 1..200)
    ) {
        let mut spans: Vec<AppSpan> = rows
            .into_iter()
            .map(|(serial, id, parent, name, from, to)| span(serial, (id, parent), name, from, to))
            .collect();
        spans.sort_by_key(AppSpan::order);
        let told = told(&record(gapped_latency, spans));
        prop_assert!((0.0..=1.0).contains(&told.coverage));
        for class in [|one: &slowpath_diagnose::diagnosis::SpanFigures| one.fast_ms, |one: &slowpath_diagnose::diagnosis::SpanFigures| one.slow_ms] {
            let times: Vec<f64> = told.own.iter().filter_map(class).collect();
            prop_assert!(times.iter().all(|&ms| ms >= 0.0));
            prop_assert!(times.iter().sum::<f64>() <= 12.0 + 1e-6);
        }
        for gap in &told.gaps {
            let own = told.own.iter().find(|own| own.name == gap.inside);
            let more = |gap: Option<f64>, own: Option<f64>| gap > own.map(|own| own + 1e-6);
            // A name whose share is nothing at all is left out.
            if let Some(own) = own {
                prop_assert!(!more(gap.fast_ms, own.fast_ms) && !more(gap.slow_ms, own.slow_ms));
            }
        }
        for loops in &told.repeated {
            prop_assert!(loops.share <= 1.0 && loops.per_request >= 3.0);
        }
    }
}

/// A run of which every tenth request takes 12 ms and says that the database had 11 of them; what
/// each request says beside that is `others`.
fn timed(others: impl Fn(u32) -> Vec<(&'static str, u64)>) -> Option<EndpointTimings> {
    let latency = |serial| if is_slow(serial) { 12 * MS } else { 2 * MS };
    let mut record = record(latency, Vec::new());
    let mut timings = ServerTimings::default();
    for serial in 0..REQUESTS {
        for (name, duration_ns) in others(serial) {
            let metric = timings.metric(name).expect("there is room");
            timings.values.push(TimingValue {
                repeat: 0,
                serial,
                metric,
                duration_ns,
            });
        }
    }
    timings.values.sort_unstable();
    record.timings = Arc::new(timings);
    record.manifest.repeats[0].server_timing = Some(TimingFacts {
        answers: u64::from(REQUESTS),
        one_in: 1,
        left_out: 0,
    });
    let judged = judge(&record);
    assert!(judged.findings.is_empty(), "a server's word names no cause");
    judged.endpoints[0].server_timing.clone()
}

#[test]
fn the_part_that_has_the_time_of_slow_requests_comes_first() {
    let timings = timed(|serial| {
        let db = if is_slow(serial) { 11 * MS } else { MS };
        vec![("page", MS / 2), ("db", db)]
    });
    let timings = timings.expect("there are some");
    assert_eq!((timings.with_header, timings.slow), (1000, 100));
    let [db, page] = &timings.metrics[..] else {
        panic!("{timings:?}");
    };
    assert_eq!((db.name.as_str(), db.requests, db.beyond), ("db", 1000, 0));
    assert_eq!((db.slow_ms, db.fast_ms), (Some(11.0), Some(1.0)));
    assert_eq!((db.excess_share, db.fast_share), (Some(1.0), Some(0.5)));
    assert!((db.slow_share.unwrap_or(0.0) - 11.0 / 12.0).abs() < 1e-3);
    assert_eq!((page.name.as_str(), page.excess_share), ("page", Some(0.0)));
}

#[test]
fn more_than_a_request_lasted_counts_as_all_of_it_and_is_told() {
    // Two metrics of one name are one; seconds taken for milliseconds are a thousandfold.
    let timings = timed(|serial| match serial % 2 {
        0 => vec![("db", MS / 2), ("db", MS / 2)],
        _ => vec![("db", 3000 * MS)],
    });
    let timings = timings.expect("there are some");
    let db = &timings.metrics[0];
    assert_eq!(
        (timings.metrics.len(), db.requests, db.beyond),
        (1, 1000, 500)
    );
    assert_eq!(db.slow_share, Some(1.0), "slow ones have odd numbers");
    assert!(timed(|_| Vec::new()).is_none(), "nothing was said");
}
