//! Failures and connections, as `report.json` holds them.

use serde::{Deserialize, Serialize};

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorCount {
    /// The class, as in `samples.parquet`.
    pub class: String,
    /// The phase in which it happened.
    pub phase: String,
    /// The name of the errno, if the operating system gave one.
    pub errno: Option<String>,
    /// The HTTP status, for a status that was not expected.
    pub status: Option<u16>,
    /// How many.
    pub count: u64,
    /// One sentence: what happened to what share of the requests, when, on which connections.
    pub summary: String,
    /// Its share of what was offered, from 0 to 1.
    pub offered_share: f64,
    /// How many a second of measured time.
    pub per_s: f64,
    /// How many in the worst whole second of a measured window.
    pub peak_per_s: u64,
    /// When the first ended, in seconds from the begin of the measured window of its repeat.
    pub first_s: f64,
    /// When the last ended, likewise.
    pub last_s: f64,
    /// How many in each repeat.
    pub by_repeat: Vec<u64>,
    /// From the scheduled instant to the failure, in milliseconds.
    pub latency_ms: Option<Quantiles>,
    /// From the first byte of the response to the failure, in milliseconds; `null` without one.
    pub since_first_byte_ms: Option<Quantiles>,
    /// Age of the connection at the failure, in milliseconds; `null` if none had a connection.
    pub connection_age_ms: Option<Quantiles>,
    /// How long a connection that was used again had been idle before, in milliseconds.
    pub idle_before_ms: Option<Quantiles>,
    /// Requests that the connection had carried before.
    pub index_on_connection: Option<Quantiles>,
    /// Bytes of the response read until then.
    pub received_bytes: Option<Quantiles>,
    /// How the failures lie against the idle gap, if none follows a short one; else `null`.
    pub idle_gaps: Option<IdleGaps>,
    /// What the kernel did with their connections; `null` if no tracepoint reported any.
    pub kernel: Option<KernelFacts>,
    /// The first, the last and some evenly between.
    pub examples: Vec<ErrorExample>,
}

/// What the kernel, which ran the server or its client, did with the connections of failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelFacts {
    /// Failures that tracing could see: traced from begin to end, or something was seen.
    pub n: u64,
    /// Of these, those of which nothing was seen.
    pub unseen: u64,
    /// What ended the connections of the others, each counted once; most frequent first.
    pub ends: Vec<KernelEnd>,
}

/// One way in which the kernel ended the connections of failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelEnd {
    /// What was seen.
    pub what: KernelAct,
    /// What the kernel that sent a reset calls its reason; `null` if it reports none.
    pub reason: Option<String>,
    /// The name of the server's thread whose call did it; `null` if it was no call, or several did.
    pub thread: Option<String>,
    /// Whether the process of that thread ended then.
    pub process_ended: bool,
    /// How many failures.
    pub count: u64,
    /// From that to the failure, in milliseconds.
    pub before_ms: Option<Quantiles>,
    /// The same for people.
    pub text: String,
}

/// What was seen of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KernelAct {
    /// The server's end sent a reset.
    ServerReset,
    /// A reset came to our end; which end sent it was not seen.
    ResetReceived,
    /// The server's process closed its end in good order.
    ServerClosed,
    /// Nothing ended it, and our end had to send again.
    SentAgain,
}

/// How a figure is distributed over failures or connections: measured values, no estimates of
/// a population, hence without intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(
    missing_docs,
    reason = "each field is the quantile that it is named after"
)]
pub struct Quantiles {
    /// Of how many.
    pub n: u64,
    pub min: f64,
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

/// Failures on connections that were used again, against how long those had been idle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleGaps {
    /// The shortest idle gap that a failure followed, in milliseconds.
    pub low_ms: f64,
    /// The longest, in milliseconds.
    pub high_ms: f64,
    /// Failures of this kind on connections that were used again.
    pub failed: u64,
    /// Completed requests after a shorter gap: none of this kind failed there.
    pub shorter_completed: u64,
    /// Completed requests after a gap as long or longer.
    pub longer_completed: u64,
    /// The chance that so many failures would all follow gaps this long if the gap did not
    /// matter.
    pub p_value: f64,
    /// The gaps in classes, ascending; one of them is exactly `low_ms` to `high_ms`.
    pub bins: Vec<IdleBin>,
}

