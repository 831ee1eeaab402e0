//! How fit the host was: a score from what was recorded around a repeat, and what follows from it.
//!
//! A score is judgement, not statistics, so its components are published with it. A low one warns;
//! only clock steps and suspends void a run.

pub mod aside;
pub mod bench;
pub mod blame;
pub mod doctor;
mod of_run;

use slowpath_core::figures::POOR_BELOW;
use slowpath_core::health::clocks::{ClockEvent, ClockEventKind};
use slowpath_core::health::{Health, Noise};
use slowpath_core::stats::median;

use crate::diagnosis::{Fitness, HealthComponent};
use crate::verdict::{human, percent};

pub(crate) use of_run::{check, host_health, spread_blame};

/// A score from here on is good: nothing is wrong but one slight thing. Below [`POOR_BELOW`] it is
/// poor, and in between figures are stated with care.
pub const GOOD_FROM: u32 = 80;
/// What the score is taken from.
const FULL: u32 = 100;
/// Cost of anything that happened to the clocks.
const CLOCK_COST: u32 = 40;
/// Steal beyond a hundredth of CPU time, which is all that a p99 leaves out.
const STEAL_GRAVE: (f64, u32) = (0.01, 30);
/// Steal beyond what a p99.9 leaves out.
const STEAL_SLIGHT: (f64, u32) = (0.001, 10);
/// Cost of any throttling of slowpath by a quota of its own cgroup.
const THROTTLED_COST: u32 = 30;
/// Share of the time in which some task waited for a CPU.
const PRESSURE_GRAVE: (f64, u32) = (0.10, 20);
/// A twentieth of the time.
const PRESSURE_SLIGHT: (f64, u32) = (0.05, 10);
/// Pressure is the host's only if others use this share of its CPUs: a loaded target and its
/// client press on each other, and that is the measurement.
const OTHERS_LEAST: f64 = 0.05;
/// Variation of the calibration loop beyond which the speed that a task gets is not known to a
/// tenth.
const CALIBRATION_GRAVE: (f64, u32) = (0.10, 40);
/// An undisturbed CPU repeats the loop to a thousandth; this is thirty times as much.
const CALIBRATION_SLIGHT: (f64, u32) = (0.03, 20);
/// Cost of timers that are late by half of the measured p99: a server's thread that sleeps until
/// a request comes wakes up as late. (What a thread waits that never sleeps is no measure: where
/// others took 93 % of two CPUs it waited 43 ms at p99, and requests took 13 ms.)
const HICCUPS_COST: u32 = 20;
/// See [`HICCUPS_COST`].
const HICCUPS_SHARE: f64 = 0.5;
/// Cost of a load generator that was the limit, or was held up.
const GENERATOR_COST: u32 = 30;
/// Beyond this `CLOCK_MONOTONIC` is being slewed; durations are wrong by as little, so it is reported
/// and costs nothing.
const SLEW_TOLD_PPM: f64 = slowpath_core::health::clocks::SLEW_PPM;

/// What is known of the host around one repeat, or one repetition of a benchmark. What was not
/// observed is `None` and costs nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// What happened to the clocks; `None` if they were not read.
    pub clock_events: Option<Vec<ClockEvent>>,
    /// How fast `CLOCK_MONOTONIC` ran against the raw counter, in millionths.
    pub slew_ppm: Option<f64>,
    /// The share of CPU time that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// How long a quota kept slowpath's own cgroup from running.
    pub throttled_ns: Option<u64>,
    /// The share of the time in which some task waited for a CPU.
    pub pressure_share: Option<f64>,
    /// The share of CPU time that was used by neither slowpath nor what is measured.
    pub others_share: Option<f64>,
    /// The typical coefficient of variation of the calibration loop: the median over CPUs, before
    /// and after, so that one blip does not make it.
    pub work_cv: Option<f64>,
    /// How late timers were at the 99th percentile, in nanoseconds, the worse of before and after:
    /// what a thread that sleeps until there is something to do meets on the host alone.
    pub late_p99_ns: Option<u64>,
    /// The measured p99 that it is compared with, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Why the load generator was the limit or was held up; empty if it was neither.
    pub generator: Option<String>,
}

