//! A toggle of the scenario is switched on while the target runs.

use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Written};
use crate::exit::Problem;

/// Commands take their time, and so does what they change.
const GUARD_NS: u64 = 1_500 * MILLISECOND;
/// … so that blocks are longer than the shortest.
const BLOCK_NS: u64 = 2 * SECOND;

/// The hypothesis that the toggle takes away what is slow, or what fails.
pub(super) fn write(ground: &Ground<'_>, name: &str) -> Result<Written, Problem> {
    let moved = Moved::of_place(ground)?;
    let done = format!("the toggle {name} is on, the cause is gone");
    let intervention = Intervention::Toggle {
        name: name.to_owned(),
    };
    let hypothesis = moved.hypothesis(ground, &done, intervention);
    Ok(Written {
        guard_ns: GUARD_NS,
        block_ns: BLOCK_NS,
        ..Written::new(hypothesis)
    })
}
