//! Database engines: programs that answer queries, and libraries that do so within the target. One that computes for long for one
//! answer reads many rows for it.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{Actor, Holder, Path, Phase, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};

use crate::overlap::merged;
use crate::trace::index::State as Doing;
use crate::trace::inside::Inside;

/// What programs are called that answer queries, each with a thread or a process that has no other client then: what that one computes
/// is for this question.
const PROGRAMS: &[&str] = &[
    "postgres",
    "mysqld",
    "mariadbd",
    "mongod",
    "slapd",
    "clickhouse",
    "firebird",
];
/// What programs are called that answer all clients in one thread, one command after the other: what that one computes without
/// reading or writing between is one command, for one of them (`aeProcessEvents`, src/ae.c of Redis).
/// On Debian the executable of `redis-server` is `redis-check-rdb`.
const LOOPS: &[&str] = &[
    "redis-server",
    "redis-check-rdb",
    "valkey-server",
    "valkey-check-rdb",
    "keydb-server",
];
/// Parts of the names of functions and of the modules that they are in, of libraries that answer queries.
const LIBRARIES: &[&str] = &[
    "sqlite3",
    "duckdb",
    "modernc.org/sqlite",
    "org.h2.",
    "org.hsqldb.",
    "org.apache.derby.",
    "org.apache.lucene.search.",
];
/// One query computes for so long. In that time SQLite 3.40 reads 28,000 rows of a table, or 350 by a key of theirs (5.6 million rows a
/// second and 14 µs for one; medians of 7 and of 5,000, from Python, 300,000 rows in the page cache): it is no query that an index
/// answers.
const ONE_LEAST_NS: u64 = 5 * MILLISECOND;

/// The engines that compute for most of the time in which an endpoint's requests wait for them.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    /// The other ends of connections to such servers, as actors have them.
    peers: BTreeSet<String>,
    /// Whether it is a library, in which the target computes for most of the time of which stacks are known.
    is_within: bool,
}

impl Engines {
    /// The engines that requests wait for; `commands` are the spans of [`long_commands`].
    pub(crate) fn of(actors: &[Actor], paths: &[Path], commands: &[Span]) -> Self {
        let mut waits: BTreeMap<&str, Part> = BTreeMap::new();
        let mut own = Part::default();
        for slice in paths.iter().flat_map(|path| &path.slices) {
            let Some(actor) = actors.get(slice.actor as usize) else {
                continue;
            };
            if is_reply(slice) && !actor.peer.is_empty() {
                let is_engine =
                    is_of(PROGRAMS, actor) || is_of(LOOPS, actor) && is_within(slice, commands);
                let computes = slice.activity == State::OnCpu && is_engine;
                waits.entry(&actor.peer).or_default().add(slice, computes);
            } else if is_own(slice) && !actor.stack.is_empty() {
                own.add(slice, is_in_library(actor));
            }
        }
        let peers = waits.into_iter().filter(|(_, part)| part.is_most());
        Self {
            peers: peers.map(|(peer, _)| peer.to_owned()).collect(),
            is_within: own.is_most(),
        }
    }

    /// The parts of a request in which such an engine computes, if it does so for long at a time.
    pub(crate) fn queries<'p>(&self, actors: &[Actor], path: &'p Path) -> Vec<&'p Slice> {
        let slices = path.slices.iter();
        let own: Vec<&Slice> = slices
            .filter(|slice| self.is_query(actors, slice))
            .collect();
        let spans = own
            .iter()
            .map(|s| Span::new(Nanos::new(s.begin), Nanos::new(s.end)));
        let longest = merged(spans.collect())
            .iter()
            .map(|span| span.len_ns())
            .max();
        if longest >= Some(ONE_LEAST_NS) {
            own
        } else {
            Vec::new()
        }
    }

    /// Whether a slice is a wait for such an engine, or its work within the target.
    pub(crate) fn is_query(&self, actors: &[Actor], slice: &Slice) -> bool {
        let Some(actor) = actors.get(slice.actor as usize) else {
            return false;
        };
        // What is known to be something else is no query.
        if is_reply(slice) {
            let may_compute = matches!(slice.activity, State::OnCpu | State::Reply);
            return may_compute && self.peers.contains(&actor.peer);
        }
        self.is_within && is_own(slice) && (actor.stack.is_empty() || is_in_library(actor))
    }

    /// Whether the engine is a library of the target: where a query begins and ends there is not seen.
    pub(crate) const fn are_within(&self) -> bool {
        self.is_within
    }
}

