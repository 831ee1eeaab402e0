//! Waits in user space of a Go program, by what its goroutines were found waiting for.
//!
//! Where a request waits in user space, the kernel's chain ends at threads that are idle. The goroutine that serves the request's
//! connection was sampled in between, and what it was found waiting for says what the request waited for. Its holder is known by
//! where other goroutines stand at the same instant ([`holders`]).

mod handed;
mod holders;
mod index;
mod stands;

use std::collections::BTreeMap;

use slowpath_attribution::{
    Actor, Basis, CpuUser, DiskUse, Holder, Path, Phase, Place, Reason, Slice, State,
};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::trace::{Does, NO_SOCKET, Stay};

use self::index::{Index, Task};
use self::stands::Door;
use super::overlay;
use crate::case::Case;
use crate::trace::inside::{Inside, Walked};

/// Who is waited for where a function writes a log to what is no connection of TCP: a pipe, or a daemon at a Unix socket.
pub(crate) const LOG: &str = "its log";
/// What was found at a look holds for so long before and after it, unless another look says otherwise: looks are 10 ms apart, and some
/// come late.
const HOLDS_NS: u64 = 15 * MILLISECOND;
/// Functions of a stack that are shown, as of those of threads.
const FRAMES_MOST: usize = 16;
/// Goroutines wait for one another at most so many times.
const MOST_HOPS: usize = 4;
/// A goroutine that waits for others or for a time has waited for the time if it goes on this long before or after that at the
/// latest; looks are so far apart.
const AT_TIME_NS: u64 = 12 * MILLISECOND;

/// What was found out of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    state: State,
    holder: Holder,
    activity: State,
    /// Where the one stands that has what is waited for.
    stack: u32,
    /// The server that is waited for.
    peer: String,
}

impl Found {
    fn of(state: State, holder: Holder, stack: u32) -> Self {
        Self {
            state,
            holder,
            activity: state,
            stack,
            peer: String::new(),
        }
    }

    const fn is_known(&self) -> bool {
        !matches!(self.state, State::Unknown(_))
    }

    const fn computes(&self) -> bool {
        matches!(self.state, State::OnCpu | State::Runnable(_))
    }
}

/// What goroutines were found doing, to be asked for requests.
struct Goroutines<'c, 'r> {
    inside: &'c Inside<'r>,
    index: Index<'r>,
}

/// Lays what goroutines waited for over what the trace leaves open.
pub(super) fn lay_over(
    inside: &Inside<'_>,
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let Some(index) = Index::of(inside) else {
        return;
    };
    let handed = handed::servers(inside, &index);
    let all = Goroutines { inside, index };
    let mut known = BTreeMap::new();
    for (path, walked) in paths.iter_mut().zip(walked) {
        let service = walked.joined.part(Phase::Service);
        let reads = all.index.server(walked.joined.socket, service);
        if let Some(server) = reads.or_else(|| handed.get(&path.sample).copied()) {
            all.lay(path, server, service, (actors, &mut known));
        }
    }
}

/// The same where requests were not followed, for what threads read was not recorded: a request has the client's port.
pub(super) fn lay_over_untraced(
    (case, inside): (&Case<'_>, &Inside<'_>),
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let Some(index) = Index::of(inside) else {
        return;
    };
    let all = Goroutines { inside, index };
    let mut known = BTreeMap::new();
    for path in paths {
        let sample = case.sample(path.sample);
        let (Some(sent), true) = (sample.sent(), sample.local_port() != 0) else {
            continue;
        };
        let end = sample.first_byte().unwrap_or(sample.done());
        let service = (sent.get(), end.get());
        let ends = inside.index.sockets.with_remote_port(sample.local_port());
        let mut servers = ends
            .iter()
            .filter_map(|end| all.index.server(*end, service));
        if let Some(server) = servers.next() {
            all.lay(path, server, service, (actors, &mut known));
        }
    }
}

/// The positions of actors, by where they stand, who is asked, their process, and whether that has places.
type Known = BTreeMap<(u32, String, u32, bool), u32>;

/// Whether a slice is a wait in user space of which nothing is known.
fn is_open(slice: &Slice) -> bool {
    let unknown = matches!(
        slice.state,
        State::Unknown(Reason::Parked | Reason::NotTraced)
    );
    slice.phase == Phase::Service && unknown
}

