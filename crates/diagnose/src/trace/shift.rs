//! What tracing costs requests: those in traced stretches against those in stretches that were
//! left untraced on purpose, which were drawn at random.

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::stats::log_ratio::LogRatio;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::welch::welch;
use slowpath_core::trace::Depth;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::TracingShift;
use crate::figures::round;

/// Fewer requests in a stretch have no median worth comparing.
const REQUESTS_LEAST: usize = 10;
/// Fewer stretches of either kind give an interval of no use: at three the factor of Student's t
/// is above four already.
const STRETCHES_LEAST: usize = 3;

/// By how much tracing moved the endpoint that was asked most; `None` if that is not known.
pub(crate) fn shift_of(case: &Case<'_>) -> Option<TracingShift> {
    let Compared { off, on, ratio } = compared(case, 0.5)?;
    let slow = |of: &[Stretch]| {
        let requests: usize = of.iter().map(|s| s.requests).sum();
        of.iter().map(|s| s.slow).sum::<usize>() as f64 / requests.max(1) as f64
    };
    // The means whose ratio the shift is.
    let middle = |of: &[Stretch]| {
        let logs: f64 = of.iter().map(|s| s.quantile_ns.ln()).sum();
        round((logs / of.len() as f64).exp() / MILLISECOND as f64, 1e6)
    };
    Some(TracingShift {
        off_p50_ms: middle(&off),
        on_p50_ms: middle(&on),
        shift: round(ratio.ratio - 1.0, 1e4),
        shift_low: round(ratio.low - 1.0, 1e4),
        shift_high: round(ratio.high - 1.0, 1e4),
        off_slow: round(slow(&off), 1e5),
        on_slow: round(slow(&on), 1e5),
        off_stretches: off.len() as u64,
        on_stretches: on.len() as u64,
    })
}

/// By how much tracing moved a quantile of the same endpoint, as a part of what it is without.
pub(crate) fn moved_at(case: &Case<'_>, quantile: f64) -> Option<f64> {
    Some(compared(case, quantile)?.ratio.ratio - 1.0)
}

/// Stretches without tracing and with it, and how a quantile of theirs differs.
struct Compared {
    off: Vec<Stretch>,
    on: Vec<Stretch>,
    ratio: LogRatio,
}

fn compared(case: &Case<'_>, quantile: f64) -> Option<Compared> {
    let endpoint = case.endpoints.iter().max_by_key(|e| e.completed.len())?;
    let (off, on): (Vec<_>, Vec<_>) = stretches(case, endpoint, quantile)
        .into_iter()
        .partition(|s| s.off);
    if off.len().min(on.len()) < STRETCHES_LEAST {
        return None;
    }
    let values = |of: &[Stretch]| of.iter().map(|s| s.quantile_ns).collect::<Vec<f64>>();
    let ratio = welch(&values(&off), &values(&on)).ok()?;
    Some(Compared { off, on, ratio })
}

/// The requests that lie wholly in one stretch.
struct Stretch {
    off: bool,
    requests: usize,
    slow: usize,
    quantile_ns: f64,
}

fn stretches(case: &Case<'_>, endpoint: &EndpointCase, quantile: f64) -> Vec<Stretch> {
    let all = &case.record.trace.stretches;
    let mut latencies: Vec<(Vec<u64>, usize)> = all.iter().map(|_| (Vec::new(), 0)).collect();
    for (&i, &latency) in endpoint.completed.iter().zip(&endpoint.latencies_ns) {
        let span: Span = case.sample(i).span();
        let behind = all.partition_point(|s| s.span.begin <= span.begin);
        let Some(place) = behind.checked_sub(1) else {
            continue;
        };
        if span.end <= all[place].span.end {
            let (within, slow) = &mut latencies[place];
            within.push(latency);
            *slow += usize::from(endpoint.split.slow.binary_search(&i).is_ok());
        }
    }
    let told = all.iter().zip(latencies);
    let told = told.filter_map(|(stretch, (mut within, slow))| {
        within.sort_unstable();
        let quantile_ns = type_1(&within, quantile)?.max(1) as f64;
        (within.len() >= REQUESTS_LEAST).then_some(Stretch {
            off: stretch.depth == Depth::Off,
            requests: within.len(),
            slow,
            quantile_ns,
        })
    });
    told.collect()
}
