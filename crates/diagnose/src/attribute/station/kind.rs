//! What the places of a station are, from how many of a kind there are: programs' workers, threads of an executor's pool for
//! blocking work, or connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_attribution::Place;
use slowpath_core::trace::{Call, NO_STACK, Runtime, is_unix};

use crate::attribute::classify::without_digits;
use crate::case::Case;
use crate::trace::calls::{Asked, Calls};
use crate::trace::index::{State as Doing, TrafficKind};
use crate::trace::inside::Inside;
use crate::under_way::UnderWay;

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
/// Programs that forward requests, and bound the connections to each upstream server.
const PROXIES: &[&str] = &[
    "haproxy", "nginx", "envoy", "httpd", "apache2", "traefik", "caddy", "varnishd",
];
/// No request of HTTP/1 is shorter: `GET / HTTP/1.1` and two ends of line (RFC 9112, section 3). `BEGIN` and `COMMIT` take 10 to 12 bytes
/// in the protocols of PostgreSQL and MySQL, and a `PING` of Redis 14.
const SHORTEST_HTTP_BYTES: u32 = 18;
/// Frames of HTTP/2 without a payload, and with one of 4 or 8 bytes (acknowledged settings, a window, a ping; RFC 9113, section 6), and a
/// heartbeat of AMQP 0-9-1.
const FRAMES_BYTES: [u32; 4] = [8, 9, 13, 17];
/// So many of the questions on a connection are short where it has transactions, of which each has two: a transaction of 40 questions.
const SHORT_LEAST: f64 = 0.05;
/// So many waits show which threads are busy in nearly all of them …
const WAITS_MOST: usize = 200;
/// … which is this share: what is between two jobs of one thread is the rest.
const BUSY_LEAST: f64 = 0.8;
/// The two words of a condition variable that its waiters wait at by turns (`__g_signals` of glibc's `pthread_cond_t`, aligned to 8
/// bytes) differ in these bits of their addresses.
const CONDITION_WORDS: u64 = 7;
/// So many instants of the whole run say when there is least to do …
const INSTANTS: u64 = 400;
/// … and there a thread of a pool mostly stands where it waits for a job …
const AT_REST_LEAST: f64 = 0.5;
/// … or for a third of them, if all threads of a pool do: those that have work for nine tenths of the time were found there in 39 % to
/// 58 % of these instants (four threads of one run).
const POOL_AT_REST_LEAST: f64 = 1.0 / 3.0;
/// With so many waits one thread that rests for a third of the time is at work in [`BUSY_LEAST`] of them by chance in 8 of 100 cases
/// (binomial), and two of a pool in less than one.
const POOL_WAITS_LEAST: usize = 30;

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

/// Which threads are at work in nearly all waits, and at rest when there is least to do.
pub(super) struct Work<'a, 'r> {
    inside: &'a Inside<'r>,
    /// So many instants at which requests wait, and at which the fewest are under way.
    waits: Vec<u64>,
    quiet: Vec<u64>,
}

impl<'a, 'r> Work<'a, 'r> {
    pub(super) fn of(
        case: &Case<'_>,
        inside: &'a Inside<'r>,
        waits: &[(u64, u64)],
        least: u32,
    ) -> Self {
        let every = waits.len().div_ceil(WAITS_MOST).max(1);
        let waits = waits.iter().step_by(every);
        Self {
            inside,
            waits: waits.map(|(begin, end)| begin.midpoint(*end)).collect(),
            quiet: quiet(case, inside, least as usize),
        }
    }

    /// Where a thread rests, if it is at work in nearly all waits; it has to be there for a part of the time at least when there is
    /// least to do.
    fn rest_of_busy(&self, tid: u32, at_rest_least: f64) -> Option<Stands> {
        let at = |&at: &u64| Stands::at(self.inside, tid, at);
        let (rest, share) = most(self.quiet.iter().map(at))?;
        let at_work = self
            .waits
            .iter()
            .map(at)
            .filter(|&stands| stands != rest && stands != Stands::Nowhere);
        let is_busy = share >= at_rest_least
            && matches!(rest, Stands::Blocked(..))
            && at_work.count() as f64 >= BUSY_LEAST * self.waits.len().max(1) as f64;
        is_busy.then_some(rest)
    }

