//! The quota of the target's cgroup is lifted.

use slowpath_core::catalogue::CPU_QUOTA_THROTTLING;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::signal::{CGROUP_PERIOD, CGROUP_QUOTA};
use slowpath_core::timeline::Subject;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// A queue that the quota has built up must drain before blocks are compared.
const QUOTA_GUARD_NS: u64 = 1_500 * MILLISECOND;
/// … which takes blocks that are longer than the shortest.
const QUOTA_BLOCK_NS: u64 = 3 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[CPU_QUOTA_THROTTLING],
    shared: None,
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let case = ground.case;
    let mean = |signal| {
        case.series(signal, &Subject::Target, "")
            .and_then(|s| case.measured_mean(s))
    };
    let (from, period) = mean(&CGROUP_QUOTA)
        .zip(mean(&CGROUP_PERIOD))
        .ok_or_else(|| {
            let what = "the run recorded no quota of the target's cgroup";
            Problem::usage(what, "if it has one, measure again as root")
        })?;
    let cpus = f64::from(case.record.manifest.host.cpus.max(1));
    let done = format!(
        "the cgroup's quota of {:.1} ms in {:.0} ms is lifted, nothing is throttled",
        from / 1e6,
        period / 1e6
    );
    let intervention = Intervention::CpuQuota {
        from_ns: from as u64,
        to_ns: (cpus * period) as u64,
    };
    let hypothesis = Moved::of(ground)?.hypothesis(ground, &done, intervention);
    Ok(Written {
        period_ns: period as u64,
        guard_ns: QUOTA_GUARD_NS,
        block_ns: QUOTA_BLOCK_NS,
        ..Written::new(hypothesis)
    })
}
