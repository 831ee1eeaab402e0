//! The simulation: a client with a bound on its connections and one send loop, against a server
//! with threads and CPUs, event by event.

mod ending;
mod limited;
mod lines;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::plan::unit;
use slowpath_core::sample::{NONE, Sample, Stage};

use super::acts::{Act, Did};
use super::ends::{Connection, End, Met};
use super::keyed::Memory;
use super::lock::{Lock, Owner};
use super::machine::{Machine, Seen, span};
use super::request::{Asks, Request, Step, again_after_ns, draw_class, one_way};
use super::spec::Case;
use limited::Buckets;
use lines::Lines;

/// Where the clock of the first repeat stands.
const BEGIN_NS: u64 = 1_000_000_000_000;
pub(super) const WARMUP_NS: u64 = 1_000_000_000;
/// Between repeats; longer than any request is waited for.
const PAUSE_NS: u64 = 10_000_000_000;

/// The target's connections to another server are from ports so far below those of the client's
/// connections that requests come on.
const UPSTREAM_BELOW: u16 = 22_768;

/// What one repeat was.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) window: Span,
    pub(super) load: Span,
    pub(super) offered: Vec<u64>,
    pub(super) unsent: Vec<u64>,
    pub(super) opened: u64,
    pub(super) stale: u64,
}

/// A simulated run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) repeats: Vec<Repeat>,
    pub(super) samples: Vec<Sample>,
    pub(super) seen: Seen,
}

pub(super) fn run(case: &Case) -> Run {
    let mut run = Run {
        repeats: Vec::new(),
        samples: Vec::new(),
        seen: Seen::default(),
    };
    let mut begin = BEGIN_NS;
    for repeat in 0..case.repeats {
        let mut sim = Sim::new(case, begin, repeat, &mut run.seen);
        sim.play();
        let (facts, samples) = sim.end();
        begin = facts.load.end.get() + PAUSE_NS;
        run.samples.extend(samples);
        run.repeats.push(facts);
    }
    run
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    WindowEnds,
    Scheduled(u32),
    Arrives(usize),
    StepEnds(usize),
    TakesLine(usize),
    CpuEnds(usize),
    Done(usize),
    TimesOut(usize),
    Ends(usize, End),
    Restarts,
    HolderWants(usize),
    LockEnds(Owner),
}

struct Sim<'a> {
    case: &'a Case,
    seen: &'a mut Seen,
    random: ChaCha8Rng,
    machine: Machine,
    /// What the server remembers; `None` if nothing depends on it.
    memory: Option<Memory<'a>>,
    lock: Lock,
    lines: Lines,
    buckets: Buckets,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    requests: Vec<Request>,
    /// Requests without a connection.
    pending: VecDeque<usize>,
    idle: VecDeque<Connection>,
    busy: Vec<Option<Connection>>,
    loop_free: u64,
    in_flight: u32,
    repeat: u16,
    begin: u64,
    /// Connections that the server has taken in, where it has no room for all.
    served: BTreeSet<u32>,
    /// Requests on connections that are not accepted yet, where the server takes so many at a time.
    unaccepted: VecDeque<usize>,
    /// When the acceptor is done with the last connection.
    acceptor_free: u64,
    /// Since when the server's process lives.
    life_begin: u64,
    facts: Repeat,
}