/// Whether a slice is what a thread was seen doing, which is not the request's doing where its goroutine was parked at that time: a
/// thread runs other goroutines then, is woken by their timers, and reads replies to their questions.
fn is_doubtful(slice: &Slice) -> bool {
    let of_thread = matches!(
        slice.state,
        State::OnCpu | State::Runnable(_) | State::Sleep | State::Reply | State::Unknown(_)
    );
    slice.phase == Phase::Service && slice.basis != Basis::Sampled && of_thread
}

/// What a request waited for around a look.
struct Cell {
    /// From when to when it is taken to be so.
    span: (u64, u64),
    /// From when to when the goroutine was parked for certain.
    sure: Option<(u64, u64)>,
    found: Found,
}

impl Goroutines<'_, '_> {
    /// Lays over a request what its goroutine waited for.
    fn lay(
        &self,
        path: &mut Path,
        server: Task,
        service: (u64, u64),
        (actors, known): (&mut Vec<Actor>, &mut Known),
    ) {
        let as_span = |(begin, end)| Span::new(Nanos::new(begin), Nanos::new(end));
        for Cell { span, sure, found } in self.cells(server, service) {
            let is_queued = matches!(found.state, State::Queued(_));
            let who = (found.stack, found.peer.clone(), server.0, is_queued);
            let actor = *known.entry(who).or_insert_with(|| {
                actors.push(self.actor(&found, server.0));
                actors.len() as u32 - 1
            });
            let laid = |slice: &Slice| Slice {
                state: found.state,
                holder: found.holder,
                activity: found.activity,
                actor,
                basis: Basis::Sampled,
                ..*slice
            };
            // A thread that was woken by a timer is known to have slept, and its stack says nothing of where.
            let is_sleep = |slice: &Slice| slice.state == State::Sleep && is_doubtful(slice);
            overlay(&mut path.slices, &[as_span(span)], |slice| {
                let sleeps = found.state == State::Sleep && is_sleep(slice);
                (is_open(slice) || sleeps).then(|| laid(slice))
            });
            if let Some(sure) = sure.filter(|_| !found.computes()) {
                overlay(&mut path.slices, &[as_span(sure)], |slice| {
                    let tells_more = slice.state != found.state || slice.state == State::Sleep;
                    (is_doubtful(slice) && tells_more).then(|| laid(slice))
                });
            }
        }
    }

