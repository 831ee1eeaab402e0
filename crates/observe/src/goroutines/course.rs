//! When goroutines are examined: in the slots of the window that are traced, a hundred times a second, or as often as the budget
//! of CPU time allows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Look, Runtime, Stay};

use super::process::Process;
use super::program::{Program, Unreadable};
use super::sockets::Sockets;
use super::{Seen, Watch, gap};
use crate::clock;
use crate::observer::following;
use crate::symbols::{Symbolizer, runtime};
use crate::target::processes_below;
use crate::trace::cost::Cost;
use crate::trace::slots::{self, Turn};

/// The label of what it costs.
const LABEL: &str = "goroutines";
/// How often it is asked whether there is a window, or an end.
const ASK_NS: u64 = 10 * MILLISECOND;
/// The same where no Go program is known: one that is started later is found at the next slot.
const ASK_IDLE_NS: u64 = 50 * MILLISECOND;
/// Between two looks: a wait of 20 ms is seen twice.
const PERIOD_NS: u64 = 10 * MILLISECOND;
/// A look is worth so many times the CPU time that it took: all looks together take a thirtieth of a CPU at most.
const WORTH_TIMES: u64 = 30;
/// What looks have left of that is kept for so long: one that reads the tables of all connections costs as much as ten others, and
/// a pause after it would hide the waits that begin then.
const CREDIT_NS: u64 = 200 * MILLISECOND;
/// How often it is looked which processes there are.
const FOLLOW_NS: u64 = SECOND;
/// Stays that are kept of a repeat: at 48 bytes each some tens of megabytes.
const MOST_STAYS: usize = 500_000;
/// With fewer looks than this share of those that were meant, short waits are missed.
const FEW_LOOKS: f64 = 0.5;

/// What the one who started the looking may change during it.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) stop: AtomicBool,
    window: Mutex<Option<Span>>,
}

impl Orders {
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

/// Everything that the thread has in its hands.
pub(super) struct Course {
    watch: Watch,
    processes: BTreeMap<u32, Process>,
    /// Processes that run no Go, or cannot be read.
    others: BTreeSet<u32>,
    symbolizer: Symbolizer,
    sockets: Sockets,
    looks: Vec<Look>,
    stays: Vec<Stay>,
    gaps: Vec<Gap>,
    is_on: bool,
    next_following: Nanos,
    /// For how long looks were meant, and how many there were.
    meant_ns: u64,
    on_since: Nanos,
    turns: u64,
    cost: Option<Cost>,
}

impl Course {
    pub(super) fn new(watch: Watch) -> Self {
        Self {
            processes: BTreeMap::new(),
            others: BTreeSet::new(),
            symbolizer: Symbolizer::new(&watch.proc_root),
            sockets: Sockets::new(&watch.proc_root),
            watch,
            looks: Vec::new(),
            stays: Vec::new(),
            gaps: Vec::new(),
            is_on: false,
            next_following: Nanos::new(0),
            meant_ns: 0,
            on_since: Nanos::new(0),
            turns: 0,
            cost: None,
        }
    }

    /// Goes through the slots of the window until it is to stop.
    pub(super) fn run(mut self, orders: &Orders) -> Seen {
        // What is read of the programs is read before the window.
        self.follow(clock::now());
        let mut slots = slots::Course::default();
        let mut next_turn = Nanos::new(1);
        // Looks so far are worth the time until then.
        let mut paid_until = Nanos::new(1);
        while !orders.stop.load(Ordering::Relaxed) {
            if let Some(window) = orders.take_window() {
                slots = slots::Course::over(window, self.watch.seed, self.watch.repeat);
            }
            let now = clock::now();
            match slots.due(now) {
                Some(Turn::Slot(slot)) => self.switch(slot.turn.is_some(), now),
                Some(Turn::Over) => self.switch(false, now),
                None => {}
            }
            let has_any = !self.processes.is_empty();
            let mut wake = now.plus(if has_any { ASK_NS } else { ASK_IDLE_NS });
            if self.is_on && has_any {
                if now >= next_turn {
                    let cpu_ns = self.turn(now);
                    let least = Nanos::new(now.get().saturating_sub(CREDIT_NS).max(1));
                    paid_until = paid_until
                        .max(least)
                        .plus(cpu_ns.saturating_mul(WORTH_TIMES));
                    let free_at = paid_until.max(now);
                    next_turn = following(next_turn.max(now), PERIOD_NS, free_at);
                }
                wake = wake.min(next_turn);
            }
            let wake = slots.next().map_or(wake, |change| change.min(wake));
            clock::sleep_until(wake);
        }
        self.switch(false, clock::now());
        self.finish()
    }

