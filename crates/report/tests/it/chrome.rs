//! The export as Chrome trace events: what every viewer of the format relies on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;
use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Sample, Stage};
use slowpath_core::spans::{AppSpan, AppSpans, SpanKind};
use slowpath_core::trace::{
    Call, Context, Depth, Event, Frame, Left, NO_STACK, Process, Role, Runtime, Socket, Stretch,
    Thread, Trace, What,
};
use slowpath_report::{Exported, Part, Wanted, chrome};

use crate::sample;

const US: u64 = 1_000;
const BEGIN: u64 = 1_000_000_000_000;
const SERVER: u32 = 700;
const WORKER: u32 = 701;
const FLUSHER: u32 = 702;
const STRANGER: u32 = 900;

fn at(us: u64) -> Nanos {
    Nanos::new(BEGIN + us * US)
}

fn span(begin_us: u64, end_us: u64) -> Span {
    Span::new(at(begin_us), at(end_us))
}

/// A request that is scheduled, sent 10 µs later, and answered.
fn request(serial: u32, connection: u32, begin_us: u64, long_us: u64) -> Sample {
    let done = at(begin_us + long_us);
    Sample {
        sent: Some(at(begin_us + 10)),
        // Every second response comes in one piece.
        first_byte: Some(done.minus(5 * US * u64::from(serial % 2))),
        done,
        serial,
        connection,
        local_port: 40_000 + connection as u16,
        status: 200,
        outcome: Outcome::Ok,
        stage: Stage::Measured,
        ..Sample::due(at(begin_us))
    }
}

fn record(samples: Vec<Sample>, events: Vec<Event>, stretches: Vec<Stretch>) -> RunRecord {
    let mut record = sample::record("static");
    record.manifest.repeats.truncate(1);
    record.manifest.repeats[0].window = span(0, 1_000_000);
    record.samples = samples.into();
    let thread = |tid, pid, name: &str| Thread {
        tid,
        pid,
        name: name.into(),
    };
    let process = |pid, role, executable: &str| Process {
        pid,
        role,
        executable: executable.into(),
        program: String::new(),
        runtime: Runtime::Native,
    };
    let socket = |connection: u16| Socket {
        local: SocketAddr::from(([127, 0, 0, 1], 8080)),
        remote: SocketAddr::from(([127, 0, 0, 1], 40_000 + connection)),
    };
    let frame = |function: &str| Frame {
        function: function.into(),
        module: "server".into(),
        source: String::new(),
    };
    record.trace = Arc::new(Trace {
        stretches,
        processes: vec![
            process(SERVER, Role::Target, "server"),
            process(STRANGER, Role::Other, "cc1plus"),
        ],
        threads: vec![
            thread(WORKER, SERVER, "worker"),
            thread(FLUSHER, SERVER, "flusher"),
            thread(STRANGER, STRANGER, "cc1plus"),
        ],
        sockets: vec![socket(0), socket(1)],
        frames: vec![frame("clock_nanosleep"), frame("flush_locked")],
        stacks: vec![vec![0, 1]],
        events,
        ..Trace::default()
    });
    record
}

fn stretch(begin_us: u64, end_us: u64, depth: Depth) -> Stretch {
    Stretch {
        span: span(begin_us, end_us),
        depth,
        repeat: 0,
        lost: 3,
    }
}

