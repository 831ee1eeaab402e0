//! What a trace would have shown of the simulated server's threads.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{
    Call, Depth, Event, IDLE, Left, NO_STACK, Role, Runtime, Thread, Trace, What,
};

use super::acts::{Act, Did, OTHER};
use super::ends::End;
use super::kernel::stall;
use super::script::{By, Script, Wait};
use super::sim::{Repeat, Run};
use super::spec::{Case, TraceDepth, Traced};

const PID: u32 = 100;
const PORT: u16 = 8_080;
/// The address of the lock.
const LOCK: u64 = 0x7F00;
/// A thread that talks to another server for the others.
const TALKER: u32 = 700;
/// A thread that accepts, and hands on what comes.
const ACCEPTOR: u32 = 701;
/// A process that is asked over a Unix socket, and its thread.
const DATABASE_PID: u32 = 102;
const DATABASE: u32 = 702;
/// The tracepoint that records writes on connections: without it no write is seen.
const WRITES: &str = "trace.sock:sock_send_length";
/// A reason of a reset.
const ABORTED: u32 = 7;
/// The state of an end that its process closed (`include/net/tcp_states.h`).
const FIN_WAIT1: u8 = 4;
/// That of an end that has none.
const CLOSE: u8 = 7;
/// Stretches of the recording.
const STRETCH_NS: u64 = 500_000_000;
/// Threads are sampled so often without privilege.
const PEEK_NS: u64 = 5_300_000;
/// From waking to running.
const WAKE_NS: u64 = 5_000;
/// No two events of a thread happen at the same time.
const APART_NS: u64 = 60;

/// The trace of a run; empty if the case has none.
pub(super) fn trace(case: &Case, run: &Run) -> Trace {
    let Some(traced) = case.trace.as_ref().filter(|_| case.visible) else {
        return Trace::default();
    };
    let mut script = Script::default();
    script.process(PID, Role::Target, traced.runtime);
    script.process(OTHER, Role::Other, Runtime::Native);
    script.thread(OTHER, OTHER, "neighbour");
    script.thread(TALKER, PID, "talker");
    script.thread(ACCEPTOR, PID, "acceptor");
    if case.upstream_path.is_some() {
        script.process(DATABASE_PID, Role::Peer, Runtime::Native);
        script.thread(DATABASE, DATABASE_PID, "database");
    }
    let mut threads: BTreeMap<u32, Vec<&Did>> = BTreeMap::new();
    for did in &run.seen.acts {
        match did.act {
            Act::Arrived(port) => {
                let socket = script.socket(PORT, port);
                script.arrived(did.begin, socket);
            }
            _ => threads.entry(did.tid).or_default().push(did),
        }
    }
    let stacks = Stacks::of(&mut script, case, traced);
    for (tid, mut acts) in threads {
        acts.sort_by_key(|did| (did.begin, did.end));
        let name = name(case, tid);
        script.thread(tid, PID, &name);
        play(&mut script, case, &stacks, tid, &acts);
    }
    for &(at, port, end) in &run.seen.ended {
        let socket = script.socket(PORT, port);
        script.event(at, 0, ended(socket, end));
    }
    for &(at, port, by_client) in &run.seen.again {
        let socket = if by_client {
            script.socket(port, PORT)
        } else {
            script.socket(PORT, port)
        };
        script.event(at, 0, What::Retransmit { socket });
    }
    for &at in &run.seen.undialled {
        let socket = script.socket(0, case.upstream_port);
        let by = Did::tid(0);
        let state = CLOSE;
        script.event(at, 0, What::State { socket, state, by });
    }
    script.trace.reset_reasons = [(ABORTED, "TCP_ABORT_ON_CLOSE".to_owned())].into();
    for (number, repeat) in (0..).zip(&run.repeats) {
        stretches(&mut script.trace, traced, number, repeat);
    }
    let mut trace = script.done();
    if traced.depth == TraceDepth::Threads {
        without_privilege(&mut trace, run);
    }
    cut(&mut trace, traced);
    if case.gap.iter().any(|gap| gap.signal == WRITES) {
        let is_write = |event: &Event| matches!(event.what, What::Wrote { .. });
        trace.events.retain(|event| !is_write(event));
    }
    trace
}

