//! The judgement of a run, exactly as `report.json` holds it.
//!
//! This is a published format: fields are added, never renamed or re-used. The committed schema
//! (`schema/report.schema.json`) is generated from these types and a test holds them together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slowpath_core::facts::HostFacts;
use slowpath_core::gates::GateOutcome;

mod attribution;
mod collections;
mod failing;
mod failures;
mod headline;
mod health;
mod inside;
mod passes;
mod profile;
mod server_timing;
mod shape;
mod spans;
mod verdicts;

pub use attribution::{AttributionLine, FrameAttribution, LineCulprit};
pub use collections::EndpointPauses;
pub use failures::{
    Connections, DialFailure, EXAMPLES_MAX, ErrorCount, ErrorExample, IdleBin, IdleGaps, KernelAct,
    KernelEnd, KernelFacts, LogNote, Quantiles,
};

pub use headline::{Headline, Standing};
pub use health::{BlameOf, Fitness, HealthComponent, HostHealth, RepeatHealth, SpreadBlame};
pub use inside::{
    ChainNode, ChainTree, EndpointInside, LANES_MAX, Lane, LaneState, LaneStretch, NodeKind,
    STRETCHES_MAX, SegmentFigures, TraceView, TracingShift, Unjoined, WAKES_MAX, Wake, Waterfall,
    WaterfallSegment,
};
pub use slowpath_attribution::Phase;

pub use shape::{
    Axis, CombFigures, ConstantFigures, KeptFigures, Mode, Outliers, OverRepeats, Settling,
    ShapeFigures, StallFigures, StepFigures, SwingFigures, WallFigures,
};

pub use server_timing::{EndpointTimings, TimingFigures};
pub use spans::{EndpointSpans, GapState, RepeatedSpans, SpanFigures, SpanGap};

pub use profile::{
    CpuShares, FunctionShare, Lead, LeadKind, LeadRemedy, ProfileView, ProfilingEffect,
    SampledShare, WaitShares, WaitSite,
};

pub use passes::{ClassFigures, FirstTouchFigures, PassFigures, ResetProof};
pub use verdicts::{
    Blind, Cleared, Culprit, EPISODES_MAX, Evidence, Finding, Grade, Part, Place, Prediction,
    Source, Unexplained,
};

/// The value of [`Diagnosis::schema`].
pub const SCHEMA: &str = "slowpath.report/2";

/// A judged run: `report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of slowpath that judged.
    pub version: String,
    /// The answer in one sentence.
    #[serde(default)]
    pub headline: Headline,
    /// Which run.
    pub run: RunSummary,
    /// Whether the measurement itself can be trusted, check by check.
    pub validity: Vec<Check>,
    /// Figures, one entry an endpoint, in the scenario's order; in a run with passes one for each
    /// endpoint and pass.
    pub endpoints: Vec<EndpointFigures>,
    /// The passes of a repeat, in their order; empty for a run without.
    #[serde(default)]
    pub passes: Vec<PassFigures>,
    /// The classes of users, in the scenario's order; empty for a run without.
    #[serde(default)]
    pub users: Vec<ClassFigures>,
    /// What became of connections.
    pub connections: Connections,
    /// Why no log lines stand beside errors; `null` if there are no errors or logs were read.
    pub logs_unseen: Option<String>,
    /// Where the time of slow requests went, whether or not a cause is named; one entry for each endpoint
    /// and frame that has excess.
    #[serde(default)]
    pub attribution: Vec<FrameAttribution>,
    /// The causes found, the answer first.
    pub findings: Vec<Finding>,
    /// The causes that were looked for and are not there.
    pub cleared: Vec<Cleared>,
    /// The causes that this run could not look for.
    pub blind: Vec<Blind>,
    /// What no cause explains, one entry an endpoint that has excess.
    pub unexplained: Vec<Unexplained>,
    /// What tracing showed of the target's inside; left out of runs that were not traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceView>,
    /// What a profiling pass after the repeats showed; left out of runs without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileView>,
    /// Signals that could not be observed.
    pub gaps: Vec<GapNote>,
    /// What became of the scenario's gates, in its order; empty for one without.
    #[serde(default)]
    pub gates: Vec<GateOutcome>,
}