    /// What a request waited for that a goroutine serves, as far as it was found, from when to when.
    fn cells(&self, server: Task, service: (u64, u64)) -> Vec<Cell> {
        // What was found before and after it may have been for another request of the connection.
        let looks = self.index.looks(server.0, service);
        let mut cells = Vec::new();
        for (place, &at) in looks.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| looks[before]);
            let next = looks.get(place + 1);
            let begin = before.map_or(0, |before| before.midpoint(at));
            let begin = begin.max(at.saturating_sub(HOLDS_NS)).max(service.0);
            let end = next.map_or(u64::MAX, |next| at.midpoint(*next));
            let end = end.min(at.saturating_add(HOLDS_NS)).min(service.1);
            if begin >= end {
                continue;
            }
            let Some((stay, found)) = self.of_request(server, at) else {
                continue;
            };
            if found.is_known() {
                let (first, last) = (stay.first.get().max(begin), stay.last.get().min(end));
                cells.push(Cell {
                    span: (begin, end),
                    // What is done for one that reads on may change while it does.
                    sure: (first < last && stay.does.is_parked() && !self.is_clients(stay))
                        .then_some((first, last)),
                    found,
                });
            }
        }
        cells
    }

    /// What the request waited for that a goroutine serves, at a look.
    fn of_request(&self, server: Task, at: u64) -> Option<(&Stay, Found)> {
        let stay = self.index.task_at(server, at)?;
        // A goroutine that reads the connection at that time has handed the request on.
        let reads = stay.does == Does::Data && self.is_clients(stay);
        let found = if reads {
            self.of_child(server, at, 0)
        } else {
            self.found(stay, at, 0)
        };
        Some((stay, found?))
    }

    /// What the only goroutine waits for that another one has started, or what all of them do.
    fn of_child(&self, task: Task, at: u64, hops: usize) -> Option<Found> {
        if hops >= MOST_HOPS {
            return None;
        }
        let children = self.index.children(task, at);
        // Those of libraries stay for later requests. One that runs has no stack: where it was before shows that.
        let is_own = |stay: &Stay| {
            let facts = self.index.facts(stay.stack);
            !facts.reads_for_parent && facts.own.is_some()
        };
        let own = children.iter().filter(|stay| {
            let before = || {
                let before = self.index.before((stay.pid, stay.task), stay.first.get());
                before.is_some_and(is_own)
            };
            is_own(stay) || stay.does == Does::Runs && before()
        });
        let mut all = own.filter_map(|stay| self.found(stay, at, hops + 1));
        let first = all.next()?;
        let agree = all.all(|other| other.state == first.state);
        agree.then_some(first)
    }

    /// What a goroutine does or waits for.
    fn found(&self, stay: &Stay, at: u64, hops: usize) -> Option<Found> {
        if hops > MOST_HOPS {
            return None;
        }
        let own = |state| Found::of(state, Holder::ThisRequest, stay.stack);
        let facts = self.index.facts(stay.stack);
        let found = match stay.does {
            Does::Runs => own(State::OnCpu),
            Does::Ready => own(State::Runnable(CpuUser::Own)),
            Does::Call => own(self.call(stay)?),
            Does::Sleep => own(State::Sleep),
            Does::Until => return self.until(stay),
            Does::Collects => Found::of(State::Paused, Holder::Background, stay.stack),
            Does::Data => self.data(stay)?,
            Does::Lock | Does::Semaphore | Does::Waits if facts.waits_for_lock(stay.does) => {
                self.lock(stay, at, hops)
            }
            Does::Lock
            | Does::Semaphore
            | Does::Condition
            | Does::Group
            | Does::Send
            | Does::Receive
            | Does::Select
            | Does::Waits => match facts.door {
                Some(door) => self.at_door(stay, door, at, hops)?,
                None => self.channel(stay, at, hops)?,
            },
        };
        Some(found)
    }

    /// A wait for a time, if that is what has ended it.
    fn until(&self, stay: &Stay) -> Option<Found> {
        let is_sleep = self.index.facts(stay.stack).door == Some(Door::Sleep)
            || stay.last.get() + AT_TIME_NS >= stay.about;
        is_sleep.then(|| Found::of(State::Sleep, Holder::ThisRequest, stay.stack))
    }

    /// A system call, by the function of the standard library that makes it.
    fn call(&self, stay: &Stay) -> Option<State> {
        let facts = self.index.facts(stay.stack);
        let names = facts.frames.iter();
        let mut names = names.map(|&frame| stands::name(self.index.trace, frame));
        let known = [
            ("os.(*File).Sync", State::Disk(DiskUse::Sync)),
            ("syscall.Fsync", State::Disk(DiskUse::Sync)),
            ("syscall.Fdatasync", State::Disk(DiskUse::Sync)),
            ("os.(*File).Read", State::Disk(DiskUse::Read)),
            ("os.(*File).Write", State::Disk(DiskUse::Write)),
            ("os.(*Process).Wait", State::Reply),
        ];
        names.find_map(|name| {
            let call = known.iter().find(|(call, _)| name.starts_with(call));
            call.map(|(_, state)| *state)
        })
    }

    /// A wait for data, or until data is taken.
    fn data(&self, stay: &Stay) -> Option<Found> {
        let facts = self.index.facts(stay.stack);
        if self.is_clients(stay) {
            return Some(Found::of(State::Client, Holder::Client, stay.stack));
        }
        let is_writing = facts.writes;
        // What is not a connection of TCP has no socket here: who writes there waits until a log or a helper takes it.
        if stay.socket == NO_SOCKET && !is_writing && facts.door != Some(Door::Resolver) {
            return None;
        }
        let (state, holder) = match facts.door {
            Some(Door::Resolver) => (State::Reply, Holder::Resolver),
            _ if is_writing => (State::SendBlocked, Holder::Peer),
            _ => (State::Reply, Holder::Peer),
        };
        let is_log = stay.socket == NO_SOCKET && is_writing && facts.logs;
        Some(Found {
            peer: if is_log {
                LOG.to_owned()
            } else {
                self.peer(stay)
            },
            ..Found::of(state, holder, stay.stack)
        })
    }

    /// What one waits for in a function that is known.
    fn at_door(&self, stay: &Stay, door: Door, at: u64, hops: usize) -> Option<Found> {
        let task = (stay.pid, stay.task);
        Some(match door {
            Door::Sleep => Found::of(State::Sleep, Holder::ThisRequest, stay.stack),
            Door::Resolver => Found::of(State::Reply, Holder::Resolver, stay.stack),
            Door::Reply => Found {
                peer: self.only_peer(stay.pid, at),
                ..Found::of(State::Reply, Holder::Peer, stay.stack)
            },
            Door::Dial if self.dials(task, at) => Found {
                peer: self.only_peer(stay.pid, at),
                ..Found::of(State::Reply, Holder::Peer, stay.stack)
            },
            Door::Connections | Door::Dial => {
                self.place(stay, State::Queued(Place::Connections), at, hops)
            }
            Door::Permits => self.place(stay, State::Queued(Place::Permits), at, hops),
            Door::Shared => self.shared(stay, at, hops)?,
            Door::Children => return self.of_child(task, at, hops),
        })
    }

    /// Whether a goroutine makes a connection for another one.
    fn dials(&self, task: Task, at: u64) -> bool {
        let is_dial = |stay: &&Stay| {
            let facts = self.index.facts(stay.stack);
            let mut names = facts.frames.iter();
            names.any(|&f| {
                stands::name(self.index.trace, f).starts_with("net/http.(*Transport).dialConn")
            })
        };
        self.index.children(task, at).iter().any(is_dial)
    }

    /// A wait for a channel: for a place, if others wait for the same one, or for what a goroutine does that was started for it.
    fn channel(&self, stay: &Stay, at: u64, hops: usize) -> Option<Found> {
        let task = (stay.pid, stay.task);
        let is_shared = stay.about != 0 && self.index.is_shared(stay.pid, stay.about);
        if matches!(stay.does, Does::Send | Does::Receive) && is_shared {
            return Some(self.place(stay, State::Queued(Place::Permits), at, hops));
        }
        matches!(
            stay.does,
            Does::Receive | Does::Select | Does::Group | Does::Condition
        )
        .then(|| self.of_child(task, at, hops))?
    }

    /// Whether a goroutine waits for data of a client.
    fn is_clients(&self, stay: &Stay) -> bool {
        let sockets = &self.inside.index.sockets;
        let end = sockets
            .end_at(stay.socket)
            .filter(|_| stay.socket != NO_SOCKET);
        let end = end.and_then(|end| sockets.end(end));
        end.is_some_and(|end| self.inside.is_clients(end))
    }

    /// Who is at the other end of a connection; empty if that is not known.
    fn peer(&self, stay: &Stay) -> String {
        let end = self.inside.index.sockets.end_at(stay.socket);
        let end = end.filter(|_| stay.socket != NO_SOCKET);
        end.and_then(|end| self.inside.other_end(end))
            .unwrap_or_default()
    }

    /// The server that is asked at an instant, if it is the only one: who waits for a reply does not read it itself.
    fn only_peer(&self, pid: u32, at: u64) -> String {
        let data = self.index.data(pid, at);
        let mut peers = data.iter().filter(|stay| !self.is_clients(stay));
        let Some(first) = peers.next() else {
            return String::new();
        };
        let remote = |stay: &Stay| {
            let sockets = &self.inside.index.sockets;
            let end = sockets.end_at(stay.socket)?;
            sockets.end(end).map(|end| end.remote)
        };
        let is_same = |stay: &&Stay| remote(stay) == remote(first);
        if peers.all(is_same) {
            self.peer(first)
        } else {
            String::new()
        }
    }

    /// A stack from the innermost function of the program itself on: what the runtime and libraries do for it is said by what it
    /// waits for.
    fn words(&self, stack: u32) -> Vec<String> {
        let facts = self.index.facts(stack);
        let own = facts.frames.iter().skip(facts.own.unwrap_or(0));
        let frames = own.filter_map(|&frame| self.index.trace.frames.get(frame as usize));
        frames.take(FRAMES_MOST).map(ToString::to_string).collect()
    }

    /// The one that has what is waited for, in words.
    fn actor(&self, found: &Found, pid: u32) -> Actor {
        let processes = &self.index.trace.processes;
        let place = processes.binary_search_by_key(&pid, |process| process.pid);
        // Places are the program's own, which need not be said.
        let is_queued = matches!(found.state, State::Queued(_));
        let process = place.ok().filter(|_| !is_queued);
        let process = process.map_or_else(String::new, |at| processes[at].title());
        Actor {
            process,
            thread: String::new(),
            peer: found.peer.clone(),
            stack: self.words(found.stack),
        }
    }
}
