//! How fit a host was for measuring: what was found on it before, during and after a repeat.
//!
//! These are facts, taken by `observe` and kept in the record; what they are worth is judged in
//! `diagnose`. Everything here is about the host and slowpath alone. What the target did is in the
//! timeline.

pub mod clocks;

use serde::{Deserialize, Serialize};

use crate::nanos::Span;
use clocks::ClockEvent;

/// A pause of a spinning thread that counts: an interrupt or an idle hypervisor takes less,
/// another task's turn takes more.
pub const GAP_NS: u64 = 50_000;

/// A host around one repeat, or around one repetition of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// What threads that only wanted to run or to sleep met before it. May be that after the
    /// repeat before, if that was just then.
    pub before: Noise,
    /// The same after it; the same as before where the repeat was short.
    pub after: Noise,
    /// What the kernel counted in between.
    pub during: During,
}

/// What threads met that only wanted to run or to sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// When it was taken.
    pub span: Span,
    /// One entry for each CPU that was tried.
    pub cpus: Vec<CpuNoise>,
    /// How late timers were.
    pub timer: TimerNoise,
}

/// What a thread met that wanted one CPU for itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CpuNoise {
    /// The CPU's number.
    pub cpu: u32,
    /// How long it read the clock in a loop.
    pub spun_ns: u64,
    /// How often it did not run for more than [`GAP_NS`].
    pub gaps: u64,
    /// The sum of these gaps.
    pub stolen_ns: u64,
    /// The longest of all gaps, also if it was shorter than [`GAP_NS`].
    pub max_gap_ns: u64,
    /// What a task that is ready at a random instant waits at the 99th percentile.
    pub wait_p99_ns: u64,
    /// … and at p99.9.
    pub wait_p999_ns: u64,
    /// The calibration loop on this CPU.
    pub work: FixedWork,
}

/// A calibration loop: the same work of some 1 ms, again and again, by the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixedWork {
    /// How often the work was done.
    pub n: u64,
    /// The median time it took: the speed of an undisturbed CPU, also on a busy host.
    pub median_ns: u64,
    /// The mean: the speed that a task gets, with all that held it up.
    pub mean_ns: u64,
    /// The standard deviation.
    pub sd_ns: u64,
}

/// How late timers are, and how fine the clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimerNoise {
    /// How many sleeps until an absolute instant were made.
    pub n: u64,
    /// Median of how much later than asked they ended.
    pub late_p50_ns: u64,
    /// 99th percentile (nearest rank) of the same.
    pub late_p99_ns: u64,
    /// The smallest difference between two readings of the clock that differ.
    pub step_ns: u64,
}

/// What the kernel counted from the end of one [`Noise`] to the begin of the next. What could not
/// be read is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct During {
    /// From when to when.
    pub span: Span,
    /// CPUs online.
    pub cpus: Option<u32>,
    /// Where the time of all CPUs went.
    pub cpu: Option<CpuTimes>,
    /// CPU time that slowpath itself used.
    pub own_cpu_ns: Option<u64>,
    /// CPU time of those children of slowpath that ended in that time.
    pub children_cpu_ns: Option<u64>,
    /// Time in which some task of the host waited for a CPU.
    pub psi_cpu_ns: Option<u64>,
    /// … for I/O.
    pub psi_io_ns: Option<u64>,
    /// … for memory.
    pub psi_memory_ns: Option<u64>,
    /// Time that a quota kept slowpath's own cgroup from running, added up over CPUs.
    pub throttled_ns: Option<u64>,
    /// Context switches of the whole host.
    pub switches: Option<u64>,
    /// What the clocks did; `None` where others read them into the timeline.
    pub clocks: Option<Clocks>,
}

/// Where CPU time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CpuTimes {
    /// A task ran.
    pub busy_ns: u64,
    /// No task ran; waiting for I/O is idle.
    pub idle_ns: u64,
    /// The hypervisor gave it to others.
    pub steal_ns: u64,
}

/// What the clocks did against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Steps, suspends and pauses, in order of time.
    pub events: Vec<ClockEvent>,
    /// How fast `CLOCK_MONOTONIC` ran against the raw counter, in millionths; `None` if too
    /// little was read.
    pub slew_ppm: Option<f64>,
}