/// The server's end is reset, or closed in good order.
fn ended(socket: u32, end: End) -> What {
    let by = Did::tid(0);
    match end {
        End::Reset => What::Reset {
            socket,
            sent: true,
            reason: ABORTED,
            by,
        },
        End::Closed | End::BrokenPipe | End::Refused | End::NoPort => What::State {
            socket,
            state: FIN_WAIT1,
            by,
        },
    }
}

fn name(case: &Case, tid: u32) -> String {
    let holder = tid.checked_sub(Did::tid(Did::HOLDERS));
    match holder.and_then(|holder| case.holder.get(holder as usize)) {
        Some(holder) => holder.name.clone(),
        None if case.event_loop => "loop".to_owned(),
        None => "worker".to_owned(),
    }
}

/// Where threads stand.
struct Stacks {
    lock: u32,
    asks: u32,
    holders: Vec<u32>,
    works: u32,
    stalls: BTreeMap<String, u32>,
}

impl Stacks {
    fn of(script: &mut Script, case: &Case, traced: &Traced) -> Self {
        let mut stack = |text: &str| {
            if traced.symbols {
                script.stack(text)
            } else {
                NO_STACK
            }
        };
        let shared = case.upstream_connections.is_some();
        let condition = shared || case.holder.iter().any(|holder| holder.condition);
        let wait = if traced.interpreter {
            "pthread_cond_timedwait take_gil"
        } else if condition {
            "pthread_cond_wait"
        } else {
            "pthread_mutex_lock"
        };
        Self {
            lock: stack(&format!("futex_do_wait|{wait} handle worker")),
            asks: stack("futex_do_wait|pthread_cond_wait ask handle worker"),
            holders: case
                .holder
                .iter()
                .map(|holder| stack(&format!("schedule|{} background", holder.function)))
                .collect(),
            works: stack("|handle worker"),
            stalls: case
                .class
                .iter()
                .filter_map(|class| Some((class.stall_in.clone(), stall(&class.stall_in)?)))
                .map(|(name, of)| (name, stack(&format!("{}|handle worker", of.stack))))
                .collect(),
        }
    }

    fn stall(&self, name: &str) -> u32 {
        self.stalls.get(name).copied().unwrap_or(NO_STACK)
    }
}

/// The events of one thread: between what it does it waits for requests.
fn play(script: &mut Script, case: &Case, stacks: &Stacks, tid: u32, acts: &[&Did]) {
    let Some(first) = acts.first() else {
        return;
    };
    let mut at = first.begin.saturating_sub(WAKE_NS);
    script.starts(at, tid);
    for did in acts {
        if did.begin > at + 4 * WAKE_NS {
            let own = tid >= Did::tid(Did::HOLDERS);
            let handed = case.accepts.is_some_and(|accepts| !accepts.by_workers);
            // A loop that has read nothing and asks was woken by a timer.
            let by_timer = case.event_loop && matches!(did.act, Act::Sends(..));
            let (call, by) = if own {
                (Call::Sleep, By::Hardirq)
            } else if handed && !case.event_loop {
                (Call::Futex, By::Thread(ACCEPTOR))
            } else if by_timer {
                (Call::Poll, By::Hardirq)
            } else {
                (Call::Poll, By::Softirq)
            };
            script.waits(Wait {
                wake: did.begin - WAKE_NS,
                ..Wait::new(tid, at + APART_NS, did.begin - APART_NS, call, by)
            });
        }
        act(script, case, stacks, did);
        at = at.max(did.end);
    }
    script.switch(at + APART_NS, tid, (tid, Left::Sleeping), IDLE, NO_STACK);
}

