//! The probes: each reads some files or asks the kernel something, and says what it read when.
//!
//! A probe is a file in `probes/` and a word in the list below. It declares which signals it
//! gives and how often it wants to read; it never fails: what it cannot read becomes a
//! [`Gap`](slowpath_core::timeline::Gap) with the reason and, where there is one, the remedy.

pub mod cgroup;
mod clocks;
mod growing;
mod listener;
mod machine;
mod network;
mod out;
mod process;
mod scene;
mod source;
mod syscalls;
mod text;
mod threads;
mod tool;
mod upstream;
mod written;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::signal::Signal;

pub(crate) use machine::{count_cpus, parse_cpus, parse_pressure};
pub(crate) use out::Out;
pub(crate) use process::ticks_to_ns;
pub(crate) use scene::{Scene, descriptors, numbers};
pub(crate) use source::Files;
pub(crate) use text::{Stat, field, keyed};

/// What to observe.
#[derive(Clone)]
pub struct Watch {
    /// Where procfs is mounted: `/proc`.
    pub proc_root: PathBuf,
    /// Where sysfs is mounted: `/sys`.
    pub sys_root: PathBuf,
    /// The target, if its processes can be seen on this host.
    pub target: Option<Watched>,
    /// Gives the ids of the threads of the load loops; none while there are none.
    pub loop_tids: LoopTids,
}

/// Gives the ids of the threads of the load loops; none while there are none.
pub type LoopTids = Arc<dyn Fn() -> Vec<u32> + Send + Sync>;

/// The target's processes and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The processes it begins with; their children are found and followed.
    pub pids: Vec<u32>,
    /// The port it listens on; `None` where it listens on a Unix socket.
    pub port: Option<u16>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("proc_root", &self.proc_root)
            .field("sys_root", &self.sys_root)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// What a probe does at each of its turns.
pub(crate) trait Probe: Send {
    /// Reads everything once.
    fn read(&mut self, scene: &Scene, out: &mut Out);
}

/// Readings of a state that changes within a request: 50 Hz.
pub(crate) const FAST_NS: u64 = 20 * MILLISECOND;
/// The usual distance between readings: 10 Hz.
pub(crate) const USUAL_NS: u64 = 100 * MILLISECOND;
/// Readings of what changes slowly or is dear to read: 1 Hz.
pub(crate) const SLOW_NS: u64 = SECOND;

/// A declared probe.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name: the label of its cost.
    pub(crate) name: &'static str,
    /// The distance between its readings.
    pub(crate) cadence_ns: u64,
    /// What it gives.
    pub(crate) signals: &'static [&'static Signal],
    /// Whether it needs a process of the target.
    pub(crate) of_target: bool,
    /// Makes one.
    pub(crate) open: fn() -> Box<dyn Probe>,
}

macro_rules! probes {
    ($($name:ident),+ $(,)?) => {
        /// Every probe, in the order in which they read.
        pub(crate) static REGISTRY: &[Entry] = &[$(Entry {
            name: stringify!($name),
            cadence_ns: $name::CADENCE_NS,
            signals: $name::SIGNALS,
            of_target: $name::OF_TARGET,
            open: || Box::new($name::State::default()),
        }),+];
    };
}

probes! { clocks, tool, machine, cgroup, listener, process, threads, network, upstream }

#[cfg(test)]
mod tests {
    use slowpath_core::signal::{ALL, PROBE_COST};

    use super::*;

    #[test]
    fn every_declared_signal_has_one_probe() {
        for signal in ALL.iter().filter(|signal| signal.id != PROBE_COST.id) {
            let probes: Vec<_> = REGISTRY
                .iter()
                .filter(|entry| entry.signals.iter().any(|s| s.id == signal.id))
                .map(|entry| entry.name)
                .collect();
            assert_eq!(probes.len(), 1, "{} is given by {probes:?}", signal.id);
        }
    }

    #[test]
    fn cadences_are_whole_ticks() {
        for entry in REGISTRY {
            assert_eq!(entry.cadence_ns % FAST_NS, 0, "{}", entry.name);
        }
    }
}
