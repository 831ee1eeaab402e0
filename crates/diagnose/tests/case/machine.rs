//! The server's machine: threads, CPUs, and times in which nothing of the server runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand_chacha::ChaCha8Rng;
use slowpath_core::nanos::{Nanos, Span};

use super::acts::{Act, Did, OTHER};
use super::ends::End;
use super::spec::{Case, StallKind};

/// What the probes could have seen: when each thread ran, waited to run, or was in a call.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) ran: BTreeMap<u32, Vec<Span>>,
    pub(super) delayed: BTreeMap<u32, Vec<Span>>,
    pub(super) calls: BTreeMap<String, Vec<Span>>,
    pub(super) held: Vec<Span>,
    /// When the listener dropped something.
    pub(super) drops: Vec<u64>,
    pub(super) throttled: Vec<Span>,
    pub(super) paused: Vec<Span>,
    pub(super) loop_ran: Vec<Span>,
    pub(super) upstream: bool,
    /// What each thread did.
    pub(super) acts: Vec<Did>,
    /// When something was sent again, the client's port, and whether the client sent it.
    pub(super) again: Vec<(u64, u16, bool)>,
    /// When the server's end of a connection was ended, the client's port, and how.
    pub(super) ended: Vec<(u64, u16, End)>,
    /// When the target found no local port to dial from.
    pub(super) undialled: Vec<u64>,
    /// The lives of processes that were replaced, and of the last ones.
    pub(super) lives: Vec<Span>,
    /// When connections waited in the listener's queue.
    pub(super) queued: Vec<Span>,
    /// When connections were accepted or closed, with their change.
    pub(super) taken_in: Vec<(u64, i64)>,
    /// Who had the lock.
    pub(super) owned: Vec<(u32, Span)>,
}

pub(super) fn span(begin: u64, end: u64) -> Span {
    Span::new(Nanos::new(begin), Nanos::new(end))
}

#[derive(Debug)]
pub(super) struct Machine {
    idle: BTreeSet<u32>,
    /// Requests that wait for a thread.
    pub(super) queue: VecDeque<usize>,
    slots: u32,
    /// Requests that wait for a CPU: which, since when, for how long they need it.
    pub(super) runnable: VecDeque<(usize, u64, u64)>,
    /// Disjoint and ascending.
    stalls: Vec<Span>,
    waiting_is_delay: bool,
    event_loop: bool,
}

impl Machine {
    pub(super) fn new(case: &Case) -> Self {
        let single = case.event_loop || case.takes_turns;
        let threads = if case.event_loop {
            100_000
        } else {
            case.workers
        };
        Self {
            idle: (0..threads).collect(),
            queue: VecDeque::new(),
            slots: if single { 1 } else { case.cpus },
            runnable: VecDeque::new(),
            stalls: Vec::new(),
            waiting_is_delay: !single,
            event_loop: case.event_loop,
        }
    }

    /// Draws the stalls of one repeat.
    pub(super) fn stall(
        &mut self,
        case: &Case,
        load: Span,
        random: &mut ChaCha8Rng,
        seen: &mut Seen,
    ) {
        for stall in &case.stall {
            let mut begin = load.begin.get() + stall.at.0;
            while begin < load.end.get() {
                let stalled = span(begin, begin + stall.lasts.draw(random));
                if stall.kind == StallKind::Paused {
                    seen.paused.push(stalled);
                } else {
                    seen.throttled.push(stalled);
                }
                if stall.kind != StallKind::ThrottledElsewhere {
                    self.stalls.push(stalled);
                }
                begin = (begin + stall.every.0).max(stalled.end.get());
            }
        }
        seen.throttled.sort_unstable();
        self.stalls.sort_unstable();
    }

    /// The first instant from `at` on at which the server runs.
    pub(super) fn thaw(&self, mut at: u64) -> u64 {
        let from = self.stalls.partition_point(|s| s.end.get() <= at);
        for stall in &self.stalls[from..] {
            if stall.begin.get() > at {
                break;
            }
            at = at.max(stall.end.get());
        }
        at
    }

    pub(super) fn take_thread(&mut self) -> Option<u32> {
        self.idle.pop_first()
    }

    pub(super) fn free_thread(&mut self, thread: u32) {
        self.idle.insert(thread);
    }

    pub(super) fn take_cpu(&mut self) -> bool {
        let free = self.slots > 0;
        self.slots -= u32::from(free);
        free
    }

    pub(super) fn free_cpu(&mut self) {
        self.slots += 1;
    }

    /// Computes for `need` nanoseconds of running time from `at` on; returns when it is done.
    pub(super) fn compute(&self, seen: &mut Seen, thread: u32, at: u64, need: u64) -> u64 {
        let thread = self.thread(thread);
        let mut did = |begin: u64, end: u64, act| seen.acts.push(Did::new(thread, begin, end, act));
        let (mut now, mut left) = (at, need);
        let from = self.stalls.partition_point(|s| s.end.get() <= at);
        for stall in &self.stalls[from..] {
            let begin = stall.begin.get().max(now);
            if begin - now >= left {
                break;
            }
            let end = stall.end.get().max(now);
            did(now, begin, Act::Runs);
            did(begin, end, Act::Ready(0));
            seen.ran.entry(thread).or_default().push(span(now, begin));
            seen.delayed
                .entry(thread)
                .or_default()
                .push(span(begin, end));
            left -= begin - now;
            now = end;
        }
        did(now, now + left, Act::Runs);
        seen.ran
            .entry(thread)
            .or_default()
            .push(span(now, now + left));
        now + left
    }

    /// A thread waited for a CPU that other threads of the server had.
    pub(super) fn waited(&self, seen: &mut Seen, thread: u32, begin: u64, end: u64) {
        if self.waiting_is_delay {
            let others = self.thread(u32::from(thread == 0));
            seen.acts
                .push(Did::new(thread, begin, end, Act::Ready(Did::tid(others))));
            seen.delayed
                .entry(thread)
                .or_default()
                .push(span(begin, end));
        }
    }

    pub(super) fn thread(&self, thread: u32) -> u32 {
        if self.event_loop { 0 } else { thread }
    }

    /// A thread that could run was kept waiting by others on the machine.
    pub(super) fn contended(&self, seen: &mut Seen, thread: u32, begin: u64, end: u64) {
        let thread = self.thread(thread);
        seen.acts
            .push(Did::new(thread, begin, end, Act::Ready(OTHER)));
        seen.delayed
            .entry(thread)
            .or_default()
            .push(span(begin, end));
    }
}
