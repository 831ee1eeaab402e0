//! From requests to one figure a window.

use super::{FEWEST_WINDOWS, MOST_WINDOWS};
use crate::nanos::scaled;
use crate::stats::selection::Selection;

/// No window is shorter: a time slice of a busy kernel, a delayed acknowledgement (40 ms) and a
/// burst of dials fit into it. 50 ms.
const SHORTEST_NS: u64 = 50_000_000;
/// Requests that a window should hold: their number is then known to a third, their median to
/// about as much.
const REQUESTS_EACH: usize = 10;

/// How many windows a load of that length with that many requests is cut into; `None` if they
/// would be too few to judge.
fn count(length_ns: u64, requests: usize) -> Option<usize> {
    let by_time = (length_ns / SHORTEST_NS) as usize;
    let windows = by_time.min(requests / REQUESTS_EACH).min(MOST_WINDOWS);
    (windows >= FEWEST_WINDOWS).then_some(windows)
}

fn window_of(at_ns: u64, begin_ns: u64, end_ns: u64, windows: usize) -> Option<usize> {
    let since_ns = at_ns.checked_sub(begin_ns)?;
    let window = scaled(since_ns, windows as u64, end_ns - begin_ns);
    (window < windows as u64).then_some(window as usize)
}

/// Requests completed in each window of a load, from the instants of their ends; `None` if there
/// are too few to judge.
pub fn throughput(
    begin_ns: u64,
    end_ns: u64,
    done_ns: impl Iterator<Item = u64> + Clone,
) -> Option<Vec<f64>> {
    let windows = count(end_ns.saturating_sub(begin_ns), done_ns.clone().count())?;
    let mut counts = vec![0.0; windows];
    for at in done_ns {
        if let Some(window) = window_of(at, begin_ns, end_ns, windows) {
            counts[window] += 1.0;
        }
    }
    Some(counts)
}

/// The median latency of the requests `(due, latency)` that were due in each window; a window
/// without any has that of the one before. `None` if there are too few to judge.
pub fn medians(
    begin_ns: u64,
    end_ns: u64,
    requests: impl Iterator<Item = (u64, u64)> + Clone,
) -> Option<Vec<f64>> {
    let windows = count(end_ns.saturating_sub(begin_ns), requests.clone().count())?;
    let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); windows];
    for (due, latency) in requests {
        if let Some(window) = window_of(due, begin_ns, end_ns, windows) {
            latencies[window].push(latency);
        }
    }
    let mut last = None;
    let mut medians: Vec<Option<f64>> = Vec::with_capacity(windows);
    for window in &mut latencies {
        let median = Selection::new(std::mem::take(window)).type_1(0.5);
        last = median.map(|ns| ns as f64).or(last);
        medians.push(last);
    }
    // Windows before the first request know nothing: they take what came first.
    let first = medians.iter().copied().flatten().next()?;
    Some(medians.into_iter().map(|m| m.unwrap_or(first)).collect())
}
