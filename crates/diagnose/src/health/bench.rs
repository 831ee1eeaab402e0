//! What a longer look at a host says about what can be measured there.

use serde::{Deserialize, Serialize};
use slowpath_core::health::{During, Noise};

use super::{Circumstances, median};

/// What cannot be distinguished from noise on a host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floors {
    /// How late a thread wakes up at the 99th percentile, in nanoseconds: a p99 below may be the
    /// host's own.
    pub wake_ns: f64,
    /// What a thread that never sleeps waits for its CPU at the 99th percentile, in nanoseconds:
    /// the same for a server that computes for long.
    pub compute_ns: f64,
    /// The longest time for which a busy thread did not run, in nanoseconds: a maximum below says
    /// nothing.
    pub longest_gap_ns: u64,
    /// How much the same fixed work differed at most from one time to the next, as a share:
    /// differences below mean nothing. `None` if it was done fewer than twice.
    pub difference: Option<f64>,
}

/// The floors, from what was heard one time after another; `None` of nothing.
pub fn floors(noises: &[Noise]) -> Option<Floors> {
    let late = noises.iter().map(|noise| noise.timer.late_p99_ns as f64);
    let cpus = noises.iter().flat_map(|noise| &noise.cpus);
    let waits = cpus.map(|cpu| cpu.wait_p99_ns as f64);
    let steps = noises.iter().map(|noise| noise.timer.step_ns as f64);
    let step_ns = steps.reduce(f64::max)?;
    Some(Floors {
        wake_ns: median(late.collect())?.max(step_ns),
        compute_ns: median(waits.collect()).unwrap_or_default().max(step_ns),
        longest_gap_ns: noises.iter().map(Noise::max_gap_ns).max()?,
        difference: difference(noises),
    })
}

/// An A/A comparison: neighbours in time, the same work, and the largest change.
fn difference(noises: &[Noise]) -> Option<f64> {
    let means: Vec<f64> = noises.iter().filter_map(Noise::work_mean_ns).collect();
    let pairs = means.iter().zip(means.iter().skip(1));
    let changes = pairs.map(|(a, b)| (b / a).ln().abs().exp_m1());
    changes.reduce(f64::max)
}

/// The circumstances of a host that was first left alone and then listened to: pressure and others
/// are those of the first part, since listening presses by itself, and steal is that of the
/// second, since nothing can be stolen from who does not run.
pub fn circumstances(idle: &During, busy: &During, noises: &[Noise]) -> Circumstances {
    let heard: Vec<&Noise> = noises.iter().collect();
    let clocks = [idle.clocks.as_ref(), busy.clocks.as_ref()];
    let events = clocks.iter().flatten().flat_map(|clocks| &clocks.events);
    let known = clocks.iter().any(Option::is_some);
    let slews = clocks.iter().flatten().filter_map(|clocks| clocks.slew_ppm);
    let steals = [idle.steal_share(), busy.steal_share()];
    let throttled = [idle.throttled_ns, busy.throttled_ns];
    Circumstances {
        clock_events: known.then(|| events.copied().collect()),
        slew_ppm: slews.max_by(|a, b| a.abs().total_cmp(&b.abs())),
        steal_share: steals.into_iter().flatten().reduce(f64::max),
        throttled_ns: throttled.into_iter().flatten().reduce(|a, b| a + b),
        pressure_share: idle.share(idle.psi_cpu_ns),
        others_share: idle.others_share(),
        ..Circumstances::heard(&heard)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;
    use slowpath_core::health::{Clocks, CpuNoise, CpuTimes, FixedWork, TimerNoise};
    use slowpath_core::nanos::Span;

    use super::*;

    fn heard(mean_ns: u64, late_p99_ns: u64, max_gap_ns: u64) -> Noise {
        let at = Nanos::new(1);
        Noise {
            span: Span::new(at, at),
            cpus: vec![CpuNoise {
                cpu: 0,
                spun_ns: 1_000,
                gaps: 0,
                stolen_ns: 0,
                max_gap_ns,
                wait_p99_ns: max_gap_ns / 2,
                wait_p999_ns: max_gap_ns,
                work: FixedWork {
                    n: 10,
                    median_ns: mean_ns,
                    mean_ns,
                    sd_ns: 0,
                },
            }],
            timer: TimerNoise {
                n: 10,
                late_p50_ns: 1,
                late_p99_ns,
                step_ns: 20,
            },
        }
    }

    #[test]
    fn floors_are_typical_waits_and_the_largest_change() {
        let noises = [
            heard(1000, 5, 50),
            heard(1100, 900, 70),
            heard(1000, 800, 60),
        ];
        let floors = floors(&noises).unwrap();
        assert!((floors.wake_ns - 800.0).abs() < 1e-9);
        assert!((floors.compute_ns - 30.0).abs() < 1e-9);
        assert_eq!(floors.longest_gap_ns, 70);
        assert!(
            (floors.difference.unwrap() - 0.1).abs() < 1e-9,
            "{floors:?}"
        );
        let one = super::floors(&noises[..1]).unwrap();
        assert_eq!(one.difference, None);
        assert!((one.wake_ns - 20.0).abs() < 1e-9, "no finer than the clock");
        assert_eq!(super::floors(&[]), None);
    }

    #[test]
    fn pressure_counts_while_nothing_is_done_and_steal_while_something_is() {
        let at = Nanos::new(1);
        let during = |steal_ns, psi_cpu_ns| During {
            span: Span::new(at, at.plus(1000)),
            cpus: Some(1),
            cpu: Some(CpuTimes {
                busy_ns: 500,
                idle_ns: 500 - steal_ns,
                steal_ns,
            }),
            own_cpu_ns: Some(100),
            children_cpu_ns: Some(0),
            psi_cpu_ns: Some(psi_cpu_ns),
            psi_io_ns: None,
            psi_memory_ns: None,
            throttled_ns: Some(3),
            switches: None,
            clocks: Some(Clocks {
                events: Vec::new(),
                slew_ppm: Some(-200.0),
            }),
        };
        let known = circumstances(&during(0, 70), &during(20, 900), &[heard(1000, 5, 50)]);
        assert_eq!(known.steal_share, Some(0.02));
        assert_eq!(known.pressure_share, Some(0.07));
        assert_eq!(known.others_share, Some(0.4));
        assert_eq!(known.throttled_ns, Some(6));
        assert_eq!(known.slew_ppm, Some(-200.0));
        assert_eq!(known.clock_events, Some(Vec::new()));
        assert_eq!(known.score().score, 100 - 30 - 10 - 30);
    }
}
