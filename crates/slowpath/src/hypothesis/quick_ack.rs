//! The client acknowledges at once.

use slowpath_core::catalogue::DELAYED_ACK;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

pub(super) static KIND: Kind = Kind {
    causes: &[DELAYED_ACK],
    shared: None,
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let done = "the client acknowledges at once (TCP_QUICKACK), Nagle's algorithm has nothing to \
                wait for";
    let moved = Moved::of(ground)?;
    Ok(Written::new(moved.hypothesis(
        ground,
        done,
        Intervention::ClientQuickAck,
    )))
}