fn act(script: &mut Script, case: &Case, stacks: &Stacks, did: &Did) {
    let (tid, begin, end) = (did.tid, did.begin, did.end);
    match &did.act {
        Act::Read(port) => {
            let socket = script.socket(PORT, *port);
            script.read(begin, tid, socket);
        }
        Act::Wrote(port) => {
            let socket = script.socket(PORT, *port);
            script.wrote(begin, tid, socket);
        }
        &Act::Sends(port, bytes) => {
            let socket = upstream(script, case, port);
            script.event(begin, tid, What::Wrote { tid, socket, bytes });
        }
        Act::Gets(port) => {
            let socket = upstream(script, case, *port);
            script.read(begin, tid, socket);
        }
        Act::Runs | Act::Locked => {
            let stack = stacks.works;
            script.event(begin + (end - begin) / 2, tid, What::Sample { tid, stack });
        }
        Act::Ready(by) if end > begin + APART_NS => {
            script.preempted(tid, begin + 1, end - 1, *by);
        }
        Act::TakenUp => script.waits(taken_up(did)),
        Act::Arrived(_) | Act::Ready(_) => {}
        Act::Calls(name) => {
            let wait = call(did, name);
            script.waits(match stall(name) {
                Some(stall) => Wait {
                    call: stall.call,
                    by: stall.by,
                    left: if stall.uninterruptible {
                        Left::Uninterruptible
                    } else {
                        Left::Sleeping
                    },
                    stack: stacks.stall(name),
                    ..wait
                },
                None => wait,
            });
        }
        Act::Waits(by) => script.waits(Wait {
            about: LOCK,
            stack: stacks.lock,
            ..Wait::new(tid, begin, end - APART_NS, Call::Futex, By::Thread(*by))
        }),
        Act::Asks => asks(script, stacks, did),
        Act::Holds => {
            let holder = (tid - Did::tid(Did::HOLDERS)) as usize;
            let stack = stacks.holders[holder];
            let name = &case.holder[holder].call;
            if name == "cpu" {
                script.event(begin + (end - begin) / 2, tid, What::Sample { tid, stack });
            } else {
                script.waits(Wait {
                    stack,
                    ..call(did, name)
                });
            }
        }
    }
}

/// The target's end of a connection to the server that it asks.
fn upstream(script: &mut Script, case: &Case, port: u16) -> u32 {
    match &case.upstream_path {
        Some(path) => script.unix_socket(port, path),
        None => script.socket(port, case.upstream_port),
    }
}

/// A thread asks the one that talks to another server, and waits for it.
fn asks(script: &mut Script, stacks: &Stacks, did: &Did) {
    let (tid, begin, end) = (did.tid, did.begin, did.end);
    script.waits(Wait {
        about: 0x10_000 + u64::from(tid),
        stack: stacks.asks,
        ..Wait::new(tid, begin, end - APART_NS, Call::Futex, By::Thread(TALKER))
    });
    // The talker is woken before, and waits for the answer.
    let (by, context) = (tid, slowpath_core::trace::Context::Thread);
    let asked = begin.saturating_sub(2_000);
    script.event(
        asked,
        tid,
        What::Waking {
            tid: TALKER,
            by,
            context,
        },
    );
    script.switch(
        asked + 500,
        TALKER,
        (IDLE, Left::Runnable),
        TALKER,
        NO_STACK,
    );
    script.waits(Wait {
        wake: end - 1_500,
        ..Wait::new(TALKER, begin, end - 1_000, Call::Poll, By::Softirq)
    });
    script.switch(end + 500, TALKER, (TALKER, Left::Sleeping), IDLE, NO_STACK);
}

/// A wait that is over at once, and then a CPU that is idle takes its time.
fn taken_up(did: &Did) -> Wait {
    let (begin, end) = (did.begin + APART_NS, did.end - APART_NS);
    Wait {
        wake: begin + APART_NS,
        ..Wait::new(did.tid, begin, end, Call::Poll, By::Softirq)
    }
}

/// A wait in a call of that name.
fn call(did: &Did, name: &str) -> Wait {
    let (call, by) = match name.split(':').next().unwrap_or(name) {
        "clock_nanosleep" | "nanosleep" => (Call::Sleep, By::Hardirq),
        "epoll_wait" | "poll" => (Call::Poll, By::Softirq),
        "recvfrom" => (Call::Read, By::Softirq),
        // Over a Unix socket the one who answers wakes the one who asked.
        "recvfrom_unix" => (Call::Read, By::Thread(DATABASE)),
        "connect" => (Call::Connect, By::Softirq),
        "fsync" => (Call::Sync, By::Hardirq),
        "futex" => (Call::Futex, By::Nobody),
        _ => (Call::Other, By::Nobody),
    };
    let begin = did.begin + APART_NS / 2;
    Wait::new(
        did.tid,
        begin,
        (did.end - APART_NS).max(begin + 1),
        call,
        by,
    )
}