/// A score and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// From 0 to 100.
    pub score: u32,
    /// The score without what takes the measurement's own results into account: nothing else may
    /// put a repeat aside.
    pub of_host: u32,
    /// The components.
    pub components: Vec<HealthComponent>,
}

impl Circumstances {
    /// What a health that was watched by itself (outside of a load) shows: whatever used CPUs and
    /// was neither slowpath nor one of its children was others.
    pub fn of(health: &Health) -> Self {
        let during = &health.during;
        let clocks = during.clocks.as_ref();
        Self {
            clock_events: clocks.map(|clocks| clocks.events.clone()),
            slew_ppm: clocks.and_then(|clocks| clocks.slew_ppm),
            steal_share: during.steal_share(),
            throttled_ns: during.throttled_ns,
            pressure_share: during.share(during.psi_cpu_ns),
            others_share: during.others_share(),
            p99_ns: None,
            generator: None,
            ..Self::heard(&health.heard())
        }
    }

    /// What was measured without a load shows.
    pub fn heard(noises: &[&Noise]) -> Self {
        let cvs = noises.iter().flat_map(|noise| noise.work_cvs());
        let timers = noises.iter().map(|noise| noise.timer.late_p99_ns);
        Self {
            work_cv: median(cvs.collect()),
            late_p99_ns: timers.max(),
            ..Self::default()
        }
    }

    /// The score.
    pub fn score(&self) -> Score {
        let of_host: Vec<HealthComponent> = [
            self.clock(),
            self.steal(),
            self.throttling(),
            self.pressure(),
            self.calibration(),
        ]
        .into_iter()
        .flatten()
        .collect();
        let without_results = left(&of_host);
        let mut components = of_host;
        components.extend(self.hiccups());
        components.extend(self.generator_limited());
        Score {
            score: left(&components),
            of_host: without_results,
            components,
        }
    }

    fn clock(&self) -> Option<HealthComponent> {
        let events = self.clock_events.as_ref()?;
        let slewed = self.slew_ppm.filter(|ppm| ppm.abs() > SLEW_TOLD_PPM);
        let text = match (events.first(), slewed) {
            (Some(first), _) => {
                let more = match events.len() {
                    1 => String::new(),
                    n => format!(", and {} more", n - 1),
                };
                format!("{}{more}", clock_event(first))
            }
            (None, Some(ppm)) => format!("slewed by {ppm:.0} ppm, which moves no figure"),
            (None, None) => "no clock moved by more than 1 ms".to_owned(),
        };
        let cost = if events.is_empty() { 0 } else { CLOCK_COST };
        Some(component("clock", cost, text))
    }

    fn steal(&self) -> Option<HealthComponent> {
        let share = self.steal_share?;
        let text = format!("the hypervisor took {} of the CPU time", percent(share));
        Some(component(
            "steal",
            grade(share, STEAL_GRAVE, STEAL_SLIGHT),
            text,
        ))
    }

    fn throttling(&self) -> Option<HealthComponent> {
        let ns = self.throttled_ns?;
        let (cost, text) = if ns == 0 {
            (0, "no quota kept slowpath from running".to_owned())
        } else {
            let long = human(ns as f64);
            (
                THROTTLED_COST,
                format!("a quota kept slowpath from running for {long}"),
            )
        };
        Some(component("throttling", cost, text))
    }

    fn pressure(&self) -> Option<HealthComponent> {
        let share = self.pressure_share?;
        let waited = format!("some task waited for a CPU {} of the time", percent(share));
        let by_others = self
            .others_share
            .is_none_or(|others| others >= OTHERS_LEAST);
        let used = self.others_share.map_or(String::new(), |others| {
            format!(", others used {} of the CPU time", percent(others))
        });
        let cost = if by_others {
            grade(share, PRESSURE_GRAVE, PRESSURE_SLIGHT)
        } else {
            0
        };
        Some(component("pressure", cost, waited + &used))
    }

