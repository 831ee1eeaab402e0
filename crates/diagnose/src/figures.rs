//! The figures of an endpoint: counts, percentiles with their intervals, modes, spread.

use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::spread::{Spread, both, map};
use slowpath_core::stats::batches::{Batches, Window};
use slowpath_core::stats::quantile::{QuantileEstimate, Undetermined, quantiles_of};
use slowpath_core::stats::selection::{Order, Selection};
use slowpath_core::stats::spread::spread;

use crate::bounds::Bounds;
use crate::by_repeat::by_repeat;
use crate::case::{Case, EndpointCase};
use crate::collections;
use crate::diagnosis::{EndpointFigures, Percentile, Percentiles};
use crate::failures;
use crate::health::spread_blame;
use crate::modes::Modes;
use crate::over_repeats::over_repeats;
use crate::scatter::Scatter;
use crate::server_timing;
use crate::settling::Courses;
use crate::shape::shape;
use crate::spans;
use crate::streams;
use crate::verdict::ms;

/// Decimal places of milliseconds in the report: nanoseconds.
const MS_DIGITS: f64 = 1e6;
/// Decimal places of shares in the report.
const SHARE_DIGITS: f64 = 1e6;

/// The figures of every endpoint.
pub(crate) fn figures_by(case: &Case<'_>, spread: &dyn Spread) -> Vec<EndpointFigures> {
    map(spread, case.endpoints.len(), |k| {
        figures(case, &case.endpoints[k], spread)
    })
}

/// The figures of one endpoint.
fn figures(case: &Case<'_>, endpoint: &EndpointCase, spread: &dyn Spread) -> EndpointFigures {
    let latencies_ms = || latencies(case, endpoint);
    let services_ms = || {
        let measure = |s: SampleRef<'_>| s.service_ns();
        let completed = endpoint.completed.iter();
        let mut services = Vec::with_capacity(endpoint.completed.len());
        services.extend(completed.filter_map(|&i| measure(case.sample(i))));
        let mut services = Selection::new(services);
        percentiles(case, endpoint, &mut services, Unanswered::TimedOut, measure)
    };
    let ((latency_ms, service_ms), errors) = both(
        spread,
        || both(spread, latencies_ms, services_ms),
        || failures::errors(case, endpoint),
    );
    let ((modes, shape), (courses, (mut by_repeat, medians))) = both(
        spread,
        || {
            let modes = Modes::of(case, endpoint);
            let shape = shape(case, endpoint, &modes, spread);
            (modes, shape)
        },
        || {
            let courses = || Courses::of(case, endpoint);
            both(spread, courses, || by_repeat(case, endpoint))
        },
    );
    let completed = endpoint.completed.len() as u64;
    let unfinished = endpoint.unfinished.len() as u64 + endpoint.unsent;
    let seconds = case.measured_ns() as f64 / 1e9;
    courses.tell(&mut by_repeat);
    EndpointFigures {
        name: endpoint.name.clone(),
        pass: None,
        requests: completed + endpoint.failed.len() as u64 + endpoint.unfinished.len() as u64,
        rate_per_s: round(
            if seconds > 0.0 {
                completed as f64 / seconds
            } else {
                0.0
            },
            1e3,
        ),
        offered: endpoint.offered,
        completed,
        unfinished,
        unsent: endpoint.unsent,
        served: served(completed, endpoint.offered),
        errors,
        latency_ms,
        service_ms,
        stream: streams::figures(case, endpoint),
        spans: spans::figures(case, endpoint),
        server_timing: server_timing::figures(case, endpoint),
        pauses: collections::figures(case, endpoint),
        run_spread: run_spread(&medians),
        spread_blame: spread_blame(case, &medians),
        over_repeats: over_repeats(&by_repeat),
        by_repeat,
        shape,
        modes: modes.figures,
        settling: courses.middle(),
    }
}

