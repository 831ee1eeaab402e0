//! Marks of a queue for the CPU: requests that find others before them take longer, and threads
//! never rest.

use slowpath_core::signal::PROCESS_THREADS_STATE;
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::sleepers::by_label;

/// Requests that find more than the usual number under way take at least this many times as long,
/// at the median, as the rest. Behind a full server they take about twice as long; where they wait
/// for something else, the same.
const LONGER: f64 = 1.2;
/// Fewer requests than this on either side show nothing.
const FEWEST: usize = 30;

/// Threads that take turns and never rest are found with one of them running in nearly all
/// readings; independent ones that use as much CPU between them in two of three.
const RUNS: f64 = 0.8;

/// Whether some thread of the target ran in nearly all readings; `true` if states were not read.
pub(crate) fn somebody_always_runs(case: &Case<'_>) -> bool {
    let states = by_label(case, &PROCESS_THREADS_STATE);
    let readings = states.values().next().map_or(0, Vec::len);
    let running = states.get("R").map_or(&[][..], Vec::as_slice);
    let found = running
        .iter()
        .filter(|&&(_, threads)| threads > 0.0)
        .count();
    found as f64 >= RUNS * readings as f64
}

/// Whether the endpoint's latency is the same however many requests are under way. `false` also
/// where that number hardly varies, as in a closed loop or with all connections busy.
pub(crate) fn ignores_the_queue(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let mut by_queue: Vec<(u32, u64)> = endpoint
        .completed
        .iter()
        .map(|&i| (case.sample(i).in_flight(), case.sample(i).latency_ns()))
        .collect();
    by_queue.sort_unstable();
    let Some((usual, _)) = type_1(&by_queue, 0.5) else {
        return false;
    };
    let (short, long) = by_queue.split_at(by_queue.partition_point(|&(n, _)| n <= usual));
    if short.len() < FEWEST || long.len() < FEWEST {
        return false;
    }
    let median = |part: &[(u32, u64)]| {
        let mut latencies: Vec<u64> = part.iter().map(|&(_, ns)| ns).collect();
        latencies.sort_unstable();
        type_1(&latencies, 0.5).unwrap_or_default() as f64
    };
    median(long) < LONGER * median(short)
}
