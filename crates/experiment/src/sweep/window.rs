//! One measured window at one level: its figures, from its record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::{ConnectionUse, Model, PoolOpen, PoolReuse};
use slowpath_core::signal::{
    HOST_CPU_BUSY, PROCESS_CPU_SYSTEM, PROCESS_CPU_USER, Signal, THREAD_RUN_DELAY, TOOL_CPU_SYSTEM,
    TOOL_CPU_USER, TOOL_LOOP_RUN_DELAY,
};
use slowpath_core::stats::batches::{self, Batches};
use slowpath_core::stats::quantile::{quantiles, type_1};
use slowpath_core::stats::settle::{Course, Ramp, settle, throughput};

use super::fairness::{Fairness, fairness};
use super::little::Little;
use super::plan::Cell;

/// A percentile in milliseconds, or why it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Its value; `null` when it cannot be said.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Why there is no value.
    pub reason: Option<String>,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorRate {
    /// The class, as in `samples.parquet`.
    pub class: String,
    /// The phase in which they happened.
    pub phase: String,
    /// The name of the errno, if there was one.
    pub errno: Option<String>,
    /// The HTTP status, for one that was not expected.
    pub status: Option<u16>,
    /// How many.
    pub count: u64,
    /// How many a second.
    pub per_s: f64,
    /// Their share of the offered requests.
    pub share: f64,
}

/// CPUs used, on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

/// The first request of each connection against those after it, warm-up included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstRequest {
    /// Connections that answered a first request.
    pub connections: u64,
    /// Median latency of first requests, dialling included, in milliseconds.
    pub first_ms: f64,
    /// The longest of them.
    pub first_max_ms: f64,
    /// Median latency of later requests; `null` if there were none.
    pub later_ms: Option<f64>,
}

/// What the judgement of the run says that its record alone does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Failures, with their counts; rates are filled in here.
    pub errors: Vec<ErrorRate>,
    /// Why the client was the limit, if it was.
    pub client_limited: Option<String>,
    /// Why the window is invalid otherwise.
    pub invalid: Option<String>,
    /// The cause that ranks first, if any was found.
    pub cause: Option<String>,
}

/// The figures of one window. Those of latency are of completed requests; requests that were not
/// answered count as slower than all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// The level.
    pub level: f64,
    /// Which of the level's windows, from 0.
    pub repeat: u32,
    /// Its run record, relative to the sweep's directory.
    pub dir: String,
    /// Length in seconds.
    pub seconds: f64,
    /// Requests that were wanted.
    pub offered: u64,
    /// Of these, completed.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Neither: the end of the window overtook them, or no connection became free.
    pub unfinished: u64,
    /// Completed a second.
    pub per_s: f64,
    /// Completed a second after the ramp; `null` without a ramp that reaches into the window.
    pub settled_per_s: Option<f64>,
    /// Median latency.
    pub p50_ms: Figure,
    /// 99th percentile.
    pub p99_ms: Figure,
    /// Failures by class, phase and errno.
    pub errors: Vec<ErrorRate>,
    /// Connections dialled in the window for each offered request.
    pub dials_per_request: f64,
    /// Where the users' time went; `null` for an open loop.
    pub little: Option<Little>,
    /// How evenly users (closed loop) or connections (open loop) were served.
    pub fairness: Option<Fairness>,
    /// First requests of connections; `null` if none was answered.
    pub first_request: Option<FirstRequest>,
    /// CPUs the target used; `null` if it cannot be seen.
    pub server_cpu: Option<Cpu>,
    /// CPUs slowpath used.
    pub client_cpu: Option<Cpu>,
    /// CPUs that others than the target and slowpath used; `null` if the target cannot be seen.
    pub others_cpu: Option<f64>,
    /// How much the target's threads and slowpath's loops waited for a CPU, in seconds a second;
    /// `null` if that cannot be seen.
    pub waited_cpu: Option<f64>,
    /// The course of throughput from the first request on; `null` if there was too little.
    pub course: Option<Course>,
    /// Why the client was the limit; such a window is in no fit.
    pub client_limited: Option<String>,
    /// Why the window is invalid otherwise; such a window is in no fit.
    pub invalid: Option<String>,
    /// The cause that ranks first in the run.
    pub cause: Option<String>,
}

