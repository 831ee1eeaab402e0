//! The windows of one level together. The run is the unit: medians over windows, and extremes.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::settle::{Course, Ramp};
use slowpath_core::stats::spread;

use super::clusters::{RunMode, modes_of_runs};
use super::window::{Cpu, ErrorRate, Figure, Window};
use slowpath_core::stats::median::median;

/// Half a CPU more for other processes than beside the fastest window of the same level: on a host
/// of two, a quarter of what there is.
const DISTURBED_CPUS: f64 = 0.5;
/// A quarter of the time, something of ours that was ready to run did not get a CPU.
const WAITED_CPUS: f64 = 0.25;

/// A figure over the windows of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// The median window.
    pub median: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// One level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// Connections, requests a second, or bytes.
    pub level: f64,
    /// Windows that the figures rest on.
    pub windows: u32,
    /// Of these, those in which the client was the limit.
    pub client_limited: u32,
    /// Of these, those that are invalid otherwise.
    pub invalid: u32,
    /// Windows left out of all figures here, since other processes took CPUs that target or
    /// slowpath waited for.
    pub disturbed: u32,
    /// Offered requests a second, median.
    pub offered_per_s: f64,
    /// Completed requests as a share of those offered, over all windows.
    pub served: f64,
    /// Completed requests a second, after the ramp where there was one. The true median lies
    /// between the lowest and the highest of three windows with 75 % confidence, of five with
    /// 94 %.
    pub per_s: Range,
    /// That confidence.
    pub confidence: f64,
    /// Median over the windows' medians, with the extremes.
    pub p50_ms: Figure,
    /// Median over the windows' 99th percentiles, with the extremes.
    pub p99_ms: Figure,
    /// Failures of all windows, rates over their time.
    pub errors: Vec<ErrorRate>,
    /// Median of the CPUs that the target used.
    pub server_cpu: Option<Cpu>,
    /// Median of the CPUs that slowpath used.
    pub client_cpu: Option<Cpu>,
    /// Median of the CPUs that others than the two used.
    pub others_cpu: Option<f64>,
    /// Connections dialled for each offered request, median.
    pub dials_per_request: f64,
    /// Median share of the users' time in requests that were completed; `null` in an open loop.
    pub waiting_share: Option<f64>,
    /// Median share of their time in requests that failed or hung until the end; `null` in an open
    /// loop.
    pub lost_share: Option<f64>,
    /// Users over throughput, in milliseconds: the mean latency by Little's law; median.
    pub little_ms: Option<f64>,
    /// The mean latency of completed requests, in milliseconds; median.
    pub mean_ms: Option<f64>,
    /// Windows in which Little's law does not hold.
    pub little_violated: u32,
    /// Jain's index of what users or connections were served, median.
    pub jain: Option<f64>,
    /// Share of users or connections that were served nothing, median.
    pub never_served: Option<f64>,
    /// Windows in which some got much less than others, beyond chance.
    pub unfair: u32,
    /// Median latency of the first request of a connection, in milliseconds; median.
    pub first_ms: Option<f64>,
    /// The same of later requests.
    pub later_ms: Option<f64>,
    /// The course over time that all of its windows agree on, the mildest of theirs; `null` if
    /// fewer than two could be judged (or the only one could not). What only some windows do is
    /// the host's doing, or chance.
    pub ramp: Option<Ramp>,
    /// The modes into which its runs fall; one if nothing sets them apart. Positions are among its
    /// windows that count, in the order of measuring.
    pub modes: Vec<RunMode>,
    /// The causes that ranked first, most frequent first, with the number of windows.
    pub causes: Vec<(String, u32)>,
}

impl Level {
    /// Whether most of its windows say something about the target.
    pub fn counts(&self) -> bool {
        2 * (self.client_limited + self.invalid) < self.windows
    }

    /// The throughput of one of its windows to reckon with: that after the ramp, where its windows
    /// agree that there is one. A part of a window that is chosen by its own figures is a better
    /// part by chance.
    pub fn per_s_of(&self, window: &Window) -> f64 {
        match (self.ramp, window.settled_per_s) {
            (Some(Ramp::Fast | Ramp::Slow), Some(after)) => after,
            _ => window.per_s,
        }
    }

