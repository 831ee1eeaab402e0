//! The thread that empties the rings and keeps to the plan of the slots.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use std::{fmt, fs};

use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Depth, Stretch};

use super::budget::{Budget, full_slots};
use super::collect::Collector;
use super::cost::Cost;
use super::format::Format;
use super::kinds::Kind;
use super::perf::{Event, What};
use super::records;
use super::session::Session;
use super::slots::{Course, Slot, Turn};
use super::upstream::Upstream;
use super::whom::{self, newest};
use super::{KERNEL, TraceWatch, Traced, gap, tracefs};
use crate::clock;
use crate::namespaces::{self, Namespace};

/// How often the rings are emptied: 10 ms of 100,000 events a second are 100 KB.
const DRAIN_EVERY_NS: u64 = 10 * MILLISECOND;
/// A record is written within this of its instant, unless interrupts take longer; records of
/// all CPUs that are older are put in order.
const SETTLED_NS: u64 = 2 * MILLISECOND;
/// How often the processes and the target's connections are read.
const LOOK_EVERY_NS: u64 = SECOND;
/// Looking may take a fiftieth of a CPU; what takes longer is done the more rarely.
const LOOK_SHARE_INVERSE: u64 = 50;
/// With more records between two looks about threads of others, the kernel's filters are set again with the threads to
/// follow: each costs 0.6 µs where a refused one costs 0.1.
const MOST_FOREIGN: u64 = 1000;

/// The commands of the reading thread.
#[derive(Debug)]
pub(super) enum Command {
    /// When the measured window is.
    Window(Span),
    /// That it ends.
    Stop,
}

/// Everything the reading thread has in its hands.
pub(super) struct Reader {
    watch: TraceWatch,
    session: Session,
    collector: Collector,
    upstream: Upstream,
    /// What each CPU recorded and was not taken yet.
    buffers: Vec<Vec<u8>>,
    course: Course,
    /// The stretch that goes on.
    current: Option<(Nanos, Depth)>,
    stretches: Vec<Stretch>,
    next_look: Nanos,
    budget: Budget,
    /// How often each thread lately began to wait, and up to when that was counted.
    waits_per_s: HashMap<u32, f64>,
    counted_at: Nanos,
    /// Records that were lost before the present stretch.
    lost: u64,
    gaps: Vec<Gap>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens everything; a gap says why that cannot be.
    pub(super) fn open(watch: TraceWatch) -> Result<Self, Gap> {
        // Without procfs no process is known that could be followed.
        let proc = watch.proc_root.join("stat");
        fs::metadata(&proc).map_err(|error| {
            let reason = format!("{}: {error}", proc.display());
            gap(KERNEL, reason, "mount procfs: mount -t proc proc /proc")
        })?;
        let formats = formats(&watch.proc_root)?;
        Self::open_with(watch, &formats)
    }

    /// The same, for a kernel that has these tracepoints.
    fn open_with(watch: TraceWatch, formats: &[(Kind, Format)]) -> Result<Self, Gap> {
        let (members, upstream, scope) = whom::meet(&watch);
        let session = Session::open(&watch.proc_root, formats, scope, watch.most_files);
        let session = session.map_err(|error| gap(KERNEL, error.to_string(), error.remedy()))?;
        let mut collector = Collector::new(members);
        collector.ports = upstream.ports();
        collector.files.infers = session.infers();
        collector.files.has_unix = upstream.has_unix();
        collector.reset_reasons = reset_reasons(formats);
        let for_stacks = watch.most_files.saturating_sub(session.files());
        collector.stacks.most_files = for_stacks;
        Ok(Self {
            gaps: session.gaps().to_vec(),
            budget: Budget::new(0, session.cpus()),
            waits_per_s: HashMap::new(),
            counted_at: clock::now(),
            watch,
            buffers: vec![Vec::new(); session.cpus()],
            session,
            collector,
            upstream,
            course: Course::default(),
            current: None,
            stretches: Vec::new(),
            lost: 0,
            next_look: clock::now().plus(LOOK_EVERY_NS),
        })
    }

