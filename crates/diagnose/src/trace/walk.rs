//! Who a request waited for: from the thread that answered it back through the threads that were waited for,
//! to what the last of them did.
//!
//! A thread is followed only within the time in which the one before it was blocked (the rule of
//! wPerf, OSDI 2018, and of Go's `golang/go#57175`): otherwise the walk wanders off into other
//! requests. What a request's time was spent on is a partition of it: nothing is counted twice.

mod behalf;
mod turns;
mod wait;

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::{Call, NO_STACK, Role};

use self::behalf::Markers;
use super::index::{Index, Off, Runner, Slice, State, Why};
use super::join::Joined;
use super::loops::Loops;
use super::pieces::{Behalf, Blank, Chains, Hop, How, Leaf, LeafKind, Piece};
use super::stacks::{Facts, Stacks, Waits};
use crate::diagnosis::Phase;

/// Threads that wait for each other, at most: convoys of 7 were met on servers of 8 threads.
const DEEPEST: usize = 40;
/// Pieces of one request, at most; what is left is not known. A thread that is switched every
/// 20 µs for a tenth of a second has as many.
const MOST_PIECES: usize = 5_000;

/// What comes on a connection wakes the loop that waits for it within microseconds; the kernel may be late with
/// it on a host that others use.
const DEAF_LEAST_NS: u64 = 2 * MILLISECOND;

/// Follows which thread waited for which.
#[derive(Debug)]
pub struct Walker<'a> {
    index: &'a Index<'a>,
    loops: &'a Loops,
    stacks: Stacks,
    /// The futexes, by process, at which threads wait until they are let into an interpreter.
    interpreters: BTreeSet<(u32, u64)>,
    /// When threads woke others, in order of time, by thread.
    wakes: BTreeMap<u32, Vec<u64>>,
    /// The chains of all requests that were walked.
    pub chains: Chains,
}

/// A request under way.
struct Way<'b> {
    out: &'b mut Vec<Piece>,
    segment: Phase,
    behalf: Behalf,
    /// The threads that served the request: a thread that is woken by them serves it next.
    reader: u32,
    /// The port of the target's own end of the connection.
    port: Option<u16>,
    /// When the part of it ends that is being explained.
    end: u64,
}

/// A wait that is being explained.
#[derive(Clone, Copy)]
struct Wait<'b> {
    tid: u32,
    off: &'b Off,
    /// The part of it that counts.
    begin: u64,
    end: u64,
    depth: usize,
    chain: u32,
    /// Whether the thread waited for something to do: the thread that woke it gave it the request.
    for_work: bool,
}

impl<'a> Walker<'a> {
    /// Follows the threads of an index, of which some serve connections by turns.
    pub fn new(index: &'a Index<'a>, loops: &'a Loops) -> Self {
        Self::with(index, loops, Stacks::of(index.trace))
    }

    /// The same, where it is known what the stacks of the trace show.
    pub(crate) fn with(index: &'a Index<'a>, loops: &'a Loops, stacks: Stacks) -> Self {
        let interpreters = interpreters(index, &stacks);
        Self {
            index,
            loops,
            stacks,
            interpreters,
            wakes: wakes(index),
            chains: Chains::default(),
        }
    }

    /// The chains of what was walked, and what the stacks show.
    pub(crate) fn done(self) -> (Chains, Stacks) {
        (self.chains, self.stacks)
    }

    /// What the stacks of the trace show.
    pub(crate) fn facts(&self, stack: u32) -> Facts {
        self.stacks.facts(stack)
    }

    /// What the time of a request was spent on, appended to `out`: pieces from its scheduled
    /// instant to its end, without holes.
    pub fn request(&mut self, joined: &Joined, out: &mut Vec<Piece>) {
        let mut pieces = Vec::new();
        for segment in Phase::ALL {
            let (begin, end) = joined.part(segment);
            let mut way = Way {
                out: &mut pieces,
                segment,
                behalf: Behalf::Own,
                reader: joined.reader,
                port: self.port_of(joined.socket),
                end,
            };
            match segment {
                Phase::Unread => self.serve(joined, joined.reader, (begin, end), &mut way),
                Phase::Service => self.serve(joined, joined.writer, (begin, end), &mut way),
                _ => way.push(begin, end, Chains::NONE, Leaf::OUTSIDE),
            }
        }
        out.append(&mut pieces);
    }

