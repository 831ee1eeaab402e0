//! Threads of the target in timed waits, held against requests that wait.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::signal::{PROCESS_THREADS_CALL, PROCESS_THREADS_WAIT, Signal, UPSTREAM_SOCKETS};
use slowpath_core::timeline::Subject;

use crate::case::Case;

/// Calls whose only purpose is to wait for a time; `wchan` names the kernel function for them.
const SLEEPS: [&str; 2] = ["clock_nanosleep", "nanosleep"];
/// The kernel function behind them (`kernel/time/hrtimer.c`).
const SLEEP_WCHAN: &str = "hrtimer_nanosleep";
/// Calls that wait for something, but for a limited time.
const TIMED: [&str; 8] = [
    "select",
    "pselect6",
    "poll",
    "ppoll",
    "futex",
    "epoll_wait",
    "epoll_pwait",
    "rt_sigtimedwait",
];
/// Fewer readings than this say nothing.
const READINGS_FEWEST: usize = 30;
/// As requests begin and end to wait, so many more or fewer threads sleep for each: the slope of
/// the regression of sleepers on waiting requests.
const SLOPE_AGREES: f64 = 0.5;
/// Below this variance of the number of waiting requests a slope means nothing …
const VARIANCE_LEAST: f64 = 0.05;
/// … and the level decides: sleepers for each waiting request, for calls that only sleep.
const LEVEL_AGREES: (f64, f64) = (0.5, 2.0);
/// A level needs more requests waiting at a time than one background thread could fake.
const LEVEL_WAITING: f64 = 1.5;

/// What the target's threads do while requests wait.
#[derive(Clone, Debug)]
pub(crate) struct Sleepers {
    /// The signal it was read from.
    pub(crate) pointer: &'static str,
    /// The best agreeing call: its name, slope or level, and mean number of threads in it.
    best: Option<Agreement>,
    /// Mean number of requests waiting.
    waiting: f64,
    /// Mean number of connections that the target opened itself.
    upstream: f64,
    /// Whether the threads' calls were read, but none was ever in one with a time limit.
    never_timed: bool,
}

#[derive(Clone, Debug)]
struct Agreement {
    call: String,
    slope: Option<f64>,
    mean: f64,
    only_sleeps: bool,
}

impl Sleepers {
    /// What else than a timer the target may wait for, if there is such a thing. After the first
    /// byte the threads need not wait at all: the kernel may have the rest.
    pub(crate) fn waits_elsewhere(&self, before_first_byte: bool) -> Option<String> {
        if self.upstream > 0.0 {
            let connections = self.upstream;
            return Some(format!(
                "the target keeps {connections:.1} connections of its own"
            ));
        }
        (self.never_timed && before_first_byte)
            .then(|| "its threads are never in a call with a time limit".to_owned())
    }

    /// The sentence that says so, if threads sleep just when requests wait. Waiting for somebody
    /// else has a time limit too, as a rule: where the target has connections of its own, only
    /// calls that do nothing but sleep count.
    pub(crate) fn agrees(&self) -> Option<String> {
        let counts = |best: &&Agreement| best.only_sleeps || self.upstream <= 0.0;
        let best = self.best.as_ref().filter(counts)?;
        let how = match best.slope {
            Some(slope) => format!("{slope:.2} threads more for each request that waits"),
            None => format!("{:.2} requests wait at a time", self.waiting),
        };
        Some(format!(
            "{:.2} threads of the target are in {} at a time; {how}",
            best.mean, best.call
        ))
    }
}

/// Holds the threads in timed waits against the waits of requests.
pub(crate) fn sleepers(case: &Case<'_>, waits: &[(u32, Span)]) -> Sleepers {
    let mut spans: Vec<Span> = waits.iter().map(|&(_, span)| span).collect();
    spans.sort_unstable();
    let waiting = Waiting::new(&spans);
    let upstream = case
        .series(&UPSTREAM_SOCKETS, &Subject::Target, "")
        .and_then(|s| case.measured_mean(s))
        .unwrap_or_default();
    let mut found = Sleepers {
        pointer: PROCESS_THREADS_CALL.id,
        best: None,
        waiting: waiting.mean(case),
        upstream,
        never_timed: case.timeline().all(&PROCESS_THREADS_CALL).next().is_some(),
    };
    for signal in [&PROCESS_THREADS_CALL, &PROCESS_THREADS_WAIT] {
        for (label, readings) in by_label(case, signal) {
            let sleeps = SLEEPS.contains(&label) || label == SLEEP_WCHAN;
            if !sleeps && !TIMED.contains(&label) {
                continue;
            }
            found.never_timed &= readings.iter().all(|&(_, threads)| threads == 0.0);
            let Some(agreement) = agreement(label, &readings, &waiting, sleeps) else {
                continue;
            };
            let of = |a: &Agreement| (a.only_sleeps, a.slope);
            let better = |old: &Agreement| of(&agreement) > of(old);
            if found.best.as_ref().is_none_or(better) {
                found.best = Some(agreement);
                found.pointer = signal.id;
            }
        }
    }
    found
}

