//! Hot entries of a cache expire, and every request that comes before they are filled is slow.

use super::{NO_CAUSE, Refusal, Server, cache_expiry};
use crate::entries::Entries;
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "entries of a cache, one a path, take long to fill, and all requests for them that come \
     in that time fill them as well; in the twin they take no time";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "life-ms",
        help: "how long an entry lives",
        default: 1_000.0,
        range: (1.0, 3_600_000.0),
        healthy: None,
    },
    Knob {
        flag: "fill-ms",
        help: "what filling an entry takes",
        default: 150.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "shared",
    help: "an entry is filled once, and all others wait for that",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let life = Some(options.millis("life-ms"));
    let cause = if options.healthy {
        NO_CAUSE
    } else {
        "cache-stampede"
    };
    let entries = Entries::new(life, false, options.has("shared"));
    cache_expiry::serve(options, entries, cause)
}
