//! Records to write: arbitrary ones for properties, plausible ones for everything else.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use slowpath_core::facts::{HostFacts, TargetFacts};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{NONE, Outcome, Phase, Sample, Stage, StreamEvent};
use slowpath_core::scenario::{Endpoint, Escape, Scenario, Template};
use slowpath_core::signal;
use slowpath_core::timeline::{Gap, Mark, MarkKind, Point, Reading, Series, Subject, Timeline};
use slowpath_record::{RunWriter, read};

/// So many cases of a property, each of which writes files; failures are reported, not stored.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// How many endpoints the plan of [`manifest`] has.
pub(crate) const ENDPOINTS: u16 = 3;

pub(crate) fn manifest() -> Manifest {
    let mut scenario = Scenario::from_url("http://127.0.0.1:8080/search").unwrap();
    for name in ["home", "with \"quotes\""] {
        let path = Template::literal("/", Escape::Url);
        scenario
            .endpoints
            .push(Endpoint::get(name.to_owned(), path));
    }
    Manifest {
        format: MANIFEST_FORMAT,
        id: "01JD0000000000000000000000".to_owned(),
        version: "0.1.0".to_owned(),
        began: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            scenario,
            seed: 7,
            release: None,
        },
        scenario_text: Some("name = \"shop\"\n".to_owned()),
        host: HostFacts::default(),
        git: None,
        target: TargetFacts::default(),
        repeats: Vec::new(),
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

fn instant() -> impl Strategy<Value = Nanos> {
    prop_oneof![9 => 1..1_u64 << 50, 1 => any::<u64>()].prop_map(Nanos::new)
}

fn maybe() -> impl Strategy<Value = Option<Nanos>> {
    option::of(instant())
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..40_u32, 1 => any::<u32>(), 1 => Just(NONE)]
}

type Instants = (Nanos, Nanos, Vec<Option<Nanos>>, Nanos);

fn instants() -> impl Strategy<Value = Instants> {
    let maybes = vec(maybe(), 8);
    (instant(), instant(), maybes, instant())
}

/// Any sample whatever, even one that no run would give; keys are below `keys` or none.
fn sample(keys: u32) -> impl Strategy<Value = Sample> {
    let key = prop_oneof![
        Just(NONE),
        (0..keys.max(1)).prop_map(move |k| { if keys == 0 { NONE } else { k } })
    ];
    (
        instants(),
        any::<[u64; 3]>(),
        vec(number(), 7),
        key,
        any::<[u16; 3]>(),
        (0..3_u16, 0..ENDPOINTS),
        select(vec![Stage::Warmup, Stage::Measured]),
        (select(Outcome::ALL.to_vec()), select(Phase::ALL.to_vec())),
    )
        .prop_map(
            |(at, longs, ints, key, shorts, (repeat, endpoint), stage, end)| {
                let (scheduled, ready, maybes, done) = at;
                Sample {
                    scheduled,
                    ready,
                    connect_begin: maybes[0],
                    connected: maybes[1],
                    sent: maybes[2],
                    first_byte: maybes[3],
                    gap_begin: maybes[4],
                    secured: maybes[5],
                    connection_since: maybes[6],
                    first_event: maybes[7],
                    gap_ns: longs[0],
                    done,
                    received_bytes: longs[1],
                    idle_before_ns: longs[2],
                    sent_bytes: ints[0],
                    serial: ints[1],
                    connection: ints[2],
                    index_on_connection: ints[3],
                    in_flight: ints[4],
                    events: ints[6],
                    key,
                    user: ints[5],
                    repeat,
                    endpoint,
                    local_port: shorts[0],
                    status: shorts[1],
                    errno: shorts[2],
                    stage,
                    outcome: end.0,
                    phase: end.1,
                }
            },
        )
}