    fn calibration(&self) -> Option<HealthComponent> {
        let cv = self.work_cv?;
        let text = format!("the calibration loop varies by {}", percent(cv));
        let cost = grade(cv, CALIBRATION_GRAVE, CALIBRATION_SLIGHT);
        Some(component("calibration", cost, text))
    }

    fn hiccups(&self) -> Option<HealthComponent> {
        let (late_ns, p99_ns) = (self.late_p99_ns?, self.p99_ns?);
        let long = late_ns as f64 > HICCUPS_SHARE * p99_ns as f64;
        let text = format!(
            "timers are {} late at p99, requests take {}",
            human(late_ns as f64),
            human(p99_ns as f64)
        );
        Some(component(
            "hiccups",
            if long { HICCUPS_COST } else { 0 },
            text,
        ))
    }

    fn generator_limited(&self) -> Option<HealthComponent> {
        let why = self.generator.as_ref()?;
        let (cost, text) = match why.as_str() {
            "" => (0, "slowpath sent on time".to_owned()),
            why => (GENERATOR_COST, why.to_owned()),
        };
        Some(component("generator", cost, text))
    }
}

/// What a score says.
pub fn fitness(score: u32) -> Fitness {
    if score >= GOOD_FROM {
        Fitness::Good
    } else if score >= POOR_BELOW {
        Fitness::WithCare
    } else {
        Fitness::Poor
    }
}

/// An event of the clocks in words.
pub fn clock_event(event: &ClockEvent) -> String {
    let by = human(event.by_ns.abs());
    match event.kind {
        ClockEventKind::Step => format!("the wall clock was stepped by {by}"),
        ClockEventKind::Suspend => format!("the host was suspended for {by}"),
        ClockEventKind::Pause => format!("the machine stood still for {by}"),
    }
}

fn component(name: &str, cost: u32, text: String) -> HealthComponent {
    HealthComponent {
        name: name.to_owned(),
        cost,
        text,
    }
}

fn grade(share: f64, grave: (f64, u32), slight: (f64, u32)) -> u32 {
    if share > grave.0 {
        grave.1
    } else if share > slight.0 {
        slight.1
    } else {
        0
    }
}

fn left(components: &[HealthComponent]) -> u32 {
    let costs = components.iter().map(|component| component.cost);
    FULL.saturating_sub(costs.sum())
}