    /// Begins to look, or leaves it.
    fn switch(&mut self, on: bool, now: Nanos) {
        if on == self.is_on {
            return;
        }
        self.is_on = on;
        if on {
            self.on_since = now;
            self.follow(now);
        } else {
            self.meant_ns += now.since(self.on_since);
            for process in self.processes.values_mut() {
                process.leave(&mut self.stays);
            }
        }
    }

    /// Looks which processes there are that run Go.
    fn follow(&mut self, now: Nanos) {
        self.next_following = now.plus(FOLLOW_NS);
        let there = processes_below(&self.watch.proc_root, &self.watch.pids);
        for pid in there {
            if self.processes.contains_key(&pid) || self.others.contains(&pid) {
                continue;
            }
            if runtime(&self.watch.proc_root, pid) != Runtime::Go {
                self.others.insert(pid);
                continue;
            }
            match Program::open(&self.watch.proc_root, pid) {
                Ok(program) => {
                    self.symbolizer.meet(pid);
                    self.processes.insert(pid, Process::new(pid, program));
                }
                Err(error) => self.give_up(pid, &error),
            }
        }
    }

    /// Notes that the goroutines of a process cannot be read.
    fn give_up(&mut self, pid: u32, error: &Unreadable) {
        self.others.insert(pid);
        // It has ended since.
        if !self.watch.proc_root.join(pid.to_string()).exists() {
            return;
        }
        let reason = format!("what goroutines of process {pid} wait for is not read: {error}");
        self.gaps.push(gap(reason, error.remedy()));
    }

    /// Looks at all processes once and gives the CPU time that it took.
    fn turn(&mut self, now: Nanos) -> u64 {
        let before = clock::thread_cpu_ns();
        let cost = self.cost.get_or_insert_with(|| Cost::of(LABEL));
        if now >= self.next_following {
            cost.note();
            self.follow(now);
        }
        let mut gone = Vec::new();
        for (pid, process) in &mut self.processes {
            let hands = (&mut self.symbolizer, &mut self.sockets);
            match process.look(clock::now(), hands, &mut self.stays) {
                Ok(look) => self.looks.push(look),
                Err(error) => gone.push((*pid, error)),
            }
        }
        for (pid, error) in gone {
            if let Some(mut process) = self.processes.remove(&pid) {
                process.leave(&mut self.stays);
            }
            if error != Errno::SRCH {
                self.give_up(pid, &Unreadable::Refused(error.into()));
            }
        }
        if self.stays.len() >= MOST_STAYS {
            self.is_on = false;
            self.processes.clear();
            let reason = format!(
                "what goroutines wait for is not read to the end: {MOST_STAYS} waits were kept"
            );
            self.gaps
                .push(gap(reason, "a shorter run, or a lower rate"));
        }
        self.turns += 1;
        clock::thread_cpu_ns().saturating_sub(before)
    }

    fn finish(mut self) -> Seen {
        let symbols = self.symbolizer.finish();
        let meant = self.meant_ns as f64 / PERIOD_NS as f64;
        if !self.looks.is_empty() && (self.turns as f64) < FEW_LOOKS * meant {
            let reason = format!(
                "goroutines were sampled {} times of {meant:.0}: a look at all of them takes long",
                self.turns
            );
            self.gaps
                .push(gap(reason, "fewer goroutines, or a host with more CPUs"));
        }
        let left_out: u64 = self.looks.iter().map(|look| u64::from(look.left_out)).sum();
        let found: u64 = self.looks.iter().map(|look| u64::from(look.found)).sum();
        if left_out > 0 {
            let reason = format!(
                "goroutines were left out of looks that found too many: {left_out} of {}",
                left_out + found
            );
            self.gaps.push(gap(reason, "fewer connections at a time"));
        }
        Seen {
            looks: self.looks,
            stays: self.stays,
            sockets: self.sockets.into_all(),
            frames: symbols.frames,
            stacks: symbols.stacks,
            gaps: self.gaps,
            cost: self.cost.map(Cost::finish).unwrap_or_default(),
        }
    }
}
