//! Every request is counted once, in its own class.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use slowpath_core::sample::{NONE, Outcome, Phase};
use slowpath_core::scenario::{Arrivals, Endpoint, Escape, LoadDraft, Template};

use crate::server::{After, OK, Server, seq};
use crate::{run, scenario};

/// When the load gives up, in milliseconds.
const LIMIT_MS: u64 = 1500;

/// What the server does with a request, and what that is to the load.
type Act = (Outcome, Phase, fn(&mut TcpStream) -> After);

/// What the server does with request `seq`: one of these, cyclically.
const SCRIPT: [Act; 16] = [
    (Outcome::Ok, Phase::Check, |stream| say(stream, OK)),
    (Outcome::Closed, Phase::FirstByte, |_| After::Close),
    (Outcome::Reset, Phase::FirstByte, |_| After::Reset),
    (Outcome::Reset, Phase::Body, |stream| {
        say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
        After::Reset
    }),
    (Outcome::Truncated, Phase::Body, |stream| {
        say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
        After::Close
    }),
    (Outcome::Truncated, Phase::Body, |stream| {
        say(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi",
        );
        After::Close
    }),
    (Outcome::Truncated, Phase::Body, |stream| {
        say(stream, "HTTP/1.1 200 OK\r\nConte");
        After::Close
    }),
    (Outcome::BadResponse, Phase::Body, |stream| {
        say(stream, "\u{1}\u{2} what?\r\n\r\n")
    }),
    (Outcome::Timeout, Phase::FirstByte, |stream| {
        std::thread::sleep(Duration::from_millis(LIMIT_MS * 3 / 2));
        say(stream, OK);
        After::Close
    }),
    (Outcome::Timeout, Phase::FirstByte, |stream| {
        // Never: waits until the peer has gone.
        let _ = stream.read(&mut [0]);
        After::Close
    }),
    (Outcome::Timeout, Phase::Body, |stream| {
        say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
        let _ = stream.read(&mut [0]);
        After::Close
    }),
    (Outcome::Status, Phase::Check, |stream| {
        say(stream, "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")
    }),
    (Outcome::Ok, Phase::Check, |stream| {
        say(stream, "HTTP/1.1 204 No Content\r\n\r\n")
    }),
    (Outcome::Ok, Phase::Check, |stream| {
        say(
            stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        );
        After::Close
    }),
    (Outcome::Ok, Phase::Check, |stream| {
        say(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        say(stream, "2\r\nhi\r\n0\r\nDigest: none\r\n\r\n")
    }),
    (Outcome::Ok, Phase::Check, |stream| {
        say(stream, "HTTP/1.1 100 Continue\r\n\r\n");
        say(stream, "HTTP/1.1 200 OK\r\n\r\nuntil the end");
        After::Close
    }),
];

fn say(stream: &mut TcpStream, text: &str) -> After {
    // The load may have given up already.
    let _ = stream.write_all(text.as_bytes());
    After::Keep
}

fn open(rate_per_s: f64, connections: u32) -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(rate_per_s),
        arrivals: Some(Arrivals::Uniform),
        connections: Some(connections),
        duration_ns: Some(1_600_000_000),
        warmup_ns: Some(200_000_000),
        timeout_ns: Some(LIMIT_MS * 1_000_000),
        ..LoadDraft::default()
    }
}