/// What a task that is ready at a random instant waits for its CPU at quantile `p`, given the gaps
/// (in any order) that a spinning thread met in `spun_ns`: the smallest wait that a share of `1 - p`
/// of all instants exceeds. An instant that lies `x` before the end of a gap waits `x`, so a gap of
/// length `g` has `g - x` instants that wait longer than `x`.
pub fn wait_ns(gaps_ns: &[u64], spun_ns: u64, p: f64) -> u64 {
    let mut longest_first = gaps_ns.to_vec();
    longest_first.sort_unstable_by(|a, b| b.cmp(a));
    let exceeding = (1.0 - p) * spun_ns as f64;
    let mut sum = 0.0;
    for (i, &gap) in longest_first.iter().enumerate() {
        sum += gap as f64;
        let count = i + 1;
        let wait = (sum - exceeding) / count as f64;
        let next = longest_first.get(count).copied().unwrap_or_default();
        if wait >= next as f64 {
            return wait.max(0.0).round() as u64;
        }
    }
    0
}

impl Noise {
    /// The share of the spinning time (0 to 1) that others had; 0 without any.
    pub fn stolen_share(&self) -> f64 {
        let spun: u64 = self.cpus.iter().map(|cpu| cpu.spun_ns).sum();
        let stolen: u64 = self.cpus.iter().map(|cpu| cpu.stolen_ns).sum();
        stolen as f64 / spun.max(1) as f64
    }

    /// The longest gap on any CPU.
    pub fn max_gap_ns(&self) -> u64 {
        let gaps = self.cpus.iter().map(|cpu| cpu.max_gap_ns);
        gaps.max().unwrap_or_default()
    }

    /// The mean time of the calibration loop over all CPUs; `None` if it never ran.
    pub fn work_mean_ns(&self) -> Option<f64> {
        let n: u64 = self.cpus.iter().map(|cpu| cpu.work.n).sum();
        let sum: f64 = self
            .cpus
            .iter()
            .map(|cpu| cpu.work.n as f64 * cpu.work.mean_ns as f64)
            .sum();
        (n > 0).then(|| sum / n as f64)
    }

    /// The coefficients of variation of the calibration loop, CPU by CPU: CPUs of different speeds
    /// are no variation.
    pub fn work_cvs(&self) -> impl Iterator<Item = f64> {
        let worked = self.cpus.iter().map(|cpu| cpu.work).filter(|w| w.n > 1);
        worked.map(|work| work.sd_ns as f64 / work.mean_ns.max(1) as f64)
    }
}

impl Health {
    /// Everything that was heard: before and after.
    pub fn heard(&self) -> [&Noise; 2] {
        [&self.before, &self.after]
    }

    /// The mean time of the calibration loop around the repeat: that of before and after.
    pub fn work_mean_ns(&self) -> Option<f64> {
        let (before, after) = (self.before.work_mean_ns()?, self.after.work_mean_ns()?);
        Some(f64::midpoint(before, after))
    }
}

impl During {
    /// The share of all CPUs' time that the hypervisor gave to others; `None` if not known.
    pub fn steal_share(&self) -> Option<f64> {
        let cpu = self.cpu?;
        let total = cpu.busy_ns + cpu.idle_ns + cpu.steal_ns;
        (total > 0).then(|| cpu.steal_ns as f64 / total as f64)
    }

    /// The share of all CPUs' time that neither slowpath nor children that ended used; `None` if not
    /// known.
    pub fn others_share(&self) -> Option<f64> {
        let cpu = self.cpu?;
        let total = cpu.busy_ns + cpu.idle_ns + cpu.steal_ns;
        let own = self.own_cpu_ns? + self.children_cpu_ns?;
        (total > 0).then(|| cpu.busy_ns.saturating_sub(own) as f64 / total as f64)
    }

