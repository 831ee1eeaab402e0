//! What tracing showed of the target's inside: where requests waited, and for which threads.

use serde::{Deserialize, Serialize};
use slowpath_attribution::Phase;
use slowpath_core::trace::{Call, Depth};

use super::Part;

/// What was traced, what of it could be joined with requests, and what became of those.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceView {
    /// The closest look that was taken at the target.
    pub depth: Depth,
    /// Events that were recorded.
    pub events: u64,
    /// Events that were lost for want of room.
    pub lost: u64,
    /// The share of the measured time that was traced, from 0 to 1.
    pub traced: f64,
    /// Measured requests with an answer.
    pub requests: u64,
    /// Of these, how many lie wholly in traced time: those that could be joined.
    pub within: u64,
    /// Of the requests within, those that were joined with what the server did for them.
    pub joined: u64,
    /// Why the others were not joined, those outside tracing included; most frequent first.
    pub unjoined: Vec<Unjoined>,
    /// What tracing itself cost the requests; `null` if too few were left untraced to estimate it.
    pub shift: Option<TracingShift>,
    /// Endpoint by endpoint, in the scenario's order.
    pub endpoints: Vec<EndpointInside>,
}

/// Requests that could not be joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unjoined {
    /// Why.
    pub why: String,
    /// How many.
    pub requests: u64,
}

/// Requests in traced time compared with those in stretches that were left untraced on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracingShift {
    /// Median latency in untraced stretches, in milliseconds.
    pub off_p50_ms: f64,
    /// Median latency in traced stretches, in milliseconds.
    pub on_p50_ms: f64,
    /// By how much tracing moved the median, as a share of it: 0.05 is 5 % slower.
    pub shift: f64,
    /// Lower end of its 95 % interval, over stretches.
    pub shift_low: f64,
    /// Upper end.
    pub shift_high: f64,
    /// The share of requests that are slow in untraced stretches, from 0 to 1.
    pub off_slow: f64,
    /// The share of requests that are slow in traced stretches.
    pub on_slow: f64,
    /// Untraced stretches that the interval rests on.
    pub off_stretches: u64,
    /// Traced stretches that the interval rests on.
    pub on_stretches: u64,
}

/// The inside of one endpoint's requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointInside {
    /// The endpoint's name.
    pub name: String,
    /// The pass; `null` in a run without passes.
    #[serde(default)]
    pub pass: Option<String>,
    /// Its measured requests with an answer.
    pub requests: u64,
    /// Those joined.
    pub joined: u64,
    /// The parts of a request in their order; together they are the whole latency.
    pub segments: Vec<SegmentFigures>,
    /// Where the slow requests spend what they take longer than the others; `null` if none is slow
    /// or joined.
    pub tail: Option<ChainTree>,
    /// Where the requests around the median spend their time; `null` if none is joined.
    pub floor: Option<ChainTree>,
    /// The slowest joined request, thread by thread.
    pub slowest: Option<Waterfall>,
}

/// One part of the requests, slow against fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SegmentFigures {
    /// Which.
    pub segment: Phase,
    /// Median of the joined requests that are not slow, in milliseconds; `null` without any.
    pub fast_ms: Option<f64>,
    /// Median of the joined slow requests, in milliseconds; `null` without any.
    pub slow_ms: Option<f64>,
    /// Its share of what slow requests take longer than the others in the mean, from 0 to 1, in
    /// proportion to the other parts that take longer; `null` without slow requests.
    pub share: Option<f64>,
}

/// Where a set of requests spent its time, as a tree: part of the request, then thread by thread
/// what it waited for, and at the leaves what that thread did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChainTree {
    /// Requests that it is made of.
    pub requests: u64,
    /// Their mean latency, in milliseconds.
    pub mean_ms: f64,
    /// The mean latency of the requests that they are compared with, in milliseconds; 0 for a
    /// floor, which is compared with none.
    pub reference_ms: f64,
    /// The first level: one node for each [`Phase`] that takes time, in its order.
    pub nodes: Vec<ChainNode>,
    /// The parts of it that nothing explains, as shares of what the tree explains; largest first.
    pub unexplained: Vec<Part>,
}

