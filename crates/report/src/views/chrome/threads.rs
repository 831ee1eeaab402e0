//! Threads with their states, and arrows from who woke to who was woken.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::Value;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::trace::{
    Call, Context, Depth, Event, IDLE, Left, NO_STACK, Role, Stretch, Trace, What,
};

use super::choice::{Chosen, events_in};
use super::out::{Args, Flow, Out, args};
use super::rank;
use super::served::{Served, Station};

/// Writes the tracks of the threads, and notes which requests are seen on them.
pub(super) fn write<W: Write>(
    record: &RunRecord,
    chosen: &Chosen,
    served: &mut Served,
    out: &mut Out<W>,
) -> io::Result<()> {
    let trace = &*record.trace;
    let mut drawing = Drawing {
        trace,
        tracks: tracks(trace),
        served,
        passed: 0,
        flows: chosen.requests.len() as u64,
        drawn: false,
        out,
    };
    drawing.names()?;
    for stretch in &trace.stretches {
        if stretch.depth != Depth::Off {
            drawing.stretch(stretch, &chosen.windows)?;
        }
    }
    Ok(())
}

/// The threads that have a track: those of the target, its peers and slowpath.
fn tracks(trace: &Trace) -> BTreeMap<u32, Track> {
    let own = |thread: &slowpath_core::trace::Thread| {
        let process = trace.process_of(thread.tid)?;
        let shown = process.role != Role::Other && thread.tid != IDLE;
        shown.then(|| (thread.tid, Track::new(thread.pid)))
    };
    trace.threads.iter().filter_map(own).collect()
}

/// What a thread is doing, as far as it was seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Running,
    /// Ready to run: since it was woken, or since another thread got its CPU.
    Ready {
        preempted: bool,
    },
    Waiting {
        /// Whether a signal would not end it.
        uninterruptible: bool,
        stack: u32,
    },
}

/// A thread.
struct Track {
    pid: u32,
    state: State,
    /// The call it entered last, until it runs after having waited in it: where it waits next is
    /// not known from it.
    call: Option<(Call, u64)>,
}

impl Track {
    const fn new(pid: u32) -> Self {
        Self {
            pid,
            state: State::Unknown,
            call: None,
        }
    }

    /// Takes another state and returns the former.
    fn turn(&mut self, state: State) -> State {
        if matches!(self.state, State::Waiting { .. }) {
            self.call = None;
        }
        std::mem::replace(&mut self.state, state)
    }
}

struct Drawing<'a, W> {
    trace: &'a Trace,
    tracks: BTreeMap<u32, Track>,
    served: &'a mut Served,
    /// Stations of requests that are passed.
    passed: usize,
    /// Ids of arrows that are taken; the first are those of requests.
    flows: u64,
    /// Whether what happens now is inside of an exported window.
    drawn: bool,
    out: &'a mut Out<W>,
}