    /// Whether all threads of a pool, by process and name, mostly wait while requests do where they wait when there is least to do:
    /// they have no job. Not every wait has a stack.
    pub(super) fn is_at_rest(&self, pool: &(String, String)) -> bool {
        let inside = self.inside;
        self.of_pool(pool).all(|tid| {
            let at = |&at: &u64| Stands::at(inside, tid, at).without_stack();
            let rest = most(self.quiet.iter().map(at));
            let Some((rest @ Stands::Blocked(..), _)) = rest else {
                return false;
            };
            let known = self
                .waits
                .iter()
                .map(at)
                .filter(|&stands| stands != Stands::Nowhere);
            let (idle, others): (Vec<Stands>, Vec<Stands>) = known.partition(|&s| s == rest);
            idle.len() > others.len()
        })
    }

    /// Whether the threads of a pool do mostly something else while requests wait than when there is least to do.
    pub(super) fn is_at_work(&self, pool: &(String, String)) -> bool {
        let (mut at_work, mut all) = (0, 0);
        for tid in self.of_pool(pool) {
            let at = |&at: &u64| Stands::at(self.inside, tid, at).without_stack();
            let rest = most(self.quiet.iter().map(at)).map(|(rest, _)| rest);
            let busy = |stands: &Stands| Some(*stands) != rest && *stands != Stands::Nowhere;
            at_work += self.waits.iter().map(at).filter(busy).count();
            all += self.waits.len();
        }
        2 * at_work > all
    }

    /// The threads of a pool, by process and name.
    fn of_pool<'p>(&'p self, pool: &'p (String, String)) -> impl Iterator<Item = u32> + 'p {
        let inside = self.inside;
        inside.index.tids().filter(move |&tid| {
            inside.process_name(tid) == pool.0 && without_digits(&inside.thread_name(tid)) == pool.1
        })
    }

    /// What the only thread is that reads and answers requests, if it is what they wait for.
    pub(super) fn only_server(&self, serving: &BTreeSet<u32>) -> Option<Place> {
        let only = serving.first().filter(|_| serving.len() == 1)?;
        self.rest_of_busy(*only, AT_REST_LEAST)
            .map(|rest| match rest {
                Stands::Blocked(Some(Call::Poll), ..) => Place::EventLoop,
                _ => Place::Workers,
            })
    }

    /// How many threads that read from no client are at work, for threads that hand work over: event loops, runtimes that park, and
    /// those that leave it to others to answer. One that rests where it waits for many files is a loop of its own.
    pub(super) fn blocking(
        &self,
        serving: &BTreeSet<u32>,
        fits: impl Fn(u32) -> bool,
    ) -> Option<(Place, u32)> {
        let (inside, trace) = (self.inside, self.inside.trace());
        let own = inside.serving();
        let only_answers = |tid: &u32| own.writers.contains(tid) && !own.readers.contains(tid);
        let hands_over = |&tid: &u32| inside.loops.has(tid) || inside.index.parks(tid);
        if !serving
            .iter()
            .any(|tid| hands_over(tid) || only_answers(tid))
        {
            return None;
        }
        // A thread of Go is of no pool: it runs whatever is ready.
        let is_go = |tid: u32| {
            let process = trace.process_of(tid);
            process.is_some_and(|p| p.runtime == Runtime::Go)
        };
        let others = inside.index.tids().filter(|tid| {
            inside.is_targets(*tid) && (!serving.contains(tid) || only_answers(tid)) && !is_go(*tid)
        });
        let others: Vec<u32> = others.collect();
        let rest = |&tid: &u32| self.rest_of_busy(tid, AT_REST_LEAST);
        let busy: Vec<Stands> = others.iter().filter_map(rest).collect();
        let count = match busy[..] {
            [] => None,
            [Stands::Blocked(Some(Call::Poll), ..)] => Some((Place::EventLoop, 1)),
            _ => Some((Place::Executor, busy.len() as u32)),
        };
        let pool = || Some((Place::Executor, self.busy_pool(&others, &fits)?));
        count.filter(|(_, threads)| fits(*threads)).or_else(pool)
    }

