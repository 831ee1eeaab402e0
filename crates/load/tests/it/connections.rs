//! Who uses which connection, and when one is made.

use std::collections::BTreeMap;
use std::io::Write;

use slowpath_core::sample::Outcome;
use slowpath_core::scenario::{Arrivals, ConnectionUse, LoadDraft, PoolOpen, PoolReuse, Think};
use slowpath_load::Control;

use crate::server::{After, OK, Server};
use crate::{Run, run, run_with, scenario};

fn keeping() -> Server {
    Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

fn short(draft: LoadDraft) -> LoadDraft {
    LoadDraft {
        duration_ns: Some(300_000_000),
        warmup_ns: Some(100_000_000),
        ..draft
    }
}

fn users(users: u32, think_ns: u64) -> LoadDraft {
    short(LoadDraft {
        users: Some(users),
        think: Some(Think::Uniform {
            min_ns: think_ns,
            max_ns: think_ns,
        }),
        ..LoadDraft::default()
    })
}

fn assert_all_ok(run: &Run) {
    assert!(run.measured().count() > 3);
    for sample in &run.samples {
        assert_eq!(sample.outcome, Outcome::Ok, "{sample:?}");
    }
}

#[test]
fn each_user_keeps_one_connection() {
    let server = keeping();
    let run = run(scenario(&users(3, 0)), server.address);
    assert_all_ok(&run);
    assert_eq!(
        (run.drove.connections_opened, run.drove.connections_stale),
        (3, 0)
    );
    assert_eq!(*server.accepted.lock().unwrap(), 3);
    let mut of_user: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for sample in &run.samples {
        let (connection, index) = of_user.entry(sample.user).or_insert((sample.connection, 0));
        assert_eq!(
            (sample.connection, sample.index_on_connection),
            (*connection, *index)
        );
        assert_eq!(sample.connect_begin.is_some(), *index == 0);
        assert!(sample.in_flight < 3);
        *index += 1;
    }
    assert_eq!(of_user.len(), 3);
}

#[test]
fn users_think_between_requests() {
    let server = keeping();
    let run = run(scenario(&users(2, 20_000_000)), server.address);
    assert_all_ok(&run);
    for user in 0..2 {
        let mine: Vec<_> = run
            .samples
            .iter()
            .filter(|sample| sample.user == user)
            .collect();
        for pair in mine.windows(2) {
            assert_eq!(pair[1].scheduled.since(pair[0].done), 20_000_000);
            assert!(pair[1].idle_before_ns >= 20_000_000);
        }
    }
}

#[test]
fn users_may_share_a_pool_smaller_than_they_are() {
    let server = keeping();
    let load = LoadDraft {
        connection: Some(ConnectionUse::Pool),
        connections: Some(2),
        ..users(5, 0)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    assert_eq!(*server.accepted.lock().unwrap(), 2);
    assert!(run.samples.iter().all(|sample| sample.in_flight < 2));
    let served = |user| {
        run.samples
            .iter()
            .filter(|sample| sample.user == user)
            .count()
    };
    assert!((0..5).all(|user| served(user) > 0));
}

#[test]
fn a_pool_may_be_opened_at_the_start_and_used_in_turn() {
    let server = keeping();
    let load = LoadDraft {
        rate_per_s: Some(400.0),
        arrivals: Some(Arrivals::Uniform),
        connections: Some(8),
        reuse: Some(PoolReuse::Oldest),
        open: Some(PoolOpen::AtStart),
        ..LoadDraft::default()
    };
    let run = run(scenario(&short(load)), server.address);
    assert_all_ok(&run);
    assert_eq!(run.drove.endpoints[0].offered, 120);
    assert_eq!(*server.accepted.lock().unwrap(), 8);
    assert!(
        run.samples
            .iter()
            .all(|sample| sample.connect_begin.is_none())
    );
    let mut uses = [0; 8];
    for sample in &run.samples {
        uses[sample.connection as usize] += 1;
    }
    assert!(uses.iter().all(|&count| count > 0), "{uses:?}");
}

#[test]
fn each_request_may_have_its_own_connection() {
    let server = keeping();
    let load = LoadDraft {
        connection: Some(ConnectionUse::PerRequest),
        ..users(2, 5_000_000)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    assert_eq!(run.drove.connections_opened, run.samples.len() as u64);
    for sample in &run.samples {
        assert_eq!((sample.index_on_connection, sample.idle_before_ns), (0, 0));
        assert!(sample.connect_begin >= Some(sample.scheduled));
        assert!(sample.connected <= sample.sent);
        assert_ne!(sample.local_port, 0);
    }
}

#[test]
fn a_connection_found_closed_is_dialled_again_and_is_no_error() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Close
    });
    // Long against what keeps the server's thread from its close after the answer.
    let load = LoadDraft {
        duration_ns: Some(1_000_000_000),
        ..users(1, 150_000_000)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    let requests = run.samples.len() as u64;
    assert_eq!(run.drove.connections_opened, requests);
    assert_eq!(run.drove.connections_stale, requests - 1);
}

#[test]
fn a_connection_said_to_close_is_not_stale() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
        After::Close
    });
    let run = run(scenario(&users(2, 0)), server.address);
    assert_all_ok(&run);
    assert_eq!(run.drove.connections_opened, run.samples.len() as u64);
    assert_eq!(run.drove.connections_stale, 0);
}

/// A response in two small writes with Nagle's algorithm on: the second one waits for the
/// acknowledgement of the first.
fn nagling() -> Server {
    Server::start(|_, stream| {
        stream.set_nodelay(false).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        let _ = stream.write_all(b"Content-Length: 4\r\n\r\nhits");
        After::Keep
    })
}

#[test]
fn acknowledging_at_once_ends_the_wait_for_the_rest_of_a_response() {
    let median_gap = |quickack: bool| {
        let server = nagling();
        let control = Control::default();
        control
            .quickack
            .store(quickack, std::sync::atomic::Ordering::Relaxed);
        let run = run_with(scenario(&users(1, 0)), server.address, &control);
        assert_all_ok(&run);
        let mut gaps: Vec<u64> = run.samples.iter().map(|sample| sample.gap_ns).collect();
        gaps.sort_unstable();
        gaps[gaps.len() / 2]
    };
    let (delayed, quick) = (median_gap(false), median_gap(true));
    assert!(delayed > 4 * quick.max(1), "{delayed} against {quick}");
}
