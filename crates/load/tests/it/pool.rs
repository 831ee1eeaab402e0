//! A pool of connections: how many it opens, and which one a request takes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Http, LoadDraft, PoolOpen, PoolReuse, Think,
};

use crate::http2_server::{Http2Server, Manner, ok};
use crate::server::{After, OK, Server};
use crate::{Run, plan, run, scenario};

/// The most connections of a pool here.
const CONNECTIONS: u32 = 64;

fn open(rate_per_s: f64) -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(rate_per_s),
        arrivals: Some(Arrivals::Poisson),
        connections: Some(CONNECTIONS),
        duration_ns: Some(800_000_000),
        warmup_ns: Some(200_000_000),
        ..LoadDraft::default()
    }
}

fn as_before(draft: LoadDraft) -> LoadDraft {
    LoadDraft {
        reuse: Some(PoolReuse::Oldest),
        open: Some(PoolOpen::AtStart),
        ..draft
    }
}

fn answering(pause: Duration) -> Server {
    Server::start(move |_, stream| {
        std::thread::sleep(pause);
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

/// The most requests that were due and not answered at one instant.
fn most_at_once(run: &Run) -> usize {
    let under_way = |at: Nanos| {
        let is = |s: &&Sample| s.scheduled <= at && at <= s.done;
        run.samples.iter().filter(is).count()
    };
    let most = run.samples.iter().map(|s| under_way(s.scheduled)).max();
    most.unwrap_or(0)
}

fn assert_all_ok(run: &Run) {
    assert!(run.samples.len() > 3);
    for sample in &run.samples {
        assert_eq!(sample.outcome, Outcome::Ok, "{sample:?}");
    }
}

/// For each request on a connection that was used before: when that was over, and the same of each
/// other connection that was free all the time from the instant at which it was due.
fn choices(run: &Run) -> Vec<(Nanos, Vec<Nanos>)> {
    let mut by_connection: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    let mut sent: Vec<&Sample> = run.samples.iter().collect();
    sent.sort_by_key(|sample| sample.sent);
    for sample in &sent {
        by_connection
            .entry(sample.connection)
            .or_default()
            .push(sample);
    }
    let used_again = sent.iter().filter(|s| s.connect_begin.is_none());
    let choice = |sample: &&&Sample| {
        let before = |connection: u32| {
            let all = by_connection.get(&connection)?;
            let at = all.partition_point(|other| other.sent < sample.sent);
            all[..at].last().map(|last| last.done)
        };
        let own = before(sample.connection)?;
        let others = by_connection
            .keys()
            .filter(|&&other| other != sample.connection);
        let free =
            others.filter_map(|&other| before(other).filter(|&done| done < sample.scheduled));
        Some((own, free.collect()))
    };
    used_again.filter_map(|sample| choice(&sample)).collect()
}

#[test]
fn a_modest_rate_opens_as_many_connections_as_are_needed_at_once() {
    let server = answering(Duration::from_millis(20));
    let run = run(scenario(&open(100.0)), server.address);
    assert_all_ok(&run);
    let opened = run.drove.connections_opened as usize;
    let most = most_at_once(&run);
    assert!(opened > 1 && opened <= most, "{opened} for {most} at once");
    assert!(most < CONNECTIONS as usize, "{most}");
    // Each was opened by a request, and the time that took is part of its latency.
    let dials: Vec<_> = run
        .samples
        .iter()
        .filter(|s| s.connect_begin.is_some())
        .collect();
    assert_eq!(dials.len(), opened);
    for dial in dials {
        assert_eq!((dial.index_on_connection, dial.queued_ns()), (0, 0));
        assert!(dial.connect_begin >= Some(dial.scheduled) && dial.connected <= dial.sent);
    }
}

#[test]
fn the_connection_that_was_used_last_is_used_next() {
    let server = answering(Duration::from_millis(15));
    let run = run(scenario(&open(150.0)), server.address);
    assert_all_ok(&run);
    let choices = choices(&run);
    assert!(choices.len() > 20);
    for (own, others) in choices {
        assert!(others.iter().all(|&other| other <= own));
    }
}

#[test]
fn the_connection_that_rested_for_longest_may_be_next_instead() {
    let server = answering(Duration::from_millis(15));
    let oldest = LoadDraft {
        reuse: Some(PoolReuse::Oldest),
        ..open(150.0)
    };
    let run = run(scenario(&oldest), server.address);
    assert_all_ok(&run);
    let opened = run.drove.connections_opened as usize;
    assert!(opened <= most_at_once(&run));
    let choices = choices(&run);
    assert!(choices.len() > 20);
    for (own, others) in choices {
        assert!(others.iter().all(|&other| other >= own));
    }
}

#[test]
fn all_may_be_opened_at_the_start_and_take_turns() {
    let server = answering(Duration::ZERO);
    let run = run(scenario(&as_before(open(200.0))), server.address);
    assert_all_ok(&run);
    assert_eq!(*server.accepted.lock().unwrap(), CONNECTIONS);
    assert!(run.samples.iter().all(|s| s.connect_begin.is_none()));
    for (own, others) in choices(&run) {
        assert!(others.iter().all(|&other| other >= own));
    }
    let used: std::collections::BTreeSet<u32> =
        run.samples.iter().map(|sample| sample.connection).collect();
    assert_eq!(used.len(), CONNECTIONS as usize);
}

#[test]
fn what_no_connection_is_free_for_waits_once_all_are_open() {
    let server = answering(Duration::from_millis(40));
    let load = LoadDraft {
        connections: Some(2),
        ..open(200.0)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    assert_eq!(*server.accepted.lock().unwrap(), 2);
    let waited = run.measured().filter(|s| s.queued_ns() > 0).count();
    assert!(waited * 2 > run.measured().count());
    assert!(run.drove.endpoints[0].unsent > 0);
}

#[test]
fn loops_grow_their_own_shares_of_a_pool() {
    let server = answering(Duration::from_millis(2));
    let load = LoadDraft {
        connections: Some(7),
        loops: Some(3),
        ..open(300.0)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    let opened = run.drove.connections_opened;
    assert!((3..=7).contains(&opened), "{opened}");
    assert_eq!(u64::from(*server.accepted.lock().unwrap()), opened);
}

/// Serves so many connections at a time, each by a thread until the client closes it, as many
/// servers of Ruby and Python do; others wait in the accept queue.
fn thread_a_connection(threads: usize) -> SocketAddr {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    for _ in 0..threads {
        let listener = Arc::clone(&listener);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                stream.set_nodelay(true).unwrap();
                let mut bytes = [0; 4096];
                while let Ok(1..) = stream.read(&mut bytes) {
                    let _ = stream.write_all(OK.as_bytes());
                }
            }
        });
    }
    address
}

#[test]
fn a_server_with_a_thread_for_each_connection_is_not_occupied_by_idle_ones() {
    let load = LoadDraft {
        arrivals: Some(Arrivals::Uniform),
        duration_ns: Some(1_500_000_000),
        ..open(10.0)
    };
    let grown = run(scenario(&load), thread_a_connection(5));
    assert_all_ok(&grown);
    assert!(grown.drove.connections_opened <= 5);
    let short = LoadDraft {
        timeout_ns: Some(300_000_000),
        ..load
    };
    let opened = run(scenario(&as_before(short)), thread_a_connection(5));
    let starved = opened
        .samples
        .iter()
        .filter(|s| s.outcome == Outcome::Timeout);
    assert!(starved.count() > 3);
}

#[test]
fn a_connection_that_the_server_closes_while_it_is_idle_leaves_the_pool() {
    // Two users at once need two connections; the server closes what it has answered on.
    let server = Server::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(10));
        let _ = stream.write_all(OK.as_bytes());
        After::Close
    });
    let load = LoadDraft {
        users: Some(2),
        think: Some(Think::Uniform {
            min_ns: 150_000_000,
            max_ns: 150_000_000,
        }),
        connection: Some(ConnectionUse::Pool),
        connections: Some(8),
        duration_ns: Some(800_000_000),
        warmup_ns: Some(0),
        ..LoadDraft::default()
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    let requests = run.samples.len() as u64;
    assert_eq!(run.drove.connections_opened, requests);
    // The last ones may end with the load before they are found closed.
    let stale = run.drove.connections_stale;
    assert!(stale <= requests && stale + 2 >= requests, "{stale}");
    assert!(run.samples.iter().all(|s| s.idle_before_ns == 0));
}

