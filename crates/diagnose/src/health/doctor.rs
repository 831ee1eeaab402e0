//! What `slowpath doctor` finds: a noun of its JSON.

use serde::{Deserialize, Serialize};
use slowpath_core::facts::HostFacts;
use slowpath_core::health::{During, Noise};

use super::bench::{Floors, circumstances, floors};
use super::fitness;
use crate::diagnosis::{Fitness, HealthComponent};

/// The value of [`DoctorReport::schema`].
pub const DOCTOR_SCHEMA: &str = "slowpath.doctor/1";

/// What `slowpath doctor --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorReport {
    /// Always [`DOCTOR_SCHEMA`].
    pub schema: String,
    /// The machine.
    pub host: HostFacts,
    /// What can be seen and done on it.
    pub capabilities: Vec<Capability>,
    /// What was heard in some seconds; not there with `--bench`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Heard>,
    /// How noisy the machine is; only there with `--bench`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bench: Option<HostBench>,
}

/// One thing that can be seen or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capability {
    /// What it is about, and what it is good for.
    pub what: String,
    /// Whether it is there.
    pub available: bool,
    /// What was found: a value, or why it is not there.
    pub reason: String,
    /// The command or setting that would give it; empty if it is there or nothing would.
    pub remedy: String,
}

/// What was heard while a thread spun on each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Heard {
    /// How often a thread was kept from its CPU for more than 50 µs.
    pub gaps_over_50us: u64,
    /// The share of their time that busy threads did not get.
    pub stolen_share: f64,
    /// The longest gap, in nanoseconds.
    pub max_gap_ns: u64,
    /// How late timers were at the median, in nanoseconds.
    pub timer_p50_ns: u64,
    /// How late they were at the 99th percentile.
    pub timer_p99_ns: u64,
}

impl Heard {
    /// What a hearing says in short.
    pub fn of(noise: &Noise) -> Self {
        Self {
            gaps_over_50us: noise.cpus.iter().map(|cpu| cpu.gaps).sum(),
            stolen_share: noise.stolen_share(),
            max_gap_ns: noise.max_gap_ns(),
            timer_p50_ns: noise.timer.late_p50_ns,
            timer_p99_ns: noise.timer.late_p99_ns,
        }
    }
}

/// How noisy a machine is, and what can be measured on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostBench {
    /// From 0 to 100.
    pub score: u32,
    /// What the score says.
    pub fitness: Fitness,
    /// What it is made of.
    pub components: Vec<HealthComponent>,
    /// What cannot be distinguished from noise; `null` if nothing was measured.
    pub floors: Option<Floors>,
    /// What was counted while slowpath did nothing.
    pub idle: During,
    /// What was counted while it listened.
    pub busy: During,
    /// What was heard, in order.
    pub noises: Vec<Noise>,
}

impl HostBench {
    /// Judges what was counted and heard.
    pub fn of(idle: During, busy: During, noises: Vec<Noise>) -> Self {
        let score = circumstances(&idle, &busy, &noises).score();
        Self {
            score: score.score,
            fitness: fitness(score.score),
            components: score.components,
            floors: floors(&noises),
            idle,
            busy,
            noises,
        }
    }
}
