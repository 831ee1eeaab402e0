//! From an experiment's record to what each block measured.

use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::stats::quantile::type_1;
use slowpath_experiment::{BlockMeasurement, Experiment};

use crate::hypothesis::percentile_of;

/// The measurements of all blocks that saw a request. Requests count for the block in which they
/// were scheduled; those scheduled in a guard count for none.
pub(crate) fn measurements(
    record: &RunRecord,
    experiment: &Experiment,
    endpoint: Option<&str>,
) -> Vec<BlockMeasurement> {
    let Some(repeat) = record.manifest.repeats.first() else {
        return Vec::new();
    };
    let began = repeat.window.begin.minus(experiment.design.warmup_ns);
    let wanted = |index: u16| {
        let name = record
            .manifest
            .plan
            .scenario
            .endpoints
            .get(usize::from(index));
        endpoint.is_none_or(|wanted| name.is_some_and(|e| e.name == wanted))
    };
    let blocks = experiment.design.blocks.len();
    let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); blocks];
    let mut errors = vec![0_u64; blocks];
    for sample in &record.samples {
        if sample.stage() != Stage::Measured || !wanted(sample.endpoint()) {
            continue;
        }
        let offset = sample.scheduled().since(began);
        let Some((block, _)) = experiment.design.arm_at(offset) else {
            continue;
        };
        match sample.outcome() {
            Outcome::Ok => latencies[block].push(sample.latency_ns()),
            Outcome::Unfinished => {}
            _ => errors[block] += 1,
        }
    }
    let p = percentile_of(&experiment.hypothesis.metric);
    let slow_ns = experiment.hypothesis.slow_above_ms * 1e6;
    latencies
        .iter_mut()
        .enumerate()
        .filter_map(|(block, latencies)| {
            latencies.sort_unstable();
            let metric_ms = type_1(latencies, p)? as f64 / 1e6;
            let slow = latencies.len() - latencies.partition_point(|&ns| ns as f64 <= slow_ns);
            Some(BlockMeasurement {
                block,
                arm: experiment.design.blocks[block],
                n: latencies.len() as u64,
                metric_ms,
                slow_share: slow as f64 / latencies.len() as f64,
                errors: errors[block],
            })
        })
        .collect()
}
