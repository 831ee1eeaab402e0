//! The thread that looks: slot by slot, switches and looks on, or everything off.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::trace::{Depth, Event, Stretch, Trace, What};

use super::PeekWatch;
use super::crew::{Crew, MOST_FILES};
use super::holders;
use super::sweep::Sweep;
use super::switches::{Seen, Sight, Switches};
use crate::clock;
use crate::observer::{CPU_SHARE_INVERSE, following};
use crate::symbols::runtime;
use crate::trace::Traced;
use crate::trace::cost::Cost;
use crate::trace::slots::{self, Turn};

/// How often it is asked whether there is a window, or an end.
const ASK_NS: u64 = 10 * MILLISECOND;
/// How often threads are listed if no event reports those that are born.
const LIST_NS: u64 = 100 * MILLISECOND;
/// How often processes are, which is dearer.
const FOLLOW_NS: u64 = SECOND;
/// Of the files that may be open, one of so many is for looks.
const LOOKS_SHARE_INVERSE: usize = 4;
/// Times that threads are listed and followed again until no new ones come while that is done.
const MOST_LISTINGS: usize = 3;

/// What the starter of the sampler may change while it runs.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) stop: AtomicBool,
    window: Mutex<Option<Span>>,
}

impl Orders {
    fn are_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says when the measured window is.
    pub(super) fn lay(&self, window: Span) {
        *self.locked() = Some(window);
    }

    fn take_window(&self) -> Option<Span> {
        self.locked().take()
    }

    fn locked(&self) -> MutexGuard<'_, Option<Span>> {
        // A value is put there whole or not at all, so a panic cannot have broken it.
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stretch that has begun.
struct Current {
    begin: Nanos,
    depth: Depth,
    lost: u64,
}

/// Everything that the thread has in its hands.
pub(super) struct Course {
    pub(super) watch: PeekWatch,
    crew: Crew,
    pub(super) sweep: Sweep,
    pub(super) switches: Option<Switches>,
    /// Why there are no switches, or none of some threads.
    pub(super) refused: Option<io::Error>,
    current: Option<Current>,
    stretches: Vec<Stretch>,
    /// When events were opened: what is known of threads begins again.
    beginnings: Vec<Nanos>,
    events: Vec<Event>,
    /// Events that there will be when this slot is full.
    room: usize,
    looks: Vec<Event>,
    next_listing: Nanos,
    next_following: Nanos,
    /// Turns so far.
    turns: u64,
    cost: Cost,
}

impl Course {
    pub(super) fn new(watch: PeekWatch) -> Self {
        // A thread that is not followed is missing; one whose file is opened again costs a little more.
        let of_looks = MOST_FILES.min(watch.most_files / LOOKS_SHARE_INVERSE);
        let of_switches = watch.most_files - of_looks;
        let (switches, refused) = match Switches::open(&watch.proc_root, of_switches) {
            Ok(switches) => (Some(switches), None),
            Err(error) => (None, Some(error)),
        };
        let now = clock::now();
        Self {
            crew: Crew::new(watch.proc_root.clone(), watch.pids.clone(), of_looks),
            watch,
            sweep: Sweep::default(),
            switches,
            refused,
            current: None,
            stretches: Vec::new(),
            beginnings: Vec::new(),
            events: Vec::new(),
            room: 0,
            looks: Vec::new(),
            next_listing: now,
            next_following: now,
            turns: 0,
            cost: Cost::new(),
        }
    }

    /// Goes through the slots of the window until the stop.
    pub(super) fn run(mut self, orders: &Orders) -> Traced {
        let period_ns = SECOND / u64::from(self.watch.hertz.max(1));
        let mut slots = slots::Course::default();
        let mut next_turn = Nanos::new(1);
        while !orders.are_to_stop() {
            if let Some(window) = orders.take_window() {
                slots = slots::Course::over(window, self.watch.seed, self.watch.repeat);
            }
            self.pass(&mut slots);
            let now = clock::now();
            let mut wake = now.plus(ASK_NS);
            if self.is_on() {
                if now >= next_turn {
                    let cpu_ns = self.turn(now);
                    let free_at = now.plus(cpu_ns.saturating_mul(CPU_SHARE_INVERSE));
                    next_turn = following(next_turn.max(now), period_ns, free_at);
                }
                wake = wake.min(next_turn);
            }
            let wake = slots.next().map_or(wake, |change| change.min(wake));
            clock::sleep_until(wake);
        }
        self.leave(clock::now(), false);
        self.finish()
    }

    fn is_on(&self) -> bool {
        let depth = self.current.as_ref().map(|current| current.depth);
        depth == Some(Depth::Threads)
    }

