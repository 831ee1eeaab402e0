//! The pieces of a request's way through the client, each alone: `cargo bench -p slowpath-load`.
//!
//! All of them together are a few hundred nanoseconds of the five microseconds that a request
//! takes, the rest of which is the kernel's; `benches/peers` measures the whole.
#![allow(missing_docs, reason = "benchmarks are named for what they measure")]

use divan::{Bencher, black_box, counter::BytesCount};
use slowpath_core::plan::{Ask, Choice, Plan, Stream};
use slowpath_core::sample::Sample;
use slowpath_core::scenario::{
    Arrivals, Endpoint, Escape, Part, Places, Pool, Scenario, Template, Values,
};
use slowpath_load::Keys;
use slowpath_load::body::Wants;
use slowpath_load::http1::{Fed, Request, Response};
use slowpath_load::pacers::Pacer;

fn main() {
    divan::main();
}

/// What nginx says before a small page.
const HEAD: &str = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
    Content-Type: text/html\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\
    Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n\r\n";

fn page(number: u32) -> Vec<u8> {
    // A cookie of its own makes each head differ from the one before.
    let cookie = format!("\r\nSet-Cookie: id={number:08}\r\n\r\n");
    let head = HEAD.replace("\r\n\r\n", &cookie);
    [head.as_bytes(), &[b'x'; 100]].concat()
}

/// The same head again, as from most servers.
#[divan::bench]
fn parse_a_response_like_the_last(bencher: Bencher<'_, '_>) {
    let (page, mut response) = (page(0), Response::default());
    bencher
        .counter(BytesCount::of_slice(&page))
        .bench_local(|| {
            response.reset(false, Wants::default());
            assert_eq!(response.feed(black_box(&page)), Ok(Fed::Whole));
        });
}

/// Another head each time.
#[divan::bench]
fn parse_a_response_unlike_the_last(bencher: Bencher<'_, '_>) {
    let pages: Vec<_> = (0..64).map(page).collect();
    let (mut at, mut response) = (0, Response::default());
    bencher.bench_local(|| {
        at = (at + 1) % pages.len();
        response.reset(false, Wants::default());
        assert_eq!(response.feed(black_box(&pages[at])), Ok(Fed::Whole));
    });
}

fn drawing() -> Plan {
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/").expect("it is a URL");
    let values: Vec<_> = (0..1000).map(|number| format!("value {number}")).collect();
    scenario.pools.push(Pool::plain("values", values));
    let path = Template {
        parts: vec![Part::Literal("/search?q=".into()), Part::Pool(0)],
        escape: Escape::Url,
    };
    scenario.endpoints = vec![Endpoint::get("search".into(), path)];
    Plan {
        scenario,
        seed: 1,
        release: None,
    }
}

#[divan::bench]
fn draw_what_a_request_asks_for(bencher: Bencher<'_, '_>) {
    let (mut choices, mut choice) = (drawing().choices(0), Choice::empty());
    bencher.bench_local(|| choices.next_into(Ask::default(), black_box(&mut choice)));
}

#[divan::bench]
fn render_a_request(bencher: Bencher<'_, '_>) {
    let (plan, places) = (drawing(), Places::default());
    let request = Request::new(&plan.scenario.endpoints[0], "127.0.0.1:1", &places, None);
    let (mut out, mut scratch, mut serial) = (Vec::new(), Vec::new(), 0);
    bencher.bench_local(|| {
        serial += 1;
        let values = Values {
            pools: &plan.scenario.pools,
            picks: &[serial % 1000],
            variables: &[],
            seq: u64::from(serial),
            uuid: 0,
            places: &places,
        };
        let trace_id = Sample::trace_id(1, 0, serial);
        request.render(black_box(&mut out), &mut scratch, &values, trace_id);
    });
}

#[divan::bench(args = [Arrivals::Uniform, Arrivals::Poisson])]
fn pace(bencher: Bencher<'_, '_>, arrivals: Arrivals) {
    let random = drawing().random(0, Stream::Arrivals);
    let mut pacer = Pacer::new(5000.0, arrivals, random);
    bencher.bench_local(|| pacer.next_ns());
}

#[divan::bench(args = [10, 100_000])]
fn number_a_key(bencher: Bencher<'_, '_>, keys: u32) {
    let names: Vec<_> = (0..keys).map(|number| format!("key {number}")).collect();
    let (mut known, mut at) = (Keys::new(), 0);
    for name in &names {
        known.number(name);
    }
    bencher.bench_local(|| {
        // A step that shares no factor with either count visits all keys.
        at = (at + 7919) % names.len();
        known.number(black_box(&names[at]))
    });
}
