//! What the places of a station are, from how many of a kind there are: programs' workers, threads of an executor's pool for
//! blocking work, or connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::trace::{Call, is_unix};

use crate::case::Case;
use crate::trace::calls::Asked;
use crate::trace::index::{State as Doing, TrafficKind};
use crate::trace::inside::Inside;

/// Programs that clients keep a bounded pool of connections to, by their drivers' defaults. Clients of HTTP bound none
/// (Go, Java, Node.js, Rust), so that as many connections as places are the trace of a limit before them.
const POOLED: &[&str] = &[
    "postgres",
    "mysqld",
    "mariadbd",
    "mongod",
    "redis-server",
    "valkey-server",
    "memcached",
    "oracle",
    "sqlservr",
    "clickhouse-server",
    "pgbouncer",
];
/// Programs that forward requests, and bound the connections to each server behind them.
const PROXIES: &[&str] = &[
    "haproxy", "nginx", "envoy", "httpd", "apache2", "traefik", "caddy", "varnishd",
];
/// So many waits show which threads are busy in nearly all of them …
const WAITS_MOST: usize = 200;
/// … which is this share: what is between two jobs of one thread is the rest.
const BUSY_LEAST: f64 = 0.8;

/// The program that serves the target over sockets, a process of its own or a dependency on this host, if as many of
/// its threads do as the station has places: they are what requests wait for. A dependency that is asked by no more at once
/// than there are places has as many threads at work for that reason, and is not what they wait for.
pub(super) fn workers(
    inside: &Inside<'_>,
    (least, most): (u32, u32),
    before: bool,
) -> Option<(String, u32)> {
    let sockets = &inside.index.sockets;
    let mut serving: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for socket in 0..sockets.len() {
        let clients = sockets
            .end(socket)
            .is_some_and(|end| inside.is_clients(end));
        let internal = inside.is_internal(socket);
        if clients || !inside.serves(socket) || before && !internal {
            continue;
        }
        let wrote = sockets
            .traffic(socket)
            .iter()
            .filter(|t| t.kind == TrafficKind::Wrote);
        for traffic in wrote {
            serving
                .entry(inside.process_name(traffic.tid))
                .or_default()
                .insert(traffic.tid);
        }
    }
    let mut counts = serving
        .into_iter()
        .map(|(process, tids)| (process.to_owned(), tids.len() as u32));
    counts.find(|(_, count)| (least..=most).contains(count) && *count > 1)
}

/// How many threads that serve no connection themselves are at work in nearly all waits, behind threads that hand work over:
/// event loops, and runtimes that park. One that sleeps or waits for a lock is not at work.
pub(super) fn blocking(
    inside: &Inside<'_>,
    serving: &BTreeSet<u32>,
    waits: &[(u64, u64)],
) -> Option<u32> {
    let trace = inside.trace();
    let hands_over = |&tid: &u32| inside.loops.has(tid) || trace.parks(tid);
    if !serving.iter().any(hands_over) {
        return None;
    }
    let every = waits.len().div_ceil(WAITS_MOST).max(1);
    let middles: Vec<u64> = waits
        .iter()
        .step_by(every)
        .map(|(begin, end)| begin + (end - begin) / 2)
        .collect();
    let is_at_work = |tid: u32, at: u64| {
        let slices = inside.index.slices(tid, at, at.saturating_add(1));
        slices.first().is_some_and(|slice| match slice.state {
            Doing::Run | Doing::Ready(_) => true,
            Doing::Blocked(off) => !matches!(
                inside.stacks.call_in(off),
                None | Some(Call::Futex | Call::Poll | Call::Sleep)
            ),
            Doing::Gone | Doing::Unknown => false,
        })
    };
    let is_busy = |tid: &u32| {
        let busy = middles.iter().filter(|&&at| is_at_work(*tid, at)).count();
        busy as f64 >= BUSY_LEAST * middles.len().max(1) as f64
    };
    let tids = inside.index.tids();
    let others = tids.filter(|&tid| inside.is_targets(tid) && !serving.contains(&tid));
    Some(others.filter(is_busy).count() as u32).filter(|&count| count > 0)
}

/// Connections to another server that may be the places of a station.
pub(super) struct Pool {
    /// Where that server is asked.
    pub(super) remote: String,
    /// How many there are.
    pub(super) connections: u32,
    /// Whether it is not known which program is asked.
    pub(super) is_unknown: bool,
    /// Whether clients of that program, or this client, keep a bounded pool by default.
    pub(super) is_usual: bool,
}

/// The other server that the target asks over as many connections as the station may have places, with their number: as
/// many as it has, or as are in use at once where it makes new ones each time.
pub(super) fn connections(
    case: &Case<'_>,
    inside: &Inside<'_>,
    (least, most): (u32, u32),
) -> Option<Pool> {
    let calls = inside.calls(case).all();
    let mut by_remote: BTreeMap<SocketAddr, Vec<&Asked>> = BTreeMap::new();
    for call in calls {
        by_remote.entry(call.remote).or_default().push(call);
    }
    let by = inside.process_name(calls.first()?.tid);
    // A connection that is closed and one that takes its place are both there for a moment; one that is given back before the
    // answer may serve the next request before that.
    let fits = |count: u32| (least.saturating_sub(1).max(1)..=most + 1).contains(&count);
    let of = by_remote.into_iter().filter_map(|(remote, own)| {
        let peer = inside.program_at(remote);
        let sockets: BTreeSet<u32> = own.iter().map(|call| call.socket).collect();
        let count = Some(sockets.len() as u32)
            .filter(|&n| fits(n))
            .or_else(|| Some(at_once(&own)).filter(|&n| fits(n)))?;
        let pool = Pool {
            remote: inside.other_end(own[0].socket)?,
            connections: count.min(most),
            // Over a Unix socket a database is asked, or an application server.
            is_unknown: peer.is_none() || is_unix(own[0].remote),
            is_usual: peer.is_some_and(|peer| POOLED.contains(&peer)) || PROXIES.contains(&by),
        };
        Some((own.len(), pool))
    });
    of.max_by_key(|(asked, _)| *asked).map(|(_, pool)| pool)
}

/// How many of the calls are under way at once, at most.
fn at_once(calls: &[&Asked]) -> u32 {
    let begins = calls.iter().map(|call| (call.begin, 1));
    let mut steps: Vec<(u64, i32)> = begins
        .chain(calls.iter().map(|call| (call.end, -1)))
        .collect();
    steps.sort_unstable();
    let under_way = steps.iter().scan(0, |now, (_, step)| {
        *now += step;
        Some(*now)
    });
    under_way.max().unwrap_or(0).max(0) as u32
}
