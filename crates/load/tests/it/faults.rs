//! The faults that load generators lose, merge or repeat: each is counted in its own class, and as
//! often as the server did it.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType};
use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::LoadDraft;

use crate::server::{After, OK, Server, seq};
use crate::{run, scenario};

/// As many as in published comparisons.
const CONNECTIONS: u32 = 50;

/// How often the server did what.
#[derive(Default)]
struct Did {
    served: AtomicU32,
    reset: AtomicU32,
    closed: AtomicU32,
    truncated: AtomicU32,
    held: AtomicU32,
}

/// Resets 2 %, closes 2 % before a byte, cuts 2 % short, never answers 1 %.
fn faulty(did: &Arc<Did>) -> Server {
    let did = Arc::clone(did);
    Server::start(move |head, stream| {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\nhalf of it";
        let note = |what: &AtomicU32| what.fetch_add(1, Ordering::Relaxed);
        match seq(head) % 100 {
            10 | 60 => {
                let _ = stream.write_all(half.as_bytes());
                // The reset overtakes what has not been read.
                std::thread::sleep(Duration::from_millis(20));
                note(&did.reset);
                After::Reset
            }
            20 | 70 => {
                note(&did.closed);
                After::Close
            }
            30 | 80 => {
                let _ = stream.write_all(half.as_bytes());
                note(&did.truncated);
                After::Close
            }
            40 => {
                note(&did.held);
                let _ = stream.read(&mut [0]);
                After::Close
            }
            _ => {
                let _ = stream.write_all(OK.as_bytes());
                note(&did.served);
                After::Keep
            }
        }
    })
}

#[test]
fn counts_are_the_servers_and_nothing_is_sent_twice() {
    let did = Arc::new(Did::default());
    let server = faulty(&did);
    let load = LoadDraft {
        rate_per_s: Some(2000.0),
        connections: Some(CONNECTIONS),
        duration_ns: Some(SECOND),
        warmup_ns: Some(SECOND / 2),
        timeout_ns: Some(SECOND),
        ..LoadDraft::default()
    };
    let run = run(scenario(&load), server.address);
    let count = |outcome, phase| {
        let is_such = |sample: &&slowpath_core::sample::Sample| {
            (sample.outcome, sample.phase) == (outcome, phase)
        };
        run.samples.iter().filter(is_such).count() as u32
    };
    let told = |what: &AtomicU32| what.load(Ordering::Relaxed);
    assert_eq!(count(Outcome::Ok, Phase::Check), told(&did.served));
    assert_eq!(count(Outcome::Reset, Phase::Body), told(&did.reset));
    assert_eq!(count(Outcome::Closed, Phase::FirstByte), told(&did.closed));
    assert_eq!(count(Outcome::Truncated, Phase::Body), told(&did.truncated));
    assert_eq!(count(Outcome::Timeout, Phase::FirstByte), told(&did.held));
    for what in [&did.reset, &did.closed, &did.truncated, &did.held] {
        assert!(told(what) > 0);
    }
    let mut seen: Vec<u32> = server
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|head| seq(head))
        .collect();
    seen.sort_unstable();
    let sent: Vec<u32> = run.samples.iter().map(|sample| sample.serial).collect();
    assert_eq!(
        seen, sent,
        "each request was seen once, and each sample was a request"
    );
}

/// A listener with a queue of 8, of which 8 connections are taken and no more.
fn stuck() -> (SocketAddr, Arc<AtomicU32>) {
    let listener = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    rustix::net::listen(&listener, 8).unwrap();
    let listener = std::net::TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    let served = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&served);
    std::thread::spawn(move || {
        for _ in 0..8 {
            let (mut stream, _) = listener.accept().unwrap();
            let served = Arc::clone(&theirs);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
                    served.fetch_add(1, Ordering::Relaxed);
                    if stream.write_all(OK.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
        // The listener stays open, and nothing is accepted.
        loop {
            std::thread::park();
        }
    });
    (address, served)
}

#[test]
fn connections_that_are_never_served_do_not_look_like_success() {
    let (address, served) = stuck();
    let load = LoadDraft {
        users: Some(CONNECTIONS),
        duration_ns: Some(SECOND),
        warmup_ns: Some(SECOND / 4),
        timeout_ns: Some(SECOND / 2),
        ..LoadDraft::default()
    };
    let run = run(scenario(&load), address);
    let ok = run
        .samples
        .iter()
        .filter(|s| s.outcome == Outcome::Ok)
        .count();
    assert_eq!(ok as u32, served.load(Ordering::Relaxed));
    // Eight users are served. All others fail, in the phase in which they are stuck: queued and
    // never accepted, or not even queued.
    let mut failed: Vec<u32> = Vec::new();
    let mut phases = Vec::new();
    for sample in &run.samples {
        match sample.outcome {
            Outcome::Ok | Outcome::Unfinished => {}
            Outcome::Timeout => {
                failed.push(sample.user);
                phases.push(sample.phase);
            }
            other => panic!("{other:?} in {:?}", sample.phase),
        }
    }
    failed.sort_unstable();
    failed.dedup();
    assert_eq!(failed.len(), 42);
    assert!(phases.contains(&Phase::FirstByte) && phases.contains(&Phase::Connect));
}
