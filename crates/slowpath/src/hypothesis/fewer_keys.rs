//! Requests ask for few keys, each the more often.

use slowpath_core::catalogue::CACHE_EXPIRY;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_experiment::{GUARD_NS, Hypothesis, Intervention, SLOW_LEAST};

use super::keys_apart::{firsts, told_from};
use super::moved::Moved;
use super::{Ground, KeysOf, Kind, Written};
use crate::exit::Problem;

/// An entry is filled once a life, however often it is asked for: with one key in so many next to no
/// request fills one.
const OF: u32 = 32;
/// … if that leaves no more than this share of the keys: a fall by four fifths has to be possible.
const LEFT_MOST: f64 = 0.12;
/// Slow requests that an arm without the intervention is planned to have for the keys that are left, half
/// as many again as show whether these are slow at all.
const KEPT_SLOW: f64 = 1.5 * SLOW_LEAST;
/// An entry expires at least once in a block, whatever its phase is.
const LIVES_PER_BLOCK: u64 = 2;
/// The shortest block.
const BLOCK_NS: u64 = 2 * SECOND;
/// The longest guard: keys that were not asked for in it are filled all at once after it, as they
/// would not have been.
const GUARD_MOST_NS: u64 = 10 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[CACHE_EXPIRY],
    shared: Some(
        "requests for one key that follow each other closely may be fast for another reason than \
         an entry that is filled",
    ),
    write,
};

/// How many of the keys are left.
fn left(keys: &KeysOf) -> f64 {
    let left = keys.values.iter().map(|&n| n.div_ceil(OF.into()) as f64);
    left.product()
}

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let keys = ground.keys()?;
    let (all, left) = (keys.count(), left(&keys));
    if left > LEFT_MOST * all {
        let what = format!("requests ask for {all:.0} keys, too few to leave most of them out");
        return Err(Problem::usage(
            what,
            "ask for more keys, as users do, and measure again",
        ));
    }
    let done = format!(
        "{left:.0} of {all:.0} keys are asked for, next to no request finds an entry that expired"
    );
    // As many requests as before come while an entry is being filled, to fewer entries.
    let remains = told_from(1.0 - firsts(ground))?;
    let moved = Moved::own_classes(ground, remains)?;
    let hypothesis = Hypothesis {
        remains,
        ..moved.hypothesis(ground, &done, Intervention::FewerKeys { of: OF })
    };
    let split = &ground.endpoint.split;
    let share = split.slow.len() as f64 / split.sorted_ns.len().max(1) as f64;
    let life_ms = ground.finding.and_then(|f| f.culprit.constant_ms);
    let life_ns = (life_ms.unwrap_or(0.0) * MILLISECOND as f64) as u64;
    Ok(Written {
        guard_ns: life_ns.clamp(GUARD_NS, GUARD_MOST_NS),
        block_ns: BLOCK_NS
            .max(LIVES_PER_BLOCK * life_ns)
            .max(ground.block_ns_of_all(KEPT_SLOW, share * left / all)),
        ..Written::new(hypothesis)
    })
}