impl<W: Write> Drawing<'_, W> {
    fn names(&mut self) -> io::Result<()> {
        for process in &self.trace.processes {
            let shown = self.tracks.values().any(|track| track.pid == process.pid);
            if shown {
                let name = match process.role {
                    Role::Target => format!("{} (target)", process.title()),
                    Role::Peer => format!("{} (peer)", process.title()),
                    Role::Tool => "slowpath".to_owned(),
                    Role::Other => process.title(),
                };
                self.out.process(process.pid, &name, rank(process.role))?;
            }
        }
        for (place, (&tid, track)) in self.tracks.iter().enumerate() {
            let name = self.trace.thread(tid).map_or("", |thread| &thread.name);
            self.out.thread(track.pid, tid, name, place as i64)?;
        }
        Ok(())
    }

    /// Goes through what was traced without a break. What came before a window is read for the
    /// states that threads are in at its begin.
    fn stretch(&mut self, stretch: &Stretch, windows: &[Span]) -> io::Result<()> {
        for track in self.tracks.values_mut() {
            *track = Track::new(track.pid);
        }
        let mut seen = stretch.span.begin;
        for window in windows {
            let Some(window) = window.intersect(stretch.span) else {
                continue;
            };
            self.events(Span::new(seen, window.begin))?;
            self.drawn = true;
            let met = met(events_in(&self.trace.events, window));
            self.each_open(window.begin, &met)?;
            self.events(window)?;
            for (&tid, track) in &self.tracks {
                if track.state != State::Unknown && met.contains(&tid) {
                    self.out.close((track.pid, tid), window.end)?;
                }
            }
            self.drawn = false;
            seen = window.end;
        }
        Ok(())
    }

    fn each_open(&mut self, at: Nanos, met: &BTreeSet<u32>) -> io::Result<()> {
        for (&tid, track) in &self.tracks {
            if track.state != State::Unknown && met.contains(&tid) {
                let (name, mut facts) = told(self.trace, track);
                facts.insert("began".into(), "before this window".into());
                self.out.open((track.pid, tid), at, &name, facts)?;
            }
        }
        Ok(())
    }

    fn events(&mut self, span: Span) -> io::Result<()> {
        let trace = self.trace;
        for event in events_in(&trace.events, span) {
            self.stations_before(event.at)?;
            self.event(event)?;
        }
        self.stations_before(span.end)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let at = event.at;
        match event.what {
            What::Switch {
                from,
                left,
                to,
                stack,
            } => {
                self.set(from, at, left_as(left, stack), None)?;
                self.set(to, at, State::Running, None)
            }
            What::On { tid } => self.set(tid, at, State::Running, None),
            What::Off { tid, preempted } => {
                let left = if preempted {
                    Left::Runnable
                } else {
                    Left::Sleeping
                };
                self.set(tid, at, left_as(left, NO_STACK), None)
            }
            What::Waking { tid, by, context } => self.waking(at, tid, by, context),
            What::Call { tid, call, about } => {
                if let Some(track) = self.tracks.get_mut(&tid) {
                    track.call = Some((call, about));
                }
                Ok(())
            }
            What::Sample { tid, stack } => {
                self.mark(at, tid, "sample", args([("stack", self.stack(stack))]))
            }
            What::Peek {
                tid,
                call,
                about,
                owner,
            } => self.peek(at, tid, (call, about), owner),
            // The first three are shown by the requests, as far as they are joined with them.
            What::Read { .. }
            | What::Wrote { .. }
            | What::Arrived { .. }
            | What::Reset { .. }
            | What::Retransmit { .. }
            | What::State { .. } => Ok(()),
        }
    }

    /// Gives a thread another state: ends the slice of the former, begins that of the new.
    fn set(&mut self, tid: u32, at: Nanos, state: State, woken: Option<Value>) -> io::Result<()> {
        let Some(track) = self.tracks.get_mut(&tid) else {
            return Ok(());
        };
        let before = track.turn(state);
        if !self.drawn {
            return Ok(());
        }
        let place = (track.pid, tid);
        if before != State::Unknown {
            self.out.close(place, at)?;
        }
        if state != State::Unknown {
            let (name, mut facts) = told(self.trace, track);
            if let Some(by) = woken {
                facts.insert("woken_by".into(), by);
            }
            self.out.open(place, at, &name, facts)?;
        }
        Ok(())
    }

    fn waking(&mut self, at: Nanos, tid: u32, by: u32, context: Context) -> io::Result<()> {
        let Some(track) = self.tracks.get(&tid) else {
            return Ok(());
        };
        let woken = (track.pid, tid);
        // Who runs or is ready is not made ready by it.
        if !matches!(track.state, State::Waiting { .. } | State::Unknown) {
            return Ok(());
        }
        let waker = match context {
            Context::Softirq => "a softirq: the network or a timer".to_owned(),
            Context::Hardirq => "an interrupt: a timer or a device".to_owned(),
            Context::Thread | Context::Birth => {
                let thread = self.trace.thread(by);
                let name = thread.map_or("", |thread| &thread.name);
                format!("{name} ({by})")
            }
        };
        let by_thread = matches!(context, Context::Thread | Context::Birth);
        let from = self.tracks.get(&by).filter(|_| by_thread);
        let running = from.is_some_and(|track| track.state == State::Running);
        let arrow = (self.drawn && running).then(|| from.map(|track| (track.pid, by)));
        let arrow = arrow.flatten();
        self.flows += u64::from(arrow.is_some());
        if let Some(from) = arrow {
            self.out.flow(from, at, Flow::Start, ("wake", self.flows))?;
        }
        let ready = State::Ready { preempted: false };
        self.set(tid, at, ready, Some(waker.into()))?;
        if arrow.is_some() {
            self.out.flow(woken, at, Flow::End, ("wake", self.flows))?;
        }
        Ok(())
    }

    /// The stations of requests' arrows up to an instant, where the thread is seen running.
    fn stations_before(&mut self, at: Nanos) -> io::Result<()> {
        while let Some(&station) = self.served.stations.get(self.passed) {
            if station.at >= at {
                break;
            }
            self.passed += 1;
            self.station(station)?;
        }
        Ok(())
    }

    fn station(&mut self, station: Station) -> io::Result<()> {
        let Some(track) = self.tracks.get(&station.tid) else {
            return Ok(());
        };
        if self.drawn && track.state == State::Running {
            self.served.drawn[station.request].get_or_insert(station.at);
            let (place, id) = ((track.pid, station.tid), station.request as u64 + 1);
            let flow = ("request", id);
            self.out.flow(place, station.at, Flow::Step, flow)?;
        }
        Ok(())
    }

    fn peek(&mut self, at: Nanos, tid: u32, found: (Call, u64), owner: u32) -> io::Result<()> {
        let mut facts = args([("about", about(found))]);
        if owner != 0 {
            let thread = self.trace.thread(owner);
            let name = thread.map_or("", |thread| &thread.name);
            facts.insert("owner".into(), format!("{name} ({owner})").into());
        }
        self.mark(at, tid, found.0.describe(), facts)
    }

    fn mark(&mut self, at: Nanos, tid: u32, name: &str, facts: Args) -> io::Result<()> {
        match self.tracks.get(&tid) {
            Some(track) if self.drawn => self.out.instant((track.pid, tid), at, name, facts),
            _ => Ok(()),
        }
    }

    fn stack(&self, stack: u32) -> Value {
        frames(self.trace, stack)
    }
}

