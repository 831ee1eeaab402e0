//! A run's requests, joined with what the server's threads did for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::sample::NONE;
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::{Depth, Socket, Stretch, Trace};

use super::calls::Calls;
use super::calls::questions::Questions;
use super::index::Index;
use super::join::{Joined, Joiner, Unjoined};
use super::locks::Addresses;
use super::loops::{Dialled, Loops};
use super::pieces::{Chains, Piece};
use super::ports::Ports;
use super::stacks::Stacks;
use super::task_pool::task_threads;
use super::walk::Walker;
use crate::callees::Callees;
use crate::case::{Case, EndpointCase};
use crate::ledger::Blanks;

/// Requests of an endpoint that are followed through the server, at most, of the slow ones and of
/// the others each: shares are then known to a hundredth, and the pieces fit into memory.
const WALKED_MOST: usize = 10_000;

/// The requests of a run and what became of them inside of the server.
#[derive(Debug)]
pub struct Inside<'a> {
    /// What each thread did when.
    pub index: Index<'a>,
    /// Which thread waited for which, in the pieces.
    pub chains: Chains,
    /// What is known of each futex that was waited at.
    pub(crate) addresses: Addresses,
    pub(crate) stacks: Stacks,
    /// Endpoint by endpoint.
    pub(crate) endpoints: Vec<EndpointJoin>,
    /// Threads that serve connections by turns.
    pub(crate) loops: Loops,
    /// Positions of requests that were not followed by choice or by lot, ascending: what they
    /// waited for is like what the others did.
    blank: Vec<u32>,
    /// Where the target listened.
    ports: Ports,
    /// The ports of others that the target is configured with.
    told: Ports,
    /// What people call each process, by its id.
    titles: BTreeMap<u32, String>,
    /// See [`Inside::calls`].
    calls: OnceLock<Calls>,
    callees: OnceLock<Callees>,
    questions: OnceLock<Questions>,
}

/// The requests of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointJoin {
    /// Those that were joined, by position.
    pub(crate) joined: Vec<Joined>,
    /// Those that were joined and followed, by position.
    pub(crate) walked: Vec<Walked>,
    /// How many were not joined, by [`Unjoined::ALL`].
    pub(crate) unjoined: [u64; Unjoined::ALL.len()],
    /// For how many joined requests a slow one that was followed stands, and another one.
    pub(crate) weights: (f64, f64),
}

/// Threads of the target that touch the connections of its clients.
pub(crate) struct Serving {
    pub(crate) readers: BTreeSet<u32>,
    pub(crate) writers: BTreeSet<u32>,
}

impl Serving {
    /// All of them.
    pub(crate) fn all(&self) -> BTreeSet<u32> {
        &self.readers | &self.writers
    }
}

/// A request with its pieces.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) joined: Joined,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) slow: bool,
}

impl<'a> Inside<'a> {
    /// Joins the requests of a case; `None` if it was not traced.
    pub(crate) fn of(case: &Case<'a>) -> Option<Self> {
        let trace: &'a Trace = &case.record.trace;
        trace.depth()?;
        let mut index = Index::new(trace);
        let coverage = Coverage::of(&index);
        let shared = shared(case);
        let mut blank = Vec::new();
        let ports = Ports::of(&case.record.manifest)
            .retain(|port| !index.sockets.with_local_port(port).is_empty());
        let joiner = Joiner::new(&index, ports.clone());
        let mut endpoints = Vec::new();
        for endpoint in &case.endpoints {
            let mut join = EndpointJoin::default();
            for position in requests(endpoint) {
                let sample = case.sample(position);
                let joined =
                    coverage
                        .holds(sample)
                        .and_then(|()| match shared.binary_search(&position) {
                            Ok(_) => Err(Unjoined::Shared),
                            Err(_) => joiner.join(position, sample),
                        });
                match joined {
                    Ok(joined) => join.joined.push(joined),
                    Err(why) => {
                        join.unjoined[why as usize] += 1;
                        if why == Unjoined::LeftOut {
                            blank.push(position);
                        }
                    }
                }
            }
            endpoints.push(join);
        }
        let all = endpoints.iter().flat_map(|e| &e.joined);
        let ends = all.map(|joined| joined.socket).collect();
        let connections = Connections::of(case);
        let stacks = Stacks::of(trace);
        let joined = endpoints.iter().flat_map(|e| &e.joined);
        index.task_threads = task_threads(&index, &stacks, joined);
        let loops = Loops::with(&index, &stacks, &ends, |end, at| {
            let socket = index.sockets.end(end);
            socket.map_or_else(Dialled::default, |socket| {
                connections.at(socket.remote.port(), at)
            })
        });
        let mut walker = Walker::with(&index, &loops, stacks);
        for (endpoint, join) in case.endpoints.iter().zip(&mut endpoints) {
            join.walk(endpoint, &mut walker, &mut blank);
        }
        blank.sort_unstable();
        let (chains, stacks) = walker.done();
        let walked = endpoints.iter().flat_map(|e| &e.walked);
        let addresses = Addresses::of(walked.flat_map(|w| &w.pieces), &chains, &index);
        let processes = trace.processes.iter();
        let titles = processes.map(|process| (process.pid, process.title()));
        Some(Self {
            titles: titles.collect(),
            index,
            chains,
            addresses,
            stacks,
            endpoints,
            loops,
            blank,
            told: Ports::told_to(&case.record.manifest.target, &ports),
            ports,
            calls: OnceLock::new(),
            callees: OnceLock::new(),
            questions: OnceLock::new(),
        })
    }

