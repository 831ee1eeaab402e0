//! No two requests at a time ask for one key.

use std::collections::BTreeMap;

use slowpath_core::Nanos;
use slowpath_core::catalogue::{CACHE_STAMPEDE, WORKLOAD_KEY_COLLISION};
use slowpath_core::nanos::SECOND;
use slowpath_core::sample::NONE;
use slowpath_experiment::{Hypothesis, Intervention};

use super::moved::Moved;
use super::{Ground, Kind, Written};
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
    // Whoever is the first to ask for an entry is as slow as before, so that what is slow gets rare and no
    // faster: the share is judged, and a percentile that is beyond it.
    let (moved, remains) = if ground.cause == CACHE_STAMPEDE {
        let firsts = firsts(ground);
        (Moved::own_classes(ground, firsts)?, firsts)
    } else {
        // The first in a line is fast.
        (Moved::of(ground)?, 0.0)
    };
    let hypothesis = Hypothesis {
        remains,
        ..moved.hypothesis(ground, done, Intervention::KeysApart)
    };
    Ok(Written {
        block_ns: BLOCK_NS,
        ..Written::new(hypothesis)
    })
}

/// What share of the slow requests were the first for their key: nobody was under way for it when they
/// were sent.
pub(super) fn firsts(ground: &Ground<'_>) -> f64 {
    let endpoint = ground.endpoint;
    let mut asked_until: BTreeMap<u32, Nanos> = BTreeMap::new();
    let (mut slow, mut firsts) = (0_u32, 0_u32);
    for &index in &endpoint.completed {
        let sample = ground.case.sample(index);
        let (key, Some(sent)) = (sample.key(), sample.sent()) else {
            continue;
        };
        let until = asked_until.entry(key).or_insert(Nanos::new(0));
        let is_first = key != NONE && *until <= sent;
        *until = sample.done().max(*until);
        if endpoint.split.slow.binary_search(&index).is_ok() {
            slow += 1;
            firsts += u32::from(is_first);
        }
    }
    f64::from(firsts) / f64::from(slow.max(1))
}
