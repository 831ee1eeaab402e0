//! Requests ask for few keys, each the more often.

use slowpath_core::catalogue::CACHE_EXPIRY;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_experiment::{GUARD_NS, Hypothesis, Intervention};

use super::keys_apart::firsts;
use super::moved::Moved;
use super::{Ground, KeysOf, Kind, Written};
use crate::exit::Problem;

/// An entry is filled once a life, however often it is asked for: with one key in so many next to no
/// request fills one.
const OF: u32 = 32;
/// … if that leaves no more than this share of the keys: a fall by four fifths has to be possible.
const LEFT_MOST: f64 = 0.12;
/// An entry expires at least once in a block, whatever its phase is.
const LIVES_PER_BLOCK: u64 = 2;
/// The shortest block.
const BLOCK_NS: u64 = 2 * SECOND;
/// The longest guard: keys that nobody asked for meanwhile are filled all at once behind it, as they
/// would not have been.
const GUARD_MOST_NS: u64 = 10 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[CACHE_EXPIRY],
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
    let hypothesis = Hypothesis {
        remains: 1.0 - firsts(ground),
        ..Moved::own_classes(ground)?.hypothesis(ground, &done, Intervention::FewerKeys { of: OF })
    };
    let life_ms = ground.finding.and_then(|f| f.culprit.constant_ms);
    let life_ns = (life_ms.unwrap_or(0.0) * MILLISECOND as f64) as u64;
    Ok(Written {
        guard_ns: life_ns.clamp(GUARD_NS, GUARD_MOST_NS),
        block_ns: BLOCK_NS.max(LIVES_PER_BLOCK * life_ns),
        shared_by: ground.finding.is_none().then(|| {
            "with fewer keys whatever is slow for some of them may be gone, an entry that expires or \
             not"
            .to_owned()
        }),
        ..Written::new(hypothesis)
    })
}