    /// What the target asked of others. `case` is the one that this was made of.
    pub(crate) fn calls(&self, case: &Case<'_>) -> &Calls {
        self.calls.get_or_init(|| Calls::of(case, self))
    }

    /// What servers do that the target asks. `case` is the one that this was made of.
    pub(crate) fn callees(&self, case: &Case<'_>) -> &Callees {
        self.callees.get_or_init(|| Callees::of(case, self))
    }

    /// The questions that the target asked others.
    pub(crate) fn questions(&self) -> &Questions {
        self.questions.get_or_init(|| Questions::of(self))
    }

    /// The threads that read requests, and those that answer them.
    pub(crate) fn serving(&self) -> Serving {
        let joined = || self.endpoints.iter().flat_map(|endpoint| &endpoint.joined);
        Serving {
            readers: joined().map(|joined| joined.reader).collect(),
            writers: joined().map(|joined| joined.writer).collect(),
        }
    }

    /// What was traced.
    pub fn trace(&self) -> &'a Trace {
        self.index.trace
    }

    /// Where the target listened, as far as anything was seen there.
    pub(crate) const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The ports of others that the target is configured with.
    pub(super) const fn told(&self) -> &Ports {
        &self.told
    }

    /// Whether an end of a connection is the target's, with one of its clients at the other.
    pub(crate) fn is_clients(&self, end: &Socket) -> bool {
        self.ports.holds(end.local.port())
    }

    /// Requests that were not followed, for no reason of their own.
    pub(crate) fn blank(&self) -> Blanks<'_> {
        let blocks = self.index.blocks.len().max(1) as u64;
        Blanks {
            requests: &self.blank,
            traced_ns: self.traced_ns() / blocks,
        }
    }

    /// How long was traced.
    pub(crate) fn traced_ns(&self) -> u64 {
        let blocks = self.index.blocks.iter();
        blocks.map(|block| block.span.len_ns()).sum()
    }

    /// The requests of an endpoint that were followed.
    pub(crate) fn of_endpoint(&self, endpoint: &EndpointCase) -> &EndpointJoin {
        &self.endpoints[usize::from(endpoint.index)]
    }

    /// The name of a thread, or its id.
    pub(crate) fn thread_name(&self, tid: u32) -> String {
        match self.trace().thread(tid) {
            Some(thread) if !thread.name.is_empty() => thread.name.clone(),
            _ => format!("thread {tid}"),
        }
    }

    /// What people call a thread's process ([`Process::title`]); empty if it is not known.
    pub(crate) fn process_name(&self, tid: u32) -> &str {
        let process = self.trace().process_of(tid);
        let title = process.and_then(|process| self.titles.get(&process.pid));
        title.map_or("", String::as_str)
    }

    /// The executable of a thread's process; empty if it is not known.
    pub(crate) fn executable(&self, tid: u32) -> &str {
        let process = self.trace().process_of(tid);
        process.map_or("", |process| process.executable.as_str())
    }

    /// A stack for people, innermost function first: the kernel's own are left out, as what a
    /// thread waits for is given in words.
    pub(crate) fn stack_words(&self, stack: u32) -> Vec<String> {
        /// Deeper ones are the same in all stacks: how a thread begins.
        const FRAMES_MOST: usize = 16;
        let trace = self.trace();
        let frames = trace.stacks.get(stack as usize).into_iter().flatten();
        let frames = frames.filter_map(|&f| trace.frames.get(f as usize));
        let own = frames.filter(|frame| frame.module != "kernel");
        own.take(FRAMES_MOST).map(ToString::to_string).collect()
    }
}