/// The run that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// Its ULID.
    pub id: String,
    /// The scenario's name.
    pub name: String,
    /// The release that was measured, if the user named it.
    pub release: Option<String>,
    /// Repeats that were measured.
    pub repeats: u32,
    /// Whether no validity check says `invalid`.
    pub valid: bool,
    /// Whether the user interrupted it or it was killed: the figures cover what was measured.
    pub interrupted: bool,
    /// Begin of the run, RFC 3339 in UTC.
    pub began: String,
    /// The load in words: model, rate or users, connections, duration.
    pub load: String,
    /// The target's URL.
    pub target: String,
    /// The machine.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub host: HostFacts,
    /// What the instrument counted of itself.
    pub instrument: Instrument,
    /// How fit the host was for measuring; `null` in runs of versions that did not look.
    #[serde(default)]
    pub health: Option<HostHealth>,
}

/// What the instrument counted of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instrument {
    /// CPU seconds slowpath used per million requests; `null` without requests.
    pub cpu_s_per_million: Option<f64>,
    /// As the former, of the threads that send alone: without writing and observing.
    #[serde(default)]
    pub loop_cpu_s_per_million: Option<f64>,
    /// Share of the measured time that the busiest load loop ran or waited for a CPU.
    pub loop_busy: Option<f64>,
    /// Median of how late requests were sent through our own fault, in milliseconds.
    #[serde(default)]
    pub send_lag_p50_ms: Option<f64>,
    /// Its 99th percentile.
    pub send_lag_p99_ms: Option<f64>,
    /// The latest.
    #[serde(default)]
    pub send_lag_max_ms: Option<f64>,
    /// Coefficient of variation of the gaps between requests sent in an open loop: 0 if they were
    /// evenly spaced, 1 if they came independently, more in bursts.
    #[serde(default)]
    pub send_gap_cv: Option<f64>,
    /// Connections dialled.
    pub connections_opened: u64,
    /// Pooled connections found closed before sending and re-dialled.
    pub connections_stale: u64,
    /// Batches of samples that waited for the disk.
    pub spool_waits: u64,
    /// Events of streamed responses that are counted but not kept one by one.
    #[serde(default)]
    pub stream_events_dropped: u64,
}

/// Whether something that a measurement rests on held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Its name; a cause's name where the catalogue has one.
    pub check: String,
    /// How it went.
    pub status: Status,
    /// The statistic it rests on, unit as said in `detail`.
    pub value: Option<f64>,
    /// One sentence with the figures.
    pub detail: String,
}

/// How a validity check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It held.
    Ok,
    /// Read the figures with care.
    Warn,
    /// The figures mean something else than they say.
    Invalid,
}

/// The figures of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointFigures {
    /// The endpoint's name.
    pub name: String,
    /// The pass that the figures are of; `null` in a run without passes.
    #[serde(default)]
    pub pass: Option<String>,
    /// Requests that reached the wire or tried to in the measured window: all that have a sample.
    pub requests: u64,
    /// Completed requests a second of measured time.
    pub rate_per_s: f64,
    /// What the plan wanted sent: `completed` + all of `errors` + `unfinished`.
    pub offered: u64,
    /// Whole responses that meet expectations.
    pub completed: u64,
    /// The share of the offered that was completed, from 0 to 1; 1 if nothing was offered.
    pub served: f64,
    /// Requests the end of the run overtook: under way, or (`unsent`) never sent.
    pub unfinished: u64,
    /// Of the unfinished, those for which no connection became free.
    pub unsent: u64,
    /// Failures by class, phase and errno; most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Latency from the scheduled instant, in milliseconds. Offered requests without an answer (timed
    /// out, unfinished, unsent) count as slower than all completed ones.
    pub latency_ms: Percentiles,
    /// Time from the first byte written to the last byte read, in milliseconds: shown beside
    /// latency, never instead of it.
    pub service_ms: Percentiles,
    /// What came of streams of events; `null` for an endpoint that has none.
    #[serde(default)]
    pub stream: Option<StreamFigures>,
    /// What the target's own telemetry shows of its requests; left out if it shows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<EndpointSpans>,
    /// What the target says of its requests in `Server-Timing`; left out if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<EndpointTimings>,
    /// What pauses of garbage collection have of its slow requests, if the target's log reports
    /// any; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<EndpointPauses>,
    /// The modes of the latency; empty when there are too few samples to find any.
    pub modes: Vec<Mode>,
    /// Spread of the p50 over repeats: (max - min) / median; `null` for fewer than two.
    pub run_spread: Option<f64>,
    /// Whether host or service is to blame for that spread; `null` if it is not wide, or if the
    /// host's health was not recorded.
    #[serde(default)]
    pub spread_blame: Option<SpreadBlame>,
    /// The same figures repeat by repeat: the units of every comparison between runs.
    #[serde(default)]
    pub by_repeat: Vec<RepeatFigures>,
    /// The percentiles over the repeats: what the next run may give, where `latency_ms` says how
    /// well these repeats determine their own; empty for one repeat.
    #[serde(default)]
    pub over_repeats: Vec<OverRepeats>,
    /// What is seen in the shape of the latencies.
    #[serde(default)]
    pub shape: ShapeFigures,
    /// How it settled after the start of the load, warm-up included: the throughput of users who
    /// do not think, the latency otherwise; `null` if there was too little to judge.
    pub settling: Option<Settling>,
}

