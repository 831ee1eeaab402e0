//! The client makes a connection for each request.

use slowpath_core::catalogue::{CONNECTION_LIMIT, KEEPALIVE_CLOSE_RACE};
use slowpath_core::scenario::ConnectionUse;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Limits, Written};
use crate::exit::Problem;

pub(super) static KIND: Kind = Kind {
    causes: &[KEEPALIVE_CLOSE_RACE, CONNECTION_LIMIT],
    shared: Some(
        "a connection for each request is never idle for long, and keeps no client out either",
    ),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    if ground.connections()? == ConnectionUse::PerRequest {
        let what = "each request has a connection of its own already";
        return Err(Problem::usage(
            what,
            "load.connection = \"pool\", and measure again",
        ));
    }
    let of_limit = ground.cause == CONNECTION_LIMIT;
    if let Some((missing, _)) = ground.case.target_hidden().filter(|_| of_limit) {
        let what = format!(
            "descriptors that run out would be taken away too, and they cannot be seen: {missing}"
        );
        return Err(Problem::usage(what, "measure on the target's host"));
    }
    let done = if of_limit {
        "each request has a connection of its own, which ends with it, no connection keeps others \
         out"
    } else {
        "each request has a connection of its own, none is sent on one that is being closed"
    };
    let moved = Moved::failures(ground);
    let hypothesis = moved.hypothesis(ground, done, Intervention::FreshConnections);
    Ok(Written {
        limits: Limits {
            limited_by: of_limit.then(|| {
                "requests under way at once may be more than the connections that are served"
                    .to_owned()
            }),
            ..Limits::default()
        },
        ..Written::new(hypothesis)
    })
}
