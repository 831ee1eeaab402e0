//! What a profiling pass after the repeats shows: where the CPU time goes, what is waited for, and
//! what to try first.

use serde::{Deserialize, Serialize};
use slowpath_core::profile_pass::ProfileSource;

/// What a profiling pass shows. Its requests are in no other figure, and nothing in here is a cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileView {
    /// Who took samples of the CPU time.
    pub source: ProfileSource,
    /// Whether it was taken elsewhere and imported: then it is compared with the run as if it had been taken under
    /// the run's load.
    #[serde(default)]
    pub imported: bool,
    /// Where profiles were fetched, how samples were taken, or the files that were imported.
    pub from: String,
    /// Requests that were completed in the pass; 0 where it was imported.
    pub requests: u64,
    /// Requests that failed in the pass.
    pub failed: u64,
    /// How the pass's requests fared beside the measured ones, one entry an endpoint.
    pub effects: Vec<ProfilingEffect>,
    /// Where the CPU time goes; `null` if no sample was taken.
    pub cpu: Option<CpuShares>,
    /// Waits for locks (Go's mutex profile, Java's monitors), within the pass's window; `null` if there is
    /// no profile of them.
    pub locks: Option<WaitShares>,
    /// Waits of goroutines for each other (Go's block profile), likewise. The waiting of idle goroutines
    /// is in it too.
    pub blocks: Option<WaitShares>,
    /// What to try, the largest possible gain first: hints that are to be tested.
    pub leads: Vec<Lead>,
    /// The profiles as they came, below `profiling/` in the run's directory, or
    /// `profiling-imported/`.
    pub files: Vec<String>,
}

/// What profiling did to the latency of an endpoint: the pass beside the measured repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfilingEffect {
    /// The endpoint.
    pub endpoint: String,
    /// Median of the measured repeats, in milliseconds; `null` if it is not known.
    pub measured_p50_ms: Option<f64>,
    /// Median of the pass.
    pub profiled_p50_ms: f64,
    /// 99th percentile of the measured repeats, in milliseconds; `null` if it is not known.
    pub measured_p99_ms: Option<f64>,
    /// 99th percentile of the pass.
    pub profiled_p99_ms: f64,
}

/// Shares of the CPU time, with 95 % intervals by samples: the profile of another run differs by more
/// than that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuShares {
    /// Samples.
    pub samples: u64,
    /// Slices of time whose differences show how many independent samples these are worth.
    pub slices: u32,
    /// CPU time of the target for each completed request of the measured repeats, or else of the
    /// pass, in milliseconds; `null` if it cannot be seen.
    pub per_request_ms: Option<f64>,
    /// That, as a share of the mean latency; above 1 if several CPUs work for a request, or also
    /// for others.
    pub of_latency: Option<f64>,
    /// Share of the samples within system calls, interrupts and page faults.
    pub kernel: f64,
    /// Share of the samples in which a runtime collects garbage, by threads of its own.
    pub collector: f64,
    /// Share of the samples in which a runtime looks for work.
    pub scheduler: f64,
    /// The functions with the largest shares, those with work of their own first.
    pub functions: Vec<FunctionShare>,
    /// Functions that are not listed.
    pub further: u64,
}

/// The shares of one function, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionShare {
    /// The function.
    pub function: String,
    /// The CPU was in the function itself.
    pub flat: SampledShare,
    /// It was in the function, or in what that calls.
    pub cumulative: SampledShare,
    /// It was in the function, or in what the runtime did for that: memory, maps, strings.
    pub own: SampledShare,
}

/// A share of samples with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledShare {
    /// The share.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Samples for each independent one, by how slices differ: at least 1.
    pub deff: f64,
}

/// Shares of the time waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitShares {
    /// Time waited in the pass's window by all together, in seconds.
    pub delay_s: f64,
    /// That for each completed request, in milliseconds; `null` without requests.
    pub per_request_ms: Option<f64>,
    /// The places with the largest shares.
    pub sites: Vec<WaitSite>,
}

/// A place that was waited for, or at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitSite {
    /// The function that releases the lock, or that waits.
    pub function: String,
    /// Who calls it, the most frequent way, innermost first.
    pub callers: Vec<String>,
    /// Its share of the time waited, from 0 to 1. That is no share of the latency.
    pub share: f64,
    /// How often a goroutine waited.
    pub count: u64,
    /// Time waited for each completed request, in milliseconds; `null` without requests.
    pub per_request_ms: Option<f64>,
}

/// Something to try, with what can be had by it at most. It is a hint and no verdict: a profile
/// says where time goes, not what it is waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lead {
    /// What it is about.
    pub kind: LeadKind,
    /// The function.
    pub of: String,
    /// Who calls it, the most frequent way, innermost first.
    pub callers: Vec<String>,
    /// Its share of the CPU time, or of the time waited for locks.
    pub share: SampledShare,
    /// What a mean request can gain at most if it went away, in milliseconds; at least it is 0.
    pub gain_most_ms: f64,
    /// That, as a share of the mean latency.
    pub gain_most: f64,
    /// One sentence with the figures.
    pub summary: String,
    /// What the figures do not say.
    pub limits: String,
    /// What may help, with what it can gain.
    pub remedies: Vec<LeadRemedy>,
}

/// What a lead is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LeadKind {
    /// A function that computes.
    Cpu,
    /// The collection of garbage.
    Collector,
    /// A lock.
    Lock,
}

/// Something that may help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeadRemedy {
    /// What to do.
    pub what: String,
    /// What a mean request gains at most by it, in milliseconds; at least 0.
    pub gain_most_ms: f64,
}