/// The percentiles of an endpoint's latency over all repeats.
pub(crate) fn latencies(case: &Case<'_>, endpoint: &EndpointCase) -> Percentiles {
    let mut latencies = endpoint.split.sorted_ns.as_slice();
    let measure = |s: SampleRef<'_>| Some(s.latency_ns());
    percentiles(case, endpoint, &mut latencies, Unanswered::All, measure)
}

/// The share of the offered that was completed.
fn served(completed: u64, offered: u64) -> f64 {
    match offered {
        0 => 1.0,
        _ => share(completed as f64 / offered as f64),
    }
}

/// Rounds to the digits a report shows, so that the last bits of sums do not.
pub(crate) fn round(value: f64, digits: f64) -> f64 {
    (value * digits).round() / digits
}

/// A share as reports hold it.
pub(crate) fn share(value: f64) -> f64 {
    round(value, SHARE_DIGITS)
}

/// Milliseconds as reports hold them.
pub(crate) fn millis(ns: f64) -> f64 {
    round(ms(ns), MS_DIGITS)
}

/// Which requests without a whole answer count as slower than every completed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unanswered {
    /// Those that timed out: the server had them for that long.
    TimedOut,
    /// Besides, those that were overtaken by the end of the run or never sent: they were offered
    /// and not answered. Leaving them out would show a server that cannot keep up as a fast one.
    All,
}

