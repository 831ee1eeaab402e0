//! The CPUs that the target could have, and what its threads had of them.

use slowpath_core::nanos::Span;
use slowpath_core::signal::{THREAD_RUN, THREAD_RUN_DELAY};
use slowpath_core::timeline::Series;

use crate::case::Case;
use crate::host_cpu::HostCpu;
use crate::overlap::parts;
use crate::queueing::somebody_always_runs;
use crate::throttling::{cpus, throttled_spans};

/// A thread or machine is saturated when it ran, or waited to run, for this share of the time:
/// what is left is less than the scatter of 10 Hz readings.
const BUSY: f64 = 0.95;
/// … of which it really ran for at least this share: on a small host slowpath and the kernel take the rest.
const RAN: f64 = 0.6;
/// Where others use so much of the host's CPU time …
const OTHERS_LEAST: f64 = 0.25;
/// … it has to be this share: otherwise they took its CPUs, and the cause is theirs. Beside compilers that had 71 %
/// of two CPUs a target that used 0.49 on average had 0.6 to 0.7 of what it wanted.
const RAN_BESIDE_OTHERS: f64 = 0.75;
/// Threads that take turns (an interpreter's lock) use one CPU's worth between them: never more
/// than this …
const TURNS_MOST: f64 = 1.08;
/// … and in a saturated stretch never less than this.
const TURNS_LEAST: f64 = 0.9;
/// Share of all stretches that must stay below [`TURNS_MOST`] for the threads to be taking turns:
/// independent threads at such a load would exceed one CPU in about half of them.
const TURNS_KEPT: f64 = 0.95;

/// What the target's threads did between two readings, in CPUs.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) span: Span,
    pub(crate) run: f64,
    wanted: f64,
    /// The busiest thread's share of running, and of running or waiting to run.
    busiest_run: f64,
    busiest_wanted: f64,
}

/// How the target's CPU use is limited.
#[derive(Debug)]
pub(crate) struct Limit {
    cpus: f64,
    takes_turns: bool,
    threaded: bool,
    /// The share of what it wants that the target must have had.
    ran_least: f64,
}

impl Limit {
    pub(crate) fn of(case: &Case<'_>) -> Self {
        let cpus = cpus(case).unwrap_or(1.0);
        let all = stretches(case);
        let kept = all.iter().filter(|s| s.run <= TURNS_MOST).count() as f64;
        let busy = |of: fn(&Stretch) -> f64| all.iter().filter(|s| of(s) >= TURNS_LEAST).count();
        let single = busy(|s| s.busiest_run) * 2 >= busy(|s| s.wanted);
        let kept = kept >= TURNS_KEPT * all.len() as f64;
        let takes_turns = cpus > 1.5 && kept && somebody_always_runs(case);
        let host = HostCpu::within(case, &case.windows);
        let pressed = host.is_some_and(|host| host.others >= OTHERS_LEAST);
        Self {
            cpus,
            takes_turns,
            threaded: single,
            ran_least: if pressed { RAN_BESIDE_OTHERS } else { RAN },
        }
    }

    pub(crate) fn reached(&self, s: &Stretch) -> bool {
        let one = s.busiest_wanted >= BUSY && s.busiest_run >= self.ran_least;
        let all = s.wanted >= BUSY * self.cpus && s.run >= self.ran_least * self.cpus;
        let turns = self.takes_turns && s.run >= TURNS_LEAST;
        one || all || turns
    }

    pub(crate) fn describe(&self) -> String {
        if self.threaded {
            "one thread never rests".to_owned()
        } else if self.takes_turns {
            "its threads take turns on one CPU's worth of time".to_owned()
        } else {
            format!("all {:.0} CPUs it may use are in use", self.cpus)
        }
    }
}

/// The stretches between readings in the measured windows, without those in which the cgroup was
/// throttled: there a thread is runnable but its quota, not the CPU, is what is missing.
pub(crate) fn stretches(case: &Case<'_>) -> Vec<Stretch> {
    let throttled = throttled_spans(case);
    let threads: Vec<(&Series, Option<&Series>)> = case
        .timeline()
        .all(&THREAD_RUN)
        .map(|run| (run, case.series(&THREAD_RUN_DELAY, &run.subject, "")))
        .collect();
    let mut out = Vec::new();
    for grid in grid(case) {
        if parts(&throttled, grid).next().is_some() {
            continue;
        }
        let length = grid.len_ns() as f64;
        let mut stretch = Stretch {
            span: grid,
            run: 0.0,
            wanted: 0.0,
            busiest_run: 0.0,
            busiest_wanted: 0.0,
        };
        for (run, delay) in &threads {
            let Some(ran) = run.increase(grid) else {
                continue;
            };
            let waited = delay.and_then(|d| d.increase(grid)).unwrap_or_default();
            let (ran, wanted) = (ran / length, (ran + waited) / length);
            stretch.run += ran;
            stretch.wanted += wanted;
            if wanted > stretch.busiest_wanted {
                (stretch.busiest_run, stretch.busiest_wanted) = (ran, wanted);
            }
        }
        out.push(stretch);
    }
    out
}

/// Fifths of a second over the measured windows: two readings at 10 Hz in each.
pub(crate) fn grid<'a>(case: &'a Case<'_>) -> impl Iterator<Item = Span> + 'a {
    const STEP_NS: u64 = 200_000_000;
    let observed = case.timeline().all(&THREAD_RUN).next().is_some();
    let windows = case.windows.iter().filter(move |_| observed);
    windows.flat_map(|window| {
        let steps = window.len_ns() / STEP_NS;
        (0..steps).map(move |i| {
            let begin = window.begin.plus(i * STEP_NS);
            Span::new(begin, begin.plus(STEP_NS))
        })
    })
}