    /// How many threads the pool has of which all are at work in nearly all waits, if that is as many as there may be places, and
    /// several.
    fn busy_pool(&self, tids: &[u32], fits: impl Fn(u32) -> bool) -> Option<u32> {
        let inside = self.inside;
        if self.waits.len() < POOL_WAITS_LEAST {
            return None;
        }
        let mut pools: BTreeMap<(&str, String), Vec<u32>> = BTreeMap::new();
        for &tid in tids {
            // Pools of one kind have a number each, and their threads another one.
            let name = inside.thread_name(tid);
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let pool = (inside.process_name(tid), name.to_owned());
            pools.entry(pool).or_default().push(tid);
        }
        let is_busy = |&tid: &u32| self.rest_of_busy(tid, POOL_AT_REST_LEAST).is_some();
        let mut busy = pools.values().filter_map(|threads| {
            let count = threads.len() as u32;
            (count > 1 && fits(count) && threads.iter().all(is_busy)).then_some(count)
        });
        // Two pools of one size that wait for each other are one answer.
        let count = busy.next()?;
        busy.all(|other| other == count).then_some(count)
    }

    /// Whether each of some threads has a request in nearly all waits: what it did last for a client is to read, or it waits for a
    /// reply, whichever of them has read the request.
    pub(super) fn have_requests(&self, calls: &Calls, tids: &BTreeSet<u32>) -> bool {
        let inside = self.inside;
        let is_clients = |socket: u32| {
            let end = inside.index.sockets.end(socket);
            end.is_some_and(|end| inside.is_clients(end))
        };
        let has_one = |tid: u32, at: u64| {
            let marks = inside.index.marks(tid, 0, at).iter().rev();
            let mut of_clients = marks.filter(|mark| is_clients(mark.socket));
            calls.in_call(tid, at).is_some() || of_clients.next().is_some_and(|mark| !mark.wrote)
        };
        tids.iter().all(|&tid| {
            let with_one = self.waits.iter().filter(|&&at| has_one(tid, at)).count();
            with_one as f64 >= BUSY_LEAST * self.waits.len().max(1) as f64
        })
    }
}

/// Where a thread stands at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    /// It is not known, or not there.
    Nowhere,
    /// It runs, or could.
    Runs,
    /// It waits in a call, about what, and with this stack.
    Blocked(Option<Call>, u64, u32),
}

impl Stands {
    const fn without_stack(self) -> Self {
        match self {
            Self::Blocked(call, about, _) => Self::Blocked(call, about, NO_STACK),
            other => other,
        }
    }

    fn at(inside: &Inside<'_>, tid: u32, at: u64) -> Self {
        let slices = inside.index.slices(tid, at, at.saturating_add(1));
        slices
            .first()
            .map_or(Self::Nowhere, |slice| match slice.state {
                Doing::Run | Doing::Ready(_) => Self::Runs,
                // It has waited since before it was recorded for what.
                Doing::Blocked(off) if off.call.is_none() && off.stack == NO_STACK => Self::Nowhere,
                Doing::Blocked(off) => {
                    let call = inside.stacks.call_in(off);
                    let about = match call {
                        Some(Call::Futex) => off.about & !CONDITION_WORDS,
                        _ => off.about,
                    };
                    Self::Blocked(call, about, off.stack)
                }
                Doing::Gone | Doing::Unknown => Self::Nowhere,
            })
    }
}

/// What occurs most often, and its share.
fn most(all: impl Iterator<Item = Stands>) -> Option<(Stands, f64)> {
    let mut counts: BTreeMap<Stands, usize> = BTreeMap::new();
    for stands in all {
        *counts.entry(stands).or_default() += 1;
    }
    let sum: usize = counts.values().sum();
    let most = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((most.0, most.1 as f64 / sum as f64))
}

/// The quarter of so many instants in which the fewest requests are under way: of those with fewer than a pool of so many
/// threads could be busy with, so that one is at rest.
fn quiet(case: &Case<'_>, inside: &Inside<'_>, least: usize) -> Vec<u64> {
    let samples = case.record.samples.iter();
    let spans = samples.filter_map(|s| Some((s.sent()?.get(), s.done().get())));
    let under_way = UnderWay::new(spans);
    let step = (inside.traced_ns() / INSTANTS).max(1) as usize;
    let blocks = inside.index.blocks.iter();
    let mut all: Vec<u64> = blocks
        .flat_map(|block| (block.span.begin.get()..block.span.end.get()).step_by(step))
        .collect();
    all.sort_by_cached_key(|&at| under_way.at(at));
    all.truncate(all.len().div_ceil(4));
    all.retain(|&at| under_way.at(at) < least);
    all
}

