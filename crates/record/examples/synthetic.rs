//! Writes a made-up run of any size, to measure how long it takes to finish, read and judge one:
//! `cargo run --release -p slowpath-record --example synthetic -- REQUESTS DIR`.
//!
//! An open loop of 100,000 requests a second to three endpoints over 256 connections, against a
//! server that takes a millisecond and a half, stalls for 40 ms twice a second, and resets one
//! connection in some thousand requests. The same arguments give the same bytes.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "this program writes files and reads the clock, and says how long it took"
)]

use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::{MILLISECOND, Nanos, SECOND, Span};
use slowpath_core::plan::{Plan, below, unit};
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};
use slowpath_core::sample::{NONE, Outcome, Phase, Sample, Stage};
use slowpath_core::signal::{
    HOST_CPU_BUSY, HOST_CPU_IDLE, HOST_CPUS, PROCESS_CPU_SYSTEM, PROCESS_CPU_USER, Signal,
    THREAD_RUN, THREAD_RUN_DELAY, TOOL_CPU_SYSTEM, TOOL_CPU_USER, TOOL_LOOP_RUN,
    TOOL_LOOP_RUN_DELAY,
};
use slowpath_core::timeline::{Point, Reading, Subject};
use slowpath_record::RunWriter;
use slowpath_record::scenario::{Context, parse, read_file};

/// Where the clock stands when the load begins.
const BEGIN: Nanos = Nanos::new(1_000 * SECOND);
/// Between two requests.
const GAP_NS: u64 = SECOND / 100_000;
/// The server stands still so long …
const STALL_NS: u64 = 40 * MILLISECOND;
/// … as often as this.
const STALL_EVERY_NS: u64 = 500 * MILLISECOND;
/// A share of requests that end in a reset.
const RESETS: f64 = 0.0003;
/// Connections of the load.
const CONNECTIONS: u32 = 256;
/// Between two readings.
const TICK_NS: u64 = 100 * MILLISECOND;
/// The target's process.
const PID: u32 = 100;

const SCENARIO: &str = r#"
name = "synthetic"
[target]
url = "http://127.0.0.1:8080"
[load]
model = "open"
rate = "100000/s"
arrivals = "uniform"
connections = 256
duration = "{duration}ms"
warmup = "1s"
[pools]
topic = [{words}]
[[endpoint]]
name = "search"
weight = 7
request = "GET /search?q={topic}"
[[endpoint]]
name = "home"
weight = 2
request = "GET /"
[[endpoint]]
name = "pay"
weight = 1
request = "POST /pay"
body = "all"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [requests, dir] = arguments.as_slice() else {
        return Err("give the number of requests and a new directory".into());
    };
    write(requests.parse()?, Path::new(dir))
}

fn write(requests: u32, dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut manifest = manifest(requests)?;
    let writer = RunWriter::create(dir, &manifest)?;
    let handle = writer.handle();
    let begun = Instant::now();
    let topics = manifest.plan.scenario.pools[0].values.iter();
    let keys: Vec<String> = topics.map(str::to_owned).collect();
    handle.keys(&keys);
    let mut server = Server::new(keys.len());
    let mut batch = Vec::with_capacity(1024);
    let mut offered = vec![EndpointTally::default(); 3];
    let mut last = BEGIN;
    for serial in 0..requests {
        let sample = server.request(serial);
        offered[usize::from(sample.endpoint)].offered += 1;
        last = last.max(sample.done);
        batch.push(sample);
        if batch.len() == batch.capacity() {
            handle.samples(&batch);
            batch.clear();
        }
    }
    handle.samples(&batch);
    let window = Span::new(BEGIN, BEGIN.plus(u64::from(requests) * GAP_NS));
    for tick in 0..=window.len_ns() / TICK_NS {
        handle.readings(readings(window.begin.plus(tick * TICK_NS)));
    }
    manifest.repeats = vec![RepeatFacts {
        endpoints: offered,
        connections_opened: u64::from(server.opened),
        fastest_dial_ns: Some(40_000),
        target_pids: vec![PID],
        ..RepeatFacts::new(0, window, Span::new(BEGIN, last))
    }];
    eprintln!("spooled after {:.2} s", begun.elapsed().as_secs_f64());
    let finishing = Instant::now();
    writer.finish(&manifest)?;
    eprintln!("finished in {:.2} s", finishing.elapsed().as_secs_f64());
    Ok(())
}

fn manifest(requests: u32) -> Result<Manifest, String> {
    let duration_ms = u64::from(requests) * GAP_NS / MILLISECOND;
    let topics: Vec<String> = (0..1000).map(|k| format!("\"topic {k}\"")).collect();
    let text = SCENARIO
        .replace("{duration}", &duration_ms.max(1).to_string())
        .replace("{words}", &topics.join(", "));
    let context = Context {
        file: "synthetic.toml",
        base_dir: Path::new("."),
        load_file: &read_file,
    };
    let scenario = parse(&text, &context)
        .map_err(|mistakes| format!("{}", mistakes.first().expect("an error has a mistake")))?;
    Ok(Manifest {
        format: MANIFEST_FORMAT,
        id: "01JD0000000000000000000000".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            scenario,
            seed: 7,
            release: None,
        },
        scenario_text: None,
        host: HostFacts {
            cpus: 2,
            ..HostFacts::default()
        },
        git: None,
        target: TargetFacts {
            url: "http://127.0.0.1:8080".to_owned(),
            visible: true,
            ..TargetFacts::default()
        },
        repeats: Vec::new(),
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    })
}