/// One class of idle gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleBin {
    /// From this gap, in milliseconds …
    pub from_ms: f64,
    /// … to this one.
    pub to_ms: f64,
    /// Failures of the kind.
    pub failed: u64,
    /// Completed requests.
    pub completed: u64,
}

/// How many failures of a kind are shown one by one: the first, the last and three between show
/// whether they are alike, and more are in `samples.parquet`.
pub const EXAMPLES_MAX: usize = 5;

/// One failed request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorExample {
    /// In which repeat, from 0.
    pub repeat: u16,
    /// Its number within the repeat: `serial` in `samples.parquet`.
    pub serial: u32,
    /// Its W3C trace id, which was sent in `traceparent`.
    pub trace_id: String,
    /// When it failed, in seconds from the begin of the measured window of its repeat.
    pub at_s: f64,
    /// From the scheduled instant to the failure, in milliseconds.
    pub latency_ms: f64,
    /// Our port, as logs of the server may show it; `null` if it never had one.
    pub local_port: Option<u16>,
    /// The connection's number within the repeat; `null` if it never had one.
    pub connection: Option<u32>,
    /// Age of the connection at the failure, in milliseconds.
    pub connection_age_ms: Option<f64>,
    /// How long the connection had been idle before, in milliseconds; `null` on a new one.
    pub idle_before_ms: Option<f64>,
    /// Requests that the connection had carried before.
    pub index_on_connection: Option<u32>,
    /// Bytes of the request written.
    pub sent_bytes: u32,
    /// Bytes of the response read.
    pub received_bytes: u64,
    /// Requests under way when it was sent, itself not counted.
    pub in_flight: u32,
    /// What the target and its services wrote around that time, in the order of time.
    pub log: Vec<LogNote>,
    /// Lines of that time that are left out here.
    pub log_omitted: u64,
}

/// A line that the target or a service wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogNote {
    /// From the failure to the line, in milliseconds; below zero before it. The line's instant is
    /// that at which slowpath read it.
    pub after_ms: f64,
    /// Who wrote it: the name of its file in `logs/`.
    pub source: String,
    /// `out` or `err`.
    pub stream: String,
    /// The line.
    pub text: String,
}

/// What became of connections, all endpoints and repeats together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connections {
    /// Connections made, warm-up included.
    pub opened: u64,
    /// Of these, found closed before sending and made again.
    pub stale: u64,
    /// Connections that carried a request and never a whole response.
    pub never_worked: u64,
    /// Requests of the measured windows that dialled.
    pub dials: u64,
    /// Of these, those that got no connection, by class, phase and errno.
    pub dial_failures: Vec<DialFailure>,
    /// Dials for every 1000 requests of the measured windows.
    pub per_1000_requests: f64,
    /// Dials in the worst whole second of a measured window.
    pub peak_dials_per_s: u64,
    /// The most connections that the scenario allows at once.
    pub limit: u64,
    /// Users of a closed loop; `null` for an open one.
    pub users: Option<u64>,
    /// Of the users, over all repeats, those whose measured requests were all without a whole
    /// response.
    pub users_never_served: Option<u64>,
    /// Requests that a connection carried, of those whose last request is known.
    pub requests_per_connection: Option<Quantiles>,
    /// Service time of the first request on each connection in the measured windows, in
    /// milliseconds.
    pub first_request_ms: Option<Quantiles>,
    /// The same in the warm-up, when most connections are new at once.
    pub first_request_warmup_ms: Option<Quantiles>,
    /// Service time of later requests in the measured windows, in milliseconds.
    pub later_ms: Option<Quantiles>,
    /// The time that dialling took in the measured windows, in milliseconds; a TLS handshake is
    /// not part of it.
    pub connect_ms: Option<Quantiles>,
    /// The time that TLS handshakes took, in milliseconds.
    pub handshake_ms: Option<Quantiles>,
    /// TLS handshakes in full.
    pub tls_full: u64,
    /// TLS handshakes that resumed a session.
    pub tls_resumed: u64,
    /// What is out of the ordinary, a sentence each; empty if nothing is.
    pub notable: Vec<String>,
}

/// Dials that gave no connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DialFailure {
    /// The class.
    pub class: String,
    /// `connect` or `handshake`.
    pub phase: String,
    /// The name of the errno, if there was one.
    pub errno: Option<String>,
    /// How many.
    pub count: u64,
}
