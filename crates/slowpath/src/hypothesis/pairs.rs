//! How many blocks an experiment has: enough to see what a refutation has to have seen, by how much
//! stretches of the run differ that are as long.

use slowpath_core::nanos::SECOND;
use slowpath_core::stats::quantile::type_1;
use slowpath_experiment::{Effect, FEWEST_PAIRS, Hypothesis, pairs_to_see};

use super::{Ground, percentile_of};

/// More pairs make an experiment longer, and hosts drift.
const PAIRS_MOST: usize = 16;
/// Beyond this length no pair is added to the fewest.
const LENGTH_MOST_NS: u64 = 300 * SECOND;
/// The run is cut into at least so many stretches: their scatter is then known to a fifth of itself.
const STRETCHES: u64 = 12;

/// The number of pairs of blocks of `block_ns`, each in a slot of `slot_ns`.
pub(super) fn pairs(
    ground: &Ground<'_>,
    hypothesis: &Hypothesis,
    block_ns: u64,
    slot_ns: u64,
) -> usize {
    let Some((level, scatter)) = scatter(ground, hypothesis, block_ns) else {
        return FEWEST_PAIRS;
    };
    let (effect, _) = hypothesis.to_be_seen(level);
    let most = (LENGTH_MOST_NS / (2 * slot_ns.max(1))) as usize;
    pairs_to_see(effect, scatter, FEWEST_PAIRS, most.min(PAIRS_MOST))
}

/// What is judged, in the mean of stretches of the run, and how much blocks of this length scatter by it.
fn scatter(ground: &Ground<'_>, hypothesis: &Hypothesis, block_ns: u64) -> Option<(f64, f64)> {
    let case = ground.case;
    let stretch_ns = block_ns.min(case.measured_ns() / STRETCHES).max(1);
    let mut values = Vec::new();
    for window in &case.windows {
        let mut stretches: Vec<(Vec<u64>, u64)> =
            vec![(Vec::new(), 0); (window.len_ns() / stretch_ns) as usize];
        let of = |i: u32| {
            let since = case
                .sample(i)
                .scheduled()
                .get()
                .checked_sub(window.begin.get());
            since.map(|since| (since / stretch_ns) as usize)
        };
        for &i in &ground.endpoint.completed {
            if let Some(stretch) = of(i).and_then(|k| stretches.get_mut(k)) {
                stretch.0.push(case.sample(i).latency_ns());
            }
        }
        for &i in &ground.endpoint.failed {
            if let Some(stretch) = of(i).and_then(|k| stretches.get_mut(k)) {
                stretch.1 += 1;
            }
        }
        values.extend(
            stretches
                .into_iter()
                .filter_map(|(latencies, failed)| value(hypothesis, latencies, failed)),
        );
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Longer blocks scatter less, as stretches do that know nothing of each other.
    let shorter = stretch_ns as f64 / block_ns.max(1) as f64;
    (n >= 2.0).then_some((mean, (variance * shorter).sqrt()))
}

/// What a block of these requests would be judged by.
fn value(hypothesis: &Hypothesis, mut latencies_ns: Vec<u64>, failed: u64) -> Option<f64> {
    latencies_ns.sort_unstable();
    if matches!(hypothesis.intervention.effect(), Effect::Rises { .. }) {
        let ns = type_1(&latencies_ns, percentile_of(&hypothesis.metric))?;
        return Some(ns as f64 / 1e6);
    }
    let failed = if hypothesis.is_of_failures() {
        failed as usize
    } else {
        0
    };
    let fast = latencies_ns.partition_point(|&ns| ns as f64 / 1e6 <= hypothesis.slow_above_ms);
    let all = latencies_ns.len() + failed;
    (all > 0).then(|| (all - fast) as f64 / all as f64)
}
