//! All events on all CPUs: opened, filtered by thread, switched on and off.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use rustix::io::Errno;
use slowpath_core::timeline::Gap;

use super::budget::Choice;
use super::filters::{Scope, Tids};
use super::format::Format;
use super::idle;
use super::kinds::{Kind, Layout};
use super::perf::{DUMP_BYTES, Event, What};
use super::points::{Means, Point};
use super::records::Shape;
use super::ring::Ring;
use crate::cpus;
use crate::limits::MORE_FILES;

/// Data of the largest ring: at 100,000 events a second of about 100 bytes on a CPU it holds
/// almost a second.
pub(super) const RING_BYTES: usize = 8 << 20;
/// What all rings together take at most, on machines of many CPUs.
const ALL_RINGS_BYTES: usize = 256 << 20;
/// A smaller ring than this is not worth having: 128 KiB holds 10 ms of 100,000 events a second.
const SMALLEST_RING_BYTES: usize = 128 << 10;

/// A clock slower than this is not worth having.
const SLOWEST_HZ: u64 = 20;

/// What an open event records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// What its records hold.
    pub(super) shape: Shape,
    /// How its tracepoint's records are read; the dummy and the clock have none.
    pub(super) layout: Option<Layout>,
}

/// An event of a tracepoint, and what the kernel tests before it writes a record of it.
#[derive(Debug)]
struct Light {
    event: Event,
    condition: Option<String>,
}

/// Everything that is open on one CPU.
#[derive(Debug)]
struct Cpu {
    number: u32,
    /// Births, names and ends; the ring is this event's.
    tasks: Event,
    ring: Ring,
    /// The tracepoints, in the order of [`Means::points`].
    light: Vec<Light>,
    /// Every handover of the CPU, if the tracepoints report nothing of it while it is idle.
    handovers: Option<Event>,
    /// The events with stacks, while there are any.
    full: Vec<Event>,
}

/// All events on all CPUs.
#[derive(Debug)]
pub(super) struct Session {
    means: Means,
    cpus: Vec<Cpu>,
    sources: BTreeMap<u64, Source>,
    /// The threads that all events follow; after a change that went wrong some follow others already.
    scope: Scope,
    enabled: bool,
    /// Records that events lost which are closed; `None` if some did not count them.
    lost: Option<u64>,
}

/// What could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// No tracepoint of the scheduler.
    #[error("the kernel has no {0}")]
    Absent(String),
    /// `perf_event_open(2)` or one of its requests refused.
    #[error("{what} on CPU {cpu}: {source}")]
    Refused {
        /// Which event.
        what: String,
        /// On which CPU.
        cpu: u32,
        /// Why.
        source: io::Error,
    },
    /// Too few files may be open.
    #[error("{least} files would be open, and {most} may be beside the load's connections")]
    NoFiles {
        /// What the least would take.
        least: usize,
        /// What there is.
        most: usize,
    },
    /// The list of CPUs is not to be had.
    #[error("the CPUs are not known: {0}")]
    NoCpus(io::Error),
}

impl SessionError {
    /// What to try.
    pub(super) fn remedy(&self) -> &'static str {
        let is_file = |source: &io::Error| {
            let errno = Errno::from_io_error(source);
            matches!(errno, Some(Errno::MFILE | Errno::NFILE))
        };
        match self {
            Self::Absent(_) => "a kernel with CONFIG_FTRACE and CONFIG_EVENT_TRACING",
            Self::NoFiles { .. } => MORE_FILES,
            Self::Refused { source, .. } if is_file(source) => MORE_FILES,
            Self::Refused { .. } => {
                "run slowpath as root or with CAP_PERFMON, CAP_SYS_PTRACE and CAP_IPC_LOCK"
            }
            Self::NoCpus(_) => "mount sysfs: mount -t sysfs sysfs /sys",
        }
    }
}

impl Session {
    /// Opens the events of all tracepoints on all CPUs and follows `scope`; nothing is recorded
    /// yet but births, names and ends of threads. What cannot be opened is a gap, unless nothing can
    /// be reported without it.
    pub(super) fn open(
        proc_root: &Path,
        formats: &[(Kind, Format)],
        scope: Scope,
        most_files: usize,
    ) -> Result<Self, SessionError> {
        let numbers = cpus::online(proc_root).map_err(SessionError::NoCpus)?;
        let means = Means::within(formats, numbers.len(), most_files);
        let means = means.map_err(|least| SessionError::NoFiles {
            least,
            most: most_files,
        })?;
        for needed in [Kind::Switch, Kind::Waking] {
            if !means.points.iter().any(|point| point.kind == needed) {
                return Err(SessionError::Absent(needed.name()));
            }
        }
        let bytes = ring_bytes(numbers.len());
        let rings = numbers.iter().map(|number| Cpu::open(*number, bytes));
        let infers = means.infers();
        let mut session = Self {
            cpus: rings.collect::<Result<_, _>>()?,
            means,
            sources: BTreeMap::new(),
            scope: Scope { infers, ..scope },
            enabled: false,
            lost: Some(0),
        };
        session.open_points()?;
        session.begin()?;
        Ok(session)
    }

