//! No two requests at a time ask for one key.

use slowpath_core::catalogue::{CACHE_STAMPEDE, WORKLOAD_KEY_COLLISION};
use slowpath_core::nanos::SECOND;
use slowpath_experiment::{Hypothesis, Intervention, REMAINS_MOST};

use super::moved::Moved;
use super::{Ground, Kind, Written};
use crate::blocks::met;
use crate::exit::Problem;

/// Entries expire by and by: those of a block are to be many.
const BLOCK_NS: u64 = 2 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[CACHE_STAMPEDE, WORKLOAD_KEY_COLLISION],
    shared: Some(
        "requests for one key wait for each other in a line too, and for an entry that is filled",
    ),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    ground.keys()?;
    let done = "no two requests at a time ask for one key, none waits for what another one for its \
                key has begun";
    // A request that finds no other is as slow as before, the first to ask for an entry or any other, so that what is slow
    // gets rare and no faster: the share is judged, and a percentile that is beyond it.
    let remains = told_from(firsts(ground))?;
    let moved = Moved::own_classes(ground, remains)?;
    let hypothesis = Hypothesis {
        remains,
        ..moved.hypothesis(ground, done, Intervention::KeysApart)
    };
    Ok(Written {
        block_ns: BLOCK_NS,
        ..Written::new(hypothesis)
    })
}

/// What share of the slow requests were the first for their key: no request was under way for it when they
/// were sent.
pub(super) fn firsts(ground: &Ground<'_>) -> f64 {
    let slow = &ground.endpoint.split.slow;
    let record = ground.case.record;
    let firsts = (0..)
        .zip(met(&record.samples))
        .filter(|(position, (_, met))| *met == Some(false) && slow.binary_search(position).is_ok());
    firsts.count() as f64 / slow.len().max(1) as f64
}

/// The share of the slow requests that remains so, unless a fall of the others would show little.
pub(super) fn told_from(remains: f64) -> Result<f64, Problem> {
    if remains <= REMAINS_MOST {
        return Ok(remains);
    }
    let what = format!(
        "{:.0} % of the slow requests would stay slow, so that the cause is not what makes most of them so",
        100.0 * remains
    );
    Err(Problem::usage(
        what,
        "slowpath explain RUN shows what else there is",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_of_is_slow_for_another_reason_is_not_tried() {
        assert!(told_from(0.2).is_ok_and(|share| (share - 0.2).abs() < 1e-9));
        let refused = told_from(0.61).unwrap_err().to_string();
        assert!(refused.contains("61 % of the slow requests"), "{refused}");
    }
}
