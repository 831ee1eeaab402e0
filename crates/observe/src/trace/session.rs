//! All events on all CPUs: opened, told whom to follow, switched on and off.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use super::budget::Choice;
use super::filters::{Scope, Tids};
use super::format::Format;
use super::idle;
use super::kinds::{Kind, Layout};
use super::perf::{DUMP_BYTES, Event, What};
use super::records::Shape;
use super::ring::Ring;

/// Data of the largest ring: at 100,000 events a second of about 100 bytes on a CPU it holds
/// almost a second.
pub(super) const RING_BYTES: usize = 8 << 20;
/// What all rings together take at most, on machines of many CPUs.
const ALL_RINGS_BYTES: usize = 256 << 20;
/// A smaller ring than this is not worth having: 128 KiB holds 10 ms of 100,000 events a second.
const SMALLEST_RING_BYTES: usize = 128 << 10;

/// A clock slower than this is not worth having.
const SLOWEST_HZ: u64 = 20;

/// What an event that is open stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// What its records hold.
    pub(super) shape: Shape,
    /// How its tracepoint's records are read; the dummy and the clock have none.
    pub(super) layout: Option<Layout>,
}

/// A tracepoint that the kernel has.
#[derive(Debug)]
struct Point {
    kind: Kind,
    id: u64,
    layout: Layout,
    with_ports: bool,
}

/// Everything that is open on one CPU.
#[derive(Debug)]
struct Cpu {
    number: u32,
    /// Births, names and ends; the ring is this event's.
    tasks: Event,
    ring: Ring,
    /// The tracepoints, in the order of [`Session::points`].
    light: Vec<Event>,
    /// Every handover of the CPU, if the tracepoints tell nothing of it while it is idle.
    handovers: Option<Event>,
    /// The events with stacks, while there are any.
    full: Vec<Event>,
}

/// All events on all CPUs.
#[derive(Debug)]
pub(super) struct Session {
    points: Vec<Point>,
    cpus: Vec<Cpu>,
    sources: BTreeMap<u64, Source>,
    scope: Scope,
    enabled: bool,
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
    /// The list of CPUs is not to be had.
    #[error("{path} lists no CPU")]
    NoCpus {
        /// Where it was looked for.
        path: String,
    },
}

impl Session {
    /// Opens the events of all tracepoints on all CPUs and follows `scope`; nothing is recorded
    /// yet but births, names and ends of threads.
    pub(super) fn open(
        proc_root: &Path,
        formats: &[(Kind, Format)],
        scope: Scope,
    ) -> Result<Self, SessionError> {
        let point = |(kind, format): &(Kind, Format)| {
            Some(Point {
                kind: *kind,
                id: format.id,
                layout: Layout::of(*kind, format)?,
                with_ports: format.field("sport").is_some() && format.field("dport").is_some(),
            })
        };
        let points: Vec<Point> = formats.iter().filter_map(point).collect();
        for needed in [Kind::Switch, Kind::Waking] {
            if !points.iter().any(|point| point.kind == needed) {
                return Err(SessionError::Absent(needed.name()));
            }
        }
        let stat = proc_root.join("stat");
        let numbers = cpus(&fs::read_to_string(&stat).unwrap_or_default());
        if numbers.is_empty() {
            let path = stat.display().to_string();
            return Err(SessionError::NoCpus { path });
        }
        let mut session = Self {
            points,
            cpus: Vec::with_capacity(numbers.len()),
            sources: BTreeMap::new(),
            scope,
            enabled: false,
        };
        let bytes = ring_bytes(numbers.len());
        for number in numbers {
            let cpu = session.open_cpu(number, bytes)?;
            session.cpus.push(cpu);
        }
        Ok(session)
    }

    /// The kinds of which the kernel has no tracepoint that we understand.
    pub(super) fn missing(&self) -> impl Iterator<Item = Kind> {
        let has = |kind: Kind| self.points.iter().any(|point| point.kind == kind);
        let all = Kind::TRACEPOINTS.into_iter().map(|point| point.kind);
        all.filter(move |kind| !has(*kind))
    }

    fn open_cpu(&mut self, number: u32, bytes: usize) -> Result<Cpu, SessionError> {
        let refused = |source| SessionError::Refused {
            what: "perf_event_open".to_owned(),
            cpu: number,
            source,
        };
        let tasks = Event::open(What::Tasks, number).map_err(refused)?;
        let ring = largest_ring(&tasks, bytes).map_err(refused)?;
        let light = (0..self.points.len())
            .map(|place| self.open_point(place, number, &tasks))
            .collect::<Result<_, _>>()?;
        tasks.enable().map_err(refused)?;
        let switch = self.points.iter().find(|point| point.kind == Kind::Switch);
        let hides_idle = switch.is_some_and(|point| idle::is_hidden(point.id, number));
        let handovers = hides_idle.then(|| open(What::Handovers, None, number, &tasks));
        let handovers = handovers.transpose().map_err(refused)?;
        Ok(Cpu {
            number,
            tasks,
            ring,
            light,
            handovers,
            full: Vec::new(),
        })
    }

