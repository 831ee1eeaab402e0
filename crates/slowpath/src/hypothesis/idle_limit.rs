//! The client closes idle connections before the server does.

use slowpath_core::catalogue::KEEPALIVE_CLOSE_RACE;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::exit::Problem;

/// Of the idle time from which on requests fail: well below it, and above most other gaps.
const OF_THRESHOLD: f64 = 0.8;

pub(super) static KIND: Kind = Kind {
    causes: &[KEEPALIVE_CLOSE_RACE],
    shared: None,
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    ground.connections()?;
    let constant = ground.finding.and_then(|f| f.culprit.constant_ms);
    let threshold_ms = constant.ok_or_else(|| {
        Problem::usage(
            "the run does not say from which idle time on requests fail",
            "",
        )
    })?;
    let limit_ms = threshold_ms * OF_THRESHOLD;
    let done = format!(
        "the client makes a new connection where one was idle for over {limit_ms:.0} ms, none is \
         sent on one that is being closed"
    );
    let intervention = Intervention::IdleLimit {
        limit_ns: (limit_ms * 1e6) as u64,
    };
    let moved = Moved::failures(ground);
    Ok(Written::new(moved.hypothesis(ground, &done, intervention)))
}