    /// What the thread did that read the request, until it read it, or that answered it, until it
    /// answered.
    fn serve(&mut self, joined: &Joined, tid: u32, (begin, end): (u64, u64), way: &mut Way<'_>) {
        let hop = Hop {
            tid,
            how: How::Serves,
            about: 0,
        };
        let chain = self.chains.longer(Chains::NONE, hop);
        let index = self.index;
        let trigger = self.trigger(tid, begin, end);
        let resumed = self.resumed(tid, begin, end);
        let mut markers = Markers::new(index, joined, tid, (begin, end));
        for slice in index.slices(tid, begin, end) {
            match slice.state {
                State::Blocked(off) => {
                    let deaf = way.segment == Phase::Unread && self.is_deaf(joined, off, begin);
                    let idle = !deaf && self.is_idle(tid, off);
                    way.behalf = match markers.behalf(slice.begin) {
                        _ if idle => {
                            markers.idle(slice.end);
                            Behalf::Own
                        }
                        Behalf::Own if deaf => Behalf::Background,
                        behalf => behalf,
                    };
                    let wait = Wait {
                        tid,
                        // An event loop waits for many at once. This request waits for what made
                        // it go on with it, whatever else it was woken for before.
                        off: match (trigger, resumed) {
                            (Some(trigger), _) if idle => trigger,
                            (_, Some(resumed)) if self.is_runtime_idle(tid, off) => resumed,
                            _ => off,
                        },
                        begin: slice.begin,
                        end: slice.end,
                        depth: 1,
                        chain,
                        for_work: idle || off.begin < begin,
                    };
                    self.explain(wait, way);
                }
                _ => {
                    for (from, to, behalf) in markers.cut(slice.begin, slice.end) {
                        way.behalf = behalf;
                        let part = Slice {
                            begin: from,
                            end: to,
                            ..slice
                        };
                        self.plain(tid, part, chain, way);
                    }
                }
            }
        }
        way.behalf = Behalf::Own;
    }

    /// The last wait of a loop for something to do before the end. Any other thread that waits for
    /// one of several files does so for the request that it serves, each time for another
    /// reason.
    fn trigger(&self, tid: u32, begin: u64, end: u64) -> Option<&'a Off> {
        if !self.loops.has(tid) {
            return None;
        }
        let offs = self.index.offs(tid, begin, end).iter().rev();
        let mut offs = offs.filter(|off| off.end < end && self.is_idle(tid, off));
        offs.next()
    }

    /// The last time before the end that the thread's runtime had nothing for it to do: what ended
    /// that made it go on with the request, whatever it ran for others before.
    fn resumed(&self, tid: u32, begin: u64, end: u64) -> Option<&'a Off> {
        let offs = self.index.offs(tid, begin, end).iter().rev();
        // Go's scheduler sleeps for microseconds before it takes work from another thread.
        let rests = |off: &&Off| self.call(off) != Some(Call::Sleep);
        let mut offs =
            offs.filter(|off| off.end < end && rests(off) && self.is_runtime_idle(tid, off));
        offs.next()
    }

    /// Whether a thread waits for whatever comes first.
    fn is_idle(&self, _tid: u32, off: &Off) -> bool {
        let call = self.call(off);
        off.why == Why::Sleeping && matches!(call, Some(Call::Poll | Call::Accept))
    }

    /// Whether a loop waits for something else than for what comes on its connections: the request was there,
    /// and did not wake it. A loop within the loop does that, which runs until another process has ended.
    fn is_deaf(&self, joined: &Joined, off: &Off, arrived: u64) -> bool {
        let could_since = arrived.max(off.begin);
        let late = off.woken_at().map(|at| at.saturating_sub(could_since));
        off.why == Why::Sleeping
            && late.is_some_and(|ns| ns >= DEAF_LEAST_NS)
            && self.loops.serves(joined.reader, joined.socket)
    }

    fn call(&self, off: &Off) -> Option<Call> {
        self.stacks.call_in(off)
    }

    /// Attributes what a thread did from `begin` to `end`.
    fn follow(&mut self, tid: u32, (begin, end): (u64, u64), at: (usize, u32), way: &mut Way<'_>) {
        let (depth, chain) = at;
        if depth >= DEEPEST || way.out.len() >= MOST_PIECES {
            let leaf = Leaf {
                kind: LeafKind::Unknown(Blank::TooDeep),
                tid,
                call: None,
                stack: NO_STACK,
            };
            return way.push(begin, end, chain, leaf);
        }
        for slice in self.index.slices(tid, begin, end) {
            match slice.state {
                State::Blocked(off) => {
                    let wait = Wait {
                        tid,
                        off,
                        begin: slice.begin,
                        end: slice.end,
                        depth: depth + 1,
                        chain,
                        for_work: false,
                    };
                    self.explain(wait, way);
                }
                _ => self.plain(tid, slice, chain, way),
            }
        }
    }

    /// The call that a thread waited in before it was ready; `None` if it was at work.
    fn waited_in(&self, off: &Off) -> Option<Call> {
        match off.why {
            Why::Sleeping | Why::Uninterruptible => Some(self.call(off).unwrap_or(Call::Other)),
            Why::Preempted | Why::Gone | Why::Unknown => None,
        }
    }

    /// What needs no other thread to be explained.
    fn plain(&self, tid: u32, slice: Slice<'_>, chain: u32, way: &mut Way<'_>) {
        let leaf = |kind, stack| Leaf {
            kind,
            tid,
            call: None,
            stack,
        };
        let (begin, end) = (slice.begin, slice.end);
        match slice.state {
            State::Run => {
                let samples = self.index.samples(tid, begin, end);
                let stack = samples.first().map_or(NO_STACK, |sample| sample.1);
                way.push(begin, end, chain, leaf(LeafKind::Cpu, stack));
            }
            State::Ready(off) => {
                for (from, to, runner) in self.index.runners(off.cpu, begin, end) {
                    // A thread does not keep itself waiting: the record of the CPU has a hole.
                    let runner = match runner {
                        Runner::Thread(own) if own == tid => Runner::Unknown,
                        runner => runner,
                    };
                    let ready = Leaf {
                        call: self.waited_in(off),
                        ..leaf(LeafKind::Ready(runner), NO_STACK)
                    };
                    way.push(from, to, chain, ready);
                }
            }
            State::Gone | State::Unknown if self.has_not_begun(tid, &slice, way) => {
                let kind = LeafKind::Unknown(Blank::NotBegun);
                way.push(begin, end, chain, leaf(kind, NO_STACK));
            }
            State::Gone => {
                let kind = LeafKind::Unknown(Blank::Gone);
                way.push(begin, end, chain, leaf(kind, NO_STACK));
            }
            State::Unknown | State::Blocked(_) => {
                let kind = LeafKind::Unknown(Blank::NotSeen);
                way.push(begin, end, chain, leaf(kind, NO_STACK));
            }
        }
    }

    /// Whether the thread that reads a request had not begun then: it was not met before, or another one of the same number had
    /// ended.
    fn has_not_begun(&self, tid: u32, slice: &Slice<'_>, way: &Way<'_>) -> bool {
        way.segment == Phase::Unread
            && tid == way.reader
            && (slice.state == State::Gone || self.index.is_new(tid, slice.begin))
    }

    /// The port of an end of a connection.
    fn port_of(&self, socket: u32) -> Option<u16> {
        self.index.sockets.end(socket).map(|s| s.local.port())
    }

    /// Whose a thread is; `None` if that is not known.
    fn role(&self, tid: u32) -> Option<Role> {
        self.index.trace.process_of(tid).map(|process| process.role)
    }
}