    /// Opens a tracepoint on a CPU with the present scope.
    fn open_point(&mut self, place: usize, cpu: u32, tasks: &Event) -> Result<Event, SessionError> {
        let point = &self.points[place];
        let condition = self.scope.condition(point.kind, point.with_ports);
        let what = What::Tracepoint(point.id);
        let layout = Some(point.layout);
        let event = open(what, condition.as_deref(), cpu, tasks);
        let event = event.map_err(|source| SessionError::Refused {
            what: self.points[place].kind.name(),
            cpu,
            source,
        })?;
        let shape = what.shape();
        self.sources.insert(event.id, Source { shape, layout });
        Ok(event)
    }

    /// What the event of that id stands for; events that were closed are still known.
    pub(super) fn source(&self, id: u64) -> Option<Source> {
        self.sources.get(&id).copied()
    }

    /// Whom the kernel is told to follow.
    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Follows somebody else. A condition cannot be changed, so each event whose condition differs
    /// gets a successor, which begins before it ends: what happens in between is told twice, and
    /// nothing is missed.
    pub(super) fn follow(&mut self, scope: Scope) -> Result<(), SessionError> {
        let before = std::mem::replace(&mut self.scope, scope);
        for place in 0..self.points.len() {
            let point = &self.points[place];
            let condition = |scope: &Scope| scope.condition(point.kind, point.with_ports);
            if condition(&before) == condition(&self.scope) {
                continue;
            }
            for at in 0..self.cpus.len() {
                self.replace(place, at)?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, place: usize, at: usize) -> Result<(), SessionError> {
        let mut cpus = std::mem::take(&mut self.cpus);
        let cpu = &mut cpus[at];
        let opened = self.open_point(place, cpu.number, &cpu.tasks);
        let outcome = opened.map(|event| {
            if self.enabled {
                // It has just been opened; that it cannot be switched on does not happen.
                let _ = event.enable();
            }
            cpu.light[place] = event;
        });
        self.cpus = cpus;
        outcome
    }

    /// Switches the tracepoints on or off; births, names and ends are always told.
    pub(super) fn switch(&mut self, on: bool) {
        let all = self.cpus.iter();
        for event in all.flat_map(|cpu| cpu.light.iter().chain(&cpu.handovers)) {
            // Neither fails for an event that is open (kernel/events/core.c, _perf_ioctl).
            let _ = if on { event.enable() } else { event.disable() };
        }
        self.enabled = on;
    }

    /// Whether the tracepoints are on.
    pub(super) const fn is_on(&self) -> bool {
        self.enabled
    }

    /// Takes stacks of those that are chosen, from now on.
    pub(super) fn arm(&mut self, choice: &Choice) -> Result<(), SessionError> {
        self.disarm();
        let switch = self.points.iter().find(|point| point.kind == Kind::Switch);
        let Some((id, layout)) = switch.map(|point| (point.id, point.layout)) else {
            return Err(SessionError::Absent(Kind::Switch.name()));
        };
        let mut cpus = std::mem::take(&mut self.cpus);
        let armed = cpus.iter_mut().try_for_each(|cpu| {
            for (what, condition) in with_stacks(id, choice) {
                let condition = condition.as_deref();
                let event = open_slower(what, condition, cpu.number, &cpu.tasks);
                let event = event.map_err(|source| SessionError::Refused {
                    what: "an event with stacks".to_owned(),
                    cpu: cpu.number,
                    source,
                })?;
                let layout = condition.is_some().then_some(layout);
                let shape = what.shape();
                self.sources.insert(event.id, Source { shape, layout });
                // It has just been opened; that it cannot be switched on does not happen.
                let _ = event.enable();
                cpu.full.push(event);
            }
            Ok(())
        });
        self.cpus = cpus;
        if armed.is_err() {
            self.disarm();
        }
        armed
    }

    /// Takes no more stacks.
    pub(super) fn disarm(&mut self) {
        for cpu in &mut self.cpus {
            cpu.full.clear();
        }
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

/// Maps the largest ring that the kernel grants (`kernel.perf_event_mlock_kb` bounds it for users
/// without `CAP_IPC_LOCK`).
fn largest_ring(tasks: &Event, mut bytes: usize) -> io::Result<Ring> {
    loop {
        match Ring::map(tasks, bytes) {
            Err(error) if bytes <= SMALLEST_RING_BYTES => return Err(error),
            Err(_) => bytes /= 2,
            Ok(ring) => return Ok(ring),
        }
    }
}

/// The CPUs that are online, by the text of `/proc/stat`.
fn cpus(stat: &str) -> Vec<u32> {
    let number = |line: &str| {
        let (name, _) = line.split_once(' ')?;
        name.strip_prefix("cpu")?.parse().ok()
    };
    stat.lines().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_powers_of_two_and_bounded_in_all() {
        assert_eq!(ring_bytes(2), RING_BYTES);
        for cpus in [0, 1, 3, 48, 100, 1024, 8192] {
            let bytes = ring_bytes(cpus);
            assert!(bytes.is_power_of_two() && bytes >= SMALLEST_RING_BYTES);
            assert!(bytes * cpus <= ALL_RINGS_BYTES || bytes == SMALLEST_RING_BYTES);
        }
    }

    #[test]
    fn cpus_are_those_that_are_online() {
        assert_eq!(cpus("cpu  1 2\ncpu0 1 2\ncpu3 1 2\nintr 5\n"), [0, 3]);
    }
}