impl EndpointJoin {
    /// Follows the joined requests, or as many as are enough.
    fn walk(&mut self, endpoint: &EndpointCase, walker: &mut Walker<'_>, blank: &mut Vec<u32>) {
        let slow = &endpoint.split.slow;
        let is_slow = |joined: &Joined| slow.binary_search(&joined.sample).is_ok();
        let slow = self.joined.iter().filter(|j| is_slow(j)).count();
        let others = self.joined.len() - slow;
        let every = |count: usize| count.div_ceil(WALKED_MOST).max(1);
        let every = (every(slow), every(others));
        let mut seen = (0, 0);
        for joined in &self.joined {
            let slow = is_slow(joined);
            let (seen, every) = if slow {
                (&mut seen.0, every.0)
            } else {
                (&mut seen.1, every.1)
            };
            *seen += 1;
            if !(*seen - 1_usize).is_multiple_of(every) {
                blank.push(joined.sample);
                continue;
            }
            let mut pieces = Vec::new();
            walker.request(joined, &mut pieces);
            self.walked.push(Walked {
                joined: *joined,
                pieces,
                slow,
            });
        }
        self.weights = (every.0 as f64, every.1 as f64);
    }

    /// For how many joined requests a followed one stands.
    pub(crate) const fn weight(&self, walked: &Walked) -> f64 {
        if walked.slow {
            self.weights.0
        } else {
            self.weights.1
        }
    }

    /// Requests that were asked about.
    pub(crate) fn requests(&self) -> u64 {
        self.joined.len() as u64 + self.unjoined.iter().sum::<u64>()
    }
}

/// The requests of an endpoint that may be joined, ascending: those with an answer, and the slow
/// ones without.
fn requests(endpoint: &EndpointCase) -> Vec<u32> {
    let mut all = endpoint.completed.clone();
    all.extend(&endpoint.split.slow);
    all.sort_unstable();
    all.dedup();
    all
}

/// What was recorded when.
struct Coverage<'b> {
    index: &'b Index<'b>,
    left_out: Vec<Span>,
}

impl<'b> Coverage<'b> {
    fn of(index: &'b Index<'b>) -> Self {
        let stretches = &index.trace.stretches;
        let off = (0..stretches.len()).filter(|&place| stretches[place].depth == Depth::Off);
        Self {
            index,
            left_out: off.map(|place| left_out(stretches, place)).collect(),
        }
    }

    /// Whether all of a request's time from when it had a connection was recorded with what
    /// threads read and wrote: before, the server has nothing of it.
    fn holds(&self, sample: SampleRef<'_>) -> Result<(), Unjoined> {
        let span = Span::new(sample.ready(), sample.done());
        let block = self.index.block_at(span.begin);
        if let Some(block) = block.filter(|block| span.end <= block.span.end) {
            return if block.has_wakers {
                Ok(())
            } else {
                Err(Unjoined::NoSockets)
            };
        }
        let overlap = |spans: &mut dyn Iterator<Item = Span>| -> u64 {
            spans.map(|s| s.overlap_ns(span)).sum()
        };
        let recorded = overlap(&mut self.index.blocks.iter().map(|b| b.span));
        let left_out = overlap(&mut self.left_out.iter().copied());
        Err(if recorded + left_out >= span.len_ns() {
            Unjoined::LeftOut
        } else {
            Unjoined::Outside
        })
    }
}