    /// Leaves the slot that is over and enters the one that has begun.
    fn pass(&mut self, slots: &mut slots::Course) {
        let now = clock::now();
        let Some(turn) = slots.due(now) else {
            return;
        };
        match turn {
            Turn::Slot(slot) => {
                let is_on = slot.turn.is_some();
                let goes_on = is_on && self.is_on();
                self.leave(now, goes_on);
                if !goes_on {
                    self.enter(is_on);
                }
                // What there is room for is shared by the slots that are to come.
                let kept = self.events.len();
                let most = usize::try_from(self.watch.most_events).unwrap_or(usize::MAX);
                self.room = kept + most.saturating_sub(kept) / (slots.traced() + 1);
            }
            Turn::Over => self.leave(now, false),
        }
    }

    /// Begins a stretch.
    fn enter(&mut self, is_on: bool) {
        if is_on {
            self.follow();
            self.beginnings.push(clock::now());
        }
        self.current = Some(Current {
            begin: clock::now(),
            depth: if is_on { Depth::Threads } else { Depth::Off },
            lost: 0,
        });
    }

    /// Ends a stretch at `end`; if tracing goes on, another begins there.
    fn leave(&mut self, end: Nanos, goes_on: bool) {
        if self.is_on() {
            self.drain();
        }
        let Some(current) = self.current.take() else {
            return;
        };
        self.stretches.push(Stretch {
            span: Span::new(current.begin, end.max(current.begin)),
            depth: current.depth,
            repeat: self.watch.repeat,
            lost: current.lost,
        });
        if goes_on {
            self.current = Some(Current {
                begin: end.max(current.begin),
                lost: 0,
                ..current
            });
        } else if let Some(switches) = &mut self.switches {
            // Closed, not paused: a thread with paused events is still dearer to switch.
            switches.forget_all();
            self.crew.unfollow();
        }
    }

    /// Finds all threads and follows them, those too that are born in that time.
    fn follow(&mut self) {
        self.crew.refresh();
        for _ in 0..MOST_LISTINGS {
            if !self.follow_members() {
                break;
            }
            self.crew.refresh_all_threads();
        }
        let now = clock::now();
        self.next_listing = now.plus(LIST_NS);
        self.next_following = now.plus(FOLLOW_NS);
        self.crew.forget_what_was_told();
    }

    /// Follows the threads that are not followed yet; says whether there were any.
    fn follow_members(&mut self) -> bool {
        let mut any = false;
        let Some(switches) = &mut self.switches else {
            return any;
        };
        for (tid, member) in &mut self.crew.members {
            if member.running.is_some() || switches.follows(*tid) {
                continue;
            }
            any = true;
            match switches.follow(*tid) {
                Ok(true) => member.running = Some((false, clock::now())),
                Ok(false) => {}
                // Other threads may still be followed: a process may have changed its user.
                Err(error) => self.refused = Some(error),
            }
        }
        any
    }

    /// Reads the events of switches and looks at the threads that may wait in something new;
    /// gives the CPU time that it took.
    fn turn(&mut self, now: Nanos) -> u64 {
        let before = clock::thread_cpu_ns();
        self.drain();
        if now >= self.next_following {
            self.next_following = now.plus(FOLLOW_NS);
            self.next_listing = now.plus(LIST_NS);
            self.crew.refresh();
            self.follow_members();
            self.cost.note();
        } else if now >= self.next_listing && self.births_are_missed() {
            self.next_listing = now.plus(LIST_NS);
            self.crew.refresh_all_threads();
            self.follow_members();
        }
        let mut looks = std::mem::take(&mut self.looks);
        self.sweep.turn(&mut self.crew, &mut looks);
        self.events.append(&mut looks);
        self.looks = looks;
        self.end_when_full();
        self.turns += 1;
        clock::thread_cpu_ns().saturating_sub(before)
    }

    /// Whether threads may be born that no event reports.
    fn births_are_missed(&self) -> bool {
        let switches = self.switches.as_ref();
        self.refused.is_some() || switches.is_none_or(|switches| switches.left_out() > 0)
    }

    /// Takes the events of switches.
    fn drain(&mut self) {
        let Some(mut switches) = self.switches.take() else {
            return;
        };
        for sight in switches.drain() {
            self.see(sight);
        }
        self.switches = Some(switches);
    }

