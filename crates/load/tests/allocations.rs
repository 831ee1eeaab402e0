//! What a load allocates once it runs: next to nothing.
#![allow(
    clippy::disallowed_methods,
    reason = "this test is a server: it opens sockets and starts threads"
)]
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use slowpath_core::plan::Plan;
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_core::scenario::{
    Arrivals, Endpoint, Escape, LoadDraft, Part, Places, Pool, PoolOpen, Scenario, Template,
};
use slowpath_load::{Control, Drive, Keys, Route, Sink, drive};

/// Allocations that a request may cost on average. None does; what is left is what grows with the
/// logarithm of a load's length, and a thread that the system woke at a bad moment.
const MOST_PER_REQUEST: f64 = 0.01;

/// Counts requests, none of which may fail.
#[derive(Default)]
struct Counter(AtomicU64);

impl Sink for Counter {
    fn samples(&self, samples: &[Sample]) {
        assert!(samples.iter().all(|sample| !sample.outcome.is_error()));
        self.0.fetch_add(samples.len() as u64, Relaxed);
    }

    fn stream_events(&self, events: &[StreamEvent]) {
        assert!(events.is_empty());
    }
}

/// Answers whatever comes with one small response, on a thread for each connection.
fn answering() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut bytes = [0; 4096];
    while let Ok(1..) = stream.read(&mut bytes) {
        let said = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhits");
        if said.is_err() {
            return;
        }
    }
}

/// Requests that draw a value from a pool, render it, and have it for a key.
fn plan(load: &LoadDraft, address: SocketAddr) -> Plan {
    let mut scenario = Scenario::from_url(&format!("http://{address}/")).unwrap();
    scenario.load = load.resolve().unwrap();
    let values: Vec<_> = (0..20).map(|number| format!("value {number}")).collect();
    scenario.pools.push(Pool::plain("values", values));
    let path = Template {
        parts: vec![
            Part::Literal("/q?seq=".into()),
            Part::Seq,
            Part::Literal("&value=".into()),
            Part::Pool(0),
        ],
        escape: Escape::Url,
    };
    let mut drawn = Endpoint::get("drawn".into(), path);
    drawn.key = Some(Template {
        parts: vec![Part::Pool(0)],
        escape: Escape::None,
    });
    scenario.endpoints.push(drawn);
    Plan {
        scenario,
        seed: 7,
        release: None,
    }
}

/// Requests and allocations of a load of this many seconds on the driving thread.
fn cost(load: &LoadDraft, seconds: u64, address: SocketAddr) -> (u64, u64) {
    let load = LoadDraft {
        duration_ns: Some(seconds * 1_000_000_000),
        warmup_ns: Some(200_000_000),
        ..load.clone()
    };
    let plan = plan(&load, address);
    let what = Drive {
        plan: &plan,
        repeat: 0,
        route: Route::plain([address]),
        places: Places::default(),
        host_header: address.to_string(),
        silent_warmup: false,
    };
    let sink = Counter::default();
    let allocated = allocation_counter::measure(|| {
        drive(&what, &Control::default(), &mut Keys::new(), &sink).unwrap();
    });
    (sink.0.load(Relaxed), allocated.count_total)
}

fn assert_free(load: &LoadDraft) {
    let address = answering();
    let (few, before) = cost(load, 1, address);
    let (many, after) = cost(load, 4, address);
    assert!(many > few + 1000, "{few} and then {many} requests");
    let each = after.saturating_sub(before) as f64 / (many - few) as f64;
    assert!(
        each < MOST_PER_REQUEST,
        "{before} allocations for {few} requests, {after} for {many}"
    );
}

#[test]
fn a_request_of_a_closed_loop_allocates_nothing() {
    assert_free(&LoadDraft {
        users: Some(4),
        ..LoadDraft::default()
    });
}

#[test]
fn a_request_of_an_open_loop_allocates_nothing() {
    assert_free(&LoadDraft {
        rate_per_s: Some(2000.0),
        arrivals: Some(Arrivals::Poisson),
        connections: Some(16),
        // A burst in the longer load would open connections that the shorter one did not need: dialling allocates.
        open: Some(PoolOpen::AtStart),
        ..LoadDraft::default()
    });
}