impl Scatter {
    /// The percentiles of values with their batches. Requests that were given up are slower than
    /// all of them, and so are the `unsent`, of which only the batches are known.
    fn percentiles(
        &self,
        measured: &mut impl Order,
        values: impl Iterator<Item = (u32, u64)>,
        given_up: &[SampleRef<'_>],
        unsent: Vec<u32>,
        measure: &impl Fn(SampleRef<'_>) -> Option<u64>,
    ) -> Percentiles {
        const PS: [f64; 6] = [0.5, 0.9, 0.95, 0.98, 0.99, 0.999];
        let bounds = Bounds::new(given_up, unsent.len(), measure);
        let mut censored: Vec<u32> = given_up.iter().map(|s| self.batch(*s)).collect();
        censored.extend(unsent);
        let found = quantiles_of(measured, values, self.batches.count(), &censored, &PS);
        let mut found = found.into_iter().zip(PS).map(|(estimate, p)| {
            let percentile = percentile(&estimate, p, measured, censored.len());
            match estimate {
                Err(Undetermined::Censored { .. }) => bounds.beside(measured, percentile, p),
                _ => percentile,
            }
        });
        let mut next = || found.next().unwrap_or_default();
        let [p50, p90, p95, p98, p99, p99_9] = [(); PS.len()].map(|()| next());
        drop(found);
        let max = measured
            .count()
            .checked_sub(1)
            .and_then(|last| measured.nth(last));
        Percentiles {
            p50,
            p90,
            p95,
            p98,
            p99,
            p99_9,
            max: match max {
                Some(max) if censored.is_empty() => Percentile {
                    value: Some(millis(max as f64)),
                    ..Percentile::default()
                },
                None if censored.is_empty() => refused("no samples"),
                _ => bounds.beside(
                    measured,
                    refused("requests were not answered: the longest is not known"),
                    1.0,
                ),
            },
        }
    }
}

/// The percentiles of a measure of some requests over all repeats; those that were `given_up` are
/// slower than all of them, and the measure says of them how slow at least.
pub(crate) fn percentiles_of(
    case: &Case<'_>,
    requests: &[SampleRef<'_>],
    given_up: &[SampleRef<'_>],
    measure: impl Fn(SampleRef<'_>) -> Option<u64>,
) -> Percentiles {
    let Some(scatter) = Scatter::new(case) else {
        return none("no measured window");
    };
    let of = |s: &SampleRef<'_>| Some((scatter.batch(*s), measure(*s)?));
    let mut measured: Selection = requests.iter().filter_map(|s| measure(*s)).collect();
    let values = requests.iter().filter_map(of);
    scatter.percentiles(&mut measured, values, given_up, Vec::new(), &measure)
}

/// The percentiles of a measure of an endpoint's requests over all repeats; `measured` gives it for
/// the completed ones.
fn percentiles(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    measured: &mut impl Order,
    unanswered: Unanswered,
    measure: impl Fn(SampleRef<'_>) -> Option<u64>,
) -> Percentiles {
    let Some(scatter) = Scatter::new(case) else {
        return none("no measured window");
    };
    let of = |&i: &u32| {
        let sample = case.sample(i);
        Some((scatter.batch(sample), measure(sample)?))
    };
    let values = endpoint.completed.iter().filter_map(of);
    let timed_out = endpoint.failed.iter().map(|&i| case.sample(i));
    let mut given_up: Vec<SampleRef<'_>> = timed_out
        .filter(|s| s.outcome() == Outcome::Timeout)
        .collect();
    let mut unsent = Vec::new();
    if unanswered == Unanswered::All {
        given_up.extend(endpoint.unfinished.iter().map(|&i| case.sample(i)));
        unsent = unsent_batches(case, endpoint, &scatter.batches, &scatter.windows);
    }
    scatter.percentiles(measured, values, &given_up, unsent, &measure)
}

/// The batches of requests that were never sent. Only their number is known, but not when they
/// were due; a queue that was never served holds those that were due last, so they fill the last
/// batches of their repeat, each with as many requests as were offered in a batch.
fn unsent_batches(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    batches: &Batches,
    windows: &[Window],
) -> Vec<u32> {
    let mut out = Vec::new();
    let repeats = case.record.manifest.repeats.iter();
    for (repeat, (facts, window)) in repeats.zip(windows).enumerate() {
        let tally = facts.endpoints.get(usize::from(endpoint.index));
        let tally = tally.copied().unwrap_or_default();
        let first = batches.of(repeat, window.begin_ns);
        let last = batches.of(repeat, window.end_ns);
        let each = tally.offered.div_ceil(u64::from(last - first + 1)).max(1);
        let back = |k: u64| u32::try_from(k / each).unwrap_or(u32::MAX);
        out.extend((0..tally.unsent).map(|k| last.saturating_sub(back(k)).max(first)));
    }
    out
}

fn percentile(
    estimate: &Result<QuantileEstimate, Undetermined>,
    p: f64,
    measured: &mut impl Order,
    censored: usize,
) -> Percentile {
    match estimate {
        Ok(e) => Percentile {
            value: Some(millis(e.value as f64)),
            above: None,
            censored_by: None,
            low: Some(millis(e.low as f64)),
            high: Some(millis(e.high as f64)),
            n: Some(e.n),
            n_eff: Some(round(e.n_eff, 10.0)),
            rank: Some(e.rank),
            deff: Some(round(e.deff, 1e3)),
            reason: e
                .is_optimistic()
                .then(|| "few requests lie beyond: the interval covers less than 95 % if they come in bursts".to_owned()),
        },
        Err(why) => Percentile {
            n: Some((measured.count() + censored) as u64),
            value: shown_without_interval(why, p, measured, censored),
            ..refused(&why.to_string())
        },
    }
}

/// A median of few samples is still the best guess of a place, so it is shown, without an
/// interval; a tail percentile of few samples is not.
fn shown_without_interval(
    why: &Undetermined,
    p: f64,
    measured: &mut impl Order,
    censored: usize,
) -> Option<f64> {
    let few = matches!(why, Undetermined::TooFew { .. });
    if !few || p > 0.5 || censored > 0 {
        return None;
    }
    measured.quantile(p).map(|v| millis(v as f64))
}

fn refused(reason: &str) -> Percentile {
    Percentile {
        reason: Some(reason.to_owned()),
        ..Percentile::default()
    }
}

fn none(reason: &str) -> Percentiles {
    let p = || refused(reason);
    Percentiles {
        p50: p(),
        p90: p(),
        p95: p(),
        p98: p(),
        p99: p(),
        p99_9: p(),
        max: p(),
    }
}

/// (max - min) / median of the repeats' medians.
fn run_spread(medians: &[f64]) -> Option<f64> {
    if medians.len() < 2 {
        return None;
    }
    spread(medians).map(|s| share(s.spread))
}