/// The figures of an endpoint in one repeat, without intervals: what scatters between repeats is
/// seen between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatFigures {
    /// Which repeat, from 0; in a run with passes, of this pass.
    pub repeat: u32,
    /// What the plan wanted sent.
    pub offered: u64,
    /// Whole responses that meet expectations.
    pub completed: u64,
    /// Completed requests a second.
    pub rate_per_s: f64,
    /// Failed requests over offered ones. Those that were overtaken by the end or never sent count as
    /// failed too if they had been due for longer than the timeout, or than ten medians and any that
    /// was answered; where nothing was, for longer than a second.
    pub errors: f64,
    /// Latency percentiles by their names, in milliseconds. One that lies among requests without
    /// an answer, or has fewer than five beyond it, is left out.
    pub latency_ms: BTreeMap<String, f64>,
    /// How this repeat settled, as [`EndpointFigures::settling`] says of the middle one.
    #[serde(default)]
    pub settling: Option<Settling>,
    /// Seconds from the begin of the load, warm-up included, until it was steady; `null` without a
    /// ramp that ended.
    #[serde(default)]
    pub settled_after_s: Option<f64>,
}

/// What came of an endpoint's streams of events (`text/event-stream`), of all its requests that
/// ended, failed ones included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamFigures {
    /// Events that these requests asked for: the least number that the scenario expects, for each;
    /// `null` where it expects none.
    pub offered: Option<u64>,
    /// Whole events that came.
    pub delivered: u64,
    /// Requests with fewer events than expected; without an expectation, those that failed after
    /// their first event.
    pub short_streams: u64,
    /// Time from the first byte written to the first whole event, in milliseconds, of requests that
    /// had one; those that timed out before count as slower.
    pub first_event_ms: Percentiles,
    /// The longest silence of each stream between two events, or after the last, in milliseconds.
    pub gap_ms: Percentiles,
}

/// Percentiles of one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(
    missing_docs,
    reason = "each field is the percentile that it is named after"
)]
pub struct Percentiles {
    pub p50: Percentile,
    pub p90: Percentile,
    pub p95: Percentile,
    pub p98: Percentile,
    pub p99: Percentile,
    #[serde(rename = "p99.9")]
    pub p99_9: Percentile,
    /// The largest; without an interval, since none exists.
    pub max: Percentile,
}

/// One percentile, or why it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percentile {
    /// In milliseconds; `null` when it cannot be said.
    pub value: Option<f64>,
    /// Where only a lower bound is known, because requests were given up: that bound, in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// What cut it off there: `timeout`, or `end of run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored_by: Option<String>,
    /// Lower end of the 95 % interval within these repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Samples it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Effective samples after the correlation in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_eff: Option<f64>,
    /// Its rank among the samples, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Samples per effective one: above 10 those beyond the percentile come in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deff: Option<f64>,
    /// Why there is no value or no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A signal that could not be observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapNote {
    /// Its id, or the probe's name.
    pub signal: String,
    /// Why.
    pub reason: String,
    /// What would give it.
    pub remedy: String,
}