impl Window {
    /// The figures of a recorded run of one repeat; `None` if it holds none.
    pub fn of(record: &RunRecord, cell: Cell, dir: String, told: Told) -> Option<Self> {
        let view = View::new(record)?;
        let seconds = view.window.len_ns() as f64 / 1e9;
        let tallies = &record.manifest.repeats.first()?.endpoints;
        let offered: u64 = tallies.iter().map(|t| t.offered).sum();
        let count = |wanted: fn(Outcome) -> bool| {
            view.measured().filter(|s| wanted(s.outcome())).count() as u64
        };
        let completed = count(|o| o == Outcome::Ok);
        let failed = count(Outcome::is_error);
        let course = view.course();
        let [p50_ms, p99_ms] = view.percentiles(offered);
        let dials = record
            .samples
            .iter()
            .filter_map(slowpath_core::samples::SampleRef::connect_begin);
        let dials = dials
            .filter(|&at| view.window.begin <= at && at < view.window.end)
            .count();
        let per = |count: u64, of: f64| if of > 0.0 { count as f64 / of } else { 0.0 };
        let rated = |e: ErrorRate| ErrorRate {
            per_s: per(e.count, seconds),
            share: per(e.count, offered as f64),
            ..e
        };
        Some(Self {
            level: cell.level,
            repeat: cell.repeat,
            dir,
            seconds,
            offered,
            completed,
            failed,
            unfinished: offered.saturating_sub(completed + failed),
            per_s: per(completed, seconds),
            settled_per_s: course.and_then(|course| view.settled_per_s(course)),
            p50_ms,
            p99_ms,
            errors: told.errors.into_iter().map(rated).collect(),
            dials_per_request: per(dials as u64, offered as f64),
            little: view.little(),
            fairness: view.fairness(),
            first_request: view.first_request(),
            server_cpu: view.cpu(&PROCESS_CPU_USER, &PROCESS_CPU_SYSTEM),
            client_cpu: view.cpu(&TOOL_CPU_USER, &TOOL_CPU_SYSTEM),
            others_cpu: view.others_cpu(),
            waited_cpu: view.waited_cpu(),
            course,
            client_limited: told.client_limited,
            invalid: told.invalid,
            cause: told.cause,
        })
    }

    /// Completed requests as a share of those offered.
    pub fn served(&self) -> f64 {
        if self.offered == 0 {
            0.0
        } else {
            self.completed as f64 / self.offered as f64
        }
    }

    /// Failed requests as a share of those offered.
    pub fn failing(&self) -> f64 {
        if self.offered == 0 {
            0.0
        } else {
            self.failed as f64 / self.offered as f64
        }
    }

    /// Whether it says something about the target.
    pub fn counts(&self) -> bool {
        self.client_limited.is_none() && self.invalid.is_none()
    }
}

/// A record of one repeat.
struct View<'a> {
    record: &'a RunRecord,
    window: Span,
    load: Span,
}

impl<'a> View<'a> {
    fn new(record: &'a RunRecord) -> Option<Self> {
        let repeat = record.manifest.repeats.first()?;
        let (window, load) = (repeat.window, repeat.load);
        (window.len_ns() > 0).then_some(Self {
            record,
            window,
            load,
        })
    }