/// What was read at one tick: counters that grow evenly.
fn readings(at: Nanos) -> Vec<Reading> {
    let thread = Subject::Thread { pid: PID, tid: PID };
    let process = Subject::Process { pid: PID };
    let host = Subject::Host;
    let tool = Subject::Tool;
    let passed = at.since(BEGIN) as f64;
    let rows: [(&'static Signal, &Subject, f64); 11] = [
        (&HOST_CPU_BUSY, &host, 1.1 * passed),
        (&HOST_CPU_IDLE, &host, 0.9 * passed),
        (&HOST_CPUS, &host, 2.0),
        (&PROCESS_CPU_USER, &process, 0.3 * passed),
        (&PROCESS_CPU_SYSTEM, &process, 0.2 * passed),
        (&THREAD_RUN, &thread, 0.5 * passed),
        (&THREAD_RUN_DELAY, &thread, 0.02 * passed),
        (&TOOL_CPU_USER, &tool, 0.2 * passed),
        (&TOOL_CPU_SYSTEM, &tool, 0.4 * passed),
        (&TOOL_LOOP_RUN, &tool, 0.5 * passed),
        (&TOOL_LOOP_RUN_DELAY, &tool, 0.01 * passed),
    ];
    let reading = |(signal, subject, value): (&'static Signal, &Subject, f64)| Reading {
        signal,
        subject: subject.clone(),
        label: String::new(),
        point: Point {
            window: Span::new(at.minus(TICK_NS), at),
            value,
        },
    };
    rows.into_iter().map(reading).collect()
}

/// A connection between two requests.
struct Connection {
    number: u32,
    since: Nanos,
    free: Nanos,
    carried: u32,
}

/// The server, and the client's connections to it.
struct Server {
    random: ChaCha8Rng,
    /// Free ones first, the longest idle in front.
    connections: VecDeque<Connection>,
    opened: u32,
    keys: usize,
}

impl Server {
    fn new(keys: usize) -> Self {
        let connections = (0..CONNECTIONS).map(|number| Connection {
            number,
            since: BEGIN.minus(SECOND - u64::from(number) * 1000),
            free: BEGIN.minus(SECOND / 2),
            carried: 0,
        });
        Self {
            random: ChaCha8Rng::seed_from_u64(7),
            connections: connections.collect(),
            opened: CONNECTIONS,
            keys,
        }
    }

    fn request(&mut self, serial: u32) -> Sample {
        let scheduled = BEGIN.plus(u64::from(serial) * GAP_NS);
        let mut connection = self.connections.pop_front().expect("each one comes back");
        let ready = scheduled.max(connection.free);
        let mut sample = Sample {
            ready,
            serial,
            key: NONE,
            in_flight: self.in_flight(scheduled),
            local_port: 32_768 + (connection.number % 28_000) as u16,
            status: 200,
            stage: Stage::Measured,
            outcome: Outcome::Ok,
            phase: Phase::Check,
            ..Sample::due(scheduled)
        };
        self.draw_endpoint(&mut sample);
        let mut begin = ready.plus(2_000 + self.up_to(6_000));
        if connection.carried == 0 && connection.number >= CONNECTIONS {
            let connected = begin.plus(40_000 + self.up_to(20_000));
            (sample.connect_begin, sample.connected) = (Some(begin), Some(connected));
            connection.since = connected;
            begin = connected.plus(3_000);
        } else {
            sample.idle_before_ns = begin.since(connection.free);
        }
        sample.connection_since = Some(connection.since);
        sample.connection = connection.number;
        sample.index_on_connection = connection.carried;
        sample.sent = Some(begin);
        let first = begin.plus(self.service_ns(begin));
        let is_reset = unit(&mut self.random) < RESETS;
        if is_reset {
            sample.done = first;
            (sample.outcome, sample.phase) = (Outcome::Reset, Phase::FirstByte);
            (sample.errno, sample.status, sample.received_bytes) = (104, 0, 0);
            connection.number = self.opened;
            connection.carried = 0;
            self.opened += 1;
        } else {
            sample.first_byte = Some(first);
            sample.done = first.plus(1_000 + self.up_to(9_000));
            connection.carried += 1;
        }
        connection.free = sample.done;
        let place = self
            .connections
            .partition_point(|c| c.free <= connection.free);
        self.connections.insert(place, connection);
        sample
    }

    fn draw_endpoint(&mut self, sample: &mut Sample) {
        let which = self.up_to(10);
        (sample.endpoint, sample.sent_bytes) = match which {
            0..7 => (0, 96),
            7 | 8 => (1, 78),
            _ => (2, 131),
        };
        sample.received_bytes = match sample.endpoint {
            0 => 900 + self.up_to(400),
            1 => 612,
            _ => 64,
        };
        if sample.endpoint == 0 {
            sample.key = self.up_to(self.keys as u64) as u32;
        }
    }

    /// How long a request takes that arrives then: normal on the scale of logarithms, by the sum of
    /// twelve even draws, and after the end of a stall.
    fn service_ns(&mut self, at: Nanos) -> u64 {
        let normal: f64 = (0..12).map(|_| unit(&mut self.random)).sum::<f64>() - 6.0;
        let work = 1.5e6 * (0.15 * normal).exp();
        let into = at.since(BEGIN) % STALL_EVERY_NS;
        work as u64 + STALL_NS.saturating_sub(into)
    }

    fn in_flight(&self, at: Nanos) -> u32 {
        let busy = self.connections.partition_point(|c| c.free <= at);
        CONNECTIONS - busy as u32
    }

    fn up_to(&mut self, bound: u64) -> u64 {
        below(&mut self.random, bound)
    }
}
