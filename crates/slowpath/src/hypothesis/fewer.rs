//! Fewer requests are sent.

use slowpath_core::catalogue::{
    ACCEPT_QUEUE_OVERFLOW, CPU_SATURATION, LOCK_CONTENTION, LOCK_HELD_OVER_IO,
};
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::scenario::Model;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Limits, Written};
use crate::exit::Problem;

/// A quarter of the requests: queues of a server that is loaded to the brim are gone at half of it
/// already, and a floor is as high as before.
const OF_LEAST: u32 = 4;
/// … and at most a third of what the target has shown that it can do.
const OF_CAPACITY: f64 = 3.0;
/// Beyond this next to nothing is left to measure.
const OF_MOST: u32 = 1_000;
/// A queue that has built up must drain before blocks are compared.
const GUARD_NS: u64 = 1_500 * MILLISECOND;
/// … and build up again.
const BLOCK_NS: u64 = 3 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[
        CPU_SATURATION,
        LOCK_HELD_OVER_IO,
        LOCK_CONTENTION,
        ACCEPT_QUEUE_OVERFLOW,
    ],
    shared: Some("with fewer requests every queue is shorter, whatever it is for"),
    write,
};

/// What may keep the cause there with fewer requests. A server that still has no CPU left for a few
/// is not saturated by them.
fn left(cause: &str) -> Option<String> {
    let why = match cause {
        LOCK_HELD_OVER_IO | LOCK_CONTENTION => {
            "the holder of the lock may be none of the requests that were left out"
        }
        ACCEPT_QUEUE_OVERFLOW => "the acceptor may be away for longer than few fit the queue",
        _ => return None,
    };
    Some(why.to_owned())
}

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let load = &ground.case.record.manifest.plan.scenario.load;
    let (of, who) = match load.model {
        // One user never waits for another.
        Model::Closed { users, .. } => (users, "user goes on"),
        Model::Open { .. } => {
            let sum = |of: fn(&slowpath_diagnose::case::EndpointCase) -> u64| -> f64 {
                ground.case.endpoints.iter().map(of).sum::<u64>().max(1) as f64
            };
            let asked = sum(|e| e.offered) / sum(|e| e.completed.len() as u64);
            let of = (asked * OF_CAPACITY).ceil() as u32;
            (of.clamp(OF_LEAST, OF_MOST), "request is sent")
        }
    };
    if of < 2 {
        let what = "there is one user, who waits for no other";
        return Err(Problem::usage(
            what,
            "measure with more users, or at a rate",
        ));
    }
    let done = format!("one {who} of {of}, hardly any waits for another");
    let moved = if ground.cause == ACCEPT_QUEUE_OVERFLOW {
        Moved::of_place(ground)?
    } else {
        Moved::of(ground)?
    };
    let hypothesis = moved.hypothesis(ground, &done, Intervention::KeepOneOf { of });
    Ok(Written {
        guard_ns: GUARD_NS,
        block_ns: BLOCK_NS,
        // A user who is alone sends faster, by how much is not known.
        sent: match load.model {
            Model::Closed { .. } => 1.0,
            Model::Open { .. } => 1.0 / f64::from(of),
        },
        limits: Limits {
            limited_by: left(ground.cause),
            ..Limits::default()
        },
        ..Written::new(hypothesis)
    })
}