/// A request that waits for a lock which a thread holds while it sleeps.
fn stalled() -> RunRecord {
    let event = |us, what| Event {
        at: at(us),
        cpu: 0,
        what,
    };
    let switch = |from, left, to, stack| What::Switch {
        from,
        left,
        to,
        stack,
    };
    let wait = Left::Sleeping;
    let events = vec![
        event(50, switch(FLUSHER, wait, STRANGER, 0)),
        event(
            104,
            What::Arrived {
                socket: 0,
                bytes: 120,
            },
        ),
        event(110, switch(STRANGER, Left::Runnable, WORKER, NO_STACK)),
        event(
            112,
            What::Read {
                tid: WORKER,
                socket: 0,
            },
        ),
        event(
            115,
            What::Call {
                tid: WORKER,
                call: Call::Futex,
                about: 0x7f00,
            },
        ),
        event(116, switch(WORKER, wait, STRANGER, NO_STACK)),
        event(
            20_000,
            What::Waking {
                tid: FLUSHER,
                by: STRANGER,
                context: Context::Hardirq,
            },
        ),
        event(20_010, switch(STRANGER, Left::Runnable, FLUSHER, NO_STACK)),
        event(
            20_030,
            What::Waking {
                tid: WORKER,
                by: FLUSHER,
                context: Context::Thread,
            },
        ),
        event(20_040, switch(FLUSHER, wait, WORKER, 0)),
        event(
            20_060,
            What::Wrote {
                tid: WORKER,
                socket: 0,
                bytes: 40,
            },
        ),
        event(20_070, switch(WORKER, wait, STRANGER, NO_STACK)),
    ];
    let mut samples = vec![request(0, 0, 95, 19_975)];
    samples.extend((1..200).map(|serial| request(serial, 1, u64::from(serial) * 400, 200)));
    record(samples, events, vec![stretch(0, 90_000, Depth::Full)])
}

fn export(record: &RunRecord, wanted: &Wanted) -> (Exported, Vec<Value>) {
    let mut text = Vec::new();
    let exported = chrome(record, wanted, &mut text).unwrap();
    let file: Value = serde_json::from_slice(&text).unwrap();
    let events = file["traceEvents"].as_array().unwrap().clone();
    assert_eq!(events.len() as u64, exported.events);
    // Names of tracks, and what was traced when, come on top.
    let is_frame = |event: &&Value| event["ph"] == "M" || event["cat"] == "tracing";
    let counted = events.iter().filter(|event| !is_frame(event)).count();
    assert!(counted <= wanted.most_events, "{counted}");
    well_formed(&events);
    (exported, events)
}

const fn slowest(requests: usize) -> Wanted {
    Wanted {
        part: Part::Slowest {
            requests,
            endpoint: None,
        },
        most_events: 100_000,
    }
}

/// On every track time does not go back, slices nest, and what is begun ends; every arrow has one
/// begin and one end in the order of time, each inside of a slice.
fn well_formed(events: &[Value]) {
    let mut open: BTreeMap<(u64, u64), (f64, Vec<f64>)> = BTreeMap::new();
    let mut arrows: BTreeMap<(String, u64), Vec<(f64, String)>> = BTreeMap::new();
    let number = |event: &Value, field: &str| event[field].as_u64().unwrap();
    for event in events {
        let kind = event["ph"].as_str().unwrap();
        if kind == "M" {
            continue;
        }
        let ts = event["ts"].as_f64().unwrap();
        let track = (number(event, "pid"), number(event, "tid"));
        let (last, ends) = open.entry(track).or_insert((0.0, Vec::new()));
        assert!(ts >= *last, "time goes back on {track:?}: {event}");
        *last = ts;
        // A slice of known length ends by itself; one that was begun has no known end.
        while ends.last().is_some_and(|&end| end <= ts) {
            ends.pop();
        }
        match kind {
            "X" => {
                let end = ts + event["dur"].as_f64().unwrap();
                ends.retain(|&end| end > ts);
                // Microseconds of a run that is hours long are written to the nanosecond.
                let inside = ends.last().is_none_or(|&outer| end <= outer + 1e-3);
                assert!(inside, "slices cross on {track:?}: {event}");
                ends.push(end);
            }
            "B" => ends.push(f64::INFINITY),
            "E" => assert_eq!(ends.pop(), Some(f64::INFINITY), "{event}"),
            "s" | "t" | "f" => {
                assert!(!ends.is_empty(), "an arrow hangs in the air: {event}");
                let id = (
                    event["cat"].as_str().unwrap().to_owned(),
                    number(event, "id"),
                );
                arrows.entry(id).or_default().push((ts, kind.to_owned()));
            }
            "i" => {}
            other => panic!("unexpected {other}"),
        }
    }
    let unended = open.values().flat_map(|(_, ends)| ends);
    assert!(unended.copied().all(f64::is_finite), "a slice does not end");
    for (id, mut stations) in arrows {
        let rank = |kind: &str| ["s", "t", "f"].iter().position(|&one| one == kind);
        stations.sort_by(|a, b| a.0.total_cmp(&b.0).then(rank(&a.1).cmp(&rank(&b.1))));
        let kinds: String = stations.iter().map(|(_, kind)| kind.as_str()).collect();
        let whole = kinds.starts_with('s') && kinds.ends_with('f');
        let single = kinds.matches(['s', 'f']).count() == 2;
        assert!(whole && single, "{id:?}: {kinds}");
    }
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["name"] == name)
        .collect()
}