    fn measured(&self) -> impl Iterator<Item = SampleRef<'a>> {
        self.record
            .samples
            .iter()
            .filter(|s| s.stage() == Stage::Measured)
    }

    fn model(&self) -> &Model {
        &self.record.manifest.plan.scenario.load.model
    }

    /// p50 and p99. What was offered and not answered counts as slower.
    fn percentiles(&self, offered: u64) -> [Figure; 2] {
        let whole = batches::Window {
            begin_ns: self.window.begin.get(),
            end_ns: self.window.end.get(),
        };
        let cut = Batches::new(&[whole]);
        let batch = |s: SampleRef<'_>| cut.of(0, s.scheduled().get());
        let ok = |s: &SampleRef<'_>| s.outcome() == Outcome::Ok;
        let values: Vec<(u32, u64)> = self
            .measured()
            .filter(ok)
            .map(|s| (batch(s), s.latency_ns()))
            .collect();
        let mut censored: Vec<u32> = self
            .measured()
            .filter(|s| s.outcome().is_censored())
            .map(batch)
            .collect();
        // What was never sent has no sample; it was due last.
        let sent = self.measured().count() as u64;
        let last = cut.count().saturating_sub(1);
        censored.extend((sent..offered).map(|_| last));
        let found = quantiles(&values, cut.count(), &censored, &[0.5, 0.99]);
        let ms = |ns: u64| Some(ns as f64 / 1e6);
        let mut figures = found.into_iter().map(|estimate| match estimate {
            Ok(e) => Figure {
                value: ms(e.value),
                low: ms(e.low),
                high: ms(e.high),
                reason: None,
            },
            Err(why) => Figure {
                reason: Some(why.to_string()),
                ..Figure::default()
            },
        });
        let mut next = || figures.next().unwrap_or_default();
        [next(), next()]
    }

    /// The course of throughput from the first request to the end of the window.
    fn course(&self) -> Option<Course> {
        let ok = self
            .record
            .samples
            .iter()
            .filter(|s| s.outcome() == Outcome::Ok);
        settle(&throughput(
            self.load.begin.get(),
            self.window.end.get(),
            ok.map(|s| s.done().get()),
        )?)
    }

    /// Throughput of what is left of the window after a ramp.
    fn settled_per_s(&self, course: Course) -> Option<f64> {
        let whole_ns = self.window.end.since(self.load.begin);
        let after_ns = whole_ns * course.settled_at as u64 / course.windows as u64;
        let begin = self.load.begin.plus(after_ns);
        if !matches!(course.ramp, Ramp::Fast | Ramp::Slow)
            || begin <= self.window.begin
            || begin >= self.window.end
        {
            return None;
        }
        let inside = |s: &SampleRef<'_>| {
            s.outcome() == Outcome::Ok && begin <= s.done() && s.done() < self.window.end
        };
        let done = self.record.samples.iter().filter(inside).count();
        Some(done as f64 / (self.window.end.since(begin) as f64 / 1e9))
    }

    fn little(&self) -> Option<Little> {
        let Model::Closed { users, think, .. } = self.model() else {
            return None;
        };
        let think_ns = think.mean_ns();
        Little::of(&self.record.samples, self.window, *users, think_ns)
    }

    fn fairness(&self) -> Option<Fairness> {
        let mut served: BTreeMap<u32, u64> = BTreeMap::new();
        let is_closed = match self.model() {
            Model::Closed { users, .. } => {
                served.extend((0..*users).map(|user| (user, 0)));
                true
            }
            Model::Open { .. } => false,
        };
        let load = &self.record.manifest.plan.scenario.load;
        // Only connections that are all open and take turns are to be served alike.
        let take_turns = load.connection == ConnectionUse::Pool
            && load.reuse == PoolReuse::Oldest
            && load.open == PoolOpen::AtStart;
        if !is_closed && !take_turns {
            return None;
        }
        for sample in self.measured() {
            let who = if is_closed {
                sample.user()
            } else {
                sample.connection()
            };
            if who != NONE {
                *served.entry(who).or_default() += u64::from(sample.outcome() == Outcome::Ok);
            }
        }
        let counts: Vec<u64> = served.into_values().collect();
        fairness(&counts)
    }

    fn first_request(&self) -> Option<FirstRequest> {
        let mut first = Vec::new();
        let mut later = Vec::new();
        for sample in &self.record.samples {
            if sample.outcome() == Outcome::Ok && sample.connection() != NONE {
                let all = if sample.index_on_connection() == 0 {
                    &mut first
                } else {
                    &mut later
                };
                all.push(sample.latency_ns());
            }
        }
        first.sort_unstable();
        later.sort_unstable();
        let ms = |ns: u64| ns as f64 / 1e6;
        Some(FirstRequest {
            connections: first.len() as u64,
            first_ms: ms(type_1(&first, 0.5)?),
            first_max_ms: ms(*first.last()?),
            later_ms: type_1(&later, 0.5).map(ms),
        })
    }

    /// CPUs used, by a counter of nanoseconds over all that it is kept for.
    fn cpus(&self, signal: &'static Signal) -> Option<f64> {
        let series = self.record.timeline.all(signal);
        let used = series
            .filter_map(|s| s.increase(self.window))
            .reduce(|a, b| a + b)?;
        Some(used / self.window.len_ns() as f64)
    }

    fn cpu(&self, user: &'static Signal, system: &'static Signal) -> Option<Cpu> {
        Some(Cpu {
            user: self.cpus(user)?,
            system: self.cpus(system)?,
        })
    }

    fn waited_cpu(&self) -> Option<f64> {
        Some(self.cpus(&THREAD_RUN_DELAY)? + self.cpus(&TOOL_LOOP_RUN_DELAY)?)
    }

    fn others_cpu(&self) -> Option<f64> {
        let own = [
            self.cpu(&PROCESS_CPU_USER, &PROCESS_CPU_SYSTEM)?,
            self.cpu(&TOOL_CPU_USER, &TOOL_CPU_SYSTEM)?,
        ];
        let own: f64 = own.iter().map(|c| c.user + c.system).sum();
        Some((self.cpus(&HOST_CPU_BUSY)? - own).max(0.0))
    }
}