fn is_reply(slice: &Slice) -> bool {
    slice.state == State::Reply && slice.phase == Phase::Service && slice.holder == Holder::Peer
}

fn is_own(slice: &Slice) -> bool {
    slice.state == State::OnCpu
        && slice.phase == Phase::Service
        && slice.holder == Holder::ThisRequest
}

/// Whether the thread that a request waits for is one of these programs, or the other end of the connection is.
fn is_of(programs: &[&str], actor: &Actor) -> bool {
    let process = program_of(&actor.process);
    let is_other_end = |name: &str| actor.peer.contains(&format!("(process {name} "));
    programs.contains(&process) || programs.iter().any(|name| is_other_end(name))
}

/// The executable in the name of a process.
fn program_of(process: &str) -> &str {
    process.split(' ').next().unwrap_or_default()
}

/// Whether a process is a database of which each thread (or process) answers one client.
pub(crate) fn is_engine(process: &str) -> bool {
    PROGRAMS.contains(&program_of(process))
}

/// Whether a process answers queries, or keeps values by their keys.
pub(crate) fn is_store(process: &str) -> bool {
    let program = program_of(process);
    PROGRAMS.contains(&program) || LOOPS.contains(&program)
}

/// Whether most of a slice lies in these spans.
fn is_within(slice: &Slice, spans: &[Span]) -> bool {
    let own = Span::new(Nanos::new(slice.begin), Nanos::new(slice.end));
    let first = spans.partition_point(|span| span.end <= own.begin);
    let within = spans[first..]
        .iter()
        .take_while(|span| span.begin < own.end);
    2 * within.map(|span| span.overlap_ns(own)).sum::<u64>() > own.len_ns()
}

/// When servers that answer all clients in one thread computed for one command of the target for long, in order of time.
pub(crate) fn long_commands(inside: &Inside<'_>) -> Vec<Span> {
    let index = &inside.index;
    let is_loop = |tid: &u32| LOOPS.contains(&program_of(inside.process_name(*tid)));
    let mut all = Vec::new();
    let is_ours = |socket: u32| {
        let asker = index.sockets.other(socket);
        asker.is_some_and(|asker| inside.asks(asker))
    };
    for tid in index.tids().filter(is_loop) {
        let marks = index.marks(tid, 0, u64::MAX);
        // Where addresses are translated between the two, ends are of no pair.
        let is_known = marks.iter().any(|mark| is_ours(mark.socket));
        for pair in marks.windows(2) {
            let (begin, end) = (pair[0].at, pair[1].at);
            // What it computes after an answer is for no client: it forks for a copy, expires keys.
            if pair[0].wrote || end.saturating_sub(begin) < ONE_LEAST_NS {
                continue;
            }
            // A command of another program keeps the target waiting: it has no query to look at.
            if is_known && !is_ours(pair[0].socket) {
                continue;
            }
            let slices = index.slices(tid, begin, end);
            let waits = slices.iter().any(|s| matches!(s.state, Doing::Blocked(_)));
            let runs = slices.iter().filter(|s| matches!(s.state, Doing::Run));
            if !waits && runs.map(|s| s.end - s.begin).sum::<u64>() >= ONE_LEAST_NS {
                all.push(Span::new(Nanos::new(begin), Nanos::new(end)));
            }
        }
    }
    merged(all)
}

fn is_in_library(actor: &Actor) -> bool {
    let mut frames = actor.stack.iter();
    frames.any(|frame| LIBRARIES.iter().any(|name| frame.contains(name)))
}

/// A part of a time.
#[derive(Debug, Default)]
struct Part {
    part_ns: u64,
    all_ns: u64,
}

impl Part {
    const fn add(&mut self, slice: &Slice, counts: bool) {
        self.all_ns += slice.len_ns();
        if counts {
            self.part_ns += slice.len_ns();
        }
    }