/// Readings of one tick are taken one process after the other; what lies this close together is
/// one tick (the slowest probe takes a small part of its tenth of a second).
const TICK_NS: u64 = 50_000_000;

/// For each label of a signal the number of threads over all processes, tick by tick in the
/// measured windows. A label without a reading in a tick had no thread in it.
pub(crate) fn by_label<'a>(
    case: &Case<'a>,
    signal: &'a Signal,
) -> BTreeMap<&'a str, Vec<(Nanos, f64)>> {
    let inside = |at: Nanos| case.windows.iter().any(|w| w.begin <= at && at < w.end);
    let all = case
        .timeline()
        .all(signal)
        .flat_map(|s| s.points.iter().map(|p| p.window.end));
    let mut times: Vec<Nanos> = all.filter(|&at| inside(at)).collect();
    times.sort_unstable();
    let mut ticks: Vec<Nanos> = Vec::new();
    for at in times {
        if ticks.last().is_none_or(|last| at.since(*last) > TICK_NS) {
            ticks.push(at);
        }
    }
    let mut out: BTreeMap<&str, Vec<(Nanos, f64)>> = BTreeMap::new();
    for series in case.timeline().all(signal) {
        let readings = out
            .entry(series.label.as_str())
            .or_insert_with(|| ticks.iter().map(|&at| (at, 0.0)).collect());
        for point in series.points.iter().filter(|p| inside(p.window.end)) {
            let tick = ticks
                .partition_point(|&at| at <= point.window.end)
                .saturating_sub(1);
            readings[tick].1 += point.value;
        }
    }
    out
}

fn agreement(
    label: &str,
    readings: &[(Nanos, f64)],
    waiting: &Waiting,
    sleeps: bool,
) -> Option<Agreement> {
    let pairs: Vec<(f64, f64)> = readings
        .iter()
        .map(|&(at, threads)| (f64::from(waiting.at(at)), threads))
        .collect();
    if pairs.len() < READINGS_FEWEST {
        return None;
    }
    let n = pairs.len() as f64;
    let mean_x = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let variance = pairs.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>() / n;
    let covariance = pairs
        .iter()
        .map(|p| (p.0 - mean_x) * (p.1 - mean_y))
        .sum::<f64>()
        / n;
    let call = label.to_owned();
    if variance >= VARIANCE_LEAST {
        let slope = covariance / variance;
        return (slope >= SLOPE_AGREES).then_some(Agreement {
            call,
            slope: Some(slope),
            mean: mean_y,
            only_sleeps: sleeps,
        });
    }
    let level = mean_y / mean_x;
    let steady =
        sleeps && mean_x >= LEVEL_WAITING && (LEVEL_AGREES.0..=LEVEL_AGREES.1).contains(&level);
    steady.then_some(Agreement {
        call,
        slope: None,
        mean: mean_y,
        only_sleeps: true,
    })
}

/// How many requests wait at an instant.
struct Waiting {
    begins: Vec<Nanos>,
    ends: Vec<Nanos>,
}

impl Waiting {
    fn new(spans: &[Span]) -> Self {
        let mut ends: Vec<Nanos> = spans.iter().map(|s| s.end).collect();
        ends.sort_unstable();
        Self {
            begins: spans.iter().map(|s| s.begin).collect(),
            ends,
        }
    }

    fn at(&self, at: Nanos) -> u32 {
        let begun = self.begins.partition_point(|&b| b <= at);
        let ended = self.ends.partition_point(|&e| e <= at);
        (begun - ended) as u32
    }

    fn mean(&self, case: &Case<'_>) -> f64 {
        let total: u64 = self.ends.iter().map(|e| e.get()).sum::<u64>()
            - self.begins.iter().map(|b| b.get()).sum::<u64>();
        total as f64 / (case.measured_ns().max(1)) as f64
    }
}
