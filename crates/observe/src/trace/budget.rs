//! How many stacks may be taken, and of which threads.
//!
//! A switch with a stack costs several times one without, and its stack has to be kept until the
//! window is over. Threads that wait rarely are the ones that background work, timers and locks
//! held for long show in, so theirs are taken every time; what is left goes to the busy ones.

use std::collections::{BTreeSet, HashMap};

use slowpath_core::nanos::SECOND;

use super::slots::GROUP;

/// Part of one CPU that taking stacks may cost.
const CPU_SHARE: f64 = 0.05;
/// What a stack costs beyond the switch: a walk of the kernel's stack of 2 µs, a copy of the
/// program's, and its way through the ring.
const STACK_NS: f64 = 6_000.0;
/// Stacks that are kept of one repeat, in bytes.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// About what one takes: 4 KiB of the program's and the rest.
const BYTES_EACH: f64 = 4_600.0;
/// Part of the stacks that may be of threads that run, seen by the clock.
const CLOCK_SHARE: f64 = 1.0 / 3.0;
/// The clock's usual frequency, off the beat of timers; and the least that is worth having.
const CLOCK_HZ: (f64, f64) = (49.0, 997.0);

/// Whose stacks are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Every time.
    pub(super) each: BTreeSet<u32>,
    /// Now and then.
    pub(super) others: BTreeSet<u32>,
    /// At every so many waits of one of the others.
    pub(super) every: u64,
    /// How often a second the clock looks at each CPU.
    pub(super) clock_hz: u64,
}

/// What may be spent in a repeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Length of the measured window.
    window_ns: u64,
    cpus: usize,
}

impl Budget {
    pub(super) const fn new(window_ns: u64, cpus: usize) -> Self {
        Self { window_ns, cpus }
    }

    /// Whose stacks to take if threads begin to wait so many times a second, by thread; those of
    /// which nothing is known yet are among `tids` alone.
    pub(super) fn choose(self, tids: &BTreeSet<u32>, waits_per_s: &HashMap<u32, f64>) -> Choice {
        let rate = |tid: &u32| waits_per_s.get(tid).copied().unwrap_or(0.0);
        let all: f64 = tids.iter().map(rate).sum();
        let share = f64::from(full_slots(all)) / GROUP as f64;
        let seconds = (self.window_ns as f64 / SECOND as f64 * share).max(0.1);
        let kept_per_s = MOST_BYTES as f64 / BYTES_EACH / seconds;
        let clock_per_s = kept_per_s * CLOCK_SHARE;
        let permitted = (kept_per_s - clock_per_s).min(CPU_SHARE * SECOND as f64 / STACK_NS);
        let mut order: Vec<u32> = tids.iter().copied().collect();
        order.sort_by(|a, b| rate(a).total_cmp(&rate(b)).then(a.cmp(b)));
        // Half for those that wait rarely, unless there is enough for all.
        let bound = if all <= permitted {
            permitted
        } else {
            permitted / 2.0
        };
        let mut spent = 0.0;
        let (mut each, mut others) = (BTreeSet::new(), BTreeSet::new());
        for tid in order {
            if spent + rate(&tid) <= bound {
                spent += rate(&tid);
                each.insert(tid);
            } else {
                others.insert(tid);
            }
        }
        let every = ((all - spent) / (permitted - spent).max(1.0))
            .ceil()
            .max(1.0);
        let clock_hz = (clock_per_s / self.cpus.max(1) as f64).clamp(CLOCK_HZ.0, CLOCK_HZ.1);
        Choice {
            each,
            others,
            // An odd number meets both of two that take turns.
            every: every as u64 | 1,
            clock_hz: clock_hz as u64,
        }
    }
}

/// How many slots of each group have stacks, if threads begin to wait so many times a second:
/// all that are traced while every stack can be had, and always one.
pub(super) fn full_slots(waits_per_s: f64) -> u8 {
    let traced = (GROUP - 1) as f64;
    let affordable = traced * CPU_SHARE / (waits_per_s * STACK_NS / SECOND as f64).max(1e-9);
    affordable.clamp(1.0, traced) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choose(rates: &[(u32, f64)], window_s: u64) -> Choice {
        let tids = rates.iter().map(|rate| rate.0).collect();
        let rates = rates.iter().copied().collect();
        Budget::new(window_s * SECOND, 2).choose(&tids, &rates)
    }

    #[test]
    fn a_quiet_target_gives_every_stack_in_every_slot() {
        assert_eq!(full_slots(0.0), 4);
        let choice = choose(&[(7, 5.0), (8, 300.0)], 20);
        assert_eq!(choice.each, BTreeSet::from([7, 8]));
        assert!(choice.others.is_empty());
    }

    #[test]
    fn a_busy_thread_does_not_take_the_place_of_a_rare_one() {
        let choice = choose(&[(7, 5.0), (8, 60_000.0), (9, 20.0)], 20);
        assert_eq!(choice.each, BTreeSet::from([7, 9]));
        assert_eq!(choice.others, BTreeSet::from([8]));
        assert!(choice.every > 10, "{choice:?}");
        assert_eq!(full_slots(60_000.0), 1);
    }

    proptest! {
        #[test]
        fn nobody_is_left_out_and_neither_bound_is_passed(
            rates in prop::collection::btree_map(1_u32..99, 0.0..50_000.0, 0..40),
            window_s in 1_u64..600,
        ) {
            let rates: Vec<(u32, f64)> = rates.into_iter().collect();
            let choice = choose(&rates, window_s);
            prop_assert_eq!(choice.each.len() + choice.others.len(), rates.len());
            prop_assert!(choice.each.is_disjoint(&choice.others));
            let taken: f64 = rates
                .iter()
                .map(|(tid, rate)| {
                    let every = if choice.each.contains(tid) { 1 } else { choice.every };
                    rate / every as f64
                })
                .sum();
            prop_assert!(taken * STACK_NS / 1e9 <= CPU_SHARE * 1.01, "{taken} a second");
            let all: f64 = rates.iter().map(|rate| rate.1).sum();
            let slots = f64::from(full_slots(all)) / GROUP as f64;
            let full_s = (window_s as f64 * slots).max(0.1);
            prop_assert!(taken * full_s * BYTES_EACH <= MOST_BYTES as f64 * 1.01);
        }
    }
}