    /// The share of the time in which some task waited, from one of the pressures.
    pub fn share(&self, pressure_ns: Option<u64>) -> Option<f64> {
        let length_ns = self.span.len_ns();
        let share = pressure_ns? as f64 / length_ns as f64;
        (length_ns > 0).then(|| share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wait_is_what_is_left_of_the_gap_that_an_instant_lies_in() {
        // One gap of 10 ms in a second: 1 % of the instants lie in it, half of them 5 ms from its end.
        let gap = [10_000_000];
        let second = 1_000_000_000;
        assert_eq!(wait_ns(&gap, second, 0.995), 5_000_000);
        assert_eq!(wait_ns(&gap, second, 0.99), 0);
        assert_eq!(wait_ns(&gap, second, 0.5), 0);
        assert_eq!(wait_ns(&[], second, 0.999), 0);
        // Two gaps of 10 ms and one of 2 ms: 1 % wait longer than 5 ms.
        let three = [2_000_000, 10_000_000, 10_000_000];
        assert_eq!(wait_ns(&three, second, 0.99), 5_000_000);
    }

    proptest! {
        #[test]
        fn waits_are_the_quantile_of_what_instants_wait(
            gaps in prop::collection::vec(50_000_u64..20_000_000, 0..20),
            more_ns in 1_u64..2_000_000_000,
            p in 0.5..0.9999_f64,
        ) {
            let spun = gaps.iter().sum::<u64>() + more_ns;
            let wait = wait_ns(&gaps, spun, p);
            prop_assert!(wait <= gaps.iter().copied().max().unwrap_or_default());
            prop_assert!(wait <= wait_ns(&gaps, spun, 1.0 - (1.0 - p) / 2.0));
            let longer: u64 = gaps.iter().map(|gap| gap.saturating_sub(wait)).sum();
            let tolerance = gaps.len() as f64 + 1.0;
            prop_assert!(longer as f64 <= (1.0 - p) * spun as f64 + tolerance);
        }
    }

    fn cpu(cpu: u32, n: u64, mean_ns: u64, sd_ns: u64, stolen_ns: u64) -> CpuNoise {
        CpuNoise {
            cpu,
            spun_ns: 1000,
            gaps: 1,
            stolen_ns,
            max_gap_ns: stolen_ns,
            wait_p99_ns: 0,
            wait_p999_ns: 0,
            work: FixedWork {
                n,
                median_ns: mean_ns,
                mean_ns,
                sd_ns,
            },
        }
    }

    #[test]
    fn cpus_are_summed_up_by_what_they_did() {
        let at = crate::Nanos::new(1);
        let noise = Noise {
            span: Span::new(at, at),
            cpus: vec![cpu(0, 30, 1000, 10, 0), cpu(1, 10, 2000, 100, 500)],
            timer: TimerNoise {
                n: 0,
                late_p50_ns: 0,
                late_p99_ns: 0,
                step_ns: 0,
            },
        };
        assert!((noise.stolen_share() - 0.25).abs() < 1e-12);
        assert_eq!(noise.max_gap_ns(), 500);
        assert_eq!(noise.work_mean_ns(), Some(1250.0));
        assert_eq!(noise.work_cvs().collect::<Vec<_>>(), [0.01, 0.05]);
        let none = Noise {
            cpus: Vec::new(),
            ..noise
        };
        assert_eq!((none.work_mean_ns(), none.work_cvs().count()), (None, 0));
        assert!(none.stolen_share().abs() < 1e-12);
    }

    #[test]
    fn shares_are_of_the_time_in_between() {
        let at = crate::Nanos::new(1);
        let during = During {
            span: Span::new(at, at.plus(1000)),
            cpus: Some(2),
            cpu: Some(CpuTimes {
                busy_ns: 1200,
                idle_ns: 780,
                steal_ns: 20,
            }),
            own_cpu_ns: None,
            children_cpu_ns: None,
            psi_cpu_ns: Some(250),
            psi_io_ns: None,
            psi_memory_ns: None,
            throttled_ns: None,
            switches: None,
            clocks: None,
        };
        assert_eq!(during.steal_share(), Some(0.01));
        assert_eq!(during.share(during.psi_cpu_ns), Some(0.25));
        assert_eq!(during.share(during.psi_io_ns), None);
        assert_eq!(during.others_share(), None);
        let known = During {
            own_cpu_ns: Some(150),
            children_cpu_ns: Some(50),
            ..during
        };
        assert_eq!(known.others_share(), Some(0.5));
    }
}