/// The time that was left untraced on purpose with a stretch, and in which tracing was switched off
/// before it and on again after it. A hole that is longer than the stretch has another reason.
fn left_out(stretches: &[Stretch], place: usize) -> Span {
    let own = stretches[place].span;
    let mut whole = own;
    let before = place
        .checked_sub(1)
        .map(|before| stretches[before].span.end);
    let behind = stretches.get(place + 1).map(|behind| behind.span.begin);
    if let Some(end) = before.filter(|end| own.begin.since(*end) < own.len_ns()) {
        whole.begin = end;
    }
    if let Some(begin) = behind.filter(|begin| begin.since(own.end) < own.len_ns()) {
        whole.end = begin;
    }
    whole
}

/// By the client's port, from when on it was which connection.
struct Connections(BTreeMap<u16, Vec<(u64, Dialled)>>);

impl Connections {
    fn of(case: &Case<'_>) -> Self {
        let mut all: BTreeMap<u16, Vec<(u64, Dialled)>> = BTreeMap::new();
        for sample in &case.record.samples {
            if sample.local_port() == 0 || sample.connection() == NONE {
                continue;
            }
            let id = u64::from(sample.repeat()) << 32 | u64::from(sample.connection());
            let at = sample.connect_begin().map(Nanos::get);
            let of_port = all.entry(sample.local_port()).or_default();
            if of_port.last().is_none_or(|last| last.1.id != id) {
                of_port.push((at.unwrap_or(sample.ready().get()), Dialled { id, at }));
            }
        }
        for of_port in all.values_mut() {
            of_port.sort_unstable_by_key(|&(begin, dialled)| (begin, dialled.id));
        }
        Self(all)
    }

    /// The connection that a port was then.
    fn at(&self, port: u16, at: u64) -> Dialled {
        let of_port = self.0.get(&port).map_or(&[][..], Vec::as_slice);
        let behind = of_port.partition_point(|&(begin, _)| begin <= at);
        let own = behind.checked_sub(1).or((!of_port.is_empty()).then_some(0));
        own.map_or_else(Dialled::default, |place| of_port[place].1)
    }
}

/// Positions of requests that were under way on a connection with others, ascending.
fn shared(case: &Case<'_>) -> Vec<u32> {
    let mut shared = BTreeSet::new();
    // Of each connection, until when the last of its requests is under way, and which that is.
    let mut last: BTreeMap<(u16, u32), (u64, u32)> = BTreeMap::new();
    for (position, sample) in (0..).zip(&case.record.samples) {
        let Some(sent) = sample.sent().filter(|_| sample.connection() != NONE) else {
            continue;
        };
        let own = (sample.done().get(), position);
        let connection = (sample.repeat(), sample.connection());
        let before = last.entry(connection).or_insert(own);
        if before.1 != position && sent.get() < before.0 {
            shared.extend([before.1, position]);
        }
        *before = own.max(*before);
    }
    shared.into_iter().collect()
}

/// Adds up what belongs to the same.
pub(crate) fn summed<K: Ord>(all: impl Iterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut sums: BTreeMap<K, f64> = BTreeMap::new();
    for (key, value) in all {
        *sums.entry(key).or_default() += value;
    }
    let mut sums: Vec<(K, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    #[test]
    fn the_time_that_switching_takes_is_left_out_on_purpose_too() {
        let stretch = |begin, end, depth| Stretch {
            span: Span::new(Nanos::new(begin), Nanos::new(end)),
            depth,
            repeat: 0,
            lost: 0,
        };
        let all = [
            stretch(100, 200, Depth::Full),
            stretch(203, 303, Depth::Off),
            stretch(307, 407, Depth::Light),
            stretch(900, 1_000, Depth::Off),
        ];
        let span = |begin, end| Span::new(Nanos::new(begin), Nanos::new(end));
        assert_eq!(left_out(&all, 1), span(200, 307));
        // Nothing says why there is nothing between these two.
        assert_eq!(left_out(&all, 3), span(900, 1_000));
    }

    #[test]
    fn what_is_alike_is_added_up_and_the_largest_comes_first() {
        let all = [("a", 1.0), ("b", 3.0), ("a", 1.5), ("c", 3.0)];
        assert_eq!(
            summed(all.into_iter()),
            [("b", 3.0), ("c", 3.0), ("a", 2.5)]
        );
    }
}
