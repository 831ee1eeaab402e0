//! From an experiment's record to what each block measured.

use std::collections::BTreeMap;

use slowpath_core::Nanos;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome, Stage};
use slowpath_core::stats::quantile::type_1;
use slowpath_experiment::{Arm, BlockMeasurement, Experiment, Intervention};

use crate::hypothesis::percentile_of;

/// Requests of a block with the intervention that may be other than it wants them: those under way
/// when it was switched.
const OTHERS_MOST: f64 = 0.1;
/// Requests that meet others for their key although they are to be kept apart, as a share of those that
/// do without: more are as good as no intervention.
const MET_MOST: f64 = 0.5;

/// Why the intervention was none, by how connections were used under it (a server may close each
/// of them, or whoever stands in between), or by how many keys were left that nobody asked for.
pub(crate) fn without_effect(record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let wants_reuse = match experiment.hypothesis.intervention {
        Intervention::FreshConnections => false,
        Intervention::KeptConnections => true,
        Intervention::KeysApart => return keys_met(record, experiment),
        _ => return None,
    };
    let repeat = record.manifest.repeats.first()?;
    let began = repeat.window.begin.minus(experiment.design.warmup_ns);
    let (mut all, mut others) = (0_u32, 0_u32);
    for sample in &record.samples {
        let arm = experiment.design.arm_at(sample.scheduled().since(began));
        if sample.sent().is_some() && arm.is_some_and(|(_, arm)| arm == Arm::With) {
            all += 1;
            others += u32::from((sample.index_on_connection() > 0) != wants_reuse);
        }
    }
    let share = f64::from(others) / f64::from(all.max(1));
    let how = if wants_reuse { "new" } else { "used" };
    (share > OTHERS_MOST).then(|| {
        let percent = 100.0 * share;
        format!("{percent:.0} % of the requests were sent on {how} connections all the same")
    })
}

/// That requests met others for their key nearly as often as without the intervention, if they did.
fn keys_met(record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let repeat = record.manifest.repeats.first()?;
    let began = repeat.window.begin.minus(experiment.design.warmup_ns);
    // Of each arm, all requests, and those that met another one.
    let mut counts = [[0_u32; 2]; 2];
    let mut asked_until: BTreeMap<u32, Nanos> = BTreeMap::new();
    for sample in &record.samples {
        let (key, Some(sent)) = (sample.key(), sample.sent()) else {
            continue;
        };
        if key == NONE {
            continue;
        }
        let until = asked_until.entry(key).or_insert(Nanos::new(0));
        let met = *until > sent;
        *until = sample.done().max(*until);
        if let Some((_, arm)) = experiment.design.arm_at(sample.scheduled().since(began)) {
            let of_arm = &mut counts[usize::from(arm == Arm::With)];
            of_arm[0] += 1;
            of_arm[1] += u32::from(met);
        }
    }
    let [without, with] = counts.map(|[all, met]| f64::from(met) / f64::from(all.max(1)));
    (with > MET_MOST * without).then(|| {
        format!(
            "{:.0} % of the requests met another one for their key all the same, {:.0} % without \
             the intervention: there are too few keys",
            100.0 * with,
            100.0 * without
        )
    })
}

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
    let of_failures = experiment.hypothesis.is_of_failures();
    let p = percentile_of(&experiment.hypothesis.metric);
    let slow_ns = experiment.hypothesis.slow_above_ms * 1e6;
    latencies
        .iter_mut()
        .enumerate()
        .filter_map(|(block, latencies)| {
            latencies.sort_unstable();
            let slow = latencies.len() - latencies.partition_point(|&ns| ns as f64 <= slow_ns);
            let (metric_ms, slow_share) = if of_failures {
                let ended = latencies.len() as u64 + errors[block];
                let share = (slow as u64 + errors[block]) as f64 / ended as f64;
                (ended > 0).then_some((share * 100.0, share))?
            } else {
                let metric_ms = type_1(latencies, p)? as f64 / 1e6;
                (metric_ms, slow as f64 / latencies.len() as f64)
            };
            Some(BlockMeasurement {
                block,
                arm: experiment.design.blocks[block],
                n: latencies.len() as u64,
                metric_ms,
                slow_share,
                errors: errors[block],
            })
        })
        .collect()
}
