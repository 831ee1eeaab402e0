//! From an experiment's record to what each block measured.

use std::collections::BTreeMap;

use slowpath_core::Nanos;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome, Stage};
use slowpath_core::samples::{SampleRef, Samples};
use slowpath_core::scenario::Endpoint;
use slowpath_core::stats::quantile::type_1;
use slowpath_experiment::{Arm, BlockMeasurement, Experiment, Intervention};

use crate::hypothesis::percentile_of;

/// Requests of a block with the intervention that may be other than it wants them: those under way
/// when it was switched.
const OTHERS_MOST: f64 = 0.1;
/// Requests that meet others for their key although they are to be kept apart, as a share of those that
/// do without: more are as good as no intervention.
const MET_MOST: f64 = 0.5;
/// Failures that a proxy adds, as a share of the requests, that are none of chance's …
const BROKEN_SHARE: f64 = 0.05;
/// … if there are so many.
const BROKEN_LEAST: u64 = 5;

/// A request that counts for a block: it was scheduled there, and not in a guard.
pub(crate) struct Counted<'a> {
    pub(crate) block: usize,
    pub(crate) arm: Arm,
    pub(crate) sample: SampleRef<'a>,
}

/// When the load of an experiment began, to which the times of its blocks are relative.
pub(crate) fn began(record: &RunRecord, experiment: &Experiment) -> Option<Nanos> {
    let repeat = record.manifest.repeats.first()?;
    Some(repeat.window.begin.minus(experiment.design.warmup_ns))
}

/// The requests that count for a block, of an endpoint or of all.
pub(crate) fn counted<'a>(
    record: &'a RunRecord,
    experiment: &'a Experiment,
    endpoint: Option<&str>,
) -> impl Iterator<Item = Counted<'a>> {
    let endpoints = &record.manifest.plan.scenario.endpoints;
    let is_wanted = |of: &Endpoint| endpoint.is_none_or(|wanted| of.name == wanted);
    let wanted: Vec<bool> = endpoints.iter().map(is_wanted).collect();
    let all = endpoint.is_none();
    let began = began(record, experiment);
    let of_block = move |sample: SampleRef<'a>| {
        let endpoint = usize::from(sample.endpoint());
        let is_of = all || wanted.get(endpoint).copied().unwrap_or(false);
        if sample.stage() != Stage::Measured || !is_of {
            return None;
        }
        let (block, arm) = experiment.design.arm_at(sample.scheduled().since(began?))?;
        Some(Counted { block, arm, sample })
    };
    record.samples.iter().filter_map(of_block)
}

