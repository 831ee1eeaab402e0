//! Threads of the target in timed waits, compared with requests that wait.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::signal::{
    PROCESS_THREADS_CALL, PROCESS_THREADS_STATE, PROCESS_THREADS_WAIT, Signal, UPSTREAM_SOCKETS,
    UPSTREAM_UDP_SOCKETS, UPSTREAM_UNIX_SOCKETS,
};
use slowpath_core::timeline::Subject;

use crate::case::Case;
use crate::computing::moments;

/// Calls whose only purpose is to wait for a time; `wchan` names the kernel function for them.
const SLEEPS: [&str; 2] = ["clock_nanosleep", "nanosleep"];
/// The kernel function of such sleeps (`kernel/time/hrtimer.c`).
const SLEEP_WCHAN: &str = "hrtimer_nanosleep";
/// Calls that wait for something, but for a limited time.
const TIMED: [&str; 9] = [
    "select",
    "pselect6",
    "poll",
    "ppoll",
    "futex",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "rt_sigtimedwait",
];
/// Fewer readings than this say nothing.
const READINGS_FEWEST: usize = 30;
/// As requests begin and end to wait, so many more or fewer threads sleep for each: the slope of
/// the regression of sleepers on waiting requests.
const SLOPE_AGREES: f64 = 0.5;
/// From this slope on nearly every request that waits has a sleeping thread of its own.
const SLOPE_STRONG: f64 = 0.8;
/// The calls in which an event loop waits for its next timer.
const LOOPS: [&str; 3] = ["epoll_wait", "epoll_pwait", "epoll_pwait2"];
/// In this share of the readings in which requests wait, the loop must have a timer to wait for.
const LOOP_TIMED: f64 = 0.5;
/// What the end of a label says of a call without a time limit.
const UNTIMED: &str = ":untimed";
/// So many threads in uninterruptible sleep for each waiting request may be what it waits for: a
/// disk, a file system over the network.
const DISK: f64 = 0.1;
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
    /// What else the target may wait for.
    elsewhere: Option<Doubt>,
    /// Why it is not known to be an event loop that waits for a timer; `None` if it is.
    no_loop: Option<Doubt>,
}

/// Why it is not known what the target waits for.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// A fragment that says it.
    pub(crate) why: String,
    /// What would show it; empty if only an experiment would.
    pub(crate) remedy: String,
}

impl Doubt {
    fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            remedy: String::new(),
        }
    }

    /// A signal that is missing, wholly or in part: what it would have said is not zero.
    fn missing(case: &Case<'_>, signal: &'static Signal, what: &str) -> Self {
        let gap = case.timeline().gap(signal);
        let reason = gap.map_or("not observed", |gap| gap.reason.as_str());
        Self {
            why: format!("{what} cannot be seen ({reason})"),
            remedy: gap.map_or_else(String::new, |gap| gap.remedy.clone()),
        }
    }
}

#[derive(Clone, Debug)]
struct Agreement {
    call: String,
    slope: Option<f64>,
    mean: f64,
    only_sleeps: bool,
}

impl Sleepers {
    /// Why a constant wait, without threads that sleep just then, is not known to be a timer.
    /// `None` for an event loop that has a timer to wait for and nothing else.
    pub(crate) fn doubt(&self) -> Option<&Doubt> {
        self.elsewhere.as_ref().or(self.no_loop.as_ref())
    }

    /// Whether nearly every waiting request has a thread that does nothing but sleep.
    pub(crate) fn agree_strongly(&self) -> bool {
        let strong = |best: &Agreement| best.only_sleeps && best.slope >= Some(SLOPE_STRONG);
        self.best.as_ref().is_some_and(strong)
    }