fn stream_event() -> impl Strategy<Value = StreamEvent> {
    let numbers = (number(), number(), number());
    (instant(), numbers, 0..3_u16).prop_map(|(at, (serial, index, data_bytes), repeat)| {
        StreamEvent {
            at,
            serial,
            index,
            data_bytes,
            repeat,
        }
    })
}

fn subject() -> impl Strategy<Value = Subject> {
    prop_oneof![
        Just(Subject::Host),
        Just(Subject::Tool),
        Just(Subject::Target),
        any::<u32>().prop_map(|pid| Subject::Process { pid }),
        any::<(u32, u32)>().prop_map(|(pid, tid)| Subject::Thread { pid, tid }),
    ]
}

fn reading() -> impl Strategy<Value = Reading> {
    let signal = select(signal::ALL.to_vec());
    let value = prop_oneof![-1e300..1e300, Just(f64::INFINITY), Just(0.0)];
    let label = prop_oneof![Just(String::new()), "\\PC{0,6}"];
    (signal, subject(), label, instant(), instant(), value).prop_map(
        |(signal, subject, label, begin, end, value)| {
            let point = Point {
                window: Span { begin, end },
                value,
            };
            Reading {
                signal,
                subject,
                label,
                point,
            }
        },
    )
}

fn mark() -> impl Strategy<Value = Mark> {
    let kinds = vec![
        MarkKind::LoadBegan,
        MarkKind::TargetDied,
        MarkKind::Interrupted,
    ];
    (instant(), select(kinds), any::<u16>(), "\\PC{0,8}").prop_map(|(at, kind, repeat, text)| {
        Mark {
            at,
            kind,
            repeat,
            text,
        }
    })
}

fn gap() -> impl Strategy<Value = Gap> {
    ("[a-z.]{1,4}", any::<String>(), "\\PC{0,8}").prop_map(|(signal, reason, remedy)| Gap {
        signal,
        reason,
        remedy,
    })
}

/// What happens while a run goes on, in the order in which the writer receives it.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    pub(crate) keys: Vec<String>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) of_streams: Vec<StreamEvent>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) gaps: Vec<Gap>,
}

pub(crate) fn events() -> impl Strategy<Value = Events> {
    let keys = proptest::collection::hash_set(any::<String>(), 0..6);
    keys.prop_flat_map(|keys| {
        let keys: Vec<String> = keys.into_iter().collect();
        let samples = vec(sample(keys.len() as u32), 0..40);
        let rest = (vec(reading(), 0..40), vec(mark(), 0..4), vec(gap(), 0..4));
        let streams = vec(stream_event(), 0..40);
        let all = (Just(keys), samples, streams, rest);
        all.prop_map(
            |(keys, samples, of_streams, (readings, marks, gaps))| Events {
                keys,
                samples,
                of_streams,
                readings,
                marks,
                gaps,
            },
        )
    })
}

impl Events {
    /// The record that these events make, worked out without any file.
    pub(crate) fn record(&self, manifest: Manifest) -> RunRecord {
        let mut samples = self.samples.clone();
        samples.sort_by_key(|s| (s.repeat, s.scheduled, s.serial));
        let mut keys: Vec<String> = Vec::new();
        for sample in samples.iter_mut().filter(|sample| sample.key != NONE) {
            let text = &self.keys[sample.key as usize];
            let known = keys.iter().position(|key| key == text);
            sample.key = known.unwrap_or(keys.len()) as u32;
            if known.is_none() {
                keys.push(text.clone());
            }
        }
        let mut points: HashMap<_, Vec<Point>> = HashMap::new();
        for Reading {
            signal,
            subject,
            label,
            point,
        } in self.readings.clone()
        {
            points
                .entry((signal.id, subject, label))
                .or_default()
                .push(point);
        }
        let series = points
            .into_iter()
            .map(|((signal, subject, label), points)| Series {
                signal: signal.to_owned(),
                subject,
                label,
                points,
            });
        let (gaps, marks) = (self.gaps.clone(), self.marks.clone());
        let mut timeline = Timeline {
            series: series.collect(),
            gaps,
            marks,
        };
        timeline.sort();
        RunRecord {
            manifest,
            samples: samples.into(),
            keys,
            timeline,
            trace: Arc::default(),
            timings: Arc::default(),
            collections: Arc::default(),
            spans: Arc::default(),
            profiles: Arc::default(),
        }
    }

