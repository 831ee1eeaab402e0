//! The run record: all that crosses from the effects to the judgement.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::{GitFacts, HostFacts, RepeatFacts, TargetFacts};
use crate::gc_log::GcLog;
use crate::plan::Plan;
use crate::profiles::Profiles;
use crate::samples::Samples;
use crate::server_timing::ServerTimings;
use crate::spans::AppSpans;
use crate::timeline::Timeline;
use crate::trace::Trace;

/// The version of `manifest.json` that this code writes.
pub const MANIFEST_FORMAT: u32 = 1;

/// A run as a judge sees it. Written once; everything derived lies beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Who, what, where.
    pub manifest: Manifest,
    /// Every request, by repeat and in order of schedule.
    pub samples: Samples,
    /// The keys that samples point to.
    pub keys: Vec<String>,
    /// What was observed beside the requests.
    pub timeline: Timeline,
    /// What the kernel reported of the target's threads; empty if it was not traced. Shared, because
    /// parts of a record are judged as records of their own.
    pub trace: Arc<Trace>,
    /// What the target reported of requests itself; empty if it reported nothing.
    pub spans: Arc<AppSpans>,
    /// What the target said in `Server-Timing`; empty if it said nothing.
    pub timings: Arc<ServerTimings>,
    /// What the target's runtime reported of its own code; empty if it was not asked.
    pub profiles: Arc<Profiles>,
    /// What the log of the target's runtime reports of its garbage collections.
    pub collections: Arc<GcLog>,
}

/// The facts of a run: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_FORMAT`] of its writer.
    pub format: u32,
    /// The run's ULID.
    pub id: String,
    /// The version of slowpath that wrote it.
    pub version: String,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// What was meant to happen.
    pub plan: Plan,
    /// The scenario file as written; `None` for a URL.
    pub scenario_text: Option<String>,
    /// The machine.
    pub host: HostFacts,
    /// The source tree, if the run was started in one.
    pub git: Option<GitFacts>,
    /// What was measured.
    pub target: TargetFacts,
    /// What happened, repeat by repeat.
    pub repeats: Vec<RepeatFacts>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Why later repeats are missing; empty if none is, or if the user interrupted it.
    #[serde(default)]
    pub trouble: String,
    /// Which other tool measured it; `None` if slowpath did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Whether it was recovered from the spool of a run that was killed.
    pub recovered: bool,
}

/// A record that was made of another tool's files: there is no schedule, no connection and nothing
/// about the target in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// The tool.
    pub tool: String,
    /// The format of its files.
    pub format: String,
    /// The files as they were named, one a repeat.
    pub files: Vec<String>,
    /// How finely they resolve instants, in nanoseconds.
    pub precision_ns: u64,
    /// What a person should know of what was made of the files.
    #[serde(default)]
    pub notes: Vec<String>,
}
