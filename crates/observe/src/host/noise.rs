//! How quiet the machine is: what threads meet that only want to run or to sleep.

use std::hint::{black_box, spin_loop};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use slowpath_core::Nanos;
use slowpath_core::health::{CpuNoise, FixedWork, GAP_NS, Noise, TimerNoise, wait_ns};
use slowpath_core::nanos::{MILLISECOND, Span};

use crate::clock;

/// How long each of the sleeps is whose overshoot is measured.
const SLEEP_NS: u64 = MILLISECOND;
/// So many CPUs are tried at most, evenly taken from those that slowpath may run on: enough to
/// meet what disturbs a machine, and no load for a large one.
const CPUS_MOST: usize = 8;
/// Turns of the calibration loop in one piece of work: each is three shifts and three exclusive
/// ors that wait for one another, some 6 cycles, so 1 ms at 3 GHz. It touches no memory.
const WORK_TURNS: u64 = 500_000;
/// Readings of the clock from which its smallest step is estimated.
const STEP_READS: u32 = 2_000;
/// Half of the time belongs to spinning, a quarter each to the work and to the sleeps.
const QUARTERS: u64 = 4;

/// Tries every CPU (at most eight) at once and then the timers, all in about `duration`.
///
/// A CPU that slowpath may not run on is not tried. What slowpath and the target do in that time is
/// noise too: measure while neither has anything to do.
pub fn noise(duration: Duration) -> Noise {
    let quarter_ns = duration.as_nanos() as u64 / QUARTERS;
    let begin = clock::now();
    let cpus = spread_out(allowed(), CPUS_MOST);
    let cpus = std::thread::scope(|scope| {
        let tries: Vec<_> = cpus
            .into_iter()
            .map(|cpu| scope.spawn(move || on_cpu(cpu, quarter_ns)))
            .collect();
        let done = tries.into_iter().filter_map(|thread| thread.join().ok());
        done.flatten().collect()
    });
    let timer = timers(quarter_ns);
    Noise {
        span: Span::new(begin, clock::now()),
        cpus,
        timer,
    }
}

/// The numbers of the CPUs that this thread may run on.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect()
}

/// At most `most` of the items, as far apart as they can be.
fn spread_out(items: Vec<usize>, most: usize) -> Vec<usize> {
    let all = items.len();
    if all <= most {
        return items;
    }
    (0..most).map(|i| items[i * all / most]).collect()
}

/// Spins on one CPU and does the work there; `None` if the CPU may not be used.
fn on_cpu(cpu: usize, quarter_ns: u64) -> Option<CpuNoise> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).ok()?;
    let (spun_ns, gaps, max_gap_ns) = spin(2 * quarter_ns);
    Some(CpuNoise {
        cpu: cpu as u32,
        spun_ns,
        gaps: gaps.len() as u64,
        stolen_ns: gaps.iter().sum(),
        max_gap_ns,
        wait_p99_ns: wait_ns(&gaps, spun_ns, 0.99),
        wait_p999_ns: wait_ns(&gaps, spun_ns, 0.999),
        work: work(quarter_ns),
    })
}

/// Reads the clock in a loop: how long, all gaps beyond [`GAP_NS`], and the longest of any length.
fn spin(duration_ns: u64) -> (u64, Vec<u64>, u64) {
    let mut gaps = Vec::with_capacity((duration_ns / GAP_NS) as usize);
    let mut max_gap_ns = 0;
    let begin = clock::now();
    let mut last = begin;
    while last.since(begin) < duration_ns {
        let now = clock::now();
        let gap_ns = now.since(last);
        max_gap_ns = max_gap_ns.max(gap_ns);
        if gap_ns > GAP_NS {
            gaps.push(gap_ns);
        }
        last = now;
        spin_loop();
    }
    (last.since(begin).max(1), gaps, max_gap_ns)
}

/// Does the fixed work again and again, at least twice.
fn work(duration_ns: u64) -> FixedWork {
    let begin = clock::now();
    let mut last = begin;
    let mut times = Vec::new();
    let mut state = 88_172_645_463_325_252;
    while times.len() < 2 || last.since(begin) < duration_ns {
        state = black_box(turn(black_box(state)));
        let now = clock::now();
        times.push(now.since(last));
        last = now;
    }
    summary(times)
}

