//! A part of a run as Chrome trace events (the JSON that `ui.perfetto.dev` and `chrome://tracing`
//! open): requests with their phases by connection, the spans that the target's telemetry reports of
//! them, the server's threads with their states, arrows for which thread woke which, and for which thread served
//! which request.
//!
//! The format is that of "Trace Event Format" (Google, 2016). It may be larger than what one wants
//! to hold in memory, so this view alone writes to a writer that its caller opened.

use std::io;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::trace::{Depth, Role};

mod choice;
mod out;
mod requests;
mod served;
mod spans;
mod threads;

use choice::Chosen;
use out::{Out, args};
use served::Served;

/// The part of a run that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The time around the slowest requests; where threads were traced, around the slowest of
    /// those that lie inside of it.
    Slowest {
        /// How many.
        requests: usize,
        /// The position of their endpoint in the plan; `None` for any.
        endpoint: Option<u16>,
    },
    /// A stretch of time.
    Window(Span),
}

/// What to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The part of the run.
    pub part: Part,
    /// The most events to write, beside names of tracks and what was traced when; what has no room is
    /// counted.
    pub most_events: usize,
}

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events written, names of tracks among them.
    pub events: u64,
    /// Requests written.
    pub requests: u64,
    /// Requests of the exported time that had no room.
    pub requests_left_out: u64,
    /// Spans of the target's telemetry written.
    pub spans: u64,
    /// Spans of exported requests that had no room.
    pub spans_left_out: u64,
    /// Time that was wanted and had no room, in nanoseconds.
    pub left_out_ns: u64,
    /// Time that is exported, in nanoseconds.
    pub covered_ns: u64,
    /// Of that, time in which threads were traced.
    pub traced_ns: u64,
}

/// Ids of processes that do not exist lie above the largest that Linux gives (`PID_MAX_LIMIT` of
/// `include/linux/threads.h` is 2^22).
const CLIENT: u32 = 5_000_001;
const WAITING: u32 = 5_000_002;
const TRACING: u32 = 5_000_003;
const FIRST_SERVICE: u32 = 5_000_004;

/// Writes a part of a run; `zero` of its clock is the begin of the first measured window, or the
/// first instant exported if that is earlier.
///
/// # Errors
///
/// Those of the writer.
pub fn chrome<W: io::Write>(record: &RunRecord, wanted: &Wanted, to: W) -> io::Result<Exported> {
    let chosen = Chosen::of(record, wanted);
    let mut out = Out::begin(to, zero(record, &chosen))?;
    let mut served = Served::of(record, &chosen);
    threads::write(record, &chosen, &mut served, &mut out)?;
    requests::write(record, &chosen, &served, &mut out)?;
    let (spans, spans_left_out) = spans::write(record, &chosen, &mut out)?;
    let traced_ns = stretches(record, &chosen, &mut out)?;
    let about = args([
        ("run", record.manifest.id.clone().into()),
        ("name", record.manifest.plan.scenario.name.clone().into()),
        ("slowpath", record.manifest.version.clone().into()),
        ("requests_left_out", chosen.requests_left_out.into()),
        ("spans_left_out", spans_left_out.into()),
        ("left_out_ns", chosen.left_out_ns.into()),
    ]);
    let events = out.end(&about)?;
    Ok(Exported {
        events,
        requests: chosen.requests.len() as u64,
        requests_left_out: chosen.requests_left_out,
        spans,
        spans_left_out,
        left_out_ns: chosen.left_out_ns,
        covered_ns: chosen.windows.iter().map(|window| window.len_ns()).sum(),
        traced_ns,
    })
}

fn zero(record: &RunRecord, chosen: &Chosen) -> Nanos {
    let measured = record.manifest.repeats.first().map(|one| one.window.begin);
    let requests = chosen.requests.iter().map(|one| one.sample.scheduled);
    let windows = chosen.windows.iter().map(|window| window.begin);
    let first = requests.chain(windows).chain(measured).min();
    first.unwrap_or(Nanos::new(0))
}

/// How closely each stretch was recorded, as a track of its own; returns the traced time.
fn stretches<W: io::Write>(
    record: &RunRecord,
    chosen: &Chosen,
    out: &mut Out<W>,
) -> io::Result<u64> {
    let mut traced_ns = 0;
    let stretches = &record.trace.stretches;
    if stretches.is_empty() {
        return Ok(0);
    }
    out.process(TRACING, "what was traced", i64::from(u32::MAX))?;
    out.thread(TRACING, TRACING, "stretches", 0)?;
    for stretch in stretches {
        for window in &chosen.windows {
            let Some(span) = stretch.span.intersect(*window) else {
                continue;
            };
            let name = match stretch.depth {
                Depth::Off => "not traced",
                Depth::Threads => "threads, without wakers",
                Depth::Light => "traced, without stacks",
                Depth::Full => "traced, with stacks",
            };
            if stretch.depth != Depth::Off {
                traced_ns += span.len_ns();
            }
            let told = args([("lost_records", stretch.lost.into())]);
            out.slice(TRACING, TRACING, "tracing", name, span, told)?;
        }
    }
    Ok(traced_ns)
}

/// Where a process stands among the others: the target's first.
const fn rank(role: Role) -> i64 {
    match role {
        Role::Target => 10,
        Role::Peer => 20,
        Role::Tool => 30,
        Role::Other => 40,
    }
}