    /// Failed requests as a share of those offered.
    pub fn failing(&self) -> f64 {
        self.errors.iter().fold(0.0, |sum, e| sum + e.share)
    }

    fn of(level: f64, all: &[&Window]) -> Self {
        let windows: &[&Window] = &undisturbed(all);
        let seconds: f64 = windows.iter().map(|w| w.seconds).sum();
        let sum = |count: fn(&Window) -> u64| windows.iter().map(|&w| count(w)).sum::<u64>() as f64;
        let number = |test: fn(&Window) -> bool| windows.iter().filter(|w| test(w)).count() as u32;
        let offered = sum(|w| w.offered);
        let mut own = Self {
            level,
            windows: windows.len() as u32,
            disturbed: (all.len() - windows.len()) as u32,
            client_limited: number(|w| w.client_limited.is_some()),
            invalid: number(|w| w.invalid.is_some() && w.client_limited.is_none()),
            offered_per_s: middle(windows, |w| {
                (w.seconds > 0.0).then(|| w.offered as f64 / w.seconds)
            })
            .unwrap_or_default(),
            served: if offered > 0.0 {
                sum(|w| w.completed) / offered
            } else {
                0.0
            },
            per_s: range(&[]),
            confidence: spread::confidence(windows.len()),
            p50_ms: figure(windows, |w| &w.p50_ms),
            p99_ms: figure(windows, |w| &w.p99_ms),
            errors: errors(windows, seconds, offered),
            server_cpu: cpu(windows, |w| w.server_cpu),
            client_cpu: cpu(windows, |w| w.client_cpu),
            others_cpu: middle(windows, |w| w.others_cpu),
            dials_per_request: middle(windows, |w| Some(w.dials_per_request)).unwrap_or_default(),
            waiting_share: middle(windows, |w| w.little.map(|l| l.completed)),
            lost_share: middle(windows, |w| w.little.map(|l| l.lost())),
            little_ms: middle(windows, |w| w.little.and_then(|l| l.expected_ms)),
            mean_ms: middle(windows, |w| w.little.and_then(|l| l.mean_ms)),
            little_violated: number(|w| w.little.is_some_and(|l| l.is_violated())),
            jain: middle(windows, |w| w.fairness.map(|f| f.jain)),
            never_served: middle(windows, |w| w.fairness.map(|f| f.never)),
            unfair: number(|w| w.fairness.is_some_and(|f| f.is_unfair())),
            first_ms: middle(windows, |w| w.first_request.map(|f| f.first_ms)),
            later_ms: middle(windows, |w| w.first_request.and_then(|f| f.later_ms)),
            ramp: agreed_ramp(windows),
            modes: Vec::new(),
            causes: causes(windows),
        };
        let rates: Vec<f64> = windows.iter().map(|w| own.per_s_of(w)).collect();
        own.per_s = range(&rates);
        let counting = windows.iter().filter(|w| w.counts());
        let counting: Vec<f64> = counting.map(|w| own.per_s_of(w)).collect();
        own.modes = modes_of_runs(&counting);
        own
    }
}

/// Windows that other processes held up are not the target's doing: beside them others used more
/// CPU than beside the fastest window of their level, and target or slowpath waited longer for
/// one. Either alone says nothing: a target that is stuck leaves its CPUs to others, and one that
/// is overloaded waits for CPUs that it uses itself.
pub(super) fn undisturbed<'a>(level: &[&'a Window]) -> Vec<&'a Window> {
    let fastest = level.iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s));
    let Some(fastest) = fastest else {
        return Vec::new();
    };
    let calm = |w: &&Window| !is_held_up(w, fastest);
    level.iter().copied().filter(calm).collect()
}

