//! What the kernel counts of the whole host, and of slowpath, read once before and once after.

use std::path::Path;

use slowpath_core::Nanos;
use slowpath_core::health::{Clocks, CpuTimes, During};
use slowpath_core::nanos::Span;

use crate::clock;
use crate::probes::{Files, Stat, cgroup, keyed, parse_cpus, parse_pressure, ticks_to_ns};

/// Nanoseconds in the microseconds in which pressure is counted.
const MICROSECOND: u64 = 1_000;

/// All of it at one instant; `None` is what cannot be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counters {
    at: Nanos,
    pub(crate) cpus: Option<u32>,
    pub(crate) cpu: Option<CpuTimes>,
    own_cpu_ns: Option<u64>,
    children_cpu_ns: Option<u64>,
    psi_cpu_ns: Option<u64>,
    psi_io_ns: Option<u64>,
    psi_memory_ns: Option<u64>,
    throttled_ns: Option<u64>,
    switches: Option<u64>,
}

impl Counters {
    /// Reads them.
    pub(crate) fn read(proc_root: &Path, sys_root: &Path) -> Self {
        let mut files = Files::default();
        let mut text = |name: &str| {
            let file = files.read(&proc_root.join(name)).ok()?;
            Some(file.text.into_owned())
        };
        let stat = text("stat").unwrap_or_default();
        let cpus = parse_cpus(&stat);
        let own = text("self/stat").and_then(|text| Stat::parse(&text));
        let mut pressure = |name| {
            let text = text(name)?;
            Some(parse_pressure(&text)?.saturating_mul(MICROSECOND))
        };
        let ns = |ticks| ticks_to_ns(ticks) as u64;
        Self {
            at: clock::now(),
            cpus: cpus.and_then(|cpus| u32::try_from(cpus.online).ok()),
            cpu: cpus.map(|cpus| CpuTimes {
                busy_ns: ns(cpus.busy_ticks),
                idle_ns: ns(cpus.idle_ticks),
                steal_ns: ns(cpus.steal_ticks),
            }),
            own_cpu_ns: own.map(|own| ns(own.user_ticks.saturating_add(own.system_ticks))),
            children_cpu_ns: own.map(|own| ns(own.children_ticks)),
            psi_cpu_ns: pressure("pressure/cpu"),
            psi_io_ns: pressure("pressure/io"),
            psi_memory_ns: pressure("pressure/memory"),
            throttled_ns: cgroup::throttled_ns(proc_root, sys_root, std::process::id()),
            switches: keyed(&stat, "ctxt"),
        }
    }

    /// The time of all CPUs that the kernel accounted for, in nanoseconds, and how many CPUs there
    /// are; `None` if that cannot be read.
    pub(crate) fn accounted(proc_root: &Path) -> Option<(u64, u32)> {
        let mut files = Files::default();
        let file = files.read(&proc_root.join("stat")).ok()?;
        let cpus = parse_cpus(&file.text)?;
        let ticks = [cpus.busy_ticks, cpus.idle_ticks, cpus.steal_ticks];
        let ticks = ticks.into_iter().fold(0, u64::saturating_add);
        Some((ticks_to_ns(ticks) as u64, u32::try_from(cpus.online).ok()?))
    }

    /// What was counted from `self` to `later`. A counter that fell says nothing.
    pub(crate) fn until(&self, later: &Self, clocks: Option<Clocks>) -> During {
        let grown = |of: fn(&Self) -> Option<u64>| of(later)?.checked_sub(of(self)?);
        let cpu = |of: fn(&CpuTimes) -> u64| {
            // Idle time may go back by a tick: the kernel corrects it for waiting for I/O.
            let (before, after) = (of(&self.cpu?), of(&later.cpu?));
            Some(after.saturating_sub(before))
        };
        During {
            span: Span::new(self.at, later.at),
            cpus: later.cpus,
            cpu: cpu(|cpu| cpu.busy_ns)
                .zip(cpu(|cpu| cpu.idle_ns))
                .zip(cpu(|cpu| cpu.steal_ns))
                .map(|((busy_ns, idle_ns), steal_ns)| CpuTimes {
                    busy_ns,
                    idle_ns,
                    steal_ns,
                }),
            own_cpu_ns: grown(|c| c.own_cpu_ns),
            children_cpu_ns: grown(|c| c.children_cpu_ns),
            psi_cpu_ns: grown(|c| c.psi_cpu_ns),
            psi_io_ns: grown(|c| c.psi_io_ns),
            psi_memory_ns: grown(|c| c.psi_memory_ns),
            throttled_ns: grown(|c| c.throttled_ns),
            switches: grown(|c| c.switches),
            clocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> Counters {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(name);
        Counters::read(&root.join("proc"), &root.join("sys"))
    }

    fn accounted_in(name: &str) -> Option<(u64, u32)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(name);
        Counters::accounted(&root.join("proc"))
    }

    #[test]
    fn fixtures_are_read_and_what_is_refused_is_missing() {
        let whole = fixture("linux-6.8-cgroup-v2");
        assert!(whole.cpu.is_some() && whole.own_cpu_ns.is_some());
        assert!(whole.psi_cpu_ns.is_some() && whole.psi_io_ns.is_some());
        let restricted = fixture("container-restricted");
        assert!(restricted.cpu.is_some());
        assert_eq!(
            (
                restricted.psi_cpu_ns,
                restricted.psi_io_ns,
                restricted.psi_memory_ns
            ),
            (None, None, None)
        );
        let (accounted_ns, _) = accounted_in("linux-6.8-cgroup-v2").unwrap();
        let cpu = whole.cpu.unwrap();
        assert_eq!(accounted_ns, cpu.busy_ns + cpu.idle_ns + cpu.steal_ns);
        assert_eq!(accounted_in("no-such-tree"), None);
        let nowhere = fixture("no-such-tree");
        assert_eq!(
            (nowhere.cpu, nowhere.cpus, nowhere.switches),
            (None, None, None)
        );
        let during = nowhere.until(&nowhere, None);
        assert_eq!((during.cpu, during.steal_share()), (None, None));
    }

    #[test]
    fn what_was_counted_is_the_difference() {
        let before = fixture("linux-6.8-cgroup-v2");
        let mut after = before;
        after.at = before.at.plus(1_000);
        after.psi_cpu_ns = before.psi_cpu_ns.map(|ns| ns + 250);
        after.own_cpu_ns = Some(0);
        after.cpu = before.cpu.map(|cpu| CpuTimes {
            busy_ns: cpu.busy_ns + 1_500,
            idle_ns: cpu.idle_ns - 1,
            steal_ns: cpu.steal_ns + 500,
        });
        let during = before.until(&after, None);
        assert_eq!(during.share(during.psi_cpu_ns), Some(0.25));
        assert_eq!(during.steal_share(), Some(0.25));
        assert_eq!(during.own_cpu_ns, None, "a counter that fell says nothing");
    }

    #[test]
    fn this_process_is_counted() {
        let read = || Counters::read(Path::new("/proc"), Path::new("/sys"));
        let before = read();
        let begin = clock::thread_cpu_ns();
        // Two ticks of the kernel at its coarsest.
        while clock::thread_cpu_ns() - begin < 25_000_000 {}
        let during = before.until(&read(), None);
        assert!(during.own_cpu_ns > Some(0), "{during:?}");
        assert!(during.cpu.is_some_and(|cpu| cpu.busy_ns > 0), "{during:?}");
        assert!(during.switches > Some(0), "{during:?}");
    }
}
