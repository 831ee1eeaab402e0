//! How fit the host was, as `report.json` holds it.

use serde::{Deserialize, Serialize};

/// How fit the host was for measuring, repeat by repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostHealth {
    /// The median score of the repeats that are not excluded, from 0 to 100: 80 and more is good,
    /// from 60 on figures are to be stated with care, below they are the host's as much as the
    /// service's.
    pub score: u32,
    /// What the score says.
    pub fitness: Fitness,
    /// How late timers were at the 99th percentile in a typical repeat, in milliseconds: a thread
    /// that sleeps until a request comes wakes up as late, so latencies below may be the host's.
    pub floor_ms: f64,
    /// One entry a repeat (in a run with passes, one a pass of each).
    pub repeats: Vec<RepeatHealth>,
}

/// What a score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// 80 and more.
    Good,
    /// 60 to 79: figures are to be stated with care.
    WithCare,
    /// Below 60: the host is in the figures as much as the service.
    Poor,
}

/// How fit the host was around one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatHealth {
    /// Its number, from 0; in a run with passes its window's number.
    pub repeat: u32,
    /// The pass; `null` in a run without passes.
    #[serde(default)]
    pub pass: Option<String>,
    /// 100 less the costs.
    pub score: u32,
    /// What the score is made of, also what cost nothing; what was not observed is not listed.
    pub components: Vec<HealthComponent>,
    /// The mean time of the calibration loop's piece of work, in milliseconds.
    pub calibration_ms: Option<f64>,
    /// The share of a busy CPU's time that others had, before and after.
    pub stolen_share: f64,
    /// The longest time for which a busy thread did not run, in milliseconds.
    pub longest_gap_ms: f64,
    /// What a busy thread waits for its CPU at the 99th percentile, in milliseconds; the median over
    /// CPUs, before and after. Threads that mostly sleep wait less.
    pub wait_p99_ms: f64,
    /// How late timers were at the 99th percentile, in milliseconds.
    pub timer_late_p99_ms: f64,
    /// The share of the host's CPU time in the window that neither the target nor slowpath used.
    pub others_share: Option<f64>,
    /// The share of the host's CPU time in the window that its hypervisor gave to other machines.
    #[serde(default)]
    pub steal_share: Option<f64>,
    /// Context switches of the host, a second.
    pub switches_per_s: Option<f64>,
    /// How fast `CLOCK_MONOTONIC` ran against the raw counter, in millionths.
    pub slew_ppm: Option<f64>,
    /// Why comparisons put the repeat aside: evidence about the host alone, recorded with the
    /// repeat; empty if it counts.
    pub aside: String,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthComponent {
    /// `clock`, `steal`, `throttling`, `pressure`, `calibration`, `hiccups` or `generator`.
    pub name: String,
    /// What it takes from 100.
    pub cost: u32,
    /// What was found, in words.
    pub text: String,
}

/// Whether the host or the service is to blame for a wide spread over repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpreadBlame {
    /// Which.
    pub blame: BlameOf,
    /// One sentence with the figures.
    pub detail: String,
}

/// Who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BlameOf {
    /// The calibration loop varied as the service did.
    Host,
    /// The calibration loop held still.
    Service,
    /// There is no evidence for either.
    Unknown,
}
