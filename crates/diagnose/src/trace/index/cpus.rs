//! Who had which CPU when.

use slowpath_core::trace::IDLE;

/// A thread that has others beside it is left its CPU for about so long
/// (`sysctl_sched_base_slice`, 3 ms on machines of some CPUs).
const TURN_NS: u64 = 3_000_000;

/// Others that take turns before a thread that wants the CPU leave it to it after so many of these; what
/// lasts longer is no queue: that a CPU becomes idle among others is not recorded.
const TURNS_MOST: u64 = 4;

/// Who had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    /// That thread.
    Thread(u32),
    /// No thread.
    Idle,
    /// Not known.
    Unknown,
}

impl Runner {
    const fn of(tid: u32) -> Self {
        if tid == IDLE {
            Self::Idle
        } else {
            Self::Thread(tid)
        }
    }
}

/// The hand-overs of each CPU.
#[derive(Debug, Default)]
pub(super) struct Cpus {
    handovers: Vec<Vec<Handover>>,
}

/// A CPU went from one thread to another.
#[derive(Clone, Copy, Debug)]
struct Handover {
    at: u64,
    from: u32,
    to: u32,
}

impl Cpus {
    /// Notes a hand-over; in order of time.
    pub(super) fn handed(&mut self, cpu: u16, at: u64, from: u32, to: u32) {
        let cpu = usize::from(cpu);
        if self.handovers.len() <= cpu {
            self.handovers.resize_with(cpu + 1, Vec::new);
        }
        self.handovers[cpu].push(Handover { at, from, to });
    }

    /// Who had it from `begin` to `end`, without holes.
    pub(super) fn runners(&self, cpu: u16, begin: u64, end: u64) -> Vec<(u64, u64, Runner)> {
        let all = self.handovers.get(usize::from(cpu));
        let all = all.map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|h| h.at <= begin);
        let mut out = Vec::new();
        let mut at = begin;
        let mut before = first.checked_sub(1).map(|i| all[i]);
        for next in &all[first..] {
            if at >= end {
                break;
            }
            let until = next.at.min(end);
            if until > at {
                out.push((at, until, between(before, *next, at)));
            }
            at = at.max(until);
            before = Some(*next);
        }
        if at < end {
            // Hand-overs among threads that are not followed are not recorded: nothing more in
            // the record of an idle CPU does not show that it stayed idle.
            let last = match before.map(|h| Runner::of(h.to)) {
                Some(Runner::Thread(tid)) => Runner::Thread(tid),
                _ => Runner::Unknown,
            };
            out.push((at, end, last));
        }
        out
    }
}

/// Who had a CPU from `at` until a hand-over, while a thread that is followed wanted it: it is not idle then.
/// Where it went to one thread and came from another, those between were not recorded: the one that gave it up counts
/// for them. Where not even that is known, the one that gave it up had it for a moment at least.
fn between(before: Option<Handover>, next: Handover, at: u64) -> Runner {
    match before {
        Some(before) if before.to == next.from => Runner::of(next.from),
        Some(before)
            if before.to != IDLE && next.from != IDLE && next.at - at <= TURNS_MOST * TURN_NS =>
        {
            Runner::of(next.from)
        }
        _ if next.from != IDLE && next.at - at <= TURN_NS => Runner::of(next.from),
        _ => Runner::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_whose_it_was_handed_to() {
        let mut cpus = Cpus::default();
        cpus.handed(1, 10, 7, IDLE);
        cpus.handed(1, 20, IDLE, 8);
        cpus.handed(1, 30, 9, 7);
        cpus.handed(1, 40, IDLE, 7);
        cpus.handed(2, 5_000_000, 6, 7);
        cpus.handed(2, 6_000_000, 7, 5);
        cpus.handed(2, 16_000_000, 6, 7);
        let others = [(7_000_000, 16_000_000, Runner::Thread(6))];
        assert_eq!(cpus.runners(2, 7_000_000, 16_000_000), others);
        cpus.handed(2, 17_000_000, 7, 5);
        cpus.handed(2, 47_000_000, 6, 7);
        let long = [(18_000_000, 47_000_000, Runner::Unknown)];
        assert_eq!(cpus.runners(2, 18_000_000, 47_000_000), long);
        let long = [(1_000_000, 5_000_000, Runner::Unknown)];
        assert_eq!(cpus.runners(2, 1_000_000, 5_000_000), long);
        assert_eq!(
            cpus.runners(1, 5, 50),
            [
                (5, 10, Runner::Thread(7)),
                (10, 20, Runner::Idle),
                (20, 30, Runner::Thread(9)),
                (30, 40, Runner::Unknown),
                (40, 50, Runner::Thread(7)),
            ]
        );
        assert_eq!(cpus.runners(1, 12, 15), [(12, 15, Runner::Idle)]);
        assert_eq!(cpus.runners(0, 1, 2), [(1, 2, Runner::Unknown)]);
        assert_eq!(cpus.runners(9, 1, 2), [(1, 2, Runner::Unknown)]);
        assert!(cpus.runners(1, 5, 5).is_empty());
    }
}
