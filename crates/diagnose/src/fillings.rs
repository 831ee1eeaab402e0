//! Whether slow requests wait for what their own key needs, or all of them for one thing.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::stats::beta::clopper_pearson;

use crate::case::{Case, EndpointCase};
use crate::ledger::NAMED_EPISODES;
use crate::touches::{Touch, Touches};
use crate::trace::looked::Looked;

/// A later start is distinguished from the scatter of ends where it is this share of what the first one took.
const APART_LEAST: f64 = 0.05;
/// A request that takes a filling's time from its own start ends as much later as it began, give or take a
/// quarter: a queue that is worked off after a pause delays ends by as much only when it is nearly full.
const OWN: std::ops::RangeInclusive<f64> = 0.75..=1.25;
/// A request that waits for another's filling ends with it, however late it came.
const WITH: std::ops::RangeInclusive<f64> = -0.25..=0.25;

/// Those of the first slow requests for their keys that ask others have so much of the excess of these: they fill the entry.
/// By time, since many more may be a little slow for another reason.
const SLOW_ASK: f64 = 0.5;
/// Of fast ones so many do: what is cached needs no call.
const FAST_ASK: f64 = 0.05;

/// Requests that are compared with a first one, at most: a stall of all keys has thousands.
const FOLLOWERS_MOST: usize = 64;

/// Of pairs of slow requests, those that went as fillings of single keys make them go.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    all: u64,
    so: u64,
}

impl Pairs {
    fn add(&mut self, (first, later): (&Touch, &Touch), slope: &std::ops::RangeInclusive<f64>) {
        let apart = later.sent.saturating_sub(first.sent) as f64;
        if apart >= APART_LEAST * first.took_ns as f64 {
            self.all += 1;
            let ends = later.done as f64 - first.done as f64;
            self.so += u64::from(slope.contains(&(ends / apart)));
        }
    }

    /// Enough of them, and more than half beyond chance.
    fn hold(self) -> bool {
        self.so >= NAMED_EPISODES as u64 && clopper_pearson(self.so, self.all).0 > 0.5
    }
}

/// The pairs of first slow requests for two keys, and of those that follow one for their key.
fn pairs(touches: &Touches) -> (Pairs, Pairs) {
    let (mut across, mut within) = (Pairs::default(), Pairs::default());
    let is_leader = |t: &Touch| t.is_slow() && t.is_measured && !t.follows;
    for (position, leader) in touches.all.iter().enumerate() {
        if !is_leader(leader) {
            continue;
        }
        for touch in touches
            .during(position)
            .filter(|t| t.is_slow())
            .take(FOLLOWERS_MOST)
        {
            if touch.key == leader.key {
                within.add((leader, touch), &WITH);
            } else if is_leader(touch) {
                across.add((leader, touch), &OWN);
            }
        }
    }
    (across, within)
}

/// Whether entries for keys are filled one by one, though many at a time: the first slow requests for two
/// keys end as much apart as they began, and those that follow one for its key end with it. After a pause
/// of the whole server, or one lock, all end together; where requests queue, those for one key end apart
/// as others do.
pub(crate) fn are_of_keys(touches: &Touches) -> bool {
    let (across, within) = pairs(touches);
    across.hold() && within.hold()
}

/// Whether slow requests are seen to ask others for what fast ones find here: with a trace. A server that pauses, or
/// is slow for another reason, asks no more and no less than when it is fast. Those that follow a slow one for
/// their key need not ask: they may wait for its reply.
pub(crate) fn ask_others(case: &Case<'_>, endpoint: &EndpointCase, touches: &Touches) -> bool {
    let Ok(looked) = Looked::at(case, endpoint) else {
        return false;
    };
    let calls = looked.inside.calls(case);
    let (mut slow_ns, mut fast) = (0_u64, 0_u64);
    let fast_ns = endpoint.split.fast_ns.unwrap_or(0);
    let attribution = endpoint.attribution(case);
    // A cache may be a server as well, which all ask.
    let mut asked: BTreeMap<String, Askers> = BTreeMap::new();
    let follow = touches.all.iter().filter(|t| t.follows);
    let follow: BTreeSet<u32> = follow.map(|t| t.sample).collect();
    for walked in &looked.join.walked {
        if walked.slow && follow.contains(&walked.joined.sample) {
            continue;
        }
        let own = calls.own(looked.inside, walked);
        let ends = own
            .calls
            .iter()
            .filter_map(|call| looked.inside.other_end(call.socket));
        let mut peers: BTreeSet<String> = ends.collect();
        let repliers = attribution.repliers(walked.joined.sample);
        peers.extend(repliers.map(str::to_owned));
        if peers.is_empty() && !own.whole {
            continue;
        }
        let latency_ns = case.sample(walked.joined.sample).latency_ns();
        let excess_ns = latency_ns.saturating_sub(fast_ns);
        for peer in peers {
            let own = asked.entry(peer).or_default();
            if walked.slow {
                own.slow += 1;
                own.slow_ns += excess_ns;
            } else {
                own.fast += 1;
            }
        }
        if walked.slow {
            slow_ns += excess_ns;
        } else {
            fast += 1;
        }
    }
    let fills = |own: Askers| {
        own.slow >= NAMED_EPISODES
            && own.slow_ns as f64 > SLOW_ASK * slow_ns as f64
            && own.fast as f64 <= FAST_ASK * fast as f64
    };
    asked.into_values().any(fills)
}

/// The requests that ask one server.
#[derive(Default)]
struct Askers {
    slow: usize,
    /// What the slow ones take beyond fast ones.
    slow_ns: u64,
    fast: u64,
}

/// Whether those that follow a slow request for their key end with it, however late they came. Who stands in
/// line ends one by one.
pub(crate) fn end_with_the_first(touches: &Touches) -> bool {
    pairs(touches).1.hold()
}
