//! Database engines: programs that answer queries, and libraries that do so within the target. One that computes for long for one
//! answer reads many rows for it.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{Actor, Holder, Path, Phase, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};

use crate::overlap::merged;

/// What programs are called that answer queries, each with a thread or a process that has no other client then: what that one computes
/// is for this question. Redis is none of them, as its loop computes for all clients.
const PROGRAMS: &[&str] = &[
    "postgres",
    "mysqld",
    "mariadbd",
    "mongod",
    "slapd",
    "clickhouse",
    "firebird",
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
    pub(crate) fn of(actors: &[Actor], paths: &[Path]) -> Self {
        let mut waits: BTreeMap<&str, Part> = BTreeMap::new();
        let mut own = Part::default();
        for slice in paths.iter().flat_map(|path| &path.slices) {
            let Some(actor) = actors.get(slice.actor as usize) else {
                continue;
            };
            if is_reply(slice) && !actor.peer.is_empty() {
                let computes = slice.activity == State::OnCpu && is_program(actor);
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

/// Whether the thread that a request waits for is one of such a program, or the other end of the connection is.
fn is_program(actor: &Actor) -> bool {
    let process = actor.process.split(' ').next().unwrap_or_default();
    let is_other_end = |name: &str| actor.peer.contains(&format!("(process {name} "));
    PROGRAMS.contains(&process) || PROGRAMS.iter().any(|name| is_other_end(name))
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
        ]
    }

    /// A request that does these one after the other: an actor, what it does, for how long.
    fn path(parts: &[(u32, State, u64)]) -> Path {
        let mut at = 0;
        let mut slices = Vec::new();
        for &(actor, activity, ns) in parts {
            let is_own = actor > 1;
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
        let path = [path(parts)];
        let engines = Engines::of(&actors(), &path);
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
    fn an_engine_within_the_target_is_known_by_its_library() {
        use State::OnCpu;
        assert_eq!(
            queried_ns(&[(2, OnCpu, 30 * MS), (3, OnCpu, 5 * MS)]),
            30 * MS
        );
        assert_eq!(queried_ns(&[(2, OnCpu, 10 * MS), (3, OnCpu, 30 * MS)]), 0);
    }
}