/// The threads that something happens to: the others wait all the time.
fn met(events: &[Event]) -> BTreeSet<u32> {
    let pair = |event: &Event| match event.what {
        What::Switch { from, to, .. } => [from, to],
        What::Waking { tid, by, .. } => [tid, by],
        What::Call { tid, .. }
        | What::Read { tid, .. }
        | What::Wrote { tid, .. }
        | What::Sample { tid, .. }
        | What::On { tid }
        | What::Off { tid, .. }
        | What::Peek { tid, .. } => [tid, tid],
        What::Arrived { .. }
        | What::Reset { .. }
        | What::Retransmit { .. }
        | What::State { .. } => [IDLE, IDLE],
    };
    events.iter().flat_map(pair).collect()
}

const fn left_as(left: Left, stack: u32) -> State {
    match left {
        Left::Runnable => State::Ready { preempted: true },
        Left::Sleeping => State::Waiting {
            uninterruptible: false,
            stack,
        },
        Left::Uninterruptible => State::Waiting {
            uninterruptible: true,
            stack,
        },
        Left::Gone => State::Unknown,
    }
}

/// What a slice is called, and what else is known of it.
fn told(trace: &Trace, track: &Track) -> (String, Args) {
    match track.state {
        State::Unknown => (String::new(), Args::new()),
        State::Running => ("running".to_owned(), Args::new()),
        State::Ready { preempted: true } => ("ready, preempted".to_owned(), Args::new()),
        State::Ready { preempted: false } => ("ready".to_owned(), Args::new()),
        State::Waiting {
            uninterruptible,
            stack,
        } => {
            let name = match (track.call, uninterruptible) {
                (Some((call, _)), false) => call.describe().to_owned(),
                (Some((call, _)), true) => format!("{}, uninterruptible", call.describe()),
                (None, false) => "waiting".to_owned(),
                (None, true) => "waiting, uninterruptible".to_owned(),
            };
            let about = track.call.map_or(Value::Null, about);
            (
                name,
                args([("about", about), ("stack", frames(trace, stack))]),
            )
        }
    }
}

fn about((call, about): (Call, u64)) -> Value {
    match call {
        Call::Futex => format!("futex {about:#x}").into(),
        Call::Sleep | Call::Wait | Call::Other => Value::Null,
        _ => format!("file descriptor {about}").into(),
    }
}

/// A stack, innermost first; null if none was taken.
fn frames(trace: &Trace, stack: u32) -> Value {
    let Some(stack) = trace.stacks.get(stack as usize) else {
        return Value::Null;
    };
    let frames = stack
        .iter()
        .filter_map(|&frame| trace.frames.get(frame as usize));
    frames.map(|frame| Value::from(frame.to_string())).collect()
}
