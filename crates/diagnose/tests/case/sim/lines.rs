//! The connections to another server that requests share: a request that finds none free waits in order.

use std::collections::{BTreeSet, VecDeque};

use super::super::acts::{Act, Did};
use super::super::request::{Asks, Step};
use super::{Case, Event, Sim, UPSTREAM_BELOW, span};

/// The first of their ports.
const FIRST_PORT: u16 = 2_000;
/// The ports of connections on which nothing comes back, none of which is used again soon.
const VAIN_PORT: u16 = 61_000;
const VAIN_PORTS: u64 = 4_000;
/// From one who gives a connection back to the next who asks on it.
const TAKES_NS: u64 = 20_000;

/// Those that are free, and who waits for one.
#[derive(Debug)]
pub(super) struct Lines {
    free: BTreeSet<u16>,
    waiting: VecDeque<(usize, u64)>,
}

impl Lines {
    pub(super) fn of(case: &Case) -> Self {
        let count = case.upstream_connections.unwrap_or(0);
        Self {
            free: (FIRST_PORT..FIRST_PORT + count).collect(),
            waiting: VecDeque::new(),
        }
    }
}

impl Sim<'_> {
    /// The port that a request asks from: its own, or that of a shared connection, if it gets one. What is not
    /// answered has a connection for itself, which is given up then.
    pub(super) fn asks_from(&mut self, index: usize, asks: Asks) -> Option<u16> {
        if matches!(asks, Asks::InVain(_)) {
            return Some(VAIN_PORT + (self.order % VAIN_PORTS) as u16);
        }
        if asks == Asks::Nobody || self.case.upstream_connections.is_none() {
            return Some(self.requests[index].sample.local_port - UPSTREAM_BELOW);
        }
        let request = &mut self.requests[index];
        if request.line.is_none() {
            request.line = self.lines.free.pop_first();
        }
        request.line
    }

    /// A request waits for a shared connection, and takes this step then.
    pub(super) fn waits_for_line(&mut self, now: u64, index: usize, step: Step) {
        self.requests[index].steps.push_front(step);
        self.lines.waiting.push_back((index, now));
    }

    /// A request has no need of its shared connection any more: the next one gets it.
    pub(super) fn gives_line_back(&mut self, now: u64, index: usize) {
        let Some(line) = self.requests[index].line.take() else {
            return;
        };
        let Some((next, since)) = self.lines.waiting.pop_front() else {
            self.lines.free.insert(line);
            return;
        };
        self.requests[next].line = Some(line);
        let of = |index: usize| self.requests[index].worker.expect("it was given a thread");
        let (thread, by) = (of(next), of(index));
        if !self.case.event_loop {
            let act = Act::Waits(Did::tid(self.machine.thread(by)));
            let waits = Did::new(self.machine.thread(thread), since, now, act);
            self.seen.acts.push(waits);
            let calls = self.seen.calls.entry("futex:untimed".to_owned());
            calls.or_default().push(span(since, now));
        }
        self.push(now + TAKES_NS, Event::TakesLine(next));
    }
}
