//! The target's threads come before others.

use slowpath_core::catalogue::{NOISY_NEIGHBOUR, RUN_QUEUE_DELAY};
use slowpath_diagnose::Serving;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// Fifteen steps weigh 28 times as much as none (`sched_prio_to_weight`): of a CPU that ten busy
/// threads want the target then has nearly three quarters, and they still have the rest.
const NICE: i32 = -15;

pub(super) static KIND: Kind = Kind {
    causes: &[RUN_QUEUE_DELAY, NOISY_NEIGHBOUR],
    shared: Some(
        "threads that come before others wait for no CPU, no matter what kept them from it",
    ),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let except = in_the_way(ground);
    let but = except
        .as_ref()
        .map_or_else(String::new, |name| format!(" but {name}"));
    let done =
        format!("the target's threads{but} have niceness {NICE}, they wait for no one else's");
    let moved = Moved::of(ground)?;
    let intervention = Intervention::Niceness { nice: NICE, except };
    let hypothesis = moved.hypothesis(ground, &done, intervention);
    Ok(Written::new(hypothesis))
}

/// The threads of the target itself that are said to have the CPUs, if they serve no requests: they are not to
/// come first as well.
fn in_the_way(ground: &Ground<'_>) -> Option<String> {
    let named = ground.finding.and_then(|f| f.culprit.thread.clone())?;
    let serving = Serving::of(ground.case)?;
    (serving.called(&named) > 0 && !serving.has(&named)).then_some(named)
}