    /// The sentence that says so, if threads sleep just when requests wait. Waiting for another process
    /// has a time limit too, as a rule: unless it is known that the target has no process to
    /// wait for, only calls that do nothing but sleep count.
    pub(crate) fn agrees(&self) -> Option<String> {
        let counts = |best: &&Agreement| best.only_sleeps || self.elsewhere.is_none();
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
    let mut found = Sleepers {
        pointer: PROCESS_THREADS_CALL.id,
        best: None,
        waiting: waiting.mean(case),
        elsewhere: elsewhere(case, waiting.mean(case)),
        no_loop: no_loop(case, &waiting),
    };
    for signal in [&PROCESS_THREADS_CALL, &PROCESS_THREADS_WAIT] {
        for (label, readings) in by_label(case, signal) {
            let sleeps = is_sleep(label);
            if !sleeps && !TIMED.contains(&label) {
                continue;
            }
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

fn is_sleep(label: &str) -> bool {
    SLEEPS.contains(&label) || label == SLEEP_WCHAN
}

/// Which processes the target may wait for, or why that is not known: missing is not zero.
fn elsewhere(case: &Case<'_>, waiting: f64) -> Option<Doubt> {
    let kinds: [(&'static Signal, &str); 3] = [
        (&UPSTREAM_SOCKETS, "connections"),
        (&UPSTREAM_UNIX_SOCKETS, "connected UNIX sockets"),
        (&UPSTREAM_UDP_SOCKETS, "UDP sockets"),
    ];
    for (signal, what) in kinds {
        let of_its_own = format!("the target's {what}");
        let series = case.series(signal, &Subject::Target, "");
        match series.and_then(|series| case.measured_max(series)) {
            Some(0.0) if case.timeline().gap(signal).is_none() => {}
            Some(most) if most > 0.0 => {
                return Some(Doubt::new(format!(
                    "the target keeps {most:.0} {what} of its own"
                )));
            }
            _ => return Some(Doubt::missing(case, signal, &of_its_own)),
        }
    }
    let states = by_label(case, &PROCESS_THREADS_STATE);
    if states.values().all(Vec::is_empty) {
        return Some(Doubt::missing(
            case,
            &PROCESS_THREADS_STATE,
            "its threads' states",
        ));
    }
    let disk = states.get("D").map_or(&[][..], Vec::as_slice);
    let disk = disk.iter().map(|&(_, threads)| threads).sum::<f64>() / disk.len().max(1) as f64;
    (disk > DISK * waiting).then(|| {
        Doubt::new(format!(
            "{disk:.2} of its threads wait for a disk at a time"
        ))
    })
}

/// Whether the target is anything but an event loop that has a timer to wait for just when
/// requests wait, and no other call with a time limit.
fn no_loop(case: &Case<'_>, waiting: &Waiting) -> Option<Doubt> {
    let calls = by_label(case, &PROCESS_THREADS_CALL);
    let blank = calls.values().all(Vec::is_empty);
    if blank || case.timeline().gap(&PROCESS_THREADS_CALL).is_some() {
        return Some(Doubt::missing(
            case,
            &PROCESS_THREADS_CALL,
            "its threads' system calls",
        ));
    }
    let ever = |readings: &[(Nanos, f64)]| readings.iter().any(|&(_, threads)| threads > 0.0);
    let timed = calls
        .iter()
        .filter(|(label, readings)| !label.ends_with(UNTIMED) && ever(readings));
    let (loops, others): (Vec<_>, Vec<_>) = timed.partition(|(label, _)| LOOPS.contains(label));
    if let Some((label, _)) = others.first() {
        return Some(Doubt::new(format!("its threads are in {label} too")));
    }
    if loops.is_empty() {
        return Some(Doubt::new(
            "its threads are never in a call with a time limit",
        ));
    }
    let mut times: Vec<(Nanos, f64)> = loops[0].1.clone();
    for (_, readings) in &loops[1..] {
        times
            .iter_mut()
            .zip(readings.iter())
            .for_each(|(sum, (_, threads))| sum.1 += threads);
    }
    let while_waiting: Vec<f64> = times
        .iter()
        .filter(|(at, _)| waiting.at(*at) > 0)
        .map(|&(_, threads)| threads)
        .collect();
    let with_timer = while_waiting
        .iter()
        .filter(|&&threads| threads > 0.0)
        .count();
    let too_few = while_waiting.len() < READINGS_FEWEST;
    (too_few || (with_timer as f64) < LOOP_TIMED * while_waiting.len() as f64).then(|| {
        let of = while_waiting.len();
        Doubt::new(format!(
            "its event loop has a time limit in {with_timer} of {of} readings with requests waiting"
        ))
    })
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
    let (variance, covariance, (mean_x, mean_y)) = moments(&pairs);
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