/// A node of a [`ChainTree`]; its children together take its time, apart from what is too small
/// to be listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChainNode {
    /// In words.
    pub label: String,
    /// What it is.
    pub kind: NodeKind,
    /// The thread; empty if it is none of a thread's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// The executable of its process; empty if that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub process: String,
    /// The system call it is in, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The stack that it most often has, innermost function first; empty if none was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Its mean time a request, in milliseconds.
    pub mean_ms: f64,
    /// Its mean time in the requests that these are compared with, in milliseconds.
    pub reference_ms: f64,
    /// Its share of what the requests take longer than the reference, from 0 to 1, in proportion to
    /// its siblings that take longer.
    pub share: f64,
    /// How many of the requests have it.
    pub requests: u64,
    /// What it is made of, largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChainNode>,
}

/// What a [`ChainNode`] is. Those after [`NodeKind::Thread`] are leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A part of the request.
    Segment(Phase),
    /// The threads below it work on the request, or keep it waiting.
    Thread,
    /// The thread computes.
    Cpu,
    /// The thread could run, and others have the CPU.
    Ready,
    /// The thread could run, and the CPU is idle: throttled, or waking up.
    ReadyIdle,
    /// The thread waits for a time.
    Sleep,
    /// The thread waits for a lock or a condition; its holder is not known.
    Lock,
    /// The thread waits for a disk.
    Disk,
    /// The thread waits for the network: a host that cannot be seen.
    Network,
    /// The thread waits for data from a socket, a pipe or a file.
    Data,
    /// The thread waits for another process on this host.
    Peer,
    /// The thread has nothing to do while the request waits in user space.
    RuntimeIdle,
    /// The thread waits for a child process.
    Child,
    /// Not known.
    Unknown,
}

/// One request, thread by thread. Times are milliseconds from its scheduled instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// Its trace id, as sent in `traceparent`.
    pub trace_id: String,
    /// The repeat, from 0.
    pub repeat: u32,
    /// Its scheduled instant, as seconds from the begin of the first measured window.
    pub at_s: f64,
    /// Its latency.
    pub latency_ms: f64,
    /// Its parts in order, empty ones left out.
    pub segments: Vec<WaterfallSegment>,
    /// The threads that had to do with it, in the order in which they are met walking from the
    /// thread that answered; at most [`LANES_MAX`].
    pub lanes: Vec<Lane>,
    /// Which thread woke which in its time, in order of time; at most [`WAKES_MAX`].
    pub wakes: Vec<Wake>,
}

/// Threads that a [`Waterfall`] shows at most.
pub const LANES_MAX: usize = 12;
/// Stretches that a [`Lane`] shows at most.
pub const STRETCHES_MAX: usize = 60;
/// Wake-ups that a [`Waterfall`] shows at most.
pub const WAKES_MAX: usize = 120;

/// One part of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaterfallSegment {
    /// Which.
    pub segment: Phase,
    /// When it begins.
    pub begin_ms: f64,
    /// How long it takes.
    pub length_ms: f64,
}

/// A thread in a [`Waterfall`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lane {
    /// Its id on the host.
    pub tid: u32,
    /// Its name.
    pub thread: String,
    /// The executable of its process; empty if that is not known.
    pub process: String,
    /// What it did, in order of time; at most [`STRETCHES_MAX`].
    pub stretches: Vec<LaneStretch>,
}

/// What a thread did for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneStretch {
    /// When it begins.
    pub begin_ms: f64,
    /// How long it takes.
    pub length_ms: f64,
    /// What it did.
    pub state: LaneState,
    /// The system call it was blocked in, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Who occupied the CPU in that time (ready), or who ended the wait (blocked), in words; empty if that
    /// is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Where it stood, innermost function first; empty if no stack was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Whether the request's time is accounted to it: it lies on the request's chain.
    pub on_path: bool,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LaneState {
    /// It ran.
    Running,
    /// It could run and had no CPU.
    Ready,
    /// It waited for something.
    Blocked,
    /// Not known: records were lost.
    Unknown,
}

/// A thread was made ready to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wake {
    /// When.
    pub at_ms: f64,
    /// The thread that was woken.
    pub tid: u32,
    /// The thread that did it; `null` if an interrupt did: a timer, the network or a disk.
    pub by: Option<u32>,
}