/// Whether other processes took CPUs beside a window, and something of ours waited for them, more
/// than beside another.
pub(super) fn is_held_up(window: &Window, beside: &Window) -> bool {
    let more = |own: Option<f64>, quiet: Option<f64>, by: f64| match (own, quiet) {
        (Some(own), Some(quiet)) => own - quiet >= by,
        _ => false,
    };
    more(window.others_cpu, beside.others_cpu, DISTURBED_CPUS)
        && more(window.waited_cpu, beside.waited_cpu, WAITED_CPUS)
}

/// The mildest course of all windows if all that could be judged went the same way.
fn agreed_ramp(windows: &[&Window]) -> Option<Ramp> {
    let courses: Vec<Course> = windows.iter().filter_map(|w| w.course).collect();
    if courses.len() < windows.len().min(2) {
        return None;
    }
    let mildest = courses.iter().map(|c| c.ramp).min()?;
    let rising = courses.iter().filter(|c| c.start_ratio < 1.0).count();
    let one_way = rising == 0 || rising == courses.len();
    Some(match mildest {
        Ramp::Fast | Ramp::Slow if !one_way => Ramp::None,
        agreed => agreed,
    })
}

/// All levels in ascending order.
pub fn levels(windows: &[Window]) -> Vec<Level> {
    let mut values: Vec<f64> = windows.iter().map(|w| w.level).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let of = |level: f64| {
        let own = windows.iter().filter(|w| w.level.total_cmp(&level).is_eq());
        Level::of(level, &own.collect::<Vec<&Window>>())
    };
    values.into_iter().map(of).collect()
}

fn range(values: &[f64]) -> Range {
    Range {
        median: median(&mut values.to_vec()).unwrap_or_default(),
        low: values.iter().copied().reduce(f64::min).unwrap_or_default(),
        high: values.iter().copied().reduce(f64::max).unwrap_or_default(),
    }
}

/// The median over windows that know it.
fn middle(windows: &[&Window], of: impl Fn(&Window) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = windows.iter().filter_map(|w| of(w)).collect();
    median(&mut values)
}

fn cpu(windows: &[&Window], of: impl Fn(&Window) -> Option<Cpu>) -> Option<Cpu> {
    Some(Cpu {
        user: middle(windows, |w| of(w).map(|c| c.user))?,
        system: middle(windows, |w| of(w).map(|c| c.system))?,
    })
}

/// The median of a percentile with the extremes, if more than half of the windows know it. One
/// window keeps its own interval.
fn figure(windows: &[&Window], of: impl Fn(&Window) -> &Figure) -> Figure {
    if let [window] = windows {
        return of(window).clone();
    }
    let values: Vec<f64> = windows.iter().filter_map(|w| of(w).value).collect();
    if 2 * values.len() <= windows.len() {
        let reason = windows.iter().find_map(|w| of(w).reason.clone());
        return Figure {
            reason,
            ..Figure::default()
        };
    }
    let all = range(&values);
    Figure {
        value: Some(all.median),
        low: Some(all.low),
        high: Some(all.high),
        reason: None,
    }
}

fn errors(windows: &[&Window], seconds: f64, offered: f64) -> Vec<ErrorRate> {
    let mut all: Vec<ErrorRate> = Vec::new();
    for error in windows.iter().flat_map(|w| &w.errors) {
        let same = |e: &&mut ErrorRate| {
            (&e.class, &e.phase, &e.errno, e.status)
                == (&error.class, &error.phase, &error.errno, error.status)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => all.push(error.clone()),
        }
    }
    for error in &mut all {
        error.per_s = if seconds > 0.0 {
            error.count as f64 / seconds
        } else {
            0.0
        };
        error.share = if offered > 0.0 {
            error.count as f64 / offered
        } else {
            0.0
        };
    }
    all.sort_by_key(|e| std::cmp::Reverse(e.count));
    all
}

fn causes(windows: &[&Window]) -> Vec<(String, u32)> {
    let mut all: Vec<(String, u32)> = Vec::new();
    for cause in windows.iter().filter_map(|w| w.cause.as_ref()) {
        match all.iter_mut().find(|(name, _)| name == cause) {
            Some((_, count)) => *count += 1,
            None => all.push((cause.clone(), 1)),
        }
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}
