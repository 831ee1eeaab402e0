//! Many requests for one key come while its entry is being filled: they wait for it, or fill it as well.

use slowpath_core::stats::beta::clopper_pearson;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::expiry::Expiry;
use crate::fillings::ask_others;
use crate::ledger::NAMED_EPISODES;
use crate::paced::pace_of_each_key;
use crate::predict::without_claims;
use crate::touches::{Touch, Touches};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// Of the requests that come for a key while a slow one for it is under way, so many are slow …
const SAME_SLOW: f64 = 0.5;
/// … and so many times the share of those for other keys at that time, and of those for the same
/// keys at other times.
const TIMES_OTHERS: f64 = 3.0;
/// Where requests for one key stand in line, the first one is fast, and slow ones find it before
/// them. Where an entry is filled, nobody is before the first slow one: of these so many.
const NOBODY_BEFORE: f64 = 0.3;
/// A key that is slow more often than this is slow itself.
const SLOW_KEY: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(touches) = endpoint.touches(case) else {
        let text = "no requests for keys are slow beside others";
        return Verdict::Cleared(text.to_owned());
    };
    let herds = Herds::of(touches);
    if herds.with_followers < NAMED_EPISODES {
        return Verdict::Cleared(format!(
            "{} slow requests were joined by further slow ones for their key",
            herds.with_followers
        ));
    }
    if let Some(pace) = pace_of_each_key(case, endpoint) {
        return Verdict::Cleared(pace.of_each_key());
    }
    let (same, other, alone) = (herds.same.share(), herds.other.share(), herds.alone.share());
    let compared = format!(
        "of the requests that came for a key while a slow one for it was under way {} were slow; \
         of those for other keys at that time {}, of those for the same keys at other times {}",
        percent(same),
        percent(other),
        percent(alone)
    );
    let nobody = herds.nobody_before as f64 / herds.leaders.max(1) as f64;
    if same < SAME_SLOW || same < TIMES_OTHERS * alone || nobody < NOBODY_BEFORE {
        return Verdict::Cleared(compared);
    }
    // Entries that expire have shown that it is the key, also where all expire at once.
    if Expiry::of(touches, &|| ask_others(case, endpoint, touches)).is_err() {
        let accompanied = herds.accompanied >= NAMED_EPISODES;
        if accompanied && same < TIMES_OTHERS * other {
            return Verdict::Cleared(compared);
        }
        let counts = (herds.more_of_same as u64, herds.judged as u64);
        if !accompanied || clopper_pearson(counts.0, counts.1).0 <= 0.5 {
            return Verdict::Lead {
                place: Place::Tail,
                claims: claims(case, touches),
                missing: format!(
                    "whether it is the key: few requests for others came at the time ({compared})"
                ),
                remedy: "ask for several keys at a higher rate".to_owned(),
            };
        }
    }
    found(case, endpoint, touches, &herds, compared)
}

/// A count of requests and of the slow ones among them.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: u32,
    slow: u32,
}

impl Tally {
    fn add(&mut self, is_slow: bool) {
        self.all += 1;
        self.slow += u32::from(is_slow);
    }

    fn share(self) -> f64 {
        f64::from(self.slow) / f64::from(self.all.max(1))
    }
}

/// Slow requests with those that came while they were under way.
#[derive(Debug, Default)]
struct Herds {
    /// Slow requests that found no slow one for their key under way.
    leaders: usize,
    /// Of these, those that found none at all for their key.
    nobody_before: usize,
    /// Those that others for their key followed, and were slow too.
    with_followers: usize,
    /// Slow followers, and the most of one leader.
    followers: usize,
    most: u32,
    /// Leaders that requests for their own key and for others followed.
    accompanied: usize,
    /// … of which the slow ones were a larger share on one side.
    judged: usize,
    /// … that of their own key.
    more_of_same: usize,
    same: Tally,
    other: Tally,
    alone: Tally,
}

