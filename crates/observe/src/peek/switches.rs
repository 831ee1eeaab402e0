//! When the target's threads are on a CPU: `PERF_RECORD_SWITCH`, which users may have of their own
//! threads.
//!
//! Each thread has one event for every CPU, all events of a CPU write into one ring, and threads
//! that are born inherit them: what is needed is bounded by the threads that were there when the
//! slot began. An event for a thread on any CPU would need a ring of its own and is not inherited.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use rustix::io::Errno;
use slowpath_core::Nanos;

use crate::cpus;
use crate::namespaces::{self, Namespace};
use crate::trace::perf::{Event, What};
use crate::trace::records::{self, Record};
use crate::trace::ring::Ring;

/// Data of a ring: half of what every user may lock for each CPU (`perf_event_mlock_kb` is 516),
/// so that a second slowpath has room. It holds 6,500 records of 40 bytes, what a CPU writes in
/// 60 ms of 50,000 switches a second.
const RING_BYTES: usize = 256 << 10;
/// With less than that, 2 ms of so many switches fill it.
const SMALLEST_RING_BYTES: usize = 8 << 10;
/// Events at most, however many files may be open: opening and closing one takes about 10 µs, and
/// that is done for every stretch without tracing.
const MOST_EVENTS: usize = 4096;

/// What was seen of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It got a CPU.
    On { tid: u32 },
    /// It left its CPU, and could have gone on or not.
    Off { tid: u32, preempted: bool },
    /// It was born.
    Born { pid: u32, tid: u32, parent: u32 },
    /// It was named.
    Named { tid: u32, name: String },
    /// It ended.
    Ended { tid: u32 },
    /// So many records were lost.
    Lost { count: u64 },
}

/// Something seen, when and on which CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) at: Nanos,
    pub(super) cpu: u16,
    pub(super) seen: Seen,
}

/// A CPU's ring and the event that it belongs to.
struct Cpu {
    number: u32,
    owner: Event,
    ring: Ring,
}

/// The events of all threads.
pub(super) struct Switches {
    cpus: Vec<Cpu>,
    open: BTreeMap<u32, Vec<Event>>,
    /// Events that may be open.
    room: usize,
    /// Threads for which there was no room.
    left_out: BTreeSet<u32>,
    bytes: Vec<u8>,
    sights: Vec<Sight>,
}

impl Switches {
    /// The rings, without a thread; with them and all events so many files may be open.
    pub(super) fn open(proc_root: &Path, most_files: usize) -> io::Result<Self> {
        if !namespaces::is_first(proc_root, Namespace::Time) {
            return Err(io::Error::other(namespaces::OTHER_TIME.0));
        }
        let numbers = cpus::online(proc_root)?;
        let Some(room) = most_files.checked_sub(numbers.len()) else {
            return Err(Errno::MFILE.into());
        };
        let mut cpus = Vec::with_capacity(numbers.len());
        for number in numbers {
            let owner = Event::open_for(What::Nothing, Some(0), number)?;
            let ring = Ring::map_largest(&owner, RING_BYTES, SMALLEST_RING_BYTES)?;
            cpus.push(Cpu {
                number,
                owner,
                ring,
            });
        }
        Ok(Self {
            cpus,
            open: BTreeMap::new(),
            room: room.min(MOST_EVENTS),
            left_out: BTreeSet::new(),
            bytes: Vec::new(),
            sights: Vec::new(),
        })
    }

    /// Follows a thread from now on, and says whether it does: not if the thread has ended, nor if
    /// there is no room.
    pub(super) fn follow(&mut self, tid: u32) -> io::Result<bool> {
        let count = self.open.len() * self.cpus.len();
        if count + self.cpus.len() > self.room {
            self.left_out.insert(tid);
            return Ok(false);
        }
        let mut events = Vec::with_capacity(self.cpus.len());
        for cpu in &self.cpus {
            let event = match Event::open_for(What::Switches, Some(tid), cpu.number) {
                Ok(event) => event,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::SRCH) => return Ok(false),
                    Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
                        self.left_out.insert(tid);
                        return Ok(false);
                    }
                    _ => return Err(error),
                },
            };
            event.write_into(&cpu.owner)?;
            event.enable()?;
            events.push(event);
        }
        self.open.insert(tid, events);
        Ok(true)
    }

    /// Whether it follows that thread by events of its own.
    pub(super) fn follows(&self, tid: u32) -> bool {
        self.open.contains_key(&tid)
    }

    /// Closes all events, and with them those that were inherited.
    pub(super) fn forget_all(&mut self) {
        self.open.clear();
    }

    /// Threads that could not be followed for want of files.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.len()
    }

    /// What was seen since the last time, in order of time as far as it is known yet: of two CPUs,
    /// one may report later what happened earlier.
    pub(super) fn drain(&mut self) -> std::vec::Drain<'_, Sight> {
        for cpu in &mut self.cpus {
            self.bytes.clear();
            cpu.ring.drain(&mut self.bytes);
            let mut rest = &self.bytes[..];
            while let Some(length) = records::length(rest) {
                let (record, behind) = rest.split_at(length);
                self.sights.extend(sight(record, cpu.number as u16));
                rest = behind;
            }
        }
        self.sights.sort_by_key(|sight| sight.at);
        self.sights.drain(..)
    }
}

/// Reads a record.
fn sight(bytes: &[u8], cpu: u16) -> Option<Sight> {
    let seen = match records::parse(bytes, |_| None)? {
        Record::Switched { tid, left } => match left {
            Some(preempted) => Seen::Off { tid, preempted },
            None => Seen::On { tid },
        },
        Record::Born {
            pid, parent, tid, ..
        } => Seen::Born { pid, tid, parent },
        Record::Named { tid, name, .. } => Seen::Named {
            tid,
            name: String::from_utf8_lossy(name).into_owned(),
        },
        Record::Ended { tid, .. } => Seen::Ended { tid },
        Record::Lost { count } => Seen::Lost { count },
        Record::Sample(_) | Record::Got { .. } => return None,
    };
    Some(Sight {
        at: records::time(bytes)?,
        cpu,
        seen,
    })
}
