//! When the target's cgroup was kept off the CPUs.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::signal::{
    CGROUP_PERIOD, CGROUP_THROTTLED, HOST_CPUS, PROCESS_CPUS_ALLOWED, THREAD_RUN_DELAY,
};
use slowpath_core::timeline::{Series, Subject};

use crate::case::Case;

/// The kernel's default period (`default_cfs_period`, 100 ms), where it could not be read.
const PERIOD_DEFAULT_NS: f64 = 1e8;

/// Length of the enforcement period.
pub(crate) fn period_ns(case: &Case<'_>) -> f64 {
    let series = case.series(&CGROUP_PERIOD, &Subject::Target, "");
    series
        .and_then(|s| case.measured_mean(s))
        .unwrap_or(PERIOD_DEFAULT_NS)
}

/// How many CPUs the target may be on at once; `None` if that was not read.
pub(crate) fn cpus(case: &Case<'_>) -> Option<f64> {
    let host = case
        .series(&HOST_CPUS, &Subject::Host, "")
        .and_then(|s| case.measured_mean(s));
    let allowed = case.timeline().all(&PROCESS_CPUS_ALLOWED);
    let allowed = allowed
        .filter_map(|s| case.measured_mean(s))
        .reduce(f64::max);
    match (host, allowed) {
        (Some(host), Some(allowed)) => Some(host.min(allowed)),
        (one, other) => one.or(other),
    }
}

/// When the target's cgroup was throttled, ascending and disjoint; empty if that was not read.
///
/// The kernel adds the time up over the CPUs, and counts only those that had a thread to run. The
/// threads' run delay, which throttling is part of, shows how many those were.
pub(crate) fn throttled_spans(case: &Case<'_>) -> Vec<Span> {
    let Some(series) = case.series(&CGROUP_THROTTLED, &Subject::Target, "") else {
        return Vec::new();
    };
    let most = cpus(case).unwrap_or(1.0).max(1.0);
    let delays: Vec<&Series> = case.timeline().all(&THREAD_RUN_DELAY).collect();
    spans(series, period_ns(case) as u64, |within| {
        at_once(&delays, within).min(most)
    })
}

/// How many threads waited for a CPU alike in that time: n for n equal delays, 1 for one that
/// dwarfs the others (the square of the sum over the sum of squares); at least 1.
fn at_once(delays: &[&Series], within: Span) -> f64 {
    let delays = delays.iter().filter_map(|series| series.increase(within));
    let add = |(sum, squares): (f64, f64), delay: f64| (sum + delay, squares + delay * delay);
    let (sum, squares) = delays.fold((0.0, 0.0), add);
    if squares > 0.0 {
        (sum * sum / squares).max(1.0)
    } else {
        1.0
    }
}

/// The kernel books the time when throttling ends, so a step of the counter says: it ended just
/// before this reading, and began that long before, but at most one period.
fn spans(series: &Series, period_ns: u64, cpus: impl Fn(Span) -> f64) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (before, after) in series.points.iter().zip(series.points.iter().skip(1)) {
        let grown = after.value - before.value;
        if grown <= 0.0 {
            continue;
        }
        let end = after.window.end;
        let longest = period_ns.max(end.since(before.window.end));
        let within = Span::new(end.minus(longest), end);
        let length = ((grown / cpus(within)) as u64).min(longest);
        let begin = end.minus(length);
        let free: Nanos = spans.last().map_or(begin, |last| last.end.max(begin));
        spans.push(Span::new(free, end));
    }
    spans
}

#[cfg(test)]
mod tests {
    use slowpath_core::timeline::Point;

    use super::*;

    #[test]
    fn throttled_time_lies_before_the_reading_that_shows_it() {
        let at = |ns: u64, value: f64| Point {
            window: Span::new(Nanos::new(ns), Nanos::new(ns)),
            value,
        };
        let points = vec![
            at(1_000, 0.0),
            at(1_100, 60.0),
            at(1_200, 60.0),
            at(1_300, 500.0),
        ];
        let series = Series {
            signal: CGROUP_THROTTLED.id.to_owned(),
            subject: Subject::Target,
            label: String::new(),
            points,
        };
        let span = |a: u64, b: u64| Span::new(Nanos::new(a), Nanos::new(b));
        let expected = [span(1_040, 1_100), span(1_200, 1_300)];
        assert_eq!(spans(&series, 100, |_| 1.0), expected);
        let expected = [span(1_085, 1_100), span(1_200, 1_300)];
        assert_eq!(
            spans(&series, 100, |_| 4.0),
            expected,
            "four CPUs' times add up"
        );
    }
}