    /// The events of streams in the order in which they are stored.
    pub(crate) fn streamed(&self) -> Vec<StreamEvent> {
        let mut events = self.of_streams.clone();
        events.sort_by_key(|event| (event.repeat, event.serial, event.index));
        events
    }

    pub(crate) fn send(&self, writer: &RunWriter) {
        let handle = writer.handle();
        handle.keys(&self.keys[..self.keys.len() / 2]);
        handle.stream_events(&self.of_streams);
        handle.samples(&self.samples);
        handle.keys(&self.keys);
        handle.readings(self.readings.clone());
        self.marks.iter().for_each(|mark| handle.mark(mark.clone()));
        handle.gaps(self.gaps.clone());
    }
}

/// A plausible run: `count` requests of one open-loop repeat, a few of which fail.
pub(crate) fn plausible(count: u32) -> Vec<Sample> {
    let start = 1_000_000_000_000_u64;
    let one = |serial: u32| {
        let scheduled = Nanos::new(start + u64::from(serial) * 20_000);
        // A spread of latencies that needs no generator: multiples of a prime, folded.
        let latency_ns = 90_000 + u64::from(serial).wrapping_mul(7_919) % 400_000;
        let failed = serial % 1000 == 999;
        Sample {
            sent: Some(scheduled.plus(2_000)),
            first_byte: (!failed).then(|| scheduled.plus(latency_ns - 1_000)),
            done: scheduled.plus(latency_ns),
            received_bytes: if failed { 0 } else { 312 },
            idle_before_ns: 150_000 + u64::from(serial % 977),
            sent_bytes: 83,
            serial,
            connection: serial % 64,
            index_on_connection: serial / 64,
            in_flight: serial % 9,
            key: serial % 3,
            endpoint: (serial % u32::from(ENDPOINTS)) as u16,
            local_port: 40_000 + (serial % 64) as u16,
            status: if failed { 0 } else { 200 },
            errno: if failed { 104 } else { 0 },
            stage: if serial < count / 10 {
                Stage::Warmup
            } else {
                Stage::Measured
            },
            outcome: if failed { Outcome::Reset } else { Outcome::Ok },
            phase: if failed {
                Phase::FirstByte
            } else {
                Phase::Check
            },
            ..Sample::due(scheduled)
        }
    };
    (0..count).map(one).collect()
}

/// Writes a finished run of plausible samples and returns its record.
pub(crate) fn write_plausible(dir: &Path, count: u32) -> RunRecord {
    let writer = RunWriter::create(dir, &manifest()).unwrap();
    let handle = writer.handle();
    handle.keys(&["a", "b", "c"].map(str::to_owned));
    plausible(count)
        .chunks(100)
        .for_each(|batch| handle.samples(batch));
    let reading = |ns: u64| {
        let at = Nanos::new(1_000_000_000_000 + ns);
        let point = Point {
            window: Span {
                begin: at,
                end: at.plus(9),
            },
            value: ns as f64,
        };
        let subject = Subject::Process { pid: 42 };
        Reading {
            signal: &signal::PROCESS_CPU_USER,
            subject,
            label: String::new(),
            point,
        }
    };
    handle.readings((0..20).map(|n| reading(n * 1_000_000)).collect());
    let ended = Nanos::new(1_000_100_000_000);
    let text = String::new();
    handle.mark(Mark {
        at: ended,
        kind: MarkKind::LoadEnded,
        repeat: 0,
        text,
    });
    writer.finish(&manifest()).unwrap();
    read(dir).unwrap()
}