impl<'a> Sim<'a> {
    fn new(case: &'a Case, begin: u64, repeat: u16, seen: &'a mut Seen) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(case.seed);
        random.set_stream(u64::from(repeat));
        let window = span(begin + WARMUP_NS, begin + WARMUP_NS + case.duration.0);
        let load = span(begin, window.end.get());
        let mut machine = Machine::new(case);
        machine.stall(case, load, &mut random, seen);
        let connection = |_| Connection {
            dialled: false,
            serial: NONE,
            carried: 0,
            since: begin,
            idle_since: begin,
        };
        let endpoints = case.endpoints().len();
        let connections = case.users.unwrap_or(case.connections);
        Self {
            case,
            seen,
            random,
            machine,
            memory: Memory::of(case, begin),
            lock: Lock::default(),
            lines: Lines::of(case),
            buckets: Buckets::new(),
            events: BinaryHeap::new(),
            order: 0,
            requests: Vec::new(),
            pending: VecDeque::new(),
            idle: (0..connections).map(connection).collect(),
            busy: Vec::new(),
            loop_free: begin,
            in_flight: 0,
            repeat,
            begin,
            served: BTreeSet::new(),
            unaccepted: VecDeque::new(),
            acceptor_free: begin,
            life_begin: begin,
            facts: Repeat {
                window,
                load,
                offered: vec![0; endpoints],
                unsent: vec![0; endpoints],
                opened: 0,
                stale: 0,
            },
        }
    }

    fn push(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    fn play(&mut self) {
        self.push(self.facts.window.end.get(), Event::WindowEnds);
        self.next_restart(self.begin);
        for (holder, of) in self.case.holder.iter().enumerate() {
            self.push(self.begin + of.at.0, Event::HolderWants(holder));
        }
        match self.case.users {
            Some(users) => {
                for user in 0..users {
                    self.push(self.begin, Event::Scheduled(user));
                }
            }
            None => self.push_next_arrival(self.begin),
        }
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            match event {
                Event::WindowEnds => self.window_ends(),
                Event::Scheduled(user) => self.scheduled(at, user),
                Event::Arrives(request) => {
                    let port = self.requests[request].sample.local_port;
                    self.seen.acts.push(Did::new(0, at, at, Act::Arrived(port)));
                    self.machine.queue.push_back(request);
                    self.start_queued(at);
                }
                Event::StepEnds(request) => {
                    let at = self.machine.thaw(at);
                    self.gives_line_back(at, request);
                    self.advance(at, request);
                }
                Event::TakesLine(request) => self.advance(at, request),
                Event::CpuEnds(request) => {
                    self.machine.free_cpu();
                    self.run_next(at);
                    self.advance(at, request);
                }
                Event::Done(request) => self.answered(at, request),
                Event::TimesOut(request) => self.times_out(at, request),
                Event::Ends(request, end) => self.ends(at, request, end),
                Event::Restarts => self.restarts(at),
                Event::HolderWants(holder) => self.wants(at, Owner::Holder(holder), 0),
                Event::LockEnds(owner) => self.let_go(at, owner),
            }
        }
    }

    fn push_next_arrival(&mut self, after: u64) {
        if let Some(rate) = self.case.open_rate() {
            let gap = -(1.0 - unit(&mut self.random)).ln() / rate;
            self.push(after + (gap * 1e9) as u64, Event::Scheduled(NONE));
        }
    }

    fn scheduled(&mut self, at: u64, user: u32) {
        if at >= self.facts.window.end.get() {
            return;
        }
        let class = draw_class(self.case, at - self.begin, &mut self.random);
        let name = &self.case.class[class].endpoint;
        let endpoints = self.case.endpoints();
        let endpoint = endpoints
            .iter()
            .position(|e| e == name)
            .expect("it is of a class");
        let mut request = Request::new(at, class, endpoint as u16, self.repeat, user);
        request.sample.serial = self.requests.len() as u32;
        if at >= self.facts.window.begin.get() {
            request.sample.stage = Stage::Measured;
            self.facts.offered[endpoint] += 1;
        }
        self.pending.push_back(self.requests.len());
        self.requests.push(request);
        self.busy.push(None);
        self.send_pending(at);
        self.push_next_arrival(at);
    }

    /// Sends what waits, as far as there are connections.
    fn send_pending(&mut self, now: u64) {
        while !self.pending.is_empty()
            && let Some(connection) = self.idle.pop_front()
        {
            let index = self.pending.pop_front().expect("it is not empty");
            self.send(now, index, connection);
        }
    }

    fn send(&mut self, now: u64, index: usize, mut connection: Connection) {
        let case = self.case;
        let class = &case.class[self.requests[index].class];
        let picked_up = now.max(self.loop_free);
        self.loop_free = picked_up + case.loop_cost.0;
        self.seen.loop_ran.push(span(picked_up, self.loop_free));
        let lag = class.lag.map_or(0, |lag| lag.draw(&mut self.random));
        let begin = self.loop_free + lag;
        let mut sent = begin;
        let met = match case.keeps {
            Some(keeps) if connection.dialled => keeps.met(now, &connection),
            _ => Met::Open,
        };
        self.facts.stale += u64::from(met == Met::Stale);
        if met == Met::Stale {
            connection.dialled = false;
            self.let_go_of(now, connection.serial);
        }
        let sample = &mut self.requests[index].sample;
        sample.ready = Nanos::new(now);
        if case.dial_each || !connection.dialled {
            let (took, dropped) = Request::dial(class, case, begin, &mut self.random);
            self.seen.drops.extend(dropped);
            sample.connect_begin = Some(Nanos::new(begin));
            sample.connected = Some(Nanos::new(begin + took));
            let tls = case.handshake.map(|tls| tls.draw(&mut self.random));
            let took = took + tls.unwrap_or_default();
            sample.secured = tls.map(|_| Nanos::new(begin + took));
            sent += took + 5_000;
            connection = Connection {
                dialled: true,
                serial: self.facts.opened as u32,
                carried: 0,
                since: begin + took,
                idle_since: sent,
            };
            self.facts.opened += 1;
        }
        sample.idle_before_ns = now.saturating_sub(connection.idle_since);
        sample.connection = connection.serial;
        sample.connection_since = Some(Nanos::new(connection.since));
        sample.local_port = 32_768 + (connection.serial % 28_000) as u16;
        sample.index_on_connection = connection.carried;
        sample.in_flight = self.in_flight;
        sample.sent = Some(Nanos::new(sent));
        sample.sent_bytes = 100;
        self.in_flight += 1;
        self.busy[index] = Some(connection);
        if let Some(end) = self.turned_away(now, index, met) {
            return self.ends_at(sent, index, end);
        }
        self.requests[index].draw_work(class, &mut self.random);
        if let Some(memory) = &mut self.memory {
            memory.meets(&mut self.requests[index], sent, &mut self.random);
        }
        let again = self.sent_again(sent, index, (class.lost, true));
        let arrives = again + Request::travel(class, case, &mut self.random);
        let arrives = self.lets_pass(arrives, index);
        if class.ack_dropped {
            let port = self.requests[index].sample.local_port;
            self.seen.again.push((arrives - case.wire.0, port, true));
        }
        if class.undialled {
            (self.requests[index].is_wrong, self.requests[index].refusal) = (true, Some(503));
            self.seen.undialled.push(arrives);
        }
        if let Some(at) = self.let_in(arrives, index) {
            self.push(at, Event::Arrives(index));
        }
        self.push(now + case.timeout.0, Event::TimesOut(index));
    }

    /// When what is sent at an instant comes through that gets lost so many times before.
    fn sent_again(&mut self, mut at: u64, index: usize, (times, by_client): (u32, bool)) -> u64 {
        let port = self.requests[index].sample.local_port;
        for before in 0..times {
            at += again_after_ns(before);
            self.seen.again.push((at, port, by_client));
        }
        at
    }

    fn start_queued(&mut self, now: u64) {
        while !self.machine.queue.is_empty()
            && let Some(thread) = self.machine.take_thread()
        {
            let index = self.machine.queue.pop_front().expect("it is not empty");
            self.requests[index].worker = Some(thread);
            if self.case.accepts.is_some_and(|accepts| accepts.by_workers) {
                self.accepted(now, index);
            }
            if !self.case.event_loop {
                self.reads(now, index);
            }
            self.advance(now, index);
        }
    }

    /// Takes the next step of a request that has a thread.
    fn advance(&mut self, now: u64, index: usize) {
        let thread = self.requests[index].worker.expect("it was given a thread");
        loop {
            match self.requests[index].steps.pop_front() {
                Some(Step::FirstByte) => {
                    let at = Nanos::new(now + one_way(self.case, &mut self.random));
                    let request = &mut self.requests[index];
                    let goes_on = !request.steps.is_empty() || request.held_ns > 0;
                    if !request.finished {
                        request.sample.first_byte = Some(at);
                        request.sample.gap_begin = goes_on.then_some(at);
                    }
                }
                Some(Step::Contended(ns)) => {
                    self.machine.contended(self.seen, thread, now, now + ns);
                    return self.push(now + ns, Event::StepEnds(index));
                }
                Some(Step::TakenUp(ns)) => {
                    self.did(index, now, now + ns, Act::TakenUp);
                    return self.push(now + ns, Event::StepEnds(index));
                }
                Some(Step::Cpu(ns)) => {
                    self.machine.runnable.push_back((index, now, ns));
                    return self.run_next(now);
                }
                Some(Step::Lock(ns)) => return self.wants(now, Owner::Request(index), ns),
                Some(Step::Asks(ns)) => {
                    self.did(index, now, now + ns, Act::Asks);
                    return self.push(now + ns, Event::StepEnds(index));
                }
                Some(Step::Call { name, ns, asks }) => {
                    self.seen.upstream |= asks != Asks::Nobody;
                    let Some(port) = self.asks_from(index, asks) else {
                        return self.waits_for_line(now, index, Step::Call { name, ns, asks });
                    };
                    let ended = self.machine.thaw(now + ns);
                    if let Asks::Another(bytes) | Asks::InVain(bytes) = asks {
                        self.did(index, now, now, Act::Sends(port, bytes));
                    }
                    self.did(index, now, ended, Act::Calls(name.clone()));
                    if matches!(asks, Asks::Another(_)) {
                        self.did(index, ended, ended, Act::Gets(port));
                    }
                    self.seen
                        .calls
                        .entry(name)
                        .or_default()
                        .push(span(now, ended));
                    return self.push(now + ns, Event::StepEnds(index));
                }
                None => return self.leave(now, index, thread),
            }
        }
    }

    /// A thread has read a request.
    fn reads(&mut self, now: u64, index: usize) {
        let port = self.requests[index].sample.local_port;
        self.did(index, now, now, Act::Read(port));
    }

    fn did(&mut self, index: usize, begin: u64, end: u64, act: Act) {
        let thread = self.requests[index].worker.expect("it was given a thread");
        let waits = matches!(act, Act::Calls(_) | Act::Asks);
        // An event loop does not wait in a call, and reads when it begins to work.
        if !(waits && self.case.event_loop) {
            let thread = self.machine.thread(thread);
            self.seen.acts.push(Did::new(thread, begin, end, act));
        }
    }

    /// A request or a thread wants the lock, and gets it now or when it is its turn.
    fn wants(&mut self, now: u64, owner: Owner, ns: u64) {
        if let Owner::Holder(holder) = owner
            && now < self.facts.window.end.get()
        {
            let every = self.case.holder[holder].every.0;
            self.push(now + every, Event::HolderWants(holder));
        }
        if self.lock.wants(now, owner, ns) {
            self.gets(now, owner, ns);
        }
    }

    /// The lock has a holder now.
    fn gets(&mut self, now: u64, owner: Owner, ns: u64) {
        let thread = self.thread_of(owner);
        let (ns, act) = match owner {
            Owner::Request(_) => (ns, Act::Locked),
            Owner::Holder(holder) => {
                let holder = &self.case.holder[holder];
                (holder.lasts.draw(&mut self.random), Act::Holds)
            }
        };
        self.seen
            .owned
            .push((Did::tid(thread), span(now, now + ns)));
        self.seen.acts.push(Did::new(thread, now, now + ns, act));
        self.push(now + ns, Event::LockEnds(owner));
    }

    fn let_go(&mut self, now: u64, owner: Owner) {
        let by = self.thread_of(owner);
        if let Some((next, since, ns)) = self.lock.let_go() {
            let thread = self.thread_of(next);
            let act = Act::Waits(Did::tid(by));
            self.seen.acts.push(Did::new(thread, since, now, act));
            let name = "futex:untimed".to_owned();
            self.seen
                .calls
                .entry(name)
                .or_default()
                .push(span(since, now));
            self.gets(now, next, ns);
        }
        if let Owner::Request(index) = owner {
            self.advance(now, index);
        }
    }

    fn thread_of(&self, owner: Owner) -> u32 {
        match owner {
            Owner::Request(index) => {
                let thread = self.requests[index].worker.expect("it was given a thread");
                self.machine.thread(thread)
            }
            Owner::Holder(holder) => Did::HOLDERS + holder as u32,
        }
    }

    fn run_next(&mut self, now: u64) {
        while !self.machine.runnable.is_empty() && self.machine.take_cpu() {
            let (index, since, need) = self.machine.runnable.pop_front().expect("not empty");
            let thread = self.requests[index].worker.expect("it was given a thread");
            self.machine.waited(self.seen, thread, since, now);
            if self.case.event_loop {
                self.reads(now, index);
            }
            let end = self.machine.compute(self.seen, thread, now, need);
            self.push(end, Event::CpuEnds(index));
        }
    }

    /// The server has written the whole response.
    fn leave(&mut self, now: u64, index: usize, thread: u32) {
        let held = self.requests[index].held_ns;
        if held > 0 {
            self.seen.held.push(span(now, now + held));
        }
        self.did(
            index,
            now,
            now,
            Act::Wrote(self.requests[index].sample.local_port),
        );
        let lost = self.case.class[self.requests[index].class].answer_lost;
        if lost > 0 {
            let comes =
                self.sent_again(now, index, (lost, false)) + one_way(self.case, &mut self.random);
            self.requests[index].sample.first_byte = Some(Nanos::new(comes));
        }
        let first = self.requests[index]
            .sample
            .first_byte
            .map_or(now, Nanos::get);
        let done = (now + held).max(first);
        let done = if held > 0 || self.requests[index].sample.gap_begin.is_some() {
            done + one_way(self.case, &mut self.random)
        } else {
            done
        };
        self.push(done, Event::Done(index));
        self.machine.free_thread(thread);
        self.start_queued(now);
    }

    fn answered(&mut self, at: u64, index: usize) {
        if !self.requests[index].finished {
            self.requests[index].complete(at);
            self.finish(at, index, true);
        }
    }

    fn times_out(&mut self, at: u64, index: usize) {
        if !self.requests[index].finished {
            self.requests[index].time_out(at);
            self.finish(at, index, false);
        }
    }

    fn finish(&mut self, at: u64, index: usize, reusable: bool) {
        self.requests[index].finished = true;
        self.in_flight -= 1;
        let mut connection = self.busy[index].take().expect("it was sent");
        connection.carried += 1;
        connection.idle_since = at;
        connection.dialled &= reusable;
        if !reusable || self.case.dial_each {
            self.let_go_of(at, connection.serial);
        }
        self.idle.push_back(connection);
        if self.case.users.is_some() {
            self.push(at, Event::Scheduled(self.requests[index].sample.user));
        }
        self.send_pending(at);
    }

    fn window_ends(&mut self) {
        for index in self.pending.drain(..) {
            let sample = &self.requests[index].sample;
            if sample.stage == Stage::Measured {
                self.facts.unsent[usize::from(sample.endpoint)] += 1;
            }
        }
    }

    fn end(mut self) -> (Repeat, Vec<Sample>) {
        let sent = self.requests.into_iter().filter(|r| r.finished);
        let samples: Vec<Sample> = sent.map(|r| r.sample).collect();
        let last = samples.iter().map(|s| s.done).max();
        self.facts.load.end = last
            .unwrap_or(self.facts.window.end)
            .max(self.facts.window.end);
        if self.case.restarts.is_some() {
            let end = self.facts.load.end.get() + PAUSE_NS / 2;
            self.seen.lives.push(span(self.life_begin, end));
        }
        (self.facts, samples)
    }
}