    /// Reads until the stop, and gives what was traced.
    pub(super) fn read(mut self, commands: &Receiver<Command>) -> Traced {
        let mut cost = Cost::new();
        self.session.switch(true);
        loop {
            let now = clock::now();
            let turn = now.plus(DRAIN_EVERY_NS);
            let turn = self.course.next().map_or(turn, |next| next.min(turn));
            match commands.recv_timeout(Duration::from_nanos(turn.since(now))) {
                Ok(Command::Window(window)) => {
                    let (seed, repeat) = (self.watch.seed, self.watch.repeat);
                    self.course = Course::over(window, seed, repeat);
                    self.collector.keep_from = Some(window.begin);
                    self.budget = Budget::new(window.len_ns(), self.session.cpus());
                }
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = clock::now();
            match self.course.due(now) {
                Some(Turn::Slot(slot)) => self.begin(slot),
                Some(Turn::Over) => self.end(),
                None => {}
            }
            self.drain(now.minus(SETTLED_NS));
            self.pause_when_full();
            for to in std::mem::take(&mut self.collector.dialled) {
                if self.upstream.dialled(to) {
                    self.next_look = now;
                }
            }
            if now >= self.next_look {
                self.look(now);
                cost.note();
            }
        }
        self.end();
        self.finish(cost)
    }

    /// Begins a slot; it goes on with the present stretch if that is as deep. What happens while
    /// events are switched belongs to none.
    fn begin(&mut self, slot: Slot) {
        self.settle();
        self.count_waits();
        let all: f64 = self.waits_per_s.values().sum();
        let depth = match slot.turn {
            None => Depth::Off,
            Some(turn) if turn < full_slots(all) && self.arm() => Depth::Full,
            Some(_) => Depth::Light,
        };
        if depth != Depth::Full {
            self.session.disarm();
        }
        if depth != Depth::Off {
            let parts = self.course.traced() + 1;
            self.collector.begin_slot(self.watch.most_events, parts);
        }
        if self.current.is_some_and(|(_, now)| now == depth) {
            return;
        }
        let on = depth != Depth::Off;
        if self.current.is_none() && self.stretches.is_empty() {
            self.skip_losses();
        }
        let mut at = clock::now();
        self.close(at);
        if self.session.is_on() != on {
            self.collector.files.forget();
            self.session.switch(on);
            at = clock::now();
        }
        self.current = Some((at, depth));
    }

    /// Begins to take stacks; gives whether that could be.
    fn arm(&mut self) -> bool {
        if self.collector.stacks.is_full() || !self.session.may_take_stacks() {
            return false;
        }
        let tids = self.collector.members.tids();
        let choice = self.budget.choose(&tids, &self.waits_per_s);
        let armed = self.session.arm(&choice);
        if let Err(error) = &armed {
            self.tell(gap("trace.stacks", error.to_string(), error.remedy()));
        }
        armed.is_ok()
    }

    /// Counts how often threads have begun to wait since the last time, if that was seen.
    fn count_waits(&mut self) {
        let now = clock::now();
        let seconds = now.since(self.counted_at) as f64 / SECOND as f64;
        let waits = std::mem::take(&mut self.collector.waits);
        let was_off = self.current.is_some_and(|(_, depth)| depth == Depth::Off);
        if !was_off && seconds > 0.0 {
            let rate = |(tid, count): (u32, u64)| (tid, count as f64 / seconds);
            self.waits_per_s = waits.into_iter().map(rate).collect();
        }
        self.counted_at = now;
    }

    /// Adds a gap, once.
    fn tell(&mut self, gap: Gap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Ends the present stretch at an instant.
    fn close(&mut self, at: Nanos) {
        if let Some((begin, depth)) = self.current.take() {
            // What was lost in a stretch without tracing are births, which the next one lacks.
            let is_traced = depth != Depth::Off;
            let lost = if is_traced { self.take_losses() } else { 0 };
            self.stretches.push(Stretch {
                span: Span::new(begin, at),
                depth,
                repeat: self.watch.repeat,
                lost,
            });
        }
    }

    /// How many records were lost since this was asked last; 0 where events do not count them.
    fn take_losses(&mut self) -> u64 {
        let lost = self.session.lost().unwrap_or(self.lost);
        lost.saturating_sub(std::mem::replace(&mut self.lost, lost))
    }

    /// The first stretch begins: what was lost before only says who is who.
    fn skip_losses(&mut self) {
        let lost = self.take_losses();
        if lost > 0 {
            let reason = format!(
                "{lost} records were lost before the measured window, so names of threads and \
                 ends of connections may be missing"
            );
            let remedy = "a lower rate in the warm-up, or CPUs that slowpath has for itself";
            self.tell(gap("trace.rest", reason, remedy));
        }
    }

    /// Ends tracing for good.
    fn end(&mut self) {
        let at = clock::now();
        self.session.disarm();
        self.session.switch(false);
        self.course.end();
        self.settle();
        self.close(at);
    }

    /// Takes everything that was recorded until now.
    fn settle(&mut self) {
        self.drain(Nanos::new(u64::MAX));
        self.pause_when_full();
    }

    /// Lets the rest of a slot go if no more events are kept of it: what is known is known up to
    /// the last one.
    fn pause_when_full(&mut self) {
        let (Some(last), Some((begin, depth))) = (self.collector.full_since(), self.current) else {
            return;
        };
        if depth == Depth::Off || last < begin {
            return;
        }
        self.session.disarm();
        self.session.switch(false);
        self.close(last);
        let most = self.watch.most_events;
        let reason =
            format!("{most} events are kept of a repeat, so only a part of each slot was traced");
        let remedy = "a lower rate, a shorter duration or fewer repeats leave more for each";
        self.tell(gap("trace.rest", reason, remedy));
    }

    /// Takes all records that are older than `horizon`, of all CPUs in order.
    fn drain(&mut self, horizon: Nanos) {
        self.session.drain(&mut self.buffers);
        self.collector.files.turn();
        let mut order: Vec<(Nanos, u32, u32)> = Vec::new();
        let mut taken = vec![0; self.buffers.len()];
        for (cpu, buffer) in self.buffers.iter().enumerate() {
            let mut at = 0;
            while let Some(length) = records::length(&buffer[at..]) {
                let time = records::time(&buffer[at..at + length]);
                let time = time.unwrap_or(Nanos::new(0));
                if time >= horizon {
                    break;
                }
                order.push((time, cpu as u32, at as u32));
                at += length;
            }
            taken[cpu] = at;
        }
        order.sort_unstable();
        for (time, cpu, at) in order {
            let bytes = &self.buffers[cpu as usize][at as usize..];
            let source = |id| self.session.source(id);
            if let Some(record) = records::parse(bytes, |id| Some(source(id)?.shape)) {
                let source = match &record {
                    records::Record::Sample(sample) => source(sample.id),
                    _ => None,
                };
                self.collector.take(time, &record, source);
            }
        }
        for (buffer, taken) in self.buffers.iter_mut().zip(taken) {
            buffer.drain(..taken);
        }
    }

    /// Lists the threads, and updates the kernel's filters if they changed.
    fn look(&mut self, now: Nanos) {
        let cpu_ns = clock::thread_cpu_ns();
        let last = newest(&self.watch.proc_root);
        self.collector.members.scan();
        whom::meet_peers(&mut self.collector.members, &mut self.upstream);
        let ports = self.upstream.ports();
        self.collector.files.has_unix = self.upstream.has_unix();
        let known = self.session.scope();
        let missed = |tid: &u32| !known.tids.contains(*tid);
        let foreign = std::mem::take(&mut self.collector.foreign);
        if ports != known.ports
            || self.upstream.has_unix() && !known.has_unix
            || foreign > MOST_FOREIGN
            || self.collector.members.tids().iter().any(missed)
        {
            let scope = whom::scope(
                &self.watch.proc_root,
                &self.collector.members,
                &self.upstream,
                last,
            );
            self.collector.ports = ports;
            // What could not be opened again goes on as it was, and is tried again at the next look.
            if let Err(error) = self.session.follow(scope) {
                let reason = format!("the filters of threads could not be set again: {error}");
                self.tell(gap("trace.newcomers", reason, error.remedy()));
            }
        }
        let cost_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
        let pause_ns = cost_ns
            .saturating_mul(LOOK_SHARE_INVERSE)
            .max(LOOK_EVERY_NS);
        self.next_look = now.plus(pause_ns);
    }

    fn finish(mut self, cost: Cost) -> Traced {
        // What naming the stacks costs lies after the window and is not the cost of tracing.
        let cost = cost.finish();
        if self.session.lost().is_some() {
            self.collector.forget_losses();
        }
        let (trace, mut gaps) = self.collector.finish(self.stretches);
        self.gaps.append(&mut gaps);
        Traced {
            trace,
            gaps: self.gaps,
            cost,
        }
    }
}

/// Tracepoints name threads by the ids of the first pid namespace, `/proc` by those of ours.
/// The formats of the tracepoints; a gap says why they cannot be read.
fn formats(proc_root: &Path) -> Result<Vec<(Kind, Format)>, Gap> {
    in_first_namespaces(proc_root)?;
    tracefs::formats(proc_root).map_err(|error| {
        let is_root = rustix::process::geteuid().is_root();
        gap(KERNEL, error.to_string(), how_to_read(is_root))
    })
}

/// What the kernel calls the reasons for resets; nothing if it reports none (before 6.10).
fn reset_reasons(formats: &[(Kind, Format)]) -> BTreeMap<u32, String> {
    let told = formats.iter().find(|(kind, _)| *kind == Kind::SentReset);
    told.map_or_else(BTreeMap::new, |(_, format)| format.names("reason"))
}

/// What lets the formats be read. In a container root may not mount.
const fn how_to_read(is_root: bool) -> &'static str {
    if is_root {
        "give slowpath CAP_SYS_ADMIN to mount tracefs for itself and CAP_PERFMON to trace (docker run \
         --cap-add SYS_ADMIN --cap-add PERFMON), or tracefs of the host (-v \
         /sys/kernel/tracing:/sys/kernel/tracing:ro)"
    } else {
        "run slowpath as root, or mount tracefs for others to read: \
         mount -t tracefs -o mode=755 tracefs /sys/kernel/tracing"
    }
}

/// How many tracepoints of those that are used can be read; a gap says why none can.
pub(super) fn tracepoints(proc_root: &Path) -> Result<usize, Gap> {
    let formats = formats(proc_root)?;
    match Event::open(What::Tasks, 0) {
        Ok(_) => Ok(formats.len()),
        Err(error) => {
            let remedy = "run slowpath as root or with CAP_PERFMON, CAP_SYS_PTRACE and \
                CAP_IPC_LOCK, or sysctl kernel.perf_event_paranoid=-1";
            Err(gap(KERNEL, format!("perf_event_open: {error}"), remedy))
        }
    }
}

/// A gap says so if what the kernel writes means something else here.
fn in_first_namespaces(proc_root: &Path) -> Result<(), Gap> {
    if !namespaces::is_first(proc_root, Namespace::Pid) {
        let reason = "slowpath runs in a pid namespace, where threads have other ids".to_owned();
        let remedy = "run slowpath on the host, or in a container with --pid=host";
        return Err(gap(KERNEL, reason, remedy));
    }
    if !namespaces::is_first(proc_root, Namespace::Time) {
        let (reason, remedy) = namespaces::OTHER_TIME;
        return Err(gap(KERNEL, reason.to_owned(), remedy));
    }
    Ok(())
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod reading;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_told_to_become_root() {
        assert!(how_to_read(true).contains("CAP_SYS_ADMIN"));
        assert!(!how_to_read(true).contains("as root"));
        assert!(how_to_read(false).contains("as root"));
    }
}