/// One piece of work: a generator of Marsaglia (Xorshift RNGs, 2003), whose every step waits for
/// the one before.
fn turn(mut state: u64) -> u64 {
    for _ in 0..WORK_TURNS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

fn summary(mut times: Vec<u64>) -> FixedWork {
    times.sort_unstable();
    let n = times.len() as f64;
    let mean = times.iter().sum::<u64>() as f64 / n;
    let squares: f64 = times.iter().map(|&t| (t as f64 - mean).powi(2)).sum();
    FixedWork {
        n: times.len() as u64,
        median_ns: nearest_rank(&times, 50),
        mean_ns: mean as u64,
        sd_ns: (squares / (n - 1.0)).sqrt() as u64,
    }
}

/// Sleeps until absolute instants, at least once, and reads how fine the clock is.
fn timers(duration_ns: u64) -> TimerNoise {
    let begin = clock::now();
    let mut late = Vec::new();
    while late.is_empty() || clock::now().since(begin) < duration_ns {
        let deadline = clock::now().plus(SLEEP_NS);
        clock::sleep_until(deadline);
        late.push(clock::now().since(deadline));
    }
    late.sort_unstable();
    TimerNoise {
        n: late.len() as u64,
        late_p50_ns: nearest_rank(&late, 50),
        late_p99_ns: nearest_rank(&late, 99),
        step_ns: smallest_step((0..STEP_READS).map(|_| clock::now())),
    }
}

/// The smallest difference between neighbouring readings that differ; 0 if all are the same.
fn smallest_step(readings: impl Iterator<Item = Nanos>) -> u64 {
    let mut last = None;
    let mut smallest = None;
    for now in readings {
        let step = last.map_or(0, |last| now.since(last));
        if step > 0 && smallest.is_none_or(|smallest| step < smallest) {
            smallest = Some(step);
        }
        last = Some(now);
    }
    smallest.unwrap_or_default()
}

/// The smallest of the sorted values that at least `percent` % of them do not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_counted_from_one() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!(
            (nearest_rank(&values, 50), nearest_rank(&values, 99)),
            (100, 198)
        );
        assert_eq!((nearest_rank(&[7], 50), nearest_rank(&[7], 99)), (7, 7));
        assert_eq!(nearest_rank(&[], 50), 0);
    }

    #[test]
    fn noise_is_consistent_with_itself() {
        let noise = noise(Duration::from_millis(40));
        assert!(!noise.cpus.is_empty() && noise.cpus.len() <= CPUS_MOST);
        assert!((0.0..=1.0).contains(&noise.stolen_share()));
        for cpu in &noise.cpus {
            assert!(cpu.work.n >= 2 && cpu.work.median_ns > 0);
            assert!(cpu.stolen_ns <= cpu.spun_ns && cpu.wait_p99_ns <= cpu.wait_p999_ns);
            assert_eq!(cpu.gaps > 0, cpu.max_gap_ns > GAP_NS);
            assert!(cpu.wait_p999_ns <= cpu.max_gap_ns);
        }
        assert!(noise.timer.n >= 1 && noise.timer.late_p50_ns <= noise.timer.late_p99_ns);
        assert!(noise.timer.step_ns > 0 && noise.timer.step_ns < SLEEP_NS);
    }

    #[test]
    fn the_callers_own_affinity_is_left_alone() {
        let before = allowed();
        let _ = noise(Duration::from_millis(8));
        assert_eq!(allowed(), before);
    }

    #[test]
    fn the_work_is_always_the_same() {
        assert_eq!(turn(1), turn(1));
        let summary = summary(vec![4, 2, 9]);
        assert_eq!((summary.n, summary.median_ns, summary.mean_ns), (3, 4, 5));
        // The squares are 1, 9 and 16; of 26 / 2 the root is 3.6.
        assert_eq!(summary.sd_ns, 3);
    }

    #[test]
    fn a_clock_is_as_fine_as_its_smallest_step() {
        let at = |ns: &[u64]| smallest_step(ns.iter().copied().map(Nanos::new));
        assert_eq!(at(&[5, 5, 30, 55, 65]), 10);
        assert_eq!(at(&[5, 5]), 0);
        assert_eq!(at(&[]), 0);
    }

    proptest! {
        #[test]
        fn cpus_are_taken_from_everywhere(all in 0_usize..200, most in 1_usize..16) {
            let chosen = spread_out((0..all).collect(), most);
            prop_assert_eq!(chosen.len(), all.min(most));
            prop_assert!(chosen.is_sorted_by(|a, b| a < b));
            if all > most {
                let widest = chosen.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
                prop_assert!(widest <= all.div_ceil(most));
            }
        }
    }
}