/// When threads woke others.
fn wakes(index: &Index<'_>) -> BTreeMap<u32, Vec<u64>> {
    let mut all: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for tid in index.tids() {
        for off in index.offs(tid, 0, u64::MAX) {
            if let Some(by) = off.woken_by() {
                all.entry(by).or_default().push(off.ready_from());
            }
        }
    }
    for wakes in all.values_mut() {
        wakes.sort_unstable();
    }
    all
}

/// Where threads were found waiting for an interpreter, by their stacks, and for nothing else: Ruby's
/// threads sleep at the address at which they wait to be let in.
fn interpreters(index: &Index<'_>, stacks: &Stacks) -> BTreeSet<(u32, u64)> {
    let (mut all, mut others) = (BTreeSet::new(), BTreeSet::new());
    for tid in index.tids() {
        let pid = index.pid_of(tid);
        for off in index
            .offs(tid, 0, u64::MAX)
            .iter()
            .filter(|off| off.about != 0)
        {
            match stacks.facts(off.stack).waits {
                Some(Waits::Interpreter) => all.insert((pid, off.about)),
                Some(_) => others.insert((pid, off.about)),
                None => false,
            };
        }
    }
    all.retain(|place| !others.contains(place));
    all
}

impl Way<'_> {
    /// Adds a piece, or makes the last one longer if it is the same.
    fn push(&mut self, begin: u64, end: u64, chain: u32, leaf: Leaf) {
        if begin >= end {
            return;
        }
        let piece = Piece {
            begin,
            end,
            segment: self.segment,
            behalf: self.behalf,
            chain,
            leaf,
        };
        match self.out.last_mut() {
            Some(last)
                if last.end == begin
                    && (Piece {
                        begin,
                        end,
                        ..*last
                    }) == piece =>
            {
                last.end = end;
            }
            _ => self.out.push(piece),
        }
    }
}
