//! Marks of a queue for the CPU: requests that find others before them take longer, and threads
//! never rest.

use slowpath_core::samples::SampleRef;
use slowpath_core::signal::PROCESS_THREADS_STATE;
use slowpath_core::stats::selection::Selection;

use crate::case::{Case, EndpointCase};
use crate::sleepers::by_label;

/// Requests that find more than the usual number under way take at least this many times as long,
/// at the median, as the rest. After a full server's queue they take about twice as long; where they wait
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
    let requests = || endpoint.completed.iter().map(|&i| case.sample(i));
    let mut queued: Selection = requests().map(|s| s.in_flight().into()).collect();
    let Some(usual) = queued.type_1(0.5) else {
        return false;
    };
    let is_short = |s: &SampleRef<'_>| u64::from(s.in_flight()) <= usual;
    let latencies = |is_part: &dyn Fn(&SampleRef<'_>) -> bool| -> Selection {
        let part = requests().filter(|s| is_part(s));
        part.map(SampleRef::latency_ns).collect()
    };
    let (mut short, mut long) = (latencies(&is_short), latencies(&|s| !is_short(s)));
    if short.len() < FEWEST || long.len() < FEWEST {
        return false;
    }
    let median = |part: &mut Selection| part.type_1(0.5).unwrap_or_default() as f64;
    median(&mut long) < LONGER * median(&mut short)
}