    fn see(&mut self, sight: Sight) {
        let Sight { at, cpu, seen } = sight;
        match seen {
            Seen::On { tid } => {
                self.crew.note_switch(tid, true, at, cpu);
                let what = What::On { tid };
                self.events.push(Event { at, cpu, what });
            }
            Seen::Off { tid, preempted } => {
                self.crew.note_switch(tid, false, at, cpu);
                let what = What::Off { tid, preempted };
                self.events.push(Event { at, cpu, what });
            }
            Seen::Born { pid, tid, parent } => {
                self.crew.admit(pid, tid, Some(parent));
                // It inherits the events, so it will be reported.
                self.crew.note_switch(tid, false, at, cpu);
            }
            Seen::Named { tid, name } => self.crew.rename(tid, &name),
            Seen::Ended { tid } => {
                self.crew.dismiss(tid);
                // The events of a thread end before its last switch.
                let preempted = false;
                let what = What::Off { tid, preempted };
                self.events.push(Event { at, cpu, what });
            }
            Seen::Lost { count } => {
                self.crew.forget_what_was_told();
                if let Some(current) = &mut self.current {
                    current.lost += count;
                }
            }
        }
    }

    /// Ends the stretch early if there is no room for more.
    fn end_when_full(&mut self) {
        if self.events.len() >= self.room {
            self.leave(clock::now(), false);
            self.events.sort_by_key(|event| event.at);
            self.events.truncate(self.room);
            let last = self.events.last().map(|event| event.at);
            if let (Some(last), Some(stretch)) = (last, self.stretches.last_mut()) {
                let end = last.clamp(stretch.span.begin, stretch.span.end);
                stretch.span = Span::new(stretch.span.begin, end);
            }
        }
    }

    /// How many looks at all threads were meant in the time that was traced, and how many there
    /// were.
    pub(super) fn looks_meant_and_made(&self) -> (f64, f64) {
        let traced = self.stretches.iter().filter(|s| s.depth == Depth::Threads);
        let traced_ns: u64 = traced.map(|stretch| stretch.span.len_ns()).sum();
        let meant = traced_ns as f64 / SECOND as f64 * f64::from(self.watch.hertz);
        (meant, self.turns as f64)
    }

    fn finish(self) -> Traced {
        let gaps = self.gaps();
        let mut events = self.events;
        events.sort_by_key(|event| event.at);
        let mut known = Alternation::new(self.beginnings);
        // Some come while the last threads of a stretch are still being followed.
        events.retain(|event| is_traced(&self.stretches, event.at) && known.admits(event));
        let threads = &self.crew.threads;
        let process_of = |tid: u32| threads.get(&tid).map_or(0, |thread| thread.pid);
        holders::name(&mut events, &self.sweep.plain_locks(), &process_of);
        let met: BTreeSet<u32> = events.iter().flat_map(threads_of).collect();
        let mut threads = self.crew.threads;
        threads.retain(|tid, _| met.contains(tid));
        let pids: BTreeSet<u32> = threads.values().map(|thread| thread.pid).collect();
        let mut processes = self.crew.processes;
        processes.retain(|pid, _| pids.contains(pid));
        for process in processes.values_mut() {
            process.runtime = runtime(&self.watch.proc_root, process.pid);
        }
        Traced {
            trace: Trace {
                stretches: self.stretches,
                processes: processes.into_values().collect(),
                threads: threads.into_values().collect(),
                events,
                ..Trace::default()
            },
            gaps,
            cost: self.cost.finish(),
        }
    }
}

/// Whether it is within a stretch that is traced.
fn is_traced(stretches: &[Stretch], at: Nanos) -> bool {
    let behind = stretches.partition_point(|stretch| stretch.span.begin <= at);
    let last = behind.checked_sub(1).and_then(|place| stretches.get(place));
    last.is_some_and(|last| last.depth == Depth::Threads && at <= last.span.end)
}

/// The threads that an event speaks of.
fn threads_of(event: &Event) -> impl Iterator<Item = u32> + use<> {
    let (tid, owner) = match event.what {
        What::On { tid } | What::Off { tid, .. } => (tid, 0),
        What::Peek { tid, owner, .. } => (tid, owner),
        _ => (0, 0),
    };
    [tid, owner].into_iter().filter(|tid| *tid != 0)
}

/// Keeps of each thread's switches those that change something: a thread that was born while all
/// were being followed is reported twice, by what it inherited and by events of its own.
struct Alternation {
    /// When all becomes unknown, in order of time.
    beginnings: VecDeque<Nanos>,
    on: BTreeMap<u32, bool>,
}

impl Alternation {
    fn new(beginnings: Vec<Nanos>) -> Self {
        Self {
            beginnings: beginnings.into(),
            on: BTreeMap::new(),
        }
    }

    fn admits(&mut self, event: &Event) -> bool {
        while self
            .beginnings
            .pop_front_if(|begin| *begin <= event.at)
            .is_some()
        {
            self.on.clear();
        }
        match event.what {
            What::On { tid } => self.on.insert(tid, true) != Some(true),
            What::Off { tid, .. } => self.on.insert(tid, false) != Some(false),
            _ => true,
        }
    }
}