/// The median; `None` of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    median::median(&mut values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slowpath_core::Nanos;
    use slowpath_core::nanos::Span;

    use super::*;

    fn costs(circumstances: &Circumstances) -> Vec<(String, u32)> {
        let components = circumstances.score().components;
        components.into_iter().map(|c| (c.name, c.cost)).collect()
    }

    fn event(kind: ClockEventKind) -> ClockEvent {
        let at = Nanos::new(1);
        ClockEvent {
            kind,
            between: Span::new(at, at.plus(1)),
            by_ns: -5e7,
        }
    }

    #[test]
    fn a_calm_host_scores_full_and_what_was_not_observed_costs_nothing() {
        assert_eq!(Circumstances::default().score().score, 100);
        assert_eq!(Circumstances::default().score().components, []);
        let calm = Circumstances {
            clock_events: Some(Vec::new()),
            steal_share: Some(0.0),
            throttled_ns: Some(0),
            pressure_share: Some(0.02),
            others_share: Some(0.01),
            work_cv: Some(0.004),
            late_p99_ns: Some(0),
            p99_ns: Some(3_000_000),
            generator: Some(String::new()),
            slew_ppm: Some(3.0),
        };
        assert_eq!(calm.score().score, 100);
        assert_eq!(calm.score().components.len(), 7);
        assert_eq!(fitness(100), Fitness::Good);
    }

    #[test]
    fn each_component_costs_what_it_says() {
        let with = |change: fn(&mut Circumstances)| {
            let mut circumstances = Circumstances::default();
            change(&mut circumstances);
            costs(&circumstances)
        };
        let one = |name: &str, cost| vec![(name.to_owned(), cost)];
        assert_eq!(with(|c| c.steal_share = Some(0.02)), one("steal", 30));
        assert_eq!(with(|c| c.steal_share = Some(0.002)), one("steal", 10));
        assert_eq!(with(|c| c.throttled_ns = Some(1)), one("throttling", 30));
        assert_eq!(with(|c| c.pressure_share = Some(0.3)), one("pressure", 20));
        assert_eq!(with(|c| c.pressure_share = Some(0.07)), one("pressure", 10));
        assert_eq!(with(|c| c.work_cv = Some(0.2)), one("calibration", 40));
        assert_eq!(with(|c| c.work_cv = Some(0.05)), one("calibration", 20));
        let late = |c: &mut Circumstances| c.generator = Some("it was late".to_owned());
        assert_eq!(with(late), one("generator", 30));
        let long = |c: &mut Circumstances| {
            (c.late_p99_ns, c.p99_ns) = (Some(2_000_000), Some(3_000_000));
        };
        assert_eq!(with(long), one("hiccups", 20));
        let stepped = |c: &mut Circumstances| {
            c.clock_events = Some(vec![event(ClockEventKind::Step)]);
        };
        assert_eq!(with(stepped), one("clock", 40));
    }

    #[test]
    fn pressure_of_the_measurement_itself_is_not_the_hosts_fault() {
        let mut circumstances = Circumstances {
            pressure_share: Some(0.6),
            others_share: Some(0.01),
            ..Circumstances::default()
        };
        assert_eq!(circumstances.score().score, 100);
        circumstances.others_share = Some(0.2);
        assert_eq!(circumstances.score().score, 80);
    }

    #[test]
    fn results_of_the_measurement_are_no_evidence_of_the_host() {
        let circumstances = Circumstances {
            late_p99_ns: Some(9_000_000),
            p99_ns: Some(1_000_000),
            generator: Some("it was late".to_owned()),
            ..Circumstances::default()
        };
        let score = circumstances.score();
        assert_eq!((score.score, score.of_host), (50, 100));
    }

    #[test]
    fn events_and_slews_are_told() {
        let text = |events, slew_ppm| {
            let circumstances = Circumstances {
                clock_events: Some(events),
                slew_ppm,
                ..Circumstances::default()
            };
            circumstances.score().components.remove(0).text
        };
        let step = event(ClockEventKind::Step);
        let suspend = event(ClockEventKind::Suspend);
        assert_eq!(
            text(vec![step, suspend], None),
            "the wall clock was stepped by 50.0 ms, and 1 more"
        );
        assert!(text(vec![suspend], None).contains("suspended for 50.0 ms"));
        assert!(text(Vec::new(), Some(-480.0)).contains("slewed by -480 ppm"));
        assert!(text(Vec::new(), Some(20.0)).contains("no clock moved"));
    }

    proptest! {
        #[test]
        fn a_score_is_what_its_components_leave(
            steal in prop::option::of(0.0..0.1_f64),
            pressure in prop::option::of(0.0..1.0_f64),
            others in prop::option::of(0.0..1.0_f64),
            cv in prop::option::of(0.0..2.0_f64),
            throttled in prop::option::of(0_u64..9),
            stepped in any::<bool>(),
        ) {
            let circumstances = Circumstances {
                clock_events: stepped.then(|| vec![event(ClockEventKind::Step)]),
                steal_share: steal,
                throttled_ns: throttled,
                pressure_share: pressure,
                others_share: others,
                work_cv: cv,
                ..Circumstances::default()
            };
            let score = circumstances.score();
            let sum: u32 = score.components.iter().map(|c| c.cost).sum();
            prop_assert_eq!(score.score, 100_u32.saturating_sub(sum));
            prop_assert_eq!(score.score, score.of_host);
            // A worse host never scores better.
            let worse = Circumstances {
                steal_share: steal.map(|s| s + 0.02),
                work_cv: cv.map(|c| c * 4.0),
                ..circumstances
            };
            prop_assert!(worse.score().score <= score.score);
        }
    }
}