fn stretches(trace: &mut Trace, traced: &Traced, repeat: u16, of: &Repeat) {
    let (begin, end) = (
        of.load.begin.get() - STRETCH_NS,
        of.load.end.get() + STRETCH_NS,
    );
    for (place, from) in (0_u64..).zip((begin..end).step_by(STRETCH_NS as usize)) {
        let depth = match (traced.depth, (place * 7 + 3) % 5, place % 2) {
            (_, 0, _) if traced.off => Depth::Off,
            (TraceDepth::Threads, ..) => Depth::Threads,
            (TraceDepth::Full, _, 0) => Depth::Full,
            _ => Depth::Light,
        };
        trace.stretches.push(slowpath_core::trace::Stretch {
            span: Span::new(Nanos::new(from), Nanos::new((from + STRETCH_NS).min(end))),
            depth,
            repeat,
            lost: u64::from(traced.lost),
        });
    }
}

/// Takes out what was not recorded.
fn cut(trace: &mut Trace, traced: &Traced) {
    let mut stretches = trace.stretches.iter().peekable();
    let mut number = 0_u32;
    let mut kept: Vec<Event> = Vec::with_capacity(trace.events.len());
    for event in &trace.events {
        while stretches.peek().is_some_and(|s| s.span.end <= event.at) {
            stretches.next();
        }
        let Some(stretch) = stretches.peek().filter(|s| s.span.begin <= event.at) else {
            continue;
        };
        number += 1;
        if stretch.depth == Depth::Off || (traced.lost && number.is_multiple_of(2)) {
            continue;
        }
        let mut event = *event;
        if stretch.depth != Depth::Full
            && let What::Switch { stack, .. } | What::Sample { stack, .. } = &mut event.what
        {
            *stack = NO_STACK;
        }
        kept.push(event);
    }
    trace.events = kept;
}

/// What is left without privilege: when threads ran, and what they were found in.
fn without_privilege(trace: &mut Trace, run: &Run) {
    let mut events = Vec::new();
    let mut waits: BTreeMap<u32, (u64, Call, u64)> = BTreeMap::new();
    let mut entered: BTreeMap<u32, (Call, u64)> = BTreeMap::new();
    let mut peeks = Vec::new();
    for event in &trace.events {
        let at = event.at.get();
        let mut put = |what| events.push(Event { what, ..*event });
        match event.what {
            What::Call { tid, call, about } => {
                entered.insert(tid, (call, about));
            }
            What::Switch { from, left, to, .. } => {
                if from != IDLE {
                    put(What::Off {
                        tid: from,
                        preempted: left == Left::Runnable,
                    });
                    if let Some(&(call, about)) = entered.get(&from) {
                        waits.insert(from, (at, call, about));
                    }
                }
                if to != IDLE {
                    put(What::On { tid: to });
                    if let Some((since, call, about)) = waits.remove(&to) {
                        peeks.push((to, since, at, call, about));
                    }
                }
            }
            _ => {}
        }
    }
    for (tid, since, until, call, about) in peeks {
        let first = since.next_multiple_of(PEEK_NS);
        for at in (first..until).step_by(PEEK_NS as usize) {
            let has = |(_, span): &&(u32, Span)| span.begin.get() <= at && at < span.end.get();
            let lock = call == Call::Futex && about == LOCK;
            let owner = run.seen.owned.iter().find(|o| lock && has(o));
            let what = What::Peek {
                tid,
                call,
                about,
                owner: owner.map_or(0, |owner| owner.0),
            };
            events.push(Event {
                at: Nanos::new(at),
                cpu: 0,
                what,
            });
        }
    }
    events.sort_by_key(|event| event.at);
    trace.events = events;
    trace.sockets.clear();
    trace.threads.retain(|thread: &Thread| thread.pid == PID);
}
