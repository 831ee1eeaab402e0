//! The target's threads come before others.

use slowpath_core::catalogue::{NOISY_NEIGHBOUR, RUN_QUEUE_DELAY};
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// Fifteen steps weigh 28 times as much as none (`sched_prio_to_weight`): of a CPU that ten busy
/// threads want the target then has nearly three quarters, and they still have the rest.
const NICE: i32 = -15;

pub(super) static KIND: Kind = Kind {
    causes: &[RUN_QUEUE_DELAY, NOISY_NEIGHBOUR],
    shared: Some("threads that come before others wait for no CPU, whoever has kept them from it"),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let done = format!("the target's threads have niceness {NICE}, they wait for no one else's");
    let moved = Moved::of(ground)?;
    let hypothesis = moved.hypothesis(ground, &done, Intervention::Niceness { nice: NICE });
    Ok(Written::new(hypothesis))
}