/// Why the intervention was none, by how connections were used under it (a server may close each
/// of them, or a proxy in between), or by how many keys were left that were not asked for.
pub(crate) fn without_effect(record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let wants_reuse = match experiment.hypothesis.intervention {
        Intervention::FreshConnections => false,
        Intervention::KeptConnections => true,
        Intervention::KeysApart => return keys_met(record, experiment),
        Intervention::ClientQuickAck
        | Intervention::TimerSlack { .. }
        | Intervention::CpuQuota { .. }
        | Intervention::LeaveOut { .. }
        | Intervention::KeepOneOf { .. }
        | Intervention::FewerKeys { .. }
        | Intervention::IdleLimit { .. }
        | Intervention::FileLimit { .. }
        | Intervention::Niceness { .. }
        | Intervention::PauseThread { .. }
        | Intervention::DelayService { .. }
        | Intervention::Toggle { .. } => return None,
    };
    let (mut all, mut others) = (0_u32, 0_u32);
    for Counted { arm, sample, .. } in counted(record, experiment, None) {
        if sample.sent().is_some() && arm == Arm::With {
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

/// Each request, and whether another one for its key was under way when it was sent; `None` of one without
/// a key, or that was not sent.
pub(crate) fn met(samples: &Samples) -> impl Iterator<Item = (SampleRef<'_>, Option<bool>)> {
    let mut under_way = UnderWay::default();
    samples.iter().map(move |sample| {
        let sent = sample.sent().filter(|_| sample.key() != NONE);
        let met = sent.map(|sent| under_way.meets(sample.key(), sent, sample.done()));
        (sample, met)
    })
}

/// For each key, until when it is asked for.
#[derive(Debug, Default)]
struct UnderWay(BTreeMap<u32, Nanos>);

impl UnderWay {
    /// Whether a request meets another one for its key, of those that came before.
    fn meets(&mut self, key: u32, sent: Nanos, done: Nanos) -> bool {
        let until = self.0.entry(key).or_insert(Nanos::new(0));
        let meets = *until > sent;
        *until = done.max(*until);
        meets
    }
}

/// That requests met others for their key nearly as often as without the intervention, if they did.
fn keys_met(record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let began = began(record, experiment)?;
    // Of each arm, all requests, and those that met another one.
    let mut counts = [[0_u32; 2]; 2];
    for (sample, met) in met(&record.samples) {
        let Some(met) = met else {
            continue;
        };
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
    let blocks = experiment.design.blocks.len();
    let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); blocks];
    let mut errors = vec![0_u64; blocks];
    for Counted { block, sample, .. } in counted(record, experiment, endpoint) {
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

/// Of the requests that end, failed ones and all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failed {
    failed: u64,
    all: u64,
}

impl Failed {
    /// Of these outcomes.
    pub(crate) fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let mut of = Self::default();
        for outcome in outcomes.filter(|outcome| *outcome != Outcome::Unfinished) {
            of.all += 1;
            of.failed += u64::from(outcome != Outcome::Ok);
        }
        of
    }

    /// In the blocks without the intervention.
    pub(crate) fn without(record: &RunRecord, experiment: &Experiment) -> Self {
        let counted = counted(record, experiment, experiment.endpoint.as_deref());
        let own = counted.filter(|counted| counted.arm == Arm::Without);
        Self::of(own.map(|counted| counted.sample.outcome()))
    }

    fn share(self) -> f64 {
        self.failed as f64 / self.all.max(1) as f64
    }

    /// That requests fail since a service is asked through a proxy, if they do: so many did before.
    pub(crate) fn since_the_proxy(self, before: Self) -> Option<String> {
        let is_more = self.share() > before.share() + BROKEN_SHARE;
        (self.failed >= BROKEN_LEAST && is_more).then(|| {
            format!(
                "through a proxy without any delay {:.0} % of the requests fail, and {:.0} % did in the run",
                100.0 * self.share(),
                100.0 * before.share()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_meets_those_for_its_key_that_are_under_way() {
        let at = Nanos::new;
        let mut under_way = UnderWay::default();
        // Key, sent, done, and whether it meets another one.
        for (key, sent, done, meets) in [
            (1, 10, 90, false),
            (2, 20, 30, false),
            (1, 40, 50, true),
            // The first one is still there.
            (1, 60, 70, true),
            (2, 30, 40, false),
            (1, 90, 95, false),
        ] {
            let met = under_way.meets(key, at(sent), at(done));
            assert_eq!(met, meets, "{key} at {sent}");
        }
    }

    #[test]
    fn what_fails_behind_a_proxy_and_did_not_before_is_told() {
        let of = |failed, all| Failed { failed, all };
        let why = of(100, 100).since_the_proxy(of(0, 500)).unwrap();
        assert!(why.contains("100 % of the requests fail, and 0 %"), "{why}");
        for (now, before) in [
            (of(100, 100), of(500, 500)),
            (of(1, 100), of(0, 500)),
            (of(2, 2), of(0, 500)),
            (of(0, 0), of(0, 0)),
        ] {
            assert_eq!(now.since_the_proxy(before), None, "{now:?} {before:?}");
        }
        let outcomes = [Outcome::Ok, Outcome::Timeout, Outcome::Unfinished];
        let of = Failed::of(outcomes.into_iter());
        assert_eq!((of.failed, of.all), (1, 2));
    }
}