#[test]
fn every_fault_is_counted_in_its_own_class() {
    let server = Server::start(|head, stream| {
        let (_, _, act) = SCRIPT[seq(head) as usize % SCRIPT.len()];
        act(stream)
    });
    let run = run(scenario(&open(100.0, 64)), server.address);
    let tally = run.drove.endpoints[0];
    assert_eq!(tally.offered, 160);
    assert_eq!(run.measured().count() as u64 + tally.unsent, 160);
    for sample in &run.samples {
        let (outcome, phase, _) = SCRIPT[sample.serial as usize % SCRIPT.len()];
        assert_eq!(
            (sample.outcome, sample.phase),
            (outcome, phase),
            "{sample:?}"
        );
        assert_eq!(sample.errno != 0, outcome == Outcome::Reset, "{sample:?}");
        let answered = !matches!(phase, Phase::Connect | Phase::Send | Phase::FirstByte);
        assert_eq!(sample.first_byte.is_some(), answered, "{sample:?}");
        assert_eq!(sample.received_bytes > 0, answered, "{sample:?}");
        let censored_after = sample.outcome.is_censored() && sample.first_byte.is_none();
        assert!(!censored_after || sample.latency_ns() >= LIMIT_MS * 1_000_000);
        assert!(sample.scheduled <= sample.ready && sample.ready <= sample.done);
    }
    // The server's own count: nothing was sent twice, nothing was made up.
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    for head in server.seen.lock().unwrap().iter() {
        *seen.entry(seq(head)).or_default() += 1;
    }
    let sent: BTreeMap<u32, u32> = run.samples.iter().map(|s| (s.serial, 1)).collect();
    assert_eq!(seen, sent);
}

#[test]
fn refusals_are_counted_and_not_hammered() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let load = LoadDraft {
        users: Some(2),
        duration_ns: Some(300_000_000),
        warmup_ns: Some(50_000_000),
        ..LoadDraft::default()
    };
    let run = run(scenario(&load), address);
    assert!(run.measured().count() > 0);
    for sample in &run.samples {
        assert_eq!(
            (sample.outcome, sample.phase),
            (Outcome::Refused, Phase::Connect)
        );
        assert_eq!(
            i32::from(sample.errno),
            rustix::io::Errno::CONNREFUSED.raw_os_error()
        );
        assert_eq!(
            (sample.sent, sample.connected, sample.connection),
            (None, None, NONE)
        );
        assert!(sample.connect_begin.is_some());
    }
    for user in 0..2 {
        let mine: Vec<_> = run
            .samples
            .iter()
            .filter(|sample| sample.user == user)
            .collect();
        for pair in mine.windows(2) {
            assert!(pair[1].scheduled.since(pair[0].done) >= 10_000_000);
        }
    }
}

#[test]
fn answers_are_held_against_what_is_expected() {
    let server = Server::start(|head, stream| {
        if head.starts_with("HEAD") {
            say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        } else {
            say(stream, OK)
        }
    });
    let mut scenario = scenario(&open(50.0, 4));
    let literal = |text| Some(Template::literal(text, Escape::None));
    let mut miss = Endpoint::get("miss".into(), Template::literal("/1", Escape::Url));
    miss.expect.contains = literal("nothing");
    let mut head = Endpoint::get("head".into(), Template::literal("/2", Escape::Url));
    head.method = "HEAD".into();
    scenario.endpoints[0].expect.contains = literal("hits");
    scenario.endpoints.extend([miss, head]);
    let run = run(scenario, server.address);
    for (endpoint, outcome) in [(0, Outcome::Ok), (1, Outcome::Check), (2, Outcome::Ok)] {
        let mut samples = run
            .samples
            .iter()
            .filter(|s| s.endpoint == endpoint)
            .peekable();
        assert!(samples.peek().is_some());
        assert!(samples.all(|sample| sample.outcome == outcome && sample.status == 200));
    }
}

#[test]
fn more_than_can_be_sent_is_counted_and_ends() {
    let server = Server::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(2));
        say(stream, OK)
    });
    let load = LoadDraft {
        duration_ns: Some(500_000_000),
        warmup_ns: Some(100_000_000),
        ..open(1e6, 2)
    };
    let run = run(scenario(&load), server.address);
    let tally = run.drove.endpoints[0];
    assert_eq!(tally.offered, 500_000);
    assert!(tally.unsent > 400_000, "{tally:?}");
    assert!(
        run.samples
            .iter()
            .all(|sample| sample.outcome == Outcome::Ok)
    );
    // What was late was late for want of a connection, and says so.
    let late = run
        .samples
        .iter()
        .filter(|sample| sample.queued_ns() > 1_000_000)
        .count();
    assert!(late * 2 > run.samples.len());
}