/// A pool of connections that requests use up.
pub(in crate::attribute) struct FullPool {
    /// Where that server is asked.
    pub(in crate::attribute) peer: String,
    /// How many there are.
    pub(in crate::attribute) connections: u32,
    /// Whether requests keep one while they ask another server: as many calls to that one are under way at once as there are connections.
    /// What is asked so by several at once is not asked under a lock.
    pub(in crate::attribute) is_kept: bool,
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
            is_usual: keeps_pool(inside, &own),
        };
        Some((own.len(), pool))
    });
    of.max_by_key(|(asked, _)| *asked).map(|(_, pool)| pool)
}

/// The server that is usually asked over a bounded pool, with the number of connections to it, if all of them are in use at once, and
/// no more calls than that ever are under way to all servers together.
pub(in crate::attribute) fn full_pool(inside: &Inside<'_>, calls: &Calls) -> Option<FullPool> {
    let mut by_remote: BTreeMap<SocketAddr, Vec<&Asked>> = BTreeMap::new();
    for call in calls.all() {
        by_remote.entry(call.remote).or_default().push(call);
    }
    let all: Vec<&Asked> = calls.all().iter().collect();
    let places = at_once(&all);
    let lines = calls.lines();
    let kept = by_remote.iter().find(|(remote, own)| {
        // One that is closed when it is given back, and made again, is one.
        let count = lines.get(remote).map_or(0, |lines| lines.count as u32);
        is_pooled(inside, own[0]) && count == places
    });
    let (remote, own) = kept.filter(|_| places > 1)?;
    let mut others = by_remote.iter().filter(|(other, _)| *other != remote);
    Some(FullPool {
        peer: inside.other_end(own[0].socket)?,
        connections: places,
        is_kept: others.any(|(_, own)| at_once(own) == places),
    })
}

/// Whether clients of the program that is asked, or this client, keep a bounded pool of connections by default.
pub(crate) fn is_pooled(inside: &Inside<'_>, call: &Asked) -> bool {
    let peer = inside.program_at(call.remote);
    peer.is_some_and(|peer| POOLED.contains(&peer))
        || PROXIES.contains(&inside.executable(call.tid))
}

/// Whether calls go to a server that is asked over a bounded pool of connections, by its program, by this one, or by its protocol.
pub(in crate::attribute) fn keeps_pool(inside: &Inside<'_>, calls: &[&Asked]) -> bool {
    is_pooled(inside, calls[0]) || speaks_no_http(inside, calls)
}

/// Whether most connections to a server are used again and again to ask something that is too short for HTTP: what speaks another
/// protocol, also by way of a relay, keeps a pool of connections.
fn speaks_no_http(inside: &Inside<'_>, calls: &[&Asked]) -> bool {
    let is_short = |call: &Asked| {
        let traffic = inside.index.sockets.traffic(call.socket);
        let first = traffic.partition_point(|traffic| traffic.at < call.begin);
        let asked = traffic.get(first);
        asked.is_some_and(|asked| {
            asked.kind == TrafficKind::Wrote
                && (1..SHORTEST_HTTP_BYTES).contains(&asked.bytes)
                && !FRAMES_BYTES.contains(&asked.bytes)
        })
    };
    let mut by_socket: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for call in calls {
        let (short, all) = by_socket.entry(call.socket).or_default();
        *short += usize::from(is_short(call));
        *all += 1;
    }
    let often = by_socket
        .values()
        .filter(|(short, all)| *short as f64 >= SHORT_LEAST * *all as f64 && *short > 0);
    2 * often.count() > by_socket.len()
}

/// Whether requests wait before they ask another server, and not in that server's own queue: while they wait, no
/// more calls are under way than there are places.
pub(super) fn is_before_the_calls(
    case: &Case<'_>,
    inside: &Inside<'_>,
    waits: &[(u64, u64)],
    places: u32,
) -> bool {
    let calls = inside.calls(case).all().iter();
    let under_way = UnderWay::new(calls.map(|call| (call.begin, call.end)));
    let median = under_way.during(waits.iter().copied());
    median.is_some_and(|median| median <= places as usize)
}

/// How many of the calls are under way at once, at most.
pub(crate) fn at_once(calls: &[&Asked]) -> u32 {
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
