//! The target may have more files open.

use slowpath_core::catalogue::FD_EXHAUSTION;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// What most loads fit into; a program that closes all that it may have open before it starts another is
/// not kept busy by it.
const TO: u64 = 65_536;
/// Who waited to be accepted is served first.
const GUARD_NS: u64 = 1_500 * MILLISECOND;
/// Connections come back by and by.
const BLOCK_NS: u64 = 2 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[FD_EXHAUSTION],
    shared: None,
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let target = &ground.case.record.manifest.target;
    if !target.visible {
        let what = format!(
            "the target's processes were not seen: {}",
            target.hidden_because
        );
        return Err(Problem::usage(what, "measure on the target's host as root"));
    }
    let done = format!(
        "the target may have {TO} files open (prlimit), it can accept and open what it needs"
    );
    let moved = Moved::failures(ground);
    let hypothesis = moved.hypothesis(ground, &done, Intervention::FileLimit { to: TO });
    Ok(Written {
        guard_ns: GUARD_NS,
        block_ns: BLOCK_NS,
        ..Written::new(hypothesis)
    })
}
