//! Which slots share a connection.

use slowpath_core::plan::Plan;
use slowpath_core::scenario::PoolOpen;

use super::{connections, streams};
use crate::share::Share;

/// How a loop's slots are divided among its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grouping {
    streams: u32,
    connections: u32,
    spread: bool,
}

impl Grouping {
    /// That of a loop's share of a load.
    pub(crate) fn new(plan: &Plan, share: Share) -> Self {
        Self {
            streams: streams(plan),
            connections: share.part(connections(plan)).max(1),
            // Where all connections are there from the start, the load is spread over them.
            spread: plan.scenario.load.open == PoolOpen::AtStart,
        }
    }

    /// Whether more than one slot has the same connection.
    pub(super) fn is_shared(self) -> bool {
        self.streams > 1
    }

    /// The number of a slot's connection, from 0.
    pub(crate) fn group(self, slot: u32) -> u32 {
        if self.spread {
            slot % self.connections
        } else {
            slot / self.streams
        }
    }
}
