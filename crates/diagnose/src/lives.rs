//! The lives of the target's processes: which ended under load, and what took their place.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Nanos, SECOND, Span};
use slowpath_core::signal::{HOST_CPU_BUSY, PROCESS_AGE, PROCESS_THREADS};
use slowpath_core::timeline::{Series, Subject};

use crate::case::Case;
use crate::overlap::merged;

/// A process that did not live for this long served few requests: a helper, not a worker. The
/// target's processes are listed once a second, so that shorter lives are not known anyway.
const WORKER_LEAST_NS: u64 = SECOND;
/// Processes are read ten times a second: one that is missing for so many readings of others has
/// ended.
const READINGS_MISSED: usize = 2;
/// Connections of a process break, and its successor gets ready, so long before and after what the
/// readings show: one reading.
const MARGIN_NS: u64 = 100 * MILLISECOND;
/// When a process began is known to this, rounded down (`starttime` in proc_pid_stat(5), `USER_HZ`).
const TICK_NS: u64 = 10 * MILLISECOND;
/// One that starts within this of another's end takes its place: supervisors wait for a second or
/// two, and old workers may finish what they have for as long.
const SUCCEEDS_NS: u64 = 3 * SECOND;
/// After this a server that has not answered yet is down, and not restarting.
const LONGEST_NS: u64 = 10 * SECOND;

/// A process that ended under load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restart {
    /// The process.
    pub(crate) pid: u32,
    /// How long it had lived.
    pub(crate) lived_ns: u64,
    /// The one that took its place.
    pub(crate) successor: Option<u32>,
    /// From the first of both events to when requests are answered again.
    pub(crate) span: Span,
}

/// A process, as it was read.
struct Life {
    pid: u32,
    born: Nanos,
    last: Nanos,
}

/// The processes that ended under load, in order of time; those that began a repeat with it or
/// lived for a moment are left out.
pub(crate) fn restarts(case: &Case<'_>) -> Vec<Restart> {
    let lives = lives(case);
    let loads = case
        .record
        .manifest
        .repeats
        .iter()
        .map(|repeat| repeat.load);
    let loads: Vec<Span> = loads.collect();
    let clock = case.series(&HOST_CPU_BUSY, &Subject::Host, "");
    let mut found = Vec::new();
    for life in &lives {
        let lived_ns = life.last.since(life.born);
        let load = loads
            .iter()
            .find(|load| load.begin < life.last && life.last < load.end);
        let (Some(load), true) = (load, lived_ns >= WORKER_LEAST_NS) else {
            continue;
        };
        if !has_ended(life, *load, clock) {
            continue;
        }
        let near = |other: &&Life| {
            other.pid != life.pid
                && other.born > load.begin
                && other.born.get().abs_diff(life.last.get()) <= SUCCEEDS_NS
        };
        let successor = lives.iter().filter(near);
        let successor = successor.min_by_key(|other| other.born.get().abs_diff(life.last.get()));
        let born = successor.map_or(life.last, |other| other.born);
        let begin = born.min(life.last).minus(MARGIN_NS);
        // What the old one still answers is no sign that the new one serves.
        let over = match successor {
            Some(_) => born.plus(TICK_NS).max(life.last),
            None => life.last.plus(MARGIN_NS),
        };
        let end = answered(case, over).min(load.end);
        found.push(Restart {
            pid: life.pid,
            lived_ns,
            successor: successor.map(|other| other.pid),
            span: Span::new(begin, end.max(begin)),
        });
    }
    found.sort_by_key(|restart| restart.span);
    found
}

/// When they happened, merged.
pub(crate) fn spans(restarts: &[Restart]) -> Vec<Span> {
    merged(restarts.iter().map(|restart| restart.span).collect())
}

/// When each process of the target began, by its id.
pub(crate) fn births(case: &Case<'_>) -> BTreeMap<u32, u64> {
    let lives = lives(case).into_iter();
    lives.map(|life| (life.pid, life.born.get())).collect()
}

fn lives(case: &Case<'_>) -> Vec<Life> {
    let of = |series: &Series| {
        let Subject::Process { pid } = series.subject else {
            return None;
        };
        let first = series.points.first()?.window.begin;
        let born = case
            .series(&PROCESS_AGE, &series.subject, "")
            .and_then(|age| age.points.first())
            .map(|point| point.window.end.minus(point.value.max(0.0) as u64));
        Some(Life {
            pid,
            born: born.unwrap_or(first).min(first),
            last: series.points.last()?.window.end,
        })
    };
    case.timeline()
        .all(&PROCESS_THREADS)
        .filter_map(of)
        .collect()
}

/// Whether readings went on without it while there was load.
fn has_ended(life: &Life, load: Span, clock: Option<&Series>) -> bool {
    let later = clock.map_or(0, |clock| {
        let after = |at: Nanos| at > life.last && at < load.end;
        clock.points.iter().filter(|p| after(p.window.end)).count()
    });
    later > READINGS_MISSED
}

/// When a request that was scheduled after an instant was answered, and a reading later; at most
/// [`LONGEST_NS`] after it.
fn answered(case: &Case<'_>, after: Nanos) -> Nanos {
    let mut first = after.plus(LONGEST_NS);
    for endpoint in &case.endpoints {
        let all = &endpoint.completed;
        // In order of schedule, and nothing is answered before it was scheduled.
        let from = all.partition_point(|&i| case.sample(i).scheduled() < after);
        let later = all[from..].iter().map(|&i| case.sample(i));
        for sample in later {
            if sample.scheduled() >= first {
                break;
            }
            first = first.min(sample.done());
        }
    }
    first.plus(MARGIN_NS)
}