impl Herds {
    fn of(touches: &Touches) -> Self {
        let mut herds = Self::default();
        let slow_keys = slow_keys(touches);
        let is_usable = |t: &Touch| t.is_measured && !slow_keys.contains(&t.key);
        for (position, leader) in touches.all.iter().enumerate() {
            if !is_usable(leader) || leader.follows {
                continue;
            }
            herds.alone.add(leader.is_slow());
            if !leader.is_slow() {
                continue;
            }
            let (mut same, mut other) = (Tally::default(), Tally::default());
            for touch in touches.during(position) {
                if touch.key == leader.key {
                    same.add(touch.is_slow());
                } else if touch.before > 0 {
                    // One that was never asked for is slow for a reason of its own.
                    other.add(touch.is_slow());
                }
            }
            herds.note(leader, same, other);
        }
        herds
    }

    fn note(&mut self, leader: &Touch, same: Tally, other: Tally) {
        self.leaders += 1;
        self.nobody_before += usize::from(leader.beside == 0);
        self.with_followers += usize::from(same.slow > 0);
        self.followers += same.slow as usize;
        self.most = self.most.max(same.slow + 1);
        for (sum, of) in [(&mut self.same, same), (&mut self.other, other)] {
            sum.all += of.all;
            sum.slow += of.slow;
        }
        let (own, others) = (same.share(), other.share());
        if same.all > 0 && other.all > 0 {
            self.accompanied += 1;
            self.judged += usize::from(own.total_cmp(&others).is_ne());
            self.more_of_same += usize::from(own > others);
        }
    }
}

/// Keys that are slow themselves, ascending.
fn slow_keys(touches: &Touches) -> std::collections::BTreeSet<u32> {
    let mut by_key: std::collections::BTreeMap<u32, Tally> = std::collections::BTreeMap::new();
    for touch in touches.all.iter().filter(|t| t.is_measured && !t.follows) {
        by_key.entry(touch.key).or_default().add(touch.is_slow());
    }
    let slow = by_key.into_iter();
    slow.filter(|(_, tally)| tally.share() > SLOW_KEY && tally.all > 2)
        .map(|(key, _)| key)
        .collect()
}

/// What those claim that came while a slow request for their key was under way.
fn claims(case: &Case<'_>, touches: &Touches) -> Vec<Claim> {
    let herd = touches.all.iter();
    let herd = herd.filter(|t| t.is_measured && t.follows && t.is_slow());
    let mut claims: Vec<Claim> = herd.map(|t| t.claim(case)).collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    claims
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    touches: &Touches,
    herds: &Herds,
    compared: String,
) -> Verdict {
    let claims = claims(case, touches);
    let place = endpoint.place_of(&claims);
    let ends = together(touches);
    let way = if ends >= SAME_SLOW {
        "wait until it is filled"
    } else {
        "fill it as well"
    };
    let size = format!(
        "{} slow requests were followed by {} slow ones for the same key, up to {} at once; {} of \
         these ended together with the first",
        herds.with_followers,
        herds.followers,
        herds.most,
        percent(ends)
    );
    let order = format!(
        "slow more often for the same key than for others in {} of {} times that differ",
        herds.more_of_same, herds.judged
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "while an entry of a cache is being filled, the requests that come for its key {way}: \
             up to {} at once; answer them with the old entry, or fill it before it expires",
            herds.most
        ),
        evidence: vec![
            evidence(Source::Client, "key", compared),
            evidence(Source::Client, "key", size),
            evidence(Source::Client, "key", order),
        ],
        culprit: Culprit::default(),
    })
}

/// The share of followers that end with the leader, to within a twentieth of what it took.
fn together(touches: &Touches) -> f64 {
    const NEAR: f64 = 0.05;
    let mut ends = Tally::default();
    for (position, leader) in touches.all.iter().enumerate() {
        if leader.is_slow() && !leader.follows && leader.is_measured {
            let near_ns = (leader.excess_ns as f64 * NEAR) as u64;
            for touch in touches.during(position) {
                if touch.key == leader.key && touch.is_slow() {
                    ends.add(touch.done.abs_diff(leader.done) <= near_ns);
                }
            }
        }
    }
    ends.share()
}