#[test]
fn a_stall_is_told_from_the_client_to_the_thread_that_held_the_lock() {
    let (exported, events) = export(&stalled(), &slowest(1));
    assert_eq!(exported.left_out_ns, 0);
    assert_eq!(exported.traced_ns, exported.covered_ns - 905 * US);
    let lock = named(&events, "waiting for a lock or a condition");
    assert_eq!(lock.len(), 1);
    assert_eq!(lock[0]["tid"], WORKER);
    assert_eq!(lock[0]["args"]["about"], "futex 0x7f00");
    let waiting = named(&events, "waiting");
    let stack = &waiting[0]["args"]["stack"];
    assert_eq!(stack[0], "clock_nanosleep (server)");
    assert_eq!(stack[1], "flush_locked (server)");
    let ready = named(&events, "ready");
    let woken_by = |tid: u32| {
        let own = ready.iter().find(|event| event["tid"] == tid);
        own.unwrap()["args"]["woken_by"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(woken_by(WORKER), "flusher (702)");
    assert_eq!(woken_by(FLUSHER), "an interrupt: a timer or a device");
    // One arrow for the one thread that woke another, one for the request and who served it.
    let wakes = named(&events, "wake");
    assert_eq!(wakes.len(), 2);
    assert_eq!([&wakes[0]["tid"], &wakes[1]["tid"]], [FLUSHER, WORKER]);
    let stations = named(&events, "request");
    let kinds: Vec<&str> = stations.iter().map(|e| e["ph"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["t", "t", "s", "f"]);
    let service = named(&events, "read, not yet answered");
    assert_eq!(service[0]["dur"].as_f64(), Some(19_948.0));
    assert!(
        named(&events, "thread_name")
            .iter()
            .all(|e| e["tid"] != STRANGER)
    );
}

#[test]
fn what_has_no_room_is_counted() {
    let record = stalled();
    let all = Wanted {
        part: Part::Window(span(0, 100_000)),
        most_events: 100_000,
    };
    let (exported, _) = export(&record, &all);
    assert_eq!((exported.requests, exported.requests_left_out), (200, 0));
    let few = Wanted {
        most_events: 160,
        ..all
    };
    let (exported, events) = export(&record, &few);
    assert!(exported.left_out_ns > 0 && exported.requests_left_out > 0);
    assert!(!events.is_empty());
    let (none, _) = export(
        &record,
        &Wanted {
            most_events: 0,
            ..all
        },
    );
    assert_eq!(none.requests, 0);
}

#[test]
fn a_run_that_was_not_traced_has_its_requests() {
    let mut record = stalled();
    record.trace = Arc::default();
    let (exported, events) = export(&record, &slowest(1));
    assert_eq!(exported.traced_ns, 0);
    // The stalled one, and those that were under way beside it.
    assert_eq!(exported.requests, 53);
    let slow = events.iter().filter(|event| event["args"]["slow"] == true);
    assert_eq!(slow.count(), 1);
}

#[test]
fn the_slowest_that_were_traced_come_before_slower_ones_that_were_not() {
    let mut record = stalled();
    record
        .samples
        .change(|samples| samples.push(request(999, 3, 95_000, 60_000)));
    let (_, events) = export(&record, &slowest(1));
    let slow = events.iter().find(|event| event["args"]["slow"] == true);
    assert_eq!(slow.unwrap()["args"]["serial"], 0);
}

#[test]
fn spans_of_exported_requests_lie_in_each_other_or_side_by_side() {
    let mut record = stalled();
    let span = |id: u64, begin_us, end_us| AppSpan {
        serial: 0,
        repeat: 0,
        kind: SpanKind::Internal,
        error: false,
        id,
        parent: 0,
        name: 0,
        service: 0,
        thread: 0,
        begin: at(begin_us),
        end: at(end_us),
    };
    let mut spans = vec![
        span(1, 110, 20_000),
        span(2, 120, 9_000),
        span(3, 500, 15_000),
        span(4, 9_000, 10_000),
    ];
    spans.push(AppSpan {
        serial: 199,
        ..span(5, 80_000, 80_001)
    });
    record.spans = Arc::new(AppSpans {
        names: vec!["render".into()],
        services: vec!["shop".into()],
        spans,
    });
    let (exported, events) = export(&record, &slowest(1));
    assert_eq!((exported.spans, exported.spans_left_out), (4, 0));
    let own = named(&events, "render");
    let tracks: Vec<u64> = own
        .iter()
        .map(|event| event["tid"].as_u64().unwrap())
        .collect();
    let first = tracks[0];
    assert_eq!(tracks, [first, first, first + 1, first]);
    assert!(own.iter().all(|event| event["args"]["kind"] == "internal"));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let text = || {
        let mut text = Vec::new();
        chrome(&stalled(), &slowest(3), &mut text).unwrap();
        text
    };
    assert_eq!(text(), text());
}

fn any_what() -> impl Strategy<Value = What> {
    let tid = prop_oneof![Just(WORKER), Just(FLUSHER), Just(STRANGER), Just(0_u32)];
    let context = prop::sample::select(&Context::ALL[..]);
    let left = prop::sample::select(&Left::ALL[..]);
    let call = prop::sample::select(&Call::ALL[..]);
    let stack = prop_oneof![Just(NO_STACK), Just(0_u32)];
    prop_oneof![
        (tid.clone(), left, tid.clone(), stack).prop_map(|(from, left, to, stack)| {
            What::Switch {
                from,
                left,
                to,
                stack,
            }
        }),
        (tid.clone(), tid.clone(), context).prop_map(|(tid, by, context)| What::Waking {
            tid,
            by,
            context
        }),
        (tid.clone(), call, any::<u64>()).prop_map(|(tid, call, about)| What::Call {
            tid,
            call,
            about
        }),
        (tid.clone(), 0..2_u32).prop_map(|(tid, socket)| What::Read { tid, socket }),
        (tid.clone(), 0..2_u32).prop_map(|(tid, socket)| What::Wrote {
            tid,
            socket,
            bytes: 1
        }),
        (0..2_u32).prop_map(|socket| What::Arrived { socket, bytes: 1 }),
        tid.clone().prop_map(|tid| What::On { tid }),
        (tid, any::<bool>()).prop_map(|(tid, preempted)| What::Off { tid, preempted }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_was_traced_is_well_formed(
        happened in prop::collection::vec((0..5_000_u64, any_what()), 0..300),
        requests in prop::collection::vec((0..4_000_u64, 20..900_u64, 0..2_u32), 1..40),
        window in (0..4_000_u64, 1..3_000_u64),
        most_events in 0..4_000_usize,
    ) {
        let mut events: Vec<Event> = happened
            .into_iter()
            .map(|(us, what)| Event { at: at(us), cpu: 0, what })
            .collect();
        events.sort_by_key(|event| event.at);
        let mut samples: Vec<Sample> = requests
            .into_iter()
            .zip(0..)
            .map(|((begin, long, connection), serial)| request(serial, connection, begin, long))
            .collect();
        samples.sort_by_key(|sample| sample.scheduled);
        let stretches = vec![
            stretch(0, 1_000, Depth::Light),
            stretch(1_000, 1_500, Depth::Off),
            stretch(1_500, 5_000, Depth::Full),
        ];
        let record = record(samples, events, stretches);
        let part = Part::Window(span(window.0, window.0 + window.1));
        export(&record, &Wanted { part, most_events });
        export(&record, &Wanted { most_events, ..slowest(5) });
    }
}