#[test]
fn connections_at_rest_are_not_free_and_the_pool_grows_beside_them() {
    let server = answering(Duration::ZERO);
    let load = LoadDraft {
        idle: Some(Think::Uniform {
            min_ns: 200_000_000,
            max_ns: 200_000_000,
        }),
        arrivals: Some(Arrivals::Uniform),
        ..open(50.0)
    };
    let run = run(scenario(&load), server.address);
    assert_all_ok(&run);
    // Ten requests come while one connection rests.
    let opened = run.drove.connections_opened;
    assert!((10..CONNECTIONS.into()).contains(&opened), "{opened}");
    let used_again = run.samples.iter().filter(|s| s.connect_begin.is_none());
    let rests: Vec<u64> = used_again.map(|s| s.idle_before_ns).collect();
    assert!(!rests.is_empty() && rests.iter().all(|&rest| rest >= 200_000_000));
}

#[test]
fn a_warm_up_that_sends_nothing_opens_nothing_on_demand() {
    let server = answering(Duration::ZERO);
    let opened_before = |load: &LoadDraft| {
        let plan = plan(scenario(load));
        let what = slowpath_load::Drive {
            plan: &plan,
            repeat: 0,
            route: slowpath_load::Route::plain([server.address]),
            places: slowpath_core::scenario::Places::default(),
            host_header: server.address.to_string(),
            silent_warmup: true,
        };
        let (mut keys, sink) = (slowpath_load::Keys::new(), crate::Everything::default());
        let control = slowpath_load::Control::default();
        let drove = slowpath_load::drive(&what, &control, &mut keys, &sink).unwrap();
        let samples = sink.samples.into_inner().unwrap();
        let dialled = samples.iter().filter(|s| s.connect_begin.is_some()).count();
        assert!(samples.iter().all(|s| s.scheduled >= drove.window.begin));
        drove.connections_opened - dialled as u64
    };
    assert_eq!(opened_before(&open(50.0)), 0);
    assert_eq!(
        opened_before(&as_before(open(50.0))),
        u64::from(CONNECTIONS)
    );
}

#[test]
fn streams_of_a_connection_are_used_before_another_one_is_dialled() {
    let server = Http2Server::start(Manner::default(), |_, respond| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            ok(respond);
        })
    });
    let run_of = |draft: LoadDraft| {
        let mut scenario = scenario(&LoadDraft {
            streams: Some(8),
            connections: Some(8),
            ..draft
        });
        scenario.target.http = Http::Two;
        let run = run(scenario, server.address);
        assert_all_ok(&run);
        run
    };
    let grown = run_of(open(200.0));
    let most = most_at_once(&grown) as u64;
    let opened = grown.drove.connections_opened;
    assert!(opened <= most.div_ceil(8), "{opened} for {most} at once");
    assert_eq!(run_of(as_before(open(200.0))).drove.connections_opened, 8);
}