    const fn is_most(&self) -> bool {
        2 * self.part_ns > self.all_ns
    }
}

#[cfg(test)]
mod tests {
    use slowpath_attribution::Basis;

    use super::*;

    const MS: u64 = MILLISECOND;

    fn actors() -> Vec<Actor> {
        let of = |process: &str, peer: &str, frame: &str| Actor {
            process: process.to_owned(),
            peer: peer.to_owned(),
            stack: (!frame.is_empty())
                .then(|| frame.to_owned())
                .into_iter()
                .collect(),
            ..Actor::default()
        };
        vec![
            of("postgres", "a database", ""),
            of("python3.11", "another server", ""),
            of("server", "", "0xa9d50 (libsqlite3.so.0.8.6)"),
            of("server", "", "render (server)"),
            of("", "127.0.0.1:6379 (process redis-server on this host)", ""),
        ]
    }

    /// A request that does these one after the other: an actor, what it does, for how long.
    fn path(parts: &[(u32, State, u64)]) -> Path {
        let mut at = 0;
        let mut slices = Vec::new();
        for &(actor, activity, ns) in parts {
            let is_own = actor == 2 || actor == 3;
            slices.push(Slice {
                begin: at,
                end: at + ns,
                phase: Phase::Service,
                state: if is_own { State::OnCpu } else { State::Reply },
                holder: if is_own {
                    Holder::ThisRequest
                } else {
                    Holder::Peer
                },
                activity,
                actor,
                basis: Basis::Traced,
            });
            at += ns;
        }
        Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices,
        }
    }

    /// For how long engines compute for a request.
    fn queried_ns(parts: &[(u32, State, u64)]) -> u64 {
        queried_beside(parts, &[])
    }

    /// The same, where a loop computes for one command in these spans.
    fn queried_beside(parts: &[(u32, State, u64)], commands: &[Span]) -> u64 {
        let path = [path(parts)];
        let engines = Engines::of(&actors(), &path, commands);
        engines
            .queries(&actors(), &path[0])
            .iter()
            .map(|s| s.len_ns())
            .sum()
    }

    #[test]
    fn a_database_that_computes_for_one_answer_reads_many_rows() {
        use State::{OnCpu, Reply};
        let (most, rest) = ((0, OnCpu, 30 * MS), (0, Reply, 10 * MS));
        assert_eq!(queried_ns(&[most, rest, (3, OnCpu, 5 * MS)]), 40 * MS);
        // What it is seen to wait for is no query.
        let locked = (0, State::Lock, 10 * MS);
        assert_eq!(queried_ns(&[most, locked]), 30 * MS);
        // It waits for most of the time: for a lock, a disk, or its own client.
        assert_eq!(queried_ns(&[(0, OnCpu, 10 * MS), (0, Reply, 30 * MS)]), 0);
        // Whatever it is, it answers no queries.
        assert_eq!(queried_ns(&[(1, OnCpu, 30 * MS)]), 0);
        // Many short ones, with something else between.
        let short = [(0, OnCpu, MS), (3, OnCpu, MS)].repeat(30);
        assert_eq!(queried_ns(&short), 0);
    }

    #[test]
    fn a_loop_that_computes_for_one_command_keeps_all_clients_waiting() {
        use State::OnCpu;
        let wait = [(4, OnCpu, 30 * MS)];
        let command = |end: u64| [Span::new(Nanos::new(1), Nanos::new(end * MS))];
        assert_eq!(queried_beside(&wait, &command(50)), 30 * MS);
        // Many commands, of which one is long.
        assert_eq!(queried_beside(&wait, &command(10)), 0);
    }

    #[test]
    fn an_engine_within_the_target_is_known_by_its_library() {
        use State::OnCpu;
        assert_eq!(
            queried_ns(&[(2, OnCpu, 30 * MS), (3, OnCpu, 5 * MS)]),
            30 * MS
        );
        assert_eq!(queried_ns(&[(2, OnCpu, 10 * MS), (3, OnCpu, 30 * MS)]), 0);
    }
}