    /// What is left out.
    pub(super) fn gaps(&self) -> &[Gap] {
        &self.means.gaps
    }

    /// Whether writes are inferred from system calls, since the kernel has no tracepoint for them.
    pub(super) fn infers(&self) -> bool {
        self.means.infers()
    }

    /// Files that are open at most.
    pub(super) fn files(&self) -> usize {
        self.means.files
    }

    /// Opens the tracepoints.
    fn open_points(&mut self) -> Result<(), SessionError> {
        let mut place = 0;
        while let Some(point) = self.means.points.get(place) {
            let condition = self.scope.condition(point.kind, point.with_ports);
            let open = |cpu: &Cpu| cpu.open_point(point, condition.clone(), &mut self.sources);
            let lights: Result<Vec<Light>, _> = self.cpus.iter().map(open).collect();
            match lights {
                Ok(lights) => {
                    for (cpu, light) in self.cpus.iter_mut().zip(lights) {
                        cpu.light.push(light);
                    }
                    place += 1;
                }
                Err(error) if point.is_needed() => return Err(error),
                Err(error) => self.means.leave_out(place, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Begins to report births, names and ends.
    fn begin(&mut self) -> Result<(), SessionError> {
        let switch = self.switch_point()?.id;
        for cpu in &mut self.cpus {
            let number = cpu.number;
            let refused = |source| refused("an event of threads", number, source);
            cpu.tasks.enable().map_err(refused)?;
            let handovers = idle::is_hidden(switch, number)
                .then(|| open(What::Handovers, None, number, &cpu.tasks));
            cpu.handovers = handovers.transpose().map_err(refused)?;
        }
        Ok(())
    }

    fn switch_point(&self) -> Result<&Point, SessionError> {
        let mut points = self.means.points.iter();
        let switch = points.find(|point| point.kind == Kind::Switch);
        switch.ok_or_else(|| SessionError::Absent(Kind::Switch.name()))
    }

    /// What the event of that id records; events that were closed are still known.
    pub(super) fn source(&self, id: u64) -> Option<Source> {
        self.sources.get(&id).copied()
    }

    /// The threads that the kernel's filters select.
    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Follows other threads. A condition cannot be changed, so each event whose condition differs
    /// gets a successor, which begins before it ends: what happens in between is reported twice, and
    /// nothing is missed. After an error some events still follow the same threads as before; trying again is
    /// worth it, and does what is left.
    pub(super) fn follow(&mut self, scope: Scope) -> Result<(), SessionError> {
        let infers = self.infers();
        let scope = Scope { infers, ..scope };
        let mut done = Ok(());
        for (place, point) in self.means.points.iter().enumerate() {
            let condition = scope.condition(point.kind, point.with_ports);
            for cpu in &mut self.cpus {
                if cpu.light[place].condition == condition {
                    continue;
                }
                match cpu.open_point(point, condition.clone(), &mut self.sources) {
                    Ok(light) => {
                        if self.enabled {
                            // It has just been opened; that it cannot be switched on does not happen.
                            let _ = light.event.enable();
                        }
                        let before = std::mem::replace(&mut cpu.light[place], light);
                        self.lost = sum(self.lost, before.event.lost());
                    }
                    Err(error) => done = done.and(Err(error)),
                }
            }
        }
        if done.is_ok() {
            self.scope = scope;
        }
        done
    }

    /// Switches the tracepoints on or off; births, names and ends are always reported.
    pub(super) fn switch(&mut self, on: bool) {
        let events = self.cpus.iter().flat_map(|cpu| {
            let light = cpu.light.iter().map(|light| &light.event);
            light.chain(&cpu.handovers)
        });
        for event in events {
            // Neither fails for an event that is open (kernel/events/core.c, _perf_ioctl).
            let _ = if on { event.enable() } else { event.disable() };
        }
        self.enabled = on;
    }

    /// Whether the tracepoints are on.
    pub(super) const fn is_on(&self) -> bool {
        self.enabled
    }

    /// Whether there are files for events with stacks.
    pub(super) fn may_take_stacks(&self) -> bool {
        self.means.stacks
    }

    /// Takes stacks of those that are chosen, from now on.
    pub(super) fn arm(&mut self, choice: &Choice) -> Result<(), SessionError> {
        self.disarm();
        let switch = self.switch_point()?;
        let (id, layout) = (switch.id, switch.layout);
        let armed = self.cpus.iter_mut().try_for_each(|cpu| {
            for (what, condition) in with_stacks(id, choice) {
                let condition = condition.as_deref();
                let event = open_slower(what, condition, cpu.number, &cpu.tasks)
                    .map_err(|source| refused("an event with stacks", cpu.number, source))?;
                let layout = condition.is_some().then_some(layout);
                let shape = what.shape();
                self.sources.insert(event.id, Source { shape, layout });
                // It has just been opened; that it cannot be switched on does not happen.
                let _ = event.enable();
                cpu.full.push(event);
            }
            Ok(())
        });
        if armed.is_err() {
            self.disarm();
        }
        armed
    }

    /// Takes no more stacks.
    pub(super) fn disarm(&mut self) {
        for event in self.cpus.iter_mut().flat_map(|cpu| cpu.full.drain(..)) {
            self.lost = sum(self.lost, event.lost());
        }
    }

    /// How many records were lost since all was opened; `None` where the kernel does not count
    /// them for each event (before Linux 6.0).
    pub(super) fn lost(&self) -> Option<u64> {
        let events = self.cpus.iter().flat_map(|cpu| {
            let light = cpu.light.iter().map(|light| &light.event);
            let others = cpu.full.iter().chain(&cpu.handovers);
            light.chain(others).chain([&cpu.tasks])
        });
        events.map(Event::lost).fold(self.lost, sum)
    }

    /// Appends what each CPU has recorded to its buffer.
    pub(super) fn drain(&mut self, into: &mut [Vec<u8>]) {
        for (cpu, into) in self.cpus.iter_mut().zip(into) {
            cpu.ring.drain(into);
        }
    }

    /// How many CPUs are recorded.
    pub(super) fn cpus(&self) -> usize {
        self.cpus.len()
    }
}

impl Cpu {
    /// The ring of a CPU.
    fn open(number: u32, bytes: usize) -> Result<Self, SessionError> {
        let refused = |source| refused("perf_event_open", number, source);
        let tasks = Event::open(What::Tasks, number).map_err(refused)?;
        let ring = Ring::map_largest(&tasks, bytes, SMALLEST_RING_BYTES).map_err(refused)?;
        Ok(Self {
            number,
            tasks,
            ring,
            light: Vec::new(),
            handovers: None,
            full: Vec::new(),
        })
    }

    /// Opens a tracepoint with a condition.
    fn open_point(
        &self,
        point: &Point,
        condition: Option<String>,
        sources: &mut BTreeMap<u64, Source>,
    ) -> Result<Light, SessionError> {
        let what = What::Tracepoint(point.id);
        let event = open(what, condition.as_deref(), self.number, &self.tasks)
            .map_err(|source| refused(&point.kind.name(), self.number, source))?;
        let (shape, layout) = (what.shape(), Some(point.layout));
        sources.insert(event.id, Source { shape, layout });
        Ok(Light { event, condition })
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one? + other?)
}

fn refused(what: &str, cpu: u32, source: io::Error) -> SessionError {
    SessionError::Refused {
        what: what.to_owned(),
        cpu,
        source,
    }
}

fn open(what: What, condition: Option<&str>, cpu: u32, tasks: &Event) -> io::Result<Event> {
    let event = Event::open(what, cpu)?;
    if let Some(condition) = condition {
        event.filter(condition)?;
    }
    event.write_into(tasks)?;
    Ok(event)
}

/// The events with stacks and their conditions; the clock has none.
fn with_stacks(id: u64, choice: &Choice) -> Vec<(What, Option<String>)> {
    /// Threads that wait rarely get deeper stacks.
    const DEEP_BYTES: u32 = 2 * DUMP_BYTES;
    let (each, others) = (&choice.each, &choice.others);
    let covering = |tids: &BTreeSet<u32>| Tids::covering(tids, None);
    let (deep, rest) = (covering(each), covering(others));
    let apart = !others.iter().any(|tid| deep.contains(*tid))
        && !each.iter().any(|tid| rest.contains(*tid));
    let stacks = |every, bytes| What::Stacks { id, every, bytes };
    let mut events = vec![(
        What::Clock {
            hz: choice.clock_hz,
        },
        None,
    )];
    if apart {
        events.push((stacks(1, DEEP_BYTES), Some(Scope::stacks(&deep))));
        events.push((stacks(choice.every, DUMP_BYTES), Some(Scope::stacks(&rest))));
    } else {
        // Too mixed for two conditions.
        let all = covering(&each.union(others).copied().collect());
        events.push((stacks(choice.every, DUMP_BYTES), Some(Scope::stacks(&all))));
    }
    events
}

/// Opens an event; a clock more slowly if the kernel refuses (`kernel.perf_event_max_sample_rate`).
fn open_slower(
    mut what: What,
    condition: Option<&str>,
    cpu: u32,
    tasks: &Event,
) -> io::Result<Event> {
    loop {
        let event = open(what, condition, cpu, tasks);
        match (&event, &mut what) {
            (Err(_), What::Clock { hz }) if *hz > SLOWEST_HZ => *hz /= 2,
            _ => return event,
        }
    }
}

/// The data of each CPU's ring.
fn ring_bytes(cpus: usize) -> usize {
    let share = ALL_RINGS_BYTES / cpus.max(1);
    let share = share.clamp(SMALLEST_RING_BYTES, RING_BYTES);
    1 << share.ilog2()
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
