//! The client uses connections again.

use slowpath_core::catalogue::ACCEPT_QUEUE_OVERFLOW;
use slowpath_core::scenario::ConnectionUse;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// Connections that were not accepted yet are tried again by the kernel after a second (the first
/// timeout of a SYN), and what came of that belongs to the block before.
const GUARD_NS: u64 = 1_500_000_000;

pub(super) static KIND: Kind = Kind {
    causes: &[ACCEPT_QUEUE_OVERFLOW],
    shared: Some("connections that are used again are not made either, which takes time by itself"),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    if ground.connections()? != ConnectionUse::PerRequest {
        let what = "connections are used again already, so that few are made";
        return Err(Problem::usage(
            what,
            "load.connection = \"per-request\", and measure again",
        ));
    }
    let done = "connections are used again, next to none has to be accepted";
    let moved = Moved::of_place(ground)?;
    let hypothesis = moved.hypothesis(ground, done, Intervention::KeptConnections);
    Ok(Written {
        guard_ns: GUARD_NS,
        ..Written::new(hypothesis)
    })
}
